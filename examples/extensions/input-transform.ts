// Changes what was typed before it is said: "?question" asks for a short answer, and "time?" is answered here,
// without a model.
//
// Try it: ramal -e examples/extensions/input-transform.ts, then ?what is a monad
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("input", async (event, ctx) => {
    // What other extensions say is none of the user's shorthand.
    if (event.source === "extension") return { action: "continue" };
    const text = event.text.trim();
    if (text === "time?") {
      ctx.ui.notify(new Date().toLocaleTimeString(), "info");
      return { action: "handled" };
    }
    if (/^\?\s*\S/.test(text)) {
      return { action: "transform", text: `${text.slice(1).trim()}\n\nAnswer in one or two sentences.` };
    }
    return { action: "continue" };
  });
}
