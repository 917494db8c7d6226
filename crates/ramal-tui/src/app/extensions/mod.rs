//! Extensions, as the conversation knows them: what it asks of them, and what it keeps of theirs.
//!
//! They are behind [`Extensions`], which whoever runs the program implements. What they ask and show comes by way
//! of an [`Asker`](super::Asker): [`dialogs`] and [`shown`]. What is typed goes through them in [`typed`], what
//! they have of their own is run in [`run`], and messages of theirs are drawn as they want in [`rendered`].

pub(super) mod dialogs;
pub(super) mod rendered;
mod run;
pub(super) mod shown;
mod typed;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramal_agent::Prompt;
use tokio_util::sync::CancellationToken;

use self::shown::Shown;
use self::typed::Typed;
pub(super) use self::typed::until;
use super::App;
use super::completion;
use super::slash;
use crate::completing::Command;
use crate::keys::{Key, Place};
use crate::text::clean;
use crate::transcript::Block;

/// Something that comes by and by.
pub type Eventually<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// How long something of theirs runs before it is said that it does.
const PATIENCE: Duration = Duration::from_millis(300);

/// A command of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionCommand {
    /// What is typed behind the slash.
    pub name: String,
    /// What it does; may be empty.
    pub description: String,
    /// Whether it says what may stand behind it.
    pub completes: bool,
    /// The name of the extension.
    pub extension: String,
}

/// A key of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionKey {
    /// The key, as it stands in files.
    pub key: String,
    /// What it does; may be empty.
    pub description: String,
    /// The name of the extension.
    pub extension: String,
}

/// Why a command or a key of an extension did not do what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrun {
    /// There is no such command or key.
    Unknown,
    /// The user ended it.
    Aborted,
    /// It failed; why, in a sentence.
    Failed(String),
}

/// All extensions of the program, which are loaded while the conversation is on the screen already.
pub trait Extensions: Send + Sync {
    /// Whether there are any, or may be as soon as they are loaded.
    fn are_there(&self) -> bool;

    /// Loads them, and puts them around the session.
    fn begin(&self) -> Eventually<()>;

    /// Loads them anew.
    fn reload(&self) -> Eventually<()>;

    /// Ends them; what they still have to say takes a limited time.
    fn end(&self) -> Eventually<()>;

    /// Their commands, in order. Of two with the same name the first is meant.
    fn commands(&self) -> Vec<ExtensionCommand>;

    /// Their keys, in order.
    fn keys(&self) -> Vec<ExtensionKey>;

    /// The command of theirs that a text means, once they are loaded: its name, and what stands behind it.
    fn command(&self, text: String) -> Eventually<Option<(String, String)>>;

    /// Runs a command of theirs.
    fn run_command(
        &self,
        name: String,
        rest: String,
        abort: CancellationToken,
    ) -> Eventually<Result<(), Unrun>>;

    /// Runs what a key of theirs stands for.
    fn run_key(&self, key: String, abort: CancellationToken) -> Eventually<Result<(), Unrun>>;

    /// What may stand behind a command, as far as it was typed: values, and how they are shown.
    fn complete(&self, name: String, typed: String) -> Eventually<Vec<(String, String)>>;

    /// What they make of what the user typed; none if one of them took care of it. `streaming` is `steer` or
    /// `followUp` where it is typed while the model works.
    fn input(
        &self,
        prompt: Prompt,
        streaming: Option<&'static str>,
        abort: CancellationToken,
    ) -> Eventually<Option<Prompt>>;

    /// What one of them did in place of a command of the user's: JSON, as in the log.
    fn user_bash(
        &self,
        command: String,
        exclude_from_context: bool,
        abort: CancellationToken,
    ) -> Eventually<Option<String>>;

    /// The lines that one of them wants a message of its own to be shown as. `entry` is JSON text.
    fn render(&self, custom_type: String, entry: String, is_open: bool) -> Eventually<Option<Vec<String>>>;

    /// The file with what they log, if there is one.
    fn log(&self) -> Option<PathBuf>;
}

/// Something of theirs that runs.
struct Running {
    number: u64,
    what: String,
    since: Instant,
    abort: CancellationToken,
}

/// What the conversation keeps of them.
pub(super) struct State {
    pub(super) all: Arc<dyn Extensions>,
    /// Their commands that are no other's.
    commands: Vec<ExtensionCommand>,
    /// Their keys that are no other's.
    keys: Vec<(Key, ExtensionKey)>,
    pub(super) shown: Shown,
    /// What was typed and is not said yet, in order; and how much ever was.
    typed: VecDeque<Typed>,
    numbers: u64,
    /// Ends what the first of it waits for.
    hearing: Option<CancellationToken>,
    running: Vec<Running>,
    /// For which command and words it was asked last what may stand there.
    completed: Option<(String, String)>,
    /// What was said of them at loading, so that it is said once.
    told: Vec<String>,
    /// The session as it was looked at last: its id, how many entries it had, and where its leaf was.
    seen: Option<(String, usize, Option<usize>)>,
}

impl State {
    pub(super) fn new(all: Arc<dyn Extensions>) -> State {
        State {
            all,
            commands: Vec::new(),
            keys: Vec::new(),
            shown: Shown::default(),
            typed: VecDeque::new(),
            numbers: 0,
            hearing: None,
            running: Vec::new(),
            completed: None,
            told: Vec::new(),
            seen: None,
        }
    }

    /// What runs for longer than a moment, and since when.
    pub(super) fn running(&self) -> impl Iterator<Item = (&str, Instant)> {
        let hearing = self.hearing.as_ref().and(self.typed.front()).map(|typed| ("Extensions", typed.since));
        let running = self.running.iter().map(|running| (&*running.what, running.since));
        hearing.into_iter().chain(running).filter(|(_, since)| since.elapsed() >= PATIENCE)
    }

    /// Whether anything of theirs runs.
    pub(super) fn is_running(&self) -> bool {
        self.hearing.is_some() || !self.running.is_empty()
    }

    /// Their commands, as help tells of them.
    pub(super) fn commands(&self) -> &[ExtensionCommand] {
        &self.commands
    }

    /// Their keys, as the list of all keys has them.
    pub(super) fn keys(&self) -> &[(Key, ExtensionKey)] {
        &self.keys
    }
}

impl App {
    /// Has the extensions loaded, beside the screen.
    pub(super) fn begin_extensions(&mut self) {
        self.job(self.extensions.all.begin(), |app, ()| app.has_extensions());
    }

    /// Others are loaded: what those of before have shown goes.
    pub(super) fn forget_extensions(&mut self) {
        let state = &mut self.extensions;
        (state.commands, state.keys, state.completed) = (Vec::new(), Vec::new(), None);
        self.look.rendered.forget();
        self.sources.arguments = None;
        self.forget_shown();
        self.offer_commands();
    }

    /// They are loaded, or have registered more.
    pub(super) fn has_extensions(&mut self) {
        let all = Arc::clone(&self.extensions.all);
        let mut problems = Vec::new();
        let mut commands: Vec<ExtensionCommand> = Vec::new();
        for command in all.commands() {
            let (name, extension) = (clean::name(&command.name), clean::name(&command.extension));
            if slash::find(&command.name).is_some() {
                problems.push(format!(
                    "/{name} of the extension {extension} is not used: ramal has a command of that name"
                ));
            } else if let Some(first) = commands.iter().find(|first| first.name == command.name) {
                let first = clean::name(&first.extension);
                problems.push(format!(
                    "/{name} of the extension {extension} is not used: {first} has it already"
                ));
            } else {
                commands.push(command);
            }
        }
        let mut keys: Vec<(Key, ExtensionKey)> = Vec::new();
        for key in all.keys() {
            let (name, extension) = (clean::name(&key.key), clean::name(&key.extension));
            let not_used =
                |why: &str| format!("The key {name} of the extension {extension} is not used: {why}");
            let Ok(pressed) = key.key.parse::<Key>() else {
                problems.push(not_used("there is no such key"));
                continue;
            };
            let keymap = &self.look.keymap;
            let bound =
                keymap.action(Place::EmptyEditor, pressed).or_else(|| keymap.action(Place::Editor, pressed));
            match bound {
                _ if pressed.typed().is_some() => problems.push(not_used("it writes a letter")),
                Some(action) => problems.push(not_used(&format!("it is {} already", action.name()))),
                None if keys.iter().any(|(other, _)| *other == pressed) => {
                    problems.push(not_used("another extension has it already"));
                }
                None => keys.push((pressed, key)),
            }
        }
        let state = &mut self.extensions;
        (state.commands, state.keys) = (commands, keys);
        let fresh: Vec<String> = problems.iter().filter(|told| !state.told.contains(told)).cloned().collect();
        state.told = problems;
        fresh.iter().for_each(|problem| self.say(Block::notice(problem)));
        self.offer_commands();
        self.share_written();
        self.render_path();
        self.is_stale = true;
    }

    /// All commands that can be typed are offered.
    fn offer_commands(&mut self) {
        let theirs = self.extensions.commands.iter().map(|command| Command {
            name: command.name.clone(),
            arguments: if command.completes { "…".to_owned() } else { String::new() },
            description: clean::name(&command.description),
            source: clean::name(&command.extension),
            ..Command::default()
        });
        let all: Vec<Command> = completion::commands().iter().cloned().chain(theirs).collect();
        if *self.sources.commands != *all {
            self.sources.commands = all.into();
            // What is typed already may be the beginning of one of them.
            self.completer.has_more(&self.editor, &self.sources);
        }
    }

    /// Extensions may have appended to the session, or moved in it, while nothing told of it.
    pub(super) fn look_after_extensions(&mut self) {
        if self.agent.running().is_some() || !self.extensions.all.are_there() {
            return;
        }
        let agent = self.agent.clone();
        let Some(seen) = agent.try_with_session(|session| {
            let leaf = session.get_leaf_entry().map(|leaf| leaf.position());
            (session.get_session_id().to_owned(), session.entry_count(), leaf)
        }) else {
            return;
        };
        if self.extensions.seen.as_ref() == Some(&seen) {
            return;
        }
        self.extensions.seen = Some(seen);
        self.follow();
        self.look_at_session();
    }

    /// The draft, for extensions that want to know it, without waiting for this thread.
    pub(super) fn share_written(&mut self) {
        if !self.extensions.all.are_there() {
            return;
        }
        self.shared_revision = Some(self.editor.revision());
        self.shared.set_written(self.editor.text());
    }
}
