//! A list on the whole screen: one types to search in it, and chooses a row.
//!
//! [`ListView`] turns keys into what is to be done ([`Told`]), and rows into lines. It knows neither what the
//! rows stand for nor where they come from: other views are made of it, and give it rows, which may arrive
//! late, and a [`Face`] to draw it with.

mod draw;
mod find;
mod row;

use std::cmp::Reverse;

pub use draw::{Face, Preview};
pub use row::ListRow;

use crate::keys::{ActionId, Key, Keymap, Place};
use crate::typing::{Typed, Typing};
use find::Words;

/// Rows that a key scrolls the preview by.
const PREVIEW_STEP: usize = 5;

/// Which row is selected as long as nobody has selected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The first.
    First,
    /// The last.
    Last,
    /// What holds at present, or the first.
    Present,
}

/// In which order there is what a search has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As it was given. Letters with others in between count only where nothing has the words as they are.
    Kept,
    /// The best first.
    BestFirst,
}

/// What a key asks of whoever shows the list. `T` is what rows stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told<T> {
    /// Nothing is to be drawn again.
    Nothing,
    /// Something is.
    Redraw,
    /// The list is to be closed.
    Close,
    /// This was chosen.
    Choose(T),
    /// The program is to be suspended.
    Suspend,
    /// All keys are to be shown.
    Hotkeys,
}

/// Rows that one chooses from.
#[derive(Debug, Clone)]
pub struct ListView<T> {
    title: String,
    rows: Vec<ListRow<T>>,
    start: Start,
    order: Order,
    /// Whether what rows say first has a column of its own, and how wide that would be.
    lead: Option<usize>,
    /// Whether there is a row that holds at present.
    marks_present: bool,
    query: Typing,
    words: Words,
    /// The rows that match, by their numbers.
    matching: Vec<usize>,
    /// What is seen of them: the rows, with headings in between.
    layout: Vec<Seen>,
    /// The selected one of `matching`.
    selected: usize,
    /// The row that somebody has selected. A search that leaves it out does not forget it.
    wanted: Option<usize>,
    loading: Option<String>,
    empty: String,
    notice: Option<String>,
    shows_preview: bool,
    /// Rows of the preview that are scrolled away.
    preview_top: usize,
    /// The first line of `layout` that is seen.
    top: usize,
    /// Lines that were seen last.
    page: usize,
}

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// The heading of a row, by the number of the row.
    Heading(usize),
    /// A row, by its place in `matching`.
    Row(usize),
}

impl<T: Clone + PartialEq> ListView<T> {
    /// A list without rows.
    pub fn new(title: &str, start: Start, order: Order) -> ListView<T> {
        ListView {
            title: crate::text::clean::name(title),
            rows: Vec::new(),
            start,
            order,
            lead: None,
            marks_present: false,
            query: Typing::one_line(""),
            words: Words::default(),
            matching: Vec::new(),
            layout: Vec::new(),
            selected: 0,
            wanted: None,
            loading: None,
            empty: "There is nothing here".into(),
            notice: None,
            shows_preview: true,
            preview_top: 0,
            top: 0,
            page: 10,
        }
    }

    /// Sets what each row says first apart, in a column of its own.
    #[must_use]
    pub fn align(mut self) -> ListView<T> {
        self.lead = Some(0);
        self
    }

    /// What is said where there are no rows.
    pub fn set_empty(&mut self, text: &str) {
        text.clone_into(&mut self.empty);
    }

    /// What is said while rows are still to come; none when all are there.
    pub fn set_loading(&mut self, text: Option<String>) {
        self.loading = text;
    }

    /// Exchanges the rows, as when more have arrived. What is selected stays so if it is still there.
    pub fn set_rows(&mut self, rows: Vec<ListRow<T>>) {
        let again = |number: usize| {
            let value = &self.rows.get(number)?.value;
            rows.iter().position(|row| row.value == *value)
        };
        let wanted = self.wanted.and_then(again);
        let selected = self.matching.get(self.selected).copied().and_then(again);
        self.rows = rows;
        self.marks_present = self.rows.iter().any(ListRow::is_present);
        if self.lead.is_some() {
            self.lead = self.rows.iter().map(ListRow::lead).max();
            self.lead.get_or_insert(0);
        }
        self.search();
        match (self.wanted, wanted, selected) {
            // Nobody has selected anything: what comes late may be what one begins at.
            (None, ..) => {}
            (Some(_), Some(wanted), _) => self.wanted = Some(wanted),
            (Some(_), None, selected) => self.wanted = selected,
        }
        self.settle(selected);
    }

    /// All rows, also those that the search leaves out.
    pub fn rows(&self) -> &[ListRow<T>] {
        &self.rows
    }

    /// Those that match, in the order in which they are seen.
    pub fn matching(&self) -> impl ExactSizeIterator<Item = &ListRow<T>> {
        self.matching.iter().map(|number| &self.rows[*number])
    }

    /// What is selected; none if nothing matches.
    pub fn selected(&self) -> Option<&T> {
        self.selected_row().map(|row| &row.value)
    }

    fn selected_row(&self) -> Option<&ListRow<T>> {
        self.matching.get(self.selected).and_then(|number| self.rows.get(*number))
    }

    /// Selects what is equal to this, if it is there and matches.
    pub fn select(&mut self, value: &T) {
        if let Some(at) = self.matching.iter().position(|number| self.rows[*number].value == *value) {
            self.go(at);
        }
    }

    /// Whether something is searched for, so that a letter is a letter.
    pub fn is_searching(&self) -> bool {
        !self.query.is_empty()
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.notice = Some(text.into());
    }

    /// Takes back what was said below the rows; whether there was something.
    pub fn dismiss_notice(&mut self) -> bool {
        self.notice.take().is_some()
    }

    /// A key was pressed.
    pub fn key(&mut self, keymap: &Keymap, key: Key) -> Told<T> {
        let had_notice = self.dismiss_notice();
        let told = match keymap.action(Place::List, key) {
            // While one searches, a letter is a letter.
            Some(action) if !self.is_searching() || key.typed().is_none() => self.act(action),
            _ => self.type_key(keymap, key),
        };
        if had_notice && told == Told::Nothing { Told::Redraw } else { told }
    }

    /// Something was pasted: behind what is searched for.
    pub fn paste(&mut self, text: &str) -> Told<T> {
        self.query.paste(text);
        self.query_changed();
        Told::Redraw
    }

    fn act(&mut self, action: ActionId) -> Told<T> {
        let last = self.matching.len().saturating_sub(1);
        match action {
            ActionId::Up => self.go(self.selected.checked_sub(1).unwrap_or(last)),
            ActionId::Down => self.go(if self.selected >= last { 0 } else { self.selected + 1 }),
            ActionId::PageUp => self.go(self.selected.saturating_sub(self.page)),
            ActionId::PageDown => self.go((self.selected + self.page).min(last)),
            ActionId::First => self.go(0),
            ActionId::Last => self.go(last),
            ActionId::TogglePreview => self.shows_preview = !self.shows_preview,
            ActionId::PreviewUp => self.preview_top = self.preview_top.saturating_sub(PREVIEW_STEP),
            ActionId::PreviewDown => self.preview_top += PREVIEW_STEP,
            ActionId::Confirm => {
                return self.selected().map_or(Told::Nothing, |value| Told::Choose(value.clone()));
            }
            ActionId::Cancel if self.query.is_empty() => return Told::Close,
            ActionId::Cancel => {
                self.query.clear();
                self.query_changed();
            }
            ActionId::Suspend => return Told::Suspend,
            ActionId::Hotkeys => return Told::Hotkeys,
            ActionId::Redraw => {}
            _ => return Told::Nothing,
        }
        Told::Redraw
    }

    fn type_key(&mut self, keymap: &Keymap, key: Key) -> Told<T> {
        // A query begins with a letter.
        if self.query.is_empty() && key.typed().is_some_and(char::is_whitespace) {
            return Told::Nothing;
        }
        match self.query.key(keymap, key) {
            Typed::Nothing => Told::Nothing,
            Typed::Changed | Typed::Done | Typed::Left => {
                self.query_changed();
                Told::Redraw
            }
        }
    }

    fn query_changed(&mut self) {
        let words = Words::of(&self.query.text());
        if words == self.words {
            return;
        }
        self.words = words;
        let selected = self.matching.get(self.selected).copied();
        // What nobody has selected gives way to what is found best.
        let stays = self.wanted.is_some() || self.order == Order::Kept;
        self.search();
        self.settle(selected.filter(|_| stays));
    }

    /// Finds the rows that match.
    fn search(&mut self) {
        let all = 0..self.rows.len();
        self.matching = if self.words.is_empty() {
            all.collect()
        } else {
            match self.order {
                Order::Kept => {
                    let exact: Vec<usize> =
                        all.clone().filter(|&row| self.words.all_stand_in(&self.rows[row].lower)).collect();
                    if exact.is_empty() {
                        all.filter(|&row| self.words.score(&self.rows[row].lower).is_some()).collect()
                    } else {
                        exact
                    }
                }
                Order::BestFirst => {
                    let mut found: Vec<_> = all
                        .filter_map(|row| Some((Reverse(self.words.score(&self.rows[row].lower)?), row)))
                        .collect();
                    found.sort_unstable();
                    found.into_iter().map(|(_, row)| row).collect()
                }
            }
        };
        self.lay_out();
    }

    fn lay_out(&mut self) {
        self.layout.clear();
        let mut heading = None;
        for (at, &number) in self.matching.iter().enumerate() {
            let own = self.rows[number].heading.as_ref();
            if own.is_some() && own != heading {
                self.layout.push(Seen::Heading(number));
            }
            heading = own;
            self.layout.push(Seen::Row(at));
        }
    }

    /// Selects what was selected, or the best instead of it.
    fn settle(&mut self, before: Option<usize>) {
        let find = |number: usize| self.matching.iter().position(|row| *row == number);
        let at = match self.wanted {
            Some(wanted) => find(wanted).or_else(|| before.and_then(find)),
            None if self.words.is_empty() => Some(self.beginning()),
            None => before.and_then(find),
        };
        let nearest = || match (self.order, self.wanted.or(before)) {
            // The next one after it, or the last.
            (Order::Kept, Some(number)) => self.matching.partition_point(|row| *row < number),
            (Order::Kept, None) => self.beginning(),
            (Order::BestFirst, _) => 0,
        };
        self.selected = at.unwrap_or_else(nearest).min(self.matching.len().saturating_sub(1));
        self.preview_top = 0;
    }

    /// Where one begins.
    fn beginning(&self) -> usize {
        match self.start {
            Start::First => 0,
            Start::Last => self.matching.len().saturating_sub(1),
            Start::Present => {
                self.matching.iter().position(|number| self.rows[*number].is_present()).unwrap_or(0)
            }
        }
    }

    fn go(&mut self, at: usize) {
        if at != self.selected {
            self.preview_top = 0;
        }
        self.selected = at;
        self.wanted = self.matching.get(at).copied().or(self.wanted);
    }
}

#[cfg(test)]
mod tests;
