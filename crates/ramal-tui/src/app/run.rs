//! Between the terminal and [`App`]: keys and events in, frames out.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use ramal_agent::AgentSession;
use ramal_session::SessionManager;
use tokio::runtime::Handle;

use super::asks::Shared;
use super::frame::Frame;
use super::opening::{Door, Handed};
use super::{App, Asker, Effect, Extensions, Host, Leaving, Message, spinner};
use crate::images::Protocol;
use crate::terminal::{Input, InputThread, Terminal, TerminalWriter};

/// How long nothing may be drawn while things keep happening.
const FRAME: Duration = Duration::from_millis(16);

/// How often it is looked whether another program has appended.
const LOOK: Duration = Duration::from_millis(500);

/// Bytes of entries that are read between two looks at the keys: some milliseconds, also where entries are small.
const SLICE: u64 = 512 << 10;

/// How long a session may take to store what a turn has when the program ends.
const ENDING: Duration = Duration::from_secs(5);

/// What a conversation begins with.
pub struct Start {
    /// The session at work.
    pub agent: AgentSession,
    /// The program around it.
    pub host: Arc<dyn Host>,
    /// Where work is done beside the screen.
    pub runtime: Handle,
    /// What is said at once.
    pub said: Option<ramal_agent::Prompt>,
    /// What the user is to be told first.
    pub notices: Vec<String>,
    /// Where the user is.
    pub user_cwd: PathBuf,
    /// How the terminal draws pictures, if it can.
    pub graphics: Option<Protocol>,
    /// The session selector is opened at once.
    pub opens_sessions: bool,
    /// The extensions; nothing of them is loaded yet.
    pub extensions: Arc<dyn Extensions>,
}

/// What happens comes through here, from before a session is there.
pub struct Messages {
    pub(super) sender: Sender<Message>,
    pub(super) receiver: Receiver<Message>,
    pub(super) shared: Arc<Shared>,
}

impl Default for Messages {
    fn default() -> Messages {
        let (sender, receiver) = channel();
        Messages { sender, receiver, shared: Arc::default() }
    }
}

impl Messages {
    /// Whoever asks the user by way of these.
    pub fn asker(&self) -> Asker {
        Asker { messages: self.sender.clone(), shared: Arc::clone(&self.shared) }
    }
}

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Somebody wanted it.
    Wanted,
    /// By a signal.
    Signal(i32),
}

/// Runs a conversation until somebody leaves it.
///
/// # Errors
/// If the terminal cannot be read or written to.
pub fn run(door: Door, start: Start) -> io::Result<Left> {
    let Handed { terminal, input, writer, parts, kept } = door.hand_over();
    let (mut app, messages) = App::new(start, parts);
    // What was typed before there was a question is no answer to it.
    app.is_typed_ahead(!kept.is_empty());
    kept.into_iter().for_each(|message| app.take(message));
    let mut screen = Outlet { writer, terminal: &terminal, input: &input, covers: false };
    let left = screen.serve(&mut app, &messages);
    // Whatever it was, what a turn has is stored.
    app.end(ENDING);
    let left = left?;
    // And what came since the last frame is to be seen, if anybody is there to see it.
    let _ = screen.last_words(&mut app, &messages);
    terminal.leave()?;
    Ok(left)
}

/// Where frames go.
struct Outlet<'a> {
    writer: TerminalWriter,
    terminal: &'a Terminal,
    input: &'a InputThread,
    covers: bool,
}

impl Outlet<'_> {
    fn serve(&mut self, app: &mut App, messages: &Receiver<Message>) -> io::Result<Left> {
        let mut drawn: Option<Instant> = None;
        let mut looked = Instant::now();
        let mut has_work = true;
        loop {
            let is_due = drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME);
            if app.is_stale() && is_due {
                // What is drawn for another size than the terminal's breaks its lines, so nobody waits to be
                // told of a new one.
                if let Ok((columns, rows)) = crossterm::terminal::size()
                    && !app.is_of_size(columns, rows)
                {
                    app.take(Message::Input(Input::Resize(columns, rows)));
                    continue;
                }
                let frame = app.frame();
                self.show(frame)?;
                drawn = Some(Instant::now());
            }
            let patience = match (has_work, app.is_stale(), app.is_moving()) {
                (true, ..) => Duration::ZERO,
                (false, true, _) => FRAME,
                (false, false, true) => spinner::STEP,
                (false, false, false) => LOOK,
            };
            match messages.recv_timeout(patience) {
                Ok(message) => {
                    app.take(message);
                    // What came with it is taken in before anything is drawn, as far as the time goes.
                    let since = Instant::now();
                    while since.elapsed() < FRAME
                        && let Ok(message) = messages.try_recv()
                    {
                        app.take(message);
                    }
                    has_work = true;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if looked.elapsed() >= LOOK {
                        looked = Instant::now();
                        app.look_around();
                    }
                    app.tick();
                    has_work = app.work(SLICE);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(Left::Wanted),
            }
            self.effects(app)?;
            match app.leaving() {
                None => {}
                Some(Leaving::Signal(signal)) => return Ok(Left::Signal(signal)),
                Some(Leaving::Wanted | Leaving::Closed) => return Ok(Left::Wanted),
            }
        }
    }

    /// Prints what is still to be said of a turn that was ended.
    fn last_words(&mut self, app: &mut App, messages: &Receiver<Message>) -> io::Result<()> {
        while let Ok(message) = messages.try_recv() {
            if matches!(message, Message::Event(_)) {
                app.take(message);
            }
        }
        match app.last_frame() {
            Some(frame) => self.show(frame),
            None => Ok(()),
        }
    }

    fn show(&mut self, frame: Frame) -> io::Result<()> {
        if frame.covers != self.covers {
            self.covers = frame.covers;
            self.writer.alternate_screen(frame.covers);
        }
        if let Some(parting) = frame.parting {
            self.writer.set_parting(parting);
        }
        self.writer.write_all(frame.bytes.as_bytes())?;
        self.writer.flush()
    }

    fn effects(&mut self, app: &mut App) -> io::Result<()> {
        for effect in app.take_effects() {
            match effect {
                Effect::Copy(text) => {
                    let in_tmux = std::env::var_os("TMUX").is_some();
                    match self.writer.copy(&text, in_tmux) {
                        Ok(()) => self.writer.flush()?,
                        Err(_) => app.notice(
                            "That is too long for the clipboard of a terminal: /export writes it to a file",
                        ),
                    }
                }
                Effect::Title(title) => {
                    self.writer.title(&title);
                    self.writer.flush()?;
                }
                Effect::Suspend => self.terminal.suspend()?,
                Effect::ExternalEditor => {
                    let text = app.written();
                    let host = app.host();
                    let edited = self.terminal.lend(Some(self.input), || host.edit(&text))?;
                    app.was_lent(edited);
                }
                Effect::Redraw => app.redraw(),
                Effect::Bell => {
                    self.writer.bell();
                    self.writer.flush()?;
                }
            }
        }
        Ok(())
    }
}

impl App {
    /// What comes now was typed before anybody could see what there is.
    fn is_typed_ahead(&mut self, is_so: bool) {
        if is_so {
            self.typed_at = Some(Instant::now());
        }
    }

    fn is_of_size(&self, columns: u16, rows: u16) -> bool {
        (self.columns, self.rows) == (columns.max(1), rows.max(1))
    }

    fn leaving(&self) -> Option<Leaving> {
        self.leaving
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    fn hint(&mut self, text: &str) {
        self.hint = Some(text.to_owned());
        self.is_stale = true;
    }

    /// What is given to the user's own editor: what a question wants written, or the draft.
    fn written(&self) -> String {
        let asked = self.question.as_ref().and_then(|asked| asked.question.written());
        asked.unwrap_or_else(|| self.editor.text())
    }

    fn host(&self) -> Arc<dyn Host> {
        Arc::clone(&self.host)
    }

    /// The terminal was lent to another program, and is ours again.
    fn was_lent(&mut self, edited: io::Result<Option<String>>) {
        match edited {
            Ok(Some(text)) => match &mut self.question {
                Some(asked) if asked.question.written().is_some() => asked.question.rewrite(&text),
                _ => self.editor.replace_text(&text),
            },
            Ok(None) => self.hint("Nothing was changed"),
            Err(error) => self.hint(&format!("The editor could not be used: {error}")),
        }
        self.typed();
        self.screen.begin_anew();
        self.redraw();
    }

    fn redraw(&mut self) {
        self.full.forget();
        self.is_resized = true;
        self.is_stale = true;
    }

    /// Time has passed.
    fn tick(&mut self) {
        if self.is_moving() {
            self.is_stale = true;
        }
        self.keep_draft_if_due();
    }

    /// Ends what runs, waits until it is stored, and forces everything to disk.
    fn end(&mut self, limit: Duration) {
        // Whoever waits for an answer is not waited for.
        self.ask_no_more();
        self.agent.abort();
        if let Some((shell, ..)) = &self.shell {
            shell.cancel();
        }
        self.abort_extensions();
        let (agent, written) = (self.agent.clone(), self.writes.wait());
        self.runtime.block_on(async move {
            let all = async {
                written.await;
                agent.wait_for_idle().await;
            };
            // Whoever does not end by then is left behind; whole messages are stored already.
            let _ = tokio::time::timeout(limit, all).await;
        });
        self.runtime.block_on(self.extensions.all.end());
        self.agent.give_up_titles();
        let host = Arc::clone(&self.host);
        // What waits to be said is a draft again.
        self.take_back();
        if let Some(drafts) = &mut self.drafts {
            drafts.flush(&self.editor);
        }
        self.agent.with_session(|session: &mut SessionManager| {
            if session.is_on_disk() {
                host.remember(session);
            }
            if let Err(error) = session.sync() {
                host.complain(&error.to_string());
            }
        });
    }
}
