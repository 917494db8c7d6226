import { quick } from "ramal:native";
import { Buffer, fetched, given } from "node:buffer";

/** Bytes of a text or of bytes, copied: they may change before they are counted in. */
const kept = (data, encoding) => Buffer.from(data, encoding);

export class Hash {
  #name;
  #key;
  #parts = [];
  #isOver = false;
  constructor(name, key) {
    this.#name = String(name);
    this.#key = key;
    // That it is not there is said now.
    quick("hash", this.#name, given(""), null);
  }
  update(data, encoding) {
    if (this.#isOver) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" });
    this.#parts.push(kept(data, encoding));
    return this;
  }
  digest(encoding) {
    if (this.#isOver) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" });
    this.#isOver = true;
    const made = fetched(quick("hash", this.#name, given(Buffer.concat(this.#parts)), this.#key === undefined ? null : given(this.#key)));
    this.#parts = [];
    return encoding && encoding !== "buffer" ? made.toString(encoding) : made;
  }
  copy() {
    const copy = new Hash(this.#name, this.#key);
    copy.#parts = [...this.#parts];
    return copy;
  }
}

export const createHash = (name) => new Hash(name);
export const createHmac = (name, key) => new Hash(name, kept(key));
export const hash = (name, data, encoding = "hex") => createHash(name).update(data).digest(encoding);
export const getHashes = () => ["sha224", "sha256", "sha384", "sha512"];
export const randomUUID = () => quick("uuid");

export function randomFillSync(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let at = 0; at < bytes.length; at += 65536) globalThis.crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return array;
}

export function randomBytes(size, callback) {
  const made = randomFillSync(Buffer.alloc(size));
  if (!callback) return made;
  queueMicrotask(() => callback(null, made));
}

export function randomInt(...args) {
  const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
  const [min, max] = args.length > 1 ? args : [0, args[0]];
  const range = max - min;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || range <= 0 || range > 2 ** 48) {
    throw Object.assign(new RangeError(`there is no whole number from ${min} to below ${max}, or there are too many`), { code: "ERR_OUT_OF_RANGE" });
  }
  // What lies beyond the last whole multiple would make some numbers more likely.
  const most = 2 ** 48 - (2 ** 48 % range);
  let drawn;
  do drawn = randomBytes(6).readUIntBE(0, 6);
  while (drawn >= most);
  const made = min + (drawn % range);
  if (!callback) return made;
  queueMicrotask(() => callback(null, made));
}

export function timingSafeEqual(one, other) {
  if (one.byteLength !== other.byteLength) {
    throw Object.assign(new RangeError("Input buffers must have the same byte length"), { code: "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH" });
  }
  const [left, right] = [one, other].map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  return left.reduce((differs, byte, at) => differs | (byte ^ right[at]), 0) === 0;
}

const nameOf = (algorithm) => (typeof algorithm === "string" ? algorithm : algorithm?.name);
globalThis.crypto.subtle = Object.freeze({
  async digest(algorithm, data) {
    const name = nameOf(algorithm);
    if (!/^SHA-(256|384|512)$/i.test(String(name))) throw new DOMException(`the hash ${name} is not there; there are SHA-256, SHA-384 and SHA-512`, "NotSupportedError");
    const made = fetched(quick("hash", name, given(data), null));
    return made.buffer.slice(made.byteOffset, made.byteOffset + made.byteLength);
  },
});

export const webcrypto = globalThis.crypto;
export const { subtle } = webcrypto;
export const getRandomValues = (array) => webcrypto.getRandomValues(array);
export default {
  Hash, createHash, createHmac, hash, getHashes, randomUUID, randomFillSync, randomBytes, randomInt, timingSafeEqual, webcrypto, subtle, getRandomValues,
};
