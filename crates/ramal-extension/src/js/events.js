class Event {
  constructor(type, init = {}) {
    this.type = String(type);
    this.bubbles = Boolean(init?.bubbles);
    this.cancelable = Boolean(init?.cancelable);
    this.defaultPrevented = false;
    this.target = null;
    this.currentTarget = null;
    this.timeStamp = performance.now();
    this.stopped = false;
  }
  preventDefault() {
    if (this.cancelable) this.defaultPrevented = true;
  }
  stopPropagation() {}
  stopImmediatePropagation() {
    this.stopped = true;
  }
}

class CustomEvent extends Event {
  constructor(type, init = {}) {
    super(type, init);
    this.detail = init?.detail ?? null;
  }
}

class EventTarget {
  #listeners = new Map();

  addEventListener(type, listener, options) {
    if (!listener) return;
    const { once = false, signal } = typeof options === "object" && options ? options : {};
    if (signal?.aborted) return;
    const list = this.#listeners.get(type) ?? [];
    if (list.some((one) => one.listener === listener)) return;
    this.#listeners.set(type, [...list, { listener, once }]);
    signal?.addEventListener("abort", () => this.removeEventListener(type, listener), { once: true });
  }

  removeEventListener(type, listener) {
    const list = this.#listeners.get(type);
    if (list) this.#listeners.set(type, list.filter((one) => one.listener !== listener));
  }

  dispatchEvent(event) {
    event.target = event.currentTarget = this;
    this[`on${event.type}`]?.call?.(this, event);
    for (const one of this.#listeners.get(event.type) ?? []) {
      if (event.stopped) break;
      if (one.once) this.removeEventListener(event.type, one.listener);
      try {
        if (typeof one.listener === "function") one.listener.call(this, event);
        else one.listener.handleEvent(event);
      } catch (error) {
        console.error(error);
      }
    }
    return !event.defaultPrevented;
  }
}

class DOMException extends Error {
  #name;
  constructor(message = "", name = "Error") {
    super(message);
    this.#name = name;
  }
  get name() {
    return this.#name;
  }
  get code() {
    return { AbortError: 20, TimeoutError: 23, DataCloneError: 25 }[this.#name] ?? 0;
  }
}

const make = Symbol("make");
const abort = Symbol("abort");

class AbortSignal extends EventTarget {
  #reason;
  #aborted = false;
  constructor(key) {
    super();
    if (key !== make) throw new TypeError("a signal is made by an AbortController");
    this.onabort = null;
  }
  get aborted() {
    return this.#aborted;
  }
  get reason() {
    return this.#reason;
  }
  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }
  [abort](reason) {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason ?? new DOMException("This operation was aborted", "AbortError");
    this.dispatchEvent(new Event("abort"));
  }
  static abort(reason) {
    const signal = new AbortSignal(make);
    signal[abort](reason);
    return signal;
  }
  static timeout(ms) {
    const signal = new AbortSignal(make);
    setTimeout(() => signal[abort](new DOMException("The time is over", "TimeoutError")), ms);
    return signal;
  }
  static any(signals) {
    const signal = new AbortSignal(make);
    for (const one of signals) {
      if (one.aborted) {
        signal[abort](one.reason);
        break;
      }
      one.addEventListener("abort", () => signal[abort](one.reason), { once: true });
    }
    return signal;
  }
}

class AbortController {
  #signal = new AbortSignal(make);
  get signal() {
    return this.#signal;
  }
  abort(reason) {
    this.#signal[abort](reason);
  }
}

Object.assign(globalThis, { Event, CustomEvent, EventTarget, DOMException, AbortSignal, AbortController });
