import { native } from "ramal:native";

const due = new Map();

function start(callback, ms, args, repeats) {
  if (typeof callback !== "function") throw new TypeError("the callback must be a function");
  const after = Math.max(repeats ? 1 : 0, Number(ms) || 0);
  const id = native.timer(after);
  const timer = new Timer(id);
  due.set(id, { callback, after, args, repeats, timer });
  return timer;
}

class Timer {
  constructor(id) {
    this.id = id;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  refresh() {
    const one = due.get(this.id);
    if (one) {
      native.untimer(this.id);
      native.timerAgain(this.id, one.after);
    }
    return this;
  }
  close() {
    stop(this);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.id;
  }
}

function stop(timer) {
  const id = timer instanceof Timer ? timer.id : Number(timer);
  if (due.delete(id)) native.untimer(id);
}

export function fire(id) {
  const one = due.get(id);
  if (!one) return;
  if (one.repeats) native.timerAgain(id, one.after);
  else due.delete(id);
  one.callback(...one.args);
}

const all = {
  setTimeout: (callback, ms, ...args) => start(callback, ms, args, false),
  setInterval: (callback, ms, ...args) => start(callback, ms, args, true),
  setImmediate: (callback, ...args) => start(callback, 0, args, false),
  clearTimeout: stop,
  clearInterval: stop,
  clearImmediate: stop,
  queueMicrotask: (callback) => void Promise.resolve().then(callback),
};
Object.assign(globalThis, all);
