//! What goes wrong, as a sentence and what to do about it.

use std::fmt;
use std::process::ExitCode;
use std::sync::{Mutex, Once, PoisonError};

use ramal_agent::AgentError;
use ramal_session::{AppendError, CopyError, NavigateError, OpenError, ReadOnly, SessionManager};

use crate::view::clean;
use crate::view::style::{ColorChoice, Palette, Role};
use crate::view::terminal;

/// How a command ended, as its exit status says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// 0: done.
    Done,
    /// 1: what was asked for is not there or is damaged.
    NotThere,
    /// 2: the command was used wrongly.
    WrongUse,
    /// 128 and the number of the signal by which it was ended.
    Signalled(i32),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Done => 0,
            Status::NotThere => 1,
            Status::WrongUse => 2,
            Status::Signalled(signal) => u8::try_from(128 + signal).unwrap_or(1),
        })
    }
}

/// An error in words, with hints. The words may hold foreign text as it is: it is made harmless where
/// it is printed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    message: String,
    hints: Vec<String>,
    status: Status,
}

impl Failure {
    /// Something that is not there, or cannot be done as things are: status 1.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hints: Vec::new(), status: Status::NotThere }
    }

    /// A wrong use of the command line: status 2.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { status: Status::WrongUse, ..Failure::new(message) }
    }

    /// Adds a line that says what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Tells an error on standard error, and what the exit status is then. A reader of our output that has
/// gone is not an error.
pub(crate) fn report(error: &anyhow::Error, color: ColorChoice) -> Status {
    if terminal::is_broken_pipe(error) {
        return Status::Done;
    }
    let palette = Palette::for_stderr(color);
    eprint_line(palette, "error", &whole_message(error));
    let failure = error.chain().find_map(|cause| cause.downcast_ref::<Failure>());
    for hint in failure.map(|failure| &*failure.hints).unwrap_or_default() {
        eprint_line(palette, "hint", hint);
    }
    if let Some(hint) = error.chain().find_map(hint_for) {
        eprint_line(palette, "hint", hint);
    }
    failure.map_or(Status::NotThere, |failure| failure.status)
}

/// Tells something on standard error that is worth knowing but stops nothing.
pub(crate) fn warn(message: &str) {
    eprint_line(Palette::for_stderr(ColorChoice::Auto), "warning", message);
}

/// Says once, after something was appended, that the file system has no locks (contract, section 11).
pub(crate) fn warn_without_locks(session: &SessionManager) {
    static SAID: Once = Once::new();
    if session.has_locks() {
        return;
    }
    SAID.call_once(|| {
        let file = session.get_session_file().map(|path| path.display().to_string()).unwrap_or_default();
        warn(&format!(
            "{file}: the file system has no locks; each entry is written in one piece, but does not wait for \
             other programs that write at the same moment"
        ));
    });
}

/// Says something on standard error beside the output: where one is now, what was left out.
pub(crate) fn note(message: &str) {
    write_stderr(format_args!("{}\n", line(message)));
}

/// Says a text of several lines on standard error.
pub(crate) fn note_text(text: &str) {
    for line in clean::lines(text) {
        write_stderr(format_args!("{line}\n"));
    }
}

/// Tells a wrong use in the words of the parser of the command line, which may quote what was typed.
pub(crate) fn usage_text(text: &str) {
    note_text(text);
}

/// What the error says, and each cause that it does not quote itself.
fn whole_message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    // Errors of files come with the file's name; the one without is of the output.
    if error.downcast_ref::<std::io::Error>().is_some() {
        message = format!("cannot write the output: {message}");
    }
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.contains(&cause) {
            message += ": ";
            message += &cause;
        }
    }
    message
}

fn eprint_line(palette: Palette, what: &str, message: &str) {
    let role = match what {
        "error" => Role::Error,
        _ => Role::Heading,
    };
    write_stderr(format_args!("{} {}\n", palette.paint(role, &format!("{what}:")), line(message)));
}

/// Long enough for every path, and an end to what a file can make us say.
const LONGEST_LINE: usize = 4096;

fn line(message: &str) -> String {
    clean::one_line(message, LONGEST_LINE)
}

/// Where messages go while the screen is not for lines of standard error.
type Listener = dyn Fn(String) + Send;

static LISTENER: Mutex<Option<Box<Listener>>> = Mutex::new(None);

/// From now on messages go to `listener` in place of standard error.
pub(crate) fn divert(listener: impl Fn(String) + Send + 'static) {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(listener));
}

/// Messages go to standard error again.
pub(crate) fn divert_no_more() {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Nobody can be told that standard error does not work.
fn write_stderr(text: fmt::Arguments<'_>) {
    use std::io::Write as _;
    if let Some(listener) = &*LISTENER.lock().unwrap_or_else(PoisonError::into_inner) {
        return listener(text.to_string().trim_end().to_owned());
    }
    // In one piece: standard error has no buffer of its own.
    let _ = std::io::stderr().write_all(text.to_string().as_bytes());
}

/// What to do about an error of the library.
fn hint_for(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<OpenError>() {
        return match error {
            OpenError::NoPlace => Some("set HOME or XDG_DATA_HOME, or name a folder with --session-dir"),
            OpenError::NotASession { .. } => Some("`ramal ls --all` lists the sessions there are"),
            OpenError::UnknownFormat { .. } => Some("a newer ramal may read it; the file was not touched"),
            OpenError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Some("`ramal ls --all` lists the sessions there are")
            }
            _ => None,
        };
    }
    if let Some(AgentError::UnusableModel { .. }) = error.downcast_ref() {
        return Some("`ramal models` lists those that can be used; name one with --model");
    }
    if let Some(CopyError::NotAUserMessage { .. }) = error.downcast_ref() {
        return Some("`ramal tree --filter user-only` shows the user messages");
    }
    if let Some(NavigateError::NoSuchEntry(_)) = error.downcast_ref() {
        return Some("`ramal tree --filter all` shows every entry");
    }
    match error.downcast_ref::<AppendError>()? {
        AppendError::ReadOnly { why: ReadOnly::NewerVersion(_), .. } => {
            Some("`ramal fork` makes a copy that takes entries")
        }
        AppendError::Locked { .. } => Some("try again when the other program is done"),
        AppendError::CutShort { .. } | AppendError::Replaced { .. } => {
            Some("`ramal check` says what the file holds now")
        }
        _ => None,
    }
}
