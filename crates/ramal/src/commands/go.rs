//! `ramal go`: moves the leaf, and remembers where it is.

use std::io::Write;

use ramal_session::{EntryId, SessionManager};
use serde::Serialize;

use super::{Json, describe_leaf, print_text};
use crate::choose::{self, Chosen};
use crate::cli::Globals;
use crate::failure::{self, Status};
use crate::output::json_line;
use crate::{remembered, resolve};

/// Move the leaf to an entry, and remember it
///
/// What is said next in the session hangs on the leaf. Nothing is written to the session; where the leaf
/// is, is remembered beside it.
///
/// Without ENTRY the tree is opened on the whole screen: move, type to search, Shift+L to label, Enter to go.
///
/// Going to a user message means going before it, to say it another way: its text is printed, for the
/// editor. Characters that act on a terminal are shown and not sent; --json has the exact text.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal go
  ramal go 5f3e
  ramal go 'works, but ugly'
  ramal go leaf~3 > prompt.txt")]
pub(crate) struct Args {
    /// Where to go: an id, a label, leaf, root, and ~n for the nth ancestor; else it is chosen in the tree
    entry: Option<String>,
    #[command(flatten)]
    session: resolve::SessionOption,
    #[command(flatten)]
    json: Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gone<'a> {
    session_file: Option<String>,
    leaf_id: Option<&'a str>,
    old_leaf_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    editor_text: Option<&'a str>,
    is_remembered: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    if args.entry.is_none() {
        choose::must_be_possible()?;
    }
    let mut session = resolve::session(args.session.name(), globals)?;
    let id = match &args.entry {
        Some(entry) => resolve::place(&session, entry)?.id()?,
        None => match choose::entry(&mut session, globals)? {
            Chosen::Entry(id) => id,
            Chosen::Here => {
                tell(&session, false, None, None)?;
                return Ok(Status::Done);
            }
            Chosen::Nothing => {
                failure::note("Nothing was chosen: the leaf is where it was");
                // A label may have been set, and is where one is then.
                remembered::remember(&session);
                return Ok(Status::Done);
            }
            Chosen::Signal(signal) => return Ok(Status::Signalled(signal)),
        },
    };
    let old = session.get_leaf_id()?;
    let moved = session.navigate(&id, None)?;
    let is_remembered = remembered::remember(&session);
    let leaf = session.get_leaf_id()?;
    if args.json.json {
        let gone = Gone {
            session_file: super::session_file(&session),
            leaf_id: leaf.as_deref(),
            old_leaf_id: old.as_deref(),
            editor_text: moved.editor_text.as_deref(),
            is_remembered,
        };
        json_line(out, &gone)?;
        return Ok(Status::Done);
    }
    if let Some(text) = &moved.editor_text {
        print_text(out, text)?;
        out.flush()?;
    }
    tell(&session, moved.moved, old, leaf)?;
    Ok(Status::Done)
}

/// Where the leaf is now, and how to get back.
fn tell(
    session: &SessionManager,
    moved: bool,
    old: Option<EntryId>,
    leaf: Option<EntryId>,
) -> anyhow::Result<()> {
    let now = describe_leaf(session)?;
    if !moved || old == leaf {
        failure::note(&format!("The leaf is there already: {now}"));
        return Ok(());
    }
    let back = old.map(|old| format!(" (it was at {old})")).unwrap_or_default();
    failure::note(&format!("The leaf is now {now}{back}"));
    Ok(())
}
