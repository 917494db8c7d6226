//! What covers the main screen: the tree, the selectors, the whole transcript.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ramal_session::{EntryId, ReadError, SessionManager};

use super::moves::SumUp;
use super::sessions::{self, Sessions};
use super::{App, Effect};
use crate::hotkeys_view::{self, HotkeysView, OtherKey};
use crate::keys::{ActionId, Key};
use crate::list_view::{self, Face, ListRow, ListView, Order, Start};
use crate::message_view::{self, MessageView, Origin};
use crate::model_view::ModelView;
use crate::scene::View;
use crate::settings_view::{self, SettingsView};
use crate::text::clean;
use crate::text::says::copied;
use crate::theme::Role;
use crate::transcript_view::{self, TranscriptView};
use crate::tree_selector::Summary;
use crate::tree_view::{self, TreeView};

/// Bytes that are read beside the screen before others get their turn at the session, …
const PIECE: u64 = 1 << 20;
/// … and how long they have.
const BREATH: Duration = Duration::from_millis(1);

/// A view on the whole screen.
pub(super) enum Over {
    Tree(Box<TreeView>),
    Transcript(Box<TranscriptView>),
    Messages(Box<MessageView>),
    Models(Box<ModelView>),
    Settings(Box<SettingsView>),
    Hotkeys(Box<HotkeysView>),
    Sessions(Sessions),
    /// What was sent before, by its number from the newest.
    History(Box<ListView<usize>>, Vec<String>),
}

/// What a key asks, whichever view it was pressed in.
pub(super) enum Heard {
    Nothing,
    Redraw,
    Close,
    Suspend,
    Hotkeys,
    Copy(usize),
    Label { id: EntryId, label: Option<String> },
    Do(Box<dyn FnOnce(&mut App)>),
}

impl Heard {
    fn to(act: impl FnOnce(&mut App) + 'static) -> Heard {
        Heard::Do(Box::new(act))
    }
}

impl App {
    /// Shows a view on the whole screen, above those that are there.
    pub(super) fn cover(&mut self, view: Over) {
        self.over.push(view);
        self.full.forget();
        self.is_stale = true;
    }

    /// Closes the view that is seen.
    pub(super) fn uncover(&mut self) {
        self.over.pop();
        self.full.forget();
        self.is_stale = true;
        if self.over.is_empty() {
            self.follow();
            self.look_at_session();
        }
    }

    /// Closes what shows a session: another one is at work.
    pub(super) fn uncover_session(&mut self) {
        self.parked = None;
        let had = self.over.len();
        self.over.retain(|over| !matches!(over, Over::Tree(_) | Over::Transcript(_) | Over::Messages(_)));
        if self.over.len() < had {
            self.full.forget();
            self.is_stale = true;
        }
    }

    /// Goes back to the main screen.
    pub(super) fn uncover_all(&mut self) {
        self.over.clear();
        self.uncover();
    }

    // What opens them.

    pub(super) fn open_transcript(&mut self) {
        let view = self.with_session(|session| TranscriptView::new(session));
        self.cover(Over::Transcript(Box::new(view)));
    }

    /// The user's messages, to begin a session before one of them.
    pub(super) fn open_messages(&mut self) {
        self.open_origins(MessageView::new("Begin a session before a message"));
    }

    /// The same, or from where one is (`/fork`, which means either to those who come from elsewhere).
    pub(super) fn open_fork(&mut self) {
        self.open_origins(MessageView::new("Begin a session before a message").offering_all());
    }

    fn open_origins(&mut self, view: MessageView) {
        let has_said = self.with_session(|session| {
            session.get_entries().any(|entry| entry.role() == ramal_session::Role::User)
        });
        if !has_said {
            self.hint = Some("Nothing has been said yet that one could begin anew from".into());
            return;
        }
        self.cover(Over::Messages(Box::new(view)));
        let agent = self.agent.clone();
        let read = move || {
            let mut reader = agent.with_session(|session| message_view::Reader::new(session));
            // Others get their turn at the session in between.
            while !agent.with_session(|session| reader.read_more(session, PIECE))? {
                std::thread::sleep(BREATH);
            }
            Ok::<_, ReadError>(reader.into_rows())
        };
        self.aside(read, |app, rows| {
            let view = app.over.iter_mut().find_map(|over| match over {
                Over::Messages(view) => Some(view),
                _ => None,
            });
            let Some(view) = view else { return };
            match rows {
                Ok(rows) => view.set_rows(rows, Timestamp::now(), &app.look.zone),
                Err(error) => view.notice(error.to_string()),
            }
        });
    }

    pub(super) fn open_models(&mut self) {
        self.cover(Over::Models(Box::default()));
        let (host, present) = (Arc::clone(&self.host), self.facts.model.clone());
        self.aside(
            move || host.models(present.as_deref()),
            |app, models| {
                for over in &mut app.over {
                    if let Over::Models(view) = over {
                        view.set_rows(models.clone(), true);
                    }
                }
            },
        );
    }

    pub(super) fn open_settings(&mut self) {
        let (host, cwd) = (Arc::clone(&self.host), self.agent.cwd());
        self.aside(
            move || host.settings(&cwd),
            |app, rows| app.cover(Over::Settings(Box::new(SettingsView::new(rows)))),
        );
    }

    pub(super) fn open_hotkeys(&mut self) {
        if !matches!(self.over.last(), Some(Over::Hotkeys(_))) {
            let others: Vec<OtherKey> = (self.extensions.keys().iter())
                .map(|(key, theirs)| OtherKey {
                    key: *key,
                    says: clean::name(&theirs.description),
                    source: clean::name(&theirs.extension),
                })
                .collect();
            self.cover(Over::Hotkeys(Box::new(HotkeysView::with(&self.look.keymap, &others))));
        }
    }

    pub(super) fn open_history(&mut self) {
        let prompts: Vec<String> = self.editor.earlier().collect();
        let mut list = ListView::new("What was sent before", Start::First, Order::Kept);
        list.set_empty("Nothing was sent yet");
        let rows = prompts.iter().enumerate();
        list.set_rows(rows.map(|(number, text)| ListRow::new(number).says(Role::Text, text)).collect());
        self.cover(Over::History(Box::new(list), prompts));
    }

    // What is seen.

    /// What is seen of the view that covers the screen.
    pub(super) fn over_view(&mut self) -> View {
        let agent = self.agent.clone();
        let scene = self.look.scene(self.columns, self.rows);
        let options = self.look.options(false, self.hides_thinking);
        match self.over.last_mut() {
            Some(Over::Tree(view)) => agent.with_session(|session| view.draw(session, &scene)),
            Some(Over::Transcript(view)) => {
                agent.with_session(|session| view.draw(session, &scene, &options))
            }
            Some(Over::Messages(view)) => view.draw(&scene),
            Some(Over::Models(view)) => view.draw(&scene),
            Some(Over::Settings(view)) => view.draw(&scene),
            Some(Over::Hotkeys(view)) => view.draw(&scene),
            Some(Over::Sessions(sessions)) => sessions.view.draw(&scene),
            Some(Over::History(list, _)) => {
                let hints = [(ActionId::Confirm, "bring it back"), (ActionId::Cancel, "back")];
                list.draw(&scene, &Face::new(&hints))
            }
            None => View { lines: Vec::new(), cursor: None },
        }
    }

    /// Reads on for what covers the screen. Answers whether there is more to be read.
    pub(super) fn work(&mut self, bytes: u64) -> bool {
        let agent = self.agent.clone();
        let (changed, done) = match self.over.last_mut() {
            Some(Over::Tree(view)) => {
                let work = agent.with_session(|session| view.work(session, bytes));
                (work.changed, work.done)
            }
            Some(Over::Transcript(view)) => {
                let work = agent.with_session(|session| view.work(session));
                (work.changed, work.done)
            }
            _ => (false, true),
        };
        self.is_stale |= changed;
        !done
    }

    /// Says something in the view that covers the screen, or below the conversation.
    pub(super) fn notice(&mut self, text: &str) {
        self.is_stale = true;
        match self.over.last_mut() {
            Some(Over::Tree(view)) => view.notice(text),
            Some(Over::Transcript(view)) => view.notice(text),
            Some(Over::Messages(view)) => view.notice(text),
            Some(Over::Models(view)) => view.notice(text),
            Some(Over::Settings(view)) => view.notice(text),
            Some(Over::Hotkeys(view)) => view.notice(text),
            Some(Over::Sessions(sessions)) => sessions.view.notice(text),
            Some(Over::History(list, _)) => list.notice(text),
            None => self.hint = Some(text.to_owned()),
        }
    }

    // What is pressed.

    pub(super) fn over_key(&mut self, key: Key) {
        let agent = self.agent.clone();
        let keymap = &self.look.keymap;
        let heard = match self.over.last_mut() {
            Some(Over::Tree(view)) => agent.with_session(|session| view.key(session, keymap, key)).into(),
            Some(Over::Transcript(view)) => {
                agent.with_session(|session| view.key(session, keymap, key)).into()
            }
            Some(Over::Messages(view)) => chosen(view.key(keymap, key), from_origin),
            Some(Over::Models(view)) => chosen(view.key(keymap, key), with_model),
            Some(Over::Settings(view)) => view.key(keymap, key).into(),
            Some(Over::Hotkeys(view)) => view.key(keymap, key).into(),
            Some(Over::Sessions(sessions)) => sessions::heard(sessions.view.key(keymap, key)),
            Some(Over::History(list, _)) => chosen(list.key(keymap, key), with_prompt),
            None => Heard::Nothing,
        };
        self.heard(heard);
    }

    pub(super) fn over_paste(&mut self, text: &str) {
        let agent = self.agent.clone();
        let heard = match self.over.last_mut() {
            Some(Over::Tree(view)) => agent.with_session(|session| view.paste(session, text)).into(),
            Some(Over::Transcript(view)) => view.paste(text).into(),
            Some(Over::Messages(view)) => chosen(view.paste(text), from_origin),
            Some(Over::Models(view)) => chosen(view.paste(text), with_model),
            Some(Over::Settings(view)) => view.paste(text).into(),
            Some(Over::Sessions(sessions)) => sessions::heard(sessions.view.paste(text)),
            Some(Over::Hotkeys(_)) | None => Heard::Nothing,
            Some(Over::History(list, _)) => chosen(list.paste(text), with_prompt),
        };
        self.heard(heard);
    }

    fn heard(&mut self, heard: Heard) {
        match heard {
            Heard::Nothing => {}
            Heard::Redraw => self.is_stale = true,
            Heard::Close => self.uncover(),
            Heard::Suspend => self.effects.push(Effect::Suspend),
            Heard::Hotkeys => self.open_hotkeys(),
            Heard::Copy(position) => self.copy_entry(position),
            Heard::Label { id, label } => {
                if let Err(error) = self.agent.set_label(&id, label.as_deref()) {
                    self.notice(&error.to_string());
                }
            }
            Heard::Do(act) => act(self),
        }
    }

    /// An entry was chosen in the tree.
    fn chosen(&mut self, id: &str, summary: Summary) {
        let leaves_something = self.with_session(|session| leaves_something(session, id));
        let sum_up = match summary {
            Summary::Wanted if leaves_something => SumUp::Yes,
            Summary::AsSet if leaves_something && self.wishes.asks_for_summary => {
                return self.ask_for_summary(id);
            }
            _ => SumUp::No,
        };
        self.go_from_here(id, sum_up);
    }

    /// Goes to an entry that was chosen in what covers the screen, which is kept for the case that it is
    /// aborted.
    pub(super) fn go_from_here(&mut self, id: &str, sum_up: SumUp) {
        self.parked = self.over.pop();
        self.over.clear();
        self.is_summing_up = sum_up != SumUp::No;
        self.go(id, sum_up);
    }

    fn set_setting(&mut self, key: String, value: String) {
        let (host, cwd) = (Arc::clone(&self.host), self.agent.cwd());
        let set = move || {
            let said = host.set(&cwd, &key, &value);
            (said, host.settings(&cwd), host.wishes(&cwd))
        };
        self.write(set, |app, (said, rows, wishes)| {
            // What was changed since is on the screen already, and not yet in these rows.
            if app.writes.are_done()
                && let Some(Over::Settings(view)) = app.over.last_mut()
            {
                view.set_rows(rows);
            }
            app.wishes = wishes;
            app.hides_thinking = app.wishes.hides_thinking;
            app.choose_theme();
            match said {
                Ok(said) => app.notice(&said),
                Err(why) => app.notice(&why),
            }
        });
    }

    fn copy_entry(&mut self, position: usize) {
        let text = self.with_session(|session| {
            let entry = session.get_entry_at(position)?.read();
            Some(entry.map(|entry| copied(&entry)))
        });
        match text {
            Some(Ok(text)) => {
                self.effects.push(Effect::Copy(text));
                self.notice("Copied");
            }
            Some(Err(error)) => self.notice(&error.to_string()),
            None => {}
        }
    }
}

/// What is heard of a list; `act` is what choosing does.
fn chosen<T: 'static>(told: list_view::Told<T>, act: fn(&mut App, T)) -> Heard {
    match told {
        list_view::Told::Nothing => Heard::Nothing,
        list_view::Told::Redraw => Heard::Redraw,
        list_view::Told::Close => Heard::Close,
        list_view::Told::Suspend => Heard::Suspend,
        list_view::Told::Hotkeys => Heard::Hotkeys,
        list_view::Told::Choose(what) => Heard::to(move |app| act(app, what)),
    }
}

fn from_origin(app: &mut App, origin: Origin) {
    app.uncover_all();
    match origin {
        Origin::Before(id) => app.branch_before(&id),
        Origin::Here => app.clone_session(),
    }
}

fn with_model(app: &mut App, name: String) {
    app.uncover_all();
    app.set_model(&name);
}

fn with_prompt(app: &mut App, number: usize) {
    let prompt = match app.over.pop() {
        Some(Over::History(_, mut prompts)) if number < prompts.len() => Some(prompts.swap_remove(number)),
        _ => None,
    };
    app.uncover_all();
    app.bring_into_editor(prompt);
    app.typed();
}

impl From<tree_view::Told> for Heard {
    fn from(told: tree_view::Told) -> Heard {
        use tree_view::Told;
        match told {
            Told::Nothing => Heard::Nothing,
            Told::Redraw => Heard::Redraw,
            Told::Close => Heard::Close,
            Told::AlreadyHere => Heard::to(App::is_here_already),
            Told::Go { id, summary } => Heard::to(move |app| app.chosen(&id, summary)),
            Told::Label { id, label } => Heard::Label { id, label },
            Told::Copy(position) => Heard::Copy(position),
            Told::Suspend => Heard::Suspend,
            Told::Hotkeys => Heard::Hotkeys,
        }
    }
}

impl From<transcript_view::Told> for Heard {
    fn from(told: transcript_view::Told) -> Heard {
        use transcript_view::Told;
        match told {
            Told::Nothing => Heard::Nothing,
            Told::Redraw => Heard::Redraw,
            Told::Close => Heard::Close,
            Told::AlreadyHere => Heard::to(App::is_here_already),
            Told::Go { id } => Heard::to(move |app| app.chosen(&id, Summary::AsSet)),
            Told::GoToEnd { id } => Heard::to(move |app| {
                app.uncover_all();
                app.stand_at(&id);
            }),
            Told::Label { id, label } => Heard::Label { id, label },
            Told::Copy(position) => Heard::Copy(position),
            Told::Tree(id) => Heard::to(move |app| app.open_tree_at(Some(&id))),
            Told::Hotkeys => Heard::Hotkeys,
            Told::Suspend => Heard::Suspend,
        }
    }
}

impl From<settings_view::Told> for Heard {
    fn from(told: settings_view::Told) -> Heard {
        use settings_view::Told;
        match told {
            Told::Nothing => Heard::Nothing,
            Told::Redraw => Heard::Redraw,
            Told::Close => Heard::Close,
            Told::Set { key, value } => Heard::to(move |app| app.set_setting(key, value)),
            Told::Suspend => Heard::Suspend,
            Told::Hotkeys => Heard::Hotkeys,
        }
    }
}

impl From<hotkeys_view::Told> for Heard {
    fn from(told: hotkeys_view::Told) -> Heard {
        use hotkeys_view::Told;
        match told {
            Told::Nothing => Heard::Nothing,
            Told::Redraw => Heard::Redraw,
            Told::Close => Heard::Close,
            Told::Suspend => Heard::Suspend,
        }
    }
}

/// Whether going to an entry leaves something behind that could be summed up: the entry does not lie below
/// the leaf.
fn leaves_something(session: &SessionManager, target: &str) -> bool {
    let Some(leaf) = session.get_leaf_entry() else { return false };
    let target = session.get_entry(target);
    let mut path = std::iter::successors(target, |entry| entry.parent());
    !path.any(|entry| entry == leaf)
}
