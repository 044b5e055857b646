/**
 * Running tools: for Python (host.call) and for scripts of the page (executeTool), and cancelling them.
 */

/**
 * @typedef {(kind: string, text: string) => void} Settle takes how a call ended: "v" and JSON, "s" and text, "u", "e" and the JSON of a failure, "c"
 * @typedef {{ registration: Registration | null, invocation: string | null, controller: AbortController, done: boolean, settle: Settle }} Execution
 *   one running call; its registration is null for a tool of the page's own model context
 */

/** The running calls of Python. @type {Map<string, Execution>} */
const invocations = new Map_();

/** @param {Registration | null} registration @param {string | null} invocation @param {Settle} settle @returns {Execution} */
function createExecution(registration, invocation, settle) {
  const execution = { __proto__: null, registration, invocation, controller: new AbortController_(), done: false, settle };
  if (invocation !== null) mapSet(invocations, invocation, execution);
  return execution;
}

/**
 * The tool execute steps, in the order of the browsers and the web platform tests: the callback starts, then `toolactivated` fires.
 * @param {Registration} registration @param {object} input @param {string | null} invocation @param {Settle} settle
 * @param {boolean} told whether Python wants to hear that it started @returns {Execution}
 */
function start(registration, input, invocation, settle, told) {
  const execution = createExecution(registration, invocation, settle);
  const signal = signalOf(execution.controller);
  run(execution, () => apply(registration.execute, undefined, [input, { signal }]), false);
  if (told) send({ __proto__: null, t: "activated", id: registration.id, name: registration.name, invocation });
  fire(registration.state, new ToolActivatedEvent("toolactivated", { __proto__: null, toolName: registration.name }));
  return execution;
}

/**
 * Calls the callback and reacts to its promise. `await` is exactly what WebIDL does with the value that a callback of type Promise<any> returns.
 * @param {Execution} execution @param {() => any} invoke @param {boolean} textual hand a string over as it is
 */
async function run(execution, invoke, textual) {
  let value;
  try {
    value = await invoke();
  } catch (error) {
    if (finish(execution)) execution.settle("e", describeFailure("threw", error));
    return;
  }
  if (!finish(execution)) return;
  if (textual && typeof value === "string") {
    execution.settle("s", value);
    return;
  }
  let text;
  try {
    text = stringify(value);
  } catch (error) {
    execution.settle("e", describeFailure("unserializable", error));
    return;
  }
  if (text === undefined) execution.settle("u", "");
  else execution.settle("v", text);
}

/** Ends an execution once. @param {Execution} execution @returns {boolean} false when it had ended before */
function finish(execution) {
  if (execution.done) return false;
  execution.done = true;
  if (execution.invocation !== null) mapDelete(invocations, execution.invocation);
  return true;
}

/** Cancels a pending execution: the tool's signal aborts (always with an AbortError of its own), then `toolcancel` fires. @param {Execution} execution */
function cancel(execution) {
  if (!finish(execution)) return false;
  const { registration, invocation } = execution;
  execution.settle("c", "");
  if (registration !== null) send({ __proto__: null, t: "canceled", id: registration.id, name: registration.name, invocation });
  abort(execution.controller, domException("signal is aborted without reason", "AbortError"));
  if (registration !== null) fire(registration.state, new ToolCancelEvent("toolcancel", { __proto__: null, toolName: registration.name }));
  return true;
}

/**
 * What was thrown, as JSON. Nothing that the page does in getters or `toString` escapes.
 * @param {"threw" | "unserializable"} kind @param {any} error
 */
function describeFailure(kind, error) {
  const failure = { __proto__: null, kind, name: "", message: "", stack: null };
  if (isError(error)) {
    failure.name = describeThrown(read(error, "name"));
    failure.message = describeThrown(read(error, "message"));
    const stack = read(error, "stack");
    if (typeof stack === "string") failure.stack = stack;
  } else {
    failure.message = describeThrown(error);
  }
  return stringify(failure);
}

/** Errors and DOMExceptions of any realm. @param {any} value */
function isError(value) {
  try {
    const tag = isObject(value) ? objectToString(value) : "";
    return tag === "[object Error]" || tag === "[object DOMException]";
  } catch {
    return false;
  }
}

/** `String(value)`, whatever the value does. @param {any} value @returns {string} */
function describeThrown(value) {
  try {
    return typeof value === "symbol" ? symbolToString(value) : toDOMString(value);
  } catch {
    return "(a value that has no text)";
  }
}

/** Parses what must be the JSON text of an object. @param {string} text @returns {object | null} */
function parseObject(text) {
  try {
    const value = parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The steps of executeTool(), for tools of this document. @param {State} state @param {any} tool @param {any} inputObject @param {any} options @returns {Promise<string>} */
function executeTool(state, tool, inputObject, options) {
  const key = toRegisteredTool(tool);
  if (inputObject !== undefined && !isObject(inputObject)) throw typeError("invalid input object: value is not an object");
  const dictionary = toDictionary(options, "ModelContextExecuteToolOptions");
  const signal = toSignal(dictionary === null ? undefined : dictionary.signal);

  requireActive(state);
  const url = parseURL(key.origin);
  if (url === null) throw domException("The provided origin is invalid.", "NotSupportedError");
  const origin = originOfURL(url);
  if (origin === "null" && protocolOfURL(url) !== "file:") {
    throw domException("Cannot execute tools that live in a document with an opaque origin.", "NotSupportedError");
  }
  const text = inputObject === undefined ? "{}" : toJSONText(inputObject, "input object");
  if (signal !== null && isAborted(signal)) return rejected(reasonOf(signal));

  return new Promise_((resolve, reject) => {
    /** @type {Execution | null} */
    let execution = null;
    let ignore = () => {};
    const settle = (kind, result) => {
      ignore();
      queueTask(() => {
        if (kind === "v") resolve(result);
        else if (kind === "u") resolve("null");
        else if (kind === "e") reject(domException("Tool was executed but the invocation failed. For example, the script function threw an error", "UnknownError"));
      });
    };
    if (signal !== null) {
      ignore = onAbort(signal, () => {
        reject(reasonOf(signal));
        queueTask(() => execution !== null && cancel(execution));
      });
    }
    queueTask(() => {
      const registration = findTarget(state, key, origin, weakMapGet(handles, tool));
      const input = registration === undefined ? null : parseObject(text);
      if (input === null) {
        ignore();
        const why = registration === undefined ? `Tool not found: ${key.name}` : "Failed to parse input arguments";
        reject(domException(why, "UnknownError"));
      } else {
        execution = start(registration, input, null, settle, true);
      }
    });
  });
}

/**
 * The registration that a RegisteredTool stands for: its own if getTools() of this realm made it, else the one of that name.
 * @param {State} state @param {{ name: string, window: Window }} key @param {string} origin @param {Registration | undefined} known
 */
function findTarget(state, key, origin, known) {
  if (!isFullyActive(state) || key.window !== realm || origin !== originKey) return undefined;
  if (known !== undefined && known.name === key.name) return isAlive(known) ? known : undefined;
  return lookUp(state, key.name);
}
