//! `ramal` alone: a conversation at work in the terminal, an editor below it, the tree one key away.
//!
//! [`App`] is told what happens, one [`Message`] after the other: keys, events of the session, work that is
//! done. It answers with frames and with [`Effect`]s, and waits for nothing: what takes longer than a moment
//! is a job beside it. [`run`] stands between it and the terminal.
//!
//! [`opening`] is what is seen before a session is there, [`conversation`] what is printed on the main screen,
//! [`over`] what covers it, [`keys`] what keys do, [`slash`] what words do, [`moves`] how one goes elsewhere,
//! [`frame`] what all of it looks like, [`extensions`] what others bring along.

mod asks;
mod choices;
mod commands;
mod completion;
mod conversation;
mod drafts;
mod extensions;
mod facts;
mod frame;
mod help;
mod host;
mod jobs;
mod keys;
mod look;
mod moves;
mod opening;
mod over;
mod pictures;
mod questions;
mod run;
mod say;
mod sessions;
mod slash;
mod spinner;
mod start;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ramal_agent::{AgentEvent, AgentSession, Operation};
use ramal_session::SessionManager;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

pub use self::asks::{Answer, Ask, Asker, Remembered};
pub use self::drafts::{Drafts, Owner, Stashed};
pub use self::extensions::dialogs::{Dialog, Given, Wanted};
pub use self::extensions::shown::{Show, Side, Weight};
pub use self::extensions::{Eventually, ExtensionCommand, ExtensionKey, Extensions, Unrun};
pub use self::host::{DoubleEscape, Host, Wishes};
pub use self::look::Look;
pub use self::opening::{Door, Doorway, Finder, Opening, Waited};
pub use self::run::{Left, Messages, Start, run};
pub use self::slash::{command_names, commands_told};

use self::asks::{Asks, Shared};
use self::commands::Beside;
use self::conversation::{Conversation, Drawn, Path};
use self::facts::Facts;
use self::jobs::{Job, Writes};
use self::over::Over;
use self::questions::Asked;
use crate::completing::{Completer, FileIndex, Sources};
use crate::editor::Editor;
use crate::images::Protocol;
use crate::keys::DoublePress;
use crate::screen::{FullScreen, Screen};
use crate::terminal::Input;
use crate::theme::Background;
use crate::transcript::Block;

/// A window that has kept its size for so long has it.
const DRAGGING: Duration = Duration::from_millis(60);

/// Something that happened.
pub(crate) enum Message {
    /// In the terminal.
    Input(Input),
    /// In the session.
    Event(Arc<AgentEvent>),
    /// Work beside is done; this takes in what came of it.
    Done(Job),
    /// While a session is opened; of no interest once it is.
    Opening(opening::Step),
}

/// What is to be done with the terminal.
pub(crate) enum Effect {
    /// A text goes to the clipboard.
    Copy(String),
    /// The window gets a title.
    Title(String),
    /// The process is stopped until the shell wakes it.
    Suspend,
    /// What is written is given to the user's own editor.
    ExternalEditor,
    /// Everything is drawn anew.
    Redraw,
    /// Somebody who looks elsewhere is wanted.
    Bell,
}

/// Why the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Somebody wants it.
    Wanted,
    /// A signal came.
    Signal(i32),
    /// The terminal is gone.
    Closed,
}

/// A conversation at work.
pub(crate) struct App {
    agent: AgentSession,
    host: Arc<dyn Host>,
    runtime: Handle,
    messages: Sender<Message>,
    shared: Arc<Shared>,
    look: Look,
    /// How the terminal draws pictures, if it can.
    graphics: Option<Protocol>,
    background: Background,
    wishes: Wishes,
    columns: u16,
    rows: u16,
    conversation: Conversation,
    screen: Screen,
    full: FullScreen,
    editor: Editor,
    drafts: Option<Box<dyn Drafts>>,
    /// When what is written is to be kept at the latest.
    draft_due: Option<Instant>,
    /// What is written goes along to the session that is gone over to next.
    keeps_draft: bool,
    /// The user wants to go over to another session.
    is_leaving: bool,
    /// The model writes a brief for another session: what is said meanwhile is said there.
    is_handing_off: bool,
    /// The entry to stand at in the session that is gone over to next.
    goes_to: Option<String>,
    /// When a key was pressed last in the editor.
    typed_at: Option<Instant>,
    /// When a key was pressed last in what covers the screen.
    pressed_at: Option<Instant>,
    /// The draft was looked at last when it was of this revision.
    shared_revision: Option<u64>,
    completer: Completer,
    sources: Sources,
    files: Option<FileIndex>,
    /// What covers the main screen; the last is seen.
    over: Vec<Over>,
    /// Where an entry was chosen, while the way to it goes on.
    parked: Option<Over>,
    /// Where the user is.
    user_cwd: PathBuf,
    /// The user's own directory.
    home: Option<PathBuf>,
    facts: Facts,
    /// What the session is busy with, and since when.
    busy: Option<(Operation, Instant)>,
    /// A branch that is left is being summed up.
    is_summing_up: bool,
    /// Ends the command of the user's that runs, which was begun then.
    shell: Option<(CancellationToken, String, Instant)>,
    /// Something that is asked beside the conversation.
    beside: Option<Beside>,
    /// What waits to be said: to a turn that runs, and after it.
    waiting: (Vec<String>, Vec<String>),
    escape: DoublePress,
    clear: DoublePress,
    /// Why the file cannot be looked at, as it was told.
    trouble: Option<String>,
    /// A line below the conversation, until the next key.
    hint: Option<String>,
    /// Tool calls are shown whole.
    is_open: bool,
    hides_thinking: bool,
    extensions: extensions::State,
    /// What waited to be said and was let go by the last that happened.
    let_go: Vec<String>,
    asks: Asks,
    question: Option<Asked>,
    effects: Vec<Effect>,
    writes: Writes,
    leaving: Option<Leaving>,
    is_stale: bool,
    /// The screen's lines are to be laid out anew.
    is_resized: bool,
    /// When the window got another size last.
    resized_at: Option<Instant>,
}

impl App {
    /// What happened.
    pub(crate) fn take(&mut self, message: Message) {
        match message {
            Message::Input(input) => self.input(input),
            Message::Event(event) => self.event(&event),
            Message::Done(job) => {
                job(self);
                self.is_stale = true;
            }
            Message::Opening(_) => {}
        }
        if self.shared_revision != Some(self.editor.revision()) {
            self.share_written();
        }
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Key(key) => {
                self.hint = None;
                self.key(key);
            }
            Input::Paste(text) => self.paste(&text),
            Input::Resize(columns, rows) => {
                (self.columns, self.rows) = (columns.max(1), rows.max(1));
                self.is_resized = true;
                self.resized_at = Some(Instant::now());
                self.full.forget();
            }
            Input::Resumed => {
                self.screen.begin_anew();
                self.is_resized = true;
                self.full.forget();
            }
            Input::Background(color) => {
                self.background = Background::of(color);
                self.choose_theme();
            }
            Input::Quit(signal) => self.leaving = Some(Leaving::Signal(signal)),
            Input::Closed => self.leaving = Some(Leaving::Closed),
            Input::FocusGained | Input::FocusLost => return,
        }
        self.is_stale = true;
    }

    fn event(&mut self, event: &AgentEvent) {
        self.is_stale = true;
        self.conversation.event(event, Timestamp::now());
        let let_go = std::mem::take(&mut self.let_go);
        match event {
            AgentEvent::QueueUpdate { steering, follow_up } => {
                let (soon, afterwards) =
                    std::mem::replace(&mut self.waiting, (steering.clone(), follow_up.clone()));
                if steering.is_empty() && follow_up.is_empty() {
                    self.let_go = soon.into_iter().chain(afterwards).collect();
                }
            }
            // Now there is a session that the draft can belong to.
            AgentEvent::AgentStart => self.draft_belongs_elsewhere(true),
            AgentEvent::MessageEnd { message, .. } => {
                self.facts.count(message);
                self.render_new();
            }
            AgentEvent::TurnEnd { .. } | AgentEvent::SessionInfoChanged { .. } => self.look_at_session(),
            AgentEvent::AgentEnd { .. } | AgentEvent::CompactionEnd { .. } => {
                self.look_at_session();
                self.refresh_files();
                self.job(
                    {
                        let agent = self.agent.clone();
                        async move { agent.wait_for_idle().await }
                    },
                    |app, ()| app.follow(),
                );
            }
            AgentEvent::SessionTree { .. } => {
                self.went();
                // It may be somebody else who moved; within a turn the place is none that one was left at.
                if self.agent.running() != Some(Operation::Turn) {
                    let host = Arc::clone(&self.host);
                    self.with_session(|session| host.remember(session));
                }
            }
            AgentEvent::SessionReplaced { .. } => self.is_elsewhere(let_go),
            AgentEvent::EntryAppended { entry_id, .. } => self.appended(entry_id),
            _ => {}
        }
    }

    /// Looks again at what stands outside: what other programs appended. Called now and then.
    pub(crate) fn look_around(&mut self) {
        self.look_after_extensions();
        if self.agent.running().is_some() {
            return;
        }
        let agent = self.agent.clone();
        // Whoever reads in it just now takes longer than a look may; the next one is soon.
        let looked = agent.try_with_session(|session| {
            let end =
                session.get_leaf_entry().filter(|leaf| !leaf.has_children()).map(|leaf| leaf.position());
            match session.refresh() {
                Ok(true) => (Ok(true), end.is_some_and(|end| moves::follow_others(session, end))),
                other => (other, false),
            }
        });
        let Some((changed, goes_on)) = looked else { return };
        match changed {
            Ok(false) => return,
            Ok(true) if goes_on => self.hint = Some("Another program goes on in this session".into()),
            Ok(true) => self.hint = Some("Another program has added to this session".into()),
            Err(error) => {
                // Once, and not at each look.
                let error = error.to_string();
                if self.trouble.as_ref() != Some(&error) {
                    self.trouble = Some(error.clone());
                    self.say(Block::wrong(&error));
                }
                return;
            }
        }
        self.trouble = None;
        self.is_stale = true;
        self.follow();
        self.look_at_session();
    }

    /// Shows an entry that somebody appended beside the work.
    fn appended(&mut self, id: &str) {
        self.look_at_session();
        if self.agent.running().is_none() {
            return self.follow();
        }
        self.render_new();
        let agent = self.agent.clone();
        if let Err(error) = agent.with_session(|session| self.conversation.appended(session, id)) {
            self.say_wrong(&error);
        }
    }

    /// Prints what was appended to the path while nothing runs.
    fn follow(&mut self) {
        if self.agent.running().is_some() {
            return;
        }
        self.is_stale = true;
        let agent = self.agent.clone();
        self.render_new();
        let scene = App::drawn(&self.look, self.columns, self.is_open, self.hides_thinking);
        let followed = agent.with_session(|session| self.conversation.follow(session, &scene));
        match followed {
            Ok(Path::GoesOn) => {}
            Ok(Path::IsAnother) => self.went(),
            Err(error) => self.say_wrong(&error),
        }
    }

    fn say(&mut self, block: Block) {
        self.is_stale = true;
        self.conversation.say(block);
        if self.agent.running().is_none() {
            let scene = App::drawn(&self.look, self.columns, self.is_open, self.hides_thinking);
            self.conversation.settle(&scene);
        }
    }

    /// Tells what went wrong, in the conversation.
    fn say_wrong(&mut self, error: &dyn std::error::Error) {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.ends_with(&cause_text) {
                text = format!("{text}: {cause_text}");
            }
            source = cause.source();
        }
        self.say(Block::wrong(&text));
    }

    /// Draws with the theme that the settings name.
    pub(super) fn choose_theme(&mut self) {
        let (theme, problems) = self.host.theme(&self.wishes.theme, self.background);
        if theme != self.look.theme {
            self.look.theme = theme;
            self.full.forget();
            self.is_resized = true;
        }
        if let Some(problem) = problems.first() {
            self.notice(problem);
        }
    }

    /// A read of the session, for a moment.
    fn with_session<T>(&self, look: impl FnOnce(&mut SessionManager) -> T) -> T {
        self.agent.with_session(look)
    }

    /// Whether the user can move and change things: nothing runs that would have to be ended first.
    fn is_idle(&self) -> bool {
        self.agent.running().is_none() && self.shell.is_none()
    }

    /// Whether a frame is due because time passes: something runs.
    pub(crate) fn is_moving(&self) -> bool {
        let runs = self.busy.is_some() || self.shell.is_some() || self.beside.is_some();
        let counts = self.question.as_ref().is_some_and(Asked::has_limit);
        runs || counts
            || self.extensions.is_running()
            || self.agent.running().is_some()
            || self.is_being_dragged()
    }

    /// Whether the window may be getting another size right now. What is drawn on the main screen for a size
    /// that is not the terminal's any more breaks its lines, and cannot be taken back.
    fn is_being_dragged(&self) -> bool {
        self.over.is_empty() && self.resized_at.is_some_and(|at| at.elapsed() < DRAGGING)
    }

    /// How lines of the conversation are drawn.
    fn drawn<'a>(look: &'a Look, columns: u16, is_open: bool, hides_thinking: bool) -> Drawn<'a> {
        Drawn { width: usize::from(columns), look, options: look.options(is_open, hides_thinking) }
    }
}
