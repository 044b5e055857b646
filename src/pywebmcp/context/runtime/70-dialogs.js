/**
 * Declared answers to `confirm` and `prompt`, for engines whose dialogs answer themselves. The original is still called, so that the engine reports the dialog.
 */

/** @param {string} name @param {any} answer */
function answerDialog(name, answer) {
  const descriptor = getOwnPropertyDescriptor(realm, name);
  if (descriptor === undefined || typeof descriptor.value !== "function") return;
  const original = descriptor.value;
  const holder = {
    __proto__: null,
    [name](message = undefined, value = undefined) {
      const count = arguments.length;
      apply(original, realm, count === 0 ? [] : count === 1 ? [message] : [message, value]);
      return answer;
    },
  };
  defineProperty(holder[name], "length", { __proto__: null, value: original.length });
  defineProperty(realm, name, { __proto__: null, value: holder[name] });
}

if (CONFIG.dialogs !== null && CONFIG.dialogs !== undefined) {
  answerDialog("confirm", CONFIG.dialogs.confirm);
  answerDialog("prompt", CONFIG.dialogs.prompt);
}
