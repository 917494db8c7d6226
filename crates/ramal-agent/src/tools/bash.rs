//! The tool that runs a command of the shell.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use ramal_model::ToolSpec;
use serde_json::json;

use super::arguments::Arguments;
use super::process::{End, Order, Outcome, run};
use super::{Access, Call, Content, Tool, ToolResult};

/// Runs a command of the shell: `{command, timeout?}`, the time in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bash {
    /// How long a command may run that asks for no limit itself; none means as long as it likes.
    pub default_timeout: Option<Duration>,
}

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash".to_owned(),
            description: "Run a command with bash in the working directory and see what it wrote to \
                          standard output and standard error. There is no terminal and no input. Of a \
                          long output the end is shown (2000 lines or 50 KB) and the whole is kept in a \
                          file that is named. Programs that are to go on running belong in the background."
                .to_owned(),
            parameters: r#"{"type":"object","properties":{"command":{"type":"string","description":"The command"},"timeout":{"type":"number","description":"Seconds after which the command is ended"}},"required":["command"],"additionalProperties":false}"#.to_owned(),
        }
    }

    fn access(&self, arguments: &str, _cwd: &Path) -> Vec<Access> {
        let arguments = Arguments::parse(arguments);
        let command = arguments.as_ref().ok().and_then(|arguments| arguments.required("command").ok());
        command.map(|command| Access::Run(command.to_owned())).into_iter().collect()
    }

    fn run<'a>(&'a self, call: Call<'a>) -> Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>> {
        Box::pin(async move { self.answer(&call).await.unwrap_or_else(ToolResult::error) })
    }
}

impl Bash {
    async fn answer(&self, call: &Call<'_>) -> Result<ToolResult, String> {
        let arguments = Arguments::parse(call.arguments)?;
        let timeout = match arguments.number("timeout")? {
            Some(seconds) if seconds > 0.0 => Duration::try_from_secs_f64(seconds).ok(),
            Some(_) => return Err("`timeout` must be more than zero seconds.".to_owned()),
            None => self.default_timeout,
        };
        let order = Order {
            command: arguments.required("command")?,
            cwd: call.cwd,
            timeout,
            overflow: call.overflow,
            abort: &call.abort,
            update: call.update,
        };
        Ok(result(&run(&order).await?, timeout))
    }
}

fn result(outcome: &Outcome, timeout: Option<Duration>) -> ToolResult {
    let mut parts = Vec::new();
    let output = outcome.output.piece().text;
    if !output.trim().is_empty() {
        parts.push(output.trim_end_matches('\n').to_owned());
    }
    parts.extend(outcome.output.note().map(|note| format!("[{note}]")));
    let mut details = json!({});
    match outcome.end {
        End::Exit(0) if parts.is_empty() => parts.push("(no output)".to_owned()),
        End::Exit(0) => {}
        End::Exit(code) => parts.push(format!("[The command ended with exit code {code}.]")),
        End::Signal(signal) => {
            details["signal"] = json!(signal);
            parts.push(format!("[The command was ended by signal {signal}.]"));
        }
        End::TimedOut => {
            details["timedOut"] = json!(true);
            let seconds = timeout.unwrap_or_default().as_secs_f64();
            parts.push(format!("[The command was ended: its time of {seconds} s was over.]"));
        }
        End::Aborted => {
            details["aborted"] = json!(true);
            parts.push("[The command was aborted by the user.]".to_owned());
        }
    }
    if let End::Exit(code) = outcome.end {
        details["exitCode"] = json!(code);
    }
    if outcome.output.is_cut() {
        details["truncation"] = outcome.output.truncation();
        if let Some(path) = outcome.output.path() {
            details["fullOutputPath"] = json!(path.display().to_string());
        }
    }
    ToolResult {
        content: vec![Content::Text(parts.join("\n\n"))],
        details: Some(details.to_string()),
        is_error: outcome.end != End::Exit(0),
        ends_turn: false,
    }
}
