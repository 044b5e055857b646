/**
 * Declared answers to `confirm` and `prompt`, for engines whose dialogs answer themselves. The original is still called, so that the engine reports the
 * dialog; the default text of a prompt, which such an engine keeps to itself, is told before.
 */

/** @param {string} name @param {(message: string | undefined, value: string) => any} answer */
function answerDialog(name, answer) {
  const descriptor = getOwnPropertyDescriptor(realm, name);
  if (descriptor === undefined || typeof descriptor.value !== "function") return;
  const original = descriptor.value;
  const holder = {
    __proto__: null,
    [name](message = undefined, value = undefined) {
      const text = value === undefined ? "" : `${value}`;
      if (name === "prompt") send({ __proto__: null, t: "dialog", default: text });
      const count = arguments.length;
      apply(original, realm, count === 0 ? [] : count === 1 ? [message] : [message, text]);
      return answer(message, text);
    },
  };
  defineProperty(holder[name], "length", { __proto__: null, value: original.length });
  defineProperty(realm, name, { __proto__: null, value: holder[name] });
}

if (CONFIG.dialogs !== null && CONFIG.dialogs !== undefined) {
  const declared = CONFIG.dialogs;
  answerDialog("confirm", () => declared.confirm);
  // true stands for the default text of the prompt
  answerDialog("prompt", (_, value) => (declared.prompt === true ? value : declared.prompt));
}
