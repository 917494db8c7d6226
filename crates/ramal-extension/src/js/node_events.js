export class EventEmitter {
  #listeners = new Map();
  #add(name, listener, first) {
    if (typeof listener !== "function") throw new TypeError("the listener must be a function");
    const list = this.#listeners.get(name) ?? [];
    this.#listeners.set(name, first ? [listener, ...list] : [...list, listener]);
    return this;
  }
  #once(name, listener) {
    const wrapped = (...args) => {
      this.off(name, wrapped);
      return listener.apply(this, args);
    };
    wrapped.listener = listener;
    return wrapped;
  }
  on(name, listener) {
    return this.#add(name, listener, false);
  }
  addListener(name, listener) {
    return this.on(name, listener);
  }
  prependListener(name, listener) {
    return this.#add(name, listener, true);
  }
  once(name, listener) {
    return this.on(name, this.#once(name, listener));
  }
  prependOnceListener(name, listener) {
    return this.prependListener(name, this.#once(name, listener));
  }
  off(name, listener) {
    const list = this.#listeners.get(name) ?? [];
    const at = list.findLastIndex((one) => one === listener || one.listener === listener);
    if (at >= 0) this.#listeners.set(name, list.toSpliced(at, 1));
    return this;
  }
  removeListener(name, listener) {
    return this.off(name, listener);
  }
  removeAllListeners(name) {
    if (name === undefined) this.#listeners.clear();
    else this.#listeners.delete(name);
    return this;
  }
  emit(name, ...args) {
    const list = this.#listeners.get(name) ?? [];
    if (!list.length && name === "error") throw args[0] instanceof Error ? args[0] : new Error(String(args[0]));
    for (const listener of list) listener.apply(this, args);
    return list.length > 0;
  }
  listeners(name) {
    return (this.#listeners.get(name) ?? []).map((one) => one.listener ?? one);
  }
  rawListeners(name) {
    return [...(this.#listeners.get(name) ?? [])];
  }
  listenerCount(name) {
    return this.#listeners.get(name)?.length ?? 0;
  }
  eventNames() {
    return [...this.#listeners].filter(([, list]) => list.length).map(([name]) => name);
  }
  setMaxListeners() {
    return this;
  }
  getMaxListeners() {
    return Infinity;
  }
}

export function once(emitter, name, { signal } = {}) {
  return new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    emitter.once(name, (...args) => resolve(args));
    if (name !== "error") emitter.once("error", reject);
  });
}

EventEmitter.EventEmitter = EventEmitter;
EventEmitter.once = once;
export default EventEmitter;
