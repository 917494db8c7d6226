// Adds /count, which counts: the count belongs to the branch. Each is kept as a custom entry, and what counts
// is what stands on the way to where one is — also after a jump in the tree, in a copy, and in a session that
// was opened again.
//
// Try it: ramal -e examples/extensions/counter.ts, /count three times, /tree to an earlier place, /count.
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";

const TYPE = "counter";

export default function (pi: ExtensionAPI) {
  let count = 0;

  const show = (ctx: ExtensionContext) => ctx.ui.setStatus(TYPE, count ? `count ${count}` : undefined);

  function recount(_event: unknown, ctx: ExtensionContext) {
    count = 0;
    for (const entry of ctx.sessionManager.getBranch()) {
      if (entry.type !== "custom" || entry.customType !== TYPE) continue;
      const kept = (entry.data as { count?: unknown } | undefined)?.count;
      if (typeof kept === "number") count = kept;
    }
    show(ctx);
  }

  pi.on("session_start", recount);
  pi.on("session_tree", recount);
  // These two are told by oh-my-pi's name; session_start comes after them as well.
  pi.on("session_switch" as "session_start", recount);
  pi.on("session_branch" as "session_start", recount);

  pi.registerCommand("count", {
    description: "Count one more on this branch",
    handler: async (_args, ctx) => {
      count += 1;
      pi.appendEntry(TYPE, { count });
      show(ctx);
    },
  });
}
