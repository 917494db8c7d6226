//! The view, told keys and drawn.

mod actions;
mod sizes;
mod speed;

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_session::json::quote;
use ramal_session::{EntryId, SessionManager};

use super::*;
use crate::scene::{Scene, View};
use crate::theme::Theme;
use crate::transcript::Options;

fn now() -> Timestamp {
    "2026-03-04T12:00:00Z".parse().unwrap()
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}

fn user(session: &mut SessionManager, says: &str) -> EntryId {
    session.append_message(&format!(r#"{{"role":"user","content":{}}}"#, quote(says))).unwrap()
}

fn answer(session: &mut SessionManager, content: &str) -> EntryId {
    let message = format!(r#"{{"role":"assistant","content":[{content}],"stopReason":"stop"}}"#);
    session.append_message(&message).unwrap()
}

fn says(session: &mut SessionManager, says: &str) -> EntryId {
    answer(session, &text(says))
}

/// A call of a tool and its result; answers the id of the result.
fn call(session: &mut SessionManager, id: &str, path: &str, output: &str) -> EntryId {
    answer(
        session,
        &format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{"path":"{path}"}}}}"#),
    );
    let message = format!(
        r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"read","content":[{}]}}"#,
        text(output)
    );
    session.append_message(&message).unwrap()
}

/// Three turns with a fork at the second question and one at its answer, a tool, a summary and a label.
fn session() -> SessionManager {
    let mut session = SessionManager::in_memory("/work");
    user(&mut session, "The date parser drops the time zone.");
    answer(&mut session, &[r#"{"type":"thinking","thinking":"The parser."}"#, &text("I look.")].join(","));
    let read = call(&mut session, "c1", "src/date.rs", "one\ntwo\nthree needles");
    let first = user(&mut session, "Fix it in the parser.");
    says(&mut session, "The parser **keeps it** now.");
    session.branch(&read).unwrap();
    user(&mut session, "Fix it in the printer.");
    let printer = says(&mut session, "The printer keeps it.");
    session.branch(&read).unwrap();
    let third = user(&mut session, "Write a test first.");
    says(&mut session, "There is a test.");
    session.branch(&third).unwrap();
    session.branch_with_summary(Some(&third), "# Tried\nA test was written.", None, None).unwrap();
    says(&mut session, "There is a better test:\n\n```rust\nassert!(zone);\n```");
    user(&mut session, "Good. Commit.");
    says(&mut session, "Committed.");
    let leaf = session.get_leaf_id().unwrap().unwrap();
    session.append_label_change(&third, Some("test first")).unwrap();
    session.append_label_change(&first, Some("parser")).unwrap();
    session.append_label_change(&printer, Some("printer")).unwrap();
    session.branch(&leaf).unwrap();
    session
}

/// A session and a view of it, as if on a screen.
struct Shown {
    session: SessionManager,
    view: TranscriptView,
    columns: u16,
    rows: u16,
    keymap: Keymap,
}

impl Shown {
    fn new(session: SessionManager, columns: u16, rows: u16) -> Shown {
        let view = TranscriptView::new(&session);
        let mut shown = Shown { session, view, columns, rows, keymap: Keymap::default() };
        shown.see();
        shown
    }

    fn see(&mut self) -> View {
        let (theme, zone) = (Theme::dark(), TimeZone::UTC);
        let scene = Scene {
            columns: self.columns,
            rows: self.rows,
            theme: &theme,
            keymap: &self.keymap,
            now: now(),
            zone: &zone,
        };
        self.view.draw(&self.session, &scene, &Options::at(now()))
    }

    /// What is seen, as text.
    fn screen(&mut self) -> String {
        let mut out = String::new();
        for line in self.see().lines {
            let _ = writeln!(out, "{}", line.to_string().trim_end());
        }
        out
    }

    /// What is seen between status and hints.
    fn body(&mut self) -> Vec<String> {
        let screen = self.screen();
        let lines: Vec<&str> = screen.lines().collect();
        lines[2..lines.len() - 1].iter().map(ToString::to_string).collect()
    }

    /// What is seen of the selected block.
    fn selected(&mut self) -> String {
        let body = self.body();
        let marked = body.iter().filter_map(|line| line.strip_prefix(['▌', '▶']));
        marked.map(str::trim).collect::<Vec<_>>().join("|")
    }

    fn status(&mut self) -> String {
        self.screen().lines().nth(1).unwrap().to_owned()
    }

    fn foot(&mut self) -> String {
        self.screen().lines().last().unwrap().to_owned()
    }

    fn press(&mut self, key: &str) -> Told {
        let told = self.view.key(&self.session, &self.keymap, key.parse().unwrap());
        self.see();
        told
    }

    fn type_in(&mut self, text: &str) {
        for letter in text.chars() {
            let key = if letter == ' ' { "space".to_owned() } else { letter.to_string() };
            assert_eq!(self.press(&key), Told::Redraw);
        }
    }

    fn work(&mut self) {
        let mut steps = 0;
        while !self.view.work(&self.session).done {
            steps += 1;
            assert!(steps < 100_000, "it never ends");
        }
    }
}

fn id_of(session: &SessionManager, says: &str) -> EntryId {
    let is_it = |entry: &EntryRef<'_>| entry.read().unwrap().text().contains(says);
    session.get_entries().find(is_it).unwrap().id().unwrap()
}

#[track_caller]
fn same(got: &str, want: &str) {
    assert_eq!(got, want, "\n--- got\n{got}\n--- want\n{want}");
}
