//! The log that a program left behind.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The entries of a log, without its header. Every line is whole, ids are there once, and parents stand above.
///
/// # Panics
/// If that is not so.
#[track_caller]
pub fn entries(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(text.ends_with('\n'), "the last line is not whole: {text}");
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let mut lines = text.lines().map(parse);
    let header: Value = lines.next().unwrap();
    assert_eq!((&header["type"], &header["version"]), (&"session".into(), &3.into()), "{header}");
    let mut ids = HashSet::new();
    let entries: Vec<Value> = lines.collect();
    for entry in &entries {
        let parent = &entry["parentId"];
        assert!(parent.is_null() || ids.contains(&string(parent)), "a parent that is not above: {entry}");
        assert!(entry["id"].is_string() && ids.insert(string(&entry["id"])), "an id again: {entry}");
    }
    entries
}

/// The path to an entry, from its root.
///
/// # Panics
/// If there is no such entry.
#[track_caller]
pub fn path_to<'a>(entries: &'a [Value], id: &Value) -> Vec<&'a Value> {
    let mut path = Vec::new();
    let mut at = id;
    while !at.is_null() {
        let entry = entries.iter().find(|entry| entry["id"] == *at);
        let entry = entry.unwrap_or_else(|| panic!("no entry {at}"));
        path.push(entry);
        at = &entry["parentId"];
    }
    path.reverse();
    path
}

/// The text of a JSON string, nothing for what is none.
pub fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What a message says.
pub fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        content => content.as_array().into_iter().flatten().map(|block| string(&block["text"])).collect(),
    }
}

/// An entry in a few words: `user: text`, `assistant: text <tool>`, `result: text`, or its type and summary.
pub fn told(entry: &Value) -> String {
    let message = &entry["message"];
    match entry["type"].as_str() {
        Some("message") => {
            let blocks = message["content"].as_array().into_iter().flatten();
            let calls = blocks.filter(|block| block["type"] == "toolCall");
            let calls: String = calls.map(|call| format!("<{}>", string(&call["name"]))).collect();
            let role = if message["role"] == "toolResult" { "result" } else { &string(&message["role"]) };
            format!("{role}: {}{calls}", text_of(message))
        }
        Some("branch_summary" | "compaction") => {
            format!("{}: {}", string(&entry["type"]), string(&entry["summary"]))
        }
        _ => string(&entry["type"]),
    }
}
