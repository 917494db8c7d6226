//! The events by their names.

/// What a hook can be asked about, or told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the names of the inventory; what each means stands at the function of `Hook`"
)]
pub enum HookEvent {
    SessionBeforeTree,
    SessionTree,
    SessionBeforeBranch,
    SessionBranch,
    SessionBeforeSwitch,
    SessionSwitch,
    SessionBeforeCompact,
    SessionCompacting,
    SessionCompact,
    Context,
    ToolCall,
    ToolResult,
    BeforeAgentStart,
    BeforeProviderRequest,
    AfterProviderResponse,
    ModelSelect,
    ThinkingLevelSelect,
}

impl HookEvent {
    /// All there are.
    pub const ALL: [HookEvent; 17] = [
        HookEvent::SessionBeforeTree,
        HookEvent::SessionTree,
        HookEvent::SessionBeforeBranch,
        HookEvent::SessionBranch,
        HookEvent::SessionBeforeSwitch,
        HookEvent::SessionSwitch,
        HookEvent::SessionBeforeCompact,
        HookEvent::SessionCompacting,
        HookEvent::SessionCompact,
        HookEvent::Context,
        HookEvent::ToolCall,
        HookEvent::ToolResult,
        HookEvent::BeforeAgentStart,
        HookEvent::BeforeProviderRequest,
        HookEvent::AfterProviderResponse,
        HookEvent::ModelSelect,
        HookEvent::ThinkingLevelSelect,
    ];

    /// The name that extensions know it by.
    pub fn name(self) -> &'static str {
        match self {
            HookEvent::SessionBeforeTree => "session_before_tree",
            HookEvent::SessionTree => "session_tree",
            HookEvent::SessionBeforeBranch => "session_before_branch",
            HookEvent::SessionBranch => "session_branch",
            HookEvent::SessionBeforeSwitch => "session_before_switch",
            HookEvent::SessionSwitch => "session_switch",
            HookEvent::SessionBeforeCompact => "session_before_compact",
            HookEvent::SessionCompacting => "session.compacting",
            HookEvent::SessionCompact => "session_compact",
            HookEvent::Context => "context",
            HookEvent::ToolCall => "tool_call",
            HookEvent::ToolResult => "tool_result",
            HookEvent::BeforeAgentStart => "before_agent_start",
            HookEvent::BeforeProviderRequest => "before_provider_request",
            HookEvent::AfterProviderResponse => "after_provider_response",
            HookEvent::ModelSelect => "model_select",
            HookEvent::ThinkingLevelSelect => "thinking_level_select",
        }
    }

    /// The event of that name.
    pub fn named(name: &str) -> Option<HookEvent> {
        HookEvent::ALL.into_iter().find(|event| event.name() == name)
    }
}
