import { native, quick } from "ramal:native";

class URLSearchParams {
  #pairs = [];
  #changed;
  constructor(init = "", changed = () => {}) {
    if (init && typeof init === "object") {
      const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const [key, value] of pairs) this.#pairs.push([String(key), String(value)]);
    } else {
      const text = String(init ?? "");
      this.#pairs = quick("url.query", text.startsWith("?") ? text.slice(1) : text);
    }
    this.#changed = changed;
  }
  get size() {
    return this.#pairs.length;
  }
  append(key, value) {
    this.#pairs.push([String(key), String(value)]);
    this.#changed(this);
  }
  delete(key, value) {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== String(key) || (value !== undefined && pair[1] !== String(value)));
    this.#changed(this);
  }
  get(key) {
    return this.#pairs.find((pair) => pair[0] === String(key))?.[1] ?? null;
  }
  getAll(key) {
    return this.#pairs.filter((pair) => pair[0] === String(key)).map((pair) => pair[1]);
  }
  has(key, value) {
    return this.#pairs.some((pair) => pair[0] === String(key) && (value === undefined || pair[1] === String(value)));
  }
  set(key, value) {
    const at = this.#pairs.findIndex((pair) => pair[0] === String(key));
    if (at < 0) this.#pairs.push([String(key), String(value)]);
    else {
      this.#pairs[at] = [String(key), String(value)];
      this.#pairs = this.#pairs.filter((pair, index) => index <= at || pair[0] !== String(key));
    }
    this.#changed(this);
  }
  sort() {
    this.#pairs.sort((one, other) => (one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0));
    this.#changed(this);
  }
  forEach(callback, self) {
    for (const [key, value] of this.#pairs) callback.call(self, value, key, this);
  }
  keys() {
    return this.#pairs.map((pair) => pair[0])[Symbol.iterator]();
  }
  values() {
    return this.#pairs.map((pair) => pair[1])[Symbol.iterator]();
  }
  entries() {
    return this.#pairs.map((pair) => [...pair])[Symbol.iterator]();
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  toString() {
    return quick("url.write_query", this.#pairs);
  }
}

const parts = ["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

class URL {
  #parts;
  #query;
  constructor(text, base) {
    try {
      this.#parts = quick("url.parse", String(text), base === undefined ? null : String(base));
    } catch {
      const error = new TypeError(`Invalid URL: ${text}`);
      error.code = "ERR_INVALID_URL";
      error.input = String(text);
      throw error;
    }
  }
  static canParse(text, base) {
    return URL.parse(text, base) !== null;
  }
  static parse(text, base) {
    try {
      return new URL(text, base);
    } catch {
      return null;
    }
  }
  static change(url, part, value) {
    url.#parts = quick("url.set", url.#parts.href, part, String(value));
    if (part !== "query") url.#query = undefined;
  }
  static part(url, part) {
    return url.#parts[part];
  }
  get href() {
    return this.#parts.href;
  }
  set href(value) {
    this.#parts = new URL(value).#parts;
    this.#query = undefined;
  }
  get origin() {
    return this.#parts.origin;
  }
  get searchParams() {
    this.#query ??= new URLSearchParams(this.#parts.search, (query) => change(this, "query", query));
    return this.#query;
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
}
const { change, part } = URL;
delete URL.change;
delete URL.part;
for (const name of parts) {
  Object.defineProperty(URL.prototype, name, {
    get() {
      return part(this, name);
    },
    set(value) {
      change(this, name, value);
    },
    enumerable: true,
    configurable: true,
  });
}

class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(text = "") {
    return native.toBytes(String(text));
  }
  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const char of String(text)) {
      const bytes = native.toBytes(char);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += char.length;
    }
    return { read, written };
  }
}

class TextDecoder {
  #fatal;
  #keepsMark;
  #rest = new Uint8Array(0);
  constructor(label = "utf-8", options = {}) {
    if (!/^(utf-?8|unicode-1-1-utf-8)$/i.test(label)) throw new RangeError(`the encoding ${label} is not there; there is utf-8`);
    this.#fatal = Boolean(options.fatal);
    this.#keepsMark = Boolean(options.ignoreBOM);
  }
  get encoding() {
    return "utf-8";
  }
  get fatal() {
    return this.#fatal;
  }
  decode(input, { stream = false } = {}) {
    const view = input === undefined ? new Uint8Array(0)
      : ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input);
    let bytes = view;
    if (this.#rest.length) {
      bytes = new Uint8Array(this.#rest.length + view.length);
      bytes.set(this.#rest);
      bytes.set(view, this.#rest.length);
    }
    this.#rest = new Uint8Array(0);
    if (stream) {
      // A character whose end has not come yet.
      let cut = bytes.length;
      for (let back = 1; back <= Math.min(3, bytes.length); back++) {
        const byte = bytes[bytes.length - back];
        if (byte < 0x80) break;
        if (byte >= 0xc0) {
          if (back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2)) cut = bytes.length - back;
          break;
        }
      }
      this.#rest = bytes.slice(cut);
      bytes = bytes.slice(0, cut);
    }
    const text = native.toText(bytes, this.#fatal);
    if (text === null) throw new TypeError("the bytes are not utf-8");
    return !this.#keepsMark && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function btoa(input) {
  const text = String(input);
  let out = "";
  for (let at = 0; at < text.length; at += 3) {
    const codes = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
    if (codes.some((code) => code > 255)) throw new DOMException("a character is beyond latin-1", "InvalidCharacterError");
    const [one, two, three] = codes.map((code) => code || 0);
    const left = text.length - at;
    out += alphabet[one >> 2] + alphabet[((one & 3) << 4) | (two >> 4)];
    out += left > 1 ? alphabet[((two & 15) << 2) | (three >> 6)] : "=";
    out += left > 2 ? alphabet[three & 63] : "=";
  }
  return out;
}

function atob(input) {
  const text = String(input).replace(/[\t\n\f\r ]/g, "").replace(/={1,2}$/, "");
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw new DOMException("it is not base64", "InvalidCharacterError");
  let out = "";
  let bits = 0;
  let count = 0;
  for (const char of text) {
    bits = ((bits << 6) | alphabet.indexOf(char)) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += String.fromCharCode((bits >> count) & 255);
    }
  }
  return out;
}

const crypto = {
  randomUUID: () => quick("uuid"),
  getRandomValues(array) {
    const bytes = quick("random", array.byteLength);
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
    return array;
  },
};

Object.assign(globalThis, { URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa, crypto });
