/**
 * The tool map of this document: registerTool, unregistering, getTools, and its mirror in Python ("add", "remove").
 */

/**
 * @typedef {{ id: number, state: State, name: string, title: string | null, description: string, schema: string, output: string,
 *   annotations: Record<string, boolean> | null, exposed: string[] | null, execute: Function, signal: AbortSignal | null, alive: boolean, __proto__?: null }} Registration
 */

/** @type {Map<number, Registration>} */
const registrations = new Map_();
/** What getTools() returned identifies its registration. @type {WeakMap<object, Registration>} */
const handles = new WeakMap_();
let lastId = 0;

/**
 * Abort steps on a signal of the page. They hang on a signal of our own that follows it: no `stopImmediatePropagation()` keeps them from running, no made-up
 * "abort" event starts them, and they run after the page's listeners, which nobody can tell since whatever depends on them looks at the signal first.
 * @param {AbortSignal} signal @param {() => void} steps @returns {() => void} takes the steps off again
 */
function onAbort(signal, steps) {
  const sources = list();
  sources[0] = signal;
  sources[symbolIterator] = iterateOne;
  const follower = apply(anySignal, AbortSignal_, [sources]);
  addListener(follower, "abort", steps);
  return () => removeListener(follower, "abort", steps);
}

/** Iterates over a list of one, in place of the page's `Array.prototype[Symbol.iterator]`. @this {any[]} */
function iterateOne() {
  const value = this[0];
  let done = false;
  return {
    __proto__: null,
    next: () => {
      const step = { __proto__: null, value: done ? undefined : value, done };
      done = true;
      return step;
    },
  };
}

/** The living registration of a name. @param {State} state @param {string} name @returns {Registration | undefined} */
function lookUp(state, name) {
  const registration = mapGet(state.tools, name);
  return registration !== undefined && isAlive(registration) ? registration : undefined;
}

/** An aborted signal counts from the moment of `abort()`, also while listeners of the page run that come before our steps. @param {Registration} registration */
function isAlive(registration) {
  if (registration.alive && registration.signal !== null && isAborted(registration.signal)) unregister(registration);
  return registration.alive;
}

/** The steps of registerTool(), in the order of the specification. @param {State} state @param {any} tool @param {any} options @returns {Promise<undefined>} */
function registerTool(state, tool, options) {
  const { annotations, description, execute, inputSchema, name, outputSchema, title } = toTool(tool);
  const dictionary = toDictionary(options, "ModelContextRegisterToolOptions") ?? { __proto__: null };
  const givenExposed = dictionary.exposedTo;
  const exposedTo = givenExposed === undefined ? null : toUSVStrings(givenExposed, "exposedTo");
  const signal = toSignal(dictionary.signal);

  requireActive(state);
  if (lookUp(state, name) !== undefined) throw domException("Duplicate tool name", "InvalidStateError");
  if (regExpExec(TOOL_NAME, name) === null) throw domException("Invalid tool name", "InvalidStateError");
  if (description === "") throw domException("Description is required", "InvalidStateError");
  const schema = inputSchema === undefined ? "" : toJSONText(inputSchema, "input schema");
  const output = outputSchema === undefined ? "" : toJSONText(outputSchema, "output schema");
  if (signal !== null && isAborted(signal)) return rejected(reasonOf(signal));
  const exposed = exposedTo === null ? null : toTrustworthyOrigins(exposedTo, "exposedTo");

  // `toJSON` of a schema may have registered the same name meanwhile: the text then overwrites the entry.
  const overwritten = lookUp(state, name);
  if (overwritten !== undefined) forget(overwritten);
  /** @type {Registration} */
  const registration = { __proto__: null, id: ++lastId, state, name, title, description, schema, output, annotations, exposed, execute, signal, alive: true };
  mapSet(state.tools, name, registration);
  mapSet(registrations, registration.id, registration);
  send(describe(registration));

  return new Promise_((resolve, reject) => {
    if (signal !== null) {
      onAbort(signal, () => {
        unregister(registration);
        reject(reasonOf(signal));
      });
    }
    notifyChange(state);
    queueTask(() => resolve(undefined));
  });
}

/** The steps of unregistering, bound to the registration and not to its name. @param {Registration} registration */
function unregister(registration) {
  if (!registration.alive) return;
  forget(registration);
  notifyChange(registration.state);
}

/** @param {Registration} registration */
function forget(registration) {
  registration.alive = false;
  mapDelete(registration.state.tools, registration.name);
  mapDelete(registrations, registration.id);
  send({ __proto__: null, t: "remove", id: registration.id });
}

/** Queues a task that fires `toolchange`. @param {State} state */
function notifyChange(state) {
  queueTask(() => fire(state, new Event_("toolchange")));
}

/** The "add" message. @param {Registration} registration */
function describe(registration) {
  const { id, name, title, description, schema, output, annotations, exposed } = registration;
  /** @type {any} */
  const message = { __proto__: null, t: "add", id, name, description };
  if (title !== null) message.title = title;
  if (schema !== "") message.schema = schema;
  if (output !== "") message.output = output;
  if (annotations !== null) message.annotations = annotations;
  if (exposed !== null) message.exposed = exposed;
  return message;
}

/** The living tools, sorted by code units. @param {State} state @returns {Registration[]} */
function sortedTools(state) {
  const found = list();
  mapForEach(state.tools, (registration) => {
    found[found.length] = registration;
  });
  const living = list();
  for (let i = 0; i < found.length; i++) if (isAlive(found[i])) living[living.length] = found[i];
  return arraySort(living, (a, b) => (a.name < b.name ? -1 : 1));
}

/** The steps of getTools(). @param {State} state @param {any} options @returns {Promise<object[]>} */
function getTools(state, options) {
  const dictionary = toDictionary(options, "ModelContextGetToolOptions") ?? { __proto__: null };
  const givenOrigins = dictionary.fromOrigins;
  const fromOrigins = givenOrigins === undefined ? null : toUSVStrings(givenOrigins, "fromOrigins");
  requireActive(state);
  if (fromOrigins !== null) toTrustworthyOrigins(fromOrigins, "fromOrigins");
  const tools = sortedTools(state);
  return new Promise_((resolve) => {
    queueTask(() => {
      for (let i = 0; i < tools.length; i++) tools[i] = toHandle(tools[i]);
      resolve(setListPrototype(tools, arrayPrototype));
    });
  });
}

/** A fresh RegisteredTool dictionary, its members in the order in which WebIDL makes them. @param {Registration} registration */
function toHandle(registration) {
  const { name, title, description, schema, output, annotations } = registration;
  /** @type {any} */
  const handle = {};
  const add = (member, value) => defineProperty(handle, member, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  if (annotations !== null) {
    add("annotations", {
      consequentialHint: annotations.consequentialHint ?? false,
      debugging: annotations.debugging ?? false,
      readOnlyHint: annotations.readOnlyHint ?? false,
      untrustedContentHint: annotations.untrustedContentHint ?? false,
    });
  }
  add("description", description);
  addSchema(add, "inputSchema", schema);
  add("name", name);
  add("origin", documentOrigin);
  addSchema(add, "outputSchema", output);
  add("title", title ?? "");
  add("window", realm);
  weakMapSet(handles, handle, registration);
  return handle;
}

/** A deep copy of a schema. A text that is no object's ("5", by a `toJSON`) cannot be this member's value and is left out. */
function addSchema(add, member, text) {
  if (text === "") return;
  const copy = parse(text);
  if (isObject(copy)) add(member, copy);
}
