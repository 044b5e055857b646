/**
 * A model context that the page brought itself: its own polyfill, or a stub of an app that hosts the page. Read and called as the page's scripts would.
 */

/** The most tools that are read from a page's own listing. */
const MOST_TOOLS = 10000;

/** @typedef {{ context: any, tool: any, schema: any, execute: any }} ForeignTool the very object that the page listed, and what tells the dialect */

/** What the last listing gave. @type {Map<string, ForeignTool>} */
let foreignTools = new Map_();
/** @type {WeakMap<object, true>} */
const subscribed = new WeakMap_();
/** Numbers of the callbacks that listed tools carry: another number under the same name is another tool. @type {WeakMap<object, number>} */
const callbackNumbers = new WeakMap_();
let callbackCount = 0;

/** @param {object} callback */
function numberOf(callback) {
  let number = weakMapGet(callbackNumbers, callback);
  if (number === undefined) {
    number = ++callbackCount;
    weakMapSet(callbackNumbers, callback, number);
  }
  return number;
}

/** A property of a page's object; undefined when its getter throws. @param {any} object @param {string} name */
function read(object, name) {
  try {
    return object[name];
  } catch {
    return undefined;
  }
}

/** What the page itself sees as model context, when that is not the standard one. @returns {any} undefined when there is none */
function findForeign() {
  const standard = standardContext();
  const own = read(realm.document, "modelContext");
  if (isObject(own) && own !== standard) return own;
  const older = read(navigator_, "modelContext");
  return isObject(older) && older !== standard ? older : undefined;
}

/** Sends "changed" whenever the page's own context says `toolchange`. @param {any} context */
function subscribe(context) {
  if (weakMapGet(subscribed, context) === true) return;
  weakMapSet(subscribed, context, true);
  const method = read(context, "addEventListener");
  if (typeof method !== "function") return;
  try {
    apply(method, context, ["toolchange", () => send({ __proto__: null, t: "changed" })]);
  } catch {
    // A stub that has the method and no events.
  }
}

/** Lists the page's own context as the JSON text of host.foreign(). @param {(text: string) => void} resolve */
async function listForeign(resolve) {
  foreignTools = new Map_();
  const context = findForeign();
  if (context === undefined) {
    resolve('{"present":false}');
    return;
  }
  subscribe(context);
  const execute = read(context, "executeTool");
  const listing = read(context, "getTools") ?? read(context, "listTools");
  const tools = list();
  /** @type {any} */
  const answer = {
    __proto__: null,
    present: true,
    list: typeof listing === "function",
    execute: typeof execute === "function",
    length: typeof execute === "function" ? lengthOf(execute) : null,
    tools,
  };
  try {
    if (answer.list) {
      const found = await apply(listing, context, []);
      const count = isObject(found) ? +found.length : 0;
      for (let i = 0; i < count && i < MOST_TOOLS; i++) {
        const entry = describeForeign(context, execute, found[i]);
        if (entry === null) continue;
        tools[tools.length] = entry;
        if (typeof execute !== "function" && typeof read(found[i], "execute") === "function") answer.execute = true;
      }
    }
  } catch (error) {
    answer.error = describeThrown(error);
  }
  resolve(stringify(answer));
}

/** @param {Function} method @returns {number | null} */
function lengthOf(method) {
  const length = read(method, "length");
  return typeof length === "number" ? length : null;
}

/** Keeps one listed tool for callForeign and describes it. @returns {object | null} null for what is no tool, or one that our own registry lists already */
function describeForeign(context, execute, tool) {
  if (!isObject(tool) || weakMapGet(handles, tool) !== undefined) return null;
  const name = read(tool, "name");
  const description = read(tool, "description");
  if (typeof name !== "string" || mapGet(foreignTools, name) !== undefined) return null;
  const schema = read(tool, "inputSchema");
  mapSet(foreignTools, name, { __proto__: null, context, tool, schema, execute });
  /** @type {any} */
  const entry = { __proto__: null, name, description: typeof description === "string" ? description : "" };
  const callback = read(tool, "execute");
  if (typeof callback === "function") entry.callback = numberOf(callback);
  const title = read(tool, "title");
  if (typeof title === "string") entry.title = title;
  entry.schemaText = typeof schema === "string";
  const schemaText = toText(schema);
  if (schemaText) entry.schema = schemaText;
  const output = toText(read(tool, "outputSchema"));
  if (output) entry.output = output;
  try {
    const annotations = toAnnotations(read(tool, "annotations"));
    if (annotations !== null) entry.annotations = annotations;
  } catch {
    // Left out.
  }
  return entry;
}

/** The text of a schema: given as text, or as an object. @param {any} schema @returns {string | undefined} */
function toText(schema) {
  if (typeof schema === "string") return schema;
  if (!isObject(schema)) return undefined;
  try {
    return stringify(schema);
  } catch {
    return undefined;
  }
}

/**
 * Chooses the shape of a call from what is known before it: `executeTool.length`, then the type of the listed schema. Text was the shape when schemas were texts.
 * @param {ForeignTool} entry @param {object} input @param {string} text @returns {((signal: AbortSignal) => any) | string} how to call, or why not
 */
function chooseDialect(entry, input, text) {
  const { context, tool, schema, execute } = entry;
  if (typeof execute === "function") {
    const argument = lengthOf(execute) !== 1 && typeof schema === "string" ? text : input;
    return (signal) => apply(execute, context, [tool, argument, { signal }]);
  }
  const own = read(tool, "execute");
  if (typeof own === "function") return (signal) => apply(own, undefined, [input, { signal }]);
  return "the page's own model context lists this tool but has no executeTool()";
}

/** @param {string} name @param {string} invocation @param {string} argsText @param {(answer: string) => void} resolve */
function callForeignTool(name, invocation, argsText, resolve) {
  const entry = mapGet(foreignTools, name);
  const input = parseObject(argsText);
  if (entry === undefined) resolve("g");
  else if (input === null) resolve("a");
  else {
    const invoke = chooseDialect(entry, input, argsText);
    if (typeof invoke === "string") resolve("n" + invoke);
    else {
      const execution = createExecution(null, invocation, (kind, text) => resolve(kind + text));
      run(execution, () => invoke(signalOf(execution.controller)), typeof entry.execute === "function");
    }
  }
}
