//! What comes from the terminal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyModifiers};

use super::Answers;
use super::torn::{self, Torn};
use crate::keys::Key;
use crate::theme::{Background, Rgb};

/// Something that came from the terminal, or happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted: as it came, whatever is in it.
    Paste(String),
    /// The window has so many columns and rows now.
    Resize(u16, u16),
    /// The window has the focus.
    FocusGained,
    /// The window has it no longer.
    FocusLost,
    /// The terminal has told the colour of its background, late.
    Background(Rgb),
    /// The process goes on after it was stopped: everything is to be drawn anew, maybe in another size.
    Resumed,
    /// A signal says that the program is to end. The terminal has been left already.
    Quit(i32),
    /// Nothing comes any more.
    Closed,
}

/// Whom input is told; false if nobody listens any more.
pub(super) type Listener = Arc<dyn Fn(Input) -> bool + Send + Sync>;

/// How often a thread that waits for keys looks whether it still should.
const LOOK: Duration = Duration::from_millis(100);

/// The thread that reads. It ends when this is dropped, or when nobody listens any more.
#[derive(Debug)]
pub struct InputThread {
    control: Arc<Control>,
}

#[derive(Debug, Default)]
struct Control {
    is_over: AtomicBool,
    /// How many want that nothing is read.
    pauses: AtomicUsize,
    is_resting: AtomicBool,
}

/// Nothing is read until this is dropped.
#[derive(Debug)]
pub struct Pause {
    control: Arc<Control>,
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.control.pauses.fetch_sub(1, Ordering::SeqCst);
    }
}

impl InputThread {
    pub(super) fn start(answers: Answers, send: Listener) -> io::Result<InputThread> {
        let control = Arc::new(Control::default());
        let thread_control = Arc::clone(&control);
        let mut late = LateAnswer::new(answers);
        thread::Builder::new().name("input".into()).spawn(move || {
            if read(&thread_control, &mut late, send.as_ref()).is_err() {
                send(Input::Closed);
            }
        })?;
        Ok(InputThread { control })
    }

    /// Leaves what is typed to another program until the answer is dropped. Waits until nobody reads here,
    /// but not for long: a read that hangs in the middle of a key is not worth it.
    pub fn pause(&self) -> Pause {
        self.control.pauses.fetch_add(1, Ordering::SeqCst);
        let start = Instant::now();
        while !self.control.is_resting.load(Ordering::SeqCst) && start.elapsed() < 3 * LOOK {
            thread::sleep(Duration::from_millis(5));
        }
        Pause { control: Arc::clone(&self.control) }
    }
}

impl Drop for InputThread {
    fn drop(&mut self) {
        self.control.is_over.store(true, Ordering::SeqCst);
    }
}

/// Reads until nobody listens.
fn read(control: &Control, late: &mut LateAnswer, send: &dyn Fn(Input) -> bool) -> io::Result<()> {
    let mut torn = Torn::default();
    while !control.is_over.load(Ordering::SeqCst) {
        let rests = control.pauses.load(Ordering::SeqCst) > 0;
        control.is_resting.store(rests, Ordering::SeqCst);
        if rests {
            thread::sleep(LOOK / 4);
            continue;
        }
        let wait = if torn.is_waiting() { torn::WAIT } else { LOOK };
        let inputs = if event::poll(wait)? {
            late.pass(event::read()?).into_iter().flat_map(|input| torn.pass(input)).collect()
        } else if torn.is_waiting() {
            torn.give_up()
        } else {
            late.give_up()
        };
        if !inputs.into_iter().all(send) {
            break;
        }
    }
    Ok(())
}

/// What an event means; nothing if it means nothing here.
fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(event) => Key::of(event).map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(columns, rows) => Some(Input::Resize(columns, rows)),
        Event::FocusGained => Some(Input::FocusGained),
        Event::FocusLost => Some(Input::FocusLost),
        Event::Mouse(_) => None,
    }
}

/// Keeps an answer that comes after its time from being typed. Over a slow line the terminal tells its
/// background when keys are read already, and its answer looks like Alt+] and some letters.
#[derive(Debug)]
pub(super) struct LateAnswer {
    is_awaited: bool,
    held: Vec<Key>,
}

/// What such an answer begins with, as keys.
const BEGINNING: &str = "]11;";

/// The most characters of such an answer.
const LONGEST: usize = 40;

impl LateAnswer {
    pub(super) fn new(answers: Answers) -> LateAnswer {
        LateAnswer { is_awaited: !answers.is_complete, held: Vec::new() }
    }

    /// Takes an event in; what comes out is meant.
    pub(super) fn pass(&mut self, event: Event) -> Vec<Input> {
        match input(event) {
            Some(Input::Key(key)) if self.is_awaited => self.key(key),
            Some(other) => {
                let mut inputs = self.give_up();
                inputs.push(other);
                inputs
            }
            None => Vec::new(),
        }
    }

    /// What was held back for an answer that does not come.
    pub(super) fn give_up(&mut self) -> Vec<Input> {
        self.held.drain(..).map(Input::Key).collect()
    }

    fn key(&mut self, key: Key) -> Vec<Input> {
        let alt = |c| Key::new(KeyCode::Char(c), KeyModifiers::ALT);
        let ctrl = |c| Key::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        if self.held.is_empty() && key != alt(']') {
            return vec![Input::Key(key)];
        }
        let ends = key == alt('\\') || key == ctrl('g');
        if ends && self.text().starts_with(BEGINNING) {
            self.is_awaited = false;
            let color = Background::parse_answer(self.text().as_bytes());
            self.held.clear();
            return color.map(Input::Background).into_iter().collect();
        }
        self.held.push(key);
        let text = self.text();
        let is_answer = text.starts_with(BEGINNING) || BEGINNING.starts_with(&text);
        if is_answer && self.held.len() <= LONGEST { Vec::new() } else { self.give_up() }
    }

    fn text(&self) -> String {
        let letter = |key: &Key| match key.code {
            KeyCode::Char(c) => Some(key.typed().unwrap_or(c)),
            _ => None,
        };
        self.held.iter().filter_map(letter).collect()
    }
}
