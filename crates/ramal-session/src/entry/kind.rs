//! What kinds of entries and roles of messages there are (contract, section 1).

/// An enum whose variants have names in the file: one table for the type and both ways between them.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $($(#[$extra_meta:meta])* $extra:ident),+ ; $($variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$meta])*
        pub enum $type {
            $($variant,)+
            $($(#[$extra_meta])* $extra,)+
        }

        impl $type {
            /// What a name in the file means, if it is one of those known.
            fn known(name: &[u8]) -> Option<$type> {
                $(if name == $name.as_bytes() {
                    return Some($type::$variant);
                })+
                None
            }

            /// The name in the file; none for what this program does not know.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $($type::$variant => Some($name),)+
                    $($type::$extra => None,)+
                }
            }

            #[cfg(test)]
            const NAMES: &'static [(&'static str, $type)] = &[$(($name, $type::$variant)),+];
        }
    };
}

named! {
    /// The type of an entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    #[expect(missing_docs, reason = "the names are those of the format; docs/log-format.md tells what each holds")]
    Kind {
        /// A type that this program does not know. It is kept as it is.
        Unknown;
        Message = "message",
        CustomMessage = "custom_message",
        BranchSummary = "branch_summary",
        Compaction = "compaction",
        ContextEdit = "context_edit",
        ResetBoundary = "reset_boundary",
        Label = "label",
        ModelChange = "model_change",
        ThinkingLevelChange = "thinking_level_change",
        ServiceTierChange = "service_tier_change",
        ModeChange = "mode_change",
        TtsrInjection = "ttsr_injection",
        McpToolSelection = "mcp_tool_selection",
        SessionInit = "session_init",
        SessionInfo = "session_info",
        TitleChange = "title_change",
        Leaf = "leaf",
        ActiveToolsChange = "active_tools_change",
        Usage = "usage",
        ModelUsage = "model_usage",
        CredentialPin = "credential_pin",
        Custom = "custom",
    }
}

impl Kind {
    /// The kind that the `type` of an entry names.
    pub fn of(name: &str) -> Kind {
        Kind::of_bytes(name.as_bytes())
    }

    pub(crate) fn of_bytes(name: &[u8]) -> Kind {
        Kind::known(name).unwrap_or(Kind::Unknown)
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

named! {
    /// Who a message is from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    #[expect(missing_docs, reason = "the names are those of the format")]
    Role {
        /// The entry is no message, or its message names no role.
        None,
        /// A role that this program does not know: kept, not sent.
        Unknown;
        User = "user",
        Assistant = "assistant",
        ToolResult = "toolResult",
        Developer = "developer",
        System = "system",
        BashExecution = "bashExecution",
        PythonExecution = "pythonExecution",
        FileMention = "fileMention",
        Custom = "custom",
        HookMessage = "hookMessage",
        BranchSummary = "branchSummary",
        CompactionSummary = "compactionSummary",
    }
}

impl Role {
    /// The role that a message names.
    pub fn of(name: &str) -> Role {
        Role::of_bytes(name.as_bytes())
    }

    pub(crate) fn of_bytes(name: &[u8]) -> Role {
        Role::known(name).unwrap_or(Role::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_agree() {
        for (name, kind) in Kind::NAMES {
            assert_eq!((Kind::of(name), kind.name()), (*kind, Some(*name)));
        }
        for (name, role) in Role::NAMES {
            assert_eq!((Role::of(name), role.name()), (*role, Some(*name)));
        }
        assert_eq!(Kind::of("hologram"), Kind::Unknown);
        assert_eq!(Role::of(""), Role::Unknown);
    }
}
