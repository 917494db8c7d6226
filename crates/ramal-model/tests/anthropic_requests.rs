//! Requests to Anthropic's Messages, whatever a session holds.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use ramal_model::{Api, ThinkingLevel, wire};
use ramal_testing::endpoint::endpoint;
use ramal_testing::rules::anthropic::validate_anthropic;
use support::requests::{check_fork, check_sessions, request, user};

const API: Api = Api::AnthropicMessages;

#[test]
fn how_much_to_think_fits_the_model() {
    let asked = |model: &str, level, limit| {
        let mut at = endpoint(API, "http://h/v1");
        at.model = model.into();
        let mut asked = request(vec![user("x")], level);
        asked.max_output = limit;
        let sent = wire::of(API).unwrap().request(&at, &asked);
        assert_eq!(sent.url, "http://h/v1/messages");
        assert_eq!(validate_anthropic(&sent.body), Vec::<String>::new());
        let body: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
        let effort = body["output_config"]["effort"].as_str().map(str::to_owned);
        (body["thinking"].clone(), effort, body["max_tokens"].as_u64().unwrap())
    };
    use serde_json::json;
    assert_eq!(asked("claude-opus-4-5", ThinkingLevel::Off, None), (json!(null), None, 32_000));
    let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    assert_eq!(asked("claude-opus-4-5", ThinkingLevel::Minimal, Some(500)), (budget(1024), None, 1524));
    assert_eq!(asked("claude-opus-4-5", ThinkingLevel::High, None), (budget(16_384), None, 64_000));
    let adaptive = json!({"type": "adaptive"});
    assert_eq!(
        asked("claude-opus-4-6", ThinkingLevel::XHigh, None),
        (adaptive.clone(), Some("max".into()), 64_000)
    );
    assert_eq!(asked("claude-sonnet-4-6", ThinkingLevel::Low, None), (adaptive, Some("low".into()), 32_000));
    let shown = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(asked("claude-opus-4-8", ThinkingLevel::XHigh, None), (shown, Some("xhigh".into()), 64_000));
}

fn without_marks(body: &str) -> String {
    body.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}

#[test]
fn every_leaf_of_every_session_can_be_sent() {
    check_sessions(wire::of(API).unwrap(), API, validate_anthropic, without_marks);
}

#[test]
fn what_other_programs_stored_is_made_acceptable() {
    let call = |id: &str, name: &str| {
        format!(r#"{{"type":"toolCall","id":{id:?},"name":{name:?},"arguments":{{}}}}"#)
    };
    let result = |id: &str, content: &str, is_error: bool| {
        format!(
            r#"{{"role":"toolResult","toolCallId":{id:?},"toolName":"x","content":{content},"isError":{is_error}}}"#
        )
    };
    let image = r#"{"type":"image","data":"aGFsbG8=","mimeType":"image/png"}"#;
    let odd = r#"{"type":"image","data":"aGFsbG8=","mimeType":"image/tiff"}"#;
    let answer = format!(
        r#"{{"role":"assistant","content":[{},{{"type":"text","text":"behind"}},{},{{"type":"thinking","thinking":"t","thinkingSignature":"s"}}],"api":"openai-responses","provider":"o","model":"m"}}"#,
        call("call_1|fc_1", "weird name!"),
        call(&"long".repeat(40), "read"),
    );
    let messages = vec![
        r#"{"role":"system","content":"Also be kind."}"#.to_owned(),
        answer.clone(),
        result("call_1|fc_1", &format!("[{image},{odd}]"), true),
        result(&"long".repeat(40), "[]", false),
        r#"{"role":"developer","content":"Mind the time."}"#.to_owned(),
        answer,
        result("call_1|fc_1", &format!("[{image}]"), false),
        result(&"long".repeat(40), r#"[{"type":"text","text":" "}]"#, false),
        r#"{"role":"assistant","content":[{"type":"text","text":"Done. "}]}"#.to_owned(),
    ];
    let at = endpoint(API, "http://h");
    let mut asked = request(messages, ThinkingLevel::High);
    for tools in [asked.tools.clone(), Vec::new()] {
        asked.tools = tools;
        let sent = wire::of(API).unwrap().request(&at, &asked);
        assert_eq!(validate_anthropic(&sent.body), Vec::<String>::new());
        let body: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(body["system"][1]["text"], "Also be kind.");
        assert_eq!(body["messages"][1]["content"][0]["text"], "behind");
        let results = &body["messages"][2]["content"];
        assert_eq!(results[0]["is_error"], true);
        assert_eq!(results[2]["type"], "image");
        assert_eq!(results[3]["text"], "Mind the time.");
    }
    let nothing = wire::of(API).unwrap().request(&at, &request(Vec::new(), ThinkingLevel::Off));
    assert_eq!(validate_anthropic(&nothing.body), Vec::<String>::new());
}

mod any {
    use proptest::prelude::*;

    use super::*;

    fn message() -> impl Strategy<Value = String> {
        let text = prop_oneof![
            Just(String::new()),
            Just("\\n ".to_owned()),
            "[a-z\"\\\\é]{1,6}".prop_map(|text| {
                let quoted = serde_json::Value::from(text).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            })
        ];
        let id = prop_oneof!["[ab|]", "[a-z|+]{60,70}"];
        let block = (0..6, text, id, any::<bool>()).prop_map(|(kind, text, id, flag)| match kind {
            0 => format!(r#"{{"type":"text","text":"{text}"}}"#),
            1 => format!(
                r#"{{"type":"thinking","thinking":"{text}","thinkingSignature":"{text}","redacted":{flag}}}"#
            ),
            2 => format!(
                r#"{{"type":"image","data":"AAAA{}","mimeType":"image/png"}}"#,
                if flag { "" } else { "%" }
            ),
            3 | 4 => {
                format!(r#"{{"type":"toolCall","id":"{id}","name":"{id}","arguments":{{"a":"{text}"}}}}"#)
            }
            _ => r#"{"type":"unknown"}"#.to_owned(),
        });
        let content = prop::collection::vec(block, 0..5).prop_map(|blocks| format!("[{}]", blocks.join(",")));
        let role = prop::sample::select(vec![
            "user",
            "assistant",
            "assistant",
            "toolResult",
            "toolResult",
            "developer",
            "system",
        ]);
        (role, content, "[ab|]", any::<bool>()).prop_map(|(role, content, id, flag)| {
            let model = if flag { "model-1" } else { "claude-opus-4-5" };
            format!(
                r#"{{"role":"{role}","content":{content},"toolCallId":"{id}","isError":{flag},"api":"anthropic-messages","provider":"test","model":"{model}"}}"#
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn conversation_is_made_acceptable(messages in prop::collection::vec(message(), 0..12), has_tools: bool) {
            let mut asked = request(messages.clone(), ThinkingLevel::High);
            if !has_tools {
                asked.tools.clear();
            }
            let sent = wire::of(API).unwrap().request(&endpoint(API, "http://h"), &asked);
            prop_assert_eq!(validate_anthropic(&sent.body), Vec::<String>::new());
            check_fork(wire::of(API).unwrap(), &endpoint(API, "http://h"), &messages, "", without_marks);
        }

        #[test]
        fn wait_is_read_without_panic(text in "[0-9.msh, :a-zGMTé-]{0,30}", now: i64) {
            let _ = ramal_model::retry_after(&text, now);
            let _ = ramal_model::asked_wait(|_| Some(if text.is_empty() { "0" } else { &text }), now);
        }
    }
}
