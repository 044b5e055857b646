/**
 * What Python calls. The members never throw and the promises never reject.
 */

/** @type {any} */
const host = {
  __proto__: null,

  /**
   * @param {number} id @param {string} invocation @param {string} argsText
   * @param {boolean} told whether Python wants the message that it started @returns {Promise<string>}
   */
  call(id, invocation, argsText, told) {
    return new Promise_((resolve) => {
      const registration = mapGet(registrations, id);
      if (registration === undefined || !isAlive(registration) || !isFullyActive(registration.state)) {
        resolve("g");
        return;
      }
      const input = parseObject(argsText);
      if (input === null) resolve("a");
      else start(registration, input, invocation, (kind, text) => resolve(kind + text), told);
    });
  },

  /** @param {string} invocation */
  cancel(invocation) {
    const execution = mapGet(invocations, invocation);
    return execution !== undefined && cancel(execution);
  },

  /** The state of this document for a Python that attached late. */
  snapshot() {
    followDocument();
    const tools = list();
    mapForEach(registrations, (registration) => {
      tools[tools.length] = registration;
    });
    const living = list();
    for (let i = 0; i < tools.length; i++) if (isAlive(tools[i])) living[living.length] = describe(tools[i]);
    return stringify({ __proto__: null, hello: hello(surface), tools: living });
  },

  /** @returns {Promise<string>} */
  foreign() {
    return new Promise_((resolve) => {
      listForeign(resolve);
    });
  },

  /** @param {string} name as listed by the last foreign() @param {string} invocation @param {string} argsText @returns {Promise<string>} */
  callForeign(name, invocation, argsText) {
    return new Promise_((resolve) => callForeignTool(name, invocation, argsText, resolve));
  },

  /** Reserved for what crosses documents. @returns {boolean} */
  reply() {
    return false;
  },
};
freeze(host);
