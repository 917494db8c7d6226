//! `ramal -p`: says something to a model, prints what it answers, and ends.

mod shell;
mod words;

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ramal_agent::permission::Mode as Permission;
use ramal_agent::{AgentEvent, AgentSession, Prompt};
use ramal_extension::{Input, Mode as Used};
use ramal_session::{Message, SessionManager};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::print_text;
pub(crate) use super::which::{Opened, Which};
use crate::cli::Globals;
use crate::extensions::{Crew, Nobody};
use crate::failure::{self, Failure, Status};
use crate::output::raw_json;
use crate::permit::{self, Unattended};
use crate::settings::{self, Settings};
use crate::signals::Signals;
use crate::view::clean;
use crate::view::says::called_on;
use crate::work::{HEADING, WorkOptions};
use crate::{remembered, resolve, work};

/// What is said to a model, in which session, and what is printed.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub(crate) struct Args {
    /// Say TEXT to a model, print its answer and end. What comes on standard input is said too
    ///
    /// TEXT may also stand elsewhere on the line. @FILE says a file, a text or an image. !COMMAND asks no
    /// model: it runs the command, prints its output and keeps it for the model; !!COMMAND keeps it from it.
    #[arg(short, long, value_name = "TEXT", num_args = 0..=1, help_heading = HEADING)]
    print: Option<Option<String>>,
    /// All words that are said, where they do not all stand behind --print.
    #[arg(skip)]
    words: Vec<String>,
    /// Print the last answer, or all that happens as JSON lines
    #[arg(long, value_enum, value_name = "MODE", help_heading = HEADING)]
    mode: Option<Mode>,
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) work: WorkOptions,
}

/// What is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Mode {
    /// The text of the last answer
    #[default]
    Text,
    /// Everything that happens, as JSON lines
    Json,
    /// As `ramal rpc`: requests as JSON lines on standard input
    Rpc,
}

impl Args {
    /// Whether another program is to be served.
    pub(crate) fn is_rpc(&self) -> bool {
        self.mode == Some(Mode::Rpc)
    }

    /// Whether it was said what is to be printed.
    pub(crate) fn mode_is_given(&self) -> bool {
        self.mode.is_some()
    }

    /// Whether something is to be said.
    pub(crate) fn is_wanted(&self) -> bool {
        self.print.is_some()
    }

    /// Says these words, in place of what stands behind `--print`.
    pub(crate) fn with_words(mut self, words: Vec<String>) -> Args {
        self.words = words;
        self
    }

    /// The words of the command line that are said.
    fn words(&self) -> Vec<&str> {
        match &*self.words {
            [] => self.print.iter().flatten().map(|text| &**text).collect(),
            words => words.iter().map(|word| &**word).collect(),
        }
    }

    /// Whether none of these options was given.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Args::default()
    }
}

pub(crate) fn run(args: &Args, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Status> {
    let words = args.words();
    let shell = words::shell_command(&words);
    let said = match &shell {
        Some(_) => Prompt::default(),
        None => words::said(&words, &resolve::cwd()?)?,
    };
    let opened = args.which.open(globals)?;
    let cwd = opened.directory()?;
    if io::stderr().is_terminal() && is_elsewhere(&cwd) {
        failure::note(&format!("The session works in {}", cwd.display()));
    }
    let (settings, problems) = settings::load(&cwd);
    settings::warn(&problems);
    let turn = Turn {
        cwd: &cwd,
        mode: args.mode.unwrap_or_default(),
        name: args.which.name(),
        options: &args.work,
        settings: &settings,
    };
    match shell {
        Some(shell) => shell::run(opened, &shell, &turn, out),
        None => say(opened, &said, &turn, out),
    }
}

/// How something is said, beside what and where.
pub(crate) struct Turn<'a> {
    /// The directory that it works in.
    pub(crate) cwd: &'a Path,
    pub(crate) mode: Mode,
    /// The name that the session is given.
    pub(crate) name: Option<&'a str>,
    pub(crate) options: &'a WorkOptions,
    pub(crate) settings: &'a Settings,
}

/// Whether this is another directory than the one where the user is.
fn is_elsewhere(cwd: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    resolve::cwd().is_ok_and(|here| real(&here) != real(cwd))
}

/// Says something in a session, prints the answer and remembers where one is then.
///
/// # Errors
/// If no model can be asked — nothing is written then —, the model failed, or something could not be
/// stored or printed.
pub(crate) fn say(
    opened: Opened,
    said: &Prompt,
    turn: &Turn<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<Status> {
    let Turn { cwd, mode, options, settings, .. } = *turn;
    let prepared = work::prepare(&opened.session, cwd, options, settings)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let used = match mode {
        Mode::Json => Used::Json,
        _ => Used::Print,
    };
    let crew = Crew::new(options, used, Arc::default());
    crew.set_front(Arc::new(Nobody));
    runtime.block_on(crew.load_once(cwd, settings))?;
    let manager = opened.begin()?;
    if let Some(open) = ramal_agent::interruption(&manager)? {
        failure::note(&open.message());
    }
    let permission = if options.yes { Permission::Yes } else { Permission::Refuse };
    let permit = Arc::new(Unattended(permit::permissions(&manager, cwd, settings, permission)));
    let session = prepared.put_to_work(manager, cwd, options, settings, permit, &crew)?;
    if let Some(name) = turn.name {
        session.set_session_name(name)?;
    }
    if mode == Mode::Json {
        session.with_session(|manager| print_header(manager, out))?;
    }
    let mut show = Show { mode, tells: io::stderr().is_terminal(), cwd, out };
    let ended = runtime.block_on(async {
        let ended = run_turn(&session, &crew, said, &mut show).await;
        crew.end().await;
        ended
    });
    let is_kept = session.with_session(|manager| manager.is_on_disk());
    let status = ended.and_then(|ended| match ended {
        Some(ended) => ended.status(mode, is_kept, out),
        // An extension took care of it.
        None => Ok(Status::Done),
    });
    // The answer has been printed: a title that is about to come does not hold it up.
    if matches!(status, Ok(Status::Done)) {
        runtime.block_on(wait_for_title(&session));
    }
    session.give_up_titles();
    session.with_session(|manager| leave(manager));
    runtime.shutdown_background();
    status
}

/// Waits for a title, unless somebody ends the program.
async fn wait_for_title(session: &AgentSession) {
    let Ok(mut signals) = Signals::new() else { return };
    tokio::select! {
        () = session.wait_for_title(work::TITLE_LIMIT) => {}
        _ = signals.next() => {}
    }
}

/// Prints the line that JSON begins with.
fn print_header(session: &SessionManager, out: &mut dyn Write) -> io::Result<()> {
    raw_json(out, session.get_header().json().trim_end())?;
    writeln!(out)?;
    out.flush()
}

/// Remembers where one is in a session, and says what is to be known of its place.
fn leave(session: &SessionManager) {
    if session.is_on_disk() {
        remembered::remember(session);
        failure::warn_without_locks(session);
    }
}

/// How a turn ended.
#[derive(Default)]
struct Ended {
    /// The last answer, as JSON text.
    answer: Option<String>,
    /// What went wrong beside the model.
    notice: Option<String>,
    /// The signal that ended it.
    signal: Option<i32>,
}

impl Ended {
    /// What counts where this came after something else.
    fn behind(self, before: Ended) -> Ended {
        let notice = match self.answer {
            Some(_) => self.notice,
            None => self.notice.or(before.notice),
        };
        Ended { answer: self.answer.or(before.answer), notice, signal: self.signal }
    }

    fn take(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TurnEnd { message, .. } => {
                self.answer = Some(message.clone());
                self.notice = None;
            }
            AgentEvent::Notice { message } => self.notice = Some(message.clone()),
            _ => {}
        }
    }

    /// Prints the answer, or says what went wrong.
    fn status(self, mode: Mode, is_kept: bool, out: &mut dyn Write) -> anyhow::Result<Status> {
        if let Some(signal) = self.signal {
            let kept = if is_kept { "; what came until then is in the session" } else { "" };
            failure::note(&format!("Ended{kept}"));
            return Ok(Status::Signalled(signal));
        }
        if let Some(notice) = self.notice {
            return Err(Failure::new(notice).into());
        }
        let Some(answer) = &self.answer else {
            return Err(Failure::new("the model did not answer").into());
        };
        let message = Message::new(answer);
        match message.get_str("stopReason").as_deref() {
            Some("error" | "aborted") => {
                let error = message.get_str("errorMessage").filter(|error| !error.trim().is_empty());
                return Err(Failure::new(error.as_deref().unwrap_or("the model failed")).into());
            }
            Some("length") => failure::warn("the answer is cut off: it is as long as the model can answer"),
            _ => {}
        }
        if mode == Mode::Text {
            print_text(out, &message.text())?;
            out.flush()?;
        }
        Ok(Status::Done)
    }
}

/// Says it, and tells what happens until there is nothing more to do; none if an extension took care of it, and no
/// model was asked.
async fn run_turn(
    session: &AgentSession,
    crew: &Crew,
    said: &Prompt,
    show: &mut Show<'_>,
) -> anyhow::Result<Option<Ended>> {
    // Signals are heard before anything is stored that they could leave half done.
    let mut signals = Signals::new()?;
    let mut events = session.subscribe();
    let abort = CancellationToken::new();
    let heard = async {
        crew.begin_once(session).await;
        if let Some((name, args)) = crew.command(&said.text).await {
            crew.run_command(name, args, abort.clone()).await?;
            return Ok(Input::Handled);
        }
        anyhow::Ok(crew.input(said.clone(), "interactive", None, &abort).await)
    };
    let heard = tokio::select! {
        heard = heard => heard?,
        signal = signals.next() => {
            abort.cancel();
            return Ok(Some(Ended { signal: Some(signal), ..Ended::default() }));
        }
    };
    // Whoever took care of it may have said something itself, or begun something else, which goes on or is over.
    let is_handled = matches!(heard, Input::Handled);
    if let Input::Say(prompt) = heard {
        session.prompt(prompt)?;
    }
    let mut ended = Ended::default();
    loop {
        match follow(session, &mut events, &mut signals, show).await {
            Ok(more) => ended = more.behind(ended),
            Err(error) => {
                session.abort();
                session.wait_for_idle().await;
                return Err(error);
            }
        }
        if ended.signal.is_some() {
            break;
        }
        // What extensions do when a turn has ended takes the time that it takes.
        tokio::select! {
            () = async { session.wait_for_idle().await; crew.have_heard().await } => {}
            signal = signals.next() => ended.signal = Some(signal),
        }
        // They may have had more to say.
        if session.running().is_none() && events.is_empty() {
            break;
        }
    }
    let is_nothing = |ended: &Ended| is_handled && ended.answer.is_none() && ended.signal.is_none();
    Ok(Some(ended).filter(|ended| !is_nothing(ended)))
}

/// Tells what happens until the turn has ended, or nothing runs any more.
async fn follow(
    session: &AgentSession,
    events: &mut UnboundedReceiver<Arc<AgentEvent>>,
    signals: &mut Signals,
    show: &mut Show<'_>,
) -> anyhow::Result<Ended> {
    let mut ended = Ended::default();
    loop {
        let event = tokio::select! {
            biased;
            event = events.recv() => event,
            signal = signals.next() => {
                if ended.signal.is_some() {
                    // Whoever asks twice does not want to wait; whole messages are stored already.
                    std::process::exit(128 + signal);
                }
                ended.signal = Some(signal);
                session.abort();
                continue;
            }
            // Not all that runs is a turn, and ends as one. What was told until now is in the queue.
            () = session.wait_for_idle() => events.try_recv().ok(),
        };
        let Some(event) = event else { return Ok(ended) };
        show.event(&event)?;
        ended.take(&event);
        if matches!(*event, AgentEvent::AgentEnd { .. }) {
            return Ok(ended);
        }
    }
}

/// Tells what happens: all of it as JSON, or what a person at a terminal wants to know meanwhile.
struct Show<'a> {
    mode: Mode,
    /// Whether somebody looks at standard error.
    tells: bool,
    cwd: &'a Path,
    out: &'a mut dyn Write,
}

impl Show<'_> {
    fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        if self.mode == Mode::Json {
            raw_json(self.out, &event.to_json())?;
            self.out.write_all(b"\n")?;
            return self.out.flush();
        }
        if (self.tells || is_trouble(event))
            && let Some(line) = self.line(event)
        {
            failure::note(&line);
        }
        Ok(())
    }

    fn line(&self, event: &AgentEvent) -> Option<String> {
        Some(match event {
            AgentEvent::ToolExecutionStart { tool_name, args, .. } => {
                let what = called_on(tool_name, args, &self.cwd.to_string_lossy());
                clean::one_line(&format!("[{tool_name}] {what}"), 200)
            }
            AgentEvent::ToolExecutionEnd { tool_name, is_error: true, .. } => {
                format!("[{tool_name}] failed")
            }
            AgentEvent::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
                let seconds = Duration::from_millis(*delay_ms).as_secs_f64();
                format!("{error_message}; asking again in {seconds:.0} s ({attempt} of {max_attempts})")
            }
            AgentEvent::CompactionStart { .. } => "The conversation is made shorter …".to_owned(),
            AgentEvent::CompactionEnd { error_message: Some(error), .. } => {
                format!("The conversation could not be made shorter: {error}")
            }
            AgentEvent::HookError { hook, event, error } => format!("{hook}, {event}: {error}"),
            _ => return None,
        })
    }
}

/// Whether it is told also where nobody looks: silence for seconds would be a riddle in any log.
fn is_trouble(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::AutoRetryStart { .. }
            | AgentEvent::HookError { .. }
            | AgentEvent::CompactionEnd { error_message: Some(_), .. }
    )
}
