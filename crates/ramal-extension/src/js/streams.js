// What is read piece by piece.
import { EventEmitter } from "node:events";

/** Bytes that are held for whoever does not read them yet. */
const AHEAD = 1 << 20;

export class Readable extends EventEmitter {
  #waiting = [];
  #size = 0;
  #flows = false;
  #decoder;
  #encoding;
  #ended = false;
  #wanted = () => {};
  readable = true;
  destroyed = false;
  setEncoding(encoding = "utf8") {
    this.#encoding = encoding === "buffer" ? undefined : encoding;
    this.#decoder = /^utf-?8$/i.test(encoding) ? new TextDecoder() : undefined;
    return this;
  }
  on(name, listener) {
    super.on(name, listener);
    if (name === "data") queueMicrotask(() => this.resume());
    return this;
  }
  #said(bytes) {
    if (this.#decoder) return this.#decoder.decode(bytes, { stream: true });
    return this.#encoding ? bytes.toString(this.#encoding) : bytes;
  }
  resume() {
    if (this.destroyed) return this;
    this.#flows = true;
    while (this.#flows && this.#waiting.length) this.emit("data", this.#said(this.#waiting.shift()));
    if (!this.#flows) return this;
    this.#size = 0;
    this.#wanted();
    if (this.#ended) this.#end();
    return this;
  }
  pause() {
    this.#flows = false;
    return this;
  }
  #end() {
    if (!this.readable) return;
    const rest = this.#decoder?.decode();
    if (rest) this.emit("data", rest);
    this.readable = false;
    this.emit("end");
    this.emit("close");
  }
  /** Takes a piece; what it answers is to be awaited before the next. */
  push(bytes) {
    if (this.destroyed) return undefined;
    if (this.#flows) return void this.emit("data", this.#said(bytes));
    this.#waiting.push(bytes);
    this.#size += bytes.length;
    return this.#size < AHEAD ? undefined : new Promise((resolve) => (this.#wanted = resolve));
  }
  /** No piece comes any more. */
  finish() {
    this.#ended = true;
    // Nobody listens for the end of what nobody reads.
    if (this.#flows || !this.#waiting.length) this.#end();
  }
  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.#waiting = [];
    this.#wanted();
    if (error) this.emit("error", error);
    if (this.readable) {
      this.readable = false;
      this.emit("close");
    }
    return this;
  }
  pipe(target) {
    this.on("data", (data) => target.write(data));
    this.on("end", () => target !== process.stdout && target !== process.stderr && target.end?.());
    return target;
  }
  async *[Symbol.asyncIterator]() {
    const pieces = [];
    let wake = () => {};
    let over = !this.readable;
    let failure;
    const end = (error) => {
      over = true;
      failure ??= error;
      wake();
    };
    this.on("data", (data) => {
      pieces.push(data);
      wake();
    });
    this.on("close", () => end());
    this.on("error", end);
    try {
      for (;;) {
        while (pieces.length) yield pieces.shift();
        if (failure) throw failure;
        if (over) return;
        await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      this.destroy();
    }
  }
}
