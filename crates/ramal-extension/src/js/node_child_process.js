import { quick, slow } from "ramal:native";
import { Buffer, fetched, given } from "node:buffer";
import { EventEmitter } from "node:events";
import { constants } from "node:os";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { Readable as Output } from "ramal:streams";

const names = Object.fromEntries(Object.entries(constants.signals).map(([name, number]) => [number, name]));
const nameOf = (signal) => (signal === null || signal === undefined ? null : names[signal] ?? `SIG${signal}`);

function signalOf(signal, usual = "SIGTERM") {
  const given = signal ?? usual;
  const number = typeof given === "number" ? given : constants.signals[given];
  if (number === undefined) throw Object.assign(new TypeError(`Unknown signal: ${given}`), { code: "ERR_UNKNOWN_SIGNAL" });
  return number;
}

const decoded = (bytes, encoding) => (encoding && encoding !== "buffer" ? bytes.toString(encoding) : bytes);
/** What a program reads: one piece after the other. */
class Input extends EventEmitter {
  #id;
  #last = Promise.resolve();
  writable = true;
  constructor(id) {
    super();
    this.#id = id;
  }
  #next(op, args, callback) {
    this.#last = this.#last.then(() => slow(op, [this.#id, ...args])).then(
      () => callback?.(null),
      (why) => {
        const error = Object.assign(new Error(`write EPIPE: ${why.message}`), { code: "EPIPE", errno: -32, syscall: "write" });
        callback?.(error);
        if (this.listenerCount("error")) this.emit("error", error);
      },
    );
  }
  write(data, ...rest) {
    const callback = rest.find((one) => typeof one === "function");
    const encoding = rest.find((one) => typeof one === "string");
    if (!this.writable) throw Object.assign(new Error("write after end"), { code: "ERR_STREAM_WRITE_AFTER_END" });
    const bytes = given(data, encoding);
    this.#next("child.write", [bytes], callback);
    return true;
  }
  end(data, ...rest) {
    if (!this.writable) return this;
    const callback = [data, ...rest].find((one) => typeof one === "function");
    if (data !== undefined && data !== null && typeof data !== "function") this.write(data, ...rest.filter((one) => one !== callback));
    this.writable = false;
    this.#next("child.end", [], () => {
      callback?.();
      this.emit("finish");
      this.emit("close");
    });
    return this;
  }
  destroy() {
    return this.end();
  }
  setDefaultEncoding() {
    return this;
  }
}

export class ChildProcess extends EventEmitter {
  pid;
  exitCode = null;
  signalCode = null;
  killed = false;
  connected = false;
  stdin = null;
  stdout = null;
  stderr = null;
  #id;
  constructor(program, args, spawnargs, options, stdio) {
    super();
    this.spawnfile = program;
    this.spawnargs = spawnargs;
    const shown = stdio.map((one, at) => (one === "inherit" && at > 0 ? "pipe" : one));
    if (options.signal?.aborted) return this.#fail(aborted(options.signal));
    const { id, pid, error } = quick("child.start", program, args, { ...options, signal: undefined, stdio: shown });
    if (error) return this.#fail(Object.assign(new Error(error.message), error));
    this.#id = id;
    this.pid = pid;
    if (shown[0] === "pipe") this.stdin = new Input(id);
    for (const [at, name] of [[1, "stdout"], [2, "stderr"]]) {
      if (shown[at] !== "pipe") continue;
      this[name] = new Output();
      if (stdio[at] !== "inherit") continue;
      const log = name === "stdout" ? console.log : console.error;
      this[name].setEncoding().on("data", (text) => log(text.replace(/\n$/, "")));
    }
    queueMicrotask(() => this.emit("spawn"));
    this.#listen();
    this.#limit(options);
  }
  get stdio() {
    return [this.stdin, this.stdout, this.stderr];
  }
  #fail(error) {
    for (const name of ["stdout", "stderr"]) this[name] = new Output();
    this.stdin = Object.assign(new EventEmitter(), { writable: false, write: () => false, end() {}, destroy() {} });
    queueMicrotask(() => {
      this.exitCode = error.errno ?? -1;
      for (const output of [this.stdout, this.stderr]) output.finish();
      this.emit("error", error);
      this.emit("close", this.exitCode, null);
    });
  }
  #limit({ timeout, signal, killSignal }) {
    const end = () => this.kill(killSignal);
    if (timeout > 0) {
      const timer = setTimeout(end, timeout);
      this.once("exit", () => clearTimeout(timer));
    }
    if (!signal) return;
    const abort = () => {
      end();
      this.emit("error", aborted(signal));
    };
    signal.addEventListener("abort", abort, { once: true });
    this.once("exit", () => signal.removeEventListener("abort", abort));
  }
  async #listen() {
    try {
      for (;;) {
        const heard = await slow("child.next", [this.#id]);
        if (heard === null) break;
        if (heard.of === undefined) this.#exit(heard.code, nameOf(heard.signal));
        else if (heard.bytes === undefined) this[heard.of].finish();
        else await this[heard.of].push(fetched(heard.bytes));
      }
    } catch {
      // Nobody waits for it any more: it is ended with whoever started it.
      this.#exit(null, "SIGKILL");
      for (const output of [this.stdout, this.stderr]) output?.destroy();
    }
    this.emit("close", this.exitCode, this.signalCode);
  }
  #exit(code, signal) {
    if (this.exitCode !== null || this.signalCode !== null) return;
    this.exitCode = code;
    this.signalCode = signal;
    if (this.stdin) this.stdin.writable = false;
    this.emit("exit", code, signal);
  }
  kill(signal) {
    const number = signalOf(signal);
    if (this.#id === undefined || this.exitCode !== null || this.signalCode !== null) return false;
    const sent = quick("child.kill", this.#id, number, false);
    if (sent && number !== 0) this.killed = true;
    return sent;
  }
  ref() {}
  unref() {
    if (this.#id !== undefined) quick("child.unref", this.#id);
  }
  disconnect() {}
}

const aborted = (signal) => Object.assign(new Error("The operation was aborted", { cause: signal.reason }), { name: "AbortError", code: "ABORT_ERR" });

/** Program, arguments and options, where some of them may be left out. */
function taken(program, ...rest) {
  if (typeof program !== "string" || !program) throw Object.assign(new TypeError('The "file" argument must be a string that is not empty'), { code: "ERR_INVALID_ARG_TYPE" });
  const args = Array.isArray(rest[0]) ? rest.shift().map(String) : [];
  if (rest[0] === undefined || rest[0] === null) rest.shift();
  const options = typeof rest[0] === "object" ? rest.shift() : {};
  return { program, args, options: options ?? {}, callback: rest.find((one) => typeof one === "function") };
}

/** The same through a shell, if that is wanted. */
function shelled(program, args, shell) {
  if (!shell) return [program, args];
  const line = [program, ...args].join(" ");
  if (process.platform === "win32") return [typeof shell === "string" ? shell : process.env.ComSpec ?? "cmd.exe", ["/d", "/s", "/c", line]];
  return [typeof shell === "string" ? shell : "/bin/sh", ["-c", line]];
}

function stdioOf(stdio) {
  const list = typeof stdio === "string" ? [stdio, stdio, stdio] : stdio ?? [];
  return [0, 1, 2].map((at) => {
    const one = list[at] ?? "pipe";
    if (one === "overlapped") return "pipe";
    // The terminal is ramal's: what would go there goes to the log.
    if (one === at || one === process.stdout || one === process.stderr) return "inherit";
    if (one === "pipe" || one === "ignore" || one === "inherit") return one;
    throw Object.assign(new TypeError(`stdio can be "pipe", "ignore" or "inherit" here, not ${String(one)}`), { code: "ERR_INVALID_ARG_VALUE" });
  });
}

function envOf(env) {
  if (!env) return undefined;
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]));
}

const optionsOf = ({ cwd, env, detached, timeout, signal, killSignal }) =>
  ({ cwd: cwd instanceof URL ? fileURLToPath(cwd) : cwd ?? undefined, env: envOf(env), detached: Boolean(detached), timeout, signal, killSignal });

export function spawn(...given) {
  const { program, args, options } = taken(...given);
  const [file, list] = shelled(program, args, options.shell);
  return new ChildProcess(file, list, [options.argv0 ?? file, ...list], optionsOf(options), stdioOf(options.stdio));
}

const MOST = 1 << 20;

/** Runs a program and hands over what it wrote. */
function gathered(program, args, shell, options, callback, command) {
  const [file, list] = shelled(program, args, shell);
  const { encoding = "utf8", maxBuffer = MOST, timeout, killSignal } = options;
  const child = new ChildProcess(file, list, [file, ...list], { ...optionsOf(options), timeout: undefined }, ["pipe", "pipe", "pipe"]);
  const parts = { stdout: [], stderr: [] };
  const sizes = { stdout: 0, stderr: 0 };
  let failure;
  let late = false;
  const timer = timeout > 0 ? setTimeout(() => (late = child.kill(killSignal)), timeout) : undefined;
  for (const name of ["stdout", "stderr"]) {
    child[name].on("data", (bytes) => {
      const room = maxBuffer - sizes[name];
      sizes[name] += bytes.length;
      if (room > 0) parts[name].push(bytes.length > room ? bytes.subarray(0, room) : bytes);
      if (bytes.length <= room || failure) return;
      failure = Object.assign(new RangeError(`${name} maxBuffer length exceeded`), { code: "ERR_CHILD_PROCESS_STDIO_MAXBUFFER", cmd: command });
      child.kill(killSignal);
    });
  }
  child.once("error", (error) => (failure ??= error));
  child.once("close", (code, signal) => {
    clearTimeout(timer);
    const [stdout, stderr] = [parts.stdout, parts.stderr].map((all) => decoded(Buffer.concat(all), encoding));
    let error = failure ?? null;
    if (!error && (code !== 0 || signal !== null)) {
      error = Object.assign(new Error(`Command failed: ${command}\n${stderr}`), { code, killed: child.killed || late, signal });
    }
    if (error) Object.assign(error, { cmd: command, stdout, stderr });
    callback?.(error, stdout, stderr);
  });
  return child;
}

export function exec(command, ...rest) {
  const { options, callback } = taken(command, ...rest);
  return gathered(command, [], options.shell || true, options, callback, command);
}

export function execFile(...given) {
  const { program, args, options, callback } = taken(...given);
  return gathered(program, args, options.shell, options, callback, [program, ...args].join(" "));
}

for (const work of [exec, execFile]) {
  work[promisify.custom] = (...args) => {
    let child;
    const promise = new Promise((resolve, reject) => {
      child = work(...args, (error, stdout, stderr) => (error ? reject(error) : resolve({ stdout, stderr })));
    });
    return Object.assign(promise, { child });
  };
}

export function spawnSync(...args) {
  const { program, args: list, options } = taken(...args);
  const [file, all] = shelled(program, list, options.shell);
  const stdio = stdioOf(options.stdio);
  const { input, timeout, maxBuffer, encoding } = options;
  const ran = quick("child.run", file, all, {
    ...optionsOf(options), signal: undefined, timeout, maxBuffer: Number.isFinite(maxBuffer) ? maxBuffer : maxBuffer === undefined ? MOST : undefined,
    killSignal: signalOf(options.killSignal), stdio: stdio.map((one) => (one === "ignore" ? "ignore" : "pipe")),
    input: input === undefined || input === null ? null : given(input, encoding === "buffer" ? undefined : encoding),
  });
  if (ran.error) {
    const error = Object.assign(new Error(ran.error.message), ran.error);
    return { pid: 0, output: null, stdout: null, stderr: null, status: null, signal: null, error };
  }
  const output = [null, ...["stdout", "stderr"].map((name) => (ran[name] === null ? null : decoded(fetched(ran[name]), encoding)))];
  for (const [at, log] of [[1, console.log], [2, console.error]]) {
    if (stdio[at] !== "inherit") continue;
    const text = String(output[at]).replace(/\n$/, "");
    if (text) log(text);
    output[at] = null;
  }
  const made = { pid: ran.pid, output, stdout: output[1], stderr: output[2], status: ran.code, signal: nameOf(ran.signal) };
  if (ran.ended) made.error = Object.assign(new Error(`spawnSync ${file} ${ran.ended}`), { code: ran.ended, path: file, spawnargs: all, syscall: `spawnSync ${file}` });
  return made;
}

function heard(ran, command) {
  if (!ran.error && ran.status === 0) return ran.stdout;
  const said = ran.stderr ? `\n${ran.stderr}` : "";
  const error = ran.error ?? new Error(`Command failed: ${command}${said}`);
  throw Object.assign(error, { ...ran, error: undefined });
}

export const execFileSync = (...args) => {
  const { program, args: list, options } = taken(...args);
  return heard(spawnSync(program, list, options), [program, ...list].join(" "));
};

export const execSync = (command, options = {}) => heard(spawnSync(command, [], { ...options, shell: options?.shell || true }), command);

export function fork() {
  throw Object.assign(new Error("there is no Node here that could run a module: spawn a program"), { code: "ERR_METHOD_NOT_IMPLEMENTED" });
}

export default { ChildProcess, spawn, exec, execFile, spawnSync, execFileSync, execSync, fork };
