//! What there is to choose from, as values: whoever shows the editor gathers them.

use std::sync::Arc;

use super::Files;
use crate::editor::{Completing, CompletionItem, CompletionKind, Editor};
use crate::text::clean;

/// The columns of an entry's text that are seen and searched.
const ENTRY_COLUMNS: usize = 100;

/// A command that can be typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// Other names for it, as other programs have them.
    pub aliases: Vec<String>,
    /// What may or must be said behind it, such as `[name]`; nothing if it stands alone.
    pub arguments: String,
    /// What it does, in a few words.
    pub description: String,
    /// Where it comes from, such as a file; nothing for ramal's own.
    pub source: String,
}

impl Command {
    /// What is said about it, below the name that it was found by.
    fn about(&self, name: &str) -> String {
        let mut about = Vec::new();
        if !self.arguments.is_empty() {
            about.push(self.arguments.clone());
        }
        if !self.description.is_empty() {
            about.push(self.description.clone());
        }
        if name != self.name {
            about.push(format!("the same as /{}", self.name));
        }
        if !self.source.is_empty() {
            about.push(format!("from {}", self.source));
        }
        about.join(" · ")
    }
}

/// An entry that can be named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// Its id, which is put in.
    pub id: String,
    /// Its label, by which it is found if it has one.
    pub label: Option<String>,
    /// What it says.
    pub text: String,
}

impl Entry {
    fn item(&self) -> CompletionItem {
        let text = clean::one_line(&self.text, ENTRY_COLUMNS);
        let text = crate::text::width::fit(&text, ENTRY_COLUMNS);
        match self.label.as_deref().map(clean::name).filter(|label| !label.is_empty()) {
            Some(label) => CompletionItem::new(&*self.id, &text).labelled(&label),
            None if text.is_empty() => CompletionItem::new(&*self.id, ""),
            None => CompletionItem::new(&*self.id, &self.id).labelled(&text),
        }
    }
}

/// What can stand behind a command, as whoever brings the command says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    /// The command.
    pub command: String,
    /// What stood behind it when it was asked.
    pub typed: String,
    /// What can stand there, and how it is shown.
    pub found: Vec<(String, String)>,
}

/// All that there is to choose from. A copy costs next to nothing, and two are told apart by where they come
/// from: who has something new makes a new one.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The commands, in the order in which they are shown before anything is typed.
    pub commands: Arc<[Command]>,
    /// The files of the directory.
    pub files: Files,
    /// Entries: those with labels, then what the user said, the latest first.
    pub entries: Arc<[Entry]>,
    /// What can stand behind the command that is being typed, once that is known.
    pub arguments: Option<Arc<Arguments>>,
}

impl Sources {
    /// The commands as items; by all of their names, or by the first ones.
    pub(super) fn commands(&self, by_all_names: bool) -> Vec<CompletionItem> {
        let aliases: fn(&Command) -> &[String] =
            if by_all_names { |command| &command.aliases } else { |_| &[] };
        let first = self.commands.iter().map(|command| (command, &command.name));
        let others =
            self.commands.iter().flat_map(|command| aliases(command).iter().map(move |name| (command, name)));
        first
            .chain(others)
            .map(|(command, name)| CompletionItem::new(&**name, &command.about(name)))
            .collect()
    }

    /// The entries as items.
    pub(super) fn entries(&self) -> Vec<CompletionItem> {
        self.entries.iter().map(Entry::item).collect()
    }

    /// What can stand behind the command, as items.
    pub(super) fn arguments(&self) -> Vec<CompletionItem> {
        let found = self.arguments.iter().flat_map(|arguments| &arguments.found);
        found.map(|(value, label)| CompletionItem::new(&**value, "").labelled(label)).collect()
    }

    /// The word that is being typed, if there is something to choose from for it.
    pub(super) fn word(&self, editor: &Editor) -> Option<Completing> {
        let known = self.arguments.as_deref().filter(|arguments| !arguments.found.is_empty());
        if let (Some(known), Some((name, typed))) = (known, editor.command())
            && known.command == name
            && typed.starts_with(&*known.typed)
        {
            let start = name.len() + 2;
            let range = start..start + typed.len();
            return Some(Completing { kind: CompletionKind::Argument, query: typed.to_owned(), range });
        }
        editor.completing()
    }

    /// Whether something can be said behind a command.
    pub(super) fn takes_arguments(&self, name: &str) -> bool {
        let has_name =
            |command: &&Command| command.name == name || command.aliases.iter().any(|alias| alias == name);
        self.commands.iter().find(has_name).is_some_and(|command| !command.arguments.is_empty())
    }

    /// Whether there is the same to choose from for words of a kind.
    pub(super) fn is_same(&self, kind: CompletionKind, other: &Sources) -> bool {
        match kind {
            CompletionKind::Command => Arc::ptr_eq(&self.commands, &other.commands),
            CompletionKind::File => self.files.is_same(&other.files),
            CompletionKind::Entry => Arc::ptr_eq(&self.entries, &other.entries),
            CompletionKind::Argument => self.arguments == other.arguments,
        }
    }
}
