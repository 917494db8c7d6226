// Shows below the editor how many entries lead to where one is, and how many there are on all branches.
//
// Try it: ramal -e examples/extensions/status-line.ts, then go up and down in /tree.
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  const show = (_event: unknown, ctx: ExtensionContext) => {
    const here = ctx.sessionManager.getBranch().length;
    const all = ctx.sessionManager.getEntries().length;
    const entries = all === 1 ? "entry" : "entries";
    ctx.ui.setStatus("entries", all > here ? `${here} of ${all} ${entries}` : `${here} ${entries}`);
  };
  pi.on("session_start", show);
  pi.on("session_tree", show);
  pi.on("turn_end", show);
  pi.on("session_compact", show);
}
