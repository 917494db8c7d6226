// Does not leave a place in the conversation while the git work tree has uncommitted changes: moving in the
// tree, a new session, another session, a copy. Asks where there is somebody to ask, and stays otherwise.
//
// Try it: ramal -e examples/extensions/clean-tree.ts in a git repository, change a file, then /tree or /new.
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  async function changes(): Promise<string[]> {
    const status = await pi.exec("git", ["status", "--porcelain"], { timeout: 10_000 });
    // No repository, or no git: there is nothing to lose.
    if (status.code !== 0) return [];
    return status.stdout.split("\n").filter(Boolean);
  }

  async function guard(ctx: ExtensionContext, what: string) {
    const changed = await changes();
    if (!changed.length) return;
    const title = changed.length === 1 ? "1 uncommitted change" : `${changed.length} uncommitted changes`;
    if (!ctx.hasUI) return { cancel: true };
    const shown = changed.slice(0, 8).join("\n") + (changed.length > 8 ? "\n…" : "");
    if (await ctx.ui.confirm(title, `${shown}\n\n${what} all the same?`)) return;
    ctx.ui.notify(`Stayed: ${title} in the work tree`, "warning");
    return { cancel: true };
  }

  pi.on("session_before_tree", (_event, ctx) => guard(ctx, "Go to another place"));
  pi.on("session_before_fork", (_event, ctx) => guard(ctx, "Copy this branch"));
  pi.on("session_before_switch", (event, ctx) =>
    guard(ctx, event.reason === "new" ? "Begin a new session" : "Go to another session"),
  );
}
