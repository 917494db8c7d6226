// One half of a pair that talks over the bus: says which files the model changed. It knows nothing of who
// listens. The other half is collect.ts; each has an engine of its own, and what is said arrives as a copy.
//
// Try it: ramal -e examples/extensions/bus/announce.ts -e examples/extensions/bus/collect.ts, have two files
// written, then /changed.
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("tool_result", (event) => {
    if (event.isError || !["edit", "write"].includes(event.toolName)) return;
    const { path } = event.input as { path?: unknown };
    if (typeof path === "string") pi.events.emit("files:changed", { path, tool: event.toolName, at: new Date() });
  });

  // Whoever comes later can ask whether somebody announces.
  pi.events.on("files:who", () => pi.events.emit("files:here", "announce"));
}
