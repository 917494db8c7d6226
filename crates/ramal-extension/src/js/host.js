// The extension object, and how events, commands and tools come to what an extension gave.
import "ramal:timers";
import "ramal:events";
import "ramal:clone";
import "ramal:web";
import "ramal:process";
import "ramal:console";
import "node:buffer";
import "node:crypto";
import "ramal:fetch";
import { context, ignored, promptOptions, sendMessage } from "ramal:context";
import { decode, encode } from "ramal:clone";
import { fire } from "ramal:timers";
import { runOperations } from "ramal:tools";
import { describe, native, quick, settle, slow } from "ramal:native";

const handlers = new Map();
const commands = new Map();
const tools = new Map();
const shortcuts = new Map();
const renderers = new Map();
const entryRenderers = new Map();
const flags = new Map();
const channels = new Map();

// What brings answers home is kept as it was: an extension may replace it for itself.
const { parse, stringify } = JSON;
const Controller = AbortController;
const signals = Object.create(null);

/** Names for the same event. The first is the program's. */
const names = {
  session_before_branch: ["session_before_branch", "session_before_fork"],
  compaction_start: ["compaction_start", "auto_compaction_start"],
  compaction_end: ["compaction_end", "auto_compaction_end"],
};

const write = (value) => (value === undefined ? null : JSON.stringify(value));

function must(holds, what) {
  if (!holds) throw new TypeError(what);
}

const bus = Object.freeze({
  on(channel, handler) {
    must(typeof handler === "function", "events.on: the handler must be a function");
    const list = channels.get(channel) ?? new Set();
    channels.set(channel, list.add(handler));
    return () => void list.delete(handler);
  },
  emit(channel, data) {
    const nodes = encode(data);
    deliver(channel, nodes);
    quick("bus", String(channel), JSON.stringify(nodes));
  },
});

function deliver(channel, nodes) {
  for (const handler of channels.get(channel) ?? []) {
    const failed = (error) => quick("report", `bus ${channel}`, describe(error));
    try {
      const answer = handler(decode(nodes));
      if (answer instanceof Promise) answer.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** Something that is taken and does nothing; the log says why. */
const without = (what, why) => (name) => native.log("warn", `${what} ${typeof name === "string" ? name : name?.id ?? ""} does nothing here: ${why}`);

const pi = {
  on(event, handler) {
    must(typeof event === "string", "on: the event must be a string");
    must(typeof handler === "function", "on: the handler must be a function");
    handlers.set(event, [...(handlers.get(event) ?? []), handler]);
    quick("register", "event", event, null);
    return () => handlers.set(event, (handlers.get(event) ?? []).filter((one) => one !== handler));
  },
  registerCommand(name, options) {
    must(typeof options?.handler === "function", `registerCommand ${name}: \`handler\` must be a function`);
    commands.set(String(name), options);
    quick("register", "command", String(name), { description: options.description ?? null, completes: typeof options.getArgumentCompletions === "function" });
  },
  registerTool(tool) {
    must(typeof tool?.name === "string" && tool.name, "registerTool: `name` must be a string");
    must(typeof tool.execute === "function", `registerTool ${tool.name}: \`execute\` must be a function`);
    tools.set(tool.name, tool);
    quick("register", "tool", tool.name, {
      description: String(tool.description ?? ""),
      parameters: JSON.stringify(tool.parameters ?? { type: "object", properties: {} }),
    });
    if (typeof tool.onSession === "function") {
      const tell = (reason) => (event, ctx) => tool.onSession({ reason, previousSessionFile: event.previousSessionFile }, ctx);
      pi.on("session_start", (event, ctx) => event.reason === "startup" && tell("start")(event, ctx));
      pi.on("session_branch", tell("branch"));
      pi.on("session_tree", tell("tree"));
      pi.on("session_switch", tell("switch"));
      pi.on("session_shutdown", (event, ctx) => event.reason === "quit" && tell("shutdown")(event, ctx));
    }
  },
  registerShortcut(key, options) {
    must(typeof options?.handler === "function", `registerShortcut ${key}: \`handler\` must be a function`);
    shortcuts.set(String(key), options);
    quick("register", "shortcut", String(key), { description: options.description ?? null });
  },
  registerFlag(name, options = {}) {
    flags.set(String(name), options);
    quick("register", "flag", String(name), {
      description: options.description ?? null,
      type: options.type === "boolean" ? "boolean" : "string",
      default: options.default === undefined ? null : String(options.default),
    });
  },
  getFlag(name) {
    if (!flags.has(name)) return undefined;
    const value = quick("flag", String(name));
    const { type, default: usual } = flags.get(name);
    if (value === null) return usual;
    return type === "boolean" ? value !== "false" : value;
  },
  registerMessageRenderer(customType, render) {
    must(typeof render === "function", "registerMessageRenderer: the renderer must be a function");
    renderers.set(String(customType), render);
    quick("register", "renderer", String(customType), null);
  },
  registerEntryRenderer(customType, render) {
    must(typeof render === "function", "registerEntryRenderer: the renderer must be a function");
    entryRenderers.set(String(customType), render);
    quick("register", "entry_renderer", String(customType), null);
  },
  registerMarkdownTransformer: ignored("registerMarkdownTransformer"),
  registerToolRenderer: ignored("registerToolRenderer"),
  registerVirtualModel: without("registerVirtualModel", "models come from ramal's catalog"),
  unregisterVirtualModel: () => {},
  registerMcpServer: without("registerMcpServer", "ramal speaks to no MCP servers"),
  unregisterMcpServer: () => {},
  getMcpServers: () => [],
  getSettings: () => ({}),
  registerProvider: (name) => native.log("warn", `registerProvider ${name} does nothing here: models come from ramal's catalog`),
  unregisterProvider: () => {},
  sendMessage,
  sendUserMessage: (content, options) => void quick("send_user", JSON.stringify(content), options?.deliverAs ?? null, Boolean(options?.expandPromptTemplates)),
  appendEntry: (customType, data) => quick("append.entry", null, String(customType), write(data)),
  setSessionName: (name) => void quick("set_name", null, String(name)),
  getSessionName: () => quick("session.name", null) ?? undefined,
  setLabel(...args) {
    // One argument names the extension itself, two put a label on an entry.
    if (args.length === 1) return void quick("name_self", String(args[0]));
    quick("set_label", null, String(args[0]), args[1] ?? null);
  },
  getCommands: () => quick("commands"),
  exec: (command, args = [], options = {}) =>
    slow("exec", [String(command), args.map(String), options.cwd ?? null, options.timeout ?? null], options.signal),
  setModel: async (model) => quick("set_model", typeof model === "string" ? model : `${model?.provider}/${model?.id}`),
  getThinkingLevel: () => quick("thinking"),
  setThinkingLevel: (level) => void quick("set_thinking", String(level)),
  getActiveTools: () => quick("tools.active"),
  getAllTools: () => quick("tools").map((tool) => ({ ...tool, promptGuidelines: tools.get(tool.name)?.promptGuidelines })),
  setActiveTools: (names) => void quick("tools.activate", [...names].map(String)),
  events: bus,
  logger: Object.freeze({
    debug: (...args) => console.debug(...args),
    info: (...args) => console.info(...args),
    warn: (...args) => console.warn(...args),
    error: (...args) => console.error(...args),
  }),
};

/** The signal of something that the program asked for. */
function signalOf(call) {
  const controller = new Controller();
  signals[call] = controller;
  return controller.signal;
}

const taken = (answer, keys) => Object.fromEntries(keys.filter((key) => answer[key] !== undefined && answer[key] !== null).map((key) => [key, answer[key]]));

/** What an answer changes for the handlers after this one. */
const chained = {
  context: ["messages"],
  tool_result: ["content", "details", "isError"],
  input: ["text", "images"],
  before_agent_start: ["systemPrompt"],
};

/** What an answer says, where it does not say it by its members. */
async function saidBy(event, answer, told, signal) {
  if (event === "before_provider_request") {
    told.payload = answer;
    return { payload: answer };
  }
  if (event === "user_bash" && answer.operations && !answer.result) {
    return { result: await runOperations(answer.operations, told.command, told.cwd, signal) };
  }
  return answer;
}

/** What handlers changed of the parts of the system prompt stands at its end. */
function customized(told, said) {
  const { options, systemPrompt } = told;
  const parts = Object.entries(options.sections ?? {}).filter(([, text]) => text).map(([name, text]) => `<${name}>\n${text}\n</${name}>`);
  if (options.promptGuidelines?.length) parts.unshift(options.promptGuidelines.map((line) => `- ${line}`).join("\n"));
  if (options.appendSystemPrompt) parts.unshift(options.appendSystemPrompt);
  const base = options.forceSystemPrompt ?? options.customPrompt ?? systemPrompt;
  if (!parts.length && base === told.given) return said;
  return { ...said, systemPrompt: [base, ...parts].join("\n\n") };
}

/** Whether no other handler is asked. */
const ends = (event, answer) =>
  answer.cancel === true || (event === "tool_call" && answer.block === true) ||
  (event === "input" && answer.action === "handled") || (event === "user_bash" && answer.result !== undefined);

async function heard(event, payload, signal) {
  const asked = [];
  const known = new Set();
  for (const name of names[event] ?? [event]) {
    for (const handler of handlers.get(name) ?? []) {
      if (!known.has(handler)) asked.push([name, handler]);
      known.add(handler);
    }
  }
  const ctx = context(signal, false);
  const told = { ...payload, signal };
  if (event === "before_agent_start") {
    const options = promptOptions();
    told.messageType = "user";
    told.systemPromptOptions = options;
  }
  const before = event === "tool_call" ? JSON.stringify(told.input) : undefined;
  let said;
  for (const [name, handler] of asked) {
    told.type = name;
    let answer;
    try {
      answer = await handler(told, ctx);
    } catch (error) {
      if (!signal.aborted) quick("report", name, describe(error));
      continue;
    }
    if (answer === null || typeof answer !== "object") continue;
    answer = await saidBy(event, answer, told, signal);
    const kept = taken(answer, Object.keys(answer));
    if (event === "before_agent_start" && kept.message) kept.messages = [...(said?.messages ?? []), kept.message];
    // The last who says something of the prompt of a compaction says all of it.
    said = event === "session.compacting" && Object.keys(kept).length ? kept : { ...said, ...kept };
    Object.assign(told, taken(answer, chained[event] ?? []));
    if (ends(event, answer)) break;
  }
  if (event === "before_agent_start") {
    said = customized({ options: told.systemPromptOptions, systemPrompt: told.systemPrompt, given: payload.systemPrompt }, said);
  }
  if (before !== undefined && JSON.stringify(told.input) !== before) said = { ...said, input: told.input };
  return said;
}

async function executed(name, asked, signal, call) {
  const tool = tools.get(name);
  must(tool, `there is no tool ${name} any more`);
  const input = tool.prepareArguments ? tool.prepareArguments(asked.input) : asked.input;
  const update = (partial) => {
    if (call in signals) native.update(call, JSON.stringify(texts(partial)));
  };
  const result = await tool.execute(asked.toolCallId, input, signal, update, context(signal, false));
  if (typeof result === "string") return { content: [{ type: "text", text: result }] };
  must(result && typeof result === "object", `the tool ${name} answered nothing`);
  const content = typeof result.content === "string" ? [{ type: "text", text: result.content }] : result.content ?? [];
  return { content, details: result.details, isError: Boolean(result.isError), terminate: Boolean(result.terminate) };
}

const texts = (partial) =>
  typeof partial === "string" ? partial : (partial?.content ?? []).filter((block) => block.type === "text").map((block) => block.text).join("\n");

/** What a component says when it is asked for its lines. */
function lines(shown) {
  if (shown === undefined || shown === null) return null;
  if (typeof shown === "string") return shown;
  const drawn = Array.isArray(shown) ? shown : shown.render?.(80);
  return Array.isArray(drawn) ? drawn.join("\n") : null;
}

/** What a renderer is told besides. */
const rendering = (expanded) => ({ expanded, keyText: (key) => key, keyHint: (_, text) => text });

const kinds = {
  async load(path) {
    const module = await import(path);
    const factory = module.default?.default ?? module.default;
    must(typeof factory === "function", "its default export is no function");
    await factory(pi);
  },
  event: heard,
  command: async (name, { args }, signal) => {
    const command = commands.get(name);
    must(command, `there is no command ${name} any more`);
    await command.handler(args, context(signal, true));
  },
  complete: async (name, { prefix }) => {
    const found = (await commands.get(name)?.getArgumentCompletions?.(prefix)) ?? [];
    return found.map((one) => (typeof one === "string" ? { value: one, label: one } : one));
  },
  shortcut: async (name, _, signal) => {
    const shortcut = shortcuts.get(name);
    must(shortcut, `there is no shortcut ${name} any more`);
    await shortcut.handler(context(signal, true));
  },
  tool: executed,
  render_entry: async (name, { message, expanded }) => lines(await entryRenderers.get(name)?.(message, rendering(expanded), context(new AbortController().signal, false).ui.theme)),
  render: async (name, { message, expanded }) => lines(await renderers.get(name)?.(message, rendering(expanded), context(new AbortController().signal, false).ui.theme)),
  bus: async (channel, nodes) => deliver(channel, nodes),
};

/** Does what the program asks for, and says what came of it. */
export function run(call, kind, name, payload) {
  // Awaiting needs nothing that could have been replaced.
  void (async () => {
    let ok = true;
    let text;
    try {
      text = stringify((await kinds[kind](name, parse(payload), signalOf(call), call)) ?? null);
    } catch (error) {
      ok = false;
      text = describe(error);
    }
    delete signals[call];
    native.done(call, ok, `${text}`);
  })();
}

export function abort(call) {
  const controller = signals[call];
  delete signals[call];
  controller?.abort();
}

export { describe, fire, settle };
