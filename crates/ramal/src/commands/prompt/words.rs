//! What is said with `ramal -p`: the text of the command line, and standard input.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::mpsc;
use std::time::Duration;

use ramal_agent::Prompt;

use crate::failure::{self, Failure};
use crate::view::human;

/// Bytes of standard input that are said; more is no prompt for any model.
const LONGEST_INPUT: u64 = 16 << 20;

/// How long standard input is waited for before that is said.
const QUIET: Duration = Duration::from_secs(2);

/// What is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// All of it.
    pub(crate) prompt: Prompt,
    /// What the user typed of it.
    typed: String,
}

impl Said {
    /// A text.
    pub(crate) fn text(text: &str) -> Said {
        Said { prompt: Prompt::text(text), typed: text.to_owned() }
    }

    /// By what the conversation can be named: what was typed rather than what was sent along.
    pub(super) fn about(&self) -> &str {
        if self.typed.is_empty() { &self.prompt.text } else { &self.typed }
    }
}

/// What is to be said: the text, and behind it what comes on standard input.
///
/// # Errors
/// If standard input cannot be read, or there is nothing to say.
pub(super) fn said(text: Option<&str>) -> anyhow::Result<Said> {
    let mut said = Said::text(text.unwrap_or_default().trim());
    if !io::stdin().is_terminal() {
        said.prompt.add(&standard_input()?);
    }
    if said.prompt.text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to say")
            .hint("write it behind -p, in quotes, or send it on standard input")
            .into());
    }
    Ok(said)
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
