//! The view as lines of a screen.

use ramal_session::SessionManager;
use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::goal::Goal;
use super::pane::Paper;
use super::search::mark;
use super::{Filter, TranscriptView, Writing};
use crate::keys::ActionId;
use crate::scene::{Scene, View};
use crate::text::width::{fit, pad, width};
use crate::text::{clean, human};
use crate::theme::{Role, Theme};
use crate::transcript::Options;

/// How the rows of a screen are shared out.
struct Shares {
    /// Title and status, or the line that is being written.
    head: usize,
    body: usize,
    /// Hints.
    foot: usize,
}

impl Shares {
    fn of(rows: usize, writes: bool) -> Shares {
        let head = match rows {
            0..=3 => usize::from(writes),
            4..=7 => 1,
            _ => 2,
        };
        let foot = usize::from(rows > 5);
        Shares { head, body: rows - head - foot, foot }
    }
}

/// The columns of the margin.
fn margin(columns: usize) -> usize {
    match columns {
        0..=2 => 0,
        3..=7 => 1,
        _ => 2,
    }
}

impl TranscriptView {
    /// What is seen: as many lines as there are rows, none wider than the screen. Of the options, what is
    /// open is not looked at: that is the view's own.
    pub fn draw(&mut self, session: &SessionManager, scene: &Scene<'_>, options: &Options<'_>) -> View {
        let (columns, rows) = (usize::from(scene.columns.max(1)), usize::from(scene.rows.max(1)));
        let shares = Shares::of(rows, self.writing.is_some());
        self.follow(session);
        self.settle(session, scene, options, columns, shares.body);
        let mut lines = Vec::with_capacity(rows);
        let mut cursor = None;
        if shares.head > 1 {
            lines.push(self.title(session, scene, columns));
        }
        if shares.head > 0 {
            let (line, at) = self.second_line(scene, columns);
            cursor = at.map(|column| Position::new(column, lines.len() as u16));
            lines.push(line);
        }
        lines.extend(self.body(session, scene.theme, options, columns, shares.body));
        if shares.foot > 0 {
            lines.push(self.foot(scene, columns));
        }
        self.pane.tidy();
        View { lines, cursor }
    }

    /// Gets ready for a screen: lays out anew what has another width, reads what it takes to fill it.
    fn settle(
        &mut self,
        session: &SessionManager,
        scene: &Scene<'_>,
        options: &Options<'_>,
        columns: usize,
        rows: usize,
    ) {
        if !self.had_colors && options.highlighter.begin("rust").is_some() {
            self.had_colors = true;
            self.pane.forget_rows();
        }
        let paper = Paper {
            columns: columns - margin(columns),
            rows: rows.max(1),
            theme: scene.theme.clone(),
            color_depth: options.color_depth,
            hide_thinking: options.hide_thinking,
            rendered: options.rendered.cloned().unwrap_or_default(),
        };
        if paper.columns != self.pane.paper.columns {
            // It stands in another row now.
            self.found = None;
        }
        self.pane.set_paper(session, paper);
        self.load_above(session, rows);
    }

    fn body(
        &mut self,
        session: &SessionManager,
        theme: &Theme,
        options: &Options<'_>,
        columns: usize,
        rows: usize,
    ) -> Vec<Line<'static>> {
        let selected = self.pane.selected(session);
        let phrase = self.marked();
        let mut lines = Vec::with_capacity(rows);
        let (first, mut row) = self.pane.top(session);
        let mut at = Some(first).filter(|&first| self.pane.is_seen(session, first));
        while let Some(serial) = at.filter(|_| lines.len() < rows) {
            let own = self.pane.lines(session, serial, Some(options.highlighter));
            for (number, line) in own.iter().enumerate().skip(row).take(rows - lines.len()) {
                let line = phrase.as_ref().map_or_else(|| line.clone(), |it| mark(line.clone(), it, theme));
                let sign = if self.found == Some((serial, number)) {
                    "▶ "
                } else if selected == Some(serial) {
                    "▌ "
                } else {
                    "  "
                };
                lines.push(with_margin(line, sign, columns, theme));
            }
            let own = own.len();
            if lines.len() < rows && self.pane.rows(session, serial) > own {
                lines.push(Line::default());
            }
            (at, row) = (self.pane.below(session, serial), 0);
        }
        if lines.is_empty() && rows > 0 {
            let said = match self.pane.filter {
                _ if self.goal.is_some() || !self.is_all_read() => "Reading…",
                filter if filter != Filter::Everything && !self.pane.serials().is_empty() => {
                    "The filter hides everything"
                }
                _ => "Nothing has been said here yet",
            };
            let said = fit(&format!("  {said}"), columns).into_owned();
            lines.push(Line::styled(said, theme.style(Role::Dim)));
        }
        lines.resize(rows, Line::default());
        lines
    }

    fn title(&mut self, session: &SessionManager, scene: &Scene<'_>, columns: usize) -> Line<'static> {
        let mut right = String::new();
        if let Some(selected) = self.pane.selected(session) {
            let turns = human::count(self.pane.total_turns as u64);
            right = format!("turn {}/{turns}", human::count(self.pane.turn(selected) as u64));
            if let Some(percent) = self.percent(selected) {
                right = format!("{percent} %  {right}");
            }
        }
        let name = session.get_session_name().map(|name| clean::name(&name)).unwrap_or_default();
        let left = if name.is_empty() { "Transcript".to_owned() } else { format!("Transcript · {name}") };
        let dim = scene.theme.style(Role::Dim);
        let room = columns.saturating_sub(width(&right) + 1);
        if room < 4 {
            return Line::styled(fit(&right, columns).into_owned(), dim);
        }
        let left = Span::styled(pad(&fit(&left, room), room), scene.theme.style(Role::Heading));
        Line::from(vec![left, Span::styled(format!(" {right}"), dim)])
    }

    /// How far down the path what is selected stands, of a hundred.
    fn percent(&self, selected: i64) -> Option<usize> {
        let (read, serials) = (self.pane.transcript().entries_read(), self.pane.serials());
        let blocks = usize::try_from(serials.end - serials.start).ok()?;
        let number = usize::try_from(selected - serials.start).ok()? + 1;
        let unread = self.pane.entries.saturating_sub(read);
        // Blocks of what was read are taken for equally many entries each.
        let place = unread + read * number / blocks.max(1);
        Some((place * 100).checked_div(self.pane.entries)?.min(100))
    }

    /// The line in which one writes, and the column of the cursor; or else how things stand.
    fn second_line(&mut self, scene: &Scene<'_>, columns: usize) -> (Line<'static>, Option<u16>) {
        let theme = scene.theme;
        let what = match &self.writing {
            Some(Writing::Search(_)) => "Search: ",
            Some(Writing::Label { .. }) => "Label: ",
            None => return (self.status(theme, columns), None),
        };
        let room = columns.saturating_sub(width(what)).max(1);
        let mut spans = vec![Span::styled(fit(what, columns).into_owned(), theme.style(Role::Accent))];
        let mut column = width(what);
        if let Some(writing) = &mut self.writing {
            let drawing = writing.editor().lines(room, theme);
            let shown = drawing.lines.into_iter().nth(usize::from(drawing.cursor.y)).unwrap_or_default();
            if columns > width(what) {
                spans.extend(shown.spans);
            }
            column += usize::from(drawing.cursor.x);
        }
        (Line::from(spans), Some(column.min(columns - 1) as u16))
    }

    /// What is searched for, which filter there is, how much is loaded.
    fn status(&self, theme: &Theme, columns: usize) -> Line<'static> {
        let mut parts = Vec::new();
        if let Some(phrase) = &self.phrase {
            parts.push(format!("Search: {}", clean::one_line(phrase.text(), columns)));
        }
        let (read, all) = (self.pane.transcript().entries_read(), self.pane.entries);
        match self.goal {
            Some(Goal::Match(_)) => parts.push("searching…".to_owned()),
            Some(_) => parts.push(format!("reading… {} %", read * 100 / all.max(1))),
            None => {}
        }
        if !self.pane.transcript().is_active() {
            parts.push("another branch".to_owned());
        }
        parts.push(self.pane.filter.name().to_owned());
        let count = |number: usize| human::count(number as u64);
        parts.push(if self.pane.transcript().is_whole() {
            match all {
                1 => "1 entry".to_owned(),
                all => format!("all {} entries", count(all)),
            }
        } else {
            format!("{} of {} entries loaded", count(read), count(all))
        });
        Line::styled(fit(&parts.join(" · "), columns).into_owned(), theme.style(Role::Dim))
    }

    fn foot(&self, scene: &Scene<'_>, columns: usize) -> Line<'static> {
        if let Some(notice) = &self.notice {
            let text = clean::one_line(notice, columns);
            return Line::styled(fit(&text, columns).into_owned(), scene.theme.style(Role::Warning));
        }
        let mut text = String::new();
        for (actions, says) in self.hints() {
            let keys: Vec<String> = actions.iter().filter_map(|action| scene.keymap.hint(*action)).collect();
            if keys.len() < actions.len() {
                continue;
            }
            let next = format!("{}{} {says}", if text.is_empty() { "" } else { " · " }, keys.join("/"));
            if width(&text) + width(&next) > columns {
                break;
            }
            text += &next;
        }
        Line::styled(text, scene.theme.style(Role::Dim))
    }

    /// What can be done, what matters most first.
    fn hints(&self) -> Vec<(&'static [ActionId], &'static str)> {
        use ActionId as A;
        let mut hints: Vec<(&'static [ActionId], &'static str)> = Vec::new();
        match &self.writing {
            Some(Writing::Label { .. }) => hints.push((&[A::Confirm], "save")),
            Some(Writing::Search(_)) => hints.push((&[A::Confirm], "search")),
            None => {
                let goes_to_end = self.is_fresh && !self.pane.transcript().is_active();
                hints.push((&[A::Confirm], if goes_to_end { "go to its end" } else { "go" }));
                hints.push((&[A::CloseTranscript], "close"));
                if self.phrase.is_some() {
                    hints.push((&[A::NextMatch, A::PreviousMatch], "match"));
                }
                hints.push((&[A::OpenEntry], "open"));
                hints.push((&[A::TranscriptPreviousSibling, A::TranscriptNextSibling], "branch"));
                hints.push((&[A::TranscriptSearch], "search"));
                hints.push((&[A::TranscriptFilter], "filter"));
                hints.push((&[A::TranscriptPreviousTurn, A::TranscriptNextTurn], "turn"));
                hints.push((&[A::TranscriptLabel], "label"));
                hints.push((&[A::TranscriptCopy], "copy"));
                hints.push((&[A::TranscriptTree], "tree"));
                if !self.is_all_read() {
                    hints.push((&[A::TranscriptLoadAll], "load all"));
                }
                return hints;
            }
        }
        hints.push((&[A::Cancel], "leave it"));
        hints
    }
}

/// A row with the sign before it that says whether its block is selected.
fn with_margin(mut line: Line<'static>, sign: &'static str, columns: usize, theme: &Theme) -> Line<'static> {
    let sign: String = sign.chars().take(margin(columns)).collect();
    let is_blank = line.spans.is_empty() && sign.trim().is_empty();
    if !sign.is_empty() && !is_blank {
        line.spans.insert(0, Span::styled(sign, theme.style(Role::Accent)));
    }
    line
}
