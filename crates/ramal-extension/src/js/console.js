import { native } from "ramal:native";
import { format } from "node:util";

const counts = new Map();
const begun = new Map();
const say = (level) => (...args) => native.log(level, format(...args));

globalThis.console = {
  log: say("info"),
  info: say("info"),
  debug: say("debug"),
  trace: say("debug"),
  warn: say("warn"),
  error: say("error"),
  dir: (value) => native.log("info", format("%O", value)),
  table: (value) => native.log("info", format("%O", value)),
  assert: (holds, ...args) => holds || native.log("error", `Assertion failed: ${format(...args)}`),
  count: (name = "default") => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    native.log("info", `${name}: ${counts.get(name)}`);
  },
  countReset: (name = "default") => void counts.delete(name),
  time: (name = "default") => void begun.set(name, performance.now()),
  timeEnd: (name = "default") => native.log("info", `${name}: ${(performance.now() - (begun.get(name) ?? performance.now())).toFixed(1)} ms`),
  timeLog: (name = "default") => native.log("info", `${name}: ${(performance.now() - (begun.get(name) ?? performance.now())).toFixed(1)} ms`),
  group: (...args) => args.length && native.log("info", format(...args)),
  groupEnd: () => {},
  clear: () => {},
};
