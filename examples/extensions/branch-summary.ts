// Sums up the branch that is left in its own words, without asking a model: what was asked for, how often each
// tool was used, and what was said last.
//
// Try it: ramal -e examples/extensions/branch-summary.ts, talk a little, then /tree, choose an earlier message
// and "summarise".
import type { ExtensionAPI, SessionEntry } from "@mariozechner/pi-coding-agent";

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter((block) => block?.type === "text").map((block) => block.text).join("\n");
}

function summaryOf(entries: SessionEntry[]) {
  const asked: string[] = [];
  const tools = new Map<string, number>();
  let last = "";
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const message = entry.message;
    if (message.role === "user") asked.push(textOf(message.content).split("\n")[0]);
    if (message.role === "toolResult") tools.set(message.toolName, (tools.get(message.toolName) ?? 0) + 1);
    if (message.role === "assistant") last = textOf(message.content) || last;
  }
  if (!asked.length && !last) return undefined;
  const used = [...tools].map(([name, count]) => `${name} ${count}×`).join(", ");
  const parts = [
    "Tried on another branch:",
    ...asked.map((line) => `- ${line}`),
    used && `Tools used: ${used}.`,
    last && `It ended with: ${last.slice(0, 500)}`,
  ];
  return { summary: parts.filter(Boolean).join("\n"), details: { asked: asked.length, tools: Object.fromEntries(tools) } };
}

export default function (pi: ExtensionAPI) {
  pi.on("session_before_tree", async (event) => {
    const { preparation } = event;
    if (!preparation.userWantsSummary) return;
    const summary = summaryOf(preparation.entriesToSummarize);
    // Where nothing was said, ramal's own rules decide.
    if (summary) return { summary };
  });
}
