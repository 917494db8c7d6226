//! What a session at work tells whoever listens (the events of `--mode json` and of RPC).

use ramal_model::{Block, Event, StopReason};

use crate::object::{Object, array, texts};

/// Something that happened. Messages and results are JSON texts in the form of the log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields have the names that stand on the wire")]
pub enum AgentEvent {
    /// A prompt is being worked on.
    AgentStart,
    /// It is done, or was given up; these messages came of it.
    AgentEnd {
        messages: Vec<String>,
        /// Whether the user ended it. It is not on the wire.
        aborted: bool,
    },
    /// The model is asked.
    TurnStart,
    /// It has answered, and its calls were run.
    TurnEnd {
        message: String,
        tool_results: Vec<String>,
    },
    MessageStart {
        message: String,
    },
    /// An answer has grown: the whole of it so far, and what is new.
    MessageUpdate {
        message: String,
        event: Event,
        block: Option<Block>,
    },
    /// An answer that has begun grows no more: the model has done, or broke off.
    MessageStop {
        message: String,
        stop: StopReason,
    },
    /// A message is whole and in the log.
    MessageEnd {
        message: String,
        entry_id: String,
    },
    ToolExecutionStart {
        tool_call_id: String,
        tool_name: String,
        args: String,
    },
    ToolExecutionUpdate {
        tool_call_id: String,
        tool_name: String,
        args: String,
        partial_result: String,
    },
    ToolExecutionEnd {
        tool_call_id: String,
        tool_name: String,
        result: String,
        is_error: bool,
    },
    /// What waits to be said.
    QueueUpdate {
        steering: Vec<String>,
        follow_up: Vec<String>,
    },
    CompactionStart {
        reason: CompactionReason,
    },
    CompactionEnd {
        reason: CompactionReason,
        result: Option<String>,
        aborted: bool,
        will_retry: bool,
        error_message: Option<String>,
    },
    /// An attempt failed; the next one is made after a wait.
    AutoRetryStart {
        attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error_message: String,
    },
    AutoRetryEnd {
        success: bool,
        attempt: u32,
        final_error: Option<String>,
    },
    /// A hook failed; what it hooked into went on.
    HookError {
        hook: String,
        event: &'static str,
        error: String,
    },
    /// The leaf was moved: by a navigation, or to before an answer that failed.
    SessionTree {
        new_leaf_id: Option<String>,
        old_leaf_id: Option<String>,
        summary_entry: Option<String>,
        from_extension: Option<bool>,
    },
    /// The context begins anew behind this entry.
    ContextReset {
        entry_id: String,
    },
    /// The session is another one now.
    SessionReplaced {
        session_id: String,
        session_file: Option<String>,
        previous_session_file: Option<String>,
    },
    /// Somebody who takes part appended an entry: JSON text.
    EntryAppended {
        entry_id: String,
        entry: String,
    },
    /// The session got a title or a name.
    SessionInfoChanged {
        name: String,
    },
    /// Something that the user should know.
    Notice {
        message: String,
    },
}

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names on the wire")]
pub enum CompactionReason {
    Manual,
    Threshold,
    Overflow,
}

impl CompactionReason {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            CompactionReason::Manual => "manual",
            CompactionReason::Threshold => "threshold",
            CompactionReason::Overflow => "overflow",
        }
    }
}

impl AgentEvent {
    /// The event's name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            AgentEvent::AgentStart => "agent_start",
            AgentEvent::AgentEnd { .. } => "agent_end",
            AgentEvent::TurnStart => "turn_start",
            AgentEvent::TurnEnd { .. } => "turn_end",
            AgentEvent::MessageStart { .. } => "message_start",
            AgentEvent::MessageUpdate { .. } | AgentEvent::MessageStop { .. } => "message_update",
            AgentEvent::MessageEnd { .. } => "message_end",
            AgentEvent::ToolExecutionStart { .. } => "tool_execution_start",
            AgentEvent::ToolExecutionUpdate { .. } => "tool_execution_update",
            AgentEvent::ToolExecutionEnd { .. } => "tool_execution_end",
            AgentEvent::QueueUpdate { .. } => "queue_update",
            AgentEvent::CompactionStart { .. } => "compaction_start",
            AgentEvent::CompactionEnd { .. } => "compaction_end",
            AgentEvent::AutoRetryStart { .. } => "auto_retry_start",
            AgentEvent::AutoRetryEnd { .. } => "auto_retry_end",
            AgentEvent::HookError { .. } => "extension_error",
            AgentEvent::SessionTree { .. } => "session_tree",
            AgentEvent::ContextReset { .. } => "context_reset",
            AgentEvent::SessionReplaced { .. } => "session_replaced",
            AgentEvent::EntryAppended { .. } => "entry_appended",
            AgentEvent::SessionInfoChanged { .. } => "session_info_changed",
            AgentEvent::Notice { .. } => "notice",
        }
    }

    /// The event as a JSON object on one line.
    pub fn to_json(&self) -> String {
        let mut out = Object::of_type(self.name());
        match self {
            AgentEvent::AgentStart | AgentEvent::TurnStart => {}
            AgentEvent::AgentEnd { messages, .. } => out.json("messages", &array(messages)),
            AgentEvent::TurnEnd { message, tool_results } => {
                out.json("message", message);
                out.json("toolResults", &array(tool_results));
            }
            AgentEvent::MessageStart { message } => out.json("message", message),
            AgentEvent::MessageUpdate { message, event, block } => {
                out.json("message", message);
                out.json("assistantMessageEvent", &assistant_event(event, block.as_ref()));
            }
            AgentEvent::MessageStop { message, stop } => {
                out.json("message", message);
                out.json("assistantMessageEvent", &stopped(message, *stop));
            }
            AgentEvent::MessageEnd { message, entry_id } => {
                out.json("message", message);
                out.text("entryId", entry_id);
            }
            AgentEvent::ToolExecutionStart { tool_call_id, tool_name, args } => {
                out.call(tool_call_id, tool_name);
                out.json("args", args);
            }
            AgentEvent::ToolExecutionUpdate { tool_call_id, tool_name, args, partial_result } => {
                out.call(tool_call_id, tool_name);
                out.json("args", args);
                out.json("partialResult", partial_result);
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, tool_name, result, is_error } => {
                out.call(tool_call_id, tool_name);
                out.json("result", result);
                out.flag("isError", *is_error);
            }
            AgentEvent::QueueUpdate { steering, follow_up } => {
                out.json("steering", &texts(steering));
                out.json("followUp", &texts(follow_up));
            }
            AgentEvent::CompactionStart { reason } => out.text("reason", reason.name()),
            AgentEvent::CompactionEnd { reason, result, aborted, will_retry, error_message } => {
                out.text("reason", reason.name());
                out.json("result", result.as_deref().unwrap_or("null"));
                out.flag("aborted", *aborted);
                out.flag("willRetry", *will_retry);
                out.text_if("errorMessage", error_message.as_deref());
            }
            AgentEvent::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
                out.json("attempt", &attempt.to_string());
                out.json("maxAttempts", &max_attempts.to_string());
                out.json("delayMs", &delay_ms.to_string());
                out.text("errorMessage", error_message);
            }
            AgentEvent::AutoRetryEnd { success, attempt, final_error } => {
                out.flag("success", *success);
                out.json("attempt", &attempt.to_string());
                out.text_if("finalError", final_error.as_deref());
            }
            AgentEvent::HookError { hook, event, error } => {
                out.text("extensionPath", hook);
                out.text("event", event);
                out.text("error", error);
            }
            AgentEvent::SessionTree { new_leaf_id, old_leaf_id, summary_entry, from_extension } => {
                out.text_or_null("newLeafId", new_leaf_id.as_deref());
                out.text_or_null("oldLeafId", old_leaf_id.as_deref());
                out.json_if("summaryEntry", summary_entry.as_deref());
                if let Some(from_extension) = from_extension {
                    out.flag("fromExtension", *from_extension);
                }
            }
            AgentEvent::ContextReset { entry_id } => out.text("entryId", entry_id),
            AgentEvent::SessionReplaced { session_id, session_file, previous_session_file } => {
                out.text("sessionId", session_id);
                out.text_if("sessionFile", session_file.as_deref());
                out.text_if("previousSessionFile", previous_session_file.as_deref());
            }
            AgentEvent::EntryAppended { entry, .. } => out.json("entry", entry),
            AgentEvent::SessionInfoChanged { name } => out.text("name", name),
            AgentEvent::Notice { message } => out.text("message", message),
        }
        out.end()
    }
}

/// What is new in an answer, with the names of the wire.
fn assistant_event(event: &Event, block: Option<&Block>) -> String {
    let delta = |name: &str, block: usize, delta: &str| {
        let mut out = Object::of_type(name);
        out.json("contentIndex", &block.to_string());
        out.text("delta", delta);
        out.end()
    };
    let start = |name: &str, block: usize| {
        let mut out = Object::of_type(name);
        out.json("contentIndex", &block.to_string());
        out.end()
    };
    match event {
        Event::TextStart { block } => start("text_start", *block),
        Event::TextDelta { block, delta: text } => delta("text_delta", *block, text),
        Event::ThinkingStart { block } => start("thinking_start", *block),
        Event::ThinkingDelta { block, delta: text } => delta("thinking_delta", *block, text),
        Event::ToolCallStart { block, .. } => start("toolcall_start", *block),
        Event::ToolCallDelta { block, delta: text } => delta("toolcall_delta", *block, text),
        Event::BlockEnd { block: number } => match block {
            Some(Block::Thinking { .. }) => start("thinking_end", *number),
            Some(Block::ToolCall { .. }) => start("toolcall_end", *number),
            _ => start("text_end", *number),
        },
        _ => Object::of_type("start").end(),
    }
}

/// How an answer ended, with the names of the wire.
fn stopped(message: &str, stop: StopReason) -> String {
    let (name, holds) = match stop {
        StopReason::Error | StopReason::Aborted => ("error", "error"),
        _ => ("done", "message"),
    };
    let mut out = Object::of_type(name);
    out.text("reason", stop.name());
    out.json(holds, message);
    out.end()
}
