//! A context that was asked for before the log grew, and is asked for again, is the one that a program
//! would find that opens the log only now.

#![allow(clippy::unwrap_used, reason = "a test may fail this way")]

mod common;

use common::light_scratch;
use proptest::prelude::*;
use ramal_session::{At, SessionManager};

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n";

/// Few ids, so that they meet; one comes twice often, and references lead to later entries, too.
const IDS: usize = 16;

#[derive(Debug, Clone)]
struct Line {
    id: usize,
    /// None for null; one more than there are leads nowhere.
    parent: Option<usize>,
    kind: u8,
    target: usize,
    number: u8,
}

impl Line {
    fn text(&self) -> String {
        let Line { id, target, number, .. } = self;
        let parent = self.parent.map_or("null".into(), |parent| format!("\"e{parent}\""));
        let (kind, fields) = match self.kind {
            0..=2 => ("message", format!(r#""message":{{"role":"user","content":"said {number}"}}"#)),
            3 => ("message", format!(r#""message":{{"role":"assistant","content":[{{"type":"text","text":"t{number}"}}],"provider":"p","model":"m{number}"}}"#)),
            4 => ("message", r#""message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}]}"#.into()),
            5 => ("message", r#""message":{"role":"toolResult","toolCallId":"c","content":"seen"}"#.into()),
            6 => ("message", format!(r#""message":{{"role":"system","content":"rules {number}"}}"#)),
            7 => ("model_change", format!(r#""provider":"p","modelId":"chosen{number}","role":"r{number}""#)),
            8 => ("model_change", format!(r#""model":"p/chosen{number}""#)),
            9 => ("thinking_level_change", r#""thinkingLevel":"high""#.into()),
            10 => ("compaction", format!(r#""summary":"so far {number}","firstKeptEntryId":"e{target}""#)),
            11 => ("context_edit", format!(r#""targetId":"e{target}","replacement":null"#)),
            12 => ("context_edit", format!(r#""targetId":"e{target}","replacement":{{"content":"other {number}"}}"#)),
            13 => ("reset_boundary", r#""reason":"clear""#.into()),
            14 => ("branch_summary", format!(r#""fromId":"e{target}","summary":"elsewhere {number}""#)),
            15 => ("custom_message", format!(r#""customType":"c","content":"hint {number}","display":true"#)),
            16 => ("ttsr_injection", format!(r#""injectedRules":["rule{number}"]"#)),
            _ => ("label", format!(r#""targetId":"e{target}","label":"l{number}""#)),
        };
        format!(
            "{{\"type\":\"{kind}\",\"id\":\"e{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\",{fields}}}\n"
        )
    }
}

/// Mostly one after the other, so that paths grow; some hang elsewhere, or on what comes later.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    let one = (
        prop_oneof![12 => Just(None), 1 => (0..IDS).prop_map(Some)],
        prop_oneof![8 => Just(None), 3 => (0..=IDS).prop_map(|parent| Some(Some(parent))), 1 => Just(Some(None))],
        0..18_u8,
        0..=IDS,
        0..4_u8,
    );
    proptest::collection::vec(one, 1..IDS).prop_map(|lines| {
        let mut before = None;
        let lines = lines.into_iter().enumerate();
        lines
            .map(|(place, (id, parent, kind, target, number))| {
                let id = id.unwrap_or(place);
                let line = Line { id, parent: parent.unwrap_or(before), kind, target, number };
                before = Some(id);
                line
            })
            .collect()
    })
}

/// Everything that a context tells.
fn told(session: &SessionManager, at: At<'_>) -> String {
    let context = session.build_session_context(at).unwrap();
    let messages: Vec<String> = context.messages().map(|message| message.unwrap().json).collect();
    format!("{} {} {messages:#?}", context.state_json(), context.says_thinking_level)
}

proptest! {
    #![proptest_config(common::cases(1000))]

    #[test]
    fn what_was_asked_before_changes_no_answer(
        lines in lines(),
        asks in proptest::collection::vec((any::<bool>(), any::<proptest::sample::Index>()), IDS),
    ) {
        let (_folder, root) = light_scratch();
        let path = root.join("s.jsonl");
        common::write(&path, HEADER.as_bytes());
        let mut session = SessionManager::open(&path, None).unwrap();
        for (line, (asks, at)) in lines.iter().zip(asks) {
            common::append(&path, line.text().as_bytes());
            session.refresh().unwrap();
            if !asks {
                continue;
            }
            let fresh = SessionManager::open(&path, None).unwrap();
            let ids: Vec<String> =
                session.get_entries().map(|entry| entry.id().unwrap().to_string()).collect();
            let id = at.get(&ids);
            prop_assert_eq!(told(&session, At::Entry(id)), told(&fresh, At::Entry(id)));
            let last = ids.last().unwrap();
            prop_assert_eq!(told(&session, At::Entry(last)), told(&fresh, At::Entry(last)));
            // Asked twice, and of each of them in turn.
            prop_assert_eq!(told(&session, At::Entry(id)), told(&fresh, At::Entry(id)));
        }
    }
}
