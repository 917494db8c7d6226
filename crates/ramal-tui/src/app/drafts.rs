//! What is written and not yet sent: it outlives the program, and follows one from session to session.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{App, completion};
use crate::editor::Editor;

/// Where a draft belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// To a session, by its id.
    Session(String),
    /// To a directory, as long as nothing of a session is on disk.
    Directory(PathBuf),
}

/// What became of what was put aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stashed {
    /// It waits.
    PutAside,
    /// What had waited is in the editor.
    BroughtBack,
    /// The two have changed places.
    Exchanged,
    /// There was nothing here and there.
    Nothing,
}

/// Keeps what is written. Files are written elsewhere: nothing here waits for a disk.
pub trait Drafts: Send {
    /// To be called after everything that may have changed what is written: keeps it, or says when it is to be
    /// called again.
    fn follow(&mut self, editor: &Editor, now: Instant) -> Option<Duration>;

    /// Keeps what is written now, and waits until it is kept: the program ends.
    fn flush(&mut self, editor: &Editor);

    /// What is written belongs to somebody else from now on.
    fn becomes(&mut self, owner: Owner);

    /// What is written is kept where it belongs, and what was kept of somebody else put in its place.
    fn switch(&mut self, owner: Owner, editor: &mut Editor);

    /// Puts what is written aside, or brings back what was.
    fn stash(&mut self, editor: &mut Editor) -> Stashed;

    /// Whether something was put aside.
    fn has_stash(&self) -> bool;

    /// What went wrong since this was asked the last time.
    fn problem(&mut self) -> Option<String>;
}

impl App {
    fn owner(&self) -> Owner {
        let cwd = self.agent.cwd();
        self.with_session(|session| match session.is_on_disk() {
            true => Owner::Session(session.get_session_id().to_owned()),
            false => Owner::Directory(cwd),
        })
    }

    /// What was sent before: in this session, and in its directory.
    pub(super) fn earlier(&self) -> Vec<String> {
        let said = self.with_session(|session| completion::said(session));
        self.host.earlier(&self.agent.cwd(), said)
    }

    /// Puts in what was written before the program ended, and keeps what is written from now on.
    pub(super) fn take_up_draft(&mut self) {
        let owner = self.owner();
        let mut editor = std::mem::take(&mut self.editor);
        editor.set_history(self.earlier());
        self.drafts = self.host.drafts(owner, &mut editor);
        self.editor = editor;
    }

    /// Keeps what is written, soon.
    pub(super) fn keep_draft(&mut self) {
        let Some(drafts) = &mut self.drafts else { return };
        let wait = drafts.follow(&self.editor, Instant::now());
        self.draft_due = wait.map(|wait| Instant::now() + wait);
        if let Some(problem) = drafts.problem() {
            self.notice(&problem);
        }
    }

    /// Keeps what could not be kept before, since the last time was not long ago.
    pub(super) fn keep_draft_if_due(&mut self) {
        if self.draft_due.is_some_and(|due| due <= Instant::now()) {
            self.keep_draft();
        }
    }

    /// The session has got a file, or is another one. The draft goes along, or stays where it belongs and the
    /// other one's takes its place.
    pub(super) fn draft_belongs_elsewhere(&mut self, goes_along: bool) {
        let owner = self.owner();
        if let Some(drafts) = &mut self.drafts {
            match goes_along {
                true => drafts.becomes(owner),
                false => drafts.switch(owner, &mut self.editor),
            }
        }
        self.typed();
    }

    /// Puts what is written aside, or brings it back.
    pub(super) fn stash(&mut self) {
        let Some(drafts) = &mut self.drafts else { return };
        let said = match drafts.stash(&mut self.editor) {
            Stashed::PutAside => "Put aside",
            Stashed::BroughtBack => "Brought back",
            Stashed::Exchanged => "What was put aside is here; what was here is put aside",
            Stashed::Nothing => "There is nothing to put aside, and nothing was",
        };
        self.hint = Some(said.to_owned());
    }
}
