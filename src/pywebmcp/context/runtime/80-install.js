/**
 * Puts the interfaces where pages look for them, or takes the engine's own away.
 */

/** @type {WeakMap<Document, State>} */
const statesOfDocuments = new WeakMap_();
/** The state of the document that this window shows. @type {State | null} */
let shown = null;

/** `document.modelContext` of any document; throws a TypeError when it is none. @param {any} document @returns {any} */
function modelContextOf(document) {
  operation = "";
  const view = viewOf(document);
  if (view !== null && view !== realm) return document.modelContext;
  let state = weakMapGet(statesOfDocuments, document);
  if (state === undefined) {
    state = createState(document);
    weakMapSet(statesOfDocuments, document, state);
  }
  if (view === realm && state !== shown) show(state);
  return state.context;
}

/**
 * A window outlives a document once: a frame's first `about:blank` and what is loaded into it (Chromium, when a script touched the empty frame). The tools of
 * the old document are gone then, and the new one says hello.
 * @param {State} state
 */
function show(state) {
  const previous = shown;
  shown = state;
  if (previous === null) return;
  mapForEach(previous.tools, forget);
  send(hello(surface));
}

/** Notices a document that replaced the one before in this window. */
function followDocument() {
  if (surface === "runtime") modelContextOf(realm.document);
}

const accessors = {
  __proto__: null,
  document: {
    get modelContext() {
      return modelContextOf(this);
    },
  },
  navigator: {
    get modelContext() {
      userAgentOf(this);
      return modelContextOf(realm.document);
    },
  },
};

/** The names that this and other generations of WebMCP put on the global object. */
const INTERFACES = { __proto__: null, ModelContext, ToolActivatedEvent, ToolCancelEvent, ModelContextClient: null, ModelContextTesting: null, WebMCPEvent: null };

/** Removes every trace of the engine's own WebMCP. */
function removeEngineOwn() {
  deleteProperty(documentPrototype, "modelContext");
  deleteProperty(navigatorPrototype, "modelContext");
  deleteProperty(navigatorPrototype, "modelContextTesting");
  for (const name in INTERFACES) deleteProperty(realm, name);
}

function install() {
  removeEngineOwn();
  defineProperty(documentPrototype, "modelContext", getOwnPropertyDescriptor(accessors.document, "modelContext"));
  defineProperty(navigatorPrototype, "modelContext", getOwnPropertyDescriptor(accessors.navigator, "modelContext"));
  for (const name in INTERFACES) {
    const value = INTERFACES[name];
    if (value !== null) defineProperty(realm, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  }
}

/** Does the engine's own model context have all three methods, where the standard puts it? */
function isEngineComplete() {
  if (getOwnPropertyDescriptor(documentPrototype, "modelContext") === undefined) return false;
  const own = realm.document.modelContext;
  return isObject(own) && typeof own.registerTool === "function" && typeof own.getTools === "function" && typeof own.executeTool === "function";
}

/** @type {"runtime" | "native" | "off" | "insecure"} */
let surface = "runtime";
if (CONFIG.mode === "off") surface = "off";
else if (!isSecure) surface = "insecure";
else if (CONFIG.mode === "auto" && isEngineComplete()) surface = "native";

if (surface === "off" || surface === "insecure") removeEngineOwn();
else if (surface === "runtime") install();

/** The getters of the standard's property, and of the older one, as they are before a script of the page can put something else there. */
const documentGetter = getOwnPropertyDescriptor(documentPrototype, "modelContext")?.get;
const navigatorGetter = getOwnPropertyDescriptor(navigatorPrototype, "modelContext")?.get;

/** The model context of the engine or of this runtime, whatever the page sees in its place. @returns {any} undefined when there is none */
function standardContext() {
  return documentGetter === undefined ? undefined : apply(documentGetter, realm.document, []);
}

/** Did the page put something of its own where the model context is? Runs no code of the page. */
function isReplaced() {
  return (
    getOwnPropertyDescriptor(realm.document, "modelContext") !== undefined ||
    getOwnPropertyDescriptor(navigator_, "modelContext") !== undefined ||
    getOwnPropertyDescriptor(documentPrototype, "modelContext")?.get !== documentGetter ||
    getOwnPropertyDescriptor(navigatorPrototype, "modelContext")?.get !== navigatorGetter
  );
}

let isReplacementTold = false;

/** Nothing tells when a page replaces a property; it is looked at when the document is parsed and when it has loaded. */
function lookForReplacement() {
  followDocument();
  if (isReplacementTold || !isReplaced()) return;
  isReplacementTold = true;
  send({ __proto__: null, t: "changed" });
}

send(hello(surface));
followDocument();
addListener(realm, "DOMContentLoaded", lookForReplacement, true);
addListener(realm, "load", lookForReplacement, true);
