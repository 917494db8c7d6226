//! `ramal` alone: the conversation in the terminal (contract, section 10).

mod asks;
mod drafts;
mod extensions;
mod host;
mod outside;
mod ui;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use ramal_agent::AgentSession;
use ramal_extension::Mode;
use ramal_session::{LogTail, NameSource};
use ramal_tui::app::{self, Asker, Door, Doorway, Finder, Left, Look, Messages, Opening, Start, Waited};
use ramal_tui::images::Protocol;
use ramal_tui::markdown::SyntectHighlighter;
use ramal_tui::terminal::{Options as TerminalOptions, StartError, Terminal};
use ramal_tui::text::human;
use ramal_tui::theme::{Background, ColorDepth};
use ramal_tui::transcript::Rendered;
use tokio::runtime::Runtime;

use self::asks::AskScreen;
use self::extensions::Around;
use self::host::ProgramHost;
use self::ui::Screen;
use crate::cli::Globals;
use crate::commands::which::Which;
use crate::extensions::Crew;
use crate::failure::{self, Failure, Status};
use crate::models::Models;
use crate::view::style::ColorChoice;
use crate::view::terminal;
use crate::work::{HOOK_LIMIT, WorkOptions};
use crate::workshop::{Company, Workshop};
use crate::{choose, remembered, settings, themes};

/// From this size on a log is looked at from its end while it is opened: reading all of it is seen to take
/// its time.
const LONG: u64 = 4 << 20;

/// Bytes at the end of a log that are read for a first look.
const TAIL: u64 = 1 << 20;

/// Talks in the terminal until somebody leaves.
///
/// # Errors
/// If this is no terminal, there is no such session, or what the options name cannot be had.
pub(crate) fn run(which: &Which, work: &WorkOptions, globals: &Globals) -> anyhow::Result<Status> {
    if !terminal::is_both_ways() {
        return Err(no_terminal(StartError::NotATerminal).into());
    }
    let cwd = std::env::current_dir().context("the working directory cannot be told")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("no threads can be started")?;
    // What is told from here on waits until there is somebody to be told.
    let early = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&early);
    failure::divert(move |message| told.lock().unwrap_or_else(PoisonError::into_inner).push(message));
    let said = |early: &Mutex<Vec<String>>| {
        std::mem::take(&mut *early.lock().unwrap_or_else(PoisonError::into_inner))
    };
    let result = talk(which, work, globals, cwd, &runtime, |asker| {
        failure::divert(move |message| asker.notice(message));
        said(&early)
    });
    failure::divert_no_more();
    said(&early).iter().for_each(|message| failure::note(message));
    // What is left on it is nobody's any more: a title that is looked up, say.
    runtime.shutdown_background();
    match result? {
        Left::Wanted => Ok(Status::Done),
        Left::Signal(signal) => Ok(Status::Signalled(signal)),
    }
}

/// The same. `is_there` is told whom messages are for once that is known, and answers those that came before.
fn talk(
    which: &Which,
    work: &WorkOptions,
    globals: &Globals,
    cwd: PathBuf,
    runtime: &Runtime,
    is_there: impl FnOnce(Asker) -> Vec<String>,
) -> anyhow::Result<Left> {
    let channel = Messages::default();
    let asker = channel.asker();
    let models = Arc::new(Models::default());
    let opening = {
        let (which, work, globals) = (which.clone(), work.clone(), globals.clone());
        let (cwd, models, asker) = (cwd.clone(), Arc::clone(&models), channel.asker());
        Opening::begin(&channel, move |finder| open(&which, &work, &globals, cwd, models, asker, finder))
    };
    let opening = opening.context("no thread can be started")?;
    let (keymap, wrong_key) = choose::keymap();
    let terminal = Terminal::start(&TerminalOptions::default()).map_err(no_terminal)?;
    let depth = match globals.color {
        ColorChoice::Never => ColorDepth::None,
        _ => ColorDepth::from_environment(|name| std::env::var(name).ok()),
    };
    let background =
        Background::choose(terminal.answers().background, std::env::var("COLORFGBG").ok().as_deref());
    // What is wrong with them is told when the session is made ready.
    let (settings, _) = settings::load(&cwd);
    let (theme, _) = themes::load(&settings.screen.theme, background, depth, &[]);
    let look = Look {
        theme,
        depth,
        keymap,
        zone: human::local_zone(),
        highlighter: Arc::new(SyntectHighlighter::default()),
        rendered: Rendered::default(),
    };
    let user_cwd = cwd.clone();
    let doorway = Doorway {
        look,
        background,
        size: terminal::size(),
        greets: !settings.screen.quiet_startup,
        hides_thinking: settings.screen.hide_thinking,
        cwd,
        home: std::env::home_dir(),
        channel,
    };
    let mut door = Door::new(terminal, doorway).context(TERMINAL)?;
    let (agent, workshop, crew) = match door.wait(opening).context(TERMINAL)? {
        Waited::Opened(Ok(opened)) => opened,
        Waited::Opened(Err(error)) => {
            door.leave().context(TERMINAL)?;
            return Err(error);
        }
        Waited::Left(left) => {
            door.leave().context(TERMINAL)?;
            return Ok(left);
        }
    };
    // From now on what is typed waits for the extensions; they are loaded beside the first frame.
    crew.set_front(Arc::new(Screen(asker.clone())));
    crew.will_begin();
    let extensions = Arc::new(Around { crew, agent: agent.clone(), workshop: Arc::clone(&workshop) });
    let host = Arc::new(ProgramHost::new(models, workshop, globals, depth));
    let notices = is_there(asker).into_iter().chain(wrong_key).collect();
    let session = agent.clone();
    let start = Start {
        agent,
        host,
        runtime: runtime.handle().clone(),
        said: None,
        notices,
        user_cwd,
        graphics: Protocol::from_environment(|name| std::env::var(name).ok()),
        opens_sessions: which.wants_selector(),
        extensions,
    };
    let left = app::run(door, start).context(TERMINAL)?;
    if let Some(id) = session.with_session(|session| {
        (session.is_on_disk() && session.message_count() > 0).then(|| session.get_session_id().to_owned())
    }) {
        failure::note(&format!("`ramal --session {id}` goes on with this session"));
    }
    Ok(left)
}

/// What is said when nothing can be read from it, or written to it.
const TERMINAL: &str = "the terminal cannot be used any more";

/// Opens the session and makes it ready for work. Nothing is written before it is known that nothing that was
/// asked for is missing.
fn open(
    which: &Which,
    work: &WorkOptions,
    globals: &Globals,
    cwd: PathBuf,
    models: Arc<Models>,
    asker: Asker,
    finder: &Finder,
) -> anyhow::Result<(AgentSession, Arc<Workshop>, Arc<Crew>)> {
    let opened = which.open_or_resume(globals, &|path| {
        let is_long = std::fs::metadata(path).is_ok_and(|file| file.len() >= LONG);
        let path = path.to_owned();
        finder.found(is_long, move || {
            // Why it cannot be read is told where all of it is.
            let mut tail = LogTail::open(&path, TAIL).ok()??;
            remembered::recall_in_tail(&mut tail, &path);
            Some(tail)
        });
    })?;
    let crew = Crew::new(work, Mode::Tui, Arc::clone(&models));
    let asks = Arc::new(AskScreen(asker));
    let company = Company { asks, hooks: Vec::new(), hook_limit: HOOK_LIMIT, crew: Arc::clone(&crew) };
    let workshop = Arc::new(Workshop::new(work, cwd, models, company)?);
    let mut session = opened.begin()?;
    if let Some(name) = which.name() {
        session.set_session_name(name, NameSource::User)?;
    }
    let agent = workshop.put_to_work(session)?;
    // What is found out about the path is kept: here nobody waits for it. What cannot be read is told later.
    let _ = agent.model_choice();
    Ok((agent, workshop, crew))
}

fn no_terminal(error: StartError) -> Failure {
    Failure::usage(error.to_string())
        .hint("`ramal -p \"TEXT\"` says something without one; `ramal --help` shows all commands")
}
