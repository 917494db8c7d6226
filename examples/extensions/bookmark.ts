// Adds /bookmark [NAME]: a label on the last answer of the branch. Without a name the time is the name.
//
// Try it: ramal -e examples/extensions/bookmark.ts, then /bookmark works, and look at it with /tree.
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.registerCommand("bookmark", {
    description: "Label the last answer",
    getArgumentCompletions: (prefix) =>
      ["works", "before the change", "come back"].filter((name) => name.startsWith(prefix)).map((name) => ({ value: name, label: name })),
    handler: async (args, ctx) => {
      const answer = ctx.sessionManager
        .getBranch()
        .filter((entry) => entry.type === "message" && entry.message.role === "assistant")
        .at(-1);
      if (!answer) {
        ctx.ui.notify("There is no answer yet that could be labelled", "warning");
        return;
      }
      const label = args.trim() || new Date().toISOString().slice(0, 16).replace("T", " ");
      pi.setLabel(answer.id, label);
      ctx.ui.notify(`Labelled: ${label}`, "info");
    },
  });
}
