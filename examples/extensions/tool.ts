// A tool for the model: count_lines says how many lines the files under version control have, by ending. It
// tells how far it is, and stops when the user presses Escape.
//
// Try it: ramal -e examples/extensions/tool.ts in a git repository, and ask "how large is this project?".
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Type } from "@sinclair/typebox";

const AT_ONCE = 100;

const text = (text: string) => [{ type: "text" as const, text }];

export default function (pi: ExtensionAPI) {
  pi.registerTool({
    name: "count_lines",
    label: "Count lines",
    description: "Counts the lines of the files that git knows, by the ending of their names.",
    parameters: Type.Object({
      path: Type.Optional(Type.String({ description: "A folder; the whole project if it is left out" })),
    }),

    async execute(_toolCallId, { path }, signal, onUpdate) {
      const listed = await pi.exec("git", ["ls-files", "-z", "--", path ?? "."], { signal });
      if (listed.code !== 0) throw new Error(listed.stderr.trim() || "git could not list the files");
      const files = listed.stdout.split("\0").filter(Boolean);
      const counts: Record<string, number> = {};
      for (let at = 0; at < files.length; at += AT_ONCE) {
        signal?.throwIfAborted();
        onUpdate?.({ content: text(`${at} of ${files.length} files`), details: {} });
        const some = files.slice(at, at + AT_ONCE);
        const counted = await pi.exec("wc", ["-l", "--", ...some], { signal });
        for (const line of counted.stdout.split("\n")) {
          const [, lines, name] = /^\s*(\d+) (.+)$/.exec(line) ?? [];
          // The last line of several is their sum.
          if (!some.includes(name)) continue;
          const ending = /\.([^./]+)$/.exec(name)?.[1] ?? "other";
          counts[ending] = (counts[ending] ?? 0) + Number(lines);
        }
      }
      const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
      const table = rows.map(([ending, lines]) => `${ending}\t${lines}`).join("\n");
      return { content: text(table || "There are no files."), details: { files: files.length, counts } };
    },
  });
}
