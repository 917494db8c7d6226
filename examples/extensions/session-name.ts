// Names a session after the first thing that was said in it, as long as it has no name. /name gives it another.
//
// Try it: ramal -e examples/extensions/session-name.ts, say something, and look at the list of sessions.
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

const LONGEST = 50;

export function nameFrom(said: string): string {
  const line = said.split("\n").map((line) => line.trim()).find((line) => /[\p{L}\p{N}]/u.test(line)) ?? "";
  const words = line.replace(/\s+/g, " ");
  if (words.length <= LONGEST) return words;
  const cut = words.slice(0, LONGEST);
  // Not in the middle of a word, where there are several.
  return `${cut.includes(" ") ? cut.slice(0, cut.lastIndexOf(" ")) : cut}…`;
}

export default function (pi: ExtensionAPI) {
  pi.on("turn_start", (_event, ctx) => {
    if (pi.getSessionName()) return;
    for (const entry of ctx.sessionManager.getBranch()) {
      if (entry.type !== "message" || entry.message.role !== "user") continue;
      const { content } = entry.message;
      const said = typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      const name = nameFrom(said);
      if (name) return pi.setSessionName(name);
    }
  });
}
