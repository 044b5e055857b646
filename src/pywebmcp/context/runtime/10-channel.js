/**
 * The channel to Python: one binding, one JSON text a message. The binding is taken out of the page's sight here, before a script of the page runs.
 *
 * Messages, told apart by `t`; ids count up from 1 in each window and are never used again:
 *  - hello {surface, origin, secure, name}: first of all, and again when another document comes into the same window (then nothing is registered)
 *  - add {id, name, description, title?, schema?, output?, annotations?, exposed?}: schemas as JSON text, annotations as given by the page
 *  - remove {id}
 *  - activated, canceled {id, name, invocation}: invocation is null for a call by a script of the page
 *  - changed {}: the page put a model context of its own in place of this one, or its own one fired `toolchange`
 *  - dialog {default}: the default text of the prompt that the engine reports next
 */

/** @type {((text: string) => void) | undefined} */
let binding = undefined;

/** Takes the binding off the global object, where the engine puts it. */
function takeBinding() {
  const found = getOwnPropertyDescriptor(realm, BINDING);
  if (found === undefined) return;
  binding = found.value;
  deleteProperty(realm, BINDING);
}
takeBinding();

/**
 * Sends one message. Without a binding (an engine may be late with it) nothing is lost: Python reads `host.snapshot()` when it attaches.
 * @param {object} message with a null prototype, and so all objects and arrays in it
 */
function send(message) {
  if (binding === undefined) takeBinding();
  if (binding === undefined) return;
  try {
    binding(stringify(message));
  } catch {
    // The document is on its way out and has no session any more.
  }
}

/** The origin of this document, serialised. `location.origin` is wrong in `srcdoc` and `about:blank` frames, `self.origin` in Chromium's `file:` pages. */
const documentOrigin = (() => {
  const own = realm.origin;
  if (own !== "null") return own;
  return location.protocol === "file:" ? "file://" : "null";
})();

/** Lightpanda takes a top-level `about:blank` for a secure context; elsewhere both engines are right. */
const isSecure = realm.isSecureContext && !(documentOrigin === "null" && location.href === "about:blank" && realm.parent === realm);

/** The same origin as the URL parser gives it for a key of executeTool (Chromium: "file://", Lightpanda: "null", for `file:`). */
const originKey = documentOrigin === "file://" ? originOfURL(new URL_("file:///")) : documentOrigin;

/** The name of this document's frame, which not every engine tells; a cross-origin parent's element is out of reach. */
const frameName = (() => {
  try {
    // With `?.`, since V8 parses the whole script again to word the TypeError of a null: over a millisecond.
    const name = realm.frameElement?.name;
    return typeof name === "string" ? name : "";
  } catch {
    return "";
  }
})();

/** @param {"runtime" | "native" | "off" | "insecure"} surface */
function hello(surface) {
  return { __proto__: null, t: "hello", surface, origin: documentOrigin, secure: isSecure, name: frameName };
}
