//! A session as a line.

use std::path::Path;

use ramal_session::Guide;
use ramal_session::library::{Query, SessionInfo, SessionState, TextMatch};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::find::marks;
use super::rows::Row;
use crate::scene::Scene;
use crate::text::width::{fit, pad, pad_start, width};
use crate::text::{clean, human};
use crate::theme::Role;
use crate::tree_view::{Pieces, selected};

/// Columns that a level of copies takes.
const LEVEL: usize = 3;
/// Screens narrower than this have no room for what stands at the right.
const ROOM_FOR_FIGURES: usize = 40;
/// From here on there is room for counts, too.
const ROOM_FOR_COUNTS: usize = 56;
/// And from here on for states in words, and directories in a column of their own.
const ROOM_FOR_WORDS: usize = 84;
/// And from here on for directories beside paths, which mostly tell them, too.
const ROOM_FOR_ALL: usize = 150;
/// Columns of a directory at most.
const DIRECTORY: usize = 30;

/// What is needed besides the row.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub(super) columns: usize,
    pub(super) scene: &'a Scene<'a>,
    pub(super) query: &'a Query,
    pub(super) home: Option<&'a Path>,
    /// Columns of the counts of messages and branches, so that those of all rows stand below each other.
    pub(super) counts: (usize, usize),
    /// Columns of directories; zero where they are not told.
    pub(super) directories: usize,
    pub(super) shows_paths: bool,
}

/// A session as a row shows it.
pub(super) struct Shown<'a> {
    pub(super) row: &'a Row,
    pub(super) info: &'a SessionInfo,
    pub(super) said: Option<&'a TextMatch>,
    pub(super) is_selected: bool,
    pub(super) is_open: bool,
}

/// Draws a row.
pub(super) fn row(shown: &Shown<'_>, beside: Beside<'_>) -> Line<'static> {
    let (info, theme) = (shown.info, beside.scene.theme);
    let right = right(info, beside);
    let room = beside.columns.saturating_sub(width(&right) + usize::from(!right.is_empty()));
    let mut out = Pieces::new(room);
    out.push(if shown.is_selected { "› " } else { "  " }, theme.style(Role::Accent));
    out.push(&guides(&shown.row.guides, beside.columns / 3), theme.style(Role::Branch));
    out.push(if shown.is_open { "• " } else { "" }, theme.style(Role::Active));
    if beside.directories > 0 && beside.columns < ROOM_FOR_WORDS {
        let last = Path::new(&info.cwd).file_name().unwrap_or_default().to_string_lossy();
        let name = if last.is_empty() { directory(info, beside.home) } else { clean::name(&last) };
        let name = fit(&name, beside.columns / 5);
        out.push_marked(&name, &marks(beside.query, &name), theme.style(Role::Dim), theme);
        out.push(": ", theme.style(Role::Dim));
    }
    let room = room.saturating_sub(out.used);
    let (title, role) = title(info, room);
    let more = match shown.said {
        _ if beside.shows_paths => short(&info.path, beside.home),
        Some(said) => format!("“{}”", clean::one_line(&said.excerpt, room)),
        None => String::new(),
    };
    // What stands behind the title gets half of the room, and what the title leaves.
    let most = if more.is_empty() { room } else { room.saturating_sub(width(&more) + 2).max(room / 2) };
    let title = fit(&title, most);
    out.push_marked(&title, &marks(beside.query, &title), theme.style(role), theme);
    let room = room.saturating_sub(width(&title) + 2);
    if !more.is_empty() && room > 2 {
        let more = if beside.shows_paths { fit_end(&more, room) } else { fit(&more, room).into_owned() };
        out.push("  ", Style::new());
        out.push_marked(&more, &marks(beside.query, &more), theme.style(Role::Dim), theme);
    }
    let missing = beside.columns.saturating_sub(out.used + width(&right));
    if !right.is_empty() || shown.is_selected {
        out.spans.push(Span::raw(" ".repeat(missing)));
        out.spans.push(Span::styled(right, theme.style(Role::Dim)));
    }
    let line = Line::from(out.spans);
    if shown.is_selected { line.patch_style(selected(theme)) } else { line }
}

/// What a session is called in a list, and the look that goes with it.
pub(super) fn title(info: &SessionInfo, columns: usize) -> (String, Role) {
    match (&info.name, &info.first_message) {
        (Some(name), _) => (clean::one_line(name, columns), Role::Heading),
        (None, Some(text)) => (clean::one_line(text, columns), Role::Text),
        (None, None) => ("(nothing said yet)".into(), Role::Dim),
    }
}

/// A state as a sign that differs in more than its colour.
pub(super) fn sign(state: SessionState) -> &'static str {
    match state {
        SessionState::Complete => "✓",
        SessionState::Interrupted => "~",
        SessionState::Aborted => "⊘",
        SessionState::Error => "✗",
        SessionState::Empty => "○",
        _ => "?",
    }
}

/// The directory that a session belongs to, the user's home as `~`.
pub(super) fn directory(info: &SessionInfo, home: Option<&Path>) -> String {
    if info.cwd.is_empty() { "no directory".into() } else { short(Path::new(&info.cwd), home) }
}

/// A path with the user's home as `~`.
pub(super) fn short(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) if below.as_os_str().is_empty() => "~".into(),
        Some(below) => clean::name(&Path::new("~").join(below).to_string_lossy()),
        None => clean::name(&path.to_string_lossy()),
    }
}

/// The columns that the directory of a session takes in a row, if there is room.
pub(super) fn directory_columns(info: &SessionInfo, home: Option<&Path>) -> usize {
    width(&directory(info, home)).min(DIRECTORY)
}

/// The counts of messages and branches.
pub(super) fn counts(info: &SessionInfo) -> (String, String) {
    let of = |count: usize, what: &str| format!("{} {what}", human::short_count(count as u64));
    (of(info.messages, "msg"), of(info.branches, "br"))
}

/// When anything was done in it last.
pub(super) fn age(info: &SessionInfo, scene: &Scene<'_>) -> String {
    let then = jiff::Timestamp::from_millisecond(info.modified).unwrap_or(jiff::Timestamp::MIN);
    human::age(scene.now, then)
}

/// What stands at the right: directory, state, counts, age.
fn right(info: &SessionInfo, beside: Beside<'_>) -> String {
    let age = pad_start(&age(info, beside.scene), 4);
    let sign = sign(info.state);
    // Paths need the room of the counts.
    let counts = if beside.shows_paths {
        String::new()
    } else {
        let (messages, branches) = counts(info);
        format!("  {}  {}", pad_start(&messages, beside.counts.0), pad_start(&branches, beside.counts.1))
    };
    match beside.columns {
        0..ROOM_FOR_FIGURES => String::new(),
        ROOM_FOR_FIGURES..ROOM_FOR_COUNTS => format!("{sign} {age}"),
        ROOM_FOR_COUNTS..ROOM_FOR_WORDS => format!("{sign}{counts} {age}"),
        _ => {
            let state = pad(&format!("{sign} {}", info.state.name()), 13);
            let directory = match beside.directories {
                columns if columns > 0 && (!beside.shows_paths || beside.columns >= ROOM_FOR_ALL) => {
                    let shown = fit_end(&directory(info, beside.home), columns);
                    format!("{}  ", pad(&shown, columns))
                }
                _ => String::new(),
            };
            format!("{directory}{state}{counts}  {age}")
        }
    }
}

/// The lines left of a row; what has no room is cut off at the left, with a sign.
fn guides(guides: &[Guide], columns: usize) -> String {
    let most = (columns / LEVEL).max(1);
    let cut = guides.len().saturating_sub(most);
    let mut out = String::from(if cut > 0 { "… " } else { "" });
    for guide in &guides[cut..] {
        out += match guide {
            Guide::Blank => "   ",
            Guide::Line => "│  ",
            Guide::Tee => "├─ ",
            Guide::Corner => "└─ ",
        };
    }
    out
}

/// The end of a path, which tells more than its beginning.
pub(super) fn fit_end(path: &str, columns: usize) -> String {
    if width(path) <= columns {
        return path.to_owned();
    }
    let ends = path.char_indices().rev().map(|(at, _)| &path[at..]);
    let longest = ends.take(columns).take_while(|end| width(end) < columns).last();
    if columns == 0 { String::new() } else { format!("…{}", longest.unwrap_or_default()) }
}
