//! What the tests of both interfaces share.

use proptest::prelude::*;
use serde_json::Value;

use crate::request::{Api, Cost, Endpoint};

/// A model that thinks and sees.
pub(in crate::wire) fn endpoint(api: Api, base_url: &str) -> Endpoint {
    Endpoint {
        api,
        provider: "test".into(),
        model: "m".into(),
        base_url: base_url.into(),
        key: None,
        headers: Vec::new(),
        context_window: 100_000,
        max_output: 1000,
        thinks: true,
        sees: true,
        cost: Cost::default(),
    }
}

/// JSON of any form, with the names that matter in it.
pub(in crate::wire) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é]{0,6}".prop_map(Value::from),
        prop::sample::select(vec![
            "user",
            "assistant",
            "toolResult",
            "text",
            "thinking",
            "toolCall",
            "image",
            "stop",
            "reasoning",
            "message",
            "function_call",
            "response.output_item.added",
            "response.output_item.done",
            "response.completed",
            "response.output_text.delta",
            "response.function_call_arguments.delta",
            "{\"a\":1}",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let keys = prop::sample::select(vec![
            "role",
            "content",
            "type",
            "text",
            "thinking",
            "id",
            "name",
            "arguments",
            "toolCallId",
            "data",
            "choices",
            "delta",
            "tool_calls",
            "function",
            "index",
            "finish_reason",
            "usage",
            "prompt_tokens",
            "error",
            "item",
            "output_index",
            "item_id",
            "response",
            "output",
            "call_id",
            "reasoning_details",
            "thinkingSignature",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys, inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}
