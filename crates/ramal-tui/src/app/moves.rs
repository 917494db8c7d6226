//! Going elsewhere: to another entry of the tree, to another branch, to another session.

use std::path::Path as FilePath;
use std::sync::Arc;

use ramal_agent::{AgentError, Branched, NavigateOptions, Navigated};
use ramal_session::{Kind, Role, SessionManager};
use ratatui::text::Line;

use super::conversation::Conversation;
use super::over::Over;
use super::{App, DoubleEscape};
use crate::screen::rule;
use crate::text::clean;
use crate::theme::Role as Look;
use crate::transcript::Block;
use crate::tree_selector::{Direction, Selector};
use crate::tree_view::TreeView;

/// Whether the branch that is left is summed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SumUp {
    No,
    Yes,
    /// With what the summary should look at.
    With(String),
}

impl App {
    /// Opens the tree.
    pub(super) fn open_tree(&mut self) {
        self.open_tree_at(None);
    }

    /// Opens the tree with an entry selected.
    pub(super) fn open_tree_at(&mut self, id: Option<&str>) {
        let filter = self.wishes.tree_filter;
        let view = self.with_session(|session| {
            let is_empty = !session.get_entries().any(|entry| entry.kind().is_conversation());
            let mut selector = (!is_empty).then(|| Selector::new(session, filter))?;
            if let Some(entry) = id.and_then(|id| session.get_entry(id)) {
                selector.select_entry(session, entry.position());
            }
            Some(TreeView::new(selector))
        });
        match view {
            Some(view) => self.cover(Over::Tree(Box::new(view))),
            None => self.hint = Some("Nothing has been said yet: there is no tree".into()),
        }
    }

    /// Goes to an entry, as it was chosen in the tree.
    pub(super) fn go(&mut self, target: &str, sum_up: SumUp) {
        let options = NavigateOptions {
            summarize: sum_up != SumUp::No,
            custom_instructions: match sum_up {
                SumUp::With(instructions) => Some(instructions),
                _ => None,
            },
            ..NavigateOptions::default()
        };
        let (agent, target) = (self.agent.clone(), target.to_owned());
        self.job(async move { agent.navigate_tree(&target, options).await }, App::has_gone);
    }

    fn has_gone(&mut self, gone: Result<Navigated, AgentError>) {
        let chosen_in = self.parked.take();
        match gone {
            Ok(Navigated { aborted: true, .. }) => match chosen_in {
                // As it was left.
                Some(view) => self.cover(view),
                None => self.hint = Some("Aborted: one is where one was".into()),
            },
            Ok(Navigated { cancelled: true, .. }) => {
                self.say(Block::notice("An extension did not let the leaf be moved"));
            }
            Ok(Navigated { editor_text, .. }) => {
                self.bring_into_editor(editor_text);
                let host = Arc::clone(&self.host);
                self.with_session(|session| host.remember(session));
            }
            Err(error) => self.say_wrong(&error),
        }
        self.look_at_session();
    }

    /// Puts a text that is to be said again into the editor, if nothing stands there.
    pub(super) fn bring_into_editor(&mut self, text: Option<String>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return };
        if !self.editor.set_text_if_empty(&*text) {
            let key = self.look.keymap.hint(crate::keys::ActionId::TakeOffered).unwrap_or_default();
            self.hint =
                Some(format!("Your draft stays; {key} exchanges it for the message that was to be put here"));
        }
    }

    /// The leaf is elsewhere: a divider, and the last screenful of the path to it.
    pub(super) fn went(&mut self) {
        let words = self.with_session(|session| match session.get_leaf_entry() {
            Some(leaf) => match (leaf.label(), leaf.id()) {
                (Some(label), _) => format!("now at {}", clean::one_line(label, 60)),
                (None, Ok(id)) => format!("now at {}", clean::one_line(&id, 20)),
                (None, Err(_)) => "elsewhere now".to_owned(),
            },
            None => "now before the first entry".to_owned(),
        });
        self.show_path(&words);
        self.look_at_session();
    }

    /// Another session is at work: its end is shown.
    /// `let_go` is what waited to be said in the one that was left.
    pub(super) fn is_elsewhere(&mut self, let_go: Vec<String>) {
        let (name, cwd, is_new) = self.with_session(|session| {
            (session.get_session_name(), session.get_cwd().to_owned(), session.message_count() == 0)
        });
        let cwd = if cwd.is_empty() { self.agent.cwd() } else { cwd.into() };
        let was_wanted = std::mem::take(&mut self.is_leaving);
        let goes_along = std::mem::take(&mut self.keeps_draft) || !was_wanted && is_new;
        if !was_wanted {
            // Somebody else went over to it: what is on the screen is of the session that was left.
            self.uncover_session();
            self.write_below(let_go);
        }
        self.draft_belongs_elsewhere(goes_along);
        self.wishes = self.host.wishes(&cwd);
        self.hides_thinking = self.wishes.hides_thinking;
        if !goes_along {
            let earlier = self.earlier();
            self.editor.set_history(earlier);
        }
        if cwd != self.facts.cwd {
            self.watch_files();
        }
        self.choose_theme();
        self.ask_for_directory();
        self.show_path(&name.map_or_else(|| "another session".to_owned(), |name| clean::one_line(&name, 60)));
        let host = Arc::clone(&self.host);
        self.with_session(|session| host.remember(session));
        self.look_at_session();
    }

    /// Puts texts before what is written.
    fn write_below(&mut self, mut texts: Vec<String>) {
        if texts.is_empty() {
            return;
        }
        texts.extend(Some(self.editor.text()).filter(|text| !text.trim().is_empty()));
        self.editor.replace_text(&texts.join("\n\n"));
    }

    fn show_path(&mut self, title: &str) {
        let agent = self.agent.clone();
        let rows = usize::from(self.rows).saturating_sub(8).max(4);
        let divider = rule(self.columns, title, self.look.theme.style(Look::Border));
        let mut next = agent.with_session(|session| Conversation::at_leaf(session));
        // What was about to be printed of the path that is left.
        next.print(self.take_said());
        next.print([Line::default(), divider]);
        let scene = App::drawn(&self.look, self.columns, self.is_open, self.hides_thinking);
        let printed = agent.with_session(|session| next.print_end(session, usize::MAX, rows, &scene));
        self.conversation = next;
        self.render_path();
        if let Err(error) = printed {
            self.say_wrong(&error);
        }
    }

    /// Goes to the branch beside the one where one is.
    pub(super) fn go_to_sibling(&mut self, direction: Direction) {
        if !self.is_idle() {
            self.hint = Some("Something runs: end it first".into());
            return;
        }
        let target = self.with_session(|session| {
            let leaf = session.get_leaf_entry()?;
            crate::transcript::sibling(session, leaf.position(), direction)
        });
        match target {
            Some(id) => self.stand_at(&id),
            None => self.hint = Some("There is no other branch on that side".into()),
        }
    }

    /// Goes to the end of a branch, and stands there whatever entry it is.
    pub(super) fn stand_at(&mut self, id: &str) {
        let is_said = self.with_session(|session| {
            let entry = session.get_entry(id);
            entry.is_some_and(|entry| entry.role() == Role::User || entry.kind() == Kind::CustomMessage)
        });
        // Going to what the user said would mean to go before it.
        if !is_said {
            return self.go(id, SumUp::No);
        }
        let moved = self.agent.must_be_idle().and_then(|()| {
            let host = Arc::clone(&self.host);
            self.with_session(|session| {
                session.branch(id)?;
                host.remember(session);
                Ok(())
            })
        });
        match moved {
            Ok(()) => self.went(),
            Err(error) => self.say_wrong(&error),
        }
    }

    pub(super) fn is_here_already(&mut self) {
        self.uncover_all();
        self.hint = Some("You are there already".into());
    }

    /// What `/branch` opens (contract, section 10).
    pub(super) fn open_branching(&mut self) {
        match self.wishes.double_escape {
            DoubleEscape::Tree => self.open_tree(),
            DoubleEscape::Branch | DoubleEscape::None => self.open_messages(),
        }
    }

    /// Begins a session anew from before a user message.
    pub(super) fn branch_before(&mut self, id: &str) {
        let (agent, id) = (self.agent.clone(), id.to_owned());
        self.begin_to_leave(true);
        self.job_away(async move { agent.branch(&id).await }, |app, branched| match branched {
            Ok(Branched { cancelled: true, .. }) => {
                app.say(Block::notice("An extension did not let a branch be made"));
            }
            Ok(Branched { selected_text, .. }) => app.bring_into_editor(Some(selected_text)),
            Err(error) => app.say_wrong(&error),
        });
    }

    /// Goes on in a copy of the active path.
    pub(super) fn clone_session(&mut self) {
        let agent = self.agent.clone();
        self.begin_to_leave(true);
        self.job_away(async move { agent.clone_session().await }, |app, cloned| app.replaced(cloned));
    }

    /// Begins a new session.
    pub(super) fn new_session(&mut self) {
        let agent = self.agent.clone();
        self.begin_to_leave(true);
        self.job_away(async move { agent.new_session(None).await }, |app, begun| app.replaced(begun));
    }

    /// Goes over to the session in a file.
    pub(super) fn open_session(&mut self, path: &FilePath) {
        self.open_session_at(path, None);
    }

    /// The same, to stand at an entry there.
    pub(super) fn open_session_at(&mut self, path: &FilePath, at: Option<String>) {
        self.begin_to_leave(false);
        self.goes_to = at;
        let (agent, path) = (self.agent.clone(), path.to_owned());
        self.job_away(async move { agent.switch_session(&path).await }, |app, switched| {
            app.replaced(switched)
        });
    }

    /// The session will be left. What waits to be said in it is taken back, and what is written goes along, or
    /// stays with it.
    pub(super) fn begin_to_leave(&mut self, with_draft: bool) {
        self.take_back();
        self.is_leaving = true;
        self.keeps_draft = with_draft;
    }

    /// As [`App::job`], for what leaves the session: once it is done the session is not about to be left any more.
    pub(super) fn job_away<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut App, T) + Send + 'static,
    ) {
        self.job(work, |app, done| {
            app.is_leaving = false;
            then(app, done);
        });
    }

    fn replaced(&mut self, replaced: Result<bool, AgentError>) {
        let goes_to = self.goes_to.take();
        match replaced {
            Ok(false) => {
                if let Some(id) = goes_to {
                    self.open_tree_at(Some(&id));
                }
            }
            Ok(true) => self.say(Block::notice("An extension did not let the session be left")),
            Err(error) => self.say_wrong(&error),
        }
    }
}

/// Goes on where another program went on from the end of the path where one is, at `end`: to the last entry
/// that hangs there. Answers whether it did.
pub(super) fn follow_others(session: &mut SessionManager, end: usize) -> bool {
    let last = session.get_entries().next_back();
    let path = std::iter::successors(last, |entry| entry.parent());
    let hangs_there = path.take_while(|entry| entry.position() >= end).any(|entry| entry.position() == end);
    let id = last.filter(|last| hangs_there && last.position() != end).and_then(|last| last.id().ok());
    id.is_some_and(|id| session.branch(&id).is_ok())
}
