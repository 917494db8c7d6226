// A folder as an extension, of several files: a list of things to do, which the model keeps with a tool and the
// user sees with /todos. The list is in the details of the tool's results, so each branch has the list that
// belongs to it.
//
// Try it: ramal -e examples/extensions/todo, and ask for a plan of three steps.
import { StringEnum } from "@mariozechner/pi-ai";
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import { Type } from "@sinclair/typebox";
import { type Change, changed, shown, type Todo } from "./list.ts";

export default function (pi: ExtensionAPI) {
  let list: Todo[] = [];

  const recall = (_event: unknown, ctx: ExtensionContext) => {
    const results = ctx.sessionManager.getBranch().filter((entry) => entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolName === "todo");
    const kept = results.map((entry) => (entry as { message: { details?: { list?: Todo[] } } }).message.details?.list);
    list = kept.filter((one) => Array.isArray(one)).at(-1) ?? [];
  };
  pi.on("session_start", recall);
  pi.on("session_tree", recall);

  pi.registerTool({
    name: "todo",
    label: "Todo",
    description: "Keeps a list of things to do: add one by its text, mark one done by its id, or list all.",
    parameters: Type.Object({
      action: StringEnum(["add", "done", "list"] as const),
      text: Type.Optional(Type.String({ description: "for add" })),
      id: Type.Optional(Type.Number({ description: "for done" })),
    }),
    async execute(_toolCallId, params) {
      if (params.action === "add" && !params.text) throw new Error("add needs a text");
      list = changed(list, params as Change);
      return { content: [{ type: "text", text: shown(list).join("\n") || "Nothing to do." }], details: { list } };
    },
  });

  pi.registerCommand("todos", {
    description: "Show what is to be done",
    handler: async (_args, ctx) => {
      ctx.ui.setWidget("todos", list.length ? shown(list) : undefined);
      if (!list.length) ctx.ui.notify("Nothing to do", "info");
    },
  });
}
