//! What can become of the word that is being typed.

use std::sync::Arc;

use ramal_agent::AgentSession;
use ramal_session::{EntryRef, Kind, Role as Speaker, SessionManager};

use super::say::When;
use super::slash::COMMANDS;
use super::{App, Message};
use crate::completing::{Command, Entry, FileIndex, Told};
use crate::keys::Key;

/// Messages of the user's that are offered beside the entries that have labels.
const MESSAGES: usize = 50;

/// Entries with labels that are offered at most.
const LABELS: usize = 1000;

/// Letters of an entry that are kept to be found by.
const LONGEST: usize = 500;

/// Entries that are read before others get their turn at the session.
const AT_ONCE: usize = 16;

impl App {
    /// What is written may be another text than before.
    pub(super) fn typed(&mut self) {
        self.is_stale = true;
        self.complete_arguments();
        self.completer.follow(&self.editor, &self.sources);
        self.keep_draft();
    }

    /// Tab: shows what the word can become.
    pub(super) fn complete(&mut self) {
        self.completer.ask(&self.editor, &self.sources);
    }

    /// Gives a key to the list, if there is one. Answers whether it was for that.
    pub(super) fn complete_key(&mut self, key: Key) -> bool {
        match self.completer.key(&mut self.editor, &self.look.keymap, key) {
            Told::Passed => return false,
            Told::Redraw => self.is_stale = true,
            Told::Accepted => self.typed(),
            Told::Submit => {
                self.submit(When::Soon);
                self.typed();
            }
        }
        true
    }

    /// Begins to know the files of the directory.
    pub(super) fn watch_files(&mut self) {
        let messages = self.messages.clone();
        let tell = move || {
            let _ = messages.send(Message::Done(Box::new(App::has_files)));
        };
        match FileIndex::start(self.agent.cwd(), tell) {
            Ok(files) => self.files = Some(files),
            Err(error) => self.hint = Some(format!("Files cannot be offered: {error}")),
        }
    }

    /// Files may have come or gone.
    pub(super) fn refresh_files(&self) {
        if let Some(files) = &self.files {
            files.refresh();
        }
    }

    fn has_files(&mut self) {
        if let Some(files) = &self.files {
            self.sources.files = files.files();
            self.completer.follow(&self.editor, &self.sources);
        }
    }
}

/// The commands of the program, as they are offered.
pub(super) fn commands() -> Arc<[Command]> {
    COMMANDS
        .iter()
        .filter_map(|command| {
            let (name, aliases) = command.names.split_first()?;
            Some(Command {
                name: (*name).to_owned(),
                aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
                arguments: command.argument.to_owned(),
                description: command.says.to_owned(),
                source: String::new(),
            })
        })
        .collect()
}

/// What the user said on this path, the latest first.
pub(super) fn said(session: &SessionManager) -> Vec<String> {
    user_messages(session).filter_map(|entry| Some(entry.read().ok()?.text())).collect()
}

fn user_messages(session: &SessionManager) -> impl Iterator<Item = EntryRef<'_>> {
    let path = std::iter::successors(session.get_leaf_entry(), |entry| entry.parent());
    path.filter(|entry| entry.kind() == Kind::Message && entry.role() == Speaker::User).take(MESSAGES)
}

/// The entries that are offered: those with labels, then what the user said on this path, the latest first. The
/// session is held only for a few of them at a time.
pub(super) fn entries(agent: &AgentSession) -> Arc<[Entry]> {
    let (generation, positions) = agent.with_session(|session| {
        let labelled = session.get_labels().take(LABELS);
        let all = labelled.chain(user_messages(session));
        (session.generation(), all.map(EntryRef::position).collect::<Vec<_>>())
    });
    let pieces = positions.chunks(AT_ONCE).map(|piece| {
        agent.with_session(|session| {
            // Of another tree these are other entries; whoever changed it has us look again.
            let piece = piece.iter().filter(|_| session.generation() == generation);
            piece.filter_map(|position| offered(session, *position)).collect::<Vec<_>>()
        })
    });
    pieces.flatten().collect()
}

fn offered(session: &SessionManager, position: usize) -> Option<Entry> {
    let entry = session.get_entry_at(position)?;
    let label = entry.label().map(str::to_owned);
    let entry = entry.read().ok()?;
    let text = entry.text().chars().take(LONGEST).collect();
    Some(Entry { id: entry.id().to_string(), label, text })
}
