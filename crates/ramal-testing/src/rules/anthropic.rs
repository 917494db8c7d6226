//! The rules of Anthropic's Messages for a request, written from its documentation and from what it
//! answers to those who break them.

use std::collections::HashSet;

use serde_json::Value;

use super::{Broken, is_base64, is_name, only};

/// What in the body of a request the provider would not accept.
pub fn validate_anthropic(body: &[u8]) -> Vec<String> {
    let mut broken = Broken::default();
    // Within a text the quotes would have backslashes before them.
    let text_of_body = String::from_utf8_lossy(body);
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return vec!["no JSON".into()] };
    let known = [
        "model",
        "max_tokens",
        "stream",
        "thinking",
        "output_config",
        "tools",
        "tool_choice",
        "system",
        "messages",
    ];
    only(&body, &known, "request", &mut broken);
    broken.unless(body["model"].as_str().is_some_and(|model| !model.is_empty()), "no model");
    broken.unless(body["max_tokens"].as_u64().is_some_and(|most| most >= 1), "max_tokens");
    broken.unless(body["stream"] == true, "no stream is asked for");
    thinking(&body, &mut broken);
    if let Some(system) = body.get("system") {
        let blocks = system.as_array().map(Vec::as_slice).unwrap_or_default();
        broken.unless(!blocks.is_empty(), "system is empty");
        blocks.iter().for_each(|block| text(block, "system", &mut broken));
    }
    let tools = tools(&body, &mut broken);
    messages(&body, &mut broken);
    let has_calls = text_of_body.contains(r#""type":"tool_use""#);
    broken.unless(!has_calls || tools > 0, "calls without tools");
    let marks = text_of_body.matches(r#""cache_control":{"#).count();
    broken.unless(marks <= 4, "more than four cache marks");
    broken.0
}

fn thinking(body: &Value, broken: &mut Broken) {
    let thinking = &body["thinking"];
    match thinking["type"].as_str() {
        None => broken.unless(thinking.is_null(), "thinking without a type"),
        Some("enabled") => {
            only(thinking, &["type", "budget_tokens"], "thinking", broken);
            let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
            broken.unless(budget >= 1024, "a budget under 1024");
            broken.unless(budget < body["max_tokens"].as_u64().unwrap_or(0), "budget ≥ max_tokens");
            broken.unless(body.get("output_config").is_none(), "effort beside a budget");
            loop_begins_with_thinking(body, broken);
        }
        Some("adaptive") => only(thinking, &["type", "display"], "thinking", broken),
        Some(other) => broken.add(format!("thinking {other}")),
    }
    if let Some(config) = body.get("output_config") {
        let effort = config["effort"].as_str().unwrap_or_default();
        broken.unless(["low", "medium", "high", "xhigh", "max"].contains(&effort), "effort");
    }
}

/// With a budget, an answer that is still in the middle of its calls has to begin with a thought.
fn loop_begins_with_thinking(body: &Value, broken: &mut Broken) {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kinds = |message: &Value| -> Vec<String> {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        blocks.iter().map(|block| block["type"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let Some(last) = messages.last() else { return };
    if kinds(last).first().is_none_or(|kind| kind != "tool_result") {
        return;
    }
    let mut begins = Vec::new();
    for (number, message) in messages.iter().enumerate().rev().skip(1) {
        if message["role"] != "assistant" {
            continue;
        }
        let before = number.checked_sub(1).map(|at| kinds(&messages[at])).unwrap_or_default();
        if before.iter().any(|kind| kind != "tool_result") {
            begins.push(kinds(message).first().cloned().unwrap_or_default());
        }
        if before.first().is_none_or(|kind| kind != "tool_result") {
            break;
        }
    }
    broken.unless(
        begins.iter().any(|kind| kind.ends_with("thinking")),
        "the turn does not begin with a thought",
    );
}

fn tools(body: &Value, broken: &mut Broken) -> usize {
    let Some(tools) = body.get("tools") else { return 0 };
    let tools = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut names = HashSet::new();
    for tool in tools {
        only(tool, &["name", "description", "input_schema", "cache_control"], "tool", broken);
        let name = tool["name"].as_str().unwrap_or_default();
        broken.unless(is_name(name, 128), format!("the tool {name:?}"));
        broken.unless(names.insert(name.to_owned()), format!("two tools {name:?}"));
        broken.unless(tool["input_schema"]["type"] == "object", format!("the schema of {name:?}"));
    }
    tools.len()
}

fn messages(body: &Value, broken: &mut Broken) {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    broken.unless(!messages.is_empty(), "no messages");
    let mut ids = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let place = format!("messages.{number}");
        only(message, &["role", "content"], &place, broken);
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        broken.unless(message["role"] == role, format!("{place} is not of {role}"));
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        broken.unless(!blocks.is_empty(), format!("{place} is empty"));
        let mut answered = Vec::new();
        let mut results_are_over = false;
        for (at, block) in blocks.iter().enumerate() {
            let place = format!("{place}.content.{at}");
            match (role, block["type"].as_str().unwrap_or_default()) {
                (_, "text") => text(block, &place, broken),
                ("user", "image") => image(block, &place, broken),
                ("user", "tool_result") => {
                    broken.unless(!results_are_over, format!("{place}: a result behind something else"));
                    answered.push(result(block, &place, broken));
                }
                ("assistant", "tool_use") => {
                    only(block, &["type", "id", "name", "input", "cache_control"], &place, broken);
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    broken.unless(is_name(&id, 64), format!("{place}: the id {id:?}"));
                    broken.unless(ids.insert(id.clone()), format!("{place}: the id {id:?} again"));
                    broken.unless(
                        is_name(block["name"].as_str().unwrap_or_default(), 128),
                        format!("{place}: name"),
                    );
                    broken.unless(block["input"].is_object(), format!("{place}: input"));
                    open.push(id);
                }
                ("assistant", "thinking") => {
                    only(block, &["type", "thinking", "signature"], &place, broken);
                    let signature = block["signature"].as_str().unwrap_or_default();
                    broken.unless(
                        block["thinking"].is_string() && !signature.is_empty(),
                        format!("{place}: signature"),
                    );
                }
                ("assistant", "redacted_thinking") => {
                    only(block, &["type", "data"], &place, broken);
                    broken.unless(
                        block["data"].as_str().is_some_and(|data| !data.is_empty()),
                        format!("{place}: data"),
                    );
                }
                (_, kind) => broken.add(format!("{place}: {kind:?} of {role}")),
            }
            results_are_over |= block["type"] != "tool_result";
        }
        if role == "user" {
            answered.sort();
            let mut wanted = std::mem::take(&mut open);
            wanted.sort();
            broken.unless(
                answered == wanted,
                format!("{place}: results {answered:?} for the calls {wanted:?}"),
            );
        } else {
            let last = blocks.last().and_then(|block| block["type"].as_str()).unwrap_or_default();
            broken.unless(!last.ends_with("thinking"), format!("{place} ends with a thought"));
        }
    }
    broken.unless(open.is_empty(), "calls without results at the end");
    broken.unless(messages.len() % 2 == 1, "the last message is not of the user");
}

fn text(block: &Value, place: &str, broken: &mut Broken) {
    only(block, &["type", "text", "cache_control"], place, broken);
    let text = block["text"].as_str().unwrap_or_default();
    broken.unless(block["type"] == "text" && !text.trim().is_empty(), format!("{place}: blank text"));
}

fn image(block: &Value, place: &str, broken: &mut Broken) {
    only(block, &["type", "source", "cache_control"], place, broken);
    let source = &block["source"];
    only(source, &["type", "media_type", "data"], place, broken);
    let kind = source["media_type"].as_str().unwrap_or_default();
    let known = ["image/jpeg", "image/png", "image/gif", "image/webp"].contains(&kind);
    broken.unless(source["type"] == "base64" && known, format!("{place}: an image of {kind:?}"));
    broken.unless(is_base64(source["data"].as_str().unwrap_or_default()), format!("{place}: no base64"));
}

fn result(block: &Value, place: &str, broken: &mut Broken) -> String {
    only(block, &["type", "tool_use_id", "content", "is_error", "cache_control"], place, broken);
    let content = block["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    broken.unless(!content.is_empty(), format!("{place}: an empty result"));
    let mut has_images = false;
    for part in content {
        broken.unless(part.get("cache_control").is_none(), format!("{place}: a mark within a result"));
        match part["type"].as_str() {
            Some("image") => {
                has_images = true;
                image(part, place, broken);
            }
            _ => text(part, place, broken),
        }
    }
    broken.unless(!(has_images && block["is_error"] == true), format!("{place}: an image in a failure"));
    block["tool_use_id"].as_str().unwrap_or_default().to_owned()
}
