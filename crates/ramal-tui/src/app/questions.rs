//! Questions to the user, one at a time: in place of the editor, or at the foot of what covers the screen.

use ramal_session::json::{self, members};
use ratatui::layout::Position;
use tokio::sync::oneshot;

use super::asks::{Answer, Ask, Remembered, Waiting};
use super::extensions::dialogs;
use super::moves::SumUp;
use super::{App, Effect};
use crate::keys::Key;
use crate::question::{self, Choice, Permission, PermissionAnswer, Question, SummaryAnswer, Told};
use crate::scene::View;
use crate::text::says::called_on;

/// A question, and what is done with the answer.
pub(super) struct Asked {
    pub(super) question: Question,
    then: Then,
}

/// Takes an answer, or that there is none.
type Answered = dyn FnOnce(&mut App, Told) + Send;

/// What is done with an answer.
enum Then {
    /// This, also if there is none.
    Do(Box<Answered>),
    /// Whoever asked for a permission gets it, if somebody still waits.
    Permit { answers: Vec<PermissionAnswer>, sender: oneshot::Sender<Answer> },
    /// The extension that asked gets it.
    Dialog(dialogs::Waiting),
}

impl Asked {
    /// Whether nobody waits for the answer any more.
    fn is_over(&self) -> bool {
        match &self.then {
            Then::Do(_) => false,
            Then::Permit { sender, .. } => sender.is_closed(),
            Then::Dialog(dialog) => dialog.is_over(),
        }
    }

    /// Whether it came up while the user did something else.
    pub(super) fn came_by_itself(&self) -> bool {
        !matches!(self.then, Then::Do(_))
    }

    /// Whether it changes as time passes.
    pub(super) fn has_limit(&self) -> bool {
        matches!(&self.then, Then::Dialog(dialog) if dialog.has_limit())
    }

    /// It is drawn so now; `below` rows are taken by what stands below it.
    pub(super) fn settle(&mut self, columns: u16, rows: u16, below: usize) {
        let mut rows = rows;
        if let Then::Dialog(dialog) = &self.then {
            self.question.set_above(&dialog.above());
            // Who asks is seen, however much there is to choose from.
            let below = u16::try_from(below).unwrap_or(u16::MAX);
            rows = rows.saturating_sub(below).max(rows / 2);
        }
        self.question.resize(columns, rows);
    }
}

impl App {
    /// Asks something. `then` gets an answer, or that there is none.
    pub(super) fn question(
        &mut self,
        question: Question,
        then: impl FnOnce(&mut App, Told) + Send + 'static,
    ) {
        self.question = Some(Asked { question, then: Then::Do(Box::new(then)) });
        self.is_stale = true;
    }

    /// Somebody wants to know whether a tool may be run.
    pub(super) fn ask(&mut self, ask: Ask) {
        self.asks.push(Waiting::Tool(ask));
        self.is_stale = true;
        self.effects.push(Effect::Bell);
        if !self.over.is_empty() {
            self.notice("The model waits for a permission: close this to answer");
        }
        self.ask_next();
    }

    /// An extension asks something.
    pub(super) fn ask_dialog(&mut self, dialog: dialogs::Waiting) {
        self.asks.push(Waiting::Dialog(dialog));
        self.effects.push(Effect::Bell);
        self.ask_next();
    }

    /// Nobody is asked any more: whoever waits gets no answer.
    pub(super) fn ask_no_more(&mut self) {
        self.shared.end();
        self.asks.clear();
        self.question = None;
    }

    /// Puts the next question that waits to the user, if nothing is in the way.
    pub(super) fn ask_next(&mut self) {
        if self.question.as_ref().is_some_and(Asked::is_over) {
            self.question = None;
            self.is_stale = true;
        }
        if self.question.is_some() {
            return;
        }
        let ask = match self.asks.next(!self.over.is_empty()) {
            None => return,
            Some(Waiting::Tool(ask)) => ask,
            Some(Waiting::Dialog(dialog)) => {
                self.question = Some(Asked { question: dialog.question(), then: Then::Dialog(dialog) });
                self.full.forget();
                self.is_stale = true;
                return;
            }
        };
        let Ask { tool, reason, arguments, offered, answer: sender } = ask;
        let (shows, reason) = match json::get_str(arguments.as_bytes(), "command") {
            // It is shown whole, and need not be told twice.
            Some(command) => {
                let reason = reason.replace(&format!("run `{command}`"), "run this");
                (command.into_owned(), reason)
            }
            None => (asked_for(&tool, &arguments, &self.facts.cwd.to_string_lossy()), reason),
        };
        let offers = |remembered| offered.contains(&remembered).then_some("");
        let (question, answers) = question::permission(&Permission {
            tool: &tool,
            reason: &format!("The model wants to {reason}."),
            shows: &shows,
            for_session: offers(Remembered::Session),
            for_project: offers(Remembered::Project),
        });
        self.question = Some(Asked { question, then: Then::Permit { answers, sender } });
        self.is_stale = true;
    }

    /// Asks whether the branch that is left for an entry is to be summed up.
    pub(super) fn ask_for_summary(&mut self, id: &str) {
        let id = id.to_owned();
        self.question(question::summary(""), move |app, told| {
            // Without an answer one is back where it was chosen.
            let Some(answer) = SummaryAnswer::of(&told) else { return };
            let sum_up = match answer {
                SummaryAnswer::No => SumUp::No,
                SummaryAnswer::Yes => SumUp::Yes,
                SummaryAnswer::Focused(instructions) => SumUp::With(instructions),
            };
            app.go_from_here(&id, sum_up);
        });
    }

    /// Says that the directory of the session is gone, and asks where to go on.
    pub(super) fn ask_for_directory(&mut self) {
        let cwd = self.agent.cwd();
        if cwd.is_dir() {
            return;
        }
        let here = self.user_cwd.clone();
        let says = format!(
            "{} is not there any more. The conversation can be looked at; to go on, a copy of it needs a directory.",
            cwd.display()
        );
        let question = Question::new("Where is this session to go on?")
            .says(&says)
            .option(Choice::new("Here").key('h').says(&here.display().to_string()))
            .option(Choice::new("In another directory").key('d').line("DIRECTORY", ""))
            .option(Choice::new("Only look").key('l').says("nothing can be said or run"))
            .back("only look");
        self.question(question, move |app, told| match told {
            Told::Answer { option: 0, .. } => app.move_session(&here.to_string_lossy()),
            Told::Answer { option: 1, text: Some(text) } if !text.trim().is_empty() => {
                app.move_session(text.trim());
            }
            _ => app.hint = Some("/move DIRECTORY goes on elsewhere, at any time".into()),
        });
    }

    pub(super) fn question_key(&mut self, key: Key) {
        let Some(asked) = &mut self.question else { return };
        let told = asked.question.key(&self.look.keymap, key);
        self.question_told(told);
    }

    /// Something was pasted. Answers whether the question takes it.
    pub(super) fn question_paste(&mut self, text: &str) -> bool {
        let Some(asked) = &mut self.question else { return false };
        let told = asked.question.paste(text);
        let is_taken = told != Told::Nothing;
        self.question_told(told);
        is_taken
    }

    fn question_told(&mut self, told: Told) {
        self.is_stale = true;
        match told {
            Told::Nothing | Told::Redraw => {}
            Told::Suspend => self.effects.push(Effect::Suspend),
            Told::Hotkeys => self.open_hotkeys(),
            Told::External => self.effects.push(Effect::ExternalEditor),
            Told::Answer { .. } | Told::Back => {
                match self.question.take().map(|asked| asked.then) {
                    Some(Then::Do(then)) => then(self, told),
                    Some(Then::Permit { answers, sender }) => {
                        let answer = PermissionAnswer::of(&told, &answers).unwrap_or(PermissionAnswer::No);
                        // The turn may just have been ended.
                        let _ = sender.send(granted(answer));
                    }
                    Some(Then::Dialog(dialog)) => dialog.answer(&told),
                    None => {}
                }
                self.ask_next();
            }
        }
    }

    /// Puts the question at the foot of what covers the screen.
    pub(super) fn with_question(&mut self, mut view: View) -> View {
        if self.shows_hotkeys() {
            return view;
        }
        let Some(asked) = &mut self.question else { return view };
        asked.settle(self.columns, self.rows, 0);
        let (lines, cursor) = asked.question.lines(self.columns, &self.look.theme, &self.look.keymap);
        let room = usize::from(self.rows);
        let skip = lines.len().saturating_sub(room);
        view.lines.truncate(room - (lines.len() - skip));
        let top = view.lines.len();
        view.lines.extend(lines.into_iter().skip(skip));
        view.cursor = cursor.and_then(|cursor| {
            let row = (usize::from(cursor.row) + top).checked_sub(skip)?;
            Some(Position::new(cursor.column, u16::try_from(row).ok()?))
        });
        view
    }
}

/// What a tool is called on, and below it what it would write, or put in the place of what.
fn asked_for(tool: &str, arguments: &str, cwd: &str) -> String {
    let mut shows = called_on(tool, arguments, cwd);
    let mut add = |object: &[u8], key: &str, mark: &str| {
        let text = json::get_str(object, key);
        for line in text.iter().flat_map(|text| text.lines()) {
            shows += &format!("\n{mark}{line}");
        }
    };
    let arguments = arguments.as_bytes();
    add(arguments, "content", "");
    let edits = json::get(arguments, "edits").unwrap_or_default();
    for edit in std::iter::once(arguments).chain(members::items(edits)) {
        add(edit, "oldText", "- ");
        add(edit, "newText", "+ ");
    }
    shows
}

fn granted(answer: PermissionAnswer) -> Answer {
    let remembered = match answer {
        PermissionAnswer::No => return Answer::default(),
        PermissionAnswer::Once => None,
        PermissionAnswer::Session => Some(Remembered::Session),
        PermissionAnswer::Project => Some(Remembered::Project),
    };
    Answer { is_yes: true, remembered }
}
