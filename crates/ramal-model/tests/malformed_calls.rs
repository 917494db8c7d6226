//! Calls whose arguments are no JSON object: they are kept as they came, the others can be run, and the
//! conversation goes on.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use ramal_model::{Answer, Api, Client, LanguageModel, ModelError, StopReason, ThinkingLevel, wire};
use ramal_session::Message;
use ramal_testing::endpoint::endpoint;
use ramal_testing::rules::anthropic::validate_anthropic;
use ramal_testing::rules::openai::{Made, Server as Rules, validate_completions, validate_responses};
use ramal_testing::server::{Reply, Server, Step};
use serde_json::{Value, json};
use support::requests::{request, user};
use support::{drain, short_timeouts};
use tokio_util::sync::CancellationToken;

const APIS: [Api; 3] = [Api::AnthropicMessages, Api::OpenAiCompletions, Api::OpenAiResponses];

/// What models write instead of an object.
const RAW: [&str; 5] = ["{\"path\": \"f\"", "[1]", "\"a.rs\"", "path: f\n", "{\"path\": \"f\"}}"];

/// Two calls, the arguments of the second as given, in two pieces.
fn calls(api: Api, raw: &str) -> Vec<Value> {
    let good = r#"{"path":"a"}"#;
    let (one, other) = raw.split_at(1);
    match api {
        Api::AnthropicMessages => {
            let call = |index: usize, id: &str, pieces: [&str; 2]| {
                let block = json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
                let piece = |text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}});
                [
                    json!({"type": "content_block_start", "index": index, "content_block": block}),
                    piece(pieces[0]),
                    piece(pieces[1]),
                    json!({"type": "content_block_stop", "index": index}),
                ]
            };
            let mut all = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 1}}})];
            all.extend(call(0, "c0", ["", good]));
            all.extend(call(1, "c1", [one, other]));
            all
        }
        Api::OpenAiCompletions => {
            let delta = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            vec![
                delta(json!({"index": 0, "id": "c0", "function": {"name": "read", "arguments": good}})),
                delta(json!({"index": 1, "id": "c1", "function": {"name": "read", "arguments": one}})),
                delta(json!({"index": 1, "function": {"arguments": other}})),
            ]
        }
        _ => {
            let item = |id: &str, arguments: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "read", "arguments": arguments});
            vec![
                json!({"type": "response.output_item.done", "output_index": 0, "item": item("c0", good)}),
                json!({"type": "response.output_item.added", "output_index": 1, "item": item("c1", "")}),
                json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": one}),
                json!({"type": "response.output_item.done", "output_index": 1, "item": item("c1", raw)}),
            ]
        }
    }
}

/// How an answer ends, of itself or at its limit.
fn end(api: Api, is_at_limit: bool) -> Vec<Value> {
    match api {
        Api::AnthropicMessages => {
            let reason = if is_at_limit { "max_tokens" } else { "tool_use" };
            vec![
                json!({"type": "message_delta", "delta": {"stop_reason": reason}}),
                json!({"type": "message_stop"}),
            ]
        }
        Api::OpenAiCompletions => {
            let reason = if is_at_limit { "length" } else { "tool_calls" };
            vec![
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
                json!({"choices": [], "usage": {"prompt_tokens": 1}}),
            ]
        }
        _ => {
            let kind = if is_at_limit { "response.incomplete" } else { "response.completed" };
            vec![json!({"type": kind, "response": {"incomplete_details": {"reason": "max_output_tokens"}}})]
        }
    }
}

fn reply(events: &[Value]) -> Reply {
    Reply::sse(events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>())
}

async fn answered(api: Api, reply: Reply) -> (Answer, Result<(), ModelError>) {
    let server = Server::start(vec![reply]).await;
    let client = Client::with_timeouts(short_timeouts());
    let asked = request(vec![user("Read both.")], ThinkingLevel::Off);
    let stream = client.stream(&endpoint(api, server.url()), &asked, CancellationToken::new());
    let (_, answer, result) = drain(stream).await;
    (answer, result)
}

fn stored(api: Api, answer: &Answer) -> String {
    answer.to_message(&endpoint(api, "http://127.0.0.1:9"), 1)
}

fn validate(api: Api, body: &[u8]) -> Vec<String> {
    match api {
        Api::AnthropicMessages => validate_anthropic(body),
        Api::OpenAiCompletions => validate_completions(body, Rules::Template),
        _ => validate_responses(body, &Made::new()),
    }
}

#[tokio::test]
async fn a_malformed_call_is_kept_as_it_came_beside_the_good_one() {
    for (api, raw) in APIS.into_iter().flat_map(|api| RAW.map(|raw| (api, raw))) {
        let events = [calls(api, raw), end(api, false)].concat();
        let (answer, result) = answered(api, reply(&events)).await;
        result.unwrap_or_else(|error| panic!("{api:?} {raw}: {error}"));
        assert_eq!(answer.stop, StopReason::ToolUse);
        let message = stored(api, &answer);
        let content = serde_json::from_str::<Value>(&message).unwrap()["content"].clone();
        assert_eq!(content[0]["arguments"], json!({"path": "a"}), "{api:?} {raw}");
        assert!(content[0].get("rawArguments").is_none());
        assert_eq!(content[1]["arguments"], json!({}), "{api:?} {raw}");
        assert_eq!(content[1]["rawArguments"], raw, "{api:?}");
        let told: Vec<Value> = Message::new(&message)
            .tool_calls()
            .map(|call| serde_json::from_str(call.arguments).unwrap())
            .collect();
        assert_eq!(told, [json!({"path": "a"}), json!(raw)], "{api:?}");

        let result_of = |call: &Value, text: &str| {
            json!({"role": "toolResult", "toolCallId": call["id"], "toolName": "read", "isError": true,
                "content": [{"type": "text", "text": text}]})
            .to_string()
        };
        let (good, bad) = (result_of(&content[0], "fine"), result_of(&content[1], "no object"));
        let asked = request(vec![user("Read both."), message, good, bad], ThinkingLevel::Off);
        let sent = wire::of(api).unwrap().request(&endpoint(api, "http://127.0.0.1:9"), &asked);
        assert_eq!(validate(api, &sent.body), Vec::<String>::new(), "{api:?} {raw}");
        assert!(!String::from_utf8(sent.body).unwrap().contains("rawArguments"));
    }
}

#[tokio::test]
async fn a_call_that_was_cut_with_its_answer_is_left_out() {
    let raw = RAW[0];
    for api in APIS {
        let events = [calls(api, raw), end(api, true)].concat();
        let (answer, result) = answered(api, reply(&events)).await;
        assert_eq!((result, answer.stop), (Ok(()), StopReason::Length), "{api:?}");
        assert_eq!(Message::new(&stored(api, &answer)).tool_calls().count(), 1, "{api:?}");
        for cut in [reply(&calls(api, raw)), reply(&calls(api, raw)).then(Step::BreakOff)] {
            let (answer, result) = answered(api, cut).await;
            assert!(matches!(result, Err(ModelError::ConnectionLost { .. })), "{api:?} {result:?}");
            assert_eq!(Message::new(&stored(api, &answer)).tool_calls().count(), 1, "{api:?}");
        }
    }
}

#[tokio::test]
async fn an_object_in_a_string_is_meant() {
    for api in APIS {
        let events = [calls(api, r#""{\"path\":\"f\"}""#), end(api, false)].concat();
        let (answer, result) = answered(api, reply(&events)).await;
        assert_eq!(result, Ok(()), "{api:?}");
        let message = stored(api, &answer);
        let last = Message::new(&message).tool_calls().last().unwrap();
        assert_eq!(last.arguments, r#"{"path":"f"}"#, "{api:?}");
    }
}
