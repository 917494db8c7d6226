//! All keys and what they do, place by place, made from the table that handles them.

use ratatui::text::Line;

use crate::keys::{ActionId, Conflict, Hotkey, Key, Keymap};
use crate::list_view::{self, Face, ListRow, ListView, Order, Start};
use crate::scene::{Scene, View};
use crate::text::clean;
use crate::text::width::{fit, wrap};
use crate::theme::Role;

/// The heading of what is wrong.
const WRONG: &str = "To be looked at in your file of keys";

/// What a key asks of whoever shows the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Nothing is to be drawn again.
    Nothing,
    /// Something is.
    Redraw,
    /// The view is to be closed.
    Close,
    /// The program is to be suspended.
    Suspend,
}

/// A row: something wrong in the user's file, or something that keys do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// What is wrong, by its number.
    Wrong(usize),
    Does(ActionId),
    /// What somebody else's key does, by its number.
    Other(usize),
}

/// A key that is not of the table: of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherKey {
    /// The key.
    pub key: Key,
    /// What it does; may be empty.
    pub says: String,
    /// Whose it is.
    pub source: String,
}

/// The keys, and what is being searched in them.
#[derive(Debug, Clone)]
pub struct HotkeysView {
    list: ListView<Row>,
    /// What there is to say of each row, in full.
    says: Vec<(Row, String)>,
}

impl HotkeysView {
    /// A view of these keys. What is wrong in the user's file comes first.
    pub fn new(keymap: &Keymap) -> HotkeysView {
        HotkeysView::with(keymap, &[])
    }

    /// The same, and keys of others below.
    pub fn with(keymap: &Keymap, others: &[OtherKey]) -> HotkeysView {
        let mut list = ListView::new("Keys", Start::First, Order::Kept).align();
        let problems = keymap.problems().iter().map(ToString::to_string);
        let conflicts = conflicts(keymap);
        let mut says: Vec<(Row, String)> =
            problems.chain(conflicts).enumerate().map(|(number, says)| (Row::Wrong(number), says)).collect();
        let wrong = says.iter().map(|(row, says)| ListRow::new(*row).says(Role::Warning, says).under(WRONG));
        let theirs = others.iter().enumerate().map(|(number, other)| {
            ListRow::new(Row::Other(number))
                .says(Role::Accent, &other.key.to_string())
                .says(Role::Text, &other.says)
                .right(&other.source)
                .right_gives_way()
                .under("Extensions")
        });
        let rows: Vec<_> = wrong.chain(keymap.hotkeys().map(does)).chain(theirs).collect();
        says.extend(others.iter().enumerate().map(|(number, OtherKey { key, says, source })| {
            (Row::Other(number), format!("{says}: {key}\nOf the extension {source}"))
        }));
        says.extend(keymap.hotkeys().map(|hotkey| (Row::Does(hotkey.action), in_full(&hotkey))));
        list.set_rows(rows);
        HotkeysView { list, says }
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.list.notice(text);
    }

    /// A key was pressed.
    pub fn key(&mut self, keymap: &Keymap, key: Key) -> Told {
        match self.list.key(keymap, key) {
            list_view::Told::Nothing | list_view::Told::Choose(_) => Told::Nothing,
            list_view::Told::Redraw => Told::Redraw,
            // The key that opens the view closes it.
            list_view::Told::Close | list_view::Told::Hotkeys => Told::Close,
            list_view::Told::Suspend => Told::Suspend,
        }
    }

    /// Something was pasted.
    pub fn paste(&mut self, text: &str) -> Told {
        self.list.paste(text);
        Told::Redraw
    }

    /// What is seen: as many lines as there are rows on the screen, none wider than it.
    pub fn draw(&mut self, scene: &Scene<'_>) -> View {
        let hints = [
            (ActionId::Cancel, "back"),
            (ActionId::PageDown, "a page on"),
            (ActionId::TogglePreview, "preview"),
        ];
        let says = &self.says;
        let preview = |row: &Row, columns: usize| {
            let says = says.iter().find(|(other, _)| other == row).map_or("", |(_, says)| says);
            clean::lines(says)
                .flat_map(|line| {
                    wrap(&line, columns)
                        .map(|row| Line::raw(fit(row, columns).into_owned()))
                        .collect::<Vec<_>>()
                })
                .collect()
        };
        self.list.draw(scene, &Face::new(&hints).preview(&preview))
    }
}

/// An action with all its keys, as people read them and as they stand in a file.
fn in_full(hotkey: &Hotkey) -> String {
    let keys: Vec<String> = hotkey.keys.iter().map(Key::to_string).collect();
    let files: Vec<String> = hotkey.keys.iter().map(|key| format!("{:?}", key.file_name())).collect();
    let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") };
    let (says, name) = (hotkey.description, hotkey.action.name());
    format!("{says}: {keys}\nIn your file of keys: {name:?}: [{}]", files.join(", "))
}

fn does(hotkey: Hotkey) -> ListRow<Row> {
    let keys: Vec<String> = hotkey.keys.iter().map(Key::to_string).collect();
    let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") };
    let role = if hotkey.keys.is_empty() { Role::Dim } else { Role::Accent };
    ListRow::new(Row::Does(hotkey.action))
        .says(role, &keys)
        .says(Role::Text, hotkey.description)
        .right(hotkey.action.name())
        .right_gives_way()
        .under(hotkey.place.title())
}

/// What the user's keys have made ambiguous. The same may be so in several places.
fn conflicts(keymap: &Keymap) -> Vec<String> {
    let mut told: Vec<(Conflict, Vec<&str>)> = Vec::new();
    for conflict in keymap.conflicts() {
        let same =
            |(other, _): &&mut (Conflict, _)| Conflict { place: conflict.place, ..*other } == *conflict;
        match told.iter_mut().find(same) {
            Some((_, places)) => places.push(conflict.place.title()),
            None => told.push((*conflict, vec![conflict.place.title()])),
        }
    }
    let says = |(conflict, places): (Conflict, Vec<&str>)| {
        let Conflict { key, wins, loses, .. } = conflict;
        format!("{key} is {}, and so never {} ({})", wins.name(), loses.name(), places.join(", "))
    };
    told.into_iter().map(says).collect()
}

#[cfg(test)]
mod tests;
