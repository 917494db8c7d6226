// Values that outlive the place where they were made: copied whole, with their cycles.

const typed = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
  Float64Array, BigInt64Array, BigUint64Array,
];
const errors = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };

const refuse = (what) => new DOMException(`${what} could not be cloned`, "DataCloneError");

/** A value as a list of nodes that JSON can say. The first is the value. */
export function encode(value) {
  const nodes = [];
  const known = new Map();
  const put = (value) => {
    switch (typeof value) {
      case "function":
      case "symbol":
        throw refuse(`A ${typeof value}`);
      case "undefined":
        return nodes.push(["u"]) - 1;
      case "bigint":
        return nodes.push(["n", String(value)]) - 1;
      case "number":
        return nodes.push(Number.isFinite(value) && !Object.is(value, -0) ? ["v", value] : ["d", Object.is(value, -0) ? "-0" : String(value)]) - 1;
      case "string":
      case "boolean":
        return nodes.push(["v", value]) - 1;
    }
    if (value === null) return nodes.push(["v", null]) - 1;
    const seen = known.get(value);
    if (seen !== undefined) return seen;
    const node = [];
    const at = nodes.push(node) - 1;
    known.set(value, at);
    const members = () => Object.keys(value).map((key) => [key, put(value[key])]);
    if (Array.isArray(value)) node.push("a", value.length, members());
    else if (value instanceof Date) node.push("t", value.getTime());
    else if (value instanceof RegExp) node.push("r", value.source, value.flags);
    else if (value instanceof Map) node.push("m", [...value].map(([key, one]) => [put(key), put(one)]));
    else if (value instanceof Set) node.push("s", [...value].map(put));
    else if (value instanceof Error) node.push("e", value.name in errors ? value.name : "Error", value.message, value.stack ?? "");
    else if (value instanceof ArrayBuffer) node.push("b", [...new Uint8Array(value)]);
    else if (ArrayBuffer.isView(value)) {
      const kind = typed.findIndex((kind) => value instanceof kind);
      const whole = value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
      node.push("y", kind, put(whole));
    } else if (value instanceof Boolean || value instanceof Number || value instanceof String) {
      node.push("o", put(value.valueOf()));
    } else if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
      throw refuse("An object of this kind");
    } else node.push("p", members());
    return at;
  };
  put(value);
  return nodes;
}

/** The value again. */
export function decode(nodes) {
  const made = new Array(nodes.length);
  const has = new Array(nodes.length).fill(false);
  const get = (at) => {
    if (has[at]) return made[at];
    const [kind, one, two, three] = nodes[at];
    const is = (value) => {
      has[at] = true;
      return (made[at] = value);
    };
    const set = (target, members) => {
      for (const [key, child] of members) {
        Object.defineProperty(target, key, { value: get(child), writable: true, enumerable: true, configurable: true });
      }
      return target;
    };
    switch (kind) {
      case "u": return is(undefined);
      case "n": return is(BigInt(one));
      case "d": return is(Number(one));
      case "v": return is(one);
      case "t": return is(new Date(one));
      case "r": return is(new RegExp(one, two));
      case "b": return is(Uint8Array.from(one).buffer);
      case "o": return is(Object(get(one)));
      case "y": return is(one < 0 ? new DataView(get(two)) : new typed[one](get(two)));
      case "e": {
        const error = new errors[one](two);
        Object.defineProperty(error, "stack", { value: three, writable: true, configurable: true });
        return is(error);
      }
      case "a": return set(is(new Array(one)), two);
      case "m": {
        const map = is(new Map());
        for (const [key, value] of one) map.set(get(key), get(value));
        return map;
      }
      case "s": {
        const all = is(new Set());
        for (const value of one) all.add(get(value));
        return all;
      }
      default: return set(is({}), one);
    }
  };
  return get(0);
}

globalThis.structuredClone = (value) => decode(encode(value));
