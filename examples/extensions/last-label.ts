// Adds /last-label: goes to the entry that was labelled last and still has that label.
//
// Try it: ramal -e examples/extensions/last-label.ts, label something in /tree (Shift+L), go on talking, then
// /last-label.
import type { ExtensionAPI, SessionEntry } from "@mariozechner/pi-coding-agent";

type Label = Extract<SessionEntry, { type: "label" }>;

export default function (pi: ExtensionAPI) {
  pi.registerCommand("last-label", {
    description: "Go to what was labelled last",
    handler: async (_args, ctx) => {
      await ctx.waitForIdle();
      const labels = ctx.sessionManager.getEntries().filter((entry): entry is Label => entry.type === "label");
      // One that was taken away, or replaced since, does not count.
      const last = labels.reverse().find(({ label, targetId }) => label && ctx.sessionManager.getLabel(targetId) === label);
      if (!last) {
        ctx.ui.notify("Nothing is labelled in this session", "warning");
        return;
      }
      const { cancelled } = await ctx.navigateTree(last.targetId, { summarize: false });
      ctx.ui.notify(cancelled ? "Stayed where you were" : `At ${last.label}`, "info");
    },
  });
}
