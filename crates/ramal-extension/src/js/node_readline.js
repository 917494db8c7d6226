// Lines of what is read piece by piece.
import { EventEmitter } from "node:events";

export class Interface extends EventEmitter {
  #input;
  #rest = "";
  #decoder = new TextDecoder();
  closed = false;
  constructor({ input } = {}) {
    super();
    if (typeof input?.on !== "function") throw new TypeError("readline: `input` must be a stream");
    this.#input = input;
    input.on("data", (piece) => this.#take(typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true })));
    input.on("end", () => this.#end());
    input.on("error", (error) => {
      if (this.listenerCount("error")) this.emit("error", error);
      this.close();
    });
  }
  #take(text) {
    if (this.closed) return;
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) this.emit("line", line.replace(/\r$/, ""));
  }
  #end() {
    if (this.closed) return;
    const rest = this.#rest + this.#decoder.decode();
    if (rest) this.emit("line", rest.replace(/\r$/, ""));
    this.close();
  }
  pause() {
    this.#input.pause?.();
    return this;
  }
  resume() {
    this.#input.resume?.();
    return this;
  }
  close() {
    if (this.closed) return;
    this.closed = true;
    this.#input.pause?.();
    this.emit("close");
  }
  question() {
    throw new Error("readline.question is not there: extensions ask by ctx.ui.input");
  }
  async *[Symbol.asyncIterator]() {
    const lines = [];
    let wake = () => {};
    let failure;
    this.on("line", (line) => {
      lines.push(line);
      wake();
    });
    this.on("error", (error) => (failure = error));
    this.on("close", () => wake());
    try {
      for (;;) {
        while (lines.length) yield lines.shift();
        if (failure) throw failure;
        if (this.closed) return;
        await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      this.close();
    }
  }
}

export const createInterface = (...args) => new Interface(typeof args[0]?.on === "function" ? { input: args[0] } : args[0]);
export default { Interface, createInterface };
