//! `ramal branch`, `ramal clone` and `ramal fork`: new session files made of old ones.

use std::io::Write;

use ramal_session::{Kind, Role, SessionManager};
use serde::Serialize;

use super::{Json, print_path};
use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::output::json_line;
use crate::resolve;

/// Copy a branch into a session of its own
///
/// Of a user message, what stands before it is copied, so that it can be said another way; its text is
/// told on standard error. Of any other entry, the path up to it and itself. The path of the new
/// session is printed; the old session is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal branch 5f3e
  ramal tree \"$(ramal branch 'works, but ugly')\"")]
pub(crate) struct BranchArgs {
    /// The entry: an id, a label, leaf, root, and ~n for the nth ancestor
    entry: String,
    #[command(flatten)]
    session: resolve::SessionOption,
    #[command(flatten)]
    json: Json,
}

/// Copy the path to the leaf into a session of its own
///
/// The path of the new session is printed; the old session is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal clone
  ramal clone parser")]
pub(crate) struct CloneArgs {
    #[command(flatten)]
    session: resolve::SessionArgument,
    #[command(flatten)]
    json: Json,
}

/// Copy a whole session, all its branches, into this directory
///
/// The path of the new session is printed; the old session is not touched. Also a session that takes no
/// entries, or that belongs to another program or directory, can be copied and then be continued.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal fork ~/old/session.jsonl
  ramal fork 0199c0de")]
pub(crate) struct ForkArgs {
    /// The session: a path, the beginning of an id, or a name
    session: String,
    #[command(flatten)]
    json: Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Made<'a> {
    session_file: Option<String>,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session: Option<&'a str>,
    leaf_id: Option<&'a str>,
    entry_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    editor_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
}

pub(crate) fn run_branch(
    args: &BranchArgs,
    globals: &Globals,
    out: &mut dyn Write,
) -> anyhow::Result<Status> {
    let mut session = resolve::session(args.session.name(), globals)?;
    let entry = resolve::place(&session, &args.entry)?;
    let (id, is_user) = (entry.id()?, entry.kind() == Kind::Message && entry.role() == Role::User);
    let mut editor_text = None;
    if is_user {
        editor_text = Some(session.fork_before(&id)?);
    } else {
        session.create_branched_session(&id)?;
    }
    made(session, editor_text.as_deref(), false, &args.json, out)
}

pub(crate) fn run_clone(args: &CloneArgs, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut session = resolve::session(args.session.name(), globals)?;
    session.clone_session()?;
    made(session, None, false, &args.json, out)
}

pub(crate) fn run_fork(args: &ForkArgs, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let source = resolve::session_path(Some(&args.session), globals)?;
    let cwd = resolve::cwd()?;
    let session = SessionManager::fork_from(&source, &cwd, globals.session_dir.as_deref())?;
    made(session, None, true, &args.json, out)
}

/// Sees to it that the new session is on disk, and tells where.
pub(super) fn made(
    mut session: SessionManager,
    editor_text: Option<&str>,
    tell_cwd: bool,
    json: &Json,
    out: &mut dyn Write,
) -> anyhow::Result<Status> {
    let path = session.write_now()?;
    if json.json {
        let leaf = session.get_leaf_id()?;
        let made = Made {
            session_file: super::session_file(&session),
            session_id: session.get_session_id(),
            parent_session: session.get_header().parent_session(),
            leaf_id: leaf.as_deref(),
            entry_count: session.entry_count(),
            editor_text,
            cwd: tell_cwd.then(|| session.get_cwd()),
        };
        json_line(out, &made)?;
        return Ok(Status::Done);
    }
    if let Some(path) = path {
        print_path(out, &path)?;
        out.flush()?;
    }
    if let Some(text) = editor_text {
        failure::note("The text for the editor:");
        failure::note_text(text);
    }
    Ok(Status::Done)
}
