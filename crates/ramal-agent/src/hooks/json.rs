//! Hooks over JSON, for whoever takes part from outside: what an event tells is a JSON object with the
//! names of the inventory, and so is what its answer says.

use std::sync::Arc;

use ramal_session::json::{self, ObjectEdit, is_valid};
use tokio_util::sync::CancellationToken;

use super::said::Said;
use super::{
    Answering, BeforeCompact, BeforeReplace, BeforeTree, CompactPreparation, Compacting, Hook, HookEvent,
    SuppliedCompaction, SuppliedSummary, SwitchReason, ToolCallAnswer, ToolUse, TreeMoved, TreePreparation,
};
use crate::object::{Object, array, texts};

/// Whoever is asked in JSON.
pub trait Asks: Send + Sync {
    /// What it is called in messages to the user.
    fn name(&self) -> &str;

    /// Whether it wants to be asked about this, or told of it.
    fn hears(&self, event: HookEvent) -> bool;

    /// As [`Hook::keeps_time`].
    fn keeps_time(&self) -> bool {
        false
    }

    /// Asks. `payload` is a JSON object; the answer is one, or none. `signal` is cancelled when the user
    /// aborts; where the answer can still be done without, the future is dropped in place of that.
    fn ask<'a>(
        &'a self,
        event: HookEvent,
        payload: String,
        signal: CancellationToken,
    ) -> Answering<'a, Option<String>>;
}

impl<A: Asks + ?Sized> Asks for Arc<A> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn hears(&self, event: HookEvent) -> bool {
        (**self).hears(event)
    }

    fn keeps_time(&self) -> bool {
        (**self).keeps_time()
    }

    fn ask<'a>(
        &'a self,
        event: HookEvent,
        payload: String,
        signal: CancellationToken,
    ) -> Answering<'a, Option<String>> {
        (**self).ask(event, payload, signal)
    }
}

/// A hook that asks in JSON.
#[derive(Debug)]
pub struct JsonHook<A>(pub A);

impl<A: Asks> JsonHook<A> {
    /// An answer that is an object in the right shape counts; null and an empty object say nothing.
    fn read<'a, T: Default + 'a>(
        &'a self,
        event: HookEvent,
        payload: Object,
        signal: CancellationToken,
        read: impl FnOnce(&Said<'_>) -> Result<T, String> + Send + 'a,
    ) -> Answering<'a, T> {
        let asking = self.0.ask(event, payload.end(), signal);
        Box::pin(async move {
            match asking.await?.as_deref().map(str::trim) {
                None | Some("null") => Ok(T::default()),
                Some(answer) if answer.starts_with('{') && is_valid(answer) => {
                    // A line feed between members would end the line of the log that they go into.
                    read(&Said::new(&answer.replace('\n', " ")))
                }
                Some(_) => Err("the result must be a JSON object".into()),
            }
        })
    }

    /// Nothing that is answered here counts.
    fn tell<'a>(&'a self, event: HookEvent, payload: Object, signal: CancellationToken) -> Answering<'a, ()> {
        self.read(event, payload, signal, |_| Ok(()))
    }
}

/// For what is given up by dropping it.
fn no_signal() -> CancellationToken {
    CancellationToken::new()
}

impl<A: Asks> Hook for JsonHook<A> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn hears(&self, event: HookEvent) -> bool {
        self.0.hears(event)
    }

    fn keeps_time(&self) -> bool {
        self.0.keeps_time()
    }

    fn session_before_tree<'a>(
        &'a self,
        preparation: &'a TreePreparation,
        signal: CancellationToken,
    ) -> Answering<'a, BeforeTree> {
        self.read(HookEvent::SessionBeforeTree, tree_preparation(preparation), signal, before_tree)
    }

    fn session_tree<'a>(&'a self, moved: &'a TreeMoved, signal: CancellationToken) -> Answering<'a, ()> {
        let mut payload = Object::default();
        payload.text_or_null("newLeafId", moved.new_leaf_id.as_deref());
        payload.text_or_null("oldLeafId", moved.old_leaf_id.as_deref());
        payload.json_if("summaryEntry", moved.summary_entry.as_deref());
        if let Some(from_extension) = moved.from_extension {
            payload.flag("fromExtension", from_extension);
        }
        self.tell(HookEvent::SessionTree, payload, signal)
    }

    fn session_before_branch<'a>(&'a self, entry_id: &'a str) -> Answering<'a, BeforeReplace> {
        let mut payload = Object::default();
        payload.text("entryId", entry_id);
        self.read(HookEvent::SessionBeforeBranch, payload, no_signal(), before_replace)
    }

    fn session_branch<'a>(
        &'a self,
        previous_session_file: Option<&'a str>,
        signal: CancellationToken,
    ) -> Answering<'a, ()> {
        let mut payload = Object::default();
        payload.text_if("previousSessionFile", previous_session_file);
        self.tell(HookEvent::SessionBranch, payload, signal)
    }

    fn session_before_switch<'a>(
        &'a self,
        reason: SwitchReason,
        target: Option<&'a str>,
    ) -> Answering<'a, BeforeReplace> {
        let mut payload = Object::default();
        payload.text("reason", reason.name());
        payload.text_if("targetSessionFile", target);
        self.read(HookEvent::SessionBeforeSwitch, payload, no_signal(), before_replace)
    }

    fn session_switch<'a>(
        &'a self,
        reason: SwitchReason,
        previous_session_file: Option<&'a str>,
        signal: CancellationToken,
    ) -> Answering<'a, ()> {
        let mut payload = Object::default();
        payload.text("reason", reason.name());
        payload.text_if("previousSessionFile", previous_session_file);
        self.tell(HookEvent::SessionSwitch, payload, signal)
    }

    fn session_before_compact<'a>(
        &'a self,
        preparation: &'a CompactPreparation,
        signal: CancellationToken,
    ) -> Answering<'a, BeforeCompact> {
        self.read(HookEvent::SessionBeforeCompact, compact_preparation(preparation), signal, before_compact)
    }

    fn session_compacting<'a>(
        &'a self,
        session_id: &'a str,
        messages: &'a [String],
    ) -> Answering<'a, Option<Compacting>> {
        let mut payload = Object::default();
        payload.text("sessionId", session_id);
        payload.json("messages", &array(messages));
        self.read(HookEvent::SessionCompacting, payload, no_signal(), compacting)
    }

    fn session_compact<'a>(
        &'a self,
        compaction_entry: &'a str,
        from_extension: bool,
        signal: CancellationToken,
    ) -> Answering<'a, ()> {
        let mut payload = Object::default();
        payload.json("compactionEntry", compaction_entry);
        payload.flag("fromExtension", from_extension);
        self.tell(HookEvent::SessionCompact, payload, signal)
    }

    fn context<'a>(&'a self, messages: &'a [String]) -> Answering<'a, Option<Vec<String>>> {
        let mut payload = Object::default();
        payload.json("messages", &array(messages));
        self.read(HookEvent::Context, payload, no_signal(), |said| said.objects("messages"))
    }

    fn tool_call<'a>(&'a self, call: &'a ToolUse) -> Answering<'a, ToolCallAnswer> {
        let mut payload = Object::default();
        payload.call(&call.id, &call.name);
        payload.json("input", &call.arguments);
        self.read(HookEvent::ToolCall, payload, no_signal(), tool_call)
    }

    fn tool_result<'a>(
        &'a self,
        call: &'a ToolUse,
        result: &'a str,
        signal: CancellationToken,
    ) -> Answering<'a, Option<String>> {
        let mut payload = Object::default();
        payload.call(&call.id, &call.name);
        payload.json("input", &call.arguments);
        for key in RESULT {
            let value = json::get(result.as_bytes(), key).and_then(|value| std::str::from_utf8(value).ok());
            payload.json_if(key, value);
        }
        self.read(HookEvent::ToolResult, payload, signal, |said| tool_result(said, result))
    }
}

/// What a hook may change in a result.
const RESULT: [&str; 3] = ["content", "details", "isError"];

fn tree_preparation(preparation: &TreePreparation) -> Object {
    let mut inner = Object::default();
    inner.text("targetId", &preparation.target_id);
    inner.text_or_null("oldLeafId", preparation.old_leaf_id.as_deref());
    inner.text_or_null("commonAncestorId", preparation.common_ancestor_id.as_deref());
    inner.json("entriesToSummarize", &array(&preparation.entries_to_summarize));
    inner.flag("userWantsSummary", preparation.user_wants_summary);
    inner.text_if("customInstructions", preparation.custom_instructions.as_deref());
    inner.flag("replaceInstructions", preparation.replace_instructions);
    inner.text_if("label", preparation.label.as_deref());
    let mut payload = Object::default();
    payload.json("preparation", &inner.end());
    payload
}

fn compact_preparation(preparation: &CompactPreparation) -> Object {
    let mut inner = Object::default();
    inner.text("firstKeptEntryId", &preparation.first_kept_entry_id);
    inner.json("messagesToSummarize", &array(&preparation.messages_to_summarize));
    inner.json("turnPrefixMessages", &array(&preparation.turn_prefix_messages));
    inner.flag("isSplitTurn", preparation.is_split_turn);
    inner.json("tokensBefore", &preparation.tokens_before.to_string());
    inner.text_if("previousSummary", preparation.previous_summary.as_deref());
    // Files that were written anew are not told from those that were edited.
    let mut files = Object::default();
    files.json("read", &texts(&preparation.read_files));
    files.json("written", "[]");
    files.json("edited", &texts(&preparation.modified_files));
    inner.json("fileOps", &files.end());
    let mut settings = Object::default();
    settings.flag("enabled", preparation.settings.enabled);
    settings.json("reserveTokens", &preparation.settings.reserve_tokens.to_string());
    settings.json("keepRecentTokens", &preparation.settings.keep_recent_tokens.to_string());
    inner.json("settings", &settings.end());
    let mut payload = Object::default();
    payload.json("preparation", &inner.end());
    payload.json("branchEntries", &array(&preparation.branch_entries));
    payload.text_if("customInstructions", preparation.custom_instructions.as_deref());
    payload
}

fn before_tree(said: &Said<'_>) -> Result<BeforeTree, String> {
    let summary = said.object("summary")?;
    let summary = summary.map(|summary| {
        Ok::<_, String>(SuppliedSummary {
            summary: summary.text("summary")?,
            details: summary.json("details"),
        })
    });
    Ok(BeforeTree {
        cancel: said.flag_if("cancel")?.unwrap_or(false),
        summary: summary.transpose()?,
        custom_instructions: said.text_if("customInstructions")?,
        replace_instructions: said.flag_if("replaceInstructions")?,
        label: said.text_if("label")?,
    })
}

fn before_replace(said: &Said<'_>) -> Result<BeforeReplace, String> {
    Ok(BeforeReplace {
        cancel: said.flag_if("cancel")?.unwrap_or(false),
        skip_conversation_restore: said.flag_if("skipConversationRestore")?.unwrap_or(false),
    })
}

fn before_compact(said: &Said<'_>) -> Result<BeforeCompact, String> {
    let compaction = said.object("compaction")?;
    let compaction = compaction.map(|compaction| {
        Ok::<_, String>(SuppliedCompaction {
            summary: compaction.text("summary")?,
            first_kept_entry_id: compaction.text("firstKeptEntryId")?,
            tokens_before: compaction.count("tokensBefore")?,
            details: compaction.json("details"),
        })
    });
    Ok(BeforeCompact {
        cancel: said.flag_if("cancel")?.unwrap_or(false),
        compaction: compaction.transpose()?,
    })
}

fn compacting(said: &Said<'_>) -> Result<Option<Compacting>, String> {
    let answer = Compacting {
        context: said.texts("context")?.unwrap_or_default(),
        prompt: said.text_if("prompt")?,
        preserve_data: said.json("preserveData"),
    };
    // An answer takes the place of an earlier one; one that says nothing does not.
    Ok((answer != Compacting::default()).then_some(answer))
}

fn tool_call(said: &Said<'_>) -> Result<ToolCallAnswer, String> {
    let reason = said.text_if("reason")?.filter(|reason| !reason.trim().is_empty());
    let reason = reason.unwrap_or_else(|| "it was blocked.".into());
    let arguments = said.object("input")?.and_then(|_| said.json("input"));
    Ok(ToolCallAnswer { block: said.flag_if("block")?.unwrap_or(false).then_some(reason), arguments })
}

/// The result with the parts in it that were answered.
fn tool_result(said: &Said<'_>, result: &str) -> Result<Option<String>, String> {
    said.objects("content")?;
    said.flag_if("isError")?;
    let mut edit = ObjectEdit::new();
    for key in RESULT {
        if let Some(value) = said.json(key) {
            edit = edit.set(key, value);
        }
    }
    if edit.is_empty() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&edit.apply(result.as_bytes())).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

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
        let nothing =
            [fixed("null"), fixed(" {} "), JsonHook(Fixed { answer: None, asked: Mutex::default() })];
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

    #[test]
    fn names_lead_to_events() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::named(event.name()), Some(event));
        }
        assert_eq!(HookEvent::named("session_start"), None);
    }
}
