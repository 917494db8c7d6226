// What handlers are given besides the event.
import { BorderedLoader } from "ramal:loader";
import { describe, native, quick, slow } from "ramal:native";

const write = (value) => (value === undefined ? null : JSON.stringify(value));

/** Text without colours: what ramal shows of an extension has those of the user's theme. */
const theme = new Proxy(
  {
    fg: (_, text) => String(text),
    bg: (_, text) => String(text),
    getFgAnsi: () => "",
    getBgAnsi: () => "",
  },
  { get: (target, name) => target[name] ?? ((text) => String(text)) },
);

const missing = (what) => () => {
  throw new Error(`${what} is not there: ramal shows texts of extensions, and nothing that they draw`);
};
const told = new Set();
export const ignored = (what) => () => {
  if (!told.has(what)) native.log("warn", `${what} does nothing here: ramal shows texts of extensions, and nothing that they draw`);
  told.add(what);
};

/** What a component is given to draw with: nothing is drawn. */
const nothing = { requestRender: () => {}, terminal: { columns: 80, rows: 24 } };
const noKeys = { matches: () => false, getKeys: () => [] };

/** A component that only waits is a line of the status, until it says that it is done. No other can be shown. */
async function custom(make, signal) {
  let finish;
  const done = new Promise((resolve) => (finish = resolve));
  let shown;
  try {
    shown = await make(nothing, theme, noKeys, finish);
  } catch {
    // It needed what is not there.
  }
  if (!(shown instanceof BorderedLoader)) {
    shown?.dispose?.();
    missing("ctx.ui.custom")();
  }
  const end = () => shown.abort();
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  quick("ui.status", "working", shown.message);
  try {
    return await done;
  } finally {
    quick("ui.status", "working", null);
    signal?.removeEventListener("abort", end);
    shown.dispose();
  }
}

const ui = Object.freeze({
  select: async (title, options, limits) => {
    const names = options.map((option) => (typeof option === "string" ? option : String(option?.label ?? option?.value ?? option)));
    return (await slow("ui.select", [String(title), names, limits?.timeout ?? null], limits?.signal)) ?? undefined;
  },
  confirm: (title, message, limits) =>
    slow("ui.confirm", [String(title), String(message ?? ""), limits?.timeout ?? null], limits?.signal),
  input: async (title, placeholder, limits) =>
    (await slow("ui.input", [String(title), placeholder ?? null, limits?.timeout ?? null], limits?.signal)) ?? undefined,
  editor: async (title, prefill, limits) =>
    (await slow("ui.editor", [String(title), prefill ?? null], limits?.signal)) ?? undefined,
  notify: (message, kind) => void quick("ui.notify", String(message), kind ?? "info"),
  setStatus: (key, text) => void quick("ui.status", String(key), text ?? null),
  setWidget: (key, content, options) => {
    if (typeof content === "function") return void ignored("a widget that is drawn")();
    const lines = content === undefined || content === null ? null : [content].flat().map(String);
    quick("ui.widget", String(key), lines, options?.placement ?? null);
  },
  setTitle: (title) => void quick("ui.title", String(title)),
  setEditorText: (text) => void quick("ui.set_editor", String(text)),
  pasteToEditor: (text) => void quick("ui.set_editor", quick("ui.editor_text") + String(text)),
  getEditorText: () => quick("ui.editor_text"),
  setWorkingMessage: (text) => void quick("ui.status", "working", text ?? null),
  custom,
  setWorkingVisible: ignored("ctx.ui.setWorkingVisible"),
  addAutocompleteProvider: ignored("ctx.ui.addAutocompleteProvider"),
  getEditorComponent: () => undefined,
  setFooter: ignored("ctx.ui.setFooter"),
  setHeader: ignored("ctx.ui.setHeader"),
  setEditorComponent: ignored("ctx.ui.setEditorComponent"),
  onTerminalInput: () => {
    ignored("ctx.ui.onTerminalInput")();
    return () => {};
  },
  setTheme: () => ({ success: false, error: "the theme is the user's" }),
  getAllThemes: () => [],
  getTheme: () => undefined,
  getToolsExpanded: () => false,
  setToolsExpanded: () => {},
  setWorkingIndicator: ignored("ctx.ui.setWorkingIndicator"),
  setHiddenThinkingLabel: ignored("ctx.ui.setHiddenThinkingLabel"),
  get theme() {
    return theme;
  },
});

/** Reads of the session: each asks the program for just what is wanted. */
function sessionManager(where) {
  const ask = (op, ...args) => quick(op, where.session, ...args);
  const refuse = (name) => () => {
    throw new Error(`ctx.sessionManager.${name} is not there: it only reads; use the methods of the extension or of the command's context`);
  };
  const writes = [
    "appendMessage", "appendThinkingLevelChange", "appendModelChange", "appendCompaction", "appendCustomEntry",
    "appendCustomMessageEntry", "appendSessionInfo", "appendLabelChange", "branch", "resetLeaf", "branchWithSummary",
    "createBranchedSession", "newSession", "setSessionFile",
  ];
  return Object.freeze({
    getLeafId: () => ask("session.leaf"),
    getLeafEntry: () => ask("session.leaf_entry") ?? undefined,
    getEntry: (id) => ask("session.entry", String(id)) ?? undefined,
    getBranch: (from) => ask("session.branch", from ?? null),
    getTree: () => tree(ask("session.tree")),
    getChildren: (parent) => ask("session.children", parent ?? null),
    getLabel: (id) => ask("session.label", String(id)) ?? undefined,
    getEntries: () => ask("session.entries"),
    getHeader: () => ask("session.header"),
    getSessionName: () => ask("session.name") ?? undefined,
    getCwd: () => ask("session.cwd"),
    getSessionDir: () => ask("session.dir") ?? undefined,
    getSessionId: () => ask("session.id"),
    getSessionFile: () => ask("session.file") ?? undefined,
    isPersisted: () => ask("session.is_persisted"),
    buildSessionContext: () => ask("session.context"),
    ...Object.fromEntries(writes.map((name) => [name, refuse(name)])),
  });
}

function modelRegistry() {
  const find = (provider, id) => quick("model.find", `${provider}/${id}`) ?? undefined;
  return Object.freeze({
    find,
    getAll: () => quick("model.all"),
    getAvailable: () => quick("model.all"),
    getError: () => undefined,
    hasConfiguredAuth: (model) => find(model?.provider, model?.id) !== undefined,
    getApiKey: async () => undefined,
    getApiKeyForProvider: async () => undefined,
    // Models are asked without a key in the extension's hands.
    getApiKeyAndHeaders: async (model) =>
      find(model?.provider, model?.id)
        ? { ok: true, apiKey: undefined, headers: undefined }
        : { ok: false, error: `the model ${model?.provider}/${model?.id} cannot be used` },
    getProviderDisplayName: (provider) => String(provider),
    isUsingOAuth: () => false,
    complete,
    completeSimple: complete,
    stream,
    streamSimple: stream,
    findOfType: () => undefined,
    classify: missingModel("classify"),
    generateImages: missingModel("generateImages"),
  });
}

const missingModel = (what) => async () => {
  throw new Error(`ctx.modelRegistry.${what} is not there: ramal asks models for texts`);
};

/** Asks a model, without tools. What goes wrong stands in the answer, as do an abort and what it took. */
export function complete(model, asked, options) {
  const { maxTokens = null, reasoning = null, signal } = options ?? {};
  const request = { systemPrompt: asked?.systemPrompt ?? null, messages: asked?.messages ?? [], maxTokens, reasoning };
  return slow("model.complete", [`${model?.provider}/${model?.id}`, request], signal);
}

/** As `complete`, in the form of a stream, which comes when all of it is there. */
export function stream(model, asked, options) {
  const result = complete(model, asked, options);
  result.catch(() => {});
  return {
    result: () => result,
    async *[Symbol.asyncIterator]() {
      const message = await result;
      yield { type: "start", partial: message };
      for (const [contentIndex, block] of message.content.entries()) {
        const text = block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : undefined;
        if (text === undefined) continue;
        yield { type: `${block.type}_start`, contentIndex, partial: message };
        yield { type: `${block.type}_delta`, contentIndex, delta: text, partial: message };
        yield { type: `${block.type}_end`, contentIndex, content: text, partial: message };
      }
      const failed = message.stopReason === "error" || message.stopReason === "aborted";
      yield failed ? { type: "error", reason: message.stopReason, error: message } : { type: "done", reason: message.stopReason, message };
    },
  };
}

/** The parts of a system prompt. ramal's own is one text, to which they are added. */
export const promptOptions = () => ({
  cwd: quick("cwd"),
  selectedTools: quick("session.current") === null ? [] : quick("tools.active"),
  hiddenTools: [],
  toolSnippets: {},
  toolGuidelines: {},
  promptGuidelines: [],
  appendSystemPrompt: "",
  sections: {},
  contextFiles: [],
  skills: [],
});

/** A context of the session that is open now. A command may also move and leave it. */
export function context(signal, isCommand) {
  const where = { session: quick("session.current") };
  const manager = sessionManager(where);
  const still = () => quick("session.must_be", where.session);
  let own;
  const ctx = {
    get cwd() {
      return quick("cwd");
    },
    get hasUI() {
      return quick("ui.has");
    },
    get mode() {
      return quick("mode");
    },
    get ui() {
      return (own ??= Object.freeze({ ...ui, custom: (make) => custom(make, signal) }));
    },
    get sessionManager() {
      return manager;
    },
    get model() {
      return quick("model.current", where.session) ?? undefined;
    },
    get modelRegistry() {
      return modelRegistry();
    },
    get thinkingLevel() {
      return quick("thinking");
    },
    scopedModels: [],
    signal,
    isIdle: () => quick("is_idle", where.session),
    abort: () => void quick("abort", where.session),
    hasPendingMessages: () => quick("has_pending", where.session),
    getContextUsage: () => quick("context_usage", where.session) ?? undefined,
    compact: (options) => {
      still();
      const work = slow("compact", [where.session, options?.customInstructions ?? null]);
      const done = work.then(
        (result) => {
          if (!result) throw new Error("the compaction was cancelled");
          return result;
        },
      );
      const ended = done.then((result) => options?.onComplete?.(result), (error) => {
        if (options?.onError) options.onError(error);
        else native.log("error", describe(error));
      });
      return isCommand ? done : void ended;
    },
    getSystemPrompt: () => quick("system_prompt", where.session),
    getSystemPromptOptions: promptOptions,
    shutdown: () => void quick("shutdown"),
    isProjectTrusted: () => true,
  };
  if (isCommand) {
    // A command that goes to another session goes on there.
    const move = async (op, ...args) => {
      still();
      const answer = await slow(op, [where.session, ...args]);
      where.session = quick("session.current");
      return answer;
    };
    const replace = async (options, op, ...args) => {
      const answer = await move(op, ...args);
      if (!answer.cancelled) await options?.withSession?.(withSession(signal));
      return answer;
    };
    Object.assign(ctx, {
      waitForIdle: () => slow("wait_for_idle", [where.session]),
      navigateTree: (target, options = {}) =>
        move("navigate", String(target), {
          summarize: Boolean(options.summarize),
          customInstructions: options.customInstructions ?? null,
          replaceInstructions: Boolean(options.replaceInstructions),
          label: options.label ?? null,
        }),
      branch: (entry, options) => replace(options, "branch", String(entry)),
      fork: (entry, options) => replace(options, options?.position === "at" ? "fork_at" : "branch", String(entry)),
      newSession: async (options) => {
        const answer = await move("new_session", options?.parentSession ?? null);
        if (!answer.cancelled) {
          await options?.setup?.(writer(where));
          await options?.withSession?.(withSession(signal));
        }
        return answer;
      },
      switchSession: (path, options) => replace(options, "switch_session", String(path)),
      reload: () => slow("reload", []),
    });
  }
  return ctx;
}

/** The context of a session that was just gone over to. */
function withSession(signal) {
  const ctx = context(signal, true);
  return Object.assign(ctx, {
    sendUserMessage: async (content, options) => void quick("send_user", JSON.stringify(content), options?.deliverAs ?? null, Boolean(options?.expandPromptTemplates)),
    sendMessage: async (message, options) => void sendMessage(message, options),
  });
}

/** What sets up a new session: it may append. */
function writer(where) {
  const ask = (op, ...args) => quick(op, where.session, ...args);
  return Object.freeze({
    ...sessionManager(where),
    appendMessage: (message) => ask("append.message", JSON.stringify(message)),
    appendCustomEntry: (type, data) => ask("append.entry", String(type), write(data)),
    appendCustomMessageEntry: (type, content, display, details) =>
      ask("append.custom_message", String(type), JSON.stringify(content ?? ""), Boolean(display), write(details)),
    appendSessionInfo: (name) => ask("set_name", String(name)),
    appendLabelChange: (id, label) => ask("set_label", String(id), label ?? null),
  });
}

export function sendMessage(message, options) {
  if (typeof message?.customType !== "string") throw new TypeError("sendMessage: `customType` must be a string");
  quick(
    "send_message",
    message.customType,
    JSON.stringify(message.content ?? ""),
    message.display !== false,
    write(message.details),
    Boolean(options?.triggerTurn),
    options?.deliverAs ?? null,
  );
}

/** Nodes under their parents; the rows come in the order of the log. */
function tree(rows) {
  const nodes = rows.map(([entry, , label, labelTimestamp]) => ({
    entry,
    children: [],
    ...(label === null ? {} : { label, labelTimestamp: labelTimestamp ?? undefined }),
  }));
  const roots = [];
  rows.forEach(([entry, parent], at) => {
    if (entry !== null) (parent === null ? roots : nodes[parent].children).push(nodes[at]);
  });
  return roots;
}
