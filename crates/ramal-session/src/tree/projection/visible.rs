//! Which entries a filter shows.

use std::fmt;
use std::str::FromStr;

use crate::entry::{Kind, Role};

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
        self.hides().has(Traits::SILENT)
    }

    /// Whether it shows an entry with these traits.
    pub(super) fn shows(self, traits: Traits) -> bool {
        let needs = match self {
            Filter::UserOnly => Traits::USER,
            Filter::LabeledOnly => Traits::LABELED,
            Filter::Default | Filter::NoTools | Filter::All => Traits::NONE,
        };
        traits.0 & needs.0 == needs.0 && !traits.has(self.hides())
    }

    fn hides(self) -> Traits {
        match self {
            Filter::Default => Traits::BOOKKEEPING.and(Traits::SILENT),
            Filter::NoTools => Traits::BOOKKEEPING.and(Traits::SILENT).and(Traits::TOOL_RESULT),
            Filter::LabeledOnly => Traits::SILENT,
            Filter::UserOnly | Filter::All => Traits::NONE,
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

/// What filters ask about an entry, in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Traits(u8);

impl Traits {
    pub(super) const NONE: Traits = Traits(0);
    /// What programs note for themselves.
    pub(super) const BOOKKEEPING: Traits = Traits(1);
    pub(super) const TOOL_RESULT: Traits = Traits(2);
    pub(super) const USER: Traits = Traits(4);
    pub(super) const ANSWER: Traits = Traits(8);
    /// It has a label now.
    pub(super) const LABELED: Traits = Traits(16);
    /// An answer without text that ended as answers should.
    pub(super) const SILENT: Traits = Traits(32);
    /// A tool that failed.
    pub(super) const FAILED: Traits = Traits(64);

    /// What follows from kind and role alone.
    pub(super) fn of(kind: Kind, role: Role) -> Traits {
        let of_kind = if is_bookkeeping(kind) { Traits::BOOKKEEPING } else { Traits::NONE };
        of_kind.and(match (kind, role) {
            (Kind::Message, Role::User) => Traits::USER,
            (Kind::Message, Role::Assistant) => Traits::ANSWER,
            (Kind::Message, Role::ToolResult) => Traits::TOOL_RESULT,
            _ => Traits::NONE,
        })
    }

    pub(super) fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    pub(super) fn without(self, other: Traits) -> Traits {
        Traits(self.0 & !other.0)
    }

    /// Whether it has any of the others.
    pub(super) fn has(self, others: Traits) -> bool {
        self.0 & others.0 != 0
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
