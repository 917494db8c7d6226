// Files that are read and written piece by piece.
import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { Readable } from "ramal:streams";

const PIECE = 64 * 1024;

export class ReadStream extends Readable {
  bytesRead = 0;
  constructor(path, { encoding, start = 0, end = Infinity, highWaterMark = PIECE, signal } = {}, read) {
    super();
    this.path = path;
    if (encoding) this.setEncoding(encoding);
    signal?.addEventListener("abort", () => this.destroy(signal.reason), { once: true });
    this.#pump(start, end + 1, highWaterMark, read);
  }
  async #pump(start, end, size, read) {
    try {
      for (let at = start; at < end && !this.destroyed; ) {
        const piece = await read(this.path, at, Math.min(size, end - at));
        if (!piece.length) break;
        if (at === start) this.emit("open");
        at += piece.length;
        this.bytesRead += piece.length;
        await this.push(piece);
      }
      if (!this.destroyed) this.finish();
    } catch (error) {
      this.destroy(error);
    }
  }
  close(callback) {
    if (callback) this.once("close", callback);
    this.destroy();
  }
}

/** Writes one piece after the other, in the order in which they were given. */
export class WriteStream extends EventEmitter {
  #last;
  writable = true;
  destroyed = false;
  bytesWritten = 0;
  constructor(path, { encoding = "utf8", flags = "w", mode } = {}, write) {
    super();
    this.path = path;
    this.encoding = encoding;
    this.append = (data) => write(path, data, { flag: "a", mode });
    // It is made, or emptied, before anything is written.
    this.#last = write(path, "", { flag: flags, mode }).then(() => void this.emit("open"), (error) => this.destroy(error));
  }
  #then(work) {
    this.#last = this.#last.then(() => (this.destroyed ? undefined : work())).catch((error) => this.destroy(error));
    return this.#last;
  }
  write(data, ...rest) {
    const callback = rest.find((one) => typeof one === "function");
    const encoding = rest.find((one) => typeof one === "string") ?? this.encoding;
    if (!this.writable) {
      this.destroy(Object.assign(new Error("write after end"), { code: "ERR_STREAM_WRITE_AFTER_END" }));
      return false;
    }
    // What is given may be changed before its turn comes.
    const bytes = Buffer.from(data, encoding);
    this.#then(async () => {
      await this.append(bytes);
      this.bytesWritten += bytes.length;
      callback?.();
    });
    return true;
  }
  end(data, ...rest) {
    const callback = [data, ...rest].find((one) => typeof one === "function");
    if (data !== undefined && data !== null && typeof data !== "function") this.write(data, ...rest.filter((one) => one !== callback));
    if (callback) this.once("finish", callback);
    this.writable = false;
    this.#then(() => {
      this.emit("finish");
      this.destroy();
    });
    return this;
  }
  close(callback) {
    return this.end(callback);
  }
  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.writable = false;
    if (error) this.emit("error", error);
    this.emit("close");
    return this;
  }
}
