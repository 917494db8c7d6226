//! Commands that the user runs: `!command`, and `!!command` of which the model learns nothing.

use std::path::Path;
use std::time::Duration;

use ramal_session::json::{self, quote};
use tokio_util::sync::CancellationToken;

use crate::tools::process::{self, End, Order};

/// A command of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    /// The command.
    pub command: String,
    /// The model does not see it, nor what came of it.
    pub exclude_from_context: bool,
}

impl ShellCommand {
    /// Reads `!command` or `!!command`; none if the text is neither.
    pub fn parse(text: &str) -> Option<ShellCommand> {
        let rest = text.trim_start().strip_prefix('!')?;
        let (rest, exclude_from_context) = rest.strip_prefix('!').map_or((rest, false), |rest| (rest, true));
        let command = rest.trim();
        let is_command = !command.is_empty() && !command.starts_with('!');
        is_command.then(|| ShellCommand { command: command.to_owned(), exclude_from_context })
    }
}

/// With what a command is run.
pub struct Surroundings<'a> {
    /// The working directory.
    pub cwd: &'a Path,
    /// The folder in which an output that is too long is kept whole.
    pub overflow: Option<&'a Path>,
    /// Cancelled when the user aborts.
    pub abort: CancellationToken,
    /// The longest that it may run, if there is a limit.
    pub timeout: Option<Duration>,
    /// Takes the output so far while the command runs.
    pub update: &'a (dyn Fn(String) + Send + Sync),
}

/// Runs a command of the user's, and answers what is stored of it: a `bashExecution` message as JSON
/// text, with the time `now` gives when it is over.
///
/// A command that cannot be started is stored too, with exit code 127 as a shell would answer and the
/// reason as its output. `exitCode` is missing where the command was ended before it had one.
pub async fn run(shell: &ShellCommand, with: &Surroundings<'_>, now: impl FnOnce() -> i64) -> String {
    let order = Order {
        command: &shell.command,
        cwd: with.cwd,
        timeout: with.timeout,
        overflow: with.overflow,
        abort: &with.abort,
        update: with.update,
    };
    let mut message = Message { command: &shell.command, ..Message::default() };
    match process::run(&order).await {
        Err(error) => {
            message.output = error;
            message.exit_code = Some(127);
        }
        Ok(outcome) => {
            message.output = outcome.output.piece().text.trim_end_matches('\n').to_owned();
            message.truncated = outcome.output.is_cut();
            message.path =
                outcome.output.path().filter(|_| message.truncated).map(|path| path.display().to_string());
            match outcome.end {
                End::Exit(code) => message.exit_code = Some(code),
                // As a shell counts it.
                End::Signal(signal) => message.exit_code = Some(128_i32.saturating_add(signal)),
                End::TimedOut | End::Aborted => message.cancelled = true,
            }
        }
    }
    message.excluded = shell.exclude_from_context;
    message.json(now())
}

/// What is stored where somebody else ran a command of the user's, or answered in its place: `result` is a JSON
/// object with `output`, `exitCode`, `cancelled`, `truncated` and `fullOutputPath`, each of which may be missing.
pub fn ran_elsewhere(shell: &ShellCommand, result: &str, now: i64) -> String {
    let result = result.as_bytes();
    let is = |key: &str| json::get(result, key).is_some_and(|value| value == b"true");
    let code = json::get(result, "exitCode").and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
    let message = Message {
        command: &shell.command,
        output: json::get_str(result, "output").map(|output| output.into_owned()).unwrap_or_default(),
        exit_code: code,
        cancelled: is("cancelled"),
        truncated: is("truncated"),
        path: json::get_str(result, "fullOutputPath").map(|path| path.into_owned()),
        excluded: shell.exclude_from_context,
    };
    message.json(now)
}

#[derive(Default)]
struct Message<'a> {
    command: &'a str,
    output: String,
    exit_code: Option<i32>,
    cancelled: bool,
    truncated: bool,
    path: Option<String>,
    excluded: bool,
}

impl Message<'_> {
    fn json(&self, timestamp: i64) -> String {
        let mut json = format!(
            "{{\"role\":\"bashExecution\",\"command\":{},\"output\":{}",
            quote(self.command),
            quote(&self.output)
        );
        if let Some(code) = self.exit_code {
            json += &format!(",\"exitCode\":{code}");
        }
        json += &format!(",\"cancelled\":{},\"truncated\":{}", self.cancelled, self.truncated);
        if let Some(path) = &self.path {
            json += &format!(",\"fullOutputPath\":{}", quote(path));
        }
        json += &format!(",\"timestamp\":{timestamp}");
        if self.excluded {
            json += ",\"excludeFromContext\":true";
        }
        json + "}"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_begin_with_a_mark() {
        let parse = |text| ShellCommand::parse(text).map(|shell| (shell.command, shell.exclude_from_context));
        assert_eq!(parse("!ls -l "), Some(("ls -l".to_owned(), false)));
        assert_eq!(parse(" !! ls\nx"), Some(("ls\nx".to_owned(), true)));
        for text in ["", "!", "!!", "!!!", "! ", "ls !x"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_stored_of_a_command_that_somebody_else_ran() {
        let shell = ShellCommand::parse("!!ls").unwrap();
        let stored = |result| ran_elsewhere(&shell, result, 7);
        assert_eq!(
            stored(r#"{"output":"a\nb","exitCode":3,"more":1}"#),
            r#"{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":3,"cancelled":false,"truncated":false,"timestamp":7,"excludeFromContext":true}"#
        );
        assert!(stored("{}").contains(r#""output":"","cancelled":false"#));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn what_is_stored_of_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let stored = async |text: &str, cwd: &Path, abort: bool| {
            let token = CancellationToken::new();
            if abort {
                let token = token.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    token.cancel();
                });
            }
            let (overflow, timeout) = (Some(folder.path()), None);
            let with = Surroundings { cwd, overflow, abort: token, timeout, update: &|_| {} };
            run(&ShellCommand::parse(text).unwrap(), &with, || 7).await
        };
        let here = folder.path();
        assert_eq!(
            stored("!printf 'a\\nb\\n'; exit 3", here, false).await,
            r#"{"role":"bashExecution","command":"printf 'a\\nb\\n'; exit 3","output":"a\nb","exitCode":3,"cancelled":false,"truncated":false,"timestamp":7}"#
        );
        let aborted = stored("!!echo x; sleep 100", here, true).await;
        assert!(aborted.contains(r#""output":"x","cancelled":true"#), "{aborted}");
        assert!(aborted.ends_with(r#""excludeFromContext":true}"#), "{aborted}");
        let long = stored("!seq 5000", here, false).await;
        let path = json::get_str(long.as_bytes(), "fullOutputPath").unwrap().into_owned();
        assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 5000);
        let lost = stored("!ls", &here.join("none"), false).await;
        assert!(lost.contains(r#""exitCode":127"#) && lost.contains("is not there"), "{lost}");
    }
}
