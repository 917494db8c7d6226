// Compacts without a model: the user's words are kept, one line each, with the files that were changed. Short,
// quick, free of cost, and always the same.
//
// Try it: ramal -e examples/extensions/compaction.ts, talk a while, then /compact.
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

/** Lines of what was asked before that are carried on. */
const MOST = 200;

function firstLine(content: unknown): string {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  const text = blocks.find((block) => block?.type === "text")?.text ?? "";
  return text.trim().split("\n")[0].slice(0, 300);
}

export default function (pi: ExtensionAPI) {
  pi.on("session_before_compact", async (event) => {
    const { preparation, customInstructions } = event;
    // Whoever asks for something special gets it from the model.
    if (customInstructions) return;
    const messages = [...preparation.messagesToSummarize, ...(preparation.turnPrefixMessages ?? [])];
    const asked = messages.filter((message) => message.role === "user").map((message) => `- ${firstLine(message.content)}`);
    const before = (preparation.previousSummary ?? "").split("\n").filter((line) => line.startsWith("- "));
    const files = [...new Set([...preparation.fileOps.written, ...preparation.fileOps.edited])].sort();
    const lines = [...before, ...asked].slice(-MOST);
    if (!lines.length) return;
    return {
      compaction: {
        summary: ["The user asked for, in this order:", ...lines, files.length ? `Changed so far: ${files.join(", ")}` : ""].join("\n").trim(),
        firstKeptEntryId: preparation.firstKeptEntryId,
        tokensBefore: preparation.tokensBefore,
        details: { modifiedFiles: files },
      },
    };
  });

  pi.on("session_compact", (event, ctx) => {
    const { tokensBefore } = event.compactionEntry;
    ctx.ui.notify(`Compacted from ${tokensBefore} tokens${event.fromExtension ? " without a model" : ""}`, "info");
  });
}
