// Keeps the work tree as it is before each request to the model, and offers to bring it back when one goes to
// another place in the tree. The user's index and branch are not touched: a commit is made of a temporary
// index, held by a ref under refs/checkpoints, and its name is kept in the session as a custom entry. Runs git
// by way of `env`, which Windows does not have.
//
// Try it: ramal -e examples/extensions/git-checkpoint.ts in a git repository, have a file changed, then /tree,
// go back to before the change, and say yes.
import type { CustomEntry, ExtensionAPI, ExtensionContext, SessionEntry } from "@mariozechner/pi-coding-agent";

const TYPE = "git-checkpoint";
type Checkpoint = CustomEntry<{ commit: string; tree: string }>;

const isCheckpoint = (entry: SessionEntry): entry is Checkpoint => entry.type === "custom" && entry.customType === TYPE;

export default function (pi: ExtensionAPI) {
  let target: string | undefined;
  let index: string | undefined;

  async function git(...args: string[]): Promise<string | undefined> {
    const done = await pi.exec("env", [`GIT_INDEX_FILE=${index}`, "git", ...args], { timeout: 60_000 });
    return done.code === 0 ? done.stdout.trim() : undefined;
  }

  /** The work tree as a git tree, new files too; nothing outside of a repository. */
  async function snapshot(): Promise<string | undefined> {
    const found = await pi.exec("git", ["rev-parse", "--absolute-git-dir", "--show-toplevel"], { timeout: 10_000 });
    if (found.code !== 0) return;
    const [folder, top] = found.stdout.split("\n");
    index = `${folder}/checkpoint-index`;
    if ((await git("-C", top, "add", "--all")) === undefined) return;
    return git("write-tree");
  }

  const last = (ctx: ExtensionContext, from?: string) => ctx.sessionManager.getBranch(from).filter(isCheckpoint).at(-1)?.data;

  async function keep(ctx: ExtensionContext): Promise<void> {
    const tree = await snapshot();
    if (!tree || last(ctx)?.tree === tree) return;
    const me = ["-c", "user.name=checkpoint", "-c", "user.email=checkpoint@localhost"];
    const commit = await git(...me, "commit-tree", tree, "-m", `checkpoint of ${ctx.sessionManager.getSessionId()}`);
    if (!commit) return;
    // Without a ref git would clear it away some day.
    await git("update-ref", `refs/checkpoints/${commit}`, commit);
    pi.appendEntry(TYPE, { commit, tree });
  }

  // Asked and waited for before each request: nothing has been changed by the answer yet.
  pi.on("context", (_event, ctx) => keep(ctx));

  pi.on("session_before_tree", async (event, ctx) => {
    target = event.preparation.targetId;
    await keep(ctx);
  });

  pi.on("session_tree", async (_event, ctx) => {
    const to = target;
    target = undefined;
    if (!to || !ctx.hasUI) return;
    // What was kept when the model was asked about a message hangs right below it.
    const below = ctx.sessionManager.getEntries().find((entry): entry is Checkpoint => entry.parentId === to && isCheckpoint(entry))?.data;
    const wanted = below ?? last(ctx, to);
    const now = wanted && (await snapshot());
    if (!wanted || !now || now === wanted.tree) return;
    const changed = (await git("diff-tree", "-r", "--name-status", now, wanted.tree)) ?? "";
    if (!(await ctx.ui.confirm("Bring back the files of this place?", changed))) return;
    const done = await git("-C", (await git("rev-parse", "--show-toplevel")) ?? ctx.cwd, "read-tree", "-m", "-u", now, wanted.tree);
    if (done === undefined) ctx.ui.notify("git could not bring the files back; nothing was changed", "error");
    else ctx.ui.notify(`Files as at ${wanted.commit.slice(0, 8)}`, "info");
  });
}
