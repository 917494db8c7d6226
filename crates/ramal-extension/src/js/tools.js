// The program's own tools in the hands of an extension, and commands that are run in its way.
import { quick, slow } from "ramal:native";

const MOST_LINES = 2000;
const MOST_BYTES = 50 * 1024;

/** The end of a text, as much of it as a model is shown. */
function end(text) {
  const kept = text.split("\n").slice(-MOST_LINES).join("\n").slice(-MOST_BYTES);
  return { text: kept, truncated: kept.length < text.length };
}

function decoder() {
  const decoder = new TextDecoder();
  return (data) => (typeof data === "string" ? data : decoder.decode(data, { stream: true }));
}

/** Runs a command by what an extension gives for it: what came of it, as of a command of the user's. */
export async function runOperations(operations, command, cwd, signal, { timeout, env, onText } = {}) {
  let output = "";
  const text = decoder();
  const onData = (data) => {
    output += text(data);
    onText?.(end(output).text);
  };
  let exitCode = null;
  let wrong;
  try {
    ({ exitCode } = await operations.exec(command, cwd, { onData, signal, timeout, env }));
  } catch (error) {
    wrong = error;
  }
  if (wrong && !signal?.aborted) output += `${output ? "\n" : ""}${wrong.message ?? wrong}`;
  const shown = end(output);
  return { output: shown.text, exitCode: exitCode ?? undefined, cancelled: Boolean(signal?.aborted), truncated: shown.truncated, failed: wrong !== undefined };
}

/** Runs commands with the program's own shell. */
export const createLocalBashOperations = () => ({
  async exec(command, cwd, { onData, signal, timeout } = {}) {
    const { stdout, stderr, code, killed } = await slow("exec", ["bash", ["-c", String(command)], cwd ?? null, timeout ? timeout * 1000 : null], signal);
    if (stdout + stderr) onData?.(new TextEncoder().encode(stdout + stderr));
    if (killed && !signal?.aborted) throw new Error(`timeout:${timeout}`);
    return { exitCode: code };
  },
});

const text = (text, isError) => ({ content: [{ type: "text", text }], details: undefined, isError });

async function bash(options, cwd, { command, timeout }, signal, onUpdate) {
  let order = { command, cwd, env: undefined };
  if (options.spawnHook) {
    const before = { ...process.env };
    order = { ...order, ...options.spawnHook({ command, cwd, env: { ...before } }) };
    const quoted = (value) => `'${String(value).replaceAll("'", "'\\''")}'`;
    const changed = Object.entries(order.env ?? {}).filter(([name, value]) => value !== undefined && before[name] !== value);
    if (!options.operations) order.command = [...changed.map(([name, value]) => `export ${name}=${quoted(value)}`), order.command].join("\n");
  }
  if (options.commandPrefix) order.command = `${options.commandPrefix}\n${order.command}`;
  if (!options.operations) return order;
  const onText = onUpdate && ((said) => onUpdate(text(said)));
  const { output, exitCode, cancelled, failed } = await runOperations(options.operations, order.command, order.cwd, signal, { timeout, env: order.env, onText });
  if (cancelled) return { result: text(output || "Aborted by the user.", true) };
  const wrong = failed || exitCode !== 0;
  const code = wrong && !failed ? `\n\nThe command ended with code ${exitCode}.` : "";
  return { result: text((output || "(no output)") + code, wrong) };
}

/** A built-in tool in a directory, as something that can be registered or called. */
function tool(name, cwd, options = {}) {
  const other = Object.keys(options).find((key) => options[key] !== undefined && key === "operations" && name !== "bash");
  return {
    ...quick("tool.spec", name),
    label: name,
    async execute(id, input, signal, onUpdate) {
      if (other) throw new Error(`the tool ${name} takes no ${other} here: ramal's own tool works on files of this machine`);
      let [place, asked] = [cwd, input];
      if (name === "bash") {
        const order = await bash(options, cwd, input, signal, onUpdate);
        if (order.result) return order.result;
        [place, asked] = [order.cwd, { ...input, command: order.command }];
      }
      return await slow("tool.run", [name, JSON.stringify(asked ?? {}), place ?? null, String(id ?? ""), typeof onUpdate === "function"], signal);
    },
  };
}

const maker = (name) => (cwd, options) => tool(name, cwd ?? quick("cwd"), options);
export const createReadTool = maker("read");
export const createBashTool = maker("bash");
export const createEditTool = maker("edit");
export const createWriteTool = maker("write");
export const createGrepTool = maker("grep");
export const createFindTool = maker("find");
export const createLsTool = maker("ls");
