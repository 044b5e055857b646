/**
 * The interfaces that pages see. Their algorithms are in the files after this one; here is what WebIDL asks for: argument counts, brand checks, exceptions as
 * rejections, event handler attributes. Methods are shorthand, so they have no `prototype`; default parameters give the right `length`.
 */

/** @typedef {{ context: EventTarget, document: Document, tools: Map<string, any>, handlers: any }} State one model context */

/** @type {WeakMap<object, State>} */
const states = new WeakMap_();

/** The state of a ModelContext; the brand check of its members. @param {any} context @returns {State} */
function stateOf(context) {
  const state = isObject(context) ? weakMapGet(states, context) : undefined;
  if (state === undefined) throw typeError("Illegal invocation");
  return state;
}

/** The start of an operation with a promise type: brand check and argument count. @param {any} context @param {string} method @param {number} missing */
function begin(context, method, missing) {
  operation = `Failed to execute '${method}' on 'ModelContext': `;
  const state = stateOf(context);
  if (missing > 0) throw typeError("1 argument required, but only 0 present.");
  return state;
}

class ModelContext extends EventTarget_ {
  // @ts-expect-error: an illegal constructor makes nothing
  constructor() {
    throw new TypeError_("Illegal constructor");
  }

  registerTool(tool, options = undefined) {
    try {
      return registerTool(begin(this, "registerTool", 1 - arguments.length), tool, options);
    } catch (error) {
      return rejected(error);
    }
  }

  getTools(options = undefined) {
    try {
      return getTools(begin(this, "getTools", 0), options);
    } catch (error) {
      return rejected(error);
    }
  }

  executeTool(tool, inputObject = undefined, options = undefined) {
    try {
      return executeTool(begin(this, "executeTool", 1 - arguments.length), tool, inputObject, options);
    } catch (error) {
      return rejected(error);
    }
  }

  get ontoolchange() {
    return getHandler(this, "toolchange");
  }

  set ontoolchange(value) {
    setHandler(this, "toolchange", value);
  }

  get ontoolactivated() {
    return getHandler(this, "toolactivated");
  }

  set ontoolactivated(value) {
    setHandler(this, "toolactivated", value);
  }

  get ontoolcancel() {
    return getHandler(this, "toolcancel");
  }

  set ontoolcancel(value) {
    setHandler(this, "toolcancel", value);
  }
}

/**
 * The arguments of the two event constructors: a type, and the members of EventInit followed by toolName.
 * @param {number} count @param {any} type @param {any} value @param {string} name
 */
function toEventArguments(count, type, value, name) {
  operation = `Failed to construct '${name}': `;
  if (count === 0) throw typeError("1 argument required, but only 0 present.");
  type = toDOMString(type);
  const dictionary = toDictionary(value, `${name}Init`) ?? { __proto__: null };
  const bubbles = !!dictionary.bubbles;
  const cancelable = !!dictionary.cancelable;
  const composed = !!dictionary.composed;
  const { toolName } = dictionary;
  return { __proto__: null, type, bubbles, cancelable, composed, toolName: toolName === undefined ? "" : toDOMString(toolName) };
}


class ToolActivatedEvent extends Event_ {
  #toolName;

  constructor(type, eventInitDict = undefined) {
    const init = toEventArguments(arguments.length, type, eventInitDict, "ToolActivatedEvent");
    super(init.type, init);
    this.#toolName = init.toolName;
  }

  get toolName() {
    return this.#toolName;
  }
}

class ToolCancelEvent extends Event_ {
  #toolName;

  constructor(type, eventInitDict = undefined) {
    const init = toEventArguments(arguments.length, type, eventInitDict, "ToolCancelEvent");
    super(init.type, init);
    this.#toolName = init.toolName;
  }

  get toolName() {
    return this.#toolName;
  }
}

/** Attributes and operations of an interface are enumerable; classes make them otherwise. @param {any} type @param {string[]} names */
function finishInterface(type, ...names) {
  const { prototype } = type;
  for (let i = 0; i < names.length; i++) defineProperty(prototype, names[i], { __proto__: null, enumerable: true });
  defineProperty(prototype, symbolToStringTag, { __proto__: null, value: type.name, writable: false, enumerable: false, configurable: true });
}
finishInterface(ModelContext, "registerTool", "getTools", "executeTool", "ontoolchange", "ontoolactivated", "ontoolcancel");
finishInterface(ToolActivatedEvent, "toolName");
finishInterface(ToolCancelEvent, "toolName");

/** A new ModelContext for a document. @param {Document} document @returns {State} */
function createState(document) {
  const context = construct(EventTarget_, [], ModelContext);
  const state = { __proto__: null, context, document, tools: new Map_(), handlers: { __proto__: null } };
  weakMapSet(states, context, state);
  return state;
}

/** @param {any} context @param {string} type */
function getHandler(context, type) {
  operation = "";
  return stateOf(context).handlers[type]?.value ?? null;
}

/**
 * An event handler attribute of HTML: the listener is added where the handler was first set, replacing the value keeps its place, null removes it.
 * @param {any} context @param {string} type @param {any} value
 */
function setHandler(context, type, value) {
  operation = "";
  const state = stateOf(context);
  const handler = state.handlers[type];
  if (!isObject(value)) {
    if (handler !== undefined) removeListener(state.context, type, handler.listener);
    state.handlers[type] = undefined;
    return;
  }
  if (handler !== undefined) {
    handler.value = value;
    return;
  }
  /** @type {any} */
  const fresh = { __proto__: null, value, listener: null };
  fresh.listener = (event) => {
    if (typeof fresh.value === "function" && apply(fresh.value, currentTargetOf(event), [event]) === false) preventDefault(event);
  };
  state.handlers[type] = fresh;
  addListener(state.context, type, fresh.listener);
}

/** Fires an event at a model context, unless its document went away. @param {State} state @param {Event} event */
function fire(state, event) {
  if (isFullyActive(state)) dispatch(state.context, event);
}

/** @param {State} state */
function isFullyActive(state) {
  return viewOf(state.document) === realm;
}

/** @param {State} state */
function requireActive(state) {
  if (!isFullyActive(state)) throw domException("The document is not active.", "InvalidStateError");
}
