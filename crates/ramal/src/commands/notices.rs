//! What is odd about a session, said once, with what to do.

use std::io::{self, Write};

use ramal_session::{Irregular, ReadOnly, SessionManager};

use crate::view::clean;
use crate::view::human::count;
use crate::view::style::{Palette, Role};
use crate::view::width::wrap;

/// Why an entry is a root that may not have been meant to be one, in a few words.
pub(super) fn oddity(why: Irregular) -> &'static str {
    match why {
        Irregular::NoId => "no id",
        Irregular::Orphan => "parent missing",
        Irregular::NoParent => "no parent named",
        Irregular::OwnParent => "its own parent",
        Irregular::CycleCut => "a cycle, cut here",
        _ => "odd",
    }
}

/// Writes what is damaged in a session and what is odd about its roots; nothing if all is well.
/// `gap` asks for a blank line before.
pub(super) fn write(
    session: &SessionManager,
    palette: Palette,
    columns: usize,
    gap: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let notices = notices(session);
    if gap && !notices.is_empty() {
        writeln!(out)?;
    }
    for notice in notices {
        let mut sign = if notice.starts_with('`') { "  " } else { "! " };
        for line in wrap(&notice, columns.saturating_sub(2).max(20)) {
            writeln!(out, "{}{line}", palette.paint(Role::Error, sign))?;
            sign = "  ";
        }
    }
    Ok(())
}

fn notices(session: &SessionManager) -> Vec<String> {
    let mut notices = Vec::new();
    let damaged = session.damaged_lines();
    if damaged > 0 {
        let lines = session.damage().iter().map(|damage| damage.line.to_string());
        let mut where_ = lines.take(3).collect::<Vec<_>>().join(", ");
        if damaged > 3 {
            where_ += ", …";
        }
        notices.push(format!(
            "{} in the file cannot be read ({} {where_}) and {} left out.",
            several(damaged, "line", "lines"),
            if damaged == 1 { "line" } else { "lines" },
            if damaged == 1 { "is" } else { "are" },
        ));
    }
    if let Some(why) = session.read_only() {
        notices.push(match why {
            ReadOnly::NewerVersion(version) => format!(
                "The session is in format {}, newer than this program: it can be looked at, not continued.",
                clean::name(&version)
            ),
            _ => "The file has no header that can be read: the session can be looked at, and continued once \
                  `ramal check --repair` has made it whole."
                .to_owned(),
        });
    }
    let kinds = [
        (Irregular::Orphan, "whose parent is not in the file"),
        (Irregular::NoId, "without an id"),
        (Irregular::NoParent, "that does not say what its parent is"),
        (Irregular::OwnParent, "that names itself as its parent"),
        (Irregular::CycleCut, "that closed a cycle"),
    ];
    let mut counts = [0u64; 5];
    for root in session.get_tree() {
        if let Some(place) = kinds.iter().position(|(kind, _)| root.irregular() == Some(*kind)) {
            counts[place] += 1;
        }
    }
    for ((_, what), number) in kinds.iter().zip(counts).filter(|(_, number)| *number > 0) {
        let (what, stand) = if number == 1 {
            ((*what).to_owned(), "stands as a root")
        } else {
            (
                what.replace("does not say what its", "do not say what their")
                    .replace("names itself as its", "name themselves as their"),
                "stand as roots",
            )
        };
        notices.push(format!("{} {what} {stand}.", several(number, "entry", "entries")));
    }
    if !notices.is_empty()
        && let Some(path) = session.get_session_file()
    {
        notices.push(format!("`ramal check {}` tells more.", clean::name(&path.to_string_lossy())));
    }
    notices
}

/// A number with the word for it.
pub(super) fn several(number: u64, one: &str, more: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {more}", count(number)) }
}
