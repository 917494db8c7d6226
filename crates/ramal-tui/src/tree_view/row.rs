//! A row of the tree as a line.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ramal_session::Guide;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::text::width::{fit, width};
use crate::text::{Role as Part, human};
use crate::theme::{Role, Theme};
use crate::tree_selector::RowView;

/// Columns that a level of the tree takes.
pub(super) const LEVEL: usize = 3;

/// Screens narrower than this have no room for what stands at the right.
const ROOM_FOR_TIMES: usize = 60;

/// What is needed besides the row.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) columns: usize,
    pub(super) theme: &'a Theme,
    pub(super) now: Timestamp,
    pub(super) zone: &'a TimeZone,
    pub(super) shows_label_times: bool,
}

/// Draws a row, exactly as wide as it may be if it is the selected one.
pub(super) fn row(view: &RowView, around: Around<'_>) -> Line<'static> {
    let theme = around.theme;
    let right = right(view, around);
    let room = around.columns.saturating_sub(width(&right) + usize::from(!right.is_empty()));
    let mut out = Pieces::new(room);
    out.push(if view.is_selected { "› " } else { "  " }, theme.style(Role::Accent));
    if view.shifted > 0 {
        out.push("… ", theme.style(Role::Branch));
    }
    out.push(&guides(view), theme.style(Role::Branch));
    let mark = if view.place.is_active() { "• " } else { "" };
    out.push(mark, theme.style(Role::Active));
    if let Some(label) = &view.label {
        let style = theme.style(Role::Label);
        out.push("[", style);
        out.push_marked(label, &view.marks.label, style, theme);
        if let Some(time) = view.label_time.filter(|_| around.shows_label_times).and_then(at) {
            out.push(&format!(" {}", human::time(around.now, time, around.zone)), theme.style(Role::Dim));
        }
        out.push("]", style);
        out.push(" ", Style::new());
    }
    if around.columns < ROOM_FOR_TIMES {
        out.push(leaf(view), theme.style(Role::Active));
    }
    says(view, theme, &mut out);
    let missing = around.columns.saturating_sub(out.used + width(&right));
    if !right.is_empty() || view.is_selected {
        out.spans.push(Span::raw(" ".repeat(missing)));
        out.spans.push(Span::styled(right, theme.style(Role::Dim)));
    }
    let line = Line::from(out.spans);
    if view.is_selected { line.patch_style(selected(theme)) } else { line }
}

/// The selected row keeps its colours where the theme has a ground for it.
pub(crate) fn selected(theme: &Theme) -> Style {
    let style = theme.style(Role::Selected);
    if style.bg.is_some() { Style { fg: None, ..style } } else { style }
}

fn says(view: &RowView, theme: &Theme, out: &mut Pieces) {
    let says = &view.says;
    let (mut who, mut text) = (Some(&*view.marks.who), Some(&*view.marks.text));
    for (part, shown) in says.parts() {
        let style = theme.style(role(part));
        // Marks are of the words as they are, a part may have a space or a colon around them.
        let of = |place: &mut Option<&[Range<usize>]>, whole: &str| {
            let begin = shown.find(whole)?;
            let marks = place.take()?;
            Some(marks.iter().map(|mark| mark.start + begin..mark.end + begin).collect::<Vec<_>>())
        };
        let marks = of(&mut who, &says.who).or_else(|| of(&mut text, &says.text)).unwrap_or_default();
        out.push_marked(&shown, &marks, style, theme);
    }
    if let Some(excerpt) = &view.marks.excerpt {
        out.push("  … ", theme.style(Role::Dim));
        out.push_marked(&excerpt.text, &excerpt.marks, theme.style(Role::Dim), theme);
    }
}

fn guides(view: &RowView) -> String {
    let mut out = String::new();
    let last = view.guides.len().saturating_sub(1);
    for (level, guide) in view.guides.iter().enumerate() {
        out += match guide {
            Guide::Blank => "   ",
            Guide::Line => "│  ",
            Guide::Tee if level == last => "├",
            Guide::Corner if level == last => "└",
            Guide::Tee => "├─ ",
            Guide::Corner => "└─ ",
        };
    }
    let begins = matches!(view.guides.last(), Some(Guide::Tee | Guide::Corner));
    let fold = if view.place.is_folded() {
        "⊞ "
    } else if view.place.is_foldable() {
        "⊟ "
    } else if begins {
        "─ "
    } else {
        ""
    };
    out + fold
}

/// The mark of where one stands, or of what it is folded away in.
fn leaf(view: &RowView) -> &'static str {
    if view.place.is_leaf() {
        "◀ leaf "
    } else if view.place.folds_leaf() {
        "◁ leaf inside "
    } else {
        ""
    }
}

/// Where one stands, what lies in a branch that is folded or not gone, and when the entry was made.
fn right(view: &RowView, around: Around<'_>) -> String {
    if around.columns < ROOM_FOR_TIMES {
        return String::new();
    }
    let branch = view.branch.filter(|_| !view.place.is_active() || view.place.is_folded());
    let mut parts: Vec<String> = Vec::new();
    if let Some(branch) = branch {
        match branch.turns {
            // What a search has left of a branch may begin behind what was said.
            0 => {}
            1 => parts.push("1 turn".into()),
            turns => parts.push(format!("{} turns", human::count(turns.into()))),
        }
        if let Some(last) = branch.last.and_then(at) {
            parts.push(human::age(around.now, last));
        }
        if branch.cost > 0.0 {
            parts.push(human::cost(branch.cost));
        }
        if branch.last_tool_failed {
            parts.push("last tool failed".into());
        }
    }
    let branch = parts.join(" · ");
    let time =
        view.time.and_then(at).map(|time| human::time(around.now, time, around.zone)).unwrap_or_default();
    let both = if branch.is_empty() || time.is_empty() { String::new() } else { format!("{branch}  {time}") };
    // Half of the row is for what is said.
    let fits = |right: &String| !right.is_empty() && width(right) * 2 <= around.columns;
    let right = [both, branch, time].into_iter().find(fits).unwrap_or_default();
    format!("{}{right}", leaf(view))
}

pub(super) fn at(milliseconds: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(milliseconds).ok()
}

pub(super) fn role(part: Part) -> Role {
    match part {
        Part::User => Role::User,
        Part::Assistant => Role::Text,
        Part::Tool => Role::Tool,
        Part::ToolFailed | Part::Error => Role::Error,
        Part::Summary => Role::Summary,
        Part::Label => Role::Label,
        Part::Dim => Role::Dim,
        Part::Active => Role::Active,
        Part::Heading => Role::Heading,
        Part::Guide => Role::Branch,
        Part::Match => Role::Match,
    }
}

/// Spans that fill a row up to a column.
pub(crate) struct Pieces {
    pub(crate) spans: Vec<Span<'static>>,
    /// Columns that are filled.
    pub(crate) used: usize,
    pub(crate) room: usize,
}

impl Pieces {
    /// None yet, for a row of so many columns.
    pub(crate) fn new(room: usize) -> Pieces {
        Pieces { spans: Vec::new(), used: 0, room }
    }

    pub(crate) fn push(&mut self, text: &str, style: Style) {
        let room = self.room.saturating_sub(self.used);
        if text.is_empty() {
            return;
        }
        if room == 0 {
            if !text.trim().is_empty() {
                self.show_cut();
            }
            return;
        }
        let shown = fit(text, room);
        self.used += width(&shown);
        self.spans.push(Span::styled(shown.into_owned(), style));
    }

    /// Lets the row end in a sign that there is more, if it does not yet.
    fn show_cut(&mut self) {
        let Some(last) = self.spans.last_mut() else { return };
        if !last.content.ends_with('…') {
            let columns = width(&last.content);
            last.content = fit(&format!("{}…", last.content), columns).into_owned().into();
            self.used = self.used.saturating_sub(columns) + width(&last.content);
        }
    }

    /// With what a search has found set off from the rest.
    pub(crate) fn push_marked(&mut self, text: &str, marks: &[Range<usize>], style: Style, theme: &Theme) {
        let mut done = 0;
        for mark in marks {
            let (Some(before), Some(marked)) = (text.get(done..mark.start), text.get(mark.clone())) else {
                continue;
            };
            self.push(before, style);
            self.push(marked, style.patch(theme.style(Role::Match)).add_modifier(Modifier::UNDERLINED));
            done = mark.end;
        }
        self.push(text.get(done..).unwrap_or_default(), style);
    }
}
