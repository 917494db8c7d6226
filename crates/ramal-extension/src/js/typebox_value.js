// Whether a value is what a schema says.

const kinds = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  undefined: (value) => value === undefined,
};

function* wrong(schema, value, path) {
  if (schema.not && ![...wrong(schema.not, value, path)].length) yield { path, message: "Unexpected value", value };
  if (schema.anyOf && !schema.anyOf.some((one) => ![...wrong(one, value, path)].length)) {
    yield { path, message: "Expected union value", value };
    return;
  }
  for (const one of schema.allOf ?? []) yield* wrong(one, value, path);
  if ("const" in schema && schema.const !== value) yield { path, message: `Expected ${JSON.stringify(schema.const)}`, value };
  if (schema.enum && !schema.enum.includes(value)) yield { path, message: "Expected one of the values", value };
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length && !types.some((type) => kinds[type]?.(value))) {
    yield { path, message: `Expected ${types.join(" or ")}`, value };
    return;
  }
  if (typeof value === "string") {
    if (value.length < (schema.minLength ?? 0)) yield { path, message: "Expected a longer string", value };
    if (value.length > (schema.maxLength ?? Infinity)) yield { path, message: "Expected a shorter string", value };
    if (schema.pattern && !new RegExp(schema.pattern).test(value)) yield { path, message: "Expected string to match pattern", value };
  }
  if (typeof value === "number") {
    if (value < (schema.minimum ?? -Infinity)) yield { path, message: `Expected at least ${schema.minimum}`, value };
    if (value > (schema.maximum ?? Infinity)) yield { path, message: `Expected at most ${schema.maximum}`, value };
  }
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) yield { path, message: "Expected more items", value };
    if (value.length > (schema.maxItems ?? Infinity)) yield { path, message: "Expected fewer items", value };
    for (const [at, one] of value.entries()) {
      const items = Array.isArray(schema.items) ? schema.items[at] : schema.items;
      if (items) yield* wrong(items, one, `${path}/${at}`);
    }
  } else if (kinds.object(value)) {
    for (const key of schema.required ?? []) {
      if (!Object.hasOwn(value, key)) yield { path: `${path}/${key}`, message: "Expected required property", value: undefined };
    }
    for (const [key, one] of Object.entries(value)) {
      const known = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
      if (known) yield* wrong(known, one, `${path}/${key}`);
      else if (schema.additionalProperties === false) yield { path: `${path}/${key}`, message: "Unexpected property", value: one };
      else if (typeof schema.additionalProperties === "object") yield* wrong(schema.additionalProperties, one, `${path}/${key}`);
    }
  }
}

function filled(schema, value) {
  if (value === undefined) return "default" in schema ? structuredClone(schema.default) : undefined;
  if (!schema.properties || !kinds.object(value)) return value;
  for (const [key, one] of Object.entries(schema.properties)) {
    const made = filled(one, value[key]);
    if (made !== undefined) value[key] = made;
  }
  return value;
}

export const Value = Object.freeze({
  Check: (schema, value) => [...wrong(schema, value, "")].length === 0,
  Errors: (schema, value) => [...wrong(schema, value, "")],
  Default: (schema, value) => filled(schema, value),
  Parse(schema, value) {
    const made = filled(schema, structuredClone(value));
    const [first] = wrong(schema, made, "");
    if (first) throw new TypeError(`${first.path || "/"}: ${first.message}`);
    return made;
  },
  Clone: (value) => structuredClone(value),
});
export default { Value };
