//! Messages of extensions, drawn as these want it. They are asked beside the screen; a message is printed for good
//! when its lines are there, or when it was waited for long enough.

use std::time::Duration;

use ramal_session::{EntryId, EntryRef, Kind, Role, json};

use crate::app::App;
use crate::transcript::Rendered;

/// How long a message waits for its lines.
const LIMIT: Duration = Duration::from_secs(1);

/// Entries at the end of a path among which there may be new messages.
const AT_ONCE: usize = 64;

/// The same, when extensions come.
const MOST: usize = 500;

/// A message that wants lines.
struct Wanted {
    id: EntryId,
    custom_type: String,
    /// As JSON text.
    message: String,
}

impl App {
    /// Messages of extensions at the end of the path wait for their lines, before they are printed.
    pub(in crate::app) fn render_new(&mut self) {
        if self.extensions.all.are_there() {
            for wanted in self.theirs(AT_ONCE, |rendered, id| !rendered.is_asked(id)) {
                self.look.rendered.wait_for(&wanted.id);
                self.render(wanted);
            }
        }
    }

    /// Asks for the lines of what is printed already, for when it is drawn anew.
    pub(in crate::app) fn render_path(&mut self) {
        if self.extensions.all.are_there() {
            self.theirs(MOST, |rendered, id| !rendered.has_lines(id))
                .into_iter()
                .for_each(|wanted| self.render(wanted));
        }
    }

    /// Has them drawn anew, since they may be opened or closed now.
    pub(in crate::app) fn render_again(&mut self) {
        if self.extensions.all.are_there() {
            self.theirs(MOST, |_, _| true).into_iter().for_each(|wanted| self.render(wanted));
        }
    }

    /// Messages of extensions among the last entries of the path.
    fn theirs(&self, entries: usize, which: impl Fn(&Rendered, &EntryId) -> bool) -> Vec<Wanted> {
        let rendered = &self.look.rendered;
        self.with_session(|session| {
            let path = std::iter::successors(session.get_leaf_entry(), |entry| entry.parent());
            let theirs = path.take(entries).filter(|entry| is_custom(*entry));
            let chosen = theirs.filter(|entry| entry.id().is_ok_and(|id| which(rendered, &id)));
            chosen.filter_map(wanted).collect()
        })
    }

    fn render(&mut self, wanted: Wanted) {
        let Wanted { id, custom_type, message } = wanted;
        self.look.rendered.ask(&id);
        let lines = self.extensions.all.render(custom_type, message, self.is_open);
        self.job(async move { tokio::time::timeout(LIMIT, lines).await }, move |app, lines| {
            if app.look.rendered.has(&id, lines.ok().flatten()) {
                app.is_resized = true;
                app.full.forget();
            }
            // What waited for this is a part of what is printed.
            app.follow();
        });
    }
}

fn is_custom(entry: EntryRef<'_>) -> bool {
    entry.kind() == Kind::CustomMessage || matches!(entry.role(), Role::Custom | Role::HookMessage)
}

/// What a message of an extension's says, if it is shown.
fn wanted(entry: EntryRef<'_>) -> Option<Wanted> {
    let entry = entry.read().ok()?;
    let message = match entry.kind() {
        Kind::Message => entry.message()?.json(),
        _ => entry.json(),
    };
    let text = |key: &str| json::get_str(message.as_bytes(), key).map(|text| text.into_owned());
    if json::get(message.as_bytes(), "display") == Some(b"false") {
        return None;
    }
    Some(Wanted { id: entry.id().clone(), custom_type: text("customType")?, message: message.to_owned() })
}
