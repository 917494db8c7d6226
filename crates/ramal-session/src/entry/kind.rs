//! What kinds of entries and roles of messages there are (contract, section 1).

/// The type of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the names are those of the format; docs/log-format.md tells what each holds"
)]
pub enum Kind {
    Message,
    CustomMessage,
    BranchSummary,
    Compaction,
    ContextEdit,
    ResetBoundary,
    Label,
    ModelChange,
    ThinkingLevelChange,
    ServiceTierChange,
    ModeChange,
    TtsrInjection,
    McpToolSelection,
    SessionInit,
    SessionInfo,
    TitleChange,
    Leaf,
    ActiveToolsChange,
    Usage,
    ModelUsage,
    CredentialPin,
    Custom,
    /// A type that this program does not know. It is kept as it is.
    Unknown,
}

const KINDS: [(&str, Kind); 22] = [
    ("message", Kind::Message),
    ("custom_message", Kind::CustomMessage),
    ("branch_summary", Kind::BranchSummary),
    ("compaction", Kind::Compaction),
    ("context_edit", Kind::ContextEdit),
    ("reset_boundary", Kind::ResetBoundary),
    ("label", Kind::Label),
    ("model_change", Kind::ModelChange),
    ("thinking_level_change", Kind::ThinkingLevelChange),
    ("service_tier_change", Kind::ServiceTierChange),
    ("mode_change", Kind::ModeChange),
    ("ttsr_injection", Kind::TtsrInjection),
    ("mcp_tool_selection", Kind::McpToolSelection),
    ("session_init", Kind::SessionInit),
    ("session_info", Kind::SessionInfo),
    ("title_change", Kind::TitleChange),
    ("leaf", Kind::Leaf),
    ("active_tools_change", Kind::ActiveToolsChange),
    ("usage", Kind::Usage),
    ("model_usage", Kind::ModelUsage),
    ("credential_pin", Kind::CredentialPin),
    ("custom", Kind::Custom),
];

impl Kind {
    /// The kind that the `type` of an entry names.
    pub fn of(name: &str) -> Kind {
        if name == "message" {
            return Kind::Message;
        }
        KINDS.iter().find(|(known, _)| *known == name).map_or(Kind::Unknown, |(_, kind)| *kind)
    }

    /// The `type` in the file; none for [`Kind::Unknown`], whose name only the entry itself knows.
    pub fn name(self) -> Option<&'static str> {
        KINDS.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name)
    }

    /// Conversation, as against bookkeeping: what the model may be shown.
    pub fn is_conversation(self) -> bool {
        matches!(self, Kind::Message | Kind::CustomMessage | Kind::BranchSummary | Kind::Compaction)
    }

    /// Whether an entry of this kind says where the leaf is after opening. Records that programs
    /// write by themselves do not (contract, section 1).
    pub fn decides_leaf(self) -> bool {
        !matches!(
            self,
            Kind::Custom
                | Kind::SessionInfo
                | Kind::TitleChange
                | Kind::Usage
                | Kind::ModelUsage
                | Kind::CredentialPin
        )
    }

    /// Whether the index needs more of such an entry than its envelope.
    pub(crate) fn has_details(self) -> bool {
        matches!(self, Kind::Label | Kind::Leaf | Kind::SessionInfo | Kind::TitleChange)
    }
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of the format")]
pub enum Role {
    /// The entry is no message, or its message names no role.
    None,
    User,
    Developer,
    System,
    Assistant,
    ToolResult,
    BashExecution,
    PythonExecution,
    FileMention,
    Custom,
    HookMessage,
    BranchSummary,
    CompactionSummary,
    /// A role that this program does not know: kept, not sent.
    Unknown,
}

const ROLES: [(&str, Role); 12] = [
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("toolResult", Role::ToolResult),
    ("developer", Role::Developer),
    ("system", Role::System),
    ("bashExecution", Role::BashExecution),
    ("pythonExecution", Role::PythonExecution),
    ("fileMention", Role::FileMention),
    ("custom", Role::Custom),
    ("hookMessage", Role::HookMessage),
    ("branchSummary", Role::BranchSummary),
    ("compactionSummary", Role::CompactionSummary),
];

impl Role {
    /// The role that a message names.
    pub fn of(name: &str) -> Role {
        ROLES.iter().find(|(known, _)| *known == name).map_or(Role::Unknown, |(_, role)| *role)
    }

    /// The name in the file, if it is one of those known.
    pub fn name(self) -> Option<&'static str> {
        ROLES.iter().find(|(_, role)| *role == self).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_agree() {
        for (name, kind) in KINDS {
            assert_eq!((Kind::of(name), kind.name()), (kind, Some(name)));
        }
        for (name, role) in ROLES {
            assert_eq!((Role::of(name), role.name()), (role, Some(name)));
        }
        assert_eq!(Kind::of("hologram"), Kind::Unknown);
        assert_eq!(Role::of(""), Role::Unknown);
    }
}
