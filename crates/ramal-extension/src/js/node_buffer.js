import { native } from "ramal:native";

const encodings = {
  utf8: "utf8", "utf-8": "utf8", hex: "hex", base64: "base64", base64url: "base64url", latin1: "latin1", binary: "latin1",
  ascii: "ascii", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
};

function encodingOf(name) {
  if (name === undefined || name === null || name === "") return "utf8";
  const known = encodings[String(name).toLowerCase()];
  if (known) return known;
  const error = new TypeError(`Unknown encoding: ${name}`);
  error.code = "ERR_UNKNOWN_ENCODING";
  throw error;
}

/** The bytes of a text, as they come from the program. */
function bytesOf(text, encoding) {
  const kind = encodingOf(encoding);
  return native.encode(text.toWellFormed(), kind === "ascii" ? "latin1" : kind);
}

const same = (bytes) => new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Bytes that JavaScript holds in whatever form, without copying them. */
export function view(data, encoding) {
  if (typeof data === "string") return bytesOf(data, encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return new Uint8Array(data);
  const error = new TypeError("it must be a string, a Buffer, a TypedArray, a DataView or an ArrayBuffer");
  error.code = "ERR_INVALID_ARG_TYPE";
  throw error;
}

/** Bytes of the program by their number. */
export const fetched = (id) => same(native.take(id));
/** Gives bytes to the program: their number. */
export const given = (data, encoding) => native.put(view(data, encoding));
export const isEncoding = (name) => typeof name === "string" && name.toLowerCase() in encodings;

function within(value, size, usual) {
  const at = value === undefined ? usual : Math.trunc(Number(value)) || 0;
  return Math.min(Math.max(at < 0 ? at + size : at, 0), size);
}

export class Buffer extends Uint8Array {
  constructor(value, ...rest) {
    if (typeof value === "string") {
      const bytes = bytesOf(value, rest[0]);
      super(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } else super(value, ...rest);
  }
  static poolSize = 8192;
  static from(value, second, third) {
    if (typeof value === "string") return same(bytesOf(value, second));
    if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return new Buffer(value, second, third);
    if (ArrayBuffer.isView(value)) return new Buffer(Uint8Array.from(value));
    if (value?.type === "Buffer" && Array.isArray(value.data)) return new Buffer(value.data);
    if (Array.isArray(value) || typeof value?.length === "number") return new Buffer(Array.from(value, (byte) => Number(byte) & 255));
    const plain = value?.valueOf?.();
    if (plain !== value && plain !== undefined && plain !== null) return Buffer.from(plain, second, third);
    const error = new TypeError("The first argument must be a string, a Buffer, an ArrayBuffer or an array");
    error.code = "ERR_INVALID_ARG_TYPE";
    throw error;
  }
  static of(...bytes) {
    return new Buffer(bytes);
  }
  static alloc(size, fill, encoding) {
    const made = new Buffer(size);
    return fill === undefined || fill === 0 ? made : made.fill(fill, encoding);
  }
  static allocUnsafe(size) {
    return new Buffer(size);
  }
  static allocUnsafeSlow(size) {
    return new Buffer(size);
  }
  static concat(list, length) {
    const size = length ?? list.reduce((sum, one) => sum + one.length, 0);
    const made = new Buffer(size);
    let at = 0;
    for (const one of list) {
      if (at >= size) break;
      made.set(one.length > size - at ? one.subarray(0, size - at) : one, at);
      at += one.length;
    }
    return made;
  }
  static byteLength(data, encoding) {
    return view(data, encoding).byteLength;
  }
  static isBuffer(value) {
    return value instanceof Buffer;
  }
  static isEncoding(name) {
    return isEncoding(name);
  }
  static compare(one, other) {
    const size = Math.min(one.length, other.length);
    for (let at = 0; at < size; at++) if (one[at] !== other[at]) return one[at] < other[at] ? -1 : 1;
    return Math.sign(one.length - other.length);
  }
  get parent() {
    return this.buffer;
  }
  toString(encoding, start, end) {
    const from = within(start, this.length, 0);
    const to = within(end, this.length, this.length);
    return from >= to ? "" : native.decode(this.subarray(from, to), encodingOf(encoding));
  }
  toLocaleString(encoding, start, end) {
    return this.toString(encoding, start, end);
  }
  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  }
  equals(other) {
    return Buffer.compare(this, other) === 0;
  }
  compare(other, start = 0, end = other.length, from = 0, to = this.length) {
    return Buffer.compare(this.subarray(from, to), other.subarray(start, end));
  }
  slice(start, end) {
    return this.subarray(start, end);
  }
  write(text, ...rest) {
    const encoding = typeof rest.at(-1) === "string" ? rest.pop() : undefined;
    const [offset = 0, length = this.length - offset] = rest;
    const room = Math.max(Math.min(length, this.length - offset), 0);
    let bytes = bytesOf(String(text), encoding);
    if (bytes.length > room) {
      let end = room;
      // A character is written whole or not at all.
      if (encodingOf(encoding) === "utf8") while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
      bytes = bytes.subarray(0, end);
    }
    this.set(bytes, offset);
    return bytes.length;
  }
  copy(target, at = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + target.length - at));
    target.set(part, at);
    return part.length;
  }
  fill(value, ...rest) {
    const encoding = typeof rest.at(-1) === "string" ? rest.pop() : undefined;
    const [start = 0, end = this.length] = rest;
    if (typeof value === "number") return super.fill(value & 255, start, end);
    const bytes = view(value, encoding);
    for (let at = start; at < end && bytes.length; at++) this[at] = bytes[(at - start) % bytes.length];
    return this;
  }
  indexOf(value, from = 0, encoding) {
    if (typeof from === "string") return this.indexOf(value, 0, from);
    if (typeof value === "number") return super.indexOf(value & 255, from);
    const wanted = view(value, encoding);
    const start = within(from, this.length, 0);
    if (!wanted.length) return start;
    for (let at = super.indexOf(wanted[0], start); at >= 0 && at + wanted.length <= this.length; at = super.indexOf(wanted[0], at + 1)) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }
  lastIndexOf(value, from = this.length, encoding) {
    if (typeof value === "number") return super.lastIndexOf(value & 255, from);
    const wanted = view(value, encoding);
    for (let at = Math.min(within(from, this.length, 0), this.length - wanted.length); at >= 0; at--) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }
  includes(value, from, encoding) {
    return this.indexOf(value, from, encoding) >= 0;
  }
  swap16() {
    for (let at = 0; at + 1 < this.length; at += 2) [this[at], this[at + 1]] = [this[at + 1], this[at]];
    return this;
  }
  readUIntBE(at, size) {
    return this.subarray(at, at + size).reduce((sum, byte) => sum * 256 + byte, 0);
  }
  readUIntLE(at, size) {
    return this.subarray(at, at + size).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }
}

const numbers = [
  ["UInt8", "Uint8", 1], ["Int8", "Int8", 1], ["UInt16", "Uint16", 2], ["Int16", "Int16", 2], ["UInt32", "Uint32", 4], ["Int32", "Int32", 4],
  ["BigUInt64", "BigUint64", 8], ["BigInt64", "BigInt64", 8], ["Float", "Float32", 4], ["Double", "Float64", 8],
];
const data = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
for (const [name, kind, size] of numbers) {
  for (const end of size === 1 ? [""] : ["LE", "BE"]) {
    const read = function (at = 0) {
      return data(this)[`get${kind}`](at, end === "LE");
    };
    const write = function (value, at = 0) {
      data(this)[`set${kind}`](at, value, end === "LE");
      return at + size;
    };
    for (const spelled of [name, name.replace("UInt", "Uint")]) {
      Buffer.prototype[`read${spelled}${end}`] = read;
      Buffer.prototype[`write${spelled}${end}`] = write;
    }
  }
}
for (const key of Object.keys(Buffer.prototype)) Object.defineProperty(Buffer.prototype, key, { enumerable: false });

Buffer.prototype[Symbol.for("nodejs.util.inspect.custom")] = function () {
  const shown = this.subarray(0, 50).toString("hex").replace(/(..)(?=.)/g, "$1 ");
  return `<Buffer${shown ? ` ${shown}` : ""}${this.length > 50 ? ` ... ${this.length - 50} more bytes` : ""}>`;
};

globalThis.Buffer = Buffer;
export const { atob, btoa } = globalThis;
export const constants = { MAX_LENGTH: 2 ** 31 - 1, MAX_STRING_LENGTH: 2 ** 30 - 1 };
export const kMaxLength = constants.MAX_LENGTH;
export default { Buffer, atob, btoa, constants, kMaxLength };
