//! The settings, to look at and to change.
//!
//! [`SettingsView`] writes nothing: it tells what is to be set ([`Told::Set`]) and shows it as if it was. Who
//! shows it gives it the settings anew once they are written, or if they could not be.

mod row;

pub use row::{SettingKind, SettingRow};

use crate::keys::{ActionId, Key, Keymap, Place};
use crate::list_view::{self, Face, ListView, Order, Start};
use crate::scene::{Scene, View};
use crate::typing::{Typed, Typing};

/// What a key asks of whoever shows the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Nothing is to be drawn again.
    Nothing,
    /// Something is.
    Redraw,
    /// The view is to be closed.
    Close,
    /// A setting is to get a value.
    Set {
        /// The setting.
        key: String,
        /// Its value, as [`SettingRow::value`] is written.
        value: String,
    },
    /// The program is to be suspended.
    Suspend,
    /// All keys are to be shown.
    Hotkeys,
}

/// The settings, and what is being done with them.
#[derive(Debug, Clone)]
pub struct SettingsView {
    list: ListView<String>,
    settings: Vec<SettingRow>,
    writing: Option<Writing>,
}

/// A value that is being written.
#[derive(Debug, Clone)]
struct Writing {
    key: String,
    /// What stands before it.
    what: String,
    typing: Typing,
}

impl SettingsView {
    /// A view of these settings.
    pub fn new(settings: Vec<SettingRow>) -> SettingsView {
        let mut list = ListView::new("Settings", Start::First, Order::Kept).align();
        list.set_empty("There are no settings");
        let mut view = SettingsView { list, settings: Vec::new(), writing: None };
        view.set_rows(settings);
        view
    }

    /// The settings as they are now.
    pub fn set_rows(&mut self, settings: Vec<SettingRow>) {
        self.settings = settings;
        self.show_rows();
    }

    fn show_rows(&mut self) {
        self.list.set_rows(self.settings.iter().map(SettingRow::line).collect());
    }

    /// Says something below the rows, until the next key.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.list.notice(text);
    }

    /// The one that is selected.
    pub fn selected(&self) -> Option<&SettingRow> {
        self.list.selected().and_then(|key| self.setting(key))
    }

    fn setting(&self, key: &str) -> Option<&SettingRow> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// A key was pressed.
    pub fn key(&mut self, keymap: &Keymap, key: Key) -> Told {
        if let Some(writing) = self.writing.take() {
            self.list.dismiss_notice();
            return self.writing_key(writing, keymap, key);
        }
        let action = keymap.action(Place::Settings, key);
        let action = action.filter(|_| !self.list.is_searching() || key.typed().is_none());
        match action {
            Some(ActionId::NextValue) => self.step(SettingRow::next),
            Some(ActionId::PreviousValue) => self.step(SettingRow::previous),
            Some(ActionId::DefaultValue) => self.step(|setting| Some(setting.default.clone())),
            _ => match self.list.key(keymap, key) {
                list_view::Told::Nothing => Told::Nothing,
                list_view::Told::Redraw => Told::Redraw,
                list_view::Told::Close => Told::Close,
                list_view::Told::Choose(_) => self.choose(),
                list_view::Told::Suspend => Told::Suspend,
                list_view::Told::Hotkeys => Told::Hotkeys,
            },
        }
    }

    /// Something was pasted: into the value that is being written, or behind what is searched for.
    pub fn paste(&mut self, text: &str) -> Told {
        match &mut self.writing {
            Some(writing) => writing.typing.paste(text),
            None => {
                self.list.paste(text);
            }
        }
        Told::Redraw
    }

    /// Goes on to the next value, or lets one be written.
    fn choose(&mut self) -> Told {
        match self.selected().map(|setting| &setting.kind) {
            Some(SettingKind::Text | SettingKind::Number) => self.write(),
            Some(SettingKind::Flag | SettingKind::Choice(_)) => self.step(SettingRow::next),
            None => Told::Nothing,
        }
    }

    fn write(&mut self) -> Told {
        let Some(setting) = self.selected() else { return Told::Nothing };
        let writing = Writing {
            key: setting.key.clone(),
            what: format!("{}: ", crate::text::clean::name(&setting.key)),
            typing: Typing::one_line(&setting.value),
        };
        self.writing = Some(writing);
        Told::Redraw
    }

    /// Sets what comes of the selected setting; one that is written is written anew.
    fn step(&mut self, value: impl Fn(&SettingRow) -> Option<String>) -> Told {
        let had_notice = self.list.dismiss_notice();
        let nothing = if had_notice { Told::Redraw } else { Told::Nothing };
        let Some(setting) = self.selected() else { return nothing };
        match value(setting) {
            Some(value) => {
                let key = setting.key.clone();
                self.set(key, value)
            }
            None => self.write(),
        }
    }

    fn set(&mut self, key: String, value: String) -> Told {
        let Some(setting) = self.settings.iter_mut().find(|setting| setting.key == key) else {
            return Told::Redraw;
        };
        if setting.value == value {
            return Told::Redraw;
        }
        setting.value.clone_from(&value);
        self.show_rows();
        Told::Set { key, value }
    }

    fn writing_key(&mut self, mut writing: Writing, keymap: &Keymap, key: Key) -> Told {
        if keymap.action(Place::Everywhere, key) == Some(ActionId::Suspend) {
            self.writing = Some(writing);
            return Told::Suspend;
        }
        match writing.typing.key(keymap, key) {
            Typed::Left => return Told::Redraw,
            Typed::Done => {
                let value = writing.typing.text();
                let Some(setting) = self.setting(&writing.key) else { return Told::Redraw };
                match setting.read(&value) {
                    Ok(value) => return self.set(writing.key, value),
                    Err(why) => self.list.notice(why),
                }
            }
            Typed::Nothing | Typed::Changed => {}
        }
        self.writing = Some(writing);
        Told::Redraw
    }

    /// What is seen: as many lines as there are rows on the screen, none wider than it.
    pub fn draw(&mut self, scene: &Scene<'_>) -> View {
        let hints: &[(ActionId, &str)] = match (&self.writing, self.selected().map(|row| &row.kind)) {
            (Some(_), _) => &[(ActionId::Submit, "set"), (ActionId::Cancel, "leave it")],
            (None, Some(SettingKind::Text | SettingKind::Number)) => &[
                (ActionId::Confirm, "change"),
                (ActionId::Cancel, "back"),
                (ActionId::DefaultValue, "default"),
                (ActionId::TogglePreview, "preview"),
            ],
            (None, _) => &[
                (ActionId::Confirm, "next value"),
                (ActionId::Cancel, "back"),
                (ActionId::PreviousValue, "previous"),
                (ActionId::DefaultValue, "default"),
                (ActionId::TogglePreview, "preview"),
            ],
        };
        let settings = &self.settings;
        let preview = |key: &String, columns: usize| match settings.iter().find(|row| row.key == *key) {
            Some(setting) => setting.preview(columns, scene.theme),
            None => Vec::new(),
        };
        let writing = self.writing.as_ref().map(|writing| (&*writing.what, &writing.typing));
        self.list.draw(scene, &Face::new(hints).preview(&preview).writing(writing))
    }
}

#[cfg(test)]
mod tests;
