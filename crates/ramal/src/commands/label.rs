//! `ramal label`: shows, sets or removes the label of an entry.

use std::io::Write;

use ramal_session::{EntryId, Kind, SessionManager};
use serde::Serialize;

use super::Json;
use crate::cli::Globals;
use crate::failure::{self, Failure, Status};
use crate::output::json_line;
use crate::view::clean;
use crate::{remembered, resolve};

/// Give an entry a label, show its label, or remove it
///
/// Without TEXT the label is shown; the exit status is 1 if there is none. A label belongs to the entry
/// on whatever branch one is, and replaces the one before. Setting or removing a label appends an entry
/// to the session, which becomes the leaf.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramal label leaf 'before the rewrite'
  ramal label 5f3e
  ramal label 'before the rewrite' --clear")]
pub(crate) struct Args {
    /// The entry: an id, a label, leaf, root, and ~n for the nth ancestor
    entry: String,
    /// The label; an empty one removes it, as --clear does
    text: Option<String>,
    /// Remove the label
    #[arg(long, conflicts_with = "text")]
    clear: bool,
    #[command(flatten)]
    session: resolve::SessionOption,
    #[command(flatten)]
    json: Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Labelled<'a> {
    session_file: Option<String>,
    entry_id: &'a str,
    target_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut session = resolve::session(args.session.name(), globals)?;
    let target = resolve::place(&session, &args.entry)?.id()?;
    let wanted = if args.clear { Some("") } else { args.text.as_deref() };
    let entry_id = match wanted {
        None => {
            let set_by = session.get_entry(&target).and_then(|entry| entry.labelled_by());
            set_by.map_or_else(|| Err(has_none(&session, &target)), |set_by| Ok(set_by.id()?))?
        }
        Some(text) => {
            let text = Some(text.trim()).filter(|text| !text.is_empty());
            let id = session.append_label_change(&target, text)?;
            session.sync()?;
            failure::warn_without_locks(&session);
            remembered::remember(&session);
            id
        }
    };
    let label = session.get_label(&target);
    if args.json.json {
        let session_file = super::session_file(&session);
        json_line(out, &Labelled { session_file, entry_id: &entry_id, target_id: &target, label })?;
    } else if wanted.is_none() {
        writeln!(out, "{}", clean::name(label.unwrap_or_default()))?;
    } else {
        failure::note(&match label {
            Some(label) => format!("Entry {target} is now {label:?}", label = clean::name(label)),
            None => format!("Entry {target} has no label now"),
        });
    }
    Ok(Status::Done)
}

/// After labelling, the leaf is the entry that says so: whoever asks about the leaf may mean another.
fn has_none(session: &SessionManager, target: &EntryId) -> anyhow::Error {
    let failure = Failure::new(format!("entry {target} has no label"));
    let entry = session.get_entry(target).filter(|entry| entry.kind() == Kind::Label);
    let labels = entry.and_then(|entry| Some(entry.read().ok()?.get_str("targetId")?.into_owned()));
    match labels {
        Some(labels) => failure.hint(format!("it is what labels entry {labels}")),
        None => failure.hint(format!("`ramal label {target} TEXT` gives it one")),
    }
    .into()
}
