/**
 * Conversions of WebIDL, in its order and with its errors. What they read, they read from the page's objects with the page's semantics (getters, proxies, iterators).
 */

const URL_LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/;
const TRUSTWORTHY_SCHEME = /^(?:https|wss|file|chrome-extension|moz-extension):$/;
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** How messages of TypeErrors begin while an operation converts its arguments, in Chromium's words. */
let operation = "";

/** @param {string} message */
const typeError = (message) => new TypeError_(operation + message);

/** Is `value` an Object in the sense of ECMAScript? (`document.all` is one, though its `typeof` is "undefined".) @param {any} value */
function isObject(value) {
  if (value === null || value === undefined) return false;
  const type = typeof value;
  return type === "object" || type === "function" || type === "undefined";
}

/** @param {string} message */
const domException = (message, name) => new DOMException_(message, name);

/** A promise rejected with `error`. @param {any} error @returns {Promise<any>} */
const rejected = (error) => new Promise_((_, reject) => reject(error));

/** DOMString. Throws a TypeError for a symbol, and whatever `toString` throws. @param {any} value @returns {string} */
const toDOMString = (value) => `${value}`;

/** USVString: lone surrogates are replaced. @param {any} value @returns {string} */
const toUSVString = (value) => stringToWellFormed(`${value}`);

/** A dictionary's object: null stands for undefined and null. @param {any} value @param {string} type @returns {any} */
function toDictionary(value, type) {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw typeError(`The provided value is not of type '${type}'.`);
  return value;
}

/** @param {any} value @param {string} member @param {string} type */
function toRequired(value, member, type) {
  if (value === undefined) throw typeError(`Failed to read the '${member}' property from '${type}': Required member is undefined.`);
  return value;
}

/** An optional member of type `object`. @param {any} value @param {string} member @param {string} type */
function toObjectMember(value, member, type) {
  if (value !== undefined && !isObject(value)) throw typeError(`Failed to read the '${member}' property from '${type}': The value is not an object.`);
  return value;
}

/** sequence<USVString> @param {any} value @param {string} member @returns {string[]} a list without prototype */
function toUSVStrings(value, member) {
  const failure = `Failed to read the '${member}' property: The value is not a sequence.`;
  if (!isObject(value)) throw typeError(failure);
  const method = value[symbolIterator];
  if (method === undefined || method === null) throw typeError(failure);
  const iterator = apply(method, value, []);
  if (!isObject(iterator)) throw typeError(failure);
  const next = iterator.next;
  const strings = list();
  for (;;) {
    const step = apply(next, iterator, []);
    if (!isObject(step)) throw typeError(failure);
    if (step.done) return strings;
    strings[strings.length] = toUSVString(step.value);
  }
}

/** AbortSignal; a TypeError for anything else, null included. @param {any} value @returns {AbortSignal | null} null when undefined */
function toSignal(value) {
  if (value === undefined) return null;
  try {
    isAborted(value);
  } catch {
    throw typeError("Failed to read the 'signal' property: Failed to convert value to 'AbortSignal'.");
  }
  return value;
}

/** @param {any} value */
function isWindow(value) {
  if (!isObject(value)) return false;
  try {
    selfWindowOf(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * ToolAnnotations: exactly those members that were given, in lexicographic order.
 * @param {any} value @returns {Record<string, boolean> | null} null when absent
 */
function toAnnotations(value) {
  if (value === undefined) return null;
  const dictionary = toDictionary(value, "ToolAnnotations");
  /** @type {any} */
  const given = { __proto__: null };
  if (dictionary === null) return given;
  const { consequentialHint } = dictionary;
  if (consequentialHint !== undefined) given.consequentialHint = !!consequentialHint;
  const { debugging } = dictionary;
  if (debugging !== undefined) given.debugging = !!debugging;
  const { readOnlyHint } = dictionary;
  if (readOnlyHint !== undefined) given.readOnlyHint = !!readOnlyHint;
  const { untrustedContentHint } = dictionary;
  if (untrustedContentHint !== undefined) given.untrustedContentHint = !!untrustedContentHint;
  return given;
}

/** ModelContextTool @param {any} value */
function toTool(value) {
  const type = "ModelContextTool";
  const dictionary = toDictionary(value, type) ?? { __proto__: null };
  const annotations = toAnnotations(dictionary.annotations);
  const description = toDOMString(toRequired(dictionary.description, "description", type));
  const execute = toRequired(dictionary.execute, "execute", type);
  if (typeof execute !== "function") throw typeError(`Failed to read the 'execute' property from '${type}': The value is not a function.`);
  const inputSchema = toObjectMember(dictionary.inputSchema, "inputSchema", type);
  const name = toDOMString(toRequired(dictionary.name, "name", type));
  const outputSchema = toObjectMember(dictionary.outputSchema, "outputSchema", type);
  const givenTitle = dictionary.title;
  const title = givenTitle === undefined ? null : toUSVString(givenTitle);
  return { __proto__: null, annotations, description, execute, inputSchema, name, outputSchema, title };
}

/** RegisteredTool, as an argument of executeTool: a key, of which name, origin and window matter. @param {any} value */
function toRegisteredTool(value) {
  const type = "RegisteredTool";
  const dictionary = toDictionary(value, type) ?? { __proto__: null };
  toAnnotations(dictionary.annotations);
  toDOMString(toRequired(dictionary.description, "description", type));
  toObjectMember(dictionary.inputSchema, "inputSchema", type);
  const name = toDOMString(toRequired(dictionary.name, "name", type));
  const origin = toUSVString(toRequired(dictionary.origin, "origin", type));
  toObjectMember(dictionary.outputSchema, "outputSchema", type);
  const { title } = dictionary;
  if (title !== undefined) toDOMString(title);
  const window = toRequired(dictionary.window, "window", type);
  if (!isWindow(window)) throw typeError(`Failed to read the 'window' property from '${type}': Failed to convert value to 'Window'.`);
  return { __proto__: null, name, origin, window };
}

/** @param {string} text @returns {URL | null} null when it cannot be parsed */
function parseURL(text) {
  try {
    return new URL_(text);
  } catch {
    return null;
  }
}

/**
 * The origins of `exposedTo` and `fromOrigins`: each entry a URL whose origin is potentially trustworthy, reduced to that origin.
 * @param {string[]} entries @param {string} member @returns {string[]} a list without prototype
 */
function toTrustworthyOrigins(entries, member) {
  const origins = list();
  for (let i = 0; i < entries.length; i++) {
    const url = parseURL(entries[i]);
    const origin = url === null ? "null" : originOfURL(url);
    if (!isTrustworthy(url, origin)) throw domException(`Only secure origins are allowed in the ${member} list.`, "SecurityError");
    origins[i] = origin;
  }
  return origins;
}

/** Secure Contexts, "is origin potentially trustworthy". @param {URL | null} url @param {string} origin */
function isTrustworthy(url, origin) {
  if (url === null) return false;
  if (protocolOfURL(url) === "blob:") {
    url = parseURL(origin);
    if (url === null) return false;
  }
  return regExpExec(TRUSTWORTHY_SCHEME, protocolOfURL(url)) !== null || (origin !== "null" && regExpExec(URL_LOOPBACK, hostnameOfURL(url)) !== null);
}

/**
 * "Serialise a JavaScript value to a JSON string", for objects of the page that must have one.
 * @param {object} value @param {string} what
 */
function toJSONText(value, what) {
  const text = stringify(value);
  if (text === undefined) throw typeError(`invalid ${what}: toJSON() returns undefined`);
  return text;
}
