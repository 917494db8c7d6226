const parts = (path) => path.split("/").filter((part) => part !== "" && part !== ".");

function must(path) {
  if (typeof path !== "string") throw new TypeError(`The "path" argument must be of type string. Received ${typeof path}`);
}

export const sep = "/";
export const delimiter = ":";

export function isAbsolute(path) {
  must(path);
  return path.startsWith("/");
}

export function normalize(path) {
  must(path);
  if (path === "") return ".";
  const out = [];
  for (const part of parts(path)) {
    if (part !== "..") out.push(part);
    else if (out.length && out.at(-1) !== "..") out.pop();
    else if (!path.startsWith("/")) out.push("..");
  }
  const tail = path.endsWith("/") && out.length ? "/" : "";
  const whole = (path.startsWith("/") ? "/" : "") + out.join("/") + tail;
  return whole || ".";
}

export function join(...paths) {
  paths.forEach(must);
  const whole = paths.filter((path) => path !== "").join("/");
  return whole ? normalize(whole) : ".";
}

export function resolve(...paths) {
  paths.forEach(must);
  let whole = "";
  for (const path of [...paths].reverse()) {
    if (path === "") continue;
    whole = whole ? `${path}/${whole}` : path;
    if (path.startsWith("/")) break;
  }
  if (!whole.startsWith("/")) whole = `${process.cwd()}/${whole}`;
  const made = normalize(whole);
  return made.length > 1 ? made.replace(/\/+$/, "") : made;
}

export function dirname(path) {
  must(path);
  const bare = path.replace(/(.)\/+$/, "$1");
  const at = bare.lastIndexOf("/");
  if (at < 0) return ".";
  return bare.slice(0, at).replace(/\/+$/, "") || "/";
}

export function basename(path, ending) {
  must(path);
  const bare = path.replace(/\/+$/, "");
  const name = bare.slice(bare.lastIndexOf("/") + 1);
  return ending && name !== ending && name.endsWith(ending) ? name.slice(0, -ending.length) : name;
}

export function extname(path) {
  const name = basename(path);
  const at = name.lastIndexOf(".");
  return at > 0 && !/^\.*$/.test(name.slice(0, at)) ? name.slice(at) : at > 0 && name !== ".." ? name.slice(at) : "";
}

export function relative(from, to) {
  const one = parts(resolve(from));
  const other = parts(resolve(to));
  let same = 0;
  while (same < one.length && same < other.length && one[same] === other[same]) same++;
  return [...one.slice(same).map(() => ".."), ...other.slice(same)].join("/");
}

export function parse(path) {
  must(path);
  const root = path.startsWith("/") ? "/" : "";
  const base = basename(path);
  const ext = extname(path);
  const dir = path === root ? root : path.includes("/") ? dirname(path) : "";
  return { root, dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
}

export function format({ root = "", dir, base, name = "", ext = "" }) {
  const last = base ?? name + (ext && !ext.startsWith(".") ? `.${ext}` : ext);
  if (!dir) return root + last;
  return dir === root ? dir + last : `${dir}/${last}`;
}

export const toNamespacedPath = (path) => path;

export const posix = { sep, delimiter, isAbsolute, normalize, join, resolve, dirname, basename, extname, relative, parse, format, toNamespacedPath };
posix.posix = posix;
export default posix;
