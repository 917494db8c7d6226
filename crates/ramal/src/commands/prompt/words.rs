//! What is said with `ramal -p`: words of the command line, files that they name, standard input.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use ramal_agent::Prompt;
use ramal_agent::shell::ShellCommand;
use ramal_agent::tools::paths;

use crate::failure::{self, Failure};
use crate::view::human;

/// Bytes of standard input that are said; more is no prompt for any model.
const LONGEST_INPUT: u64 = 16 << 20;

/// How long standard input is waited for before that is said.
const QUIET: Duration = Duration::from_secs(2);

/// The command that the words are, `!command` or `!!command`. Standard input never is one: it may come
/// from anybody.
pub(super) fn shell_command(words: &[&str]) -> Option<ShellCommand> {
    ShellCommand::parse(&words.join(" ")).filter(|_| !words.iter().any(|word| is_file(word)))
}

/// What is to be said: the files that are named, the words, and behind them what comes on standard input.
///
/// # Errors
/// If a file cannot be said, or there is nothing to say.
pub(super) fn said(words: &[&str], here: &Path) -> anyhow::Result<Prompt> {
    let (files, typed): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| is_file(word));
    let typed = typed.join(" ").trim().to_owned();
    let mut said = Prompt::default();
    for file in files {
        attach(&mut said, file, here)?;
    }
    said.add(&typed);
    if !io::stdin().is_terminal() {
        said.add(&standard_input()?);
    }
    if said.text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to say")
            .hint("write it behind -p, in quotes, or send it on standard input")
            .into());
    }
    said.typed = Some(typed).filter(|typed| !typed.is_empty());
    Ok(said)
}

/// Whether a word names a file: `@` and a path. A sentence that begins so is one only if the file is there.
fn is_file(word: &str) -> bool {
    word.strip_prefix('@').is_some_and(|name| {
        let is_there = || paths::resolve(name, Path::new("")).exists();
        !name.is_empty() && (!name.contains(char::is_whitespace) || is_there())
    })
}

fn attach(prompt: &mut Prompt, word: &str, here: &Path) -> anyhow::Result<()> {
    let path = paths::resolve(word.strip_prefix('@').unwrap_or(word), here);
    prompt.attach(&path).map_err(|error| {
        let hint = "`@` in front of a word says the file of that name; in a longer text, in quotes, it is only a sign";
        Failure::new(error.to_string()).hint(hint).into()
    })
}

fn standard_input() -> anyhow::Result<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = io::stdin().take(LONGEST_INPUT + 1).read_to_end(&mut bytes);
        // Nobody waits any more if the program ends.
        let _ = sender.send(read.map(|_| bytes));
    });
    let read = match receiver.recv_timeout(QUIET) {
        Err(mpsc::RecvTimeoutError::Timeout) => {
            failure::note("Waiting for the end of standard input (with </dev/null there is none)");
            receiver.recv().ok()
        }
        read => read.ok(),
    };
    let bytes = match read {
        Some(Ok(bytes)) => bytes,
        Some(Err(error)) => {
            return Err(Failure::new(format!("standard input cannot be read: {error}")).into());
        }
        None => Vec::new(),
    };
    if bytes.len() as u64 > LONGEST_INPUT {
        let most = human::count(LONGEST_INPUT);
        return Err(Failure::new(format!("standard input is longer than {most} bytes"))
            .hint("write it into a file, and let the model read the part that matters")
            .into());
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::new("standard input is no text in UTF-8; nothing was said"))?;
    Ok(text.trim_end().to_owned())
}
