//! The events that extensions hear: those that are asked as hooks, and those that a session tells.

use ramal_agent::AgentEvent;
use ramal_agent::hooks::HookEvent;
use serde_json::json;

/// What a session tells, under the names of extensions. What a handler answers to these does not count.
const TOLD: [&str; 20] = [
    "agent_start",
    "agent_end",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "queue_update",
    "compaction_start",
    "compaction_end",
    "auto_retry_start",
    "auto_retry_end",
    "session_info_changed",
    "entry_appended",
    "agent_settled",
    "session_compact_failed",
    "notice",
];

/// What the program tells, or asks.
const PROGRAM: [&str; 5] = ["session_start", "session_shutdown", "input", "user_bash", "resources_discover"];

/// The other family's name of an event, and the one under which its handlers are asked.
const ALSO: [(&str, &str); 3] = [
    ("session_before_fork", "session_before_branch"),
    ("auto_compaction_start", "compaction_start"),
    ("auto_compaction_end", "compaction_end"),
];

/// An event that extensions can hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventName {
    /// What handlers are registered under.
    pub name: &'static str,
    /// Whether it is only told: nobody waits for the handlers, and what they answer does not count.
    pub is_told: bool,
}

/// All events that extensions can hear, under the names of both families.
pub fn events() -> Vec<EventName> {
    let asked = HookEvent::ALL.into_iter().map(HookEvent::name).chain(PROGRAM);
    let names = asked.chain(TOLD).chain(ALSO.into_iter().map(|(name, _)| name));
    names.map(|name| EventName { name, is_told: is_told(name) }).collect()
}

/// The name under which handlers are asked; the two families have names of their own for some events.
pub(crate) fn main_name(name: &str) -> &str {
    ALSO.into_iter().find(|(also, _)| *also == name).map_or(name, |(_, main)| main)
}

/// The names under which what a session tells is told: its own, and one for what it means besides.
pub(crate) fn told(event: &AgentEvent) -> impl Iterator<Item = &'static str> {
    let name = event.name();
    let besides = match event {
        AgentEvent::AgentEnd { .. } => Some("agent_settled"),
        AgentEvent::CompactionEnd { result: None, .. } => Some("session_compact_failed"),
        _ => None,
    };
    TOLD.into_iter().find(|told| *told == name).into_iter().chain(besides)
}

pub(crate) fn is_told(name: &str) -> bool {
    TOLD.contains(&main_name(name))
}

/// Whether an extension can hear an event of this name.
pub(crate) fn is_known(name: &str) -> bool {
    let name = main_name(name);
    TOLD.contains(&name) || PROGRAM.contains(&name) || HookEvent::named(name).is_some()
}

/// The name as those who listen to the session know it.
pub(crate) fn known_name(what: &str) -> &'static str {
    let name = what.split(' ').next().unwrap_or_default();
    let hook = HookEvent::ALL.into_iter().map(HookEvent::name);
    let mut all = hook.chain(TOLD).chain(PROGRAM).chain([
        "session_before_fork",
        "command",
        "tool",
        "shortcut",
        "bus",
        "load",
        "render",
        "render_entry",
        "timer",
    ]);
    all.find(|known| *known == name).unwrap_or("extension")
}

/// Counts the turns of a prompt, which extensions know by their number.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    index: u32,
}

impl Turns {
    /// The number of the turn that an event belongs to.
    pub(crate) fn index(&mut self, event: &AgentEvent) -> u32 {
        match event {
            AgentEvent::AgentStart => self.index = 0,
            AgentEvent::TurnEnd { .. } => {
                self.index += 1;
                return self.index - 1;
            }
            _ => {}
        }
        self.index
    }
}

/// What an event tells under a name, as JSON.
pub(crate) fn payload(name: &str, event: &AgentEvent, turn: u32) -> String {
    match (name, event) {
        ("agent_settled", AgentEvent::AgentEnd { aborted, .. }) => {
            return json!({ "aborted": aborted }).to_string();
        }
        (
            "session_compact_failed",
            AgentEvent::CompactionEnd { reason, aborted, will_retry, error_message, .. },
        ) => {
            return json!({
                "reason": reason.name(),
                "aborted": aborted,
                "willRetry": will_retry,
                "errorMessage": error_message,
            })
            .to_string();
        }
        _ => {}
    }
    let mut json = event.to_json();
    if matches!(event, AgentEvent::TurnStart | AgentEvent::TurnEnd { .. }) && json.ends_with('}') {
        json.pop();
        json += &format!(",\"turnIndex\":{turn},\"timestamp\":{}}}", ramal_session::time::now());
    }
    json
}
