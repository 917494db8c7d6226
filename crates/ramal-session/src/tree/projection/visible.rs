//! Which entries a filter shows.

use std::fmt;
use std::str::FromStr;

use super::payload::Payloads;
use crate::entry::{Kind, Role};
use crate::tree::Tree;

/// Which entries of a tree are shown (contract, section 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Filter {
    /// What was said and done, without bookkeeping.
    ///
    /// Bookkeeping is what programs note for themselves: labels, state (model, thinking level, tier,
    /// mode, tools, rules), names, usage, extensions' records, edits of the context, moves. A
    /// `reset_boundary` stays, since the model sees nothing above it, and so does every type that is
    /// not known here.
    #[default]
    Default,
    /// As the default, without results of tools.
    NoTools,
    /// Messages of the user.
    UserOnly,
    /// Entries that have a label now.
    LabeledOnly,
    /// Every entry.
    All,
}

impl Filter {
    /// All filters, in the order in which keys step through them.
    pub const ALL: [Filter; 5] =
        [Filter::Default, Filter::NoTools, Filter::UserOnly, Filter::LabeledOnly, Filter::All];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Filter::Default => "default",
            Filter::NoTools => "no-tools",
            Filter::UserOnly => "user-only",
            Filter::LabeledOnly => "labeled-only",
            Filter::All => "all",
        }
    }

    /// Whether it hides answers that have no text.
    pub(super) fn looks_at_text(self) -> bool {
        !matches!(self, Filter::All | Filter::UserOnly)
    }

    fn shows(self, kind: Kind, role: Role, has_label: impl FnOnce() -> bool) -> bool {
        match self {
            Filter::Default => !is_bookkeeping(kind),
            Filter::NoTools => !is_bookkeeping(kind) && role != Role::ToolResult,
            Filter::UserOnly => kind == Kind::Message && role == Role::User,
            Filter::LabeledOnly => has_label(),
            Filter::All => true,
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Filter {
    type Err = String;

    fn from_str(name: &str) -> Result<Filter, String> {
        Filter::ALL
            .into_iter()
            .find(|filter| filter.name() == name)
            .ok_or_else(|| format!("no such filter; there are {}", Filter::ALL.map(Filter::name).join(", ")))
    }
}

fn is_bookkeeping(kind: Kind) -> bool {
    match kind {
        Kind::Message
        | Kind::CustomMessage
        | Kind::BranchSummary
        | Kind::Compaction
        | Kind::ResetBoundary
        | Kind::Unknown => false,
        Kind::ContextEdit
        | Kind::Label
        | Kind::ModelChange
        | Kind::ThinkingLevelChange
        | Kind::ServiceTierChange
        | Kind::ModeChange
        | Kind::TtsrInjection
        | Kind::McpToolSelection
        | Kind::SessionInit
        | Kind::SessionInfo
        | Kind::TitleChange
        | Kind::Leaf
        | Kind::ActiveToolsChange
        | Kind::Usage
        | Kind::ModelUsage
        | Kind::CredentialPin
        | Kind::Custom => true,
    }
}

/// For each node whether the filter shows it. The leaf is shown by all of them.
pub(super) fn mark(tree: &Tree, filter: Filter, leaf: Option<u32>, payloads: &Payloads) -> Vec<bool> {
    let mut visible: Vec<bool> = (0u32..)
        .zip(&tree.nodes)
        .map(|(number, node)| {
            filter.shows(node.kind, node.role, || tree.label(number).is_some())
                && !(filter.looks_at_text() && payloads.is_silent(number))
        })
        .collect();
    if let Some(leaf) = leaf {
        visible[leaf as usize] = true;
    }
    visible
}
