//! All keys and what they do, place by place, made from the table that handles them.

use crate::keys::{ActionId, Conflict, Hotkey, Key, Keymap};
use crate::list_view::{self, Face, ListRow, ListView, Order, Start};
use crate::scene::{Scene, View};
use crate::theme::Role;

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
}

/// The keys, and what is being searched in them.
#[derive(Debug, Clone)]
pub struct HotkeysView {
    list: ListView<Row>,
}

impl HotkeysView {
    /// A view of these keys. What is wrong in the user's file comes first.
    pub fn new(keymap: &Keymap) -> HotkeysView {
        let mut list = ListView::new("Keys", Start::First, Order::Kept).align();
        let problems = keymap.problems().iter().map(ToString::to_string);
        let conflicts = conflicts(keymap);
        let wrong = problems.chain(conflicts).enumerate().map(|(number, says)| {
            ListRow::new(Row::Wrong(number))
                .says(Role::Warning, &says)
                .under("To be looked at in your file of keys")
        });
        let rows: Vec<_> = wrong.chain(keymap.hotkeys().map(does)).collect();
        list.set_rows(rows);
        HotkeysView { list }
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
        self.list.draw(scene, &Face::new(&[(ActionId::Cancel, "back"), (ActionId::PageDown, "a page on")]))
    }
}

fn does(hotkey: Hotkey) -> ListRow<Row> {
    let keys: Vec<String> = hotkey.keys.iter().map(Key::to_string).collect();
    let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") };
    let role = if hotkey.keys.is_empty() { Role::Dim } else { Role::Accent };
    ListRow::new(Row::Does(hotkey.action))
        .says(role, &keys)
        .says(Role::Text, hotkey.description)
        .right(hotkey.action.name())
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
