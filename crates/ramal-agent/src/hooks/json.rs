//! Hooks over JSON, for whoever takes part from outside: what an event tells is a JSON object with the
//! names of the inventory, and so is what its answer says.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ramal_model::ThinkingLevel;
use ramal_session::json::{self, ObjectEdit, is_valid, quote};
use tokio_util::sync::CancellationToken;

use super::said::Said;
use super::{
    AgentStart, Answering, BeforeAgentStart, BeforeCompact, BeforeReplace, BeforeTree, BranchPosition,
    CompactPreparation, Compacting, CustomMessage, Hook, HookEvent, ModelChange, SuppliedCompaction,
    SuppliedSummary, SwitchReason, ToolCallAnswer, ToolUse, TreeMoved, TreePreparation,
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

    /// As [`Hook::caught_up`].
    fn caught_up(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
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

    fn caught_up(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        (**self).caught_up()
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

    fn caught_up(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.0.caught_up()
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

    fn session_before_branch<'a>(
        &'a self,
        entry_id: &'a str,
        position: BranchPosition,
    ) -> Answering<'a, BeforeReplace> {
        let mut payload = Object::default();
        payload.text("entryId", entry_id);
        payload.text("position", position.name());
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

    fn before_agent_start<'a>(&'a self, start: &'a AgentStart) -> Answering<'a, BeforeAgentStart> {
        let mut payload = Object::default();
        payload.text("prompt", &start.prompt);
        payload.json("images", &array(&start.images));
        payload.text("systemPrompt", &start.system_prompt);
        self.read(HookEvent::BeforeAgentStart, payload, no_signal(), before_agent_start)
    }

    /// The body that is answered is the member `payload`.
    fn before_provider_request<'a>(&'a self, payload: &'a str) -> Answering<'a, Option<String>> {
        let mut told = Object::default();
        told.json("payload", payload);
        self.read(HookEvent::BeforeProviderRequest, told, no_signal(), |said| {
            Ok(said.object("payload")?.and_then(|_| said.json("payload")))
        })
    }

    fn after_provider_response<'a>(
        &'a self,
        status: u16,
        headers: &'a [(String, String)],
    ) -> Answering<'a, ()> {
        let mut all = Object::default();
        for (name, value) in headers {
            all.json(&escaped(name), &quote(value));
        }
        let mut payload = Object::default();
        payload.json("status", &status.to_string());
        payload.json("headers", &all.end());
        self.tell(HookEvent::AfterProviderResponse, payload, no_signal())
    }

    fn model_select<'a>(&'a self, change: &'a ModelChange) -> Answering<'a, ()> {
        let mut payload = Object::default();
        payload.json("model", &model(&change.model));
        payload.json_if("previousModel", change.previous.as_deref().map(model).as_deref());
        payload.text("source", change.source.name());
        self.tell(HookEvent::ModelSelect, payload, no_signal())
    }

    fn thinking_level_select(&self, level: ThinkingLevel, previous: ThinkingLevel) -> Answering<'_, ()> {
        let mut payload = Object::default();
        payload.text("level", level.name());
        payload.text("previousLevel", previous.name());
        self.tell(HookEvent::ThinkingLevelSelect, payload, no_signal())
    }
}

/// A name as it stands between the quotes of a key.
fn escaped(name: &str) -> String {
    quote(name).trim_matches('"').to_owned()
}

/// A model that is named `provider/id`.
fn model(name: &str) -> String {
    let (provider, id) = name.split_once('/').unwrap_or(("", name));
    let mut model = Object::default();
    model.text("provider", provider);
    model.text("id", id);
    model.end()
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

/// One message, or several.
fn before_agent_start(said: &Said<'_>) -> Result<BeforeAgentStart, String> {
    let several = said.each("messages")?;
    let messages = if several.is_empty() { said.object("message")?.into_iter().collect() } else { several };
    Ok(BeforeAgentStart {
        messages: messages.iter().map(custom_message).collect::<Result<_, _>>()?,
        system_prompt: said.text_if("systemPrompt")?,
    })
}

fn custom_message(said: &Said<'_>) -> Result<CustomMessage, String> {
    Ok(CustomMessage {
        custom_type: said.text("customType")?,
        content: said.content("content")?,
        display: said.flag_if("display")?.unwrap_or(true),
        details: said.json("details"),
    })
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
mod tests;
