//! Hooks over JSON, by an asker that keeps what it was asked.

use std::sync::Mutex;

use super::*;
use crate::hooks::ModelSource;

/// Answers always the same, and keeps what it was asked.
struct Fixed {
    answer: Option<&'static str>,
    asked: Mutex<Vec<String>>,
}

impl Asks for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }

    fn hears(&self, _: HookEvent) -> bool {
        true
    }

    fn ask<'a>(
        &'a self,
        event: HookEvent,
        payload: String,
        _: CancellationToken,
    ) -> Answering<'a, Option<String>> {
        assert!(is_valid(&payload), "{payload}");
        self.asked.lock().unwrap().push(format!("{} {payload}", event.name()));
        Box::pin(async { Ok(self.answer.map(str::to_owned)) })
    }
}

fn fixed(answer: &'static str) -> JsonHook<Fixed> {
    JsonHook(Fixed { answer: Some(answer), asked: Mutex::default() })
}

fn asked(hook: &JsonHook<Fixed>) -> String {
    hook.0.asked.lock().unwrap().pop().unwrap()
}

fn preparation() -> TreePreparation {
    TreePreparation {
        target_id: "t".into(),
        old_leaf_id: None,
        common_ancestor_id: Some("c".into()),
        entries_to_summarize: vec!["{\"id\":1.0}".into()],
        user_wants_summary: true,
        custom_instructions: Some("\"".into()),
        replace_instructions: false,
        label: None,
    }
}

fn call() -> ToolUse {
    ToolUse { id: "c1".into(), name: "ls".into(), arguments: "{\"path\":1e3}".into() }
}

#[tokio::test]
async fn before_a_navigation() {
    let hook = fixed(
        "{\"cancel\":null,\"summary\":{\"summary\":\"s\\n\",\"details\":{\n\"big\":12345678901234567890}},\"label\":\"l\"}",
    );
    let answer = hook.session_before_tree(&preparation(), no_signal()).await.unwrap();
    assert_eq!(
        asked(&hook),
        r#"session_before_tree {"preparation":{"targetId":"t","oldLeafId":null,"commonAncestorId":"c","entriesToSummarize":[{"id":1.0}],"userWantsSummary":true,"customInstructions":"\"","replaceInstructions":false}}"#
    );
    let summary = answer.summary.unwrap();
    assert_eq!(summary.summary, "s\n");
    assert_eq!(summary.details.unwrap(), "{ \"big\":12345678901234567890}");
    assert_eq!((answer.cancel, answer.label.as_deref()), (false, Some("l")));
    let hook = fixed(r#"{"cancel":true,"customInstructions":"i","replaceInstructions":true}"#);
    let answer = hook.session_before_tree(&preparation(), no_signal()).await.unwrap();
    assert_eq!((answer.cancel, answer.replace_instructions), (true, Some(true)));
    assert_eq!(answer.custom_instructions.as_deref(), Some("i"));
}

#[tokio::test]
async fn what_says_nothing() {
    let nothing = [fixed("null"), fixed(" {} "), JsonHook(Fixed { answer: None, asked: Mutex::default() })];
    for hook in nothing {
        let told = hook.session_before_tree(&preparation(), no_signal()).await;
        assert_eq!(told.unwrap(), BeforeTree::default());
        assert_eq!(hook.session_compacting("s", &[]).await.unwrap(), None);
        assert_eq!(hook.context(&[]).await.unwrap(), None);
        assert_eq!(hook.tool_result(&call(), "{}", no_signal()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_wrong_shape_is_named() {
    for (answer, named) in [
        ("7", "object"),
        ("{", "object"),
        (r#"{"cancel":"yes"}"#, "`cancel`"),
        (r#"{"summary":"s"}"#, "`summary`"),
        (r#"{"summary":{"summary":7}}"#, "`summary.summary`"),
        (r#"{"summary":{}}"#, "`summary.summary`"),
        (r#"{"label":[]}"#, "`label`"),
    ] {
        let error = fixed(answer).session_before_tree(&preparation(), no_signal()).await.unwrap_err();
        assert!(error.contains(named), "{answer}: {error}");
    }
    for (answer, named) in [
        (r#"{"compaction":{"summary":"s","firstKeptEntryId":"a"}}"#, "`compaction.tokensBefore`"),
        (
            r#"{"compaction":{"summary":"s","firstKeptEntryId":"a","tokensBefore":1.5}}"#,
            "`compaction.tokensBefore`",
        ),
    ] {
        let error = before_compact(&Said::new(answer)).unwrap_err();
        assert!(error.contains(named), "{answer}: {error}");
    }
    assert!(compacting(&Said::new(r#"{"context":["a",1]}"#)).unwrap_err().contains("`context`"));
    assert!(tool_call(&Said::new(r#"{"block":1}"#)).unwrap_err().contains("`block`"));
    assert!(fixed(r#"{"messages":[1]}"#).context(&[]).await.unwrap_err().contains("`messages`"));
    for (answer, named) in [(r#"{"content":"x"}"#, "`content`"), (r#"{"isError":0}"#, "`isError`")] {
        let error = tool_result(&Said::new(answer), "{}").unwrap_err();
        assert!(error.contains(named), "{answer}: {error}");
    }
}

#[tokio::test]
async fn around_a_call() {
    let hook = fixed(r#"{"block":true,"reason":"no"}"#);
    assert_eq!(hook.tool_call(&call()).await.unwrap().block.as_deref(), Some("no"));
    assert_eq!(asked(&hook), r#"tool_call {"toolCallId":"c1","toolName":"ls","input":{"path":1e3}}"#);
    let changed = fixed(r#"{"input":{"path":"b"}}"#).tool_call(&call()).await.unwrap();
    assert_eq!((changed.block, changed.arguments.as_deref()), (None, Some(r#"{"path":"b"}"#)));
    assert!(fixed(r#"{"block":true}"#).tool_call(&call()).await.unwrap().block.is_some());
    assert_eq!(fixed(r#"{"block":false,"reason":"no"}"#).tool_call(&call()).await.unwrap().block, None);
    let hook = fixed(r#"{"content":[{"type":"text","text":"b"}],"isError":true}"#);
    let result = r#"{"role":"toolResult","toolCallId":"c1","content":[],"isError":false,"timestamp":1}"#;
    let changed = hook.tool_result(&call(), result, no_signal()).await.unwrap();
    assert_eq!(
        asked(&hook),
        r#"tool_result {"toolCallId":"c1","toolName":"ls","input":{"path":1e3},"content":[],"isError":false}"#
    );
    assert_eq!(
        changed.unwrap(),
        r#"{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"b"}],"isError":true,"timestamp":1}"#
    );
}

#[tokio::test]
async fn what_is_only_told() {
    let hook = fixed(r#"{"cancel":7}"#);
    hook.session_branch(None, no_signal()).await.unwrap();
    assert_eq!(asked(&hook), "session_branch {}");
    hook.session_switch(SwitchReason::New, Some("f"), no_signal()).await.unwrap();
    assert_eq!(asked(&hook), r#"session_switch {"reason":"new","previousSessionFile":"f"}"#);
    hook.session_compact("{\"id\":1}", true, no_signal()).await.unwrap();
    assert_eq!(asked(&hook), r#"session_compact {"compactionEntry":{"id":1},"fromExtension":true}"#);
    let moved = TreeMoved {
        new_leaf_id: None,
        old_leaf_id: Some("o".into()),
        summary_entry: None,
        from_extension: Some(false),
    };
    hook.session_tree(&moved, no_signal()).await.unwrap();
    assert_eq!(asked(&hook), r#"session_tree {"newLeafId":null,"oldLeafId":"o","fromExtension":false}"#);
}

#[tokio::test]
async fn before_the_model_is_asked() {
    let start = AgentStart {
        prompt: "go".into(),
        images: vec!["{\"type\":\"image\"}".into()],
        system_prompt: "s".into(),
    };
    let hook = fixed(
        r#"{"message":{"customType":"n","content":"c","display":false,"details":{"b":1,"a":2}},"systemPrompt":"t"}"#,
    );
    let answer = hook.before_agent_start(&start).await.unwrap();
    assert_eq!(
        asked(&hook),
        r#"before_agent_start {"prompt":"go","images":[{"type":"image"}],"systemPrompt":"s"}"#
    );
    let message = CustomMessage {
        custom_type: "n".into(),
        content: "\"c\"".into(),
        display: false,
        details: Some(r#"{"b":1,"a":2}"#.into()),
    };
    assert_eq!((answer.messages, answer.system_prompt.as_deref()), (vec![message], Some("t")));
    let several = r#"{"messages":[{"customType":"a","content":[{"type":"text","text":"x"}]},{"customType":"b","content":"y"}]}"#;
    let several = fixed(several).before_agent_start(&start).await.unwrap().messages;
    assert_eq!(several.iter().map(|message| &*message.custom_type).collect::<Vec<_>>(), ["a", "b"]);
    assert!(several[0].display);
    for (wrong, named) in [
        (r#"{"message":"m"}"#, "`message`"),
        (r#"{"message":{"content":"c"}}"#, "`message.customType`"),
        (r#"{"message":{"customType":"n","content":7}}"#, "`message.content`"),
        (r#"{"messages":[7]}"#, "`messages`"),
        (r#"{"messages":[{}]}"#, "`messages.customType`"),
        (r#"{"systemPrompt":7}"#, "`systemPrompt`"),
    ] {
        let error = fixed(wrong).before_agent_start(&start).await.unwrap_err();
        assert!(error.contains(named), "{wrong}: {error}");
    }
}

#[tokio::test]
async fn around_a_request() {
    let hook = fixed(r#"{"payload":{"model":"m","n":1e3}}"#);
    let answer = hook.before_provider_request(r#"{"model":"m"}"#).await.unwrap();
    assert_eq!(answer.as_deref(), Some(r#"{"model":"m","n":1e3}"#));
    assert_eq!(asked(&hook), r#"before_provider_request {"payload":{"model":"m"}}"#);
    assert_eq!(fixed("{}").before_provider_request("{}").await.unwrap(), None);
    assert!(fixed(r#"{"payload":7}"#).before_provider_request("{}").await.is_err());
    hook.after_provider_response(429, &[("retry-after".into(), "\"1\"".into())]).await.unwrap();
    assert_eq!(asked(&hook), r#"after_provider_response {"status":429,"headers":{"retry-after":"\"1\""}}"#);
}

#[tokio::test]
async fn another_choice() {
    let hook = fixed("{}");
    let change = ModelChange { model: "a/b/c".into(), previous: None, source: ModelSource::Cycle };
    hook.model_select(&change).await.unwrap();
    assert_eq!(asked(&hook), r#"model_select {"model":{"provider":"a","id":"b/c"},"source":"cycle"}"#);
    let change = ModelChange { previous: Some("d/e".into()), source: ModelSource::Restore, ..change };
    hook.model_select(&change).await.unwrap();
    assert!(asked(&hook).contains(r#""previousModel":{"provider":"d","id":"e"},"source":"restore""#));
    hook.thinking_level_select(ThinkingLevel::High, ThinkingLevel::Off).await.unwrap();
    assert_eq!(asked(&hook), r#"thinking_level_select {"level":"high","previousLevel":"off"}"#);
}

#[test]
fn names_lead_to_events() {
    for event in HookEvent::ALL {
        assert_eq!(HookEvent::named(event.name()), Some(event));
    }
    assert_eq!(HookEvent::named("session_start"), None);
}
