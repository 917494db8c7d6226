// Schemas as JSON Schema: what a tool says of its arguments.

export const Kind = Symbol.for("TypeBox.Kind");
export const OptionalKind = Symbol.for("TypeBox.Optional");

const schema = (kind, members, options) => {
  const made = { ...members, ...options };
  // What JSON does not show: so that a schema stays what a provider takes.
  Object.defineProperty(made, Kind, { value: kind, enumerable: false });
  return made;
};
const copy = (one, more = {}) => {
  const made = { ...one, ...more };
  for (const key of [Kind, OptionalKind]) {
    if (one[key]) Object.defineProperty(made, key, { value: one[key], enumerable: false, configurable: true });
  }
  return made;
};
const required = (properties) => Object.keys(properties).filter((key) => !properties[key][OptionalKind]);
const object = (properties, options) => {
  const needed = required(properties);
  return schema("Object", { type: "object", properties, ...(needed.length ? { required: needed } : {}) }, options);
};
const without = (one) => {
  const made = { ...one };
  Object.defineProperty(made, Kind, { value: one[Kind], enumerable: false });
  return made;
};
const optional = (one) => {
  const made = copy(one);
  Object.defineProperty(made, OptionalKind, { value: "Optional", enumerable: false, configurable: true });
  return made;
};
const rest = ({ type, properties, required, ...options }) => options;
const map = (properties, change) => Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, change(one)]));
const only = (properties, keep) => Object.fromEntries(Object.entries(properties).filter(([key]) => keep(key)));
const keysOf = (keys) => (Array.isArray(keys) ? keys : keys?.anyOf ? keys.anyOf.map((one) => one.const) : [keys?.const ?? keys]).map(String);

export const Type = Object.freeze({
  String: (options) => schema("String", { type: "string" }, options),
  Number: (options) => schema("Number", { type: "number" }, options),
  Integer: (options) => schema("Integer", { type: "integer" }, options),
  Boolean: (options) => schema("Boolean", { type: "boolean" }, options),
  Null: (options) => schema("Null", { type: "null" }, options),
  Any: (options) => schema("Any", {}, options),
  Unknown: (options) => schema("Unknown", {}, options),
  Never: (options) => schema("Never", { not: {} }, options),
  Undefined: (options) => schema("Undefined", { type: "undefined" }, options),
  Void: (options) => schema("Void", { type: "void" }, options),
  Literal: (value, options) => schema("Literal", { const: value, type: value === null ? "null" : typeof value }, options),
  Enum: (values, options) => {
    const all = [...new Set(Array.isArray(values) ? values : Object.entries(values).filter(([key]) => Number.isNaN(Number(key))).map(([, value]) => value))];
    return schema("Union", { anyOf: all.map((value) => ({ const: value, type: typeof value })) }, options);
  },
  Array: (items, options) => schema("Array", { type: "array", items }, options),
  Tuple: (items, options) =>
    schema("Tuple", { type: "array", items, additionalItems: false, minItems: items.length, maxItems: items.length }, options),
  Object: object,
  Record: (_, value, options) => schema("Record", { type: "object", additionalProperties: value }, options),
  Union: (all, options) => schema("Union", { anyOf: all }, options),
  Intersect: (all, options) => schema("Intersect", { allOf: all }, options),
  Composite: (all, options) => object(Object.assign({}, ...all.map((one) => one.properties)), options),
  Optional: optional,
  Readonly: (one) => one,
  ReadonlyOptional: optional,
  Partial: (one, options) => object(map(one.properties, optional), { ...rest(one), ...options }),
  Required: (one, options) => object(map(one.properties, without), { ...rest(one), ...options }),
  Pick: (one, keys, options) => object(only(one.properties, (key) => keysOf(keys).includes(key)), { ...rest(one), ...options }),
  Omit: (one, keys, options) => object(only(one.properties, (key) => !keysOf(keys).includes(key)), { ...rest(one), ...options }),
  KeyOf: (one, options) => schema("Union", { anyOf: Object.keys(one.properties).map((key) => ({ const: key, type: "string" })) }, options),
  Ref: (one, options) => schema("Ref", typeof one === "string" ? { $ref: one } : one, options),
  Unsafe: (options) => schema("Unsafe", {}, options),
  Date: (options) => schema("Date", { type: "string", format: "date-time" }, options),
  RegExp: (pattern, options) => schema("RegExp", { type: "string", pattern: pattern.source ?? pattern }, options),
  Function: (_, __, options) => schema("Function", { type: "function" }, options),
});

export default { Type, Kind };
