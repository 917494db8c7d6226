//! The selected session in more than a line.

use std::path::Path;

use ramal_session::Role as Speaker;
use ramal_session::library::{Origin, Query, SessionInfo, TextMatch};
use ratatui::style::Style;
use ratatui::text::Line;

use super::find::marks;
use super::row::{age, directory, fit_end, short, sign, title};
use crate::scene::Scene;
use crate::text::width::{fit, width, wrap};
use crate::text::{clean, human};
use crate::theme::Role;
use crate::tree_view::Pieces;

/// Columns of what stands before directory, file and texts.
const LABEL: usize = 12;
/// Columns of a text that are looked at.
const LONGEST: usize = 4000;

/// What is shown of a session.
pub(super) struct Previewed<'a> {
    pub(super) info: &'a SessionInfo,
    /// The session that it was copied from, if that is in the list.
    pub(super) parent: Option<&'a SessionInfo>,
    pub(super) said: Option<&'a TextMatch>,
    pub(super) query: &'a Query,
    pub(super) home: Option<&'a Path>,
    /// There is room for its title, too.
    pub(super) has_title: bool,
}

/// What is told of a session in at most so many lines, the texts sharing what the rest leaves.
pub(super) fn preview(
    shown: &Previewed<'_>,
    scene: &Scene<'_>,
    columns: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let mut texts: Vec<(&str, String)> = Vec::new();
    if let Some(said) = shown.said {
        texts.push(("Found", said.excerpt.clone()));
    }
    texts.extend(shown.info.first_message.clone().map(|text| ("First", text)));
    if let Some(last) = &shown.info.last_message {
        let who = if last.role == Speaker::User { "Last, you" } else { "Last" };
        // Of a session of one message it is the first one.
        if shown.info.first_message.as_ref() != Some(&last.text) {
            texts.push((who, last.text.clone()));
        }
    }
    let mut lines = facts(shown, scene, columns);
    lines.truncate(rows.saturating_sub(texts.len()).max(1));
    let mut left = rows.saturating_sub(lines.len());
    for (number, (label, text)) in texts.iter().enumerate() {
        let share = left / (texts.len() - number);
        let of_text = text_lines(label, text, shown.query, scene, columns, share);
        left = left.saturating_sub(of_text.len());
        lines.extend(of_text);
    }
    lines.truncate(rows);
    lines
}

fn facts(shown: &Previewed<'_>, scene: &Scene<'_>, columns: usize) -> Vec<Line<'static>> {
    let (info, theme) = (shown.info, scene.theme);
    let mut lines = Vec::new();
    if shown.has_title {
        let (title, role) = title(info, columns);
        lines.push(Line::styled(fit(&title, columns).into_owned(), theme.style(role)));
    }
    let mut line = |label: &str, text: &str, style: Style| {
        let room = columns.saturating_sub(LABEL);
        let mut out = Pieces::new(columns);
        out.push(&format!("{label:<LABEL$}"), theme.style(Role::Dim));
        let text = fit_end(text, room);
        out.push_marked(&text, &marks(shown.query, &text), style, theme);
        lines.push(Line::from(out.spans));
    };
    let plain = theme.style(Role::Text);
    line("Directory", &directory(info, shown.home), plain);
    line("File", &short(&info.path, shown.home), plain);
    let count = |number: usize, one: &str, more: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{} {more}", human::count(number as u64)),
    };
    let mut state = vec![
        format!("{} {}", sign(info.state), info.state.name()),
        count(info.messages, "message", "messages"),
        count(info.branches, "branch", "branches"),
        human::size(info.size),
        age(info, scene),
    ];
    match info.origin {
        Origin::Pi => state.push("of pi".into()),
        Origin::OhMyPi => state.push("of oh-my-pi".into()),
        _ => {}
    }
    let text = state.join(" · ");
    let text = fit(&text, columns.saturating_sub(LABEL));
    line("State", &text, plain);
    if let Some(parent) = &info.parent_session {
        let name = match shown.parent {
            Some(parent) => title(parent, columns).0,
            None => clean::name(parent),
        };
        line("Copied from", &fit(&name, columns.saturating_sub(LABEL)), plain);
    }
    let mut wrong = Vec::new();
    if info.damaged_lines > 0 {
        let lines = usize::try_from(info.damaged_lines).unwrap_or(usize::MAX);
        wrong.push(count(lines, "damaged line", "damaged lines"));
    }
    if info.read_only.is_some() {
        wrong.push("takes no entries".into());
    }
    if !wrong.is_empty() {
        line("Damage", &wrong.join(" · "), theme.style(Role::Warning));
    }
    lines
}

/// A text in at most so many lines, the words before it in a column of their own.
fn text_lines(
    label: &str,
    text: &str,
    query: &Query,
    scene: &Scene<'_>,
    columns: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(LABEL).max(1);
    let text = clean::one_line(text, LONGEST);
    let mut wrapped: Vec<String> =
        wrap(&text, room).take(rows + 1).map(|row| fit(row, room).into_owned()).collect();
    if wrapped.len() > rows {
        wrapped.truncate(rows);
        if let Some(last) = wrapped.last_mut() {
            let more = if width(last) < room { "…" } else { " …" };
            *last = fit(&format!("{last}{more}"), room).into_owned();
        }
    }
    let theme = scene.theme;
    let lines = wrapped.into_iter().enumerate().map(|(number, row)| {
        let mut out = Pieces::new(columns);
        let label = if number == 0 { label } else { "" };
        out.push(&format!("{label:<LABEL$}"), theme.style(Role::Dim));
        out.push_marked(&row, &marks(query, &row), theme.style(Role::Text), theme);
        Line::from(out.spans)
    });
    lines.collect()
}
