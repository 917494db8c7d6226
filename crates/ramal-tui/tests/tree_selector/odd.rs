//! Sessions that are damaged, empty or strange: nothing panics, and every row can be drawn.

use std::path::Path;

use proptest::prelude::*;
use ramal_session::{Filter, SessionManager};
use ramal_tui::tree_selector::{Command, Direction, Landmark, Selector, Summary};

use crate::notation::{HEADER, Session, finish};

/// Does everything that can be done, under every filter, and draws after each step.
fn try_everything(session: &SessionManager) {
    use Direction::{Back, Forward};
    let mut selector = Selector::new(session, Filter::Default);
    for filter in Filter::ALL {
        for words in ["", "e", "e user", "\u{1f600}\u{130}\"\\"] {
            let commands = [
                Command::SetFilter(filter),
                Command::Search(words.into()),
                Command::Up,
                Command::Down,
                Command::PageUp(7),
                Command::PageDown(3),
                Command::End,
                Command::Jump(Back, Landmark::Fork),
                Command::Jump(Forward, Landmark::Turn),
                Command::Jump(Back, Landmark::Label),
                Command::FoldOrUp,
                Command::ToggleFold,
                Command::FoldOrUp,
                Command::FoldOrUp,
                Command::UnfoldOrDown,
                Command::UnfoldOrDown,
                Command::Home,
                Command::ToggleFold,
                Command::EditLabel,
                Command::Choose(Summary::AsSet),
                Command::Copy,
                Command::UnfoldAll,
                Command::ToggleLabelTimes,
            ];
            for command in commands {
                selector.handle(session, command);
                let window = selector.window(session, 12);
                let rows = selector.rows(session, window.clone(), 5);
                assert_eq!(rows.len(), window.len());
                assert_eq!(rows.iter().filter(|row| row.is_selected).count(), usize::from(!rows.is_empty()));
                let texts = rows.iter().map(|row| row.says.line() + row.label.as_deref().unwrap_or_default());
                assert!(!texts.collect::<String>().chars().any(char::is_control));
                selector.work(session, 100);
            }
            finish(&mut selector, session);
            selector.status();
        }
    }
}

#[test]
fn odd_sessions_can_be_walked_through() {
    let entry = |id: &str, parent: &str, rest: &str| {
        format!("{{\"type\":\"message\",\"id\":{id},\"parentId\":{parent},\"timestamp\":\"x\"{rest}}}\n")
    };
    let user = ",\"message\":{\"role\":\"user\",\"content\":\"e\\u0007\\u001b[2J\"}";
    let many_roots: String = (0..9).map(|n| entry(&format!("\"r{n}\""), "null", user)).collect();
    let labels: String = (0..5)
        .map(|n| format!("{{\"type\":\"label\",\"id\":\"l{n}\",\"parentId\":null,\"targetId\":\"l{}\",\"label\":\"e\\u001b{n}\"}}\n", (n + 1) % 5))
        .collect();
    for log in [
        String::new(),
        many_roots.clone(),
        labels,
        // Orphans, one that is its own parent, and two that are each other's.
        entry("\"a\"", "\"nowhere\"", user) + &entry("\"b\"", "\"b\"", user),
        entry("\"a\"", "\"b\"", user) + &entry("\"b\"", "\"a\"", user) + &entry("\"c\"", "\"a\"", user),
        // Without ids, with the same id, without parents.
        entry("7", "null", user) + &entry("\"a\"", "null", user) + &entry("\"a\"", "\"a\"", ",\"message\":3"),
        // Unreadable: the brackets close, and what is between them is no JSON.
        entry("\"a\"", "null", ",\"message\":{\"role\":\"assistant\",\"content\":oops}")
            + &entry("\"b\"", "\"a\"", ",\"message\":{\"role\":\"toolResult\",\"toolCallId\":oops}"),
        "not json\n{\"type\":3}\n{}\n".to_owned() + &many_roots + "{\"type\":\"message\",\"id\":\"torn",
        entry("\"a-long-id-that-has-to-be-read\"", "null", user)
            + &entry("\"b\"", "\"a-long-id-that-has-to-be-read\"", ""),
        "{\"type\":\"hologram\",\"id\":\"h\",\"parentId\":null}\n{\"type\":\"leaf\",\"id\":\"m\",\"parentId\":\"h\",\"targetId\":\"m\"}\n".into(),
    ] {
        let session = Session::of_log(&(HEADER.to_owned() + &log), None);
        try_everything(&session.manager);
        let opened = SessionManager::open(session.file.path(), None).unwrap();
        try_everything(&opened);
    }
}

#[test]
fn as_many_forks_as_entries() {
    let mut log = String::from(HEADER);
    for n in 0..30_000 {
        let parent = if n == 0 { "null".into() } else { format!("\"{:08x}\"", n - 1) };
        for id in [format!("{n:08x}"), format!("x{n:07x}")] {
            log += &format!("{{\"type\":\"custom_message\",\"id\":\"{id}\",\"parentId\":{parent}}}\n");
        }
    }
    let session = Session::of_log(&log, Some("00007000"));
    // A stack that recursion would use up.
    let thread = std::thread::Builder::new().stack_size(128 * 1024);
    let work = move || {
        let mut selector = Selector::new(&session.manager, Filter::Default);
        selector.handle(&session.manager, Command::End);
        selector.handle(&session.manager, Command::FoldOrUp);
        finish(&mut selector, &session.manager);
        selector.rows(&session.manager, 30_000..30_001, 10).remove(0).place.depth()
    };
    assert!(thread.spawn(work).unwrap().join().unwrap() > 10_000);
}

#[test]
fn examples_and_the_corpus_can_be_walked_through() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = root.join("../shared/corpus");
    let corpus = std::env::var_os("RAMAL_CORPUS").map_or(beside, Into::into);
    let mut folders = vec![root.join("examples"), corpus];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl")
                && entry.metadata().unwrap().len() < 400_000
                && let Ok(session) = SessionManager::open(&path, None)
            {
                try_everything(&session);
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "only {seen} sessions were found");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_lines_can_be_walked_through(lines in prop::collection::vec(
        (prop::sample::select(vec!["message", "label", "custom", "leaf", "compaction", "odd"]), 0u8..6, 0u8..7, prop::sample::select(vec!["", "oops", "null", "\"e\"", "[]", "{\"role\":\"assistant\"}", "{\"role\":\"toolResult\",\"content\":[7]}"])),
        0..12,
    )) {
        let mut log = String::from(HEADER);
        for (kind, id, parent, message) in lines {
            let message = if message.is_empty() { String::new() } else { format!(",\"message\":{message}") };
            log += &format!("{{\"type\":\"{kind}\",\"id\":\"i{id}\",\"parentId\":\"i{parent}\",\"targetId\":\"i{parent}\",\"label\":\"e{id}\"{message}}}\n");
        }
        let session = Session::of_log(&log, None);
        let opened = SessionManager::open(session.file.path(), None).unwrap();
        try_everything(&opened);
    }
}
