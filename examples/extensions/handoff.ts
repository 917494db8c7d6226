// Adds /handoff GOAL: begins a new session with a brief of this one — what was asked for, what was answered
// last, which files were changed — and says the brief there. The user may change it before.
//
// Try it: ramal -e examples/extensions/handoff.ts, talk a little, then /handoff write the tests.
import type { ExtensionAPI, SessionEntry } from "@mariozechner/pi-coding-agent";

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter((block) => block?.type === "text").map((block) => block.text).join("\n").trim();
}

function briefOf(branch: SessionEntry[], goal: string): string {
  const asked: string[] = [];
  const files = new Set<string>();
  let answer = "";
  for (const entry of branch) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") asked.push(textOf(message.content));
    if (message.role !== "assistant") continue;
    answer = textOf(message.content) || answer;
    for (const block of message.content) {
      if (block.type === "toolCall" && ["edit", "write"].includes(block.name)) files.add(String(block.arguments.path));
    }
  }
  const parts = [
    `Goal: ${goal}`,
    asked.length && `Asked for so far:\n${asked.map((text) => `- ${text.replaceAll("\n", "\n  ")}`).join("\n")}`,
    files.size && `Changed files: ${[...files].join(", ")}`,
    answer && `Where it stands:\n${answer}`,
  ];
  return parts.filter(Boolean).join("\n\n");
}

export default function (pi: ExtensionAPI) {
  pi.registerCommand("handoff", {
    description: "Go on in a new session with a brief of this one",
    handler: async (args, ctx) => {
      await ctx.waitForIdle();
      const branch = ctx.sessionManager.getBranch();
      const goal = args.trim();
      if (!goal || !branch.length) {
        ctx.ui.notify(goal ? "There is nothing yet to hand off" : "Say what is to be done: /handoff GOAL", "warning");
        return;
      }
      const written = briefOf(branch, goal);
      const brief = ctx.hasUI ? await ctx.ui.editor("The brief", written) : written;
      if (!brief?.trim()) return;
      const parentSession = ctx.sessionManager.getSessionFile();
      await ctx.newSession({
        parentSession,
        setup: async (session) => {
          session.appendSessionInfo(goal.split("\n")[0].slice(0, 60));
          session.appendCustomEntry("handoff", { from: parentSession ?? null });
        },
        withSession: async (next) => {
          await next.sendUserMessage(brief);
        },
      });
    },
  });
}
