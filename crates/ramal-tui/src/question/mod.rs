//! What is asked on the main screen, between the conversation and the footer: a title, options, and where an
//! option wants it, something that is written.
//!
//! One type serves whoever asks: the program before it moves, deletes or runs something, and extensions. The
//! questions of the program itself are made in one place, with what their options mean: [`summary`],
//! [`permission`].

mod draw;
mod option;
mod presets;
mod search;

pub use option::Choice;
pub use presets::{Permission, PermissionAnswer, SummaryAnswer, permission, summary};

use crate::keys::{ActionId, Key, Keymap, Place};
use crate::typing::{Typed, Typing};
use draw::Shares;

/// A question.
#[derive(Debug, Clone)]
pub struct Question {
    title: String,
    /// What is said below the title.
    says: String,
    /// What the question is about, word for word.
    shown: String,
    options: Vec<Choice>,
    selected: usize,
    /// What is searched for among the options; none where they are chosen by their numbers.
    search: Option<Typing>,
    /// Who asks, and what else is said in the line above.
    above: String,
    /// Whether the text of the selected option is being written.
    is_writing: bool,
    /// Whether there is nothing but something to write.
    is_bare: bool,
    /// What Escape means, in a word.
    back: String,
    /// Whether all is shown of `shown`, and how many of its rows are scrolled away.
    shows_all: bool,
    top: usize,
    columns: usize,
    rows: usize,
}

/// What a key asks of whoever asks the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Nothing is to be drawn again.
    Nothing,
    /// Something is.
    Redraw,
    /// An option was chosen.
    Answer {
        /// Which one, from 0.
        option: usize,
        /// What was written, if it is an option with which something is written.
        text: Option<String>,
    },
    /// There is to be no answer.
    Back,
    /// The program is to be suspended.
    Suspend,
    /// All keys are to be shown.
    Hotkeys,
    /// What is being written is to be given to the user's own editor.
    External,
}

impl Question {
    /// A question without options; it can only be left.
    pub fn new(title: &str) -> Question {
        Question {
            title: title.to_owned(),
            says: String::new(),
            shown: String::new(),
            options: Vec::new(),
            selected: 0,
            search: None,
            above: String::new(),
            is_writing: false,
            is_bare: false,
            back: "back".into(),
            shows_all: false,
            top: 0,
            columns: 80,
            rows: 24,
        }
    }

    /// One of several texts.
    pub fn select<'a>(title: &str, options: impl IntoIterator<Item = &'a str>) -> Question {
        let mut question = Question::new(title);
        question.options.extend(options.into_iter().map(Choice::new));
        question
    }

    /// Yes, option 0, or no, option 1; as long as nothing is chosen it is no.
    pub fn yes_no(title: &str, says: &str, yes: &str, no: &str) -> Question {
        Question::new(title)
            .says(says)
            .option(Choice::new(yes).key('y'))
            .option(Choice::new(no).key('n'))
            .selected(1)
            .back(no)
    }

    /// A line to be written; it is the text of option 0.
    pub fn input(title: &str, placeholder: &str, prefill: &str) -> Question {
        Question::bare(title, Choice::new(title).line(placeholder, prefill))
    }

    /// A text of several lines to be written; it is that of option 0.
    pub fn editor(title: &str, placeholder: &str, prefill: &str) -> Question {
        Question::bare(title, Choice::new(title).text(placeholder, prefill))
    }

    fn bare(title: &str, option: Choice) -> Question {
        Question { is_bare: true, is_writing: true, ..Question::new(title).option(option) }
    }

    /// The same, with this said below the title.
    #[must_use]
    pub fn says(mut self, text: &str) -> Question {
        text.clone_into(&mut self.says);
        self
    }

    /// The same, about this text, which is shown as it is: its first rows, and all of it when that is wanted.
    #[must_use]
    pub fn shows(mut self, text: &str) -> Question {
        text.clone_into(&mut self.shown);
        self
    }

    /// The same, with one more option.
    #[must_use]
    pub fn option(mut self, option: Choice) -> Question {
        self.options.push(option);
        self.fit_editors();
        self
    }

    /// The same, with this option selected at first.
    #[must_use]
    pub fn selected(mut self, option: usize) -> Question {
        self.selected = option.min(self.options.len().saturating_sub(1));
        self
    }

    /// The same, with a word for what it means to leave it.
    #[must_use]
    pub fn back(mut self, says: &str) -> Question {
        self.back = crate::text::clean::name(says).to_lowercase();
        self
    }

    /// Says who asks, or what else is to stand in the line above it.
    pub fn set_above(&mut self, text: &str) {
        self.above = crate::text::clean::name(text);
    }

    /// The text of several lines that is being written.
    pub fn written(&self) -> Option<String> {
        self.typing().filter(|typing| !typing.is_one_line()).map(Typing::text)
    }

    /// Puts another text in its place.
    pub fn rewrite(&mut self, text: &str) {
        if let Some(typing) = self.typing_mut() {
            typing.replace(text);
        }
    }

    /// Says how wide it is drawn, and how many rows it may take.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        (self.columns, self.rows) = (usize::from(columns.max(1)), usize::from(rows.max(1)));
        self.fit_editors();
    }

    fn fit_editors(&mut self) {
        let (columns, rows) = (draw::editor_columns(self.columns), (self.rows / 2).max(1));
        for typing in self.options.iter_mut().filter_map(|option| option.writes.as_mut()) {
            typing.resize(columns, rows);
        }
    }

    /// Whether something is being written, so that a letter is a letter.
    pub fn is_writing(&self) -> bool {
        self.is_writing
    }

    fn typing(&self) -> Option<&Typing> {
        self.options.get(self.selected).filter(|_| self.is_writing).and_then(|option| option.writes.as_ref())
    }

    fn typing_mut(&mut self) -> Option<&mut Typing> {
        let is_writing = self.is_writing;
        self.options.get_mut(self.selected).filter(|_| is_writing).and_then(|option| option.writes.as_mut())
    }

    /// A key was pressed.
    pub fn key(&mut self, keymap: &Keymap, key: Key) -> Told {
        match keymap.action(Place::Everywhere, key) {
            Some(ActionId::Suspend) => return Told::Suspend,
            Some(ActionId::Hotkeys) => return Told::Hotkeys,
            Some(ActionId::Redraw) => return Told::Redraw,
            _ => {}
        }
        if keymap.action(Place::Conversation, key) == Some(ActionId::ExpandTools) && !self.shown.is_empty() {
            (self.shows_all, self.top) = (!self.shows_all, 0);
            return Told::Redraw;
        }
        if let Some(typing) = self.typing_mut() {
            let is_external = keymap.action(Place::Editor, key) == Some(ActionId::ExternalEditor);
            if is_external && !typing.is_one_line() {
                return Told::External;
            }
            let typed = typing.key(keymap, key);
            return self.typed(typed);
        }
        if let Some(told) = self.search_key(keymap, key) {
            return told;
        }
        if let Some(option) = key.typed().and_then(|letter| self.option_of(letter)) {
            return self.choose(option);
        }
        match keymap.action(Place::List, key) {
            Some(action) => self.act(action),
            None => Told::Nothing,
        }
    }

    /// Something was pasted. It is no answer, unless something is being written.
    pub fn paste(&mut self, text: &str) -> Told {
        match self.typing_mut() {
            Some(typing) => typing.paste(text),
            None => return Told::Nothing,
        }
        Told::Redraw
    }

    fn typed(&mut self, typed: Typed) -> Told {
        match typed {
            Typed::Nothing => Told::Nothing,
            Typed::Changed => Told::Redraw,
            Typed::Done => {
                let text = self.typing().map(Typing::text);
                Told::Answer { option: self.selected, text }
            }
            Typed::Left if self.is_bare => Told::Back,
            // What was written stays for the case that one comes back to it.
            Typed::Left => {
                self.is_writing = false;
                Told::Redraw
            }
        }
    }

    /// The option that a letter chooses: by its own key, or by its number.
    fn option_of(&self, letter: char) -> Option<usize> {
        let small = letter.to_lowercase().next().unwrap_or(letter);
        let own = self.options.iter().position(|option| option.key == Some(small));
        let number = letter.to_digit(10).and_then(|number| (number as usize).checked_sub(1));
        own.or(number.filter(|number| *number < self.options.len()))
    }

    fn choose(&mut self, option: usize) -> Told {
        self.selected = option;
        match self.options.get(option) {
            None => Told::Nothing,
            Some(option) if option.writes.is_some() => {
                self.is_writing = true;
                Told::Redraw
            }
            Some(_) => Told::Answer { option, text: None },
        }
    }

    fn act(&mut self, action: ActionId) -> Told {
        match action {
            ActionId::Up | ActionId::Down | ActionId::First | ActionId::Last => self.step(action),
            ActionId::PageUp => self.page(false),
            ActionId::PageDown => self.page(true),
            ActionId::Confirm if !self.has_selected() => return Told::Nothing,
            ActionId::Confirm => return self.choose(self.selected),
            ActionId::Cancel => return Told::Back,
            _ => return Told::Nothing,
        }
        Told::Redraw
    }

    /// A page of what is shown, if there is more of it than fits; else of the options.
    fn page(&mut self, forward: bool) {
        let shares = Shares::of(self, self.columns);
        let found = self.found();
        let selected = found.iter().position(|index| *index == self.selected).unwrap_or(0);
        let (at, step, end) = match shares.scrolls {
            Some((seen, all)) => (self.top, seen, all - seen),
            None => (selected, shares.answers.max(1), found.len().saturating_sub(1)),
        };
        let to = if forward { (at + step).min(end) } else { at.saturating_sub(step) };
        match shares.scrolls {
            Some(_) => self.top = to,
            None => self.selected = found.get(to).copied().unwrap_or(self.selected),
        }
    }
}

#[cfg(test)]
mod tests;
