const wait = (ms, value, { signal } = {}) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = globalThis.setTimeout(() => resolve(value), ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });

export { wait as setTimeout };
export const setImmediate = (value, options) => wait(0, value, options);
export const scheduler = { wait: (ms, options) => wait(ms, undefined, options), yield: () => wait(0) };
export default { setTimeout: wait, setImmediate, scheduler };
