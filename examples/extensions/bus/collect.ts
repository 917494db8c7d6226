// The other half of announce.ts: collects what is said of changed files, and adds /changed, which keeps the
// list in the session.
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

interface Change {
  path: string;
  tool: string;
  at: Date;
}

export default function (pi: ExtensionAPI) {
  const changed = new Map<string, Change>();
  let announcer: string | undefined;

  pi.events.on("files:here", (name) => {
    announcer = String(name);
  });
  pi.events.on("files:changed", (data) => {
    const change = data as Change;
    changed.set(change.path, change);
  });
  pi.on("session_start", () => pi.events.emit("files:who", null));

  pi.registerCommand("changed", {
    description: "List the files that the model changed",
    handler: async (_args, ctx) => {
      const files = [...changed.values()].sort((a, b) => a.at.getTime() - b.at.getTime()).map(({ path, tool }) => ({ path, tool }));
      if (!announcer) ctx.ui.notify("announce.ts is not loaded: nothing is heard of changes", "warning");
      ctx.ui.setWidget("changed", files.length ? files.map(({ path, tool }) => `${tool} ${path}`) : undefined);
      pi.appendEntry("changed-files", { announcer: announcer ?? null, files });
    },
  });
}
