// What extensions use of the program's own library: helpers, guards, and the names of files.
import { homedir } from "node:os";
import { join } from "node:path";

export { Type } from "typebox";
export { StringEnum } from "@mariozechner/pi-ai";

export const VERSION = "1.6.0";
export const CONFIG_DIR_NAME = ".ramal";
export const getAgentDir = () => join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "ramal");

export const defineTool = (tool) => tool;

const isTool = (name) => (event) => event?.toolName === name;
export const isToolCallEventType = (name, event) => event?.toolName === name;
export const isBashToolResult = isTool("bash");
export const isReadToolResult = isTool("read");
export const isEditToolResult = isTool("edit");
export const isWriteToolResult = isTool("write");
export const isGrepToolResult = isTool("grep");
export const isFindToolResult = isTool("find");
export const isLsToolResult = isTool("ls");

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).filter((block) => block.type === "text").map((block) => block.text).join("\n");

/** Messages in the form that models are sent. */
export function convertToLlm(messages) {
  return messages.flatMap((message) => {
    switch (message.role) {
      case "user":
      case "assistant":
      case "toolResult": return [message];
      case "custom":
      case "hookMessage": return [{ role: "user", content: message.content, timestamp: message.timestamp }];
      case "branchSummary":
      case "compactionSummary":
        return [{ role: "user", content: [{ type: "text", text: `<summary>\n${message.summary}\n</summary>` }], timestamp: message.timestamp }];
      case "bashExecution":
        if (message.excludeFromContext) return [];
        return [{ role: "user", content: [{ type: "text", text: `Ran \`${message.command}\`\n${message.output}` }], timestamp: message.timestamp }];
      default: return [];
    }
  });
}

/** A conversation as one text, for a model that is to sum it up. */
export function serializeConversation(messages) {
  const parts = [];
  for (const message of messages) {
    if (message.role === "user") parts.push(`[User]: ${textOf(message.content)}`);
    else if (message.role === "assistant") {
      for (const block of message.content ?? []) {
        if (block.type === "text") parts.push(`[Assistant]: ${block.text}`);
        else if (block.type === "thinking") parts.push(`[Assistant thinking]: ${block.thinking}`);
        else if (block.type === "toolCall") parts.push(`[Assistant tool call]: ${block.name}(${JSON.stringify(block.arguments)})`);
      }
    } else if (message.role === "toolResult") parts.push(`[Tool result]: ${textOf(message.content).slice(0, 2000)}`);
  }
  return parts.join("\n\n");
}

export const estimateTokens = (message) => Math.ceil(JSON.stringify(message).length / 4);

export const DEFAULT_MAX_BYTES = 50 * 1024;
export const DEFAULT_MAX_LINES = 2000;
export const formatSize = (bytes) => (bytes < 1024 ? `${bytes}B` : bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / (1 << 20)).toFixed(1)}MB`);

function cut(text, options, fromEnd) {
  const { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = options ?? {};
  const lines = text.split("\n");
  const size = (text) => new TextEncoder().encode(text).length;
  const totalBytes = size(text);
  let kept = fromEnd ? lines.slice(-maxLines) : lines.slice(0, maxLines);
  let truncatedBy = kept.length < lines.length ? "lines" : null;
  let bytes = size(kept.join("\n"));
  while (kept.length > 1 && bytes > maxBytes) {
    const gone = fromEnd ? kept.shift() : kept.pop();
    bytes -= size(gone) + 1;
    truncatedBy = "bytes";
  }
  const content = kept.join("\n");
  return { content, truncated: truncatedBy !== null, truncatedBy, totalLines: lines.length, totalBytes, outputLines: kept.length, outputBytes: size(content), maxLines, maxBytes };
}
export const truncateHead = (text, options) => cut(text, options, false);
export const truncateTail = (text, options) => cut(text, options, true);
export const truncateLine = (line, most = 500) => (line.length > most ? { text: `${line.slice(0, most)}… [truncated]`, wasTruncated: true } : { text: line, wasTruncated: false });

/** What stands before the text of a file, and the text. */
export function parseFrontmatter(text) {
  const found = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(text);
  if (!found) return { frontmatter: {}, body: text };
  const pairs = found[1].split(/\r?\n/).map((line) => /^([\w-]+):\s*(.*)$/.exec(line)).filter(Boolean);
  const plain = (value) => value.replace(/^(["'])(.*)\1$/, "$2");
  return { frontmatter: Object.fromEntries(pairs.map(([, key, value]) => [key, plain(value)])), body: text.slice(found[0].length) };
}

export {
  createBashTool,
  createBashTool as createBashToolDefinition,
  createEditTool,
  createEditTool as createEditToolDefinition,
  createFindTool,
  createFindTool as createFindToolDefinition,
  createGrepTool,
  createGrepTool as createGrepToolDefinition,
  createLocalBashOperations,
  createLsTool,
  createLsTool as createLsToolDefinition,
  createReadTool,
  createReadTool as createReadToolDefinition,
  createWriteTool,
  createWriteTool as createWriteToolDefinition,
} from "ramal:tools";
export { BorderedLoader } from "ramal:loader";
import * as made from "ramal:tools";

export const createReadOnlyTools = (cwd) => [made.createReadTool, made.createGrepTool, made.createFindTool, made.createLsTool].map((make) => make(cwd));
export const createCodingTools = (cwd) => [made.createReadTool, made.createBashTool, made.createEditTool, made.createWriteTool].map((make) => make(cwd));
export const createAllTools = (cwd) => Object.fromEntries([...createCodingTools(cwd), ...createReadOnlyTools(cwd).slice(1)].map((tool) => [tool.name, tool]));

const queues = new Map();

/** Does one thing after the other with a file. */
export async function withFileMutationQueue(path, work) {
  const before = queues.get(path);
  const mine = (async () => {
    await before?.catch(() => {});
    return await work();
  })();
  queues.set(path, mine);
  try {
    return await mine;
  } finally {
    if (queues.get(path) === mine) queues.delete(path);
  }
}

const LANGUAGES = {
  c: "c", h: "c", cpp: "cpp", hpp: "cpp", cs: "csharp", css: "css", go: "go", html: "html", java: "java", js: "javascript", jsx: "javascript",
  json: "json", kt: "kotlin", lua: "lua", md: "markdown", mjs: "javascript", php: "php", py: "python", rb: "ruby", rs: "rust", scala: "scala",
  sh: "bash", sql: "sql", swift: "swift", toml: "toml", ts: "typescript", tsx: "typescript", xml: "xml", yaml: "yaml", yml: "yaml",
};
export const getLanguageFromPath = (path) => LANGUAGES[/\.(\w+)$/.exec(String(path))?.[1]?.toLowerCase()];

/** Which lines a call of `read` is for. */
export function formatReadLineRange(args, theme) {
  const { offset, limit } = args ?? {};
  if (offset === undefined && limit === undefined) return "";
  const first = offset ?? 1;
  const range = `:${first}${limit === undefined ? "" : `-${first + limit - 1}`}`;
  return theme?.fg ? theme.fg("warning", range) : range;
}

/** Text as it is: the colours are the user's. */
export const highlightCode = (code) => String(code).split("\n");
const plain = new Proxy({}, { get: () => (text) => String(text ?? "") });
export const getMarkdownTheme = () => plain;
export const getSettingsListTheme = () => plain;
export const getSelectListTheme = () => plain;
export const keyHint = (_, text) => text;
export const keyText = (key) => String(key);
export const rawKeyHint = (key, text) => `${key} ${text}`;
export const initTheme = () => {};

const absent = (name, why) => () => {
  throw new Error(`${name} is not there: ${why}`);
};
const oneSession = "an extension takes part in the session that is open; ctx.sessionManager reads it";
export const createAgentSession = absent("createAgentSession", oneSession);
export const SessionManager = new Proxy(function () {}, {
  construct: absent("SessionManager", oneSession),
  get: (target, name) => (typeof name === "string" && !["prototype", "name", "length"].includes(name) ? absent(`SessionManager.${name}`, oneSession) : target[name]),
});

const drawn = (name) =>
  class {
    constructor() {
      throw new Error(`${name} is not there: ramal shows texts of extensions, and nothing that they draw`);
    }
  };
export const DynamicBorder = drawn("DynamicBorder");
export const CustomEditor = drawn("CustomEditor");
export const ModelSelectorComponent = drawn("ModelSelectorComponent");
export const SettingsManager = drawn("SettingsManager");
export const AuthStorage = drawn("AuthStorage");
export const ModelRegistry = drawn("ModelRegistry");

export default { defineTool, isToolCallEventType, convertToLlm, serializeConversation };
