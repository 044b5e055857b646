/**
 * References to the built-ins that the runtime uses, taken before any script of the page runs.
 *
 * Pages patch what they like later: `Array.prototype`, `JSON`, `Promise.prototype.then`, `Object.prototype`, `Function.prototype.call`. Code of the
 * runtime therefore keeps to these habits:
 *  - methods of built-ins are called through the constants below, never as `value.method()`;
 *  - an object that is read for a member that may be absent, every property descriptor, and every message has a null prototype (`__proto__: null`);
 *  - lists are null-prototype arrays (`list()`), so that neither a setter on `Array.prototype` nor a `toJSON` is ever met;
 *  - no spread, no array destructuring and no `for…of` (they look up iterators); no `await` or `then` on promises of our own.
 * Values of the page keep the page's semantics: `JSON.stringify` honours its `toJSON`, as the engines' own implementations do.
 */

const { apply, construct, deleteProperty, getOwnPropertyDescriptor, setPrototypeOf } = Reflect;
/** @type {(object: object, key: PropertyKey, descriptor: any) => boolean} */
const defineProperty = Reflect.defineProperty;
/** @type {(method: Function) => (self: any, ...args: any[]) => any} */
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
/** @type {(prototype: object, name: string) => (self: any) => any} */
const uncurryGetter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);

const { freeze } = Object;
const { stringify, parse } = JSON;
const { iterator: symbolIterator, toStringTag: symbolToStringTag } = Symbol;

const objectToString = uncurry(Object.prototype.toString);
const symbolToString = uncurry(Symbol.prototype.toString);
const stringSlice = uncurry(String.prototype.slice);
const stringToWellFormed = uncurry(String.prototype.toWellFormed);
const regExpExec = uncurry(RegExp.prototype.exec);
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapDelete = uncurry(Map.prototype.delete);
const mapForEach = uncurry(Map.prototype.forEach);
const weakMapGet = uncurry(WeakMap.prototype.get);
const weakMapSet = uncurry(WeakMap.prototype.set);
const arraySort = uncurry(Array.prototype.sort);
const arrayPrototype = Array.prototype;

const addListener = uncurry(EventTarget.prototype.addEventListener);
const removeListener = uncurry(EventTarget.prototype.removeEventListener);
const dispatch = uncurry(EventTarget.prototype.dispatchEvent);
const currentTargetOf = uncurryGetter(Event.prototype, "currentTarget");
const preventDefault = uncurry(Event.prototype.preventDefault);

const abort = uncurry(AbortController.prototype.abort);
const signalOf = uncurryGetter(AbortController.prototype, "signal");
const isAborted = uncurryGetter(AbortSignal.prototype, "aborted");
const reasonOf = uncurryGetter(AbortSignal.prototype, "reason");
const anySignal = AbortSignal.any;

const originOfURL = uncurryGetter(URL.prototype, "origin");
const protocolOfURL = uncurryGetter(URL.prototype, "protocol");
const hostnameOfURL = uncurryGetter(URL.prototype, "hostname");

const viewOf = uncurryGetter(Document.prototype, "defaultView");
const documentPrototype = Document.prototype;
const navigatorPrototype = Navigator.prototype;
const userAgentOf = uncurryGetter(Navigator.prototype, "userAgent");
const selfWindowOf = uncurryGetter(globalThis, "self");

// Constructors by their own constants: a page may overwrite `window.URL` and the like.
const TypeError_ = TypeError;
const Promise_ = Promise;
const Map_ = Map;
const WeakMap_ = WeakMap;
const Event_ = Event;
const EventTarget_ = EventTarget;
const AbortController_ = AbortController;
const AbortSignal_ = AbortSignal;
const DOMException_ = DOMException;
const URL_ = URL;
const MessageChannel_ = MessageChannel;

/** @type {any} */
const realm = globalThis;
const navigator_ = navigator;

/** An empty array without prototype: appending by index meets no setter, and serialising it no `toJSON`. @returns {any[]} */
const list = () => setListPrototype([], null);

/** @param {any[]} array @param {object | null} prototype @returns {any[]} */
const setListPrototype = (array, prototype) => {
  setPrototypeOf(array, prototype);
  return array;
};

const startPort = uncurry(MessagePort.prototype.start);
const postToPort = uncurry(MessagePort.prototype.postMessage);
const port1Of = uncurryGetter(MessageChannel_.prototype, "port1");
const port2Of = uncurryGetter(MessageChannel_.prototype, "port2");
/** @type {MessagePort | null} */
let taskPort = null;
const tasks = new Map_();
let firstTask = 0;
let lastTask = 0;

/**
 * Queues a task ("webmcp task source"): runs after the script and the microtasks of now, in order, without the clamping of nested timers.
 * @param {() => void} steps
 */
function queueTask(steps) {
  if (taskPort === null) {
    const channel = new MessageChannel_();
    const receiver = port1Of(channel);
    addListener(receiver, "message", () => {
      const next = mapGet(tasks, firstTask);
      mapDelete(tasks, firstTask++);
      next();
    });
    startPort(receiver);
    taskPort = port2Of(channel);
  }
  mapSet(tasks, lastTask++, steps);
  postToPort(taskPort, null);
}
