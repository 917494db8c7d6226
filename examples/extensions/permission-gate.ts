// Asks before the model runs a command that cannot be undone. Where there is nobody to ask, such a command is
// not run, and the model is told why.
//
// Try it: ramal -e examples/extensions/permission-gate.ts, and ask for "rm -rf target".
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

const DANGERS: [RegExp, string][] = [
  [/\brm\s+(-\w*[rf]|--(recursive|force))/, "deletes files"],
  [/\bgit\s+(push\s+.*(-f\b|--force)|reset\s+--hard|clean\s+-\w*f)/, "throws away what git has"],
  [/\bsudo\b/, "runs as another user"],
  [/\b(mkfs|dd\s+.*\bof=)/, "overwrites a disk"],
  [/\b(chmod|chown)\s+-\w*R/, "changes the rights of many files"],
];

export default function (pi: ExtensionAPI) {
  const allowed = new Set<string>();

  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return;
    const command = String((event.input as { command?: unknown }).command ?? "");
    const danger = DANGERS.find(([pattern]) => pattern.test(command));
    if (!danger || allowed.has(command)) return;
    const [, why] = danger;
    if (!ctx.hasUI) return { block: true, reason: `This command ${why}, and there is nobody who could allow it.` };
    const answer = await ctx.ui.select(`This ${why}:\n${command}`, ["Run it", "Run it, and do not ask again", "Do not run it"]);
    if (answer === "Run it, and do not ask again") allowed.add(command);
    if (answer?.startsWith("Run it")) return;
    return { block: true, reason: "The user did not allow this command." };
  });
}
