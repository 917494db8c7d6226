import { native } from "ramal:native";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const loaded = new Map();

/** What a module of CommonJS exports. It is run once. */
export function load(path) {
  const known = loaded.get(path);
  if (known) return known.exports;
  const module = { exports: {}, id: path, filename: path, path: dirname(path), loaded: false, children: [], paths: [] };
  loaded.set(path, module);
  try {
    const run = native.commonjs(path);
    module.require = createRequire(path);
    run.call(module.exports, module.exports, module.require, module, path, module.path);
    module.loaded = true;
  } catch (error) {
    loaded.delete(path);
    throw error;
  }
  return module.exports;
}

export function createRequire(from) {
  const base = from instanceof URL || String(from).startsWith("file:") ? fileURLToPath(from) : String(from);
  const found = (name) => {
    try {
      return native.resolve(base, String(name));
    } catch (error) {
      throw Object.assign(new Error(`${base} ${error.message}`), { code: "MODULE_NOT_FOUND" });
    }
  };
  const require = (name) => {
    const path = found(name);
    if (path.endsWith(".json") && path.startsWith("/")) return native.namespace(path).default;
    if (native.isCommonjs(path)) return load(path);
    const space = native.namespace(path);
    // What a program for Node expects of a module of Node is what it exports by default.
    return path.startsWith("/") || space.default === undefined ? space : space.default;
  };
  require.resolve = found;
  require.cache = {};
  require.main = undefined;
  return require;
}

export const isBuiltin = (name) => native.isBuiltin(String(name));
export default { createRequire, isBuiltin };
