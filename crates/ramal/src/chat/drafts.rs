//! Keeps what is written in the state folder.

use std::time::{Duration, Instant};

use ramal_tui::app::{Drafts as Keeps, Owner, Stashed};
use ramal_tui::editor::Editor;

use crate::drafts::{Drafts, Stashed as Kept, Whose};

/// Keeps the draft of the conversation.
pub(super) struct Keeper(Drafts);

impl Keeper {
    /// Puts in what was kept of somebody, and keeps what is written from now on.
    pub(super) fn open(owner: Owner, editor: &mut Editor) -> Keeper {
        Keeper(Drafts::open(Drafts::usual_folder(), whose(owner), editor))
    }
}

impl Keeps for Keeper {
    fn follow(&mut self, editor: &Editor, now: Instant) -> Option<Duration> {
        self.0.follow(editor, now)
    }

    fn flush(&mut self, editor: &Editor) {
        self.0.flush(editor);
    }

    fn becomes(&mut self, owner: Owner) {
        self.0.becomes(whose(owner));
    }

    fn switch(&mut self, owner: Owner, editor: &mut Editor) {
        self.0.switch(whose(owner), editor);
    }

    fn stash(&mut self, editor: &mut Editor) -> Stashed {
        match self.0.stash(editor) {
            Kept::PutAside => Stashed::PutAside,
            Kept::BroughtBack => Stashed::BroughtBack,
            Kept::Exchanged => Stashed::Exchanged,
            Kept::Nothing => Stashed::Nothing,
        }
    }

    fn has_stash(&self) -> bool {
        self.0.has_stash()
    }

    fn problem(&mut self) -> Option<String> {
        self.0.problem()
    }
}

fn whose(owner: Owner) -> Whose {
    match owner {
        Owner::Session(id) => Whose::Session(id),
        Owner::Directory(path) => Whose::Directory(path),
    }
}
