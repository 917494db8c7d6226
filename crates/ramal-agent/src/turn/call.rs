//! Running the calls of tools that the model made.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use ramal_session::json::quote;
use ramal_session::{Message, Role, time};

use super::{Work, is_object};
use crate::events::AgentEvent;
use crate::hooks::{HookEvent, ToolUse};
use crate::tools::{Call, Tool, ToolResult, arguments, outputs_folder};

impl Work<'_> {
    pub(super) async fn run_call(&self, call: &ToolUse) -> ToolResult {
        let session = self.session;
        let tool_call_id = call.id.clone();
        session.emit(AgentEvent::ToolExecutionStart {
            tool_call_id: tool_call_id.clone(),
            tool_name: call.name.clone(),
            args: call.arguments.clone(),
        });
        let tool = session.offered().into_iter().find(|tool| tool.spec().name == call.name);
        let result = match tool {
            None => ToolResult::error(format!("There is no tool called {}.", call.name)),
            Some(tool) => self.run_tool(&tool, call).await,
        };
        session.emit(AgentEvent::ToolExecutionEnd {
            tool_call_id,
            tool_name: call.name.clone(),
            result: result.to_json(),
            is_error: result.is_error,
        });
        result
    }

    async fn run_tool(&self, tool: &Arc<dyn Tool>, call: &ToolUse) -> ToolResult {
        let session = self.session;
        // Nobody need be asked about what cannot be run anyway.
        if let Some(wrong) = arguments::wrong_as_a_whole(&call.arguments) {
            return ToolResult::error(wrong);
        }
        let mut call = Cow::Borrowed(call);
        for hook in session.hooks(HookEvent::ToolCall) {
            let answering = hook.tool_call(&call);
            let answer = session.ask_until(&self.abort, &*hook, HookEvent::ToolCall, answering).await;
            let answer = answer.unwrap_or_default();
            if let Some(why) = answer.block {
                return ToolResult::error(format!("The call was not run: {why}"));
            }
            if let Some(arguments) = answer.arguments {
                call.to_mut().arguments = arguments;
            }
        }
        if let Some(wrong) = arguments::wrong_as_a_whole(&call.arguments) {
            return ToolResult::error(wrong);
        }
        let config = session.config();
        let cwd = config.cwd.clone();
        let access = tool.access(&call.arguments, &cwd);
        let permitted = tokio::select! {
            biased;
            () = self.abort.cancelled() => return ToolResult::error("The call was not run: the user ended the turn."),
            permitted = config.permit.may_run(&call.name, &call.arguments, &access) => permitted,
        };
        if !permitted {
            return ToolResult::error("The call was not run: it was not allowed.");
        }
        let overflow = session.session_file().as_deref().map(outputs_folder);
        let update = |text: String| {
            session.emit(AgentEvent::ToolExecutionUpdate {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                args: call.arguments.clone(),
                partial_result: format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quote(&text)),
            });
        };
        let running = tool.run(Call {
            id: &call.id,
            arguments: &call.arguments,
            cwd: &cwd,
            overflow: overflow.as_deref(),
            abort: self.abort.clone(),
            update: &update,
        });
        // A fault in a tool must not take the turn with it.
        let result = AssertUnwindSafe(running).catch_unwind().await;
        result.unwrap_or_else(|_| ToolResult::error("The tool broke off by a fault of its own."))
    }

    /// The result as a message; hooks may put another in its place.
    pub(super) async fn tell_result(&self, call: &ToolUse, result: ToolResult) -> String {
        let event = HookEvent::ToolResult;
        let mut message = result.to_message(&call.id, &call.name, time::now());
        for hook in self.session.hooks(event) {
            let answering = hook.tool_result(call, &message, self.abort.clone());
            let answer = self.session.ask(&*hook, event, answering).await;
            let Some(Some(other)) = answer else { continue };
            if is_result_of(&other, call) {
                message = other;
            } else {
                self.session.hook_failed(&*hook, event, "what it answered is no result of the call");
            }
        }
        message
    }
}

/// Whether a message can stand in the log as the result of a call.
fn is_result_of(message: &str, call: &ToolUse) -> bool {
    is_object(message) && {
        let message = Message::new(message);
        message.role() == Role::ToolResult && message.get_str("toolCallId").is_some_and(|id| id == call.id)
    }
}

/// The calls in a stored answer: those that are whole.
pub(super) fn calls(message: &str) -> Vec<ToolUse> {
    let message = Message::new(message);
    let calls = message.tool_calls();
    calls
        .map(|call| ToolUse {
            id: call.id.into_owned(),
            name: call.name.into_owned(),
            arguments: call.arguments.to_owned(),
        })
        .collect()
}
