import { quick, slow } from "ramal:native";
import { Buffer, fetched, given, isEncoding } from "node:buffer";
import { EventEmitter } from "node:events";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ReadStream, WriteStream } from "ramal:fs-streams";

export { ReadStream, WriteStream };

export const constants = Object.freeze({
  F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4,
  O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000,
});

function wrong(message, code) {
  const error = new TypeError(message);
  error.code = code;
  return error;
}

function pathOf(path) {
  if (path instanceof URL) return fileURLToPath(path);
  if (path instanceof Uint8Array) return Buffer.from(path).toString();
  if (typeof path === "number") throw wrong("there are no file descriptors here: give the path", "ERR_INVALID_ARG_TYPE");
  if (typeof path !== "string") throw wrong(`The "path" argument must be a string, a Buffer or a URL, not ${typeof path}`, "ERR_INVALID_ARG_TYPE");
  if (path.includes("\0")) throw wrong("a path has no NUL in it", "ERR_INVALID_ARG_VALUE");
  if (path === "") throw Object.assign(new Error("ENOENT: no such file or directory, open ''"), { code: "ENOENT", errno: -2, path });
  return path;
}

/** Options that may be an encoding. */
function optionsOf(options) {
  const read = typeof options === "string" ? { encoding: options } : options ?? {};
  const { encoding } = read;
  if (encoding !== undefined && encoding !== null && encoding !== "buffer" && !isEncoding(encoding)) {
    throw wrong(`The encoding ${encoding} is not known`, "ERR_INVALID_ARG_VALUE");
  }
  return read;
}

const modeOf = (mode) => (typeof mode === "string" ? parseInt(mode, 8) : mode);
const isText = (encoding) => encoding && encoding !== "buffer";
const text = (value, encoding) => (encoding === "buffer" ? Buffer.from(value) : value);
const nothing = () => undefined;

class Kinds {
  #kind;
  constructor(kind) {
    this.#kind = kind;
  }
  isFile() {
    return this.#kind === "file";
  }
  isDirectory() {
    return this.#kind === "directory";
  }
  isSymbolicLink() {
    return this.#kind === "link";
  }
  isFIFO() {
    return this.#kind === "fifo";
  }
  isSocket() {
    return this.#kind === "socket";
  }
  isBlockDevice() {
    return this.#kind === "block";
  }
  isCharacterDevice() {
    return this.#kind === "character";
  }
}

export class Stats extends Kinds {
  constructor({ kind, stamp, ...about }) {
    super(kind);
    Object.assign(this, about);
    for (const name of ["atime", "mtime", "ctime", "birthtime"]) this[name] = new Date(about[`${name}Ms`]);
  }
}

export class Dirent extends Kinds {
  constructor(name, folder, kind) {
    super(kind);
    Object.assign(this, { name, parentPath: folder, path: folder });
  }
}

const secondsOf = (time) => (time instanceof Date ? time.getTime() / 1000 : Number(time));

/** What each function asks of the program, and what it makes of the answer. */
const plans = {
  readFile(path, options) {
    const { encoding, signal } = optionsOf(options);
    return { path, signal, finish: (bytes) => (isText(encoding) ? bytes.toString(encoding) : bytes) };
  },
  writeFile(path, data, options) {
    const { encoding, mode, flag = "w", signal } = optionsOf(options);
    return { path, signal, options: { flag, mode: modeOf(mode) }, bytes: () => given(typeof data === "number" ? String(data) : data, encoding) };
  },
  appendFile(path, data, options) {
    return { ...plans.writeFile(path, data, { flag: "a", ...optionsOf(options) }), op: "writeFile" };
  },
  truncate: (path, length = 0) => ({ path, options: { length } }),
  stat: (path) => ({ path, finish: (about) => new Stats(about) }),
  lstat: (path) => ({ path, finish: (about) => new Stats(about) }),
  access: (path, mode = 0) => ({ path, options: { mode } }),
  readdir(path, options) {
    const { withFileTypes, recursive, encoding } = optionsOf(options);
    const folder = pathOf(path);
    const made = ([name, kind]) =>
      withFileTypes ? new Dirent(text(basename(name), encoding), name.includes("/") ? join(folder, dirname(name)) : folder, kind) : text(name, encoding);
    return { path, options: { recursive: Boolean(recursive) }, finish: (all) => all.map(made) };
  },
  mkdir(path, options) {
    const { recursive = false, mode } = typeof options === "object" && options ? options : { mode: options };
    return { path, options: { recursive, mode: modeOf(mode) }, finish: (first) => (recursive ? first ?? undefined : undefined) };
  },
  rm: (path, { recursive = false, force = false } = {}) => ({ path, options: { recursive, force } }),
  unlink: (path) => ({ path }),
  rmdir: (path, { recursive = false } = {}) => ({ path, op: recursive ? "rm" : "rmdir", options: { recursive } }),
  rename: (path, dest) => ({ path, options: { dest: pathOf(dest) } }),
  copyFile: (path, dest, mode = 0) => ({ path, options: { dest: pathOf(dest), mode } }),
  realpath: (path, options) => ({ path, finish: (found) => text(found, optionsOf(options).encoding) }),
  mkdtemp(prefix, options) {
    const path = pathOf(prefix) + crypto.randomUUID().slice(0, 6);
    return { path, finish: () => text(path, optionsOf(options).encoding) };
  },
  chmod: (path, mode) => ({ path, options: { mode: modeOf(mode) } }),
  symlink: (target, path) => ({ path, options: { target: pathOf(target) } }),
  readlink: (path, options) => ({ path, finish: (target) => text(target, optionsOf(options).encoding) }),
  utimes: (path, atime, mtime) => ({ path, options: { atime: secondsOf(atime), mtime: secondsOf(mtime) } }),
};

function answered({ error, bytes, is }, finish = nothing) {
  if (error) {
    const { message, dest, ...about } = error;
    throw Object.assign(new Error(message), about, dest ? { dest } : {});
  }
  return finish(bytes === undefined ? is : fetched(bytes));
}

function planned(name, args) {
  const { op = name, path, options = {}, bytes, finish, signal } = plans[name](...args);
  const real = pathOf(path);
  return { asked: [op, real, options, bytes ? bytes() : null], finish, signal };
}

/** The three forms of each function. */
const now = {};
const later = {};
const called = {};
for (const name of Object.keys(plans)) {
  now[name] = (...args) => {
    const { asked, finish } = planned(name, args);
    return answered(quick("fs", ...asked), finish);
  };
  later[name] = async (...args) => {
    const { asked, finish, signal } = planned(name, args);
    return answered(await slow("fs.later", asked, signal), finish);
  };
  called[name] = (...args) => {
    const at = args.findLastIndex((one) => typeof one === "function");
    if (at < 0) throw wrong('The "cb" argument must be of type function', "ERR_INVALID_ARG_TYPE");
    const callback = args[at];
    later[name](...args.slice(0, at)).then((value) => callback(null, value), (error) => callback(error));
  };
}

export const promises = Object.freeze({ ...later, constants, watch: watched });

export const {
  readFile, writeFile, appendFile, truncate, stat, lstat, access, readdir, mkdir, rm, unlink, rmdir, rename, copyFile, realpath, mkdtemp, chmod,
  symlink, readlink, utimes,
} = called;
export const {
  readFile: readFileSync, writeFile: writeFileSync, appendFile: appendFileSync, truncate: truncateSync, access: accessSync, readdir: readdirSync,
  mkdir: mkdirSync, rm: rmSync, unlink: unlinkSync, rmdir: rmdirSync, rename: renameSync, copyFile: copyFileSync, realpath: realpathSync,
  mkdtemp: mkdtempSync, chmod: chmodSync, symlink: symlinkSync, readlink: readlinkSync, utimes: utimesSync,
} = now;
realpathSync.native = realpathSync;
realpath.native = realpath;

const quiet = (work) => (path, options) => {
  try {
    return work(path);
  } catch (error) {
    if (options?.throwIfNoEntry === false && error.code === "ENOENT") return undefined;
    throw error;
  }
};
export const statSync = quiet(now.stat);
export const lstatSync = quiet(now.lstat);

export function existsSync(path) {
  try {
    now.access(path);
    return true;
  } catch {
    return false;
  }
}

export function exists(path, callback) {
  later.access(path).then(() => callback(true), () => callback(false));
}

/** Says that a file, or what is in a folder, has changed. */
export class FSWatcher extends EventEmitter {
  #end = new AbortController();
  constructor(path, stamp) {
    super();
    this.#look(path, stamp);
  }
  async #look(path, first) {
    const { signal } = this.#end;
    let stamp = first;
    try {
      while (!signal.aborted) {
        stamp = await slow("fs.changed", [path, stamp], signal);
        this.emit("change", "change", basename(path));
      }
    } catch (error) {
      if (!signal.aborted && this.listenerCount("error")) this.emit("error", error);
    }
  }
  close() {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    queueMicrotask(() => this.emit("close"));
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
}

const piece = async (path, start, length) => answered(await slow("fs.later", ["readFile", path, { start, length }, null]), (bytes) => bytes);
export const createReadStream = (path, options) => new ReadStream(pathOf(path), optionsOf(options), piece);
export const createWriteStream = (path, options) => new WriteStream(pathOf(path), optionsOf(options), later.writeFile);

const stampOf = (path) => answered(quick("fs", "stat", path, {}, null), (about) => about.stamp);

export function watch(path, ...rest) {
  const listener = rest.find((one) => typeof one === "function");
  const { signal } = rest.find((one) => typeof one === "object" && one) ?? {};
  const real = pathOf(path);
  const watcher = new FSWatcher(real, stampOf(real));
  if (listener) watcher.on("change", listener);
  signal?.addEventListener("abort", () => watcher.close(), { once: true });
  return watcher;
}

async function* watched(path, { signal } = {}) {
  const real = pathOf(path);
  for (let stamp = stampOf(real); ; ) {
    stamp = await slow("fs.changed", [real, stamp], signal);
    yield { eventType: "change", filename: basename(real) };
  }
}

const watchers = new Map();
const gone = { kind: "file", size: 0, mode: 0, atimeMs: 0, mtimeMs: 0, ctimeMs: 0, birthtimeMs: 0 };
const statsOf = (path) => {
  try {
    return now.stat(path);
  } catch {
    return new Stats(gone);
  }
};

export function watchFile(path, ...rest) {
  const real = pathOf(path);
  const listener = rest.at(-1);
  let before = statsOf(real);
  const watcher = new FSWatcher(real, before.ino === undefined ? "" : stampOf(real));
  watcher.on("change", () => {
    const after = statsOf(real);
    listener(after, before);
    before = after;
  });
  watchers.set(real, [...(watchers.get(real) ?? []), { watcher, listener }]);
  return watcher;
}

export function unwatchFile(path, listener) {
  const real = pathOf(path);
  for (const one of watchers.get(real) ?? []) if (!listener || one.listener === listener) one.watcher.close();
  watchers.set(real, (watchers.get(real) ?? []).filter((one) => listener && one.listener !== listener));
}

export default {
  ...called, ...Object.fromEntries(Object.entries(now).map(([name, work]) => [`${name}Sync`, work])),
  statSync, lstatSync, exists, existsSync, watch, watchFile, unwatchFile, createReadStream, createWriteStream,
  ReadStream, WriteStream, promises, constants, Stats, Dirent, FSWatcher,
};
