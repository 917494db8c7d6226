//! Calls of tools and their results, as strict providers want them.

use super::json::{Json, object};

/// What a strict provider would refuse in a list of messages.
pub fn unpaired(messages: &[Json]) -> Option<String> {
    let mut waiting: Vec<Json> = Vec::new();
    let end = object([("role", "user".into())]);
    for (at, message) in messages.iter().chain([&end]).enumerate() {
        let role = message.str("role").unwrap_or_default();
        if role == "toolResult" {
            let call = message.get("toolCallId").cloned().unwrap_or(Json::Null);
            match waiting.iter().position(|waiting| *waiting == call) {
                Some(place) => drop(waiting.remove(place)),
                None => return Some(format!("message {at}: a result without a call before it")),
            }
            continue;
        }
        if !waiting.is_empty() {
            return Some(format!("message {at}: calls without result: {}", Json::List(waiting).to_text()));
        }
        if !["user", "assistant", "developer", "system"].contains(&role) {
            return Some(format!("message {at}: role {role}"));
        }
        if role == "assistant" {
            let blocks = message.get("content").map(Json::as_list).unwrap_or_default();
            if blocks.is_empty() {
                return Some(format!("message {at}: an empty answer"));
            }
            let calls = blocks.iter().filter(|block| block.str("type") == Some("toolCall"));
            waiting = calls.map(|call| call.get("id").cloned().unwrap_or(Json::Null)).collect();
        }
    }
    None
}
