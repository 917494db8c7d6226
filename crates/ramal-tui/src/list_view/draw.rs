//! A list as lines of a screen, in the manner of the tree.

use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::row::Draw;
use super::{ListView, Seen};
use crate::keys::ActionId;
use crate::scene::{Scene, View};
use crate::text::width::{fit, pad, width};
use crate::text::{clean, human};
use crate::theme::Role;
use crate::tree_view::draw::{Shares, hints_line, side_by_side};
use crate::typing::Typing;

/// Of a row's columns those that what it says first may take, in fifths.
const LEAD_FIFTHS: usize = 2;

/// What a list is drawn with besides its rows.
pub struct Face<'a, T> {
    /// What is hinted at in the last row, the most useful first.
    pub hints: &'a [(ActionId, &'a str)],
    /// All that there is to say of what is selected, in so many columns. Without it there is no preview.
    pub preview: Option<&'a Preview<'a, T>>,
    /// What is being written in the place of the query, and what it is.
    pub(crate) writing: Option<(&'a str, &'a Typing)>,
}

/// All that there is to say of something, as lines that are no wider than so many columns.
pub type Preview<'a, T> = dyn Fn(&T, usize) -> Vec<Line<'static>> + 'a;

impl<T> std::fmt::Debug for Face<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Face")
            .field("hints", &self.hints)
            .field("writing", &self.writing)
            .finish_non_exhaustive()
    }
}

impl<'a, T> Face<'a, T> {
    /// Nothing but hints.
    pub fn new(hints: &'a [(ActionId, &'a str)]) -> Face<'a, T> {
        Face { hints, preview: None, writing: None }
    }

    /// The same, with a preview of what is selected.
    #[must_use]
    pub fn preview(self, preview: &'a Preview<'a, T>) -> Face<'a, T> {
        Face { preview: Some(preview), ..self }
    }

    /// The same, with something that is being written.
    #[must_use]
    pub(crate) fn writing(self, writing: Option<(&'a str, &'a Typing)>) -> Face<'a, T> {
        Face { writing, ..self }
    }
}

impl<T: Clone + PartialEq> ListView<T> {
    /// What is seen: as many lines as there are rows on the screen, none wider than it.
    pub fn draw(&mut self, scene: &Scene<'_>, face: &Face<'_, T>) -> View {
        let (columns, rows) = (usize::from(scene.columns.max(1)), usize::from(scene.rows.max(1)));
        let has_preview = self.shows_preview && face.preview.is_some() && !self.matching.is_empty();
        let shares = Shares::of(columns, rows, has_preview);
        self.page = shares.tree.max(2) - 1;
        let left = columns - shares.beside;
        // What stands at the right of the rows keeps off the line beside it.
        let list = self.list_lines(scene, left - usize::from(shares.beside > 0), shares.tree);
        let mut lines = Vec::with_capacity(rows);
        let mut cursor = None;
        if shares.head > 1 {
            lines.push(self.title_line(scene, columns));
        }
        if shares.head > 0 {
            let (line, at) = self.query_line(scene, face, columns);
            cursor = at.map(|column| Position::new(column, lines.len() as u16));
            lines.push(line);
        }
        let preview = self.preview_lines(scene, face, &shares, columns);
        if shares.beside > 0 {
            lines.extend(side_by_side(list, preview, left, scene.theme));
        } else {
            lines.extend(list);
            lines.extend(preview);
        }
        if shares.foot > 0 {
            lines.push(self.foot(scene, face, columns));
        }
        lines.resize(rows, Line::default());
        View { lines, cursor }
    }

    fn list_lines(&mut self, scene: &Scene<'_>, columns: usize, rows: usize) -> Vec<Line<'static>> {
        self.follow(rows);
        let theme = scene.theme;
        let lead = self.lead.unwrap_or(0).min(columns * LEAD_FIFTHS / 5);
        let marks_present = self.marks_present;
        let seen = self.layout.iter().skip(self.top).take(rows);
        let mut lines: Vec<Line<'static>> = seen
            .map(|seen| match *seen {
                Seen::Heading(number) => {
                    let heading = self.rows[number].heading.as_deref().unwrap_or_default();
                    Line::styled(fit(heading, columns).into_owned(), theme.style(Role::Heading))
                }
                Seen::Row(at) => self.rows[self.matching[at]].line(Draw {
                    columns,
                    lead,
                    is_selected: at == self.selected,
                    marks_present,
                    words: &self.words,
                    theme,
                }),
            })
            .collect();
        let said = match (&self.loading, self.rows.is_empty(), self.matching.is_empty()) {
            (Some(loading), true, _) => Some(&**loading),
            (None, true, _) => Some(&*self.empty),
            (_, false, true) => Some("Nothing has been found"),
            (_, false, false) => None,
        };
        if let Some(said) = said {
            let said = format!("  {}", clean::one_line(said, columns));
            lines.push(Line::styled(fit(&said, columns).into_owned(), theme.style(Role::Dim)));
        }
        lines.resize(rows, Line::default());
        lines
    }

    /// Scrolls no further than needed to see what is selected, with the heading right above it where there
    /// is room for both.
    fn follow(&mut self, rows: usize) {
        let rows = rows.max(1);
        let line = self.layout.iter().position(|seen| *seen == Seen::Row(self.selected)).unwrap_or(0);
        let above = line.checked_sub(1).filter(|above| matches!(self.layout[*above], Seen::Heading(_)));
        let first = above.filter(|_| rows > 1).unwrap_or(line);
        self.top = self
            .top
            .min(self.layout.len().saturating_sub(rows))
            .clamp((line + 1).saturating_sub(rows), first);
    }

    fn title_line(&self, scene: &Scene<'_>, columns: usize) -> Line<'static> {
        let (all, found) = (self.rows.len() as u64, self.matching.len() as u64);
        let selected = if found == 0 { 0 } else { self.selected as u64 + 1 };
        let mut right = format!("{}/{}", human::count(selected), human::count(found));
        if found < all {
            right += &format!(" of {}", human::count(all));
        }
        if let Some(loading) = &self.loading {
            right = format!("{}  {right}", clean::one_line(loading, columns));
        }
        let room = columns.saturating_sub(width(&right) + 1);
        if room < 4 {
            return Line::styled(fit(&right, columns).into_owned(), scene.theme.style(Role::Dim));
        }
        Line::from(vec![
            Span::styled(pad(&self.title, room), scene.theme.style(Role::Heading)),
            Span::styled(format!(" {right}"), scene.theme.style(Role::Dim)),
        ])
    }

    /// The line in which one writes, and the column of the cursor.
    fn query_line(
        &self,
        scene: &Scene<'_>,
        face: &Face<'_, T>,
        columns: usize,
    ) -> (Line<'static>, Option<u16>) {
        let (what, typing) = match face.writing {
            Some(writing) => writing,
            None if self.query.is_empty() => {
                let hint = fit("Type to search", columns).into_owned();
                return (Line::styled(hint, scene.theme.style(Role::Dim)), None);
            }
            None => ("Search: ", &self.query),
        };
        let (line, column) = typing.line(what, columns, scene.theme);
        (line, Some(column))
    }

    fn preview_lines(
        &mut self,
        scene: &Scene<'_>,
        face: &Face<'_, T>,
        shares: &Shares,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let (height, columns) = match (shares.beside, shares.below) {
            (0, 0) => return Vec::new(),
            (0, below) => (below, columns),
            (beside, _) => (shares.tree, beside.saturating_sub(2)),
        };
        let body = match (self.selected(), face.preview) {
            (Some(value), Some(preview)) => preview(value, columns.max(1)),
            _ => Vec::new(),
        };
        let rule = shares.below.min(1);
        let room = height.saturating_sub(rule);
        self.preview_top = self.preview_top.min(body.len().saturating_sub(room));
        let more = body.len().saturating_sub(self.preview_top + room);
        let mut lines: Vec<Line<'static>> = body.into_iter().skip(self.preview_top).take(room).collect();
        if more > 0
            && let Some(last) = lines.last_mut()
        {
            let text = format!("… {} more lines", human::count(more as u64 + 1));
            *last = Line::styled(fit(&text, columns).into_owned(), scene.theme.style(Role::Dim));
        }
        if rule > 0 {
            lines.insert(0, crate::screen::rule(columns as u16, "", scene.theme.style(Role::Border)));
        }
        lines.resize(height, Line::default());
        lines
    }

    fn foot(&self, scene: &Scene<'_>, face: &Face<'_, T>, columns: usize) -> Line<'static> {
        if let Some(notice) = &self.notice {
            let text = clean::one_line(notice, columns);
            return Line::styled(fit(&text, columns).into_owned(), scene.theme.style(Role::Warning));
        }
        let text = hints_line(scene.keymap, face.hints, columns);
        Line::styled(text, scene.theme.style(Role::Dim))
    }
}
