//! The command line: which commands there are, and what holds for all of them.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use ramal_session::library::Places;

use crate::chat;
use crate::commands;
use crate::failure::{self, Failure, Status};
use crate::settings;
use crate::view::style::{ColorChoice, Palette};
use crate::view::terminal;

/// Conversations with coding agents as trees.
///
/// A session is an append-only log, and a tree: going back to an earlier entry and saying something
/// else makes a branch, and nothing is lost. ramal reads and continues the sessions of pi and
/// oh-my-pi where they lie, beside its own.
#[derive(Debug, Parser)]
#[command(
    name = "ramal",
    version,
    override_usage = "ramal [OPTIONS] [COMMAND]\n       ramal [OPTIONS] -p [TEXT | @FILE]...",
    after_help = "\
SESSION is a path, the beginning of a session id, a session's name, or nothing for the most recent \
session of this directory. ENTRY is an id or the beginning of one, a label, `leaf`, `root`, and any of \
these with `~n` for its nth ancestor.

Exit status: 0 done, 1 what was asked for is not there or is damaged, or the model failed, 2 wrong use, \
130 ended by Ctrl+C."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(flatten)]
    prompt: commands::prompt::Args,
    /// Write the session IN to the file OUT and end, as `ramal export` does
    #[arg(long, num_args = 1..=2, value_names = ["IN", "OUT"])]
    export: Vec<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What may stand with every command.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Globals {
    /// When to colour the output
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: ColorChoice,
    /// Where sessions are looked for and made, in place of the usual folders
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) session_dir: Option<PathBuf>,
}

impl Globals {
    /// The colours of standard output.
    pub(crate) fn palette(&self) -> Palette {
        Palette::for_stdout(self.color)
    }

    /// Where sessions are looked for.
    pub(crate) fn places(&self) -> Places {
        match &self.session_dir {
            Some(folder) => Places::own(folder),
            None => Places::from_environment(),
        }
    }

    /// The columns of standard output.
    pub(crate) fn columns(&self) -> usize {
        terminal::columns()
    }
}

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
enum Command {
    Tree(commands::tree::Args),
    Log(commands::log::Args),
    Show(commands::show::Args),
    Context(commands::context::Args),
    Go(commands::go::Args),
    Label(commands::label::Args),
    Labels(commands::labels::Args),
    Branch(commands::branch::BranchArgs),
    Clone(commands::branch::CloneArgs),
    Fork(commands::branch::ForkArgs),
    Diff(commands::diff::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Ls(commands::ls::Args),
    Check(commands::check::Args),
    Models(commands::models::Args),
    Extensions(commands::extensions::Args),
    Demo(commands::demo::Args),
    Rpc(commands::rpc::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(&self, out: &mut dyn Write) -> anyhow::Result<Status> {
        let mut globals = self.globals.clone();
        if globals.session_dir.is_none() {
            globals.session_dir = settings::session_dir();
        }
        let globals = &globals;
        if !self.export.is_empty() {
            if self.command.is_some() || !self.prompt.is_empty() {
                return Err(Failure::usage("with --export nothing else is done").into());
            }
            return commands::export::run_option(&self.export, globals, out);
        }
        let Some(command) = &self.command else {
            return match &self.prompt {
                prompt if prompt.is_rpc() && prompt.is_wanted() => {
                    Err(Failure::usage("with --mode rpc a client says what is said, not -p").into())
                }
                prompt if prompt.is_rpc() => commands::rpc::serve(&prompt.which, &prompt.work, globals),
                prompt if prompt.is_wanted() => commands::prompt::run(prompt, globals, out),
                // Where there is no terminal, whoever asks for nothing wants to know what there is.
                prompt if prompt.is_empty() && !terminal::is_both_ways() => commands::help(out),
                prompt if prompt.mode_is_given() => {
                    Err(Failure::usage("--mode says how an answer is printed, and nothing is said with -p")
                        .into())
                }
                prompt => chat::run(&prompt.which, &prompt.work, globals),
            };
        };
        if !self.prompt.is_empty() {
            return Err(Failure::usage("what is said to a model with -p has no other command beside it")
                .hint(
                    "options of a command stand behind its name; a TEXT that is the name of a command stands right behind -p",
                )
                .into());
        }
        match command {
            Command::Tree(args) => commands::tree::run(args, globals, out),
            Command::Log(args) => commands::log::run(args, globals, out),
            Command::Show(args) => commands::show::run(args, globals, out),
            Command::Context(args) => commands::context::run(args, globals, out),
            Command::Go(args) => commands::go::run(args, globals, out),
            Command::Label(args) => commands::label::run(args, globals, out),
            Command::Labels(args) => commands::labels::run(args, globals, out),
            Command::Branch(args) => commands::branch::run_branch(args, globals, out),
            Command::Clone(args) => commands::branch::run_clone(args, globals, out),
            Command::Fork(args) => commands::branch::run_fork(args, globals, out),
            Command::Diff(args) => commands::diff::run(args, globals, out),
            Command::Export(args) => commands::export::run(args, globals, out),
            Command::Import(args) => commands::import::run(args, globals, out),
            Command::Ls(args) => commands::ls::run(args, globals, out),
            Command::Check(args) => commands::check::run(args, globals, out),
            Command::Models(args) => commands::models::run(args, globals, out),
            Command::Extensions(args) => commands::extensions::run(args, globals, out),
            Command::Demo(args) => commands::demo::run(args, out),
            Command::Rpc(args) => commands::rpc::run(args, globals),
            Command::Completions(args) => commands::completions::run(args, out),
            Command::Man(args) => commands::man::run(args, out),
        }
    }
}

/// The command line of `ramal -p`, where words may stand anywhere: there are no commands on it, so that no
/// mistyped one is taken for something to say unless `-p` is there.
#[derive(Debug, Parser)]
#[command(name = "ramal", disable_help_subcommand = true)]
struct Saying {
    #[command(flatten)]
    globals: Globals,
    #[command(flatten)]
    prompt: commands::prompt::Args,
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
}

/// Reads the command line. Help and version are printed at once, and so is a wrong use; the status to
/// end with is the error then.
pub(crate) fn parse() -> Result<Cli, Status> {
    read(with_dashes_said(std::env::args_os())).map_err(|error| {
        if !error.use_stderr() {
            // If nobody reads the help, nobody needs to know.
            let _ = error.print();
            return Status::Done;
        }
        failure::usage_text(&error.render().to_string());
        let is_unknown = error.kind() == ErrorKind::InvalidSubcommand;
        if is_unknown && error.get(ContextKind::SuggestedSubcommand).is_none() {
            failure::note("hint: `ramal -p \"TEXT\"` says something to a model");
        }
        Status::WrongUse
    })
}

/// The same, of these arguments. An option that there is not may be a flag that an extension takes: whether one
/// does is known when extensions are loaded.
fn read(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let parsed = Cli::try_parse_from(&arguments);
    let parsed = parsed.or_else(|error| saying(&error, &arguments).ok_or(error));
    let error = match parsed {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let Some(more) = with_flag(&error, &arguments) else { return Err(error) };
    // A command that knows no flags either is told of the option that was typed.
    read(more).map_err(|later| if unknown(&later) == Some("--flag") { error } else { later })
}

/// The option that is wrong with a command line, if it is one that there is not.
fn unknown(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(name) if error.kind() == ErrorKind::UnknownArgument => Some(name),
        _ => None,
    }
}

/// The arguments with an option that there is not as a flag. One that is much like another is a mistake.
fn with_flag(error: &clap::Error, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let name = unknown(error).filter(|name| name.starts_with("--") && *name != "--flag")?;
    if error.get(ContextKind::SuggestedArg).is_some() {
        return None;
    }
    let bare = name.split('=').next().unwrap_or(name);
    let is_it = |argument: &OsString| {
        let text = argument.to_str().unwrap_or_default();
        text == bare || text.strip_prefix(bare).is_some_and(|rest| rest.starts_with('='))
    };
    let at = arguments.iter().position(is_it)?;
    let flag = arguments.get(at)?.to_str()?.trim_start_matches('-').to_owned();
    let mut more = arguments.to_vec();
    more.splice(at..=at, ["--flag".into(), flag.into()]);
    Some(more)
}

/// The command line as one of `ramal -p`, if what is wrong with it may be a word that stands elsewhere than
/// right behind `-p`.
fn saying(error: &clap::Error, arguments: &[OsString]) -> Option<Cli> {
    if !matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument) {
        return None;
    }
    let matches = Saying::command().try_get_matches_from(arguments).ok()?;
    let Saying { globals, prompt, words } = Saying::from_arg_matches(&matches).ok()?;
    // With a command's name in front it is a command with something wrong behind it.
    let command = Cli::command();
    let names_command = |word: &String| word == "help" || command.find_subcommand(word).is_some();
    if !prompt.is_wanted() || words.first().is_some_and(names_command) {
        return None;
    }
    let prompt = prompt.with_words(in_order(&matches, words));
    Some(Cli { globals, prompt, export: Vec::new(), command: None })
}

/// The words as they stand on the command line, with that behind `-p` in its place.
fn in_order(matches: &ArgMatches, words: Vec<String>) -> Vec<String> {
    let mut placed: Vec<(usize, String)> =
        matches.indices_of("words").into_iter().flatten().zip(words).collect();
    let print = matches.try_get_one::<String>("print").ok().flatten();
    if let (Some(place), Some(text)) = (matches.index_of("print"), print) {
        placed.push((place, text.clone()));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, word)| word).collect()
}

/// The arguments, where a text with a dash in front that stands right behind `-p` is tied to it: options
/// have no white space in them.
fn with_dashes_said(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut tied: Vec<OsString> = Vec::new();
    for argument in arguments {
        match tied.last_mut().filter(|last| is_print(last) && is_text_with_dash(&argument)) {
            Some(print) => {
                print.push("=");
                print.push(argument);
            }
            None => tied.push(argument),
        }
    }
    tied
}

fn is_print(argument: &OsString) -> bool {
    ["-p", "-cp", "--print"].iter().any(|print| argument == print)
}

fn is_text_with_dash(argument: &OsString) -> bool {
    let Some(text) = argument.to_str().filter(|text| text.starts_with('-')) else { return false };
    text.find(char::is_whitespace).is_some_and(|end| !text.get(..end).unwrap_or_default().contains('='))
}

/// The description of the whole command line, for completions and the manual.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}
