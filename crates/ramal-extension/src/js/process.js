import { quick } from "ramal:native";

const about = quick("process");

globalThis.process = {
  platform: about.platform,
  arch: about.arch,
  pid: about.pid,
  version: "v22.0.0",
  versions: { node: "22.0.0" },
  argv: ["ramal"],
  execPath: about.execPath,
  exitCode: undefined,
  env: new Proxy(Object.create(null), {
    get: (_, name) => (typeof name === "string" ? quick("env", name) ?? undefined : undefined),
    has: (_, name) => typeof name === "string" && quick("env", name) !== null,
    ownKeys: () => quick("env.names"),
    getOwnPropertyDescriptor: (_, name) => {
      const value = typeof name === "string" ? quick("env", name) : null;
      return value === null ? undefined : { value, writable: false, enumerable: true, configurable: true };
    },
    set: () => {
      throw new Error("an extension cannot change the environment of the program; give `env` to what is run");
    },
  }),
  cwd: () => quick("cwd"),
  hrtime: Object.assign(
    () => {
      const now = performance.now();
      return [Math.floor(now / 1000), Math.floor((now % 1000) * 1e6)];
    },
    { bigint: () => BigInt(Math.floor(performance.now() * 1e6)) },
  ),
  uptime: () => performance.now() / 1000,
  nextTick: (callback, ...args) => queueMicrotask(() => callback(...args)),
  on: () => globalThis.process,
  once: () => globalThis.process,
  off: () => globalThis.process,
  emitWarning: (text) => console.warn(text),
  exit: () => {
    throw new Error("an extension cannot end the program; ctx.shutdown() asks for it");
  },
  stdout: { isTTY: false, write: (text) => (console.log(String(text).replace(/\n$/, "")), true) },
  stderr: { isTTY: false, write: (text) => (console.error(String(text).replace(/\n$/, "")), true) },
};
globalThis.global = globalThis;
