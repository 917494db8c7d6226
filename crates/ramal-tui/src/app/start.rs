//! How a conversation begins.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use ramal_session::SessionManager;
use ratatui::text::{Line, Span};

use super::asks::Asks;
use super::completion;
use super::conversation::Conversation;
use super::extensions::State;
use super::facts::Facts;
use super::jobs::Writes;
use super::look::Look;
use super::opening::{Parts, Seen};
use super::say::When;
use super::{App, Message, Start};
use crate::completing::{Completer, Sources};
use crate::editor::Editor;
use crate::keys::{ActionId, DoublePress};
use crate::markdown::run::fit_line;
use crate::screen::{FullScreen, Screen, rule};
use crate::text::{clean, human};
use crate::theme::Role;
use crate::transcript::Block;

impl App {
    /// A conversation, and what it is to be told.
    pub(super) fn new(start: Start, parts: Parts) -> (App, Receiver<Message>) {
        let Start { agent, host, runtime, said, notices, user_cwd, graphics, opens_sessions, extensions } =
            start;
        let Parts { look, background, channel, home, size, seen } = parts;
        let (columns, rows) = (size.0.max(1), size.1.max(1));
        let wishes = host.wishes(&agent.cwd());
        let conversation = agent.with_session(|session| Conversation::at_leaf(session));
        let sender = channel.sender.clone();
        agent.listen(move |event| sender.send(Message::Event(Arc::clone(event))).is_ok());
        let highlighter = Arc::clone(&look.highlighter);
        runtime.spawn_blocking(move || highlighter.load());
        let (screen, is_greeted, end) = match seen {
            Some(Seen { screen, leaf }) => (screen, true, leaf),
            None => (Screen::new(columns, rows), false, None),
        };
        let mut app = App {
            screen,
            hides_thinking: wishes.hides_thinking,
            facts: Facts::of(agent.cwd()),
            editor: Editor::new(),
            agent,
            host,
            runtime,
            messages: channel.sender,
            shared: channel.shared,
            look,
            wishes,
            columns,
            rows,
            conversation,
            full: FullScreen::new(),
            over: Vec::new(),
            parked: None,
            completer: Completer::new(),
            sources: Sources { commands: completion::commands(), ..Sources::default() },
            files: None,
            background,
            graphics,
            user_cwd,
            home,
            busy: None,
            is_summing_up: false,
            shell: None,
            waiting: Default::default(),
            escape: DoublePress::default(),
            clear: DoublePress::default(),
            hint: None,
            trouble: None,
            beside: None,
            drafts: None,
            draft_due: None,
            keeps_draft: false,
            is_leaving: false,
            is_handing_off: false,
            goes_to: None,
            typed_at: None,
            pressed_at: None,
            shared_revision: None,
            is_open: false,
            extensions: State::new(extensions),
            let_go: Vec::new(),
            asks: Asks::default(),
            question: None,
            effects: Vec::new(),
            writes: Writes::default(),
            leaving: None,
            is_stale: true,
            is_resized: false,
            resized_at: None,
        };
        app.take_up_draft();
        // The directory of the session may want another theme than the one where the user is.
        let (theme, problems) = app.host.theme(&app.wishes.theme, background);
        app.is_resized = is_greeted && theme != app.look.theme;
        app.look.theme = theme;
        if !is_greeted && !app.wishes.is_quiet {
            let greeting = greeting(&app.look, columns);
            app.conversation.print(greeting);
        }
        match end {
            Some(end) => app.go_on_below(end.as_deref()),
            None => app.print_session(),
        }
        app.tell_interruption();
        for notice in notices.into_iter().chain(problems) {
            app.say(Block::notice(&notice));
        }
        app.look_at_session();
        app.watch_files();
        app.ask_for_directory();
        app.begin_extensions();
        if opens_sessions {
            app.open_sessions();
        }
        if let Some(prompt) = said
            && let Err(error) = app.say_to_model(prompt, When::Soon)
        {
            app.say_wrong(&error);
        }
        (app, channel.receiver)
    }

    /// The end of what was said in the session before.
    fn print_session(&mut self) {
        let agent = self.agent.clone();
        let count = agent.with_session(|session| {
            let has_said = session.get_entries().any(|entry| entry.kind().is_conversation());
            if has_said { session.entry_count() } else { 0 }
        });
        if count == 0 {
            return;
        }
        let scene = App::drawn(&self.look, self.columns, self.is_open, self.hides_thinking);
        let printed = agent.with_session(|session| {
            let mut next = Conversation::at_leaf(session);
            next.print(self.conversation.take_said(&scene));
            let limit = self.wishes.replay_limit;
            let is_cut = session.get_branch(None).len() > limit;
            let printed = if is_cut { limit } else { count };
            let style = self.look.theme.style(Role::Border);
            next.print([rule(self.columns, &title(session, count, printed), style)]);
            let printed = next.print_end(session, limit, ROWS, &scene);
            self.conversation = next;
            printed
        });
        if let Err(error) = printed {
            self.say_wrong(&error);
        }
    }

    /// The session was printed up to the entry `end` before it was open: what stands below it is printed now.
    fn go_on_below(&mut self, end: Option<&str>) {
        let agent = self.agent.clone();
        let below = agent.with_session(|session| {
            let path = std::iter::successors(session.get_leaf_entry(), |entry| entry.parent());
            let end = end.and_then(|id| session.get_entry(id));
            let below = path.take(MOST_BELOW).position(|entry| Some(entry) == end);
            // Before the first entry there is nothing on any path.
            let below = below.or_else(|| (end.is_none() && session.get_leaf_entry().is_none()).then_some(0));
            Some(self.conversation.goes_on_at(session, below?))
        });
        match below {
            Some(Ok(())) => {}
            Some(Err(error)) => self.say_wrong(&error),
            // The end of the log led elsewhere than all of it.
            None => self.went(),
        }
    }

    /// Says that the last turn broke off, if it did.
    fn tell_interruption(&mut self) {
        match self.with_session(|session| ramal_agent::interruption(session)) {
            Ok(Some(open)) => self.say(Block::notice(&open.message())),
            Ok(None) => {}
            Err(error) => self.say_wrong(&error),
        }
    }
}

/// Rows of a session that are printed when it is opened, at most.
const ROWS: usize = 600;

/// Entries that may have been appended while a session was opened: what the options choose for it, and what
/// another program said meanwhile.
const MOST_BELOW: usize = 64;

/// A line that says what this is, and which keys lead on; and a blank one.
pub(super) fn greeting(look: &Look, columns: u16) -> [Line<'static>; 2] {
    let theme = &look.theme;
    let (accent, dim) = (theme.style(Role::Accent), theme.style(Role::Dim));
    let mut spans =
        vec![Span::styled("ramal", accent), Span::styled(format!(" {}", env!("CARGO_PKG_VERSION")), dim)];
    let keys = [
        (ActionId::Tree, "the tree"),
        (ActionId::OpenTranscript, "all that was said"),
        (ActionId::Hotkeys, "all keys"),
    ];
    for (action, what) in keys {
        if let Some(key) = look.keymap.hint(action) {
            spans.push(Span::styled(format!("  {key}"), accent));
            spans.push(Span::styled(format!(" {what}"), dim));
        }
    }
    spans.push(Span::styled("  /", accent));
    spans.push(Span::styled(" commands", dim));
    [fit_line(Line::from(spans), usize::from(columns)), Line::default()]
}

/// What stands above a session that is gone on with.
fn title(session: &SessionManager, count: usize, printed: usize) -> String {
    let name = session.get_session_name().map(|name| format!("{} · ", clean::one_line(&name, 60)));
    let entries = match count {
        1 => "1 entry".to_owned(),
        count => format!("{} entries", human::count(count as u64)),
    };
    let last = if printed < count {
        format!(", the last {} of this path", human::count(printed as u64))
    } else {
        String::new()
    };
    format!("{}{entries}{last}", name.unwrap_or_default())
}
