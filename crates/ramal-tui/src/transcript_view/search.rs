//! Searching: which block says it, and in which of its rows.

use std::ops::Range;

use ramal_session::SessionManager;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::goal::Goal;
use super::{TranscriptView, Writing};
use crate::text::marks::occurrences;
use crate::theme::{Role, Theme};
use crate::transcript::Phrase;
use crate::tree_selector::Direction;

/// Bytes that are looked through in a step.
const STEP: usize = 1 << 20;

/// A search that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seek {
    direction: Direction,
    /// The block that is looked at next.
    at: i64,
    /// In that block only rows beyond this one are meant.
    beyond: Option<usize>,
    /// Below this block one looks if there is nothing above it.
    turns_at: Option<i64>,
    /// All that was read is looked through.
    pub(super) wants_more: bool,
}

impl TranscriptView {
    /// Searches for a text: from what is selected upwards, and then below it.
    pub(super) fn search_for(&mut self, session: &SessionManager, text: &str) {
        self.phrase = Phrase::new(text);
        self.found = None;
        let Some(selected) = self.pane.selected(session).filter(|_| self.phrase.is_some()) else { return };
        let seek = Seek {
            direction: Direction::Back,
            at: selected,
            beyond: None,
            turns_at: Some(selected),
            wants_more: false,
        };
        self.aim(session, Goal::Match(seek));
    }

    /// The next place up or down where it stands.
    pub(super) fn next_match(&mut self, session: &SessionManager, direction: Direction) {
        if self.phrase.is_none() {
            return self.notice("Nothing is searched for");
        }
        let Some(selected) = self.pane.selected(session) else { return };
        // From where it was found, unless one has gone elsewhere since.
        let found = self.found.filter(|found| found.0 == selected);
        let (at, beyond) = match (found, direction) {
            (Some((serial, row)), _) => (serial, Some(row)),
            (None, Direction::Back) => (selected - 1, None),
            (None, Direction::Forward) => (selected, None),
        };
        self.aim(session, Goal::Match(Seek { direction, at, beyond, turns_at: None, wants_more: false }));
    }

    /// Looks through some blocks; answers whether it is over.
    pub(super) fn seek(&mut self, session: &SessionManager, mut seek: Seek) -> bool {
        let Some(phrase) = self.phrase.clone() else { return true };
        let mut looked = 0;
        while looked < STEP {
            let serials = self.pane.serials();
            if !serials.contains(&seek.at) {
                if seek.direction == Direction::Back && !self.is_all_read() {
                    seek.wants_more = true;
                    self.goal = Some(Goal::Match(seek));
                    return false;
                }
                match seek.turns_at.take() {
                    Some(below) => {
                        (seek.direction, seek.at, seek.beyond) = (Direction::Forward, below, None);
                        seek.at += 1;
                        continue;
                    }
                    None => {
                        self.tell_nothing(seek);
                        return true;
                    }
                }
            }
            let Some(block) = self.pane.block(seek.at) else { return true };
            looked += block.size() + 64;
            if self.pane.filter.shows(block) && block.says(&phrase) {
                let row = self.row_of(session, seek.at, &phrase, seek.direction, seek.beyond);
                if let Some(row) = row {
                    self.show_found((seek.at, row), session);
                    return true;
                }
            }
            seek.beyond = None;
            seek.at += match seek.direction {
                Direction::Back => -1,
                Direction::Forward => 1,
            };
        }
        seek.wants_more = false;
        self.goal = Some(Goal::Match(seek));
        false
    }

    fn tell_nothing(&mut self, seek: Seek) {
        self.notice(match (self.found, seek.direction) {
            (None, _) => "Nothing has been found",
            (Some(_), Direction::Back) => "Nothing more has been found above",
            (Some(_), Direction::Forward) => "Nothing more has been found below",
        });
    }

    fn show_found(&mut self, spot: (i64, usize), session: &SessionManager) {
        self.found = Some(spot);
        self.select(spot.0);
        let (top, bottom) = (self.pane.top(session), self.pane.bottom(session));
        if spot < top || spot >= bottom {
            self.pane.put_top(session, spot);
            let half = self.pane.paper.rows / 2;
            self.load_above(session, half);
            let top = self.pane.up(session, spot, half);
            self.pane.put_top(session, top);
        }
    }

    /// The row of a block in which it stands, opened if it has to be. None if there is none beyond the one
    /// that was found before.
    fn row_of(
        &mut self,
        session: &SessionManager,
        serial: i64,
        phrase: &Phrase,
        direction: Direction,
        beyond: Option<usize>,
    ) -> Option<usize> {
        let mut rows = self.rows_with(session, serial, phrase);
        let is_openable = self.pane.block(serial).is_some_and(|block| block.is_openable());
        if rows.is_empty() && beyond.is_none() && is_openable && !self.pane.is_open(serial) {
            self.pane.change(session, |pane| pane.toggle(serial));
            rows = self.rows_with(session, serial, phrase);
            if rows.is_empty() {
                self.pane.change(session, |pane| pane.toggle(serial));
            }
        }
        // It may be broken over two rows, or stand where a long output is cut: then the block is meant.
        if rows.is_empty() && beyond.is_none() && self.pane.is_seen(session, serial) {
            return Some(0);
        }
        match direction {
            Direction::Back => rows.into_iter().rfind(|&row| beyond.is_none_or(|beyond| row < beyond)),
            Direction::Forward => rows.into_iter().find(|&row| beyond.is_none_or(|beyond| row > beyond)),
        }
    }

    fn rows_with(&mut self, session: &SessionManager, serial: i64, phrase: &Phrase) -> Vec<usize> {
        let lines = self.pane.lines(session, serial, None);
        let rows = lines.iter().enumerate().filter(|(_, line)| !places(line, phrase).is_empty());
        rows.map(|(row, _)| row).collect()
    }

    /// What is marked: what is being written, or else what was searched for.
    pub(super) fn marked(&self) -> Option<Phrase> {
        match &self.writing {
            Some(Writing::Search(editor)) if !editor.is_empty() => Phrase::new(&editor.text()),
            _ => self.phrase.clone(),
        }
    }
}

/// Where a phrase stands in a line, in bytes of its whole text.
fn places(line: &Line<'_>, phrase: &Phrase) -> Vec<Range<usize>> {
    let text: String = line.spans.iter().map(|span| &*span.content).collect();
    occurrences(&text, &[phrase.text().to_owned()])
}

/// Marks where a phrase stands in a line.
pub(super) fn mark(line: Line<'static>, phrase: &Phrase, theme: &Theme) -> Line<'static> {
    let places = places(&line, phrase);
    if places.is_empty() {
        return line;
    }
    let look = theme.style(Role::Match).add_modifier(Modifier::UNDERLINED);
    let mut spans = Vec::with_capacity(line.spans.len() + 2 * places.len());
    let mut begin = 0;
    for span in line.spans {
        let end = begin + span.content.len();
        let mut at = begin;
        for place in &places {
            let (from, to) = (place.start.clamp(at, end), place.end.clamp(at, end));
            if from < to {
                for (range, style) in [(at..from, span.style), (from..to, span.style.patch(look))] {
                    if !range.is_empty() {
                        let text = &span.content[range.start - begin..range.end - begin];
                        spans.push(Span::styled(text.to_owned(), style));
                    }
                }
                at = to;
            }
        }
        if at < end {
            spans.push(Span::styled(span.content[at - begin..].to_owned(), span.style));
        }
        begin = end;
    }
    Line { spans, ..line }
}
