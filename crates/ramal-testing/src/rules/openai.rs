//! What OpenAI's two interfaces, and the pickier of those that are compatible with them, accept:
//! written from their public documentation, without a look at what ramal sends.
//!
//! Chat Completions: the reference of `POST /chat/completions` (members of the request and of each
//! role's message), "function calling" (every call is answered by a message of `tool`, directly
//! behind it), Mistral's messages about ids of nine characters and the order of roles. Responses: the
//! reference of `POST /responses`, "reasoning" (items without storage need `encrypted_content`), and
//! the messages of the API about items without their reasoning and reasoning without its item.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Whose rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// OpenAI's own.
    OpenAi,
    /// Mistral's service.
    Mistral,
    /// A chat template that wants user and assistant to take turns.
    Template,
    /// The template of Mistral's own models: calls and results do not count as turns.
    MistralTemplate,
    /// DeepSeek's service.
    DeepSeek,
    /// Groq's service.
    Groq,
}

/// What is wrong with a request of Chat Completions.
pub fn validate_completions(body: &[u8], server: Server) -> Vec<String> {
    let mut wrong = Wrong::default();
    let Some(body) = object(body, &mut wrong) else { return wrong.0 };
    let known: &[&str] = match server {
        Server::OpenAi => &[
            "model",
            "messages",
            "stream",
            "stream_options",
            "store",
            "tools",
            "tool_choice",
            "reasoning_effort",
            "max_completion_tokens",
            "prompt_cache_key",
            "parallel_tool_calls",
            "temperature",
        ],
        Server::Mistral => {
            &["model", "messages", "stream", "tools", "tool_choice", "max_tokens", "temperature"]
        }
        Server::DeepSeek => {
            &["model", "messages", "stream", "stream_options", "tools", "max_tokens", "thinking"]
        }
        Server::Template | Server::MistralTemplate | Server::Groq => &[
            "model",
            "messages",
            "stream",
            "stream_options",
            "tools",
            "reasoning_effort",
            "max_tokens",
            "max_completion_tokens",
        ],
    };
    wrong.keys("request", &body, known);
    wrong.unless(filled(body.get("model")), "no model");
    wrong.unless(body.get("stream") == Some(&Value::Bool(true)), "does not stream");
    if let Some(effort) = body.get("reasoning_effort") {
        let efforts = ["none", "minimal", "low", "medium", "high", "xhigh"];
        wrong.unless(efforts.iter().any(|known| effort == known), "unknown effort");
    }
    for limit in ["max_tokens", "max_completion_tokens"] {
        wrong.unless(body.get(limit).is_none_or(|limit| limit.as_u64() > Some(0)), "no room for an answer");
    }
    if let Some(tools) = body.get("tools") {
        let tools = list(Some(tools));
        let functions = tools.iter().map(|tool| {
            (tool["type"] == "function").then(|| tool.get("function")).flatten().unwrap_or(&Value::Null)
        });
        tool_list(functions.collect(), &mut wrong);
    }
    let messages = list(body.get("messages"));
    wrong.unless(!messages.is_empty(), "no messages");
    messages_in_order(messages, server, &mut wrong);
    wrong.0
}

fn messages_in_order(messages: &[Value], server: Server, wrong: &mut Wrong) {
    // Calls that wait for their result, and all calls that there were.
    let (mut open, mut calls) = (BTreeSet::new(), BTreeSet::new());
    let (mut before, mut turns) = ("", 0);
    for (number, message) in messages.iter().enumerate() {
        let at = format!("messages[{number}]");
        let Some(fields) = message.as_object() else {
            wrong.add(&at, "is no object");
            continue;
        };
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            wrong.unless(open.is_empty(), &format!("{at}: calls without a result before it: {open:?}"));
            open.clear();
        }
        match role {
            "system" | "developer" => {
                wrong.keys(&at, fields, &["role", "content", "name"]);
                text_content(&at, message, wrong);
                wrong.unless(
                    role == "system" || server == Server::OpenAi,
                    &format!("{at}: unknown role developer"),
                );
                let is_picky = matches!(server, Server::Mistral | Server::Template | Server::MistralTemplate);
                wrong.unless(number == 0 || !is_picky, &format!("{at}: system is not the first"));
            }
            "user" => {
                wrong.keys(&at, fields, &["role", "content", "name"]);
                user_content(&at, message, wrong);
            }
            "assistant" => {
                let known: &[&str] = match server {
                    Server::DeepSeek | Server::Template | Server::MistralTemplate => {
                        &["role", "content", "tool_calls", "reasoning_content"]
                    }
                    _ => &["role", "content", "tool_calls", "refusal"],
                };
                wrong.keys(&at, fields, known);
                assistant(&at, message, server, wrong, &mut open, &mut calls);
            }
            "tool" => {
                let known: &[&str] = match server {
                    Server::Mistral => &["role", "content", "tool_call_id", "name"],
                    _ => &["role", "content", "tool_call_id"],
                };
                wrong.keys(&at, fields, known);
                text_content(&at, message, wrong);
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                wrong.unless(open.remove(id), &format!("{at}: no call {id:?} waits for a result"));
                wrong.unless(
                    server != Server::Mistral || filled(message.get("name")),
                    &format!("{at}: no name"),
                );
            }
            other => wrong.add(&at, &format!("unknown role {other:?}")),
        }
        if matches!(server, Server::Mistral | Server::Template) {
            let fits = match role {
                "user" => before != "user",
                "assistant" => !before.is_empty() && before != "assistant",
                _ => true,
            };
            wrong.unless(fits, &format!("{at}: {role} behind {before:?}"));
        }
        if role != "system" {
            before = role;
        }
        if server == Server::MistralTemplate
            && matches!(role, "user" | "assistant")
            && message.get("tool_calls").is_none()
        {
            wrong.unless((role == "user") == (turns % 2 == 0), &format!("{at}: roles do not alternate"));
            turns += 1;
        }
    }
    wrong.unless(open.is_empty(), &format!("calls without a result at the end: {open:?}"));
}

fn assistant(
    at: &str,
    message: &Value,
    server: Server,
    wrong: &mut Wrong,
    open: &mut BTreeSet<String>,
    all: &mut BTreeSet<String>,
) {
    let calls = list(message.get("tool_calls"));
    wrong
        .unless(message.get("tool_calls").is_none() || !calls.is_empty(), &format!("{at}: empty tool_calls"));
    match message.get("content") {
        Some(Value::String(text)) => wrong.unless(!text.is_empty(), &format!("{at}: empty content")),
        Some(Value::Null) | None => {
            wrong.unless(!calls.is_empty(), &format!("{at}: neither content nor calls"))
        }
        Some(_) => text_content(at, message, wrong),
    }
    for call in calls {
        let id = call["id"].as_str().unwrap_or_default();
        let is_acceptable = match server {
            Server::Mistral | Server::MistralTemplate => {
                id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())
            }
            _ => is_id(id, 40),
        };
        wrong.unless(is_acceptable, &format!("{at}: id {id:?}"));
        wrong.unless(all.insert(id.into()), &format!("{at}: id {id:?} is used twice"));
        open.insert(id.into());
        wrong.unless(call["type"] == "function", &format!("{at}: a call is no function"));
        function(at, &call["function"], wrong);
    }
}

/// The reasoning that the provider made before each item, by the item's id.
pub type Made = BTreeMap<String, String>;

/// What is wrong with a request of Responses, to a provider that made the items of `made`.
pub fn validate_responses(body: &[u8], made: &Made) -> Vec<String> {
    let mut wrong = Wrong::default();
    let Some(body) = object(body, &mut wrong) else { return wrong.0 };
    wrong.keys(
        "request",
        &body,
        &[
            "model",
            "input",
            "instructions",
            "stream",
            "store",
            "include",
            "tools",
            "tool_choice",
            "reasoning",
            "max_output_tokens",
            "prompt_cache_key",
            "parallel_tool_calls",
            "text",
            "temperature",
        ],
    );
    wrong.unless(filled(body.get("model")), "no model");
    wrong.unless(body.get("stream") == Some(&Value::Bool(true)), "does not stream");
    wrong.unless(body.get("store") == Some(&Value::Bool(false)), "would be stored");
    wrong.unless(body.get("max_output_tokens").is_none_or(|n| n.as_u64() >= Some(16)), "max_output_tokens");
    wrong.unless(body.get("instructions").is_none_or(|text| filled(Some(text))), "empty instructions");
    if let Some(key) = body.get("prompt_cache_key") {
        wrong.unless(key.as_str().is_some_and(|key| !key.is_empty() && key.len() <= 64), "prompt_cache_key");
    }
    if let Some(reasoning) = body.get("reasoning").and_then(Value::as_object) {
        wrong.keys("reasoning", reasoning, &["effort", "summary"]);
    }
    if body.contains_key("tools") {
        let tools = list(body.get("tools"));
        wrong.unless(tools.iter().all(|tool| tool["type"] == "function"), "a tool is no function");
        tool_list(tools.iter().collect(), &mut wrong);
    }
    let input = list(body.get("input"));
    wrong.unless(!input.is_empty(), "no input");
    items(input, made, &mut wrong);
    wrong.0
}

fn items(input: &[Value], made: &Made, wrong: &mut Wrong) {
    let (mut open, mut calls, mut ids) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (number, item) in input.iter().enumerate() {
        let at = format!("input[{number}]");
        let Some(fields) = item.as_object() else {
            wrong.add(&at, "is no object");
            continue;
        };
        let role = item["role"].as_str().unwrap_or_default();
        let kind = item["type"].as_str().unwrap_or("message");
        if let Some(id) = fields.get("id") {
            let id = id.as_str().unwrap_or_default();
            wrong.unless(is_id(id, 64), &format!("{at}: id {id:?}"));
            let start = match kind {
                "reasoning" => "rs_",
                "function_call" => "fc_",
                _ => "msg_",
            };
            wrong.unless(id.starts_with(start), &format!("{at}: id {id:?} of a {kind}"));
            if let Some(reasoning) = made.get(id) {
                wrong.unless(
                    ids.contains(reasoning),
                    &format!("{at}: {id} without its required reasoning {reasoning}"),
                );
            }
            wrong.unless(ids.insert(id.to_owned()), &format!("{at}: id {id:?} is used twice"));
        }
        match kind {
            "message" if role == "assistant" => {
                wrong.keys(&at, fields, &["type", "role", "content", "id", "status", "phase"]);
                let parts = list(item.get("content"));
                wrong.unless(!parts.is_empty(), &format!("{at}: no content"));
                for part in parts {
                    wrong.unless(part["type"] == "output_text", &format!("{at}: {}", part["type"]));
                    wrong.unless(filled(part.get("text")), &format!("{at}: empty text"));
                }
            }
            "message" => {
                wrong.keys(&at, fields, &["type", "role", "content"]);
                let is_known = ["user", "developer", "system"].contains(&role);
                wrong.unless(is_known, &format!("{at}: unknown role {role:?}"));
                input_parts(&at, item.get("content"), wrong);
                wrong.unless(open.is_empty(), &format!("{at}: calls without output before it: {open:?}"));
            }
            "reasoning" => {
                wrong.keys(&at, fields, &["type", "id", "summary", "content", "encrypted_content", "status"]);
                wrong.unless(item["summary"].is_array(), &format!("{at}: no summary"));
                let has_thought =
                    filled(item.get("encrypted_content")) || !list(item.get("content")).is_empty();
                wrong.unless(has_thought, &format!("{at}: nothing is stored, and nothing is brought"));
                let next = input.iter().skip(number + 1).find(|next| next["type"] != "reasoning");
                let follows =
                    next.is_some_and(|next| next["type"] == "function_call" || next["role"] == "assistant");
                wrong.unless(follows, &format!("{at}: reasoning without its required following item"));
            }
            "function_call" => {
                wrong.keys(&at, fields, &["type", "id", "call_id", "name", "arguments", "status"]);
                let id = item["call_id"].as_str().unwrap_or_default();
                wrong.unless(is_id(id, 64), &format!("{at}: call_id {id:?}"));
                wrong.unless(calls.insert(id.to_owned()), &format!("{at}: call_id {id:?} is used twice"));
                open.insert(id.to_owned());
                function(&at, item, wrong);
            }
            "function_call_output" => {
                wrong.keys(&at, fields, &["type", "call_id", "output"]);
                let id = item["call_id"].as_str().unwrap_or_default();
                wrong.unless(open.remove(id), &format!("{at}: no call {id:?} waits for an output"));
                match item.get("output") {
                    Some(Value::String(text)) => {
                        wrong.unless(!text.is_empty(), &format!("{at}: empty output"))
                    }
                    other => input_parts(&at, other, wrong),
                }
            }
            other => wrong.add(&at, &format!("unknown type {other:?}")),
        }
    }
    wrong.unless(open.is_empty(), &format!("calls without output: {open:?}"));
}

fn input_parts(at: &str, content: Option<&Value>, wrong: &mut Wrong) {
    let parts = list(content);
    wrong.unless(!parts.is_empty(), &format!("{at}: no content"));
    for part in parts {
        match part["type"].as_str() {
            Some("input_text") => wrong.unless(filled(part.get("text")), &format!("{at}: empty text")),
            Some("input_image") => wrong.unless(is_picture(&part["image_url"]), &format!("{at}: no image")),
            _ => wrong.add(at, &format!("part {}", part["type"])),
        }
    }
}

fn text_content(at: &str, message: &Value, wrong: &mut Wrong) {
    match &message["content"] {
        Value::String(text) => wrong.unless(!text.is_empty(), &format!("{at}: empty content")),
        Value::Array(parts) => {
            wrong.unless(!parts.is_empty(), &format!("{at}: empty content"));
            for part in parts {
                wrong.unless(part["type"] == "text" && filled(part.get("text")), &format!("{at}: no text"));
            }
        }
        _ => wrong.add(at, "no content"),
    }
}

fn user_content(at: &str, message: &Value, wrong: &mut Wrong) {
    let Value::Array(parts) = &message["content"] else { return text_content(at, message, wrong) };
    wrong.unless(!parts.is_empty(), &format!("{at}: empty content"));
    for part in parts {
        match part["type"].as_str() {
            Some("text") => wrong.unless(filled(part.get("text")), &format!("{at}: empty text")),
            Some("image_url") => {
                wrong.unless(is_picture(&part["image_url"]["url"]), &format!("{at}: no image"))
            }
            _ => wrong.add(at, &format!("part {}", part["type"])),
        }
    }
}

fn function(at: &str, function: &Value, wrong: &mut Wrong) {
    let name = function["name"].as_str().unwrap_or_default();
    wrong.unless(is_id(name, 64), &format!("{at}: name {name:?}"));
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
    wrong.unless(is_object, &format!("{at}: arguments {arguments:?}"));
}

fn tool_list(tools: Vec<&Value>, wrong: &mut Wrong) {
    wrong.unless(!tools.is_empty(), "empty tools");
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool["name"].as_str().unwrap_or_default();
        wrong.unless(is_id(name, 64) && names.insert(name.to_owned()), &format!("tool {name:?}"));
        wrong.unless(tool["parameters"]["type"] == "object", &format!("parameters of {name:?}"));
    }
}

fn is_id(id: &str, max: usize) -> bool {
    !id.is_empty()
        && id.len() <= max
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn is_picture(url: &Value) -> bool {
    let data = url
        .as_str()
        .and_then(|url| url.strip_prefix("data:image/"))
        .and_then(|rest| rest.split_once(";base64,"));
    data.is_some_and(|(kind, data)| {
        ["png", "jpeg", "gif", "webp"].contains(&kind)
            && !data.is_empty()
            && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    })
}

fn filled(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn object(body: &[u8], wrong: &mut Wrong) -> Option<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(body)) => Some(body),
        Ok(_) => {
            wrong.add("request", "is no object");
            None
        }
        Err(error) => {
            wrong.add("request", &format!("is no JSON: {error}"));
            None
        }
    }
}

#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn add(&mut self, at: &str, what: &str) {
        self.0.push(format!("{at}: {what}"));
    }

    fn unless(&mut self, is_fine: bool, what: &str) {
        if !is_fine {
            self.0.push(what.to_owned());
        }
    }

    fn keys(&mut self, at: &str, fields: &Map<String, Value>, known: &[&str]) {
        for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
            self.add(at, &format!("unknown member {key:?}"));
        }
    }
}
