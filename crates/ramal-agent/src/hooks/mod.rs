//! Every event that a hook hears, with its payload and what it may answer: the whole contract between
//! a session at work and whoever extends it.
//!
//! Handlers run in the order in which they were added. The first cancel ends the operation; an error
//! in one is reported and does not stop it; one that does not come back is given up after a limit.
//! While a handler runs it may read the session and append to it; commands that would move the leaf
//! are refused.
//!
//! A handler whose answer can still be done without is given up when the user aborts: its future is
//! dropped. One that has something to finish, since what it hears of has been done, is given a signal
//! in place of that.

use std::future::Future;
use std::pin::Pin;

use ramal_model::ThinkingLevel;
use tokio_util::sync::CancellationToken;

use crate::compact::CompactionSettings;

mod event;
mod json;
mod said;

pub use event::HookEvent;
pub use json::{Asks, JsonHook};

/// An answer that is waited for.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// What is known before a navigation inside the file (contract, section 6.3).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields have the names of the contract")]
pub struct TreePreparation {
    pub target_id: String,
    pub old_leaf_id: Option<String>,
    pub common_ancestor_id: Option<String>,
    /// The entries of the branch that is left, in chronological order: JSON texts.
    pub entries_to_summarize: Vec<String>,
    pub user_wants_summary: bool,
    pub custom_instructions: Option<String>,
    pub replace_instructions: bool,
    pub label: Option<String>,
}

/// What a hook says before a navigation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeforeTree {
    /// The navigation ends, nothing is changed.
    pub cancel: bool,
    /// A summary in place of the built-in one; used whenever one was wanted.
    pub summary: Option<SuppliedSummary>,
    /// Other instructions for the built-in summary.
    pub custom_instructions: Option<String>,
    /// Whether these stand in place of the built-in prompt.
    pub replace_instructions: Option<bool>,
    /// Another label.
    pub label: Option<String>,
}

/// A summary that a hook made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuppliedSummary {
    /// The text; an empty one means none.
    pub summary: String,
    /// JSON text to be kept with it.
    pub details: Option<String>,
}

/// After a navigation that moved (contract, section 6.7).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields have the names of the contract")]
pub struct TreeMoved {
    pub new_leaf_id: Option<String>,
    pub old_leaf_id: Option<String>,
    /// The summary entry, as JSON text.
    pub summary_entry: Option<String>,
    pub from_extension: Option<bool>,
}

/// What a hook says before a session is left or copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BeforeReplace {
    /// The operation ends, nothing is changed.
    pub cancel: bool,
    /// The new session is made and switched to; only the agent's messages stay as they were.
    pub skip_conversation_restore: bool,
}

/// Where the copy of a branch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchPosition {
    /// Before the entry, which is a message of the user's that is to be said another way.
    Before,
    /// With the entry.
    At,
}

impl BranchPosition {
    /// The name that extensions know it by.
    pub fn name(self) -> &'static str {
        match self {
            BranchPosition::Before => "before",
            BranchPosition::At => "at",
        }
    }
}

/// Why a session is left for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the inventory")]
pub enum SwitchReason {
    New,
    Resume,
    Fork,
}

impl SwitchReason {
    /// The name that extensions know it by.
    pub fn name(self) -> &'static str {
        match self {
            SwitchReason::New => "new",
            SwitchReason::Resume => "resume",
            SwitchReason::Fork => "fork",
        }
    }
}

/// What is known before a compaction (contract, section 9).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields have the names of the inventory")]
pub struct CompactPreparation {
    pub first_kept_entry_id: String,
    pub messages_to_summarize: Vec<String>,
    pub turn_prefix_messages: Vec<String>,
    pub is_split_turn: bool,
    pub tokens_before: u64,
    pub previous_summary: Option<String>,
    /// The files that the conversation read, and those it changed.
    pub read_files: Vec<String>,
    pub modified_files: Vec<String>,
    pub settings: CompactionSettings,
    /// The entries of the path, in order: JSON texts.
    pub branch_entries: Vec<String>,
    pub custom_instructions: Option<String>,
}

/// What a hook says before a compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeforeCompact {
    /// The compaction ends, nothing is changed.
    pub cancel: bool,
    /// A compaction in place of the built-in one.
    pub compaction: Option<SuppliedCompaction>,
}

/// A compaction that a hook made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields have the names of the inventory")]
pub struct SuppliedCompaction {
    pub summary: String,
    pub first_kept_entry_id: String,
    pub tokens_before: u64,
    pub details: Option<String>,
}

/// What a hook says of the prompt of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compacting {
    /// Lines to be considered besides the conversation.
    pub context: Vec<String>,
    /// A prompt in place of the built-in one.
    pub prompt: Option<String>,
    /// JSON text to be kept with the compaction.
    pub preserve_data: Option<String>,
}

/// A call that a model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Its id, which the result names.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON text.
    pub arguments: String,
}

/// What a hook says of a call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCallAnswer {
    /// The call is not run; this is why, for the model.
    pub block: Option<String>,
    /// Other arguments for it, a JSON object.
    pub arguments: Option<String>,
}

/// What the user said, before the model is asked for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStart {
    /// The text.
    pub prompt: String,
    /// Its images: JSON objects.
    pub images: Vec<String>,
    /// The system prompt that the model is given with it.
    pub system_prompt: String,
}

/// What a hook says to that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeforeAgentStart {
    /// Messages that are appended behind what the user said.
    pub messages: Vec<CustomMessage>,
    /// A system prompt in place of the one there is, until the model has nothing more to do.
    pub system_prompt: Option<String>,
}

/// A message that is no person's and no model's. The model sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomMessage {
    /// Whose it is.
    pub custom_type: String,
    /// JSON text: a string or an array of blocks.
    pub content: String,
    /// Whether it is shown to the user.
    pub display: bool,
    /// JSON text to be kept with it.
    pub details: Option<String>,
}

/// Why another model answers than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSource {
    /// Somebody chose it.
    Set,
    /// It was the next in turn.
    Cycle,
    /// It belongs to where one went.
    Restore,
}

impl ModelSource {
    /// The name that extensions know it by.
    pub fn name(self) -> &'static str {
        match self {
            ModelSource::Set => "set",
            ModelSource::Cycle => "cycle",
            ModelSource::Restore => "restore",
        }
    }
}

/// Another model answers than before; both are `provider/id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChange {
    /// The one that answers now.
    pub model: String,
    /// The one that did; none if there was none.
    pub previous: Option<String>,
    /// Why.
    pub source: ModelSource,
}

/// Whoever takes part in a session. Each function has a default that does nothing.
#[expect(unused_variables, reason = "the defaults do nothing")]
pub trait Hook: Send + Sync {
    /// What it is called in messages to the user.
    fn name(&self) -> &str;

    /// Whether it wants to be asked about this, or told of it. What an event tells is not even put
    /// together if nobody hears it.
    fn hears(&self, event: HookEvent) -> bool {
        true
    }

    /// Whether it gives up by itself what takes too long. Otherwise all of it is given up after a limit,
    /// also what waits for the user.
    fn keeps_time(&self) -> bool {
        false
    }

    /// Ends when it has heard what it was told so far. A turn waits for it before its model is asked, so that
    /// what somebody does at the beginning of a turn is done before anything comes of it.
    fn caught_up(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }

    /// Before a navigation inside the file. `signal` is cancelled when the user aborts.
    fn session_before_tree<'a>(
        &'a self,
        preparation: &'a TreePreparation,
        signal: CancellationToken,
    ) -> Answering<'a, BeforeTree> {
        Box::pin(async { Ok(BeforeTree::default()) })
    }

    /// After a navigation that moved.
    fn session_tree<'a>(&'a self, moved: &'a TreeMoved, signal: CancellationToken) -> Answering<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Before a branch becomes a session of its own.
    fn session_before_branch<'a>(
        &'a self,
        entry_id: &'a str,
        position: BranchPosition,
    ) -> Answering<'a, BeforeReplace> {
        Box::pin(async { Ok(BeforeReplace::default()) })
    }

    /// After it did.
    fn session_branch<'a>(
        &'a self,
        previous_session_file: Option<&'a str>,
        signal: CancellationToken,
    ) -> Answering<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Before the session is left for another.
    fn session_before_switch<'a>(
        &'a self,
        reason: SwitchReason,
        target: Option<&'a str>,
    ) -> Answering<'a, BeforeReplace> {
        Box::pin(async { Ok(BeforeReplace::default()) })
    }

    /// After it was.
    fn session_switch<'a>(
        &'a self,
        reason: SwitchReason,
        previous_session_file: Option<&'a str>,
        signal: CancellationToken,
    ) -> Answering<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Before a compaction.
    fn session_before_compact<'a>(
        &'a self,
        preparation: &'a CompactPreparation,
        signal: CancellationToken,
    ) -> Answering<'a, BeforeCompact> {
        Box::pin(async { Ok(BeforeCompact::default()) })
    }

    /// While a compaction that no hook supplied is prepared.
    fn session_compacting<'a>(
        &'a self,
        session_id: &'a str,
        messages: &'a [String],
    ) -> Answering<'a, Option<Compacting>> {
        Box::pin(async { Ok(None) })
    }

    /// After a compaction; the entry is JSON text.
    fn session_compact<'a>(
        &'a self,
        compaction_entry: &'a str,
        from_extension: bool,
        signal: CancellationToken,
    ) -> Answering<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Before each request: other messages in place of these, if any.
    fn context<'a>(&'a self, messages: &'a [String]) -> Answering<'a, Option<Vec<String>>> {
        Box::pin(async { Ok(None) })
    }

    /// Before a tool is run.
    fn tool_call<'a>(&'a self, call: &'a ToolUse) -> Answering<'a, ToolCallAnswer> {
        Box::pin(async { Ok(ToolCallAnswer::default()) })
    }

    /// After a tool was run: another result in place of this one, if any. JSON texts.
    fn tool_result<'a>(
        &'a self,
        call: &'a ToolUse,
        result: &'a str,
        signal: CancellationToken,
    ) -> Answering<'a, Option<String>> {
        Box::pin(async { Ok(None) })
    }

    /// Once for each prompt, before the model is asked. What comes later in the order sees the system prompt of
    /// those before.
    fn before_agent_start<'a>(&'a self, start: &'a AgentStart) -> Answering<'a, BeforeAgentStart> {
        Box::pin(async { Ok(BeforeAgentStart::default()) })
    }

    /// Before a request goes to a provider: another body in place of this one, if any. JSON texts in the words
    /// of the interface.
    fn before_provider_request<'a>(&'a self, payload: &'a str) -> Answering<'a, Option<String>> {
        Box::pin(async { Ok(None) })
    }

    /// A provider has begun to answer. The names of the headers are in lower case.
    fn after_provider_response<'a>(
        &'a self,
        status: u16,
        headers: &'a [(String, String)],
    ) -> Answering<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Another model answers from now on.
    fn model_select<'a>(&'a self, change: &'a ModelChange) -> Answering<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Another thinking level counts from now on.
    fn thinking_level_select(&self, level: ThinkingLevel, previous: ThinkingLevel) -> Answering<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
