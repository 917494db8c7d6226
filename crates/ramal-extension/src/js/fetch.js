import { quick, slow } from "ramal:native";
import { fetched, given, view } from "node:buffer";

class Headers {
  #all = new Map();
  constructor(init = {}) {
    const pairs = init && typeof init[Symbol.iterator] === "function" ? init : Object.entries(init ?? {});
    for (const [name, value] of pairs) this.append(name, value);
  }
  append(name, value) {
    const key = String(name).toLowerCase();
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(key)) throw new TypeError(`${JSON.stringify(name)} is not the name of a header`);
    const text = String(value).trim();
    if (/[\0\r\n]/.test(text)) throw new TypeError(`the header ${key} has characters that none can carry`);
    this.#all.set(key, [...(this.#all.get(key) ?? []), text]);
  }
  set(name, value) {
    this.delete(name);
    this.append(name, value);
  }
  get(name) {
    return this.#all.get(String(name).toLowerCase())?.join(", ") ?? null;
  }
  getSetCookie() {
    return [...(this.#all.get("set-cookie") ?? [])];
  }
  has(name) {
    return this.#all.has(String(name).toLowerCase());
  }
  delete(name) {
    this.#all.delete(String(name).toLowerCase());
  }
  forEach(callback, self) {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }
  *entries() {
    for (const name of [...this.#all.keys()].sort()) {
      if (name === "set-cookie") for (const value of this.#all.get(name)) yield [name, value];
      else yield [name, this.get(name)];
    }
  }
  *keys() {
    for (const [name] of this) yield name;
  }
  *values() {
    for (const [, value] of this) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
}

/** What is sent, and what it is. */
function sent(body) {
  if (body === undefined || body === null) return [null, null];
  if (typeof body === "string") return [body, "text/plain;charset=UTF-8"];
  if (body instanceof URLSearchParams) return [String(body), "application/x-www-form-urlencoded;charset=UTF-8"];
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return [body, null];
  throw new TypeError("the body must be a string, URLSearchParams, an ArrayBuffer or bytes: forms with files, blobs and streams are not there");
}

/** Bytes that are read once: there already, or with the program. */
class Body {
  #bytes;
  #id;
  #signal;
  #used = false;
  constructor(bytes, id, signal) {
    this.#bytes = bytes;
    this.#id = id;
    this.#signal = signal;
  }
  #use() {
    if (this.#used) throw new TypeError("the body has been read already");
    this.#used = true;
  }
  get bodyUsed() {
    return this.#used;
  }
  async bytes() {
    this.#use();
    if (this.#id === undefined) return this.#bytes ?? new Uint8Array(0);
    const bytes = fetched(await slow("fetch.body", [this.#id], this.#signal).catch(failed(this.#signal)));
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  async arrayBuffer() {
    const bytes = await this.bytes();
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  }
  async text() {
    return new TextDecoder().decode(await this.bytes());
  }
  async json() {
    return JSON.parse(await this.text());
  }
  async blob() {
    throw new TypeError("there are no blobs here: use bytes()");
  }
  async formData() {
    throw new TypeError("there are no forms here: use text()");
  }
  get body() {
    if (this.#id === undefined && !this.#bytes) return null;
    const pieces = this.#pieces();
    const stream = {
      [Symbol.asyncIterator]: () => pieces,
      getReader: () => ({
        read: () => pieces.next(),
        cancel: () => stream.cancel(),
        releaseLock() {},
      }),
      cancel: async () => {
        if (this.#id !== undefined) quick("fetch.drop", this.#id);
        await pieces.return();
      },
    };
    return stream;
  }
  async *#pieces() {
    this.#use();
    if (this.#id === undefined) return yield this.#bytes;
    try {
      for (;;) {
        const piece = await slow("fetch.piece", [this.#id], this.#signal).catch(failed(this.#signal));
        if (piece === null) return;
        this.#id = piece.id;
        yield fetched(piece.bytes);
      }
    } finally {
      quick("fetch.drop", this.#id);
    }
  }
}

const failed = (signal) => (error) => {
  if (signal?.aborted) throw signal.reason;
  throw new TypeError(`fetch failed: ${error.message}`, { cause: error });
};

class Request extends Body {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : undefined;
    const [body, type] = sent(init.body);
    super(body === null ? undefined : typeof body === "string" ? new TextEncoder().encode(body) : view(body));
    this.url = from ? from.url : new URL(String(input)).href;
    this.method = String(init.method ?? from?.method ?? "GET");
    const upper = this.method.toUpperCase();
    if (["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].includes(upper)) this.method = upper;
    this.headers = new Headers(init.headers ?? from?.headers ?? {});
    if (type && !this.headers.has("content-type")) this.headers.set("content-type", type);
    this.redirect = init.redirect ?? from?.redirect ?? "follow";
    this.signal = init.signal ?? from?.signal ?? undefined;
    this.content = body ?? from?.content ?? null;
    if (this.content !== null && (this.method === "GET" || this.method === "HEAD")) throw new TypeError(`a request with ${this.method} has no body`);
    Object.defineProperty(this, "content", { enumerable: false });
  }
  clone() {
    return new Request(this);
  }
}

class Response extends Body {
  constructor(body, init = {}, kept = {}) {
    const [content, type] = kept.id === undefined ? sent(body) : [null, null];
    super(content === null ? undefined : typeof content === "string" ? new TextEncoder().encode(content) : view(content), kept.id, kept.signal);
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.headers = new Headers(init.headers ?? {});
    if (type && !this.headers.has("content-type")) this.headers.set("content-type", type);
    this.url = kept.url ?? "";
    this.redirected = kept.redirected ?? false;
    this.type = kept.id === undefined ? "default" : "basic";
  }
  get ok() {
    return this.status >= 200 && this.status < 300;
  }
  static json(value, init = {}) {
    const made = new Response(JSON.stringify(value), init);
    made.headers.set("content-type", "application/json");
    return made;
  }
  static error() {
    return new Response(null, { status: 0 });
  }
}

async function fetch(input, init = {}) {
  const { url, method, headers, content, redirect, signal } = new Request(input, init);
  if (signal?.aborted) throw signal.reason;
  const body = content === null ? null : given(content);
  const answer = await slow("fetch", [url, method, [...headers], body, redirect], signal).catch(failed(signal));
  return new Response(null, answer, { ...answer, signal });
}

Object.assign(globalThis, { Headers, Request, Response, fetch });
