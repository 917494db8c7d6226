//! What a word can become, as a list that is looked through while one types.

use std::cmp::Reverse;
use std::sync::Arc;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::complete::CompletionKind;
use super::fuzzy::{self, Found};
use crate::text::clean;
use crate::text::width::{clusters, fit, width};
use crate::theme::{Role, Theme};

/// Something that a word can become. There may be many of them, so that a copy costs next to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionItem {
    insert: Arc<str>,
    label: Arc<str>,
    description: Arc<str>,
}

impl CompletionItem {
    /// An item by what is put in, without the character that such words begin with.
    pub fn new(insert: impl Into<Arc<str>>, description: &str) -> CompletionItem {
        let insert = insert.into();
        let label = clean::name(&insert);
        let label = if *label == *insert { Arc::clone(&insert) } else { label.into() };
        CompletionItem { insert, label, description: clean::name(description).into() }
    }

    /// The same, seen and found by another name.
    pub fn labelled(self, label: &str) -> CompletionItem {
        CompletionItem { label: clean::name(label).into(), ..self }
    }

    /// What is put in.
    pub fn insert(&self) -> &str {
        &self.insert
    }

    /// What is seen, and searched.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What is said about it.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// A step through the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListStep {
    /// To the one above; from the first to the last.
    Up,
    /// To the one below; from the last to the first.
    Down,
    /// As many up as are seen.
    PageUp,
    /// As many down as are seen.
    PageDown,
}

/// The items that match what was typed, one of them selected.
#[derive(Debug, Clone)]
pub struct CompletionList {
    kind: CompletionKind,
    items: Vec<CompletionItem>,
    query: String,
    /// Which items match, best first.
    matching: Vec<usize>,
    selected: usize,
    top: usize,
    rows: usize,
}

impl CompletionList {
    /// A list of which at most so many rows are seen.
    pub fn new(kind: CompletionKind, items: impl IntoIterator<Item = CompletionItem>, rows: usize) -> Self {
        let items = items.into_iter().collect();
        let query = String::new();
        let mut list = CompletionList {
            kind,
            items,
            query,
            matching: Vec::new(),
            selected: 0,
            top: 0,
            rows: rows.max(1),
        };
        list.search("", (0..list.items.len()).collect());
        list
    }

    /// What it is about.
    pub fn kind(&self) -> CompletionKind {
        self.kind
    }

    /// Shows what matches, best first, and selects the best. With nothing to search for it is everything, as
    /// it was given.
    pub fn set_query(&mut self, query: &str) {
        // With more letters nothing matches that did not before.
        let candidates = if query.starts_with(&*self.query) {
            std::mem::take(&mut self.matching)
        } else {
            (0..self.items.len()).collect()
        };
        self.search(query, candidates);
    }

    fn search(&mut self, query: &str, candidates: Vec<usize>) {
        let letters = fuzzy::Query::new(query);
        let found = candidates.into_iter().filter_map(|index| {
            let found = letters.find(&self.items[index].label)?;
            Some((Reverse(found.score), index))
        });
        let mut found: Vec<_> = found.collect();
        if !query.trim().is_empty() {
            found.sort_unstable();
        }
        self.matching = found.into_iter().map(|(_, index)| index).collect();
        query.clone_into(&mut self.query);
        (self.selected, self.top) = (0, 0);
    }

    /// Exchanges the items, as more of them become known; the selected one stays so if it is still there.
    pub fn set_items(&mut self, items: impl IntoIterator<Item = CompletionItem>) {
        let selected = self.selected().cloned();
        self.items = items.into_iter().collect();
        self.search(&self.query.clone(), (0..self.items.len()).collect());
        let again = self.matching.iter().position(|index| Some(&self.items[*index]) == selected.as_ref());
        self.select(again.unwrap_or(0));
    }

    /// Selects another one.
    pub fn step(&mut self, step: ListStep) {
        let Some(last) = self.matching.len().checked_sub(1) else { return };
        self.select(match step {
            ListStep::Up => self.selected.checked_sub(1).unwrap_or(last),
            ListStep::Down if self.selected == last => 0,
            ListStep::Down => self.selected + 1,
            ListStep::PageUp => self.selected.saturating_sub(self.rows),
            ListStep::PageDown => (self.selected + self.rows).min(last),
        });
    }

    fn select(&mut self, selected: usize) {
        self.selected = selected;
        self.top = super::draw::scrolled(self.top, selected, self.matching.len(), self.rows);
    }

    /// The selected one.
    pub fn selected(&self) -> Option<&CompletionItem> {
        self.matching.get(self.selected).map(|index| &self.items[*index])
    }

    /// What matches, best first, with where the letters stand that were searched for.
    pub fn matches(&self) -> impl Iterator<Item = (&CompletionItem, Found)> {
        self.found(0, self.matching.len())
    }

    fn found(&self, from: usize, to: usize) -> impl Iterator<Item = (&CompletionItem, Found)> {
        self.matching[from..to].iter().filter_map(|index| {
            let item = &self.items[*index];
            fuzzy::find(&self.query, &item.label).map(|found| (item, found))
        })
    }

    /// Whether nothing matches, so that there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.matching.is_empty()
    }

    /// What is seen of it: the rows around the selected one, and where one is if there are more.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let end = self.matching.len().min(self.top + self.rows);
        let seen: Vec<_> = self.found(self.top, end).collect();
        let label = seen.iter().map(|(item, _)| width(&item.label)).max().unwrap_or(0);
        let label = label.min(columns.saturating_sub(POINTER.len()) * 3 / 5);
        let rows = seen.iter().enumerate().map(|(row, (item, found))| {
            let is_selected = self.top + row == self.selected;
            draw_row(item, found, is_selected, label, columns, theme)
        });
        let mut lines: Vec<_> = rows.collect();
        if self.matching.len() > self.rows {
            let position = format!("  {}/{}", self.selected + 1, self.matching.len());
            lines.push(Line::styled(fit(&position, columns).into_owned(), theme.style(Role::Dim)));
        }
        lines
    }
}

/// What stands before the selected one.
const POINTER: &str = "> ";

fn draw_row(
    item: &CompletionItem,
    found: &Found,
    is_selected: bool,
    label: usize,
    columns: usize,
    theme: &Theme,
) -> Line<'static> {
    let over = if is_selected { theme.style(Role::Selected) } else { Style::new() };
    let base = theme.style(Role::Text).patch(over);
    let pointer = if is_selected { POINTER } else { "  " };
    let mut spans = vec![Span::styled(fit(pointer, columns).into_owned(), base)];
    let left = columns.saturating_sub(POINTER.len());
    // Without a description to align, the label may have all the room.
    let room = if item.description.is_empty() { left } else { label };
    let shown = fit(&item.label, room);
    spans.extend(marked(&shown, &found.at, base, theme.style(Role::Match)));
    let gap = label.saturating_sub(width(&shown)) + 2;
    let left = left.saturating_sub(width(&shown));
    if !item.description.is_empty() && left > gap {
        spans.push(Span::styled(" ".repeat(gap), base));
        let description = fit(&item.description, left - gap).into_owned();
        spans.push(Span::styled(description, theme.style(Role::Dim).patch(over)));
    }
    Line::from(spans)
}

/// A text with the clusters marked that begin at some places.
fn marked(text: &str, at: &[usize], base: Style, mark: Style) -> Vec<Span<'static>> {
    let mut spans: Vec<(String, bool)> = Vec::new();
    let mut start = 0;
    for cluster in clusters(text) {
        let end = start + cluster.len();
        // Dots in the place of what had no room were not searched.
        let is_dots = cluster == "…" && end == text.len();
        let is_found = !is_dots && at.iter().any(|place| (start..end).contains(place));
        match spans.last_mut() {
            Some((text, was_found)) if *was_found == is_found => text.push_str(cluster),
            _ => spans.push((cluster.to_owned(), is_found)),
        }
        start = end;
    }
    let style = |is_found| if is_found { base.patch(mark) } else { base };
    spans.into_iter().map(|(text, is_found)| Span::styled(text, style(is_found))).collect()
}
