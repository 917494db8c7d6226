//! A log read in pieces is the log read at once: what others append is taken in as if it had been
//! there at opening.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::path::Path;

use common::light_scratch;
use common::snapshot::Snapshot;
use proptest::prelude::*;
use ramal_session::{Kind, SessionManager};

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n";

/// Few ids, so that they meet: 0 to 5 may be in the log, 6 never is.
const IDS: [&str; 7] = ["a", "b", "c", "a-rather-long-id-of-an-entry", "e\\u00e9", "f", "nowhere"];

#[derive(Debug, Clone)]
struct Line {
    /// None for an entry without an id.
    id: Option<usize>,
    /// Outer none: no `parentId` at all. Inner none: null.
    parent: Option<Option<usize>>,
    kind: u8,
    target: usize,
    number: u8,
    time: u8,
}

impl Line {
    fn text(&self) -> String {
        let id = self.id.map_or(String::new(), |id| format!("\"id\":\"{}\",", IDS[id]));
        let parent = match self.parent {
            None => String::new(),
            Some(None) => "\"parentId\":null,".into(),
            Some(Some(parent)) => format!("\"parentId\":\"{}\",", IDS[parent]),
        };
        let target = IDS[self.target];
        let (kind, fields) = match self.kind {
            0..=3 => ("message", format!(r#""message":{{"role":"user","content":"{}"}}"#, self.number)),
            4 => ("custom", format!(r#""customType":"c","data":{}"#, self.number)),
            5 => ("label", format!(r#""targetId":"{target}","label":"l{}""#, self.number)),
            6 => ("label", format!(r#""targetId":"{target}""#)),
            7 => ("leaf", format!(r#""targetId":"{target}""#)),
            8 => ("session_info", format!(r#""name":"name {}""#, self.number)),
            _ => ("title_change", format!(r#""title":"title {}","source":"user""#, self.number)),
        };
        let time = match self.time {
            0 => "\"yesterday\"".into(),
            time => format!("\"2026-01-01T00:00:{time:02}.000Z\""),
        };
        format!("{{\"type\":\"{kind}\",{id}{parent}\"timestamp\":{time},{fields}}}\n")
    }

    fn is_conversation(&self) -> bool {
        self.kind <= 3
    }
}

fn line() -> impl Strategy<Value = Line> {
    let id = prop_oneof![12 => (0..6_usize).prop_map(Some), 1 => Just(None)];
    let parent = prop_oneof![12 => (0..7_usize).prop_map(|parent| Some(Some(parent))), 2 => Just(Some(None)), 1 => Just(None)];
    (id, parent, 0..10_u8, 0..7_usize, 0..3_u8, 0..4_u8)
        .prop_map(|(id, parent, kind, target, number, time)| Line { id, parent, kind, target, number, time })
}

/// The text of a log; a few of its lines are rubbish, blank or end otherwise.
fn log_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        20 => line().prop_map(|line| line.text()),
        1 => Just("{\"type\":\"message\",\"id\":\"a\n".to_owned()),
        1 => Just("rubbish\r\n".to_owned()),
        1 => Just(" \r\n\n".to_owned()),
        1 => Just("null\n".to_owned()),
        2 => line().prop_map(|line| line.text().replace('\n', "\r\n")),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Writes `text` in pieces that end at `cuts`, and reads each when it is there.
fn read_in_pieces(path: &Path, text: &[u8], cuts: &[usize]) -> SessionManager {
    let mut cuts = cuts.to_vec();
    cuts.push(text.len());
    cuts.sort_unstable();
    common::write(path, HEADER.as_bytes());
    let mut session = SessionManager::open(path, None).unwrap();
    let mut at = 0;
    for cut in cuts {
        common::append(path, &text[at..cut]);
        at = cut;
        session.refresh().unwrap();
        Snapshot::of(&session).check_tree().unwrap();
    }
    session
}

proptest! {
    #![proptest_config(common::cases(1000))]

    #[test]
    fn pieces_of_any_size_make_the_same_tree(
        text in log_text(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let (_folder, root) = light_scratch();
        let path = root.join("session.jsonl");
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        let pieces = Snapshot::of(&read_in_pieces(&path, text.as_bytes(), &cuts));
        let fresh = Snapshot::of(&SessionManager::open(&path, None).unwrap());
        if let Some(found) = fresh.difference(&pieces) {
            prop_assert!(false, "at once and in pieces cut at {cuts:?}:\n{found}\n{text}");
        }
    }

    #[test]
    fn whole_lines_make_the_same_tree_and_the_one_that_the_rules_say(
        lines in proptest::collection::vec(line(), 0..24),
    ) {
        let (_folder, root) = light_scratch();
        let path = root.join("session.jsonl");
        let texts: Vec<String> = lines.iter().map(Line::text).collect();
        let text = texts.concat();
        let ends: Vec<usize> = texts.iter().scan(0, |end, text| { *end += text.len(); Some(*end) }).collect();
        let pieces = Snapshot::of(&read_in_pieces(&path, text.as_bytes(), &ends));
        let session = SessionManager::open(&path, None).unwrap();
        let fresh = Snapshot::of(&session);
        if let Some(found) = fresh.difference(&pieces) {
            prop_assert!(false, "at once and line by line:\n{found}\n{text}");
        }
        let naive = Naive::new(lines);
        let parents: Vec<Option<usize>> = fresh.rows.iter().map(|row| row.parent).collect();
        prop_assert_eq!(&parents, &naive.parents(), "parents in\n{}", text);
        let labels: Vec<Option<String>> = fresh.rows.iter().map(|row| row.label.clone()).collect();
        prop_assert_eq!(&labels, &naive.labels(), "labels in\n{}", text);
        let leaf = session.get_leaf_entry().map(|leaf| leaf.position());
        prop_assert_eq!(leaf, naive.leaf(&parents), "leaf in\n{}", text);
    }
}

/// The rules of the contract, section 2, "Links", and 4, by looking through all entries every time.
struct Naive {
    lines: Vec<Line>,
}

impl Naive {
    fn new(all: Vec<Line>) -> Naive {
        let mut lines: Vec<Line> = Vec::new();
        for line in all {
            // An exact repeat of a line with an id is one entry with it.
            if line.id.is_none() || !lines.iter().any(|other| other.text() == line.text()) {
                lines.push(line);
            }
        }
        Naive { lines }
    }

    /// What an id in the entry `from` means.
    fn resolve(&self, id: usize, from: usize) -> Option<usize> {
        let places = || (0..self.lines.len()).filter(|&at| self.lines[at].id == Some(id));
        let above = |conversation| {
            places().rfind(|&at| at < from && self.lines[at].is_conversation() == conversation)
        };
        above(true).or_else(|| above(false)).or_else(|| places().find(|&at| at >= from))
    }

    fn parents(&self) -> Vec<Option<usize>> {
        let mut parents: Vec<Option<usize>> = (0..self.lines.len())
            .map(|at| {
                let line = &self.lines[at];
                let parent = line.parent.flatten().filter(|_| line.id.is_some())?;
                if Some(parent) == line.id { None } else { self.resolve(parent, at) }
            })
            .collect();
        // The earliest entry of a cycle comes first here, and is cut before the others are looked at.
        for at in 0..parents.len() {
            let mut up = parents[at];
            for _ in 0..parents.len() {
                up = match up {
                    Some(above) if above != at => parents[above],
                    other => other,
                };
            }
            if up == Some(at) {
                parents[at] = None;
            }
        }
        parents
    }

    fn labels(&self) -> Vec<Option<String>> {
        let mut labels = vec![None; self.lines.len()];
        for (at, line) in self.lines.iter().enumerate() {
            if matches!(line.kind, 5 | 6)
                && let Some(target) = self.resolve(line.target, at)
            {
                labels[target] = (line.kind == 5).then(|| format!("l{}", line.number));
            }
        }
        labels
    }

    /// Where a `leaf` entry leads: outer none if nowhere.
    fn landing(&self, mut at: usize) -> Option<Option<usize>> {
        for _ in 0..=self.lines.len() {
            if self.lines[at].kind != 7 {
                return Some(Some(at));
            }
            at = self.resolve(self.lines[at].target, at)?;
        }
        None
    }

    fn leaf(&self, parents: &[Option<usize>]) -> Option<usize> {
        let mut leaf = None;
        for (at, line) in self.lines.iter().enumerate() {
            if line.id.is_none() {
                continue;
            }
            let states_a_root = line.parent == Some(None);
            let hangs_on_leaf = parents[at] == leaf && (leaf.is_some() || states_a_root);
            match line.kind {
                7 => leaf = self.landing(at).unwrap_or(leaf),
                4 | 8 | 9 if !hangs_on_leaf => {}
                _ => leaf = Some(at),
            }
        }
        leaf
    }
}

/// Sizes of lines around what is read at once and what one thread takes.
fn odd_size() -> impl Strategy<Value = usize> {
    let around = |size: usize| (size - 3..size + 4).boxed();
    prop_oneof![
        6 => around(256 << 10),
        3 => around(512 << 10),
        4 => around(1 << 20),
        1 => around(2 << 20),
        4 => 150..4000_usize,
    ]
}

/// A line of exactly so many bytes with its newline, in one of several shapes.
fn sized_line(number: usize, size: usize, shape: u8) -> Vec<u8> {
    let id = format!("{number:08x}");
    let parent = number.checked_sub(1).map_or("null".into(), |parent| format!("\"{parent:08x}\""));
    let time = "2026-01-01T00:00:01.000Z";
    let (head, tail) = match shape {
        0..=3 => (
            format!(
                r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"{time}","message":{{"role":"user","content":""#
            ),
            "\"}}\n".to_owned(),
        ),
        // Keys in the order in which some writers have them: the envelope at the end.
        4 | 5 => (
            r#"{"type":"message","message":{"role":"user","content":""#.to_owned(),
            format!("\"}},\"timestamp\":\"{time}\",\"id\":\"{id}\",\"parentId\":{parent}}}\r\n"),
        ),
        // Blank, however long.
        6 => (" ".to_owned(), "\n".to_owned()),
        // Torn in the middle.
        _ => (format!(r#"{{"type":"message","id":"{id}","message":{{"content":""#), "\n".to_owned()),
    };
    let fill = if shape == 6 { b' ' } else { b'x' };
    let mut line = head.into_bytes();
    line.resize((size.max(line.len() + tail.len())) - tail.len(), fill);
    line.extend_from_slice(tail.as_bytes());
    line
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 30, ..common::cases(12) })]

    #[test]
    fn borders_of_what_is_read_at_once_do_not_show(
        lines in proptest::collection::vec((odd_size(), 0..8_u8), 6..24),
        shift in 0..9_usize,
    ) {
        let (_folder, root) = light_scratch();
        let path = root.join("session.jsonl");
        let mut text = vec![b' '; shift];
        text.push(b'\n');
        let mut cuts = vec![text.len()];
        let mut expected = Vec::new();
        for (number, (size, shape)) in lines.iter().enumerate() {
            let line = sized_line(number, *size, *shape);
            if *shape < 6 {
                let body = line.len() - if *shape < 4 { 1 } else { 2 };
                expected.push((format!("{number:08x}"), (HEADER.len() + text.len()) as u64, body as u64));
            }
            text.extend_from_slice(&line);
            cuts.push(text.len());
        }
        let session = read_in_pieces(&path, &text, &cuts);
        let pieces = Snapshot::of(&session);
        let fresh = Snapshot::of(&SessionManager::open(&path, None).unwrap());
        if let Some(found) = fresh.difference(&pieces) {
            prop_assert!(false, "at once and line by line: {found}\n{lines:?}");
        }
        let found: Vec<(String, u64, u64)> =
            fresh.rows.iter().map(|row| (row.id.clone(), row.offset, row.size)).collect();
        prop_assert_eq!(&found, &expected, "{:?}", &lines);
        let torn = lines.iter().filter(|(_, shape)| *shape == 7).count();
        prop_assert_eq!(fresh.damaged_lines as usize, torn, "{:?}", &lines);
        prop_assert!(fresh.rows.iter().all(|row| row.kind == Kind::Message));
    }
}
