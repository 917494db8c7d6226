//! The view as lines of a screen.

use ramal_session::{Entry, Kind, Role as Speaker, SessionManager};
use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::TreeView;
use super::row::{Around, LEVEL, row};
use crate::keys::{ActionId, Keymap};
use crate::markdown;
use crate::scene::{Scene, View};
use crate::text::says::says;
use crate::text::width::{fit, pad, width, wrap};
use crate::text::{clean, human};
use crate::theme::{Role, Theme};
use crate::tree_selector::Nothing;

/// Screens at least so wide have the preview beside the rows.
const BESIDE: usize = 110;
/// Screens at least so high have it below them otherwise.
const BELOW: usize = 18;
/// Columns of what an entry without a text says.
const LONGEST_LINE: usize = 2000;
/// Rows of a preview that are put together at most.
const LONGEST_PREVIEW: usize = 2000;

/// How the rows of a screen are shared out.
pub(crate) struct Shares {
    /// Title and search.
    pub(crate) head: usize,
    /// The rows that one chooses from.
    pub(crate) tree: usize,
    /// Rows of the preview below, the line above it included.
    pub(crate) below: usize,
    /// Columns of the preview beside, the line left of it included.
    pub(crate) beside: usize,
    /// Hints.
    pub(crate) foot: usize,
}

impl Shares {
    /// The shares of a screen of that size.
    pub(crate) fn of(columns: usize, rows: usize, shows_preview: bool) -> Shares {
        let head = match rows {
            0..=3 => 0,
            4..=7 => 1,
            _ => 2,
        };
        let foot = usize::from(rows > 5);
        let middle = rows - head - foot;
        let beside = if shows_preview && columns >= BESIDE { columns * 2 / 5 } else { 0 };
        let below = if shows_preview && beside == 0 && rows >= BELOW { middle / 3 } else { 0 };
        Shares { head, tree: middle - below, below, beside, foot }
    }
}

impl TreeView {
    /// What is seen: as many lines as there are rows, none wider than the screen.
    pub fn draw(&mut self, session: &SessionManager, scene: &Scene<'_>) -> View {
        let (columns, rows) = (usize::from(scene.columns.max(1)), usize::from(scene.rows.max(1)));
        let shares = Shares::of(columns, rows, self.shows_preview);
        self.page = shares.tree.max(2) - 1;
        let left = columns - shares.beside;
        // What stands at the right of the rows keeps off the line beside it.
        let tree = self.tree_lines(session, scene, left - usize::from(shares.beside > 0), shares.tree);
        let mut lines = Vec::with_capacity(rows);
        let mut cursor = None;
        if shares.head > 1 {
            lines.push(self.title(session, scene, columns));
        }
        if shares.head > 0 {
            let (line, at) = self.search_line(scene, columns);
            cursor = at.map(|column| Position::new(column, lines.len() as u16));
            lines.push(line);
        }
        let preview = self.preview_lines(session, scene, &shares, columns);
        if shares.beside > 0 {
            lines.extend(side_by_side(tree, preview, left, scene.theme));
        } else {
            lines.extend(tree);
            lines.extend(preview);
        }
        if shares.foot > 0 {
            lines.push(self.foot(scene, columns));
        }
        lines.truncate(rows);
        View { lines, cursor }
    }

    fn tree_lines(
        &mut self,
        session: &SessionManager,
        scene: &Scene<'_>,
        columns: usize,
        rows: usize,
    ) -> Vec<Line<'static>> {
        let window = self.selector.window(session, rows);
        let views = self.selector.rows(session, window, columns / 2 / LEVEL);
        let around = Around {
            columns,
            theme: scene.theme,
            now: scene.now,
            zone: scene.zone,
            shows_label_times: self.selector.status().shows_label_times,
        };
        let mut lines: Vec<Line<'static>> = views.iter().map(|view| row(view, around)).collect();
        let said = self.selector.status().nothing.map(|nothing| match nothing {
            Nothing::NoEntries => "This session has no entries yet".to_owned(),
            Nothing::NoConversation => "Nothing has been said in this session yet".to_owned(),
            Nothing::NotFound => "Nothing has been found".to_owned(),
            Nothing::Hidden(count) => match count {
                1 => "The filter hides one entry".to_owned(),
                count => format!("The filter hides {} entries", human::count(count as u64)),
            },
        });
        if let Some(said) = said.filter(|_| lines.len() < rows) {
            lines.push(Line::styled(
                fit(&format!("  {said}"), columns).into_owned(),
                scene.theme.style(Role::Dim),
            ));
        }
        lines.resize(rows, Line::default());
        lines
    }

    fn title(&self, session: &SessionManager, scene: &Scene<'_>, columns: usize) -> Line<'static> {
        let status = self.selector.status();
        let mut right =
            format!("{}/{}", human::count(status.selected as u64), human::count(status.rows as u64));
        if status.filter != ramal_session::Filter::Default {
            right = format!("{}  {right}", status.filter.name());
        }
        if let Some(progress) = status.searching.or(status.reading) {
            right = format!("{} %  {right}", progress.done * 100 / progress.of.max(1));
        }
        let name = session.get_session_name().map(|name| clean::name(&name)).unwrap_or_default();
        let left = if name.is_empty() { "Tree".to_owned() } else { format!("Tree · {name}") };
        let room = columns.saturating_sub(width(&right) + 1);
        let left = pad(&fit(&left, room), room);
        if room < 4 {
            return Line::styled(fit(&right, columns).into_owned(), scene.theme.style(Role::Dim));
        }
        Line::from(vec![
            Span::styled(left, scene.theme.style(Role::Heading)),
            Span::styled(format!(" {right}"), scene.theme.style(Role::Dim)),
        ])
    }

    /// The line in which one writes, and the column of the cursor.
    fn search_line(&self, scene: &Scene<'_>, columns: usize) -> (Line<'static>, Option<u16>) {
        let theme = scene.theme;
        if let Some(label) = &self.label {
            let what = "Label: ";
            let room = columns.saturating_sub(width(what)).max(1);
            let drawing = label.editor.lines(room, theme);
            let shown = drawing.lines.into_iter().nth(usize::from(drawing.cursor.y)).unwrap_or_default();
            let mut spans = vec![Span::styled(fit(what, columns).into_owned(), theme.style(Role::Accent))];
            if columns > width(what) {
                spans.extend(shown.spans);
            }
            let column = width(what) + usize::from(drawing.cursor.x);
            return (Line::from(spans), Some(column.min(columns - 1) as u16));
        }
        let words = self.selector.status().words.to_owned();
        if words.is_empty() {
            let hint = fit("Type to search", columns).into_owned();
            return (Line::styled(hint, theme.style(Role::Dim)), None);
        }
        let what = "Search: ";
        let words = clean::one_line(&words, columns);
        let text = format!("{what}{words}");
        let column = width(&text).min(columns - 1) as u16;
        let line = Line::from(vec![
            Span::styled(fit(what, columns).into_owned(), theme.style(Role::Accent)),
            Span::raw(fit(&words, columns.saturating_sub(width(what))).into_owned()),
        ]);
        (line, Some(column))
    }

    fn foot(&self, scene: &Scene<'_>, columns: usize) -> Line<'static> {
        if let Some(notice) = &self.notice {
            let text = clean::one_line(notice, columns);
            return Line::styled(fit(&text, columns).into_owned(), scene.theme.style(Role::Warning));
        }
        let hints: &[(ActionId, &str)] = match self.label {
            Some(_) => &[(ActionId::Confirm, "save"), (ActionId::Cancel, "leave it")],
            None => &[
                (ActionId::Confirm, "go"),
                (ActionId::Cancel, "back"),
                (ActionId::EditLabel, "label"),
                (ActionId::NextFilter, "filter"),
                (ActionId::FoldOrUp, "fold"),
                (ActionId::NextFork, "fork"),
                (ActionId::NextLabel, "next label"),
                (ActionId::TogglePreview, "preview"),
                (ActionId::CopyEntry, "copy"),
            ],
        };
        let text = hints_line(scene.keymap, hints, columns);
        Line::styled(text, scene.theme.style(Role::Dim))
    }

    fn preview_lines(
        &mut self,
        session: &SessionManager,
        scene: &Scene<'_>,
        shares: &Shares,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let (height, columns) = match (shares.beside, shares.below) {
            (0, 0) => return Vec::new(),
            (0, below) => (below, columns),
            (beside, _) => (shares.tree, beside.saturating_sub(2)),
        };
        let selected = self.selector.selected();
        if self.preview.1 != selected {
            self.preview = (0, selected);
        }
        let entry = selected.and_then(|position| session.get_entry_at(position));
        let body = match entry.map(|entry| entry.read()) {
            Some(Ok(entry)) => of_entry(&entry, scene, columns),
            Some(Err(error)) => vec![Line::styled(
                fit(&clean::one_line(&error.to_string(), columns), columns).into_owned(),
                scene.theme.style(Role::Error),
            )],
            None => Vec::new(),
        };
        let rule = shares.below.min(1);
        let room = height - rule;
        self.preview.0 = self.preview.0.min(body.len().saturating_sub(room));
        let more = body.len().saturating_sub(self.preview.0 + room);
        let mut lines: Vec<Line<'static>> = body.into_iter().skip(self.preview.0).take(room).collect();
        if rule > 0 {
            lines.insert(0, crate::screen::rule(columns as u16, "", scene.theme.style(Role::Border)));
        }
        if more > 0
            && let Some(last) = lines.last_mut()
        {
            let text = format!("… {} more lines", human::count(more as u64 + 1));
            *last = Line::styled(fit(&text, columns).into_owned(), scene.theme.style(Role::Dim));
        }
        lines.resize(height, Line::default());
        lines
    }
}

/// An entry in full: what it is and when, and all that it says.
fn of_entry(entry: &Entry, scene: &Scene<'_>, columns: usize) -> Vec<Line<'static>> {
    let columns = columns.max(1);
    let theme = scene.theme;
    let who = entry.role().name().map(str::to_owned).unwrap_or_else(|| entry.type_name().into_owned());
    let mut head = vec![clean::one_line(&who, 40)];
    if let Some(time) = entry.time().and_then(super::row::at) {
        head.push(human::time(scene.now, time, scene.zone));
    }
    if let Some(cost) = entry.message().and_then(|message| message.usage()).filter(|usage| usage.cost > 0.0) {
        head.push(human::cost(cost.cost));
    }
    head.push(clean::one_line(entry.id(), 40));
    let mut lines = vec![Line::styled(fit(&head.join(" · "), columns).into_owned(), theme.style(Role::Dim))];
    let text = entry.text();
    if entry.kind() == Kind::Message && entry.role() == Speaker::Assistant {
        lines.extend(markdown::lines(&text, columns, &markdown::Look::plain(theme)));
        for call in entry.message().into_iter().flat_map(|message| message.tool_calls()) {
            let shown = clean::one_line(&format!("{} {}", call.name, call.arguments), columns);
            lines.push(Line::styled(fit(&shown, columns).into_owned(), theme.style(Role::Tool)));
        }
    } else {
        let rows = clean::lines(&text).flat_map(|line| {
            wrap(&line, columns).map(|row| fit(row, columns).into_owned()).collect::<Vec<_>>()
        });
        lines.extend(rows.take(LONGEST_PREVIEW).map(Line::raw));
    }
    if lines.len() == 1 {
        // What has no text of its own says at least what it is.
        let line = says(entry, None, "", LONGEST_LINE).line();
        let rows = wrap(&line, columns).map(|row| fit(row, columns).into_owned());
        lines.extend(rows.map(|row| Line::styled(row, theme.style(Role::Dim))));
    }
    lines.truncate(LONGEST_PREVIEW);
    lines
}

/// The first keys of actions and what they do, as many as there is room for.
pub(crate) fn hints_line(keymap: &Keymap, hints: &[(ActionId, &str)], columns: usize) -> String {
    let mut text = String::new();
    for (action, says) in hints {
        let Some(key) = keymap.hint(*action) else { continue };
        let next = format!("{}{key} {says}", if text.is_empty() { "" } else { " · " });
        if width(&text) + width(&next) > columns {
            break;
        }
        text += &next;
    }
    text
}

/// Rows with what stands beside them, a line in between.
pub(crate) fn side_by_side(
    tree: Vec<Line<'static>>,
    preview: Vec<Line<'static>>,
    left: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut preview = preview.into_iter();
    let bar = Span::styled("│ ", theme.style(Role::Border));
    tree.into_iter()
        .map(|line| {
            let used: usize = line.spans.iter().map(|span| width(&span.content)).sum();
            let style = line.style;
            let mut spans: Vec<Span<'static>> = line
                .spans
                .into_iter()
                .map(|span| Span::styled(span.content, style.patch(span.style)))
                .collect();
            spans.push(Span::raw(" ".repeat(left.saturating_sub(used))));
            spans.push(bar.clone());
            let beside = preview.next().unwrap_or_default();
            let style = beside.style;
            spans.extend(
                beside.spans.into_iter().map(|span| Span::styled(span.content, style.patch(span.style))),
            );
            Line::from(spans)
        })
        .collect()
}
