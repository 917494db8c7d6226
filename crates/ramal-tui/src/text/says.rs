//! What an entry says in one line, and what a tool was called on.

use std::borrow::Cow;

use ramal_session::{CallOf, Entry, Kind, Message, Role as Who, json};

use super::{Role, clean, human};

/// What is copied of an entry: its text, or all of it where it has none. As it is, for a clipboard and not for
/// a screen.
pub fn copied(entry: &Entry) -> String {
    let text = entry.text();
    if text.is_empty() { entry.json().to_owned() } else { text }
}

/// An entry in one line. All texts are clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Says {
    /// Who says it, or what kind of entry it is; of a tool's result, what was called.
    pub who: String,
    /// What went wrong, if something did.
    pub wrong: Option<String>,
    /// What it says; may be wider than was asked for when there is more.
    pub text: String,
    /// The look that goes with it.
    pub role: Role,
}

/// Columns of a preview for programs.
const PREVIEW: usize = 200;

/// An entry for a program in one line of at most 200 columns: what it says; of a tool's result, what was
/// called. What went wrong is in [`Says::wrong`] and not part of it.
pub fn preview(says: &Says) -> String {
    let text = match says.who.starts_with('[') {
        true if says.text.is_empty() => Cow::Borrowed(&*says.who),
        true => format!("{} {}", says.who, says.text).into(),
        false => Cow::Borrowed(&*says.text),
    };
    super::width::fit(&text, PREVIEW).into_owned()
}

/// What an entry says for a [`preview`].
pub fn says_for_preview(entry: &Entry, call: Option<&CallOf>, cwd: &str) -> Says {
    says(entry, call, cwd, PREVIEW)
}

impl Says {
    /// Its parts in the order in which rows show them, each with its look; spaces stand before the later
    /// ones.
    pub fn parts(&self) -> impl Iterator<Item = (Role, String)> {
        let Says { who, wrong, text, role } = self;
        let is_tool = who.starts_with('[');
        let spaced = |text: &String| if text.is_empty() { String::new() } else { format!(" {text}") };
        let wrong = wrong.as_ref().map(|wrong| format!("✗ {wrong}"));
        let look = if matches!(role, Role::Summary | Role::Dim) { *role } else { Role::Assistant };
        match wrong {
            // Before what was called, which may be long.
            Some(wrong) if is_tool => {
                [(Role::Error, wrong), (*role, format!(" {who}")), (Role::Dim, spaced(text))]
            }
            wrong => {
                let colon = if is_tool || (text.is_empty() && wrong.is_none()) { "" } else { ":" };
                let wrong = wrong.map(|wrong| format!(" {wrong}")).unwrap_or_default();
                [(*role, format!("{who}{colon}")), (Role::Error, wrong), (look, spaced(text))]
            }
        }
        .into_iter()
    }

    /// All of it in one text, as a row shows it.
    pub fn line(&self) -> String {
        self.parts().map(|(_, part)| part).collect()
    }
}

/// Characters of a command that a row shows.
const COMMAND: usize = 50;

/// What an entry says in about `columns`. `call` is the call that a tool's result answers, `cwd` the
/// working directory of the session, which goes without saying.
pub fn says(entry: &Entry, call: Option<&CallOf>, cwd: &str, columns: usize) -> Says {
    let line = |text: &str| clean::one_line(text, columns);
    let says = |who: &str, text: &str, role| Says { who: line(who), wrong: None, text: line(text), role };
    if entry.is_unreadable() {
        let who = entry.role().name().map(Cow::Borrowed).unwrap_or_else(|| entry.type_name());
        return Says { wrong: Some("cannot be read".into()), ..says(&who, "", Role::Error) };
    }
    match entry.kind() {
        Kind::Message => match entry.message() {
            Some(message) => of_message(message, entry.role(), call, cwd, columns),
            None => says("message", "(without content)", Role::Dim),
        },
        Kind::CustomMessage => {
            let who = non_empty(entry.get_str("customType")).unwrap_or("custom message".into());
            let role = if entry.get("display") == Some("false") { Role::Dim } else { Role::Assistant };
            says(&who, &entry.text(), role)
        }
        Kind::BranchSummary => says("branch summary", below_headings(&entry.text()), Role::Summary),
        Kind::Compaction => says(&compaction(entry), below_headings(&entry.text()), Role::Summary),
        Kind::ResetBoundary => says("reset", "the model sees nothing above", Role::Summary),
        Kind::Unknown => says(&entry.type_name(), &first_text(entry.json()).unwrap_or_default(), Role::Dim),
        kind => says(&entry.type_name().replace('_', " "), &bookkeeping(entry, kind), Role::Dim),
    }
}

fn of_message(message: Message<'_>, from: Who, call: Option<&CallOf>, cwd: &str, columns: usize) -> Says {
    let line = |text: &str| clean::one_line(text, columns);
    let plain = |who: &str, role| Says { who: line(who), wrong: None, text: line(&message.text()), role };
    match from {
        Who::User => Says { text: line(&with_images(message)), ..plain("user", Role::User) },
        Who::Assistant => answer(message, columns),
        Who::ToolResult => {
            let name = message.get_str("toolName").unwrap_or_default();
            let what = call.map(|call| called_on(&call.name, &call.arguments, cwd)).unwrap_or_default();
            let name =
                non_empty(Some(name)).or(call.map(|call| (&*call.name).into())).unwrap_or("tool".into());
            let who = if what.is_empty() { format!("[{name}]") } else { format!("[{name}: {what}]") };
            let failed = message.is_error();
            // What a command ends with says more than what it begins with.
            let is_command =
                call.is_some_and(|call| json::get(call.arguments.as_bytes(), "command").is_some());
            let text = if failed { line(telling_line(&message.text(), is_command)) } else { String::new() };
            let role = if failed { Role::ToolFailed } else { Role::Tool };
            Says { who: line(&who), wrong: failed.then(|| "failed".into()), text, role }
        }
        Who::BashExecution | Who::PythonExecution => {
            let who = if from == Who::BashExecution { "bash" } else { "python" };
            Says { wrong: execution_failed(message), ..plain(who, Role::Tool) }
        }
        Who::FileMention => {
            let files = json::members::items(message.get("files").unwrap_or_default().as_bytes());
            let paths: Vec<_> = files.filter_map(|file| json::get_str(file, "path")).collect();
            Says { text: line(&paths.join(", ")), ..plain("files", Role::Tool) }
        }
        Who::BranchSummary => plain("branch summary", Role::Summary),
        Who::CompactionSummary => plain("compaction", Role::Summary),
        Who::Custom | Who::HookMessage => {
            let who = non_empty(message.get_str("customType")).unwrap_or("custom message".into());
            plain(&who, if message.get("display") == Some("false") { Role::Dim } else { Role::Assistant })
        }
        Who::None => plain("message", Role::Dim),
        _ => plain(&message.get_str("role").unwrap_or_default(), Role::Dim),
    }
}

/// An answer. One without text is told by what it calls.
fn answer(message: Message<'_>, columns: usize) -> Says {
    let mut text = clean::one_line(&message.text(), columns);
    let wrong = ended_wrong(message);
    if text.is_empty() {
        let calls: Vec<_> = message.tool_calls().map(|call| call.name.into_owned()).collect();
        text = match &*calls {
            [] if wrong.is_some() => String::new(),
            [] if message.blocks().any(|block| json::get(block.as_bytes(), "thinking").is_some()) => {
                "(thinking only)".into()
            }
            [] => "(no content)".into(),
            calls => format!("(calls {})", clean::one_line(&calls.join(", "), columns)),
        };
    }
    Says { who: "assistant".into(), wrong, text, role: Role::Assistant }
}

/// How an answer ended, if not as answers should.
pub fn ended_wrong(message: Message<'_>) -> Option<String> {
    match message.get_str("stopReason").as_deref() {
        None | Some("stop" | "toolUse") => None,
        Some("error") => Some(match non_empty(message.get_str("errorMessage")) {
            Some(error) => format!("error: {}", clean::one_line(&error, 200)),
            None => "error".into(),
        }),
        Some("length") => Some("cut off: too long".into()),
        Some(other) => Some(clean::one_line(other, 40)),
    }
}

/// How an execution ended, if not well.
pub fn execution_failed(message: Message<'_>) -> Option<String> {
    if message.get("cancelled") == Some("true") {
        return Some("cancelled".into());
    }
    let code = message.get("exitCode").filter(|code| !matches!(*code, "0" | "null"))?;
    Some(format!("exit {}", clean::one_line(code, 20)))
}

/// A compaction by the tokens that there were before.
pub fn compaction(entry: &Entry) -> String {
    compaction_of(entry.get("tokensBefore"))
}

/// A compaction by the tokens that there were before, as JSON text.
pub fn compaction_of(tokens: Option<&str>) -> String {
    let tokens = tokens.and_then(|number| number.parse::<f64>().ok());
    match tokens.filter(|&tokens| tokens >= 1.0) {
        Some(tokens) if tokens < 1000.0 => format!("compaction of {tokens} tokens"),
        Some(tokens) => format!("compaction of {}k tokens", human::count((tokens / 1000.0).round() as u64)),
        None => "compaction".into(),
    }
}

fn with_images(message: Message<'_>) -> String {
    let images =
        message.blocks().filter(|block| json::get(block.as_bytes(), "type") == Some(b"\"image\"")).count();
    let text = message.text();
    match images {
        0 => text,
        1 => format!("{text} (with an image)"),
        n => format!("{text} (with {n} images)"),
    }
}

/// What a tool is called on: the path and the lines, the beginning of the command, the pattern. Paths
/// below the working directory are given from there.
pub fn called_on(name: &str, arguments: &str, cwd: &str) -> String {
    let bytes = arguments.as_bytes();
    let text = |key: &str| non_empty(json::get_str(bytes, key)).map(Cow::into_owned);
    let path = || {
        let path = text("path").or_else(|| text("file_path")).or_else(|| text("file"))?;
        Some(below(&path, cwd).to_owned())
    };
    let what = match name {
        "read" => path().map(|path| format!("{path}{}", lines_read(bytes))),
        "grep" | "find" | "glob" | "search" => {
            let pattern = text("pattern").or_else(|| text("query"));
            pattern.map(|pattern| match path() {
                Some(path) if path != "." => format!("{pattern} in {path}"),
                _ => pattern,
            })
        }
        _ => None,
    };
    what.or_else(|| text("command").map(|command| beginning(from_cwd(&command, cwd), COMMAND)))
        .or_else(path)
        .or_else(|| text("pattern"))
        .or_else(|| text("query"))
        .or_else(|| text("url"))
        .or_else(|| first_text(arguments).map(|text| beginning(&text, COMMAND)))
        // Arguments that are no object are kept as a text.
        .or_else(|| json::members::as_str(bytes).map(|text| beginning(&text, COMMAND)))
        .unwrap_or_default()
}

/// A path as it is seen from the working directory.
fn below<'a>(path: &'a str, cwd: &str) -> &'a str {
    if cwd.len() < 2 {
        return path;
    }
    match path.strip_prefix(cwd) {
        Some("" | "/") => ".",
        Some(rest) => rest.strip_prefix('/').filter(|rest| !rest.is_empty()).unwrap_or(path),
        None => path,
    }
}

/// A command without the step into the directory where it runs anyway.
pub(crate) fn from_cwd<'a>(command: &'a str, cwd: &str) -> &'a str {
    let rest = command.strip_prefix("cd ").and_then(|rest| rest.strip_prefix(cwd));
    rest.and_then(|rest| rest.trim_start().strip_prefix("&&")).filter(|_| !cwd.is_empty()).unwrap_or(command)
}

fn lines_read(arguments: &[u8]) -> String {
    let number = |key| {
        json::get(arguments, key).and_then(|value| std::str::from_utf8(value).ok()?.parse::<u64>().ok())
    };
    match (number("offset"), number("limit")) {
        (None, None) => String::new(),
        (from, Some(count)) => {
            let from = from.unwrap_or(1);
            format!(":{from}-{}", from.saturating_add(count).saturating_sub(1))
        }
        (Some(from), None) => format!(":{from}-"),
    }
}

/// The beginning of a text that may have several lines.
fn beginning(text: &str, most: usize) -> String {
    super::width::fit(&clean::one_line(text, most), most).into_owned()
}

/// The first text among an object's own members that is no part of the envelope.
fn first_text(object: &str) -> Option<String> {
    let bytes = object.as_bytes();
    json::Members::new(bytes)
        .filter(|member| {
            !matches!(&bytes[member.key.clone()], b"type" | b"id" | b"parentId" | b"timestamp" | b"i")
        })
        .find_map(|member| json::members::as_str(&bytes[member.value]).map(Cow::into_owned))
}

fn telling_line(text: &str, is_command: bool) -> &str {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    if is_command { lines.next_back() } else { lines.next() }.unwrap_or_default()
}

/// A summary from its first line on that is no heading.
fn below_headings(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#')
        && let Some((_, below)) = rest.split_once('\n')
    {
        rest = below.trim_start();
    }
    rest
}

fn non_empty(text: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    text.filter(|text| !text.trim().is_empty())
}

/// What a record says that is no conversation.
pub fn bookkeeping(entry: &Entry, kind: Kind) -> String {
    let text = |key| non_empty(entry.get_str(key)).map(Cow::into_owned);
    let said = match kind {
        Kind::Label => {
            let target = text("targetId").unwrap_or_default();
            return match text("label") {
                Some(label) => format!("“{label}” on {target}"),
                None => format!("cleared on {target}"),
            };
        }
        Kind::Leaf => return text("targetId").unwrap_or("before the first entry".into()),
        Kind::ModelChange => text("model").or_else(|| {
            let parts = [text("provider"), text("modelId")];
            Some(parts.into_iter().flatten().collect::<Vec<_>>().join("/"))
        }),
        Kind::ThinkingLevelChange => return text("thinkingLevel").unwrap_or("off".into()),
        Kind::ServiceTierChange => text("serviceTier"),
        Kind::ModeChange => text("mode"),
        Kind::SessionInfo => text("name"),
        Kind::TitleChange => text("title"),
        Kind::SessionInit => text("task"),
        Kind::Custom => text("customType"),
        Kind::ContextEdit => text("targetId").map(|target| format!("of {target}")),
        Kind::Usage | Kind::ModelUsage => text("model").or_else(|| text("kind")),
        Kind::TtsrInjection => entry.get("injectedRules").map(String::from),
        Kind::McpToolSelection => entry.get("selectedToolNames").map(String::from),
        Kind::ActiveToolsChange => entry.get("activeToolNames").map(String::from),
        _ => None,
    };
    said.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_are_called_on() {
        for (name, arguments, want) in [
            ("read", r#"{"path":"/w/src/a.rs","offset":10,"limit":5}"#, "src/a.rs:10-14"),
            ("read", r#"{"path":"/wide/a.rs","offset":10}"#, "/wide/a.rs:10-"),
            ("read", r#"{"path":"/w","limit":3}"#, ".:1-3"),
            ("bash", r#"{"command":"cd /w && cargo test"}"#, "cargo test"),
            ("bash", r#"{"command":"cd /wide && ls"}"#, "cd /wide && ls"),
            ("bash", r#"{"command":"a\n b","timeout":3}"#, "a b"),
            ("grep", r#"{"pattern":"fn x","path":"."}"#, "fn x"),
            ("grep", r#"{"pattern":"fn x","path":"src"}"#, "fn x in src"),
            ("edit", r#"{"path":"b.rs","oldText":"x"}"#, "b.rs"),
            ("ask", r#"{"n":1,"question":"Why?"}"#, "Why?"),
            ("ask", "{}", ""),
            ("ask", "oops", ""),
            ("write", r#""{\"path\": \"f\"""#, r#"{"path": "f""#),
        ] {
            assert_eq!(called_on(name, arguments, "/w"), want, "{name} {arguments}");
        }
        let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(80));
        assert_eq!(called_on("bash", &long, "").chars().count(), COMMAND);
    }
}
