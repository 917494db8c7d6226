//! What a session has used: on all branches, or on one path (contract, sections 12 and 14).

use super::ContextError;
use crate::entry::{Entry, Kind, Role, Usage};
use crate::error::ReadError;
use crate::manager::{At, SessionManager};

/// Totals of a whole log, over all branches: every branch was paid for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SessionStats {
    /// Messages of the user.
    pub user_messages: u64,
    /// Answers.
    pub assistant_messages: u64,
    /// Calls of tools in the answers.
    pub tool_calls: u64,
    /// Results of tools.
    pub tool_results: u64,
    /// Entries of type `message`, whatever their role.
    pub total_messages: u64,
    /// Tokens and dollars: of answers, of `usage` and `model_usage` entries, of summaries.
    pub usage: Usage,
}

impl SessionStats {
    /// Tokens of all four sorts.
    pub fn total_tokens(&self) -> f64 {
        self.usage.input + self.usage.output + self.usage.cache_read + self.usage.cache_write
    }

    /// The totals as a JSON object, with the members that `get_session_stats` answers; whose they
    /// are is not in it.
    pub fn to_json(&self) -> String {
        let Usage { input, output, cache_read, cache_write, cost } = self.usage;
        format!(
            "{{\"userMessages\":{},\"assistantMessages\":{},\"toolCalls\":{},\"toolResults\":{},\
             \"totalMessages\":{},\"tokens\":{{\"input\":{},\"output\":{},\"cacheRead\":{},\
             \"cacheWrite\":{},\"total\":{}}},\"cost\":{}}}",
            self.user_messages,
            self.assistant_messages,
            self.tool_calls,
            self.tool_results,
            self.total_messages,
            number(input),
            number(output),
            number(cache_read),
            number(cache_write),
            number(self.total_tokens()),
            number(cost),
        )
    }
}

/// A number as JSON has it. Sums of numbers in a log may be larger than a double holds.
fn number(number: f64) -> f64 {
    number.clamp(f64::MIN, f64::MAX)
}

impl SessionManager {
    /// Totals over all branches. Reads the answers, summaries and records of usage, one by one.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn get_session_stats(&self) -> Result<SessionStats, ReadError> {
        let mut stats = SessionStats::default();
        self.add_session_stats(&mut stats, 0, u64::MAX)?;
        Ok(stats)
    }

    /// Adds what the entries from a position on say to totals, until so many bytes were read. Answers the
    /// position to go on from; none if that was all.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn add_session_stats(
        &self,
        stats: &mut SessionStats,
        from: usize,
        bytes: u64,
    ) -> Result<Option<usize>, ReadError> {
        let mut read = 0;
        for position in from..self.tree.len() {
            if read >= bytes {
                return Ok(Some(position));
            }
            let number = position as u32;
            let node = self.tree.node(number);
            if node.kind == Kind::Message {
                stats.total_messages += 1;
                match node.role {
                    Role::User => stats.user_messages += 1,
                    Role::ToolResult => stats.tool_results += 1,
                    Role::Assistant => stats.assistant_messages += 1,
                    _ => {}
                }
            }
            if may_cost(node.kind, node.role) {
                let entry = self.entry(number)?;
                read += node.len();
                stats.usage += cost(&entry).unwrap_or_default();
                stats.tool_calls += entry.message().map_or(0, |answer| answer.tool_calls().count() as u64);
            }
        }
        Ok(None)
    }

    /// Tokens and dollars used on the path to a position.
    ///
    /// # Errors
    /// If there is no such entry, or the log cannot be read any more.
    pub fn get_branch_usage(&self, at: At<'_>) -> Result<Usage, ContextError> {
        let mut total = Usage::default();
        let Some(end) = self.number_at(at)? else { return Ok(total) };
        for number in self.tree.path(end) {
            let node = self.tree.node(number);
            if may_cost(node.kind, node.role) {
                total += cost(&self.entry(number)?).unwrap_or_default();
            }
        }
        Ok(total)
    }
}

fn may_cost(kind: Kind, role: Role) -> bool {
    matches!(kind, Kind::Usage | Kind::ModelUsage | Kind::Compaction | Kind::BranchSummary)
        || (kind == Kind::Message && role == Role::Assistant)
}

/// What an entry says it cost.
fn cost(entry: &Entry) -> Option<Usage> {
    match entry.kind() {
        Kind::Message => entry.message()?.usage(),
        _ => entry.get("usage").filter(|usage| usage.starts_with('{')).map(Usage::read),
    }
}
