//! What a session holds and what it cost, over all its branches: every branch was paid for.

use ramal_session::json::quote;
use ramal_session::{Entry, Kind, ReadError, Role, SessionManager, Usage};

/// The data of `get_session_stats`.
pub(super) fn of(session: &SessionManager) -> Result<String, ReadError> {
    let (mut users, mut assistants, mut calls, mut results, mut messages) = (0u64, 0u64, 0usize, 0u64, 0u64);
    let mut usage = Usage::default();
    for handle in session.get_entries() {
        if handle.kind() == Kind::Message {
            messages += 1;
            match handle.role() {
                Role::User => users += 1,
                Role::Assistant => assistants += 1,
                Role::ToolResult => results += 1,
                _ => {}
            }
        }
        if may_have_usage(handle.kind(), handle.role()) {
            let entry = handle.read()?;
            calls += entry.message().map_or(0, |message| message.tool_calls().count());
            usage += usage_of(&entry).unwrap_or_default();
        }
    }
    let total = usage.input + usage.output + usage.cache_read + usage.cache_write;
    let file = session.get_session_file().map(|path| quote(&path.to_string_lossy()));
    Ok(format!(
        "{{\"sessionFile\":{},\"sessionId\":{},\"userMessages\":{users},\"assistantMessages\":{assistants},\
         \"toolCalls\":{calls},\"toolResults\":{results},\"totalMessages\":{messages},\
         \"tokens\":{{\"input\":{},\"output\":{},\"cacheRead\":{},\"cacheWrite\":{},\"total\":{}}},\"cost\":{}}}",
        file.as_deref().unwrap_or("null"),
        quote(session.get_session_id()),
        number(usage.input),
        number(usage.output),
        number(usage.cache_read),
        number(usage.cache_write),
        number(total),
        number(usage.cost)
    ))
}

fn may_have_usage(kind: Kind, role: Role) -> bool {
    match kind {
        Kind::Message => role == Role::Assistant,
        Kind::BranchSummary | Kind::Compaction | Kind::Usage | Kind::ModelUsage => true,
        _ => false,
    }
}

fn usage_of(entry: &Entry) -> Option<Usage> {
    match entry.message() {
        Some(message) => message.usage(),
        None => entry.get("usage").filter(|usage| usage.starts_with('{')).map(Usage::read),
    }
}

/// A number as JSON: whole ones without a fraction, and null for what no number can say.
fn number(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "null".into(),
        _ if value.fract() == 0.0 && value.abs() < 9e15 => format!("{value:.0}"),
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_json() {
        for (value, want) in [(3.0, "3"), (0.5, "0.5"), (f64::INFINITY, "null"), (-0.25, "-0.25")] {
            assert_eq!(number(value), want);
        }
        assert!(ramal_session::json::is_valid(&number(1e300)));
    }
}
