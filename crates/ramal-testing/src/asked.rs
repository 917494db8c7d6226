//! What a request says, told the same way for every interface.

use serde_json::Value;

use crate::server::Recorded;

/// A request as it is compared in tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The system prompt.
    pub system: String,
    /// What was said, piece by piece: `user: …`, `assistant: …`, `call: name {arguments}`, `result: …`.
    pub said: Vec<String>,
    /// How many tools there are.
    pub tools: usize,
}

impl Asked {
    /// Reads a request of whichever interface.
    pub fn of(request: &Recorded) -> Asked {
        let body = request.json();
        let count = |value: &Value| value.as_array().map_or(0, Vec::len);
        let (mut said, mut system, mut tools) = (Vec::new(), String::new(), count(&body["tools"]));
        if body["contents"].is_array() {
            system = text(&body["systemInstruction"]["parts"]);
            tools = count(&body["tools"][0]["functionDeclarations"]);
            list(&body["contents"]).for_each(|content| google(content, &mut said));
        } else if body["input"].is_array() {
            system = text(&body["instructions"]);
            list(&body["input"]).for_each(|item| responses(item, &mut said));
        } else if request.path.ends_with("/chat/completions") {
            for message in list(&body["messages"]) {
                match message["role"].as_str() {
                    Some("system" | "developer") => system += &text(&message["content"]),
                    _ => completions(message, &mut said),
                }
            }
        } else {
            system = text(&body["system"]);
            list(&body["messages"]).for_each(|message| anthropic(message, &mut said));
        }
        Asked { system, said, tools }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A text, or the texts of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => list(other).filter_map(|part| part["text"].as_str()).collect(),
    }
}

/// A text in a line of its own, if there is one.
fn say(said: &mut Vec<String>, who: &Value, text: &str) {
    if !text.is_empty() {
        let who = if who == "model" { "assistant" } else { who.as_str().unwrap_or("?") };
        said.push(format!("{who}: {text}"));
    }
}

fn call(name: &Value, arguments: &Value) -> String {
    let arguments = match arguments {
        // Some interfaces have them as a text.
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    };
    format!("call: {} {arguments}", name.as_str().unwrap_or("?"))
}

fn anthropic(message: &Value, said: &mut Vec<String>) {
    for block in list(&message["content"]) {
        match block["type"].as_str() {
            Some("tool_use") => said.push(call(&block["name"], &block["input"])),
            Some("tool_result") => said.push(format!("result: {}", text(&block["content"]))),
            _ => say(said, &message["role"], block["text"].as_str().unwrap_or_default()),
        }
    }
}

fn completions(message: &Value, said: &mut Vec<String>) {
    let content = text(&message["content"]);
    if message["role"] == "tool" {
        said.push(format!("result: {content}"));
        return;
    }
    match &message["content"] {
        Value::Array(parts) => parts.iter().for_each(|part| {
            say(said, &message["role"], part["text"].as_str().unwrap_or_default());
        }),
        _ => say(said, &message["role"], &content),
    }
    said.extend(
        list(&message["tool_calls"])
            .map(|made| call(&made["function"]["name"], &made["function"]["arguments"])),
    );
}

fn responses(item: &Value, said: &mut Vec<String>) {
    match item["type"].as_str() {
        Some("function_call") => said.push(call(&item["name"], &item["arguments"])),
        Some("function_call_output") => said.push(format!("result: {}", text(&item["output"]))),
        Some("reasoning") => {}
        _ => say(said, &item["role"], &text(&item["content"])),
    }
}

fn google(content: &Value, said: &mut Vec<String>) {
    for part in list(&content["parts"]) {
        if let Some(made) = part.get("functionCall") {
            said.push(call(&made["name"], &made["args"]));
        } else if let Some(result) = part.get("functionResponse") {
            let response = &result["response"];
            let texts = response.as_object().into_iter().flatten().map(|(_, value)| text(value));
            said.push(format!("result: {}", texts.collect::<String>()));
        } else {
            say(said, &content["role"], part["text"].as_str().unwrap_or_default());
        }
    }
}
