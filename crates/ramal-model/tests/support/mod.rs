//! What the tests of all interfaces share: requests, sessions to make them from, and how answers are
//! looked at.
#![allow(dead_code, reason = "not every test needs everything")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]
#![allow(unreachable_pub, reason = "a module of several tests")]

pub mod requests;
pub mod sessions;

use std::time::Duration;

use ramal_model::{Answer, AnswerStream, Event, ModelError, Timeouts};

/// Timeouts that do not stop a test for long.
pub fn short_timeouts() -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(5),
        first: Duration::from_secs(5),
        read: Duration::from_millis(300),
    }
}

/// Everything that came, and how it ended.
pub async fn drain(mut stream: AnswerStream) -> (Vec<Event>, Answer, Result<(), ModelError>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    let outcome = stream.outcome().await;
    (events, outcome.answer, outcome.result)
}

/// Events are well formed: every block starts before it grows, ends once, and its pieces make up
/// what stands in the answer.
pub fn check_events(events: &[Event], answer: &Answer) {
    use ramal_model::Block;
    use std::collections::BTreeMap;
    let mut open: BTreeMap<usize, String> = BTreeMap::new();
    let mut ended = std::collections::BTreeSet::new();
    for event in events {
        match event {
            Event::TextStart { block }
            | Event::ThinkingStart { block }
            | Event::ToolCallStart { block, .. } => {
                assert!(open.insert(*block, String::new()).is_none(), "block {block} starts twice");
                assert!(*block < answer.blocks.len(), "block {block} is not in the answer");
            }
            Event::TextDelta { block, delta }
            | Event::ThinkingDelta { block, delta }
            | Event::ToolCallDelta { block, delta } => {
                assert!(!ended.contains(block), "block {block} grows after its end");
                open.get_mut(block).unwrap_or_else(|| panic!("block {block} did not start")).push_str(delta);
            }
            Event::BlockEnd { block } => {
                assert!(open.contains_key(block), "block {block} ends but did not start");
                assert!(ended.insert(*block), "block {block} ends twice");
            }
            _ => {}
        }
    }
    for (block, text) in open {
        match &answer.blocks[block] {
            Block::Text { text: whole, .. } => assert_eq!(&text, whole),
            Block::Thinking { thinking, redacted: false, .. } => assert_eq!(&text, thinking),
            // What was no object is kept as a string.
            Block::ToolCall { arguments, .. } if arguments.starts_with('"') && arguments != &text => {
                assert_eq!(serde_json::from_str::<String>(arguments).unwrap(), text);
            }
            Block::ToolCall { arguments, .. } => assert_eq!(text.trim(), arguments.trim()),
            _ => {}
        }
    }
}
