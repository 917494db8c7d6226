//! One test for each rule of contexts, and a property of model input.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::ModelInput;
use crate::log::Log;
use crate::manager::{At, SessionManager};

/// A session in memory whose log has these lines behind a header.
fn session(lines: &[String]) -> SessionManager {
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let text = format!("{header}\n{}\n", lines.join("\n"));
    SessionManager::read(Log::Memory(text.into_bytes()), Path::new("memory"), Path::new("/w")).unwrap()
}

/// A chain of entries: each is given without its envelope, the n-th gets the id `en`.
fn chain(entries: &[Value]) -> SessionManager {
    session(&chain_lines(entries))
}

fn chain_lines(entries: &[Value]) -> Vec<String> {
    let line = |(n, entry): (usize, &Value)| {
        let parent = n.checked_sub(1).map_or_else(|| "null".into(), |n| format!("\"e{n}\""));
        let rest = entry.to_string();
        format!(
            r#"{{"id":"e{n}","parentId":{parent},"timestamp":"1970-01-01T00:00:00.{n:03}Z",{}"#,
            rest.trim_start_matches('{')
        )
    };
    entries.iter().enumerate().map(line).collect()
}

fn user(text: &str) -> Value {
    json!({"type": "message", "message": {"role": "user", "content": text}})
}

fn says(text: &str) -> Value {
    answer(json!([{"type": "text", "text": text}]))
}

fn answer(content: Value) -> Value {
    json!({"type": "message", "message": {"role": "assistant", "content": content, "provider": "p", "model": "m"}})
}

fn calls(ids: &[&str]) -> Value {
    let blocks = ids.iter().map(|id| json!({"type": "toolCall", "id": id, "name": "read", "arguments": {}}));
    answer(blocks.collect())
}

fn result(call: &str, text: &str) -> Value {
    json!({"type": "message", "message": {"role": "toolResult", "toolCallId": call, "toolName": "read",
        "content": [{"type": "text", "text": text}], "isError": false}})
}

fn compaction(anchor: Value, more: Value) -> Value {
    let mut entry =
        json!({"type": "compaction", "summary": "sum", "firstKeptEntryId": anchor, "tokensBefore": 9});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn edit(target: &str, replacement: Value) -> Value {
    json!({"type": "context_edit", "targetId": target, "replacement": replacement})
}

/// A message in short: its role, and what it says.
fn short(message: &Value) -> String {
    let role = message["role"].as_str().unwrap_or("?");
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .map(|b| b["text"].as_str().or(b["id"].as_str()).unwrap_or(""))
            .collect::<Vec<_>>()
            .join("+"),
        _ => String::new(),
    };
    match role {
        "compactionSummary" | "branchSummary" => format!("{role}: {}", message["summary"].as_str().unwrap()),
        "toolResult" => {
            let failed = if message["isError"] == json!(true) { "failed " } else { "" };
            format!("{failed}result {}", message["toolCallId"].as_str().unwrap_or("?"))
        }
        _ => format!("{role}: {}", text(&message["content"])),
    }
}

fn context_at(session: &SessionManager, at: At<'_>) -> Vec<String> {
    let context = session.build_session_context(at).unwrap();
    context.messages().map(|message| short(&serde_json::from_str(&message.unwrap().json).unwrap())).collect()
}

fn context(entries: &[Value]) -> Vec<String> {
    context_at(&chain(entries), At::Leaf)
}

fn model_input(entries: &[Value]) -> Vec<Value> {
    let session = chain(entries);
    let context = session.build_session_context(At::Leaf).unwrap();
    context.model_messages().map(|message| serde_json::from_str(&message.unwrap()).unwrap()).collect()
}

fn model(entries: &[Value]) -> Vec<String> {
    model_input(entries).iter().map(short).collect()
}

fn state(entries: &[Value]) -> Value {
    let session = chain(entries);
    serde_json::from_str(&session.build_session_context(At::Leaf).unwrap().state_json()).unwrap()
}

#[test]
fn nothing_before_the_first_entry() {
    let session = chain(&[user("q")]);
    assert!(context_at(&session, At::BeforeFirst).is_empty());
    let state = session.build_session_context(At::BeforeFirst).unwrap().state_json();
    assert_eq!(
        state,
        r#"{"thinkingLevel":"off","models":{},"mode":"none","injectedTtsrRules":[],"selectedMCPToolNames":[]}"#
    );
    assert!(session.build_session_context(At::Entry("nobody")).is_err());
}

#[test]
fn conversation_speaks_and_bookkeeping_does_not() {
    let entries = [
        user("q"),
        json!({"type": "label", "targetId": "e0", "label": "x"}),
        json!({"type": "custom", "customType": "c", "data": 1}),
        json!({"type": "hologram", "content": "no"}),
        json!({"type": "custom_message", "customType": "c", "content": "note", "display": false, "details": {"n": 1.0}}),
        json!({"type": "branch_summary", "fromId": "e0", "summary": ""}),
        json!({"type": "branch_summary", "fromId": "e0", "summary": "went"}),
        says("a"),
    ];
    assert_eq!(context(&entries), ["user: q", "custom: note", "branchSummary: went", "assistant: a"]);
}

#[test]
fn messages_that_lack_parts_say_nothing() {
    let message = |message: Value| json!({"type": "message", "message": message});
    let entries = [
        json!({"type": "message"}),
        message(Value::Null),
        message(json!({"content": "x"})),
        message(json!({"role": "user"})),
        message(json!({"role": "user", "content": null})),
        message(json!({"role": "system", "sections": [{"name": "env", "content": "e"}]})),
        message(json!({"role": "bashExecution", "command": "ls", "output": ""})),
        json!({"type": "custom_message", "customType": "c", "display": true}),
        message(json!({"role": "user", "content": "whole"})),
    ];
    assert_eq!(context(&entries), ["system: ", "bashExecution: ", "user: whole"]);
}

#[test]
fn bytes_of_a_message_stay_as_they_are() {
    let message = r#"{"n":1.10, "role":"user","big":123456789012345678901234567890,"content":"x","content":"y","e":"\u00e9"}"#;
    let session = session(&[format!(
        r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{message}}}"#
    )]);
    let context = session.build_session_context(At::Leaf).unwrap();
    assert_eq!(context.messages().next().unwrap().unwrap().json, message);
    assert_eq!(context.model_messages().next().unwrap().unwrap(), message);
}

#[test]
fn deep_nesting_is_no_limit() {
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    let session = session(&[format!(
        r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{{"role":"user","content":[{{"type":"text","text":"q"}}],"x":{deep}}}}}"#
    )]);
    let context = session.build_session_context(At::Leaf).unwrap();
    assert_eq!((context.messages().count(), context.model_messages().count()), (1, 1));
}

#[test]
fn what_cannot_be_read_contributes_nothing() {
    let bad = |kind: &str, id: &str, parent: &str, rest: &str| {
        format!(r#"{{"type":"{kind}","id":"{id}","parentId":"{parent}","timestamp":"t",{rest},"x":oops}}"#)
    };
    let good = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"t","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let session = session(&[
        good("a", "null"),
        bad("message", "b", "a", r#""message":{"role":"user","content":"b"}"#),
        bad("compaction", "c", "b", r#""summary":"s","firstKeptEntryId":"c""#),
        bad("context_edit", "d", "c", r#""targetId":"a","replacement":null"#),
        bad("thinking_level_change", "e", "d", r#""thinkingLevel":"high""#),
        good("f", "\"e\""),
    ]);
    assert_eq!(context_at(&session, At::Leaf), ["user: a", "user: f"]);
    assert_eq!(session.build_session_context(At::Leaf).unwrap().thinking_level, "off");
}

#[test]
fn the_latest_compaction_speaks_for_what_is_before_it() {
    let entries = [
        user("one"),
        says("two"),
        compaction(json!("e1"), json!({})),
        user("three"),
        compaction(json!("e1"), json!({"summary": "second"})),
        user("four"),
    ];
    assert_eq!(
        context(&entries),
        ["compactionSummary: second", "assistant: two", "user: three", "user: four"]
    );
    let session = chain(&entries);
    assert_eq!(
        context_at(&session, At::Entry("e3")),
        ["compactionSummary: sum", "assistant: two", "user: three"]
    );
}

#[test]
fn an_anchor_that_leads_nowhere_keeps_nothing() {
    for anchor in [json!("e2"), json!("nobody"), json!("e3"), Value::Null, json!("")] {
        let entries = [user("one"), says("two"), compaction(anchor.clone(), json!({})), user("three")];
        assert_eq!(context(&entries), ["compactionSummary: sum", "user: three"], "{anchor}");
    }
}

#[test]
fn a_retained_tail_stands_in_for_an_anchor() {
    let tail = json!({"retainedTail": [{"role": "user", "content": "kept"}, {"role": "user"}, 3]});
    let without = [user("one"), compaction(Value::Null, tail.clone()), user("two")];
    assert_eq!(context(&without), ["compactionSummary: sum", "user: kept", "user: two"]);
    for (anchor, want) in [("e0", &["user: one"][..]), ("nobody", &[])] {
        let with = [user("one"), compaction(json!(anchor), tail.clone())];
        assert_eq!(context(&with)[1..], *want);
    }
}

#[test]
fn a_system_message_of_the_compaction_replaces_those_kept() {
    let system = |text: &str| json!({"type": "message", "message": {"role": "system", "content": text}});
    let own = json!({"systemMessage": {"role": "system", "content": "all"}});
    let entries = |more| [system("s1"), user("one"), compaction(json!("e0"), more), system("s2")];
    assert_eq!(
        context(&entries(own.clone())),
        ["system: all", "compactionSummary: sum", "user: one", "system: s2"]
    );
    assert_eq!(
        context(&entries(json!({}))),
        ["compactionSummary: sum", "system: s1", "user: one", "system: s2"]
    );
    // A compaction that was left out brings nothing, so what was kept stands.
    let mut dropped = entries(own).to_vec();
    dropped.push(edit("e2", Value::Null));
    assert_eq!(context(&dropped), ["system: s1", "user: one", "system: s2"]);
}

#[test]
fn a_boundary_hides_what_is_before_it_for_good() {
    let boundary = json!({"type": "reset_boundary"});
    let entries =
        [user("one"), boundary.clone(), user("two"), compaction(json!("e0"), json!({})), user("three")];
    assert_eq!(context(&entries), ["compactionSummary: sum", "user: two", "user: three"]);
    let after = [user("one"), compaction(json!("e0"), json!({})), boundary, user("two")];
    assert_eq!(context(&after), ["user: two"]);
}

#[test]
fn the_latest_edit_of_a_target_counts() {
    let text = json!({"content": "new"});
    let base = [user("one"), says("two"), result("c", "three")];
    let with = |edits: &[Value]| context(&[&base[..], edits].concat());
    assert_eq!(with(&[edit("e0", Value::Null)]), ["assistant: two", "result c"]);
    assert_eq!(with(&[edit("e0", Value::Null), edit("e0", text.clone())])[0], "user: new");
    assert_eq!(with(&[edit("e0", text.clone()), edit("e0", json!({"content": 3}))])[0], "user: one");
    assert_eq!(with(&[edit("nobody", Value::Null), edit("e0", json!("text"))])[0], "user: one");

    let session = chain(
        &[&base[..], &[edit("e1", text.clone()), edit("e2", text), edit("e0", json!({"content": []}))]]
            .concat(),
    );
    let context = session.build_session_context(At::Leaf).unwrap();
    let messages: Vec<Value> =
        context.messages().map(|message| serde_json::from_str(&message.unwrap().json).unwrap()).collect();
    let block = json!([{"type": "text", "text": "new"}]);
    assert_eq!(
        [&messages[0]["content"], &messages[1]["content"], &messages[2]["content"]],
        [&json!([]), &block, &block]
    );
    assert_eq!(messages[1]["model"], "m");
}

#[test]
fn edits_of_summaries() {
    let entries = |replacement: Value| {
        [
            user("one"),
            json!({"type": "branch_summary", "fromId": "e0", "summary": "went"}),
            compaction(json!("e1"), json!({})),
            edit("e1", replacement.clone()),
            edit("e2", replacement),
        ]
    };
    assert!(context(&entries(Value::Null)).is_empty());
    assert_eq!(
        context(&entries(json!({"content": "no"}))),
        ["compactionSummary: sum", "branchSummary: went"]
    );
}

#[test]
fn settings_are_the_last_on_the_path() {
    let entries = [
        json!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        json!({"type": "model_change", "model": "x/small", "role": "smol"}),
        says("counts while no model was chosen"),
        json!({"type": "service_tier_change", "serviceTier": {"openai": "flex"}}),
        json!({"type": "mode_change", "mode": "plan", "data": {"n": 1}}),
        json!({"type": "ttsr_injection", "injectedRules": ["b", "a"]}),
        json!({"type": "ttsr_injection", "injectedRules": ["a", "c", 3]}),
        json!({"type": "mcp_tool_selection", "selectedToolNames": ["t"]}),
        json!({"type": "active_tools_change", "activeToolNames": ["read"]}),
    ];
    assert_eq!(
        state(&entries),
        json!({"thinkingLevel": "high", "models": {"default": "p/m", "smol": "x/small"}, "mode": "plan",
            "modeData": {"n": 1}, "injectedTtsrRules": ["b", "a", "c"], "serviceTier": {"openai": "flex"},
            "selectedMCPToolNames": ["t"], "activeToolNames": ["read"]})
    );
    let cleared = [
        json!({"type": "thinking_level_change", "thinkingLevel": null}),
        json!({"type": "service_tier_change", "serviceTier": null}),
        json!({"type": "mode_change", "mode": "none"}),
        json!({"type": "model_change", "provider": "q", "modelId": "a/b"}),
        json!({"type": "model_change"}),
        says("counts no more"),
    ];
    assert_eq!(
        state(&[&entries[..], &cleared].concat()),
        json!({"thinkingLevel": "off", "models": {"default": "q/a/b", "smol": "x/small"}, "mode": "none",
            "injectedTtsrRules": ["b", "a", "c"], "selectedMCPToolNames": ["t"], "activeToolNames": ["read"]})
    );
}

#[test]
fn results_follow_their_call_in_its_order() {
    let entries = [
        user("q"),
        calls(&["a", "b", "c"]),
        result("b", "1"),
        user("meanwhile"),
        result("x", "of nobody"),
        result("a", "2"),
        result("b", "again"),
        says("done"),
        result("c", "too late"),
        calls(&["d"]),
    ];
    assert_eq!(
        model(&entries),
        [
            "user: q",
            "assistant: a+b+c",
            "result a",
            "result b",
            "failed result c",
            "user: meanwhile",
            "assistant: done",
            "assistant: d",
            "failed result d",
        ]
    );
}

#[test]
fn what_is_empty_is_left_out() {
    let blank = |role: &str, content: Value| json!({"type": "message", "message": {"role": role, "content": content}});
    let entries = [
        blank("user", json!(" \n")),
        blank("user", json!([{"type": "text", "text": ""}])),
        blank("system", json!("")),
        answer(json!([])),
        answer(json!("")),
        answer(json!([{"type": "thinking", "thinking": "only"}, {"type": "text", "text": " "}])),
        answer(
            json!([{"type": "toolCall", "id": "", "name": "read"}, {"type": "toolCall", "id": "x"}, null]),
        ),
        answer(json!("plain")),
        blank("oracle", json!("unknown")),
        answer(
            json!([{"type": "toolCall", "id": "x", "name": "n"}, {"type": "toolCall", "id": "x", "name": "n"}]),
        ),
    ];
    assert_eq!(model(&entries), ["assistant: plain", "assistant: x", "failed result x"]);
}

#[test]
fn an_empty_answer_parts_no_pair() {
    let entries = [calls(&["a"]), answer(json!([])), result("a", "r")];
    assert_eq!(model(&entries), ["assistant: a", "result a"]);
}

#[test]
fn an_aborted_answer_gets_results_too() {
    let mut aborted = calls(&["a"]);
    aborted["message"]["stopReason"] = json!("aborted");
    assert_eq!(model(&[aborted, user("go on")]), ["assistant: a", "failed result a", "user: go on"]);
}

#[test]
fn other_roles_become_the_user() {
    let message = |message: Value| json!({"type": "message", "message": message});
    let run = |more: Value| {
        let mut run = json!({"role": "bashExecution", "command": "ls", "output": "a ``` b\n", "exitCode": 0});
        run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message(run)
    };
    let got = model(&[
        run(json!({})),
        run(json!({"exitCode": 2, "truncated": true, "fullOutputPath": "/tmp/o"})),
        run(json!({"cancelled": true, "exitCode": null})),
        run(json!({"excludeFromContext": true})),
        message(json!({"role": "pythonExecution", "code": "print(1)", "output": ""})),
        message(json!({"role": "hookMessage", "customType": "h", "content": "hook"})),
        message(json!({"role": "fileMention", "files": [
            {"path": "a\"b", "content": "text"}, {"path": "p.png", "image": {"type": "image", "data": "AA==", "mimeType": "image/png"}}]})),
        json!({"type": "branch_summary", "fromId": "e0", "summary": "went"}),
    ]);
    assert_eq!(got[0], "user: The user ran:\n```sh\nls\n```\n\nIts output:\n````\na ``` b\n````");
    assert!(got[1].contains("exit code 2") && got[1].contains("/tmp/o"));
    assert!(got[2].contains("cancelled") && !got[2].contains("exit code"));
    assert_eq!(got[3], "user: The user ran:\n```python\nprint(1)\n```\n\nIt printed nothing.");
    assert_eq!(got[4], "user: hook");
    assert_eq!(got[5], "user: <file path=\"a&quot;b\">\ntext\n</file>+<file path=\"p.png\"></file>+");
    assert!(got[6].contains("<summary>\nwent\n</summary>"));
    assert_eq!(got.len(), 7);
}

#[test]
fn images_in_a_blob_folder_are_resolved_for_the_model_alone() {
    let hash = "0123456789abcdef".repeat(4);
    let folder = tempfile::tempdir().unwrap();
    std::fs::File::create(folder.path().join(&hash))
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"foo"))
        .unwrap();
    let image = |data: &str| json!({"type": "image", "data": data, "mimeType": "image/png"});
    let reference = format!("blob:sha256:{hash}");
    let blocks = [
        image(&reference),
        image(&format!("blob:sha256:{}", "f".repeat(64))),
        image("blob:sha256:../../etc/passwd"),
        image("AA=="),
    ];
    let entry = json!({"type": "message", "message": {"role": "user", "content": blocks}});
    let session = chain(&[entry]);
    let context = session.build_session_context(At::Leaf).unwrap();
    assert!(context.messages().next().unwrap().unwrap().json.contains(&reference));

    let sent = |options| -> Value {
        serde_json::from_str(&context.model_messages_with(options).next().unwrap().unwrap()).unwrap()
    };
    let with = sent(ModelInput::with_blobs(folder.path()));
    assert_eq!((&with["content"][0]["data"], &with["content"][3]["data"]), (&json!("Zm9v"), &json!("AA==")));
    let text = &with["content"][1];
    assert!(text["type"] == "text" && text["text"].as_str().unwrap().contains("image/png"));
    assert_eq!((&with["content"][2], &sent(ModelInput::default())["content"][0]), (text, text));
}

#[test]
fn messages_can_be_had_one_by_one() {
    let entries = [
        user("old"),
        compaction(json!("e2"), json!({})),
        user("q"),
        calls(&["a"]),
        result("a", "r"),
        says("end"),
    ];
    let session = chain(&entries);
    let context = session.build_session_context(At::Leaf).unwrap();
    let all: Vec<String> = context.messages().map(|message| message.unwrap().json).collect();
    let numbers = 0..context.speaking();
    let single = numbers.flat_map(|number| context.messages_of(number..number + 1));
    assert_eq!(single.map(|message| message.unwrap().json).collect::<Vec<_>>(), all);
    assert!(all.len() > 3);
    assert_eq!(context.entries().count(), context.speaking());
    assert_eq!(context.messages_of(context.speaking()..context.speaking() + 1).count(), 0);
}

#[test]
fn usage_counts_on_all_branches_and_once() {
    let usage = json!({"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}});
    let mut paid = calls(&["a", "b"]);
    paid["message"]["usage"] = usage.clone();
    let entries = [
        user("q"),
        paid,
        result("a", "r"),
        json!({"type": "model_usage", "kind": "title", "usage": usage}),
        compaction(Value::Null, json!({"usage": usage})),
        says("free"),
    ];
    let stats = chain(&entries).get_session_stats().unwrap();
    assert_eq!(
        stats.to_json(),
        r#"{"userMessages":1,"assistantMessages":2,"toolCalls":2,"toolResults":1,"totalMessages":4,"tokens":{"input":3,"output":6,"cacheRead":9,"cacheWrite":12,"total":30},"cost":1.5}"#
    );
    // A piece at a time it is the same.
    let paid_for = chain(&entries);
    let (mut pieces, mut next, mut count) = (super::SessionStats::default(), Some(0), 0);
    while let Some(from) = next {
        next = paid_for.add_session_stats(&mut pieces, from, 1).unwrap();
        count += 1;
    }
    assert_eq!(pieces, stats);
    assert_eq!(count, 4, "one for each entry that may have cost something");
    // Another branch from the first answer, and a line that came twice.
    let mut lines = chain_lines(&entries);
    lines.push(lines[3].clone());
    lines.push(format!(
        r#"{{"type":"branch_summary","id":"f","parentId":"e1","timestamp":"t","fromId":"e1","summary":"s","usage":{usage}}}"#
    ));
    let session = session(&lines);
    assert_eq!(session.get_session_stats().unwrap().usage.input, 4.0);
    assert_eq!(session.get_branch_usage(At::Leaf).unwrap().input, 2.0);
    assert_eq!(session.get_branch_usage(At::Entry("e5")).unwrap().cost, 1.5);
    assert_eq!(session.get_branch_usage(At::BeforeFirst).unwrap().cost, 0.0);
}

/// What a strict provider would refuse.
fn refused(messages: &[Value]) -> Option<String> {
    let mut waiting: Vec<String> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = message["role"].as_str()?;
        if role == "toolResult" {
            let id = message["toolCallId"].as_str().unwrap_or("?");
            if waiting.first().map(String::as_str) != Some(id) {
                return Some(format!("{n}: a result of {id} out of place"));
            }
            waiting.remove(0);
            continue;
        }
        if !waiting.is_empty() {
            return Some(format!("{n}: no result of {waiting:?}"));
        }
        if !["user", "assistant", "system", "developer"].contains(&role) {
            return Some(format!("{n}: role {role}"));
        }
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let text = message["content"].as_str().unwrap_or("");
        if blocks.is_empty() && text.trim().is_empty() {
            return Some(format!("{n}: empty"));
        }
        if blocks.iter().any(|block| {
            block["type"] == "text" && block["text"].as_str().is_none_or(|t| t.trim().is_empty())
        }) {
            return Some(format!("{n}: an empty text"));
        }
        if role == "assistant" {
            let ids = blocks.iter().filter(|block| block["type"] == "toolCall");
            waiting = ids.map(|block| block["id"].as_str().unwrap_or("").to_owned()).collect();
        }
    }
    (!waiting.is_empty()).then(|| format!("at the end: no result of {waiting:?}"))
}

fn any_block() -> impl Strategy<Value = Value> {
    let id = prop::sample::select(vec![json!("a"), json!("b"), json!("c"), json!(""), Value::Null]);
    prop_oneof![
        prop::sample::select(vec!["", " ", "t"]).prop_map(|text| json!({"type": "text", "text": text})),
        prop::sample::select(vec!["", "t"]).prop_map(|text| json!({"type": "thinking", "thinking": text})),
        id.prop_map(|id| json!({"type": "toolCall", "id": id, "name": "n", "arguments": {}})),
        Just(Value::Null),
        Just(json!("loose")),
    ]
}

fn any_entry() -> impl Strategy<Value = Value> {
    let content = || {
        prop_oneof![
            prop::collection::vec(any_block(), 0..4).prop_map(Value::from),
            prop::sample::select(vec![json!(""), json!("t"), Value::Null, json!(3), json!({})]),
        ]
    };
    let target = || (0..20u8).prop_map(|n| format!("e{n}"));
    prop_oneof![
        3 => content().prop_map(answer),
        3 => prop::sample::select(vec!["a", "b", "c", ""]).prop_map(|id| result(id, "r")),
        1 => Just(json!({"type": "message", "message": {"role": "toolResult", "content": "x"}})),
        2 => (prop::sample::select(vec!["user", "custom", "developer", "oracle", "fileMention", "bashExecution"]), content())
            .prop_map(|(role, content)| json!({"type": "message", "message": {"role": role, "content": content}})),
        1 => target().prop_map(|anchor| compaction(json!(anchor), json!({}))),
        1 => Just(compaction(Value::Null, json!({"retainedTail": [calls(&["a", "d"])["message"], {"role": "user", "content": ""}]}))),
        1 => target().prop_map(|target| edit(&target, Value::Null)),
        1 => (target(), content()).prop_map(|(target, content)| edit(&target, json!({"content": content}))),
        1 => Just(json!({"type": "reset_boundary"})),
    ]
}

proptest! {
    #[test]
    fn model_input_is_always_paired(entries in prop::collection::vec(any_entry(), 0..25)) {
        let messages = model_input(&entries);
        prop_assert_eq!(refused(&messages), None, "{:#?}", messages);
    }
}
