// What the program gives. Only our own modules can import this one.
const given = globalThis.__ramal;
delete globalThis.__ramal;

export const native = given;

const parse = JSON.parse;
const write = JSON.stringify;
const waiting = new Map();

/** Asks the program, and has the answer at once. */
export function quick(op, ...args) {
  return parse(given.quick(op, write(args)));
}

/** Asks the program for what takes its time. */
export function slow(op, args, signal) {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const id = given.slow(op, write(args ?? []));
    const end = () => given.cancel(id);
    signal?.addEventListener("abort", end, { once: true });
    const over = () => {
      waiting.delete(id);
      signal?.removeEventListener("abort", end);
    };
    waiting.set(id, {
      resolve(text) {
        over();
        resolve(parse(text));
      },
      reject(message) {
        over();
        reject(signal?.aborted ? signal.reason : new Error(message));
      },
    });
  });
}

/** An answer has come. */
export function settle(id, ok, text) {
  const one = waiting.get(id);
  if (one) ok ? one.resolve(text) : one.reject(text);
}

/** What went wrong, in a line, with the place in the source. */
export function describe(error) {
  try {
    if (error instanceof Error) return given.place(`${error.name}: ${error.message}`, String(error.stack ?? ""));
    if (error === null) return given.place("null was thrown, as it happens out of memory", "");
    return typeof error === "string" ? error : write(error) ?? String(error);
  } catch {
    return "something that cannot be shown was thrown";
  }
}
