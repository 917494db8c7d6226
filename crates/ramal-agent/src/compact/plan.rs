//! Where a compaction cuts, and what it sums up (contract, section 9). No model is asked here.

use std::collections::HashSet;

use ramal_session::{
    At, ContextError, EntryId, EntryRef, Irregular, Kind, Message, ReadError, Role, SessionContext,
    SessionManager,
};

use super::CompactionSettings;
use crate::hooks::CompactPreparation;
use crate::tokens::estimate_tokens;
use crate::transcript::{Files, Outcomes, Section};

/// What a compaction would do. It holds the conversation as text, as the model is to read it; whole
/// messages are read again when a hook wants them ([`CompactionPlan::preparation`]).
#[derive(Debug, Clone)]
pub struct CompactionPlan {
    /// The first entry that is kept.
    pub first_kept_entry_id: EntryId,
    /// Whether the cut is inside a turn, whose beginning gets a summary of its own.
    pub is_split_turn: bool,
    /// About how many tokens are in the context; a better count may be put in its place.
    pub tokens_before: u64,
    /// The summary that the context begins with now, as it is stored.
    pub previous_summary: Option<String>,
    /// The settings it was made with.
    pub settings: CompactionSettings,
    pub(super) history: Vec<Section>,
    pub(super) turn_prefix: Vec<Section>,
    pub(super) files: Files,
    /// The leaf it was made at.
    leaf: EntryId,
    cut: Cut,
}

impl CompactionPlan {
    /// What a hook is told before the compaction. Linear in the path.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn preparation(
        &self,
        session: &SessionManager,
        custom_instructions: Option<&str>,
    ) -> Result<CompactPreparation, ReadError> {
        let mut preparation = CompactPreparation {
            first_kept_entry_id: self.first_kept_entry_id.to_string(),
            messages_to_summarize: Vec::new(),
            turn_prefix_messages: Vec::new(),
            is_split_turn: self.is_split_turn,
            tokens_before: self.tokens_before,
            previous_summary: self.previous_summary.clone(),
            read_files: self.files.only_read().map(str::to_owned).collect(),
            modified_files: self.files.modified().map(str::to_owned).collect(),
            settings: self.settings,
            branch_entries: self.path(session)?,
            custom_instructions: custom_instructions.map(str::to_owned),
        };
        let context = context(session, Some(&self.leaf))?;
        for (index, message) in context.messages().take(self.cut.at).enumerate() {
            if Some(index) == self.cut.previous {
                continue;
            }
            let json = message?.json;
            if index < self.cut.turn {
                preparation.messages_to_summarize.push(json);
            } else {
                preparation.turn_prefix_messages.push(json);
            }
        }
        Ok(preparation)
    }

    /// The entries of the path that it was made at.
    fn path(&self, session: &SessionManager) -> Result<Vec<String>, ReadError> {
        // Several entries may share an id; the leaf is meant where it has it.
        let is_leaf = session.get_leaf_id()?.as_ref() == Some(&self.leaf);
        let path = session.get_branch((!is_leaf).then_some(&*self.leaf));
        path.into_iter().map(|entry| Ok(entry.read()?.json().to_owned())).collect()
    }
}

/// Places in the messages of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    /// The first message that is kept.
    at: usize,
    /// The first of the turn that is cut, or the cut itself.
    turn: usize,
    /// The summary of an earlier compaction.
    previous: Option<usize>,
}

/// What is to be known of a message to cut before it or not.
#[derive(Debug, Clone, Copy)]
struct Seen {
    position: usize,
    kind: Kind,
    role: Role,
    tokens: u64,
    /// A call stands before it and one of its results behind it, or is it.
    is_between: bool,
}

/// Where a compaction at the leaf would cut; none if nothing would be summed up (contract, section 9).
///
/// Everything the model still sees is considered: what an earlier compaction kept and what came after
/// it. The newest `keep_recent_tokens` stay as they are; the cut is before the message with which they
/// are reached, or the next one where a cut may be: a user's or an assistant's message, a command, a
/// message of an extension, a summary of a branch, and never between a call and its result. Records
/// and settings just before it are kept with it. Linear in the path.
///
/// # Errors
/// If the log cannot be read any more.
pub fn plan_compaction(
    session: &SessionManager,
    settings: CompactionSettings,
) -> Result<Option<CompactionPlan>, ReadError> {
    let Some(leaf) = session.get_leaf_id()? else { return Ok(None) };
    let context = context(session, None)?;
    let seen = survey(&context)?;
    let Some(cut) = find_cut(session, &seen, settings.keep_recent_tokens) else { return Ok(None) };
    let Some(first_kept) = seen.get(cut.at).and_then(|seen| session.get_entry_at(seen.position)) else {
        return Ok(None);
    };
    let mut plan = CompactionPlan {
        first_kept_entry_id: with_records_before(first_kept).id()?,
        is_split_turn: cut.turn < cut.at,
        tokens_before: seen.iter().map(|seen| seen.tokens).sum(),
        previous_summary: None,
        settings,
        history: Vec::new(),
        turn_prefix: Vec::new(),
        files: Files::default(),
        leaf,
        cut,
    };
    Ok(plan.read(&context)?.then_some(plan))
}

impl CompactionPlan {
    /// Reads what is to be summed up; false if nothing of it says anything.
    fn read(&mut self, context: &SessionContext<'_>) -> Result<bool, ReadError> {
        let mut says_something = false;
        let mut outcomes = Outcomes::default();
        for (index, message) in context.messages().take(self.cut.at).enumerate() {
            let message = message?;
            let said = Message::new(&message.json);
            if matches!(said.role(), Role::BranchSummary | Role::CompactionSummary) {
                outcomes.files.carry_on(&message.entry.read()?);
            }
            if Some(index) == self.cut.previous {
                self.previous_summary = said.get_str("summary").map(|summary| summary.into_owned());
                continue;
            }
            let Some(section) = Section::of(said) else { continue };
            says_something |= said.role() != Role::System;
            if index < self.cut.turn { &mut self.history } else { &mut self.turn_prefix }.push(section);
        }
        for section in self.history.iter_mut().chain(&mut self.turn_prefix).rev() {
            outcomes.take(section);
        }
        self.files = outcomes.files;
        Ok(says_something)
    }
}

/// The context at an entry, or at the leaf.
pub(super) fn context<'a>(
    session: &'a SessionManager,
    at: Option<&EntryId>,
) -> Result<SessionContext<'a>, ReadError> {
    let at = match at {
        // Several entries may share an id; the leaf is meant where it has it.
        Some(id) if session.get_leaf_id()?.as_ref() != Some(id) => At::Entry(id),
        _ => At::Leaf,
    };
    session.build_session_context(at).map_err(|error| match error {
        ContextError::Read(error) => error,
        other => ReadError {
            id: "?".into(),
            path: session.get_session_file().map(Into::into).unwrap_or_default(),
            source: std::io::Error::new(std::io::ErrorKind::NotFound, other.to_string()),
        },
    })
}

fn survey(context: &SessionContext<'_>) -> Result<Vec<Seen>, ReadError> {
    let mut all: Vec<Seen> = Vec::new();
    let mut open: HashSet<String> = HashSet::new();
    // Behind the answer whose calls are open, or the last result of it.
    let mut from = 0;
    for message in context.messages() {
        let message = message?;
        let said = Message::new(&message.json);
        let index = all.len();
        all.push(Seen {
            position: message.entry.position(),
            kind: message.entry.kind(),
            role: said.role(),
            tokens: estimate_tokens(said),
            is_between: false,
        });
        match said.role() {
            Role::Assistant => {
                open = said.tool_calls().map(|call| call.id.into_owned()).collect();
                from = index + 1;
            }
            Role::ToolResult if said.get_str("toolCallId").is_some_and(|id| open.remove(&*id)) => {
                for between in all.get_mut(from..).unwrap_or_default() {
                    between.is_between = true;
                }
                from = index + 1;
            }
            _ => {}
        }
    }
    Ok(all)
}

fn find_cut(session: &SessionManager, seen: &[Seen], keep: u64) -> Option<Cut> {
    let mut kept = 0;
    let reached = seen.iter().rposition(|seen| {
        kept += seen.tokens;
        kept >= keep
    })?;
    let may = |at: &usize| seen.get(*at).is_some_and(|seen| seen.may_be_first(session));
    let at = (reached..seen.len()).find(may).or_else(|| (0..reached).rev().find(may))?;
    let previous = seen
        .iter()
        .position(|seen| seen.kind == Kind::Compaction && seen.role == Role::CompactionSummary)
        .filter(|&previous| previous < at);
    // What stands between a call and its result is part of the turn.
    let begins_turn = |seen: &Seen| seen.begins_turn() && !seen.is_between;
    let turn = (0..=at).rev().find(|&turn| seen.get(turn).is_some_and(begins_turn));
    Some(Cut { at, turn: turn.unwrap_or(at), previous })
}

impl Seen {
    /// Whether what is kept may begin with it.
    fn may_be_first(&self, session: &SessionManager) -> bool {
        let fits = match self.kind {
            Kind::CustomMessage | Kind::BranchSummary => true,
            Kind::Message => self.begins_turn() || self.role == Role::Assistant,
            // What a compaction brings cannot be kept beyond the next one.
            _ => false,
        };
        fits && !self.is_between && session.get_entry_at(self.position).is_some_and(can_be_named)
    }

    /// Whether a turn begins with it: something from outside to which the model answers.
    fn begins_turn(&self) -> bool {
        match self.kind {
            Kind::CustomMessage | Kind::BranchSummary => true,
            Kind::Message => matches!(
                self.role,
                Role::User
                    | Role::BashExecution
                    | Role::PythonExecution
                    | Role::Custom
                    | Role::HookMessage
                    | Role::BranchSummary
            ),
            _ => false,
        }
    }
}

/// Whether an anchor that names the entry is sure to mean it.
fn can_be_named(entry: EntryRef<'_>) -> bool {
    entry.irregular() != Some(Irregular::NoId) && !entry.shares_id()
}

/// The first of the records and settings that stand just before an entry, or the entry.
fn with_records_before(entry: EntryRef<'_>) -> EntryRef<'_> {
    let mut first = entry;
    while let Some(parent) =
        first.parent().filter(|parent| !parent.kind().is_conversation() && can_be_named(*parent))
    {
        first = parent;
    }
    first
}
