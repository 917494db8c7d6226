const custom = Symbol.for("nodejs.util.inspect.custom");

const quote = (text) => {
  const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") ? "`" : "'";
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return mark + inside.replaceAll(mark, `\\${mark}`) + mark;
};
const isName = (key) => /^[A-Za-z_$][\w$]*$/.test(key);

function kindOf(value) {
  const made = Object.getPrototypeOf(value)?.constructor?.name;
  return made === undefined ? "[Object: null prototype]" : made;
}

function show(value, left, seen, options) {
  switch (typeof value) {
    case "string": return quote(value);
    case "bigint": return `${value}n`;
    case "symbol": return value.toString();
    case "number": return Object.is(value, -0) ? "-0" : String(value);
    case "function": {
      const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "Function";
      return `[${kind}${value.name ? `${kind === "class" ? " " : ": "}${value.name}` : kind === "class" ? " (anonymous)" : " (anonymous)"}]`;
    }
    case "object": break;
    default: return String(value);
  }
  if (value === null) return "null";
  if (typeof value[custom] === "function" && value[custom] !== inspect) {
    const shown = value[custom](left, options, inspect);
    return typeof shown === "string" ? shown : show(shown, left, seen, options);
  }
  if (seen.includes(value)) return "[Circular *1]";
  const kind = kindOf(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) {
    const stack = String(value.stack ?? "").trimEnd();
    const own = Object.keys(value).filter((key) => key !== "stack" && key !== "message");
    const more = own.length ? ` { ${own.map((key) => `${key}: ${show(value[key], left - 1, [...seen, value], options)}`).join(", ")} }` : "";
    const cause = value.cause === undefined ? "" : ` [cause]: ${show(value.cause, left - 1, [...seen, value], options)}`;
    return `${value.name}: ${value.message}${stack ? `\n${stack}` : ""}${more}${cause}`;
  }
  if (left < 0) return Array.isArray(value) ? "[Array]" : `[${kind}]`;
  const inner = (one) => show(one, left - 1, [...seen, value], options);
  const members = Object.keys(value)
    .filter((key) => !(Array.isArray(value) && /^\d+$/.test(key)))
    .map((key) => `${isName(key) ? key : quote(key)}: ${inner(value[key])}`);
  const most = options.maxArrayLength ?? 100;
  const some = (items) => {
    const shown = items.slice(0, most);
    return items.length > most ? [...shown, `... ${items.length - most} more item${items.length - most > 1 ? "s" : ""}`] : shown;
  };
  const wrap = (lead, items, open, close) => {
    if (!items.length) return `${lead}${open}${close}`;
    const line = `${lead}${open} ${items.join(", ")} ${close}`;
    if (line.length <= (options.breakLength ?? 76) && !line.includes("\n")) return line;
    const indent = (text) => text.replaceAll("\n", "\n  ");
    return `${lead}${open}\n  ${items.map(indent).join(",\n  ")}\n${close}`;
  };
  if (Array.isArray(value)) {
    const items = some(value).map((one, at) => (at < Math.min(value.length, most) ? inner(one) : one));
    return wrap(kind === "Array" ? "" : `${kind}(${value.length}) `, [...items, ...members], "[", "]");
  }
  if (value instanceof Map) return wrap(`Map(${value.size}) `, some([...value]).map((pair) => (Array.isArray(pair) ? `${inner(pair[0])} => ${inner(pair[1])}` : pair)), "{", "}");
  if (value instanceof Set) return wrap(`Set(${value.size}) `, some([...value].map(inner)), "{", "}");
  if (value instanceof Promise) return "Promise { <pending> }";
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return wrap(`${kind}(${value.length}) `, some([...value].map(inner)), "[", "]");
  if (value instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${value.byteLength} }`;
  return wrap(kind === "Object" ? "" : `${kind} `, members, "{", "}");
}

export function inspect(value, options = {}) {
  const given = typeof options === "object" && options ? options : {};
  const depth = given.depth === null ? Infinity : given.depth ?? 2;
  return show(value, depth, [], given);
}
inspect.custom = custom;

export function format(first, ...rest) {
  if (typeof first !== "string") {
    return [first, ...rest].map((one) => (typeof one === "string" ? one : inspect(one))).join(" ");
  }
  let at = 0;
  const text = first.replace(/%[sdifjoOc%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (at >= rest.length) return mark;
    const value = rest[at++];
    switch (mark) {
      case "%s": return typeof value === "string" ? value : typeof value === "object" && value !== null ? inspect(value, { depth: 0 }) : String(value);
      case "%d": return typeof value === "object" ? "NaN" : typeof value === "bigint" ? `${value}n` : String(Number(value));
      case "%i": return typeof value === "object" ? "NaN" : String(parseInt(value, 10));
      case "%f": return String(parseFloat(value));
      case "%j":
        try {
          return JSON.stringify(value);
        } catch {
          return "[Circular]";
        }
      case "%o":
      case "%O": return inspect(value, { depth: 4 });
      default: return "";
    }
  });
  return [text, ...rest.slice(at).map((one) => (typeof one === "string" ? one : inspect(one)))].join(" ");
}

export function promisify(callback) {
  if (typeof callback !== "function") throw new TypeError("promisify takes a function");
  const own = callback[promisify.custom];
  if (own) return own;
  return function (...args) {
    return new Promise((resolve, reject) => {
      callback.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
    });
  };
}
promisify.custom = Symbol.for("nodejs.util.promisify.custom");

export function callbackify(work) {
  return function (...args) {
    const callback = args.pop();
    work.apply(this, args).then((value) => callback(null, value), (error) => callback(error));
  };
}

export function deprecate(work, message) {
  let told = false;
  return function (...args) {
    if (!told) console.warn(message);
    told = true;
    return work.apply(this, args);
  };
}

export function inherits(child, parent) {
  child.super_ = parent;
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

export function isDeepStrictEqual(one, other) {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (one instanceof Date) return one.getTime() === other.getTime();
  if (one instanceof RegExp) return String(one) === String(other);
  if (one instanceof Set) return one.size === other.size && [...one].every((value) => other.has(value));
  if (one instanceof Map) return one.size === other.size && [...one].every(([key, value]) => other.has(key) && isDeepStrictEqual(value, other.get(key)));
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && isDeepStrictEqual(one[key], other[key]));
}

/** Text without what colours it. */
export const stripVTControlCharacters = (text) =>
  String(text).replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[@-_]/g, "");

export const debuglog = () => Object.assign(() => {}, { enabled: false });

export const styleText = (_, text) => String(text);

/** Options and arguments of a command line, as they are described. */
export function parseArgs({ args = [], options = {}, strict = true, allowPositionals = !strict, allowNegative = false } = {}) {
  const wrong = (code, message) => Object.assign(new TypeError(message), { code });
  const values = Object.create(null);
  const positionals = [];
  const rest = [...args];
  const longOf = (short) => Object.keys(options).find((name) => options[name].short === short);
  const set = (name, value) => {
    if (options[name]?.multiple) values[name] = [...(values[name] ?? []), value];
    else values[name] = value;
  };
  const take = (name, shown, inline) => {
    const known = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!known && allowNegative && name.startsWith("no-") && options[name.slice(3)]?.type === "boolean") return set(name.slice(3), false);
    if (!known && strict) throw wrong("ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${shown}'`);
    if (known?.type === "string") {
      const value = inline ?? rest.shift();
      if (strict && (value === undefined || (inline === undefined && /^-./.test(value)))) {
        throw wrong("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${shown}' needs a value`);
      }
      return set(name, value ?? true);
    }
    if (inline !== undefined && strict) throw wrong("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${shown}' takes no value`);
    set(name, inline ?? true);
  };
  while (rest.length) {
    const arg = rest.shift();
    if (arg === "--") {
      positionals.push(...rest.splice(0));
    } else if (arg.startsWith("--")) {
      const at = arg.indexOf("=");
      const name = arg.slice(2, at < 0 ? undefined : at);
      take(name, `--${name}`, at < 0 ? undefined : arg.slice(at + 1));
    } else if (/^-./.test(arg)) {
      const name = longOf(arg[1]) ?? arg[1];
      const more = arg.slice(2);
      if (more && options[name]?.type !== "string") rest.unshift(`-${more}`);
      take(name, `-${arg[1]}`, more && options[name]?.type === "string" ? more : undefined);
    } else positionals.push(arg);
  }
  if (positionals.length && !allowPositionals) throw wrong("ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL", `Unexpected argument '${positionals[0]}'`);
  for (const [name, { default: usual }] of Object.entries(options)) if (usual !== undefined) values[name] ??= usual;
  return { values, positionals };
}

export const types = {
  isArrayBuffer: (value) => value instanceof ArrayBuffer,
  isAnyArrayBuffer: (value) => value instanceof ArrayBuffer || value instanceof SharedArrayBuffer,
  isArrayBufferView: (value) => ArrayBuffer.isView(value),
  isAsyncFunction: (value) => value instanceof (async () => {}).constructor,
  isGeneratorFunction: (value) => value instanceof function* () {}.constructor,
  isWeakMap: (value) => value instanceof WeakMap,
  isWeakSet: (value) => value instanceof WeakSet,
  isPromise: (value) => value instanceof Promise,
  isDate: (value) => value instanceof Date,
  isRegExp: (value) => value instanceof RegExp,
  isMap: (value) => value instanceof Map,
  isSet: (value) => value instanceof Set,
  isNativeError: (value) => value instanceof Error,
  isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isUint8Array: (value) => value instanceof Uint8Array,
};

export const TextEncoder = globalThis.TextEncoder;
export const TextDecoder = globalThis.TextDecoder;

export default { inspect, format, promisify, callbackify, deprecate, inherits, isDeepStrictEqual, stripVTControlCharacters, styleText, parseArgs, debuglog, types, TextEncoder, TextDecoder };
