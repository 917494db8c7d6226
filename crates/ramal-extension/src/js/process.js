import { quick } from "ramal:native";

const about = quick("process");
const mac = about.platform === "darwin";

/** Numbers of signals. */
export const signals = Object.freeze({
  SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGFPE: 8, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15,
  SIGUSR1: mac ? 30 : 10, SIGUSR2: mac ? 31 : 12, SIGBUS: mac ? 10 : 7, SIGCHLD: mac ? 20 : 17, SIGCONT: mac ? 19 : 18, SIGSTOP: mac ? 17 : 19,
  SIGTSTP: mac ? 18 : 20, SIGTTIN: 21, SIGTTOU: 22, SIGWINCH: 28,
});

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
  memoryUsage: Object.assign(() => ({ ...quick("memory"), arrayBuffers: 0 }), { rss: () => quick("memory").rss }),
  title: "ramal",
  argv0: "ramal",
  execArgv: [],
  release: { name: "node" },
  kill(pid, signal = "SIGTERM") {
    const number = typeof signal === "number" ? signal : signals[signal];
    if (number === undefined) throw Object.assign(new TypeError(`Unknown signal: ${signal}`), { code: "ERR_UNKNOWN_SIGNAL" });
    if (quick("child.kill", Math.abs(Number(pid)), number, true)) return true;
    throw Object.assign(new Error(`kill ESRCH: ${pid} is no program that this extension runs`), { code: "ESRCH", errno: -3, syscall: "kill" });
  },
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
