//! Sessions written as text, and selectors drawn as text.
//!
//! A session is written one entry a line: `id parent what`, the parent being `.` for the line above and
//! `-` for none. A drawing has `›` before the selected row, `•` for the active path, `⊟` and `⊞` for what
//! can be folded and is folded, and `◀` behind the place where one stands.

use std::io::Write as _;

use ramal_session::{EntryId, Filter, Guide, SessionManager};
use ramal_tui::tree_selector::{Command, Outcome, RowView, Selector};
use tempfile::NamedTempFile;

/// A session in a file of its own.
pub(crate) struct Session {
    pub(crate) file: NamedTempFile,
    pub(crate) manager: SessionManager,
}

impl Session {
    /// The session of a notation, with the leaf at an entry, or before the first one.
    pub(crate) fn new(notation: &str, leaf: Option<&str>) -> Session {
        Session::of_log(&log_of(notation), leaf)
    }

    pub(crate) fn of_log(log: &str, leaf: Option<&str>) -> Session {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(log.as_bytes()).unwrap();
        let mut manager = SessionManager::open(file.path(), None).unwrap();
        match leaf {
            Some(leaf) => manager.branch(leaf).unwrap(),
            None => manager.reset_leaf(),
        }
        Session { file, manager }
    }

    pub(crate) fn user(&mut self, text: &str) -> EntryId {
        let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
        self.manager.append_message(&message).unwrap()
    }

    /// An answer that does nothing but call a tool.
    pub(crate) fn calls(&mut self, path: &str) -> EntryId {
        let call = format!(r#"{{"type":"toolCall","id":"c","name":"read","arguments":{{"path":"{path}"}}}}"#);
        let message = format!(r#"{{"role":"assistant","stopReason":"toolUse","content":[{call}]}}"#);
        self.manager.append_message(&message).unwrap()
    }
}

pub(crate) const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"cwd\":\"/w\"}\n";

/// The log that a notation stands for.
pub(crate) fn log_of(notation: &str) -> String {
    let mut log = String::from(HEADER);
    let mut above = String::new();
    for (second, line) in notation.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (id, parent, what) = (word(), word(), word());
        let parent = match parent {
            "-" => "null".to_owned(),
            "." => format!("\"{above}\""),
            id => format!("\"{id}\""),
        };
        let (kind, text) = what.split_once(' ').unwrap_or((what, ""));
        let time = format!("2025-01-01T00:{:02}:{:02}.000Z", second / 60, second % 60);
        let body = body(kind, text);
        log += &format!("{{\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{time}\",{body}}}\n");
        above = id.to_owned();
    }
    log
}

fn body(kind: &str, text: &str) -> String {
    match kind {
        "user" => message("user", text, ""),
        "answer" => message("assistant", text, r#","stopReason":"stop","usage":{"cost":{"total":0.25}}"#),
        "calls" => format!(
            "{}{}",
            r#""type":"message","message":{"role":"assistant","stopReason":"toolUse","content":["#,
            format_args!(
                r#"{{"type":"toolCall","id":"c","name":"read","arguments":{{"path":"{text}"}}}}]}}"#
            )
        ),
        "aborted" => message("assistant", "", r#","stopReason":"aborted""#),
        "tool" => message("toolResult", text, r#","toolCallId":"c","isError":false"#),
        "failed" => message("toolResult", text, r#","toolCallId":"c","isError":true"#),
        "label" => {
            let (target, label) = text.split_once(' ').unwrap();
            format!(r#""type":"label","targetId":"{target}","label":"{label}""#)
        }
        kind => format!(r#""type":"{kind}","summary":"{text}""#),
    }
}

fn message(role: &str, text: &str, more: &str) -> String {
    let content = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    format!(r#""type":"message","message":{{"role":"{role}","content":{content}{more}}}"#)
}

/// Everything a search may find in an entry of a notation, as its author knows it.
pub(crate) fn said_by(notation: &str, id: &str) -> String {
    let lines = || notation.lines().map(str::trim).filter(|line| !line.is_empty());
    let fields = |line: &str| {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        [words.next(), words.next(), words.next()].map(Option::unwrap_or_default)
    };
    let at = lines().position(|line| fields(line)[0] == id).unwrap();
    let [_, _, what] = fields(lines().nth(at).unwrap());
    let (kind, text) = what.split_once(' ').unwrap_or((&what, ""));
    let mut said = match kind {
        "user" => format!("message\nuser\n{text}"),
        "answer" => format!("message\nassistant\nstop\n{text}"),
        "calls" => format!("message\nassistant\ntoolUse\nread\npath\n{text}"),
        "aborted" => "message\nassistant\naborted".into(),
        "tool" | "failed" => format!("message\ntoolResult\n{text}"),
        "label" => text.replace(' ', "\n") + "\nlabel",
        kind => format!("{kind}\n{text}"),
    };
    if matches!(kind, "tool" | "failed") {
        // The call that it answers stands in the nearest three answers above it.
        let (mut above, mut answers) = (at, 0);
        while answers < 3 {
            let [_, parent, _] = fields(lines().nth(above).unwrap());
            let up = match &*parent {
                "." => above.checked_sub(1),
                parent => lines().position(|line| fields(line)[0] == parent),
            };
            let Some(up) = up else { break };
            above = up;
            let [_, _, what] = fields(lines().nth(above).unwrap());
            if let Some(path) = what.strip_prefix("calls ") {
                said += &format!("\nread\npath\n{path}");
                break;
            }
            answers += usize::from(what.starts_with("answer") || what.starts_with("aborted"));
        }
    }
    for line in lines() {
        let [_, _, what] = fields(line);
        if let Some((target, label)) = what.strip_prefix("label ").and_then(|label| label.split_once(' '))
            && target == id
        {
            said = format!("{said}\n{label}");
        }
    }
    said
}

/// Reads on until there is nothing left to do.
pub(crate) fn finish(selector: &mut Selector, session: &SessionManager) {
    while !selector.work(session, 1 << 16).done {}
}

/// The selector with everything read.
pub(crate) fn selector(session: &Session, filter: Filter) -> Selector {
    let mut selector = Selector::new(&session.manager, filter);
    finish(&mut selector, &session.manager);
    selector.rows(&session.manager, 0..0, 0);
    selector
}

/// Does one thing after the other, and answers what came of the last.
pub(crate) fn press(
    selector: &mut Selector,
    session: &Session,
    commands: impl IntoIterator<Item = Command>,
) -> Outcome {
    let mut last = Outcome::Nothing;
    for command in commands {
        last = selector.handle(&session.manager, command);
        finish(selector, &session.manager);
        selector.rows(&session.manager, 0..0, 0);
    }
    last
}

/// All rows.
pub(crate) fn rows(selector: &mut Selector, session: &SessionManager) -> Vec<RowView> {
    selector.rows(session, 0..usize::MAX, usize::MAX)
}

/// The selector as text, with what entries say.
pub(crate) fn draw(selector: &mut Selector, session: &Session) -> String {
    drawn(selector, session, |row| row.says.line())
}

/// The selector as text, with the ids of entries.
pub(crate) fn draw_ids(selector: &mut Selector, session: &Session) -> String {
    drawn(selector, session, |row| id_of(&session.manager, row))
}

pub(crate) fn id_of(session: &SessionManager, row: &RowView) -> String {
    session.get_entry_at(row.place.position()).unwrap().id().unwrap().to_string()
}

fn drawn(selector: &mut Selector, session: &Session, says: impl Fn(&RowView) -> String) -> String {
    let mut out = String::new();
    for row in rows(selector, &session.manager) {
        let place = row.place;
        out += if row.is_selected { "› " } else { "  " };
        for guide in &row.guides {
            out += match guide {
                Guide::Blank => "  ",
                Guide::Line => "│ ",
                Guide::Tee => "├ ",
                Guide::Corner => "└ ",
            };
        }
        out += match (place.is_folded(), place.is_foldable()) {
            (true, _) => "⊞",
            (false, true) => "⊟",
            (false, false) => "",
        };
        out += if place.is_active() { "•" } else { "" };
        if let Some(label) = &row.label {
            out += &format!("[{label}] ");
        }
        out += &says(&row);
        if let Some(branch) = row.branch {
            out += &format!(" ({}", branch.turns);
            out += if branch.cost > 0.0 { " $" } else { "" };
            out += if branch.last_tool_failed { " ✗)" } else { ")" };
        }
        out += if place.is_leaf() || place.folds_leaf() { " ◀" } else { "" };
        out.push('\n');
    }
    out
}

/// Opens the session at an entry, does what is said, and compares drawings.
#[track_caller]
pub(crate) fn check(notation: &str, leaf: &str, commands: impl IntoIterator<Item = Command>, want: &[&str]) {
    let session = Session::new(notation, Some(leaf));
    let mut selector = selector(&session, Filter::Default);
    press(&mut selector, &session, commands);
    assert_drawn(&mut selector, &session, want);
}

#[track_caller]
pub(crate) fn assert_drawn(selector: &mut Selector, session: &Session, want: &[&str]) {
    let drawn = draw_ids(selector, session);
    let drawn: Vec<_> = drawn.lines().collect();
    assert_eq!(drawn, want, "drawn:\n{}", drawn.join("\n"));
}
