//! `ramal` alone: the conversation in the terminal (contract, section 10).

mod asks;
mod drafts;
mod host;
mod outside;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use ramal_session::NameSource;
use ramal_tui::app::{self, Left, Look, Messages, Start};
use ramal_tui::images::Protocol;
use ramal_tui::markdown::SyntectHighlighter;
use ramal_tui::terminal::{Options as TerminalOptions, Terminal};
use ramal_tui::text::human;
use ramal_tui::theme::{Background, ColorDepth};

use self::asks::AskScreen;
use self::host::ProgramHost;
use crate::choose;
use crate::cli::Globals;
use crate::commands::which::Which;
use crate::failure::{self, Failure, Status};
use crate::models::Models;
use crate::view::style::ColorChoice;
use crate::view::terminal;
use crate::work::WorkOptions;
use crate::workshop::{Company, Workshop};

/// How long a hook may take before the work goes on without it.
const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// Talks in the terminal until somebody leaves.
///
/// # Errors
/// If this is no terminal, there is no such session, or what the options name cannot be had.
pub(crate) fn run(which: &Which, work: &WorkOptions, globals: &Globals) -> anyhow::Result<Status> {
    let cwd = std::env::current_dir().context("the working directory cannot be told")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("no threads can be started")?;
    let opened = which.open_or_resume(globals)?;
    let channel = Messages::default();
    let models = Arc::new(Models::default());
    let company =
        Company { asks: Arc::new(AskScreen(channel.asker())), hooks: Vec::new(), hook_limit: HOOK_LIMIT };
    // Nothing is written, nor the screen touched, before it is known that nothing that was asked for is missing.
    let workshop = Arc::new(Workshop::new(work, cwd.clone(), Arc::clone(&models), company)?);
    let mut session = opened.begin()?;
    if let Some(name) = which.name() {
        session.set_session_name(name, NameSource::User)?;
    }
    let agent = workshop.put_to_work(session)?;
    let (keymap, wrong_key) = choose::keymap();
    let terminal = Terminal::start(&TerminalOptions::default()).map_err(no_terminal)?;
    let depth = match globals.color {
        ColorChoice::Never => ColorDepth::None,
        _ => ColorDepth::from_environment(|name| std::env::var(name).ok()),
    };
    let background =
        Background::choose(terminal.answers().background, std::env::var("COLORFGBG").ok().as_deref());
    let host = Arc::new(ProgramHost::new(models, workshop, globals, depth));
    let wishes = app::Host::wishes(&*host, &agent.cwd());
    let (theme, problems) = app::Host::theme(&*host, &wishes.theme, background);
    let asker = channel.asker();
    failure::divert(move |message| asker.notice(message));
    let start = Start {
        agent,
        host,
        runtime: runtime.handle().clone(),
        look: Look {
            theme,
            depth,
            keymap,
            zone: human::local_zone(),
            highlighter: Arc::new(SyntectHighlighter::default()),
        },
        said: None,
        notices: wrong_key.into_iter().chain(problems).collect(),
        home: std::env::home_dir(),
        user_cwd: cwd,
        graphics: Protocol::from_environment(|name| std::env::var(name).ok()),
        opens_sessions: which.wants_selector(),
        size: terminal::size(),
        background,
        channel,
    };
    let session = start.agent.clone();
    let left = app::run(terminal, start).context("the terminal cannot be used any more");
    failure::divert_no_more();
    if let Some(id) = session.with_session(|session| {
        (session.is_on_disk() && session.message_count() > 0).then(|| session.get_session_id().to_owned())
    }) {
        failure::note(&format!("`ramal --session {id}` goes on with this session"));
    }
    // What is left on it is nobody's any more: a title that is looked up, say.
    runtime.shutdown_background();
    match left? {
        Left::Wanted => Ok(Status::Done),
        Left::Signal(signal) => Ok(Status::Signalled(signal)),
    }
}

fn no_terminal(error: ramal_tui::terminal::StartError) -> Failure {
    Failure::usage(error.to_string())
        .hint("`ramal -p \"TEXT\"` says something without one; `ramal --help` shows all commands")
}
