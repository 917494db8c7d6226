//! What the user has said, to branch off before it: the selector of `/fork` and `/branch`.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use ramal_session::{EntryId, Irregular, Kind, ReadError, Role as Speaker, SessionManager};
use ratatui::text::Line;

use crate::keys::{ActionId, Key, Keymap};
use crate::list_view::{self, Face, ListRow, ListView, Order, Start};
use crate::scene::{Scene, View};
use crate::text::width::{fit, wrap};
use crate::text::{clean, human};
use crate::theme::Role;

/// What the row says that stands for no message.
const EVERYTHING: &str = "Everything up to here";

/// Rows of a message that are put together at most.
const LONGEST_PREVIEW: usize = 2000;

/// A message of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// The entry.
    pub id: EntryId,
    /// All that it says.
    pub text: String,
    /// Whether one stands behind it: it is on the active path.
    pub is_on_path: bool,
    /// The label in force on it.
    pub label: Option<String>,
    /// When it was said.
    pub time: Option<Timestamp>,
}

/// Where a session can be begun from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Before this message.
    Before(EntryId),
    /// From where one is: with everything up to here.
    Here,
}

/// What a key asks of whoever shows the view.
pub type Told = list_view::Told<Origin>;

/// Every user message of a session that has a text, on all branches, in the order of the log. It reads them
/// from the log, so that it is nothing to do while something is drawn.
///
/// # Errors
/// If the log cannot be read any more.
pub fn rows(session: &SessionManager) -> Result<Vec<MessageRow>, ReadError> {
    let mut reader = Reader::new(session);
    while !reader.read_more(session, u64::MAX)? {}
    Ok(reader.rows)
}

/// Reads what [`rows`] answers, a piece at a time.
#[derive(Debug, Default)]
pub struct Reader {
    rows: Vec<MessageRow>,
    path: HashSet<usize>,
    next: usize,
    of: (String, u64),
}

impl Reader {
    /// Nothing is read yet.
    pub fn new(session: &SessionManager) -> Reader {
        Reader {
            path: session.get_branch(None).iter().map(|entry| entry.position()).collect(),
            of: (session.get_session_id().to_owned(), session.generation()),
            ..Reader::default()
        }
    }

    /// Reads on until so many bytes were read; from the beginning if it is another tree by now. Answers whether
    /// that is all.
    ///
    /// # Errors
    /// If the log cannot be read any more.
    pub fn read_more(&mut self, session: &SessionManager, bytes: u64) -> Result<bool, ReadError> {
        if (session.get_session_id(), session.generation()) != (&*self.of.0, self.of.1) {
            *self = Reader::new(session);
        }
        let mut read = 0;
        while let Some(entry) = session.get_entry_at(self.next) {
            if read >= bytes {
                return Ok(false);
            }
            self.next += 1;
            let is_said = entry.kind() == Kind::Message && entry.role() == Speaker::User;
            if !is_said || entry.irregular() == Some(Irregular::NoId) {
                continue;
            }
            read += entry.size();
            let said = entry.read()?;
            let text = said.text();
            if !text.trim().is_empty() {
                self.rows.push(MessageRow {
                    is_on_path: self.path.contains(&entry.position()),
                    label: entry.label().map(str::to_owned),
                    time: entry.time().and_then(|time| Timestamp::from_millisecond(time).ok()),
                    id: said.id().clone(),
                    text,
                });
            }
        }
        Ok(true)
    }

    /// What was read.
    pub fn into_rows(self) -> Vec<MessageRow> {
        self.rows
    }
}

/// The messages, and what is being searched in them.
#[derive(Debug, Clone)]
pub struct MessageView {
    list: ListView<Origin>,
    messages: HashMap<EntryId, MessageRow>,
    /// Whether everything up to here can be chosen, too.
    offers_all: bool,
}

impl MessageView {
    /// A view without messages, as long as they are not read. `title` is what choosing one is for.
    pub fn new(title: &str) -> MessageView {
        let mut list = ListView::new(title, Start::Last, Order::Kept);
        list.set_empty("Nothing has been said in this session yet");
        list.set_loading(Some("reading".into()));
        MessageView { list, messages: HashMap::new(), offers_all: false }
    }

    /// The same, with everything up to here as the last row.
    #[must_use]
    pub fn offering_all(mut self) -> MessageView {
        self.offers_all = true;
        self
    }

    /// The messages are there. `now` and `zone` are for the times that are seen.
    pub fn set_rows(&mut self, rows: Vec<MessageRow>, now: Timestamp, zone: &jiff::tz::TimeZone) {
        let list = rows.iter().map(|row| {
            let mut line = ListRow::new(Origin::Before(row.id.clone())).present(row.is_on_path);
            if let Some(label) = &row.label {
                line = line.says(Role::Label, &format!("[{label}]"));
            }
            let time = row.time.map(|time| human::time(now, time, zone)).unwrap_or_default();
            line.says(Role::User, &row.text).right(&time)
        });
        let mut list: Vec<_> = list.collect();
        let last = rows.last().map(|row| Origin::Before(row.id.clone()));
        if self.offers_all && last.is_some() {
            list.push(ListRow::new(Origin::Here).says(Role::Accent, EVERYTHING));
        }
        self.list.set_rows(list);
        if let Some(last) = last {
            self.list.select(&last);
        }
        self.list.set_loading(None);
        self.messages = rows.into_iter().map(|row| (row.id.clone(), row)).collect();
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.list.notice(text);
    }

    /// The message that is selected; none where it is everything up to here.
    pub fn selected(&self) -> Option<&MessageRow> {
        match self.list.selected()? {
            Origin::Before(id) => self.messages.get(id),
            Origin::Here => None,
        }
    }

    /// A key was pressed.
    pub fn key(&mut self, keymap: &Keymap, key: Key) -> Told {
        self.list.key(keymap, key)
    }

    /// Something was pasted.
    pub fn paste(&mut self, text: &str) -> Told {
        self.list.paste(text)
    }

    /// What is seen: as many lines as there are rows on the screen, none wider than it.
    pub fn draw(&mut self, scene: &Scene<'_>) -> View {
        let confirm = match self.list.selected() {
            Some(Origin::Here) => "go on in a copy",
            _ => "branch off before it",
        };
        let hints = [
            (ActionId::Confirm, confirm),
            (ActionId::Cancel, "back"),
            (ActionId::TogglePreview, "preview"),
            (ActionId::PreviewDown, "scroll it"),
        ];
        let messages = &self.messages;
        let preview = |origin: &Origin, columns: usize| match origin {
            Origin::Before(id) => messages.get(id).map_or_else(Vec::new, |row| preview(row, scene, columns)),
            Origin::Here => {
                let says = "A copy of this path, from its beginning to where you are; nothing is taken back";
                wrap(says, columns).map(|row| Line::raw(fit(row, columns).into_owned())).collect()
            }
        };
        self.list.draw(scene, &Face::new(&hints).preview(&preview))
    }
}

/// A message in full.
fn preview(row: &MessageRow, scene: &Scene<'_>, columns: usize) -> Vec<Line<'static>> {
    let mut head = vec![if row.is_on_path { "on the active path" } else { "on another branch" }.to_owned()];
    head.extend(row.time.map(|time| human::time(scene.now, time, scene.zone)));
    head.extend(row.label.as_ref().map(|label| format!("[{}]", clean::one_line(label, columns))));
    head.push(clean::one_line(&row.id, columns));
    let head = fit(&head.join(" · "), columns).into_owned();
    let mut lines = vec![Line::styled(head, scene.theme.style(Role::Dim))];
    let text = clean::lines(&row.text).flat_map(|line| {
        wrap(&line, columns).map(|row| Line::raw(fit(row, columns).into_owned())).collect::<Vec<_>>()
    });
    lines.extend(text.take(LONGEST_PREVIEW));
    lines
}

#[cfg(test)]
mod tests;
