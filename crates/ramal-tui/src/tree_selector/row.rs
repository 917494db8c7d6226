//! What a row shows, read when it is asked for.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use ramal_session::{
    BranchFacts, BranchTotals, Calls, EntryRef, Guide, Irregular, ReadError, Row, SessionManager,
};

use super::Selector;
use crate::text::marks::occurrences;
use crate::text::says::{Says, says};
use crate::text::{Role, clean};

/// A row, with all that is drawn of it. All texts are clean.
#[derive(Debug, Clone)]
pub struct RowView {
    /// Where it stands, and what marks it has.
    pub place: Row,
    /// Whether it is the selected one.
    pub is_selected: bool,
    /// The lines left of it, outermost first: the innermost levels, as many as there was room for.
    pub guides: Vec<Guide>,
    /// Levels that there was no room for.
    pub shifted: usize,
    /// What its entry says, in a line.
    pub says: Rc<Says>,
    /// Its label.
    pub label: Option<String>,
    /// When the label was set, in milliseconds since 1970.
    pub label_time: Option<i64>,
    /// When the entry was made, in milliseconds since 1970.
    pub time: Option<i64>,
    /// Why it is a root although it might not be meant to be one.
    pub oddity: Option<Irregular>,
    /// What lies in the branch that begins here, or is folded away; none until all entries were read.
    pub branch: Option<BranchFacts>,
    /// Where what was searched for stands.
    pub marks: Marks,
}

/// Where words that are searched for stand in a row, as ranges of bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// In the label.
    pub label: Vec<Range<usize>>,
    /// In who says it.
    pub who: Vec<Range<usize>>,
    /// In what is said.
    pub text: Vec<Range<usize>>,
    /// A word that does not stand in the row, where it does stand.
    pub excerpt: Option<Rc<Excerpt>>,
}

/// A piece of what an entry says. It is clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The piece.
    pub text: String,
    /// Where in it the words stand.
    pub marks: Vec<Range<usize>>,
}

/// Columns of what an entry says: more than a screen has.
const COLUMNS: usize = 400;
/// Entries whose texts are kept.
const KEPT: usize = 1000;
/// Bytes of an excerpt before and behind the word.
const AROUND: usize = 60;

/// Texts of the rows that were drawn last: entries do not change, and some are long.
#[derive(Debug, Default)]
pub(super) struct Texts {
    calls: Calls,
    says: HashMap<usize, Rc<Says>>,
    excerpts: HashMap<usize, Option<Rc<Excerpt>>>,
}

impl Texts {
    pub(super) fn forget_excerpts(&mut self) {
        self.excerpts.clear();
    }
}

impl Selector {
    /// The rows that are to be seen on a screen of so many lines: the selected one is among them, and stays
    /// where it is on the screen as far as it can.
    pub fn window(&mut self, session: &SessionManager, lines: usize) -> Range<usize> {
        self.bring_up_to_date(session);
        let Some(selected) = self.selected_row().filter(|_| lines > 0) else { return 0..0 };
        let line = self.line.unwrap_or(lines / 2).min(lines - 1);
        let top = selected.saturating_sub(line).min(self.rows.len().saturating_sub(lines));
        self.line = Some(selected - top);
        top..(top + lines).min(self.rows.len())
    }

    /// What some rows show, with room for so many levels of lines on the left. Only their entries are read,
    /// and the calls that results among them answer.
    pub fn rows(&mut self, session: &SessionManager, range: Range<usize>, levels: usize) -> Vec<RowView> {
        self.bring_up_to_date(session);
        if self.texts.says.len() > KEPT {
            self.forget_texts();
        }
        let end = range.end.min(self.rows.len());
        (range.start..end).filter_map(|row| self.view(session, row, levels)).collect()
    }

    pub(super) fn forget_texts(&mut self) {
        self.texts = Texts::default();
    }

    fn view(&mut self, session: &SessionManager, row: usize, levels: usize) -> Option<RowView> {
        let place = self.rows.row(row)?;
        let entry = session.get_entry_at(place.position())?;
        let guides = self.rows.guides(row, levels);
        let says = self.says(session, entry);
        let label = entry.label().map(clean::name).filter(|label| !label.is_empty());
        let marks = self.marks(session, entry, &says, label.as_deref());
        Some(RowView {
            place,
            is_selected: self.selected_row() == Some(row),
            shifted: place.depth().saturating_sub(guides.len()),
            guides,
            label_time: label.as_ref().and(entry.labelled_by()).and_then(EntryRef::time),
            label,
            says,
            time: entry.time(),
            oddity: entry.irregular(),
            branch: if place.starts_branch() || place.is_folded() { self.branch(session, row) } else { None },
            marks,
        })
    }

    /// What lies in the branch that a row begins. Counted for all branches when the first is asked for.
    fn branch(&mut self, session: &SessionManager, row: usize) -> Option<BranchFacts> {
        if !self.facts.is_complete() {
            return None;
        }
        let totals =
            self.totals.get_or_insert_with(|| BranchTotals::gather(session, &self.facts, &self.rows));
        totals.of(&self.rows, row)
    }

    fn says(&mut self, session: &SessionManager, entry: EntryRef<'_>) -> Rc<Says> {
        if let Some(says) = self.texts.says.get(&entry.position()) {
            return Rc::clone(says);
        }
        let read = in_a_line(session, entry, &mut self.texts.calls);
        let says = Rc::new(read.unwrap_or_else(|problem| {
            self.problem = Some(problem);
            Says {
                who: entry.kind().name().unwrap_or("entry").into(),
                wrong: Some("cannot be read".into()),
                text: String::new(),
                role: Role::Error,
            }
        }));
        self.texts.says.insert(entry.position(), Rc::clone(&says));
        says
    }

    fn marks(
        &mut self,
        session: &SessionManager,
        entry: EntryRef<'_>,
        says: &Says,
        label: Option<&str>,
    ) -> Marks {
        let Some(search) = self.search.as_ref().map(|search| search.search()) else {
            return Marks::default();
        };
        let words: Vec<String> = search.words().map(str::to_owned).collect();
        let label = label.unwrap_or_default();
        let shown = [label, &says.who, &says.text].map(str::to_lowercase);
        let missing = words.iter().find(|word| !shown.iter().any(|text| text.contains(&***word)));
        Marks {
            label: occurrences(label, &words),
            who: occurrences(&says.who, &words),
            text: occurrences(&says.text, &words),
            excerpt: missing.and_then(|word| self.excerpt(session, entry, word, &words)),
        }
    }

    fn excerpt(
        &mut self,
        session: &SessionManager,
        entry: EntryRef<'_>,
        word: &str,
        words: &[String],
    ) -> Option<Rc<Excerpt>> {
        let job = self.search.as_mut().filter(|search| search.found().contains(entry.position()))?;
        if let Some(excerpt) = self.texts.excerpts.get(&entry.position()) {
            return excerpt.clone();
        }
        let said = job.searcher().says(session, entry).unwrap_or_default();
        let excerpt = excerpt_of(said, word, words).map(Rc::new);
        self.texts.excerpts.insert(entry.position(), excerpt.clone());
        excerpt
    }
}

fn in_a_line(session: &SessionManager, at: EntryRef<'_>, calls: &mut Calls) -> Result<Says, ReadError> {
    let entry = at.read()?;
    let call = calls.of_entry(session, at, &entry)?;
    Ok(says(&entry, call, session.get_cwd(), COLUMNS))
}

/// The piece of a text around the first place of a word.
fn excerpt_of(text: &str, word: &str, words: &[String]) -> Option<Excerpt> {
    let wanted = [word.to_owned()];
    let (line, place) =
        text.lines().find_map(|line| Some((line, occurrences(line, &wanted).into_iter().next()?)))?;
    let from = line.floor_char_boundary(place.start.saturating_sub(AROUND));
    let to = line.ceil_char_boundary((place.end + AROUND).min(line.len()));
    let before = if from > 0 { "…" } else { "" };
    let behind = if to < line.len() { "…" } else { "" };
    let piece = clean::one_line(&line[from..to], COLUMNS);
    let text = format!("{before}{piece}{behind}");
    Some(Excerpt { marks: occurrences(&text, words), text })
}
