//! Terminals that are none: what is written to them, and what they answer.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

use super::input::LateAnswer;
use super::{Answers, CursorShape, Device, Input, Options, StartError, Terminal, panic, probe, sequences};
use crate::keys::Key;
use crate::theme::Rgb;

/// What a device was told, a line each.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().expect("the log").push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("the log"))
    }
}

#[derive(Debug)]
struct Fake {
    log: Log,
    answers: VecDeque<&'static [u8]>,
    /// After so many writes nothing is taken any more.
    writes_left: usize,
}

impl Device for Fake {
    fn set_raw(&mut self, raw: bool) -> io::Result<()> {
        self.log.add(if raw { "raw" } else { "cooked" });
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.writes_left == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.writes_left -= 1;
        self.log.add(bytes.escape_ascii().to_string());
        Ok(())
    }

    fn read(&mut self, _: Duration, into: &mut Vec<u8>) -> io::Result<bool> {
        let Some(answer) = self.answers.pop_front() else { return Ok(false) };
        into.extend_from_slice(answer);
        Ok(true)
    }
}

fn fake(answers: &[&'static [u8]], writes_left: usize) -> (Log, Result<Terminal, StartError>) {
    let log = Log::default();
    let fake = Fake { log: log.clone(), answers: answers.iter().copied().collect(), writes_left };
    (log, Terminal::with_device(Box::new(fake), &Options::default()))
}

const KITTY: &[&[u8]] = &[b"\x1b[?0u\x1b]11;rgb:ffff/ffff/ffff\x1b\\", b"\x1b[?62;4c"];

const QUESTIONS: &str = r"\x1b[?u\x1b]11;?\x1b\\\x1b[c";
/// What leaving writes on a terminal without kitty's protocol where nothing else was turned on.
const LEFT: &str = r"\x1b[?2026l\x1b[0m\x1b[?2004l\x1b[?25h";
const LEFT_KITTY: &str = r"\x1b[?2026l\x1b[0m\x1b[<1u\x1b[?2004l\x1b[?25h";

#[track_caller]
fn simple() -> (Log, Terminal) {
    let (log, terminal) = fake(&[], usize::MAX);
    let terminal = terminal.expect("a terminal");
    log.take();
    (log, terminal)
}

#[test]
fn a_simple_terminal_gets_what_all_have_and_is_left_once() {
    let (log, terminal) = fake(&[], usize::MAX);
    let terminal = terminal.expect("a terminal");
    assert_eq!(log.take(), ["raw", QUESTIONS, r"\x1b[?2004h"]);
    assert!(!terminal.answers().is_complete);
    terminal.leave().expect("left");
    assert_eq!(log.take(), [LEFT, "cooked"], "leaving and dropping are one");
}

#[test]
fn kittys_protocol_is_turned_on_only_where_it_is_known() {
    let (log, terminal) = fake(KITTY, usize::MAX);
    let terminal = terminal.expect("a terminal");
    assert_eq!(log.take().last().map(String::as_str), Some(r"\x1b[?2004h\x1b[>1u"));
    assert_eq!(
        terminal.answers(),
        Answers { keyboard: true, background: Some(Rgb(255, 255, 255)), is_complete: true }
    );
    drop(terminal);
    assert_eq!(log.take(), [LEFT_KITTY, "cooked"]);
}

#[test]
fn a_frame_is_one_write() {
    let (log, terminal) = simple();
    let mut writer = terminal.writer();
    writer.show_cursor(false);
    write!(writer, "one\r\n").expect("collected");
    write!(writer, "two").expect("collected");
    assert_eq!(log.take(), Vec::<String>::new(), "nothing is seen before the frame is whole");
    writer.flush().expect("sent");
    assert_eq!(log.take(), [r"\x1b[?2026h\x1b[?25lone\r\ntwo\x1b[?2026l"]);
    writer.flush().expect("nothing to send");
    assert_eq!(log.take(), Vec::<String>::new());
}

#[test]
fn all_that_frames_turned_on_is_turned_off() {
    let (log, terminal) = fake(KITTY, usize::MAX);
    let terminal = terminal.expect("a terminal");
    log.take();
    let mut writer = terminal.writer();
    writer.alternate_screen(true);
    writer.cursor_shape(CursorShape::Bar);
    writer.show_cursor(false);
    writer.title("a \x1b]0;b");
    writer.title("c");
    writer.set_parting("\x1b[7;1H");
    writer.flush().expect("sent");
    let title = r"\x1b[22;2t\x1b]2;a \xe2\x90\x9b]0;b\x1b\\\x1b]2;c\x1b\\";
    let sent = format!(r"\x1b[?2026h\x1b[?1049h\x1b[>1u\x1b[6 q\x1b[?25l{title}\x1b[?2026l");
    assert_eq!(log.take(), [sent]);
    writer.title("d");
    drop(terminal);
    let left =
        r"\x1b[?2026l\x1b[<1u\x1b[?1049l\x1b[0m\x1b[7;1H\x1b[<1u\x1b[?2004l\x1b[0 q\x1b[23;2t\x1b[?25h";
    assert_eq!(log.take(), [left, "cooked"]);
    writer.flush().expect("dropped");
    assert_eq!(log.take(), Vec::<String>::new(), "a late frame does not land in the user's shell");
}

#[test]
fn a_program_that_borrows_the_terminal_finds_it_clean() {
    let (log, terminal) = fake(KITTY, usize::MAX);
    let terminal = terminal.expect("a terminal");
    let mut writer = terminal.writer();
    writer.alternate_screen(true);
    writer.flush().expect("sent");
    log.take();
    terminal
        .lend(None, || {
            log.add("editor");
            write!(writer, "x").and_then(|()| writer.flush()).expect("dropped");
        })
        .expect("taken back");
    let away = r"\x1b[?2026l\x1b[<1u\x1b[?1049l\x1b[0m\x1b[<1u\x1b[?2004l\x1b[?25h";
    let back = r"\x1b[?2004h\x1b[>1u\x1b[?1049h\x1b[>1u";
    assert_eq!(log.take(), [away, "cooked", "editor", "raw", back]);
}

#[test]
fn who_comes_back_to_a_terminal_that_was_left_takes_nothing() {
    let (log, terminal) = simple();
    assert!(terminal.shared.step_aside());
    assert!(!terminal.shared.step_aside(), "one cannot step aside twice");
    terminal.shared.leave_within(Duration::ZERO);
    log.take();
    terminal.shared.come_back().expect("nothing to do");
    drop(terminal);
    assert_eq!(log.take(), Vec::<String>::new());
}

#[test]
fn an_error_on_the_way_leaves_nothing_turned_on() {
    for writes in 0..2 {
        let (log, terminal) = fake(&[], writes);
        assert!(matches!(terminal, Err(StartError::Io(_))), "{writes}");
        let told = log.take();
        assert_eq!(told.first().map(String::as_str), Some("raw"));
        assert_eq!(told.iter().filter(|line| *line == "cooked").count(), 1, "{told:?}");
    }
}

#[test]
fn the_drawing_threads_panic_leaves_the_terminal_and_anothers_does_not() {
    let (log, terminal) = simple();
    let shared = Arc::clone(&terminal.shared);
    std::thread::spawn(move || assert!(panic::on_panic(&shared, "elsewhere".into()))).join().expect("joined");
    assert_eq!(log.take(), Vec::<String>::new());
    assert!(panic::on_panic(&terminal.shared, "here".into()));
    assert_eq!(log.take(), [LEFT, "cooked"]);
    assert!(!panic::on_panic(&terminal.shared, "too late".into()), "the hook before is to say it");
}

#[test]
fn a_terminal_that_is_held_does_not_hold_up_a_panic() {
    let (_, terminal) = simple();
    let shared = Arc::clone(&terminal.shared);
    let _ = terminal.shared.write_frame(b"", |_| shared.leave_within(Duration::from_millis(20)));
    assert!(!terminal.shared.has_title(), "the lock is free again");
}

#[test]
fn copying_goes_through_the_terminal_and_through_tmux() {
    let copied = sequences::copy("häa", false).expect("short");
    assert_eq!(copied, "\x1b]52;c;aMOkYQ==\x1b\\");
    let copied = sequences::copy("a", true).expect("short");
    assert_eq!(copied, "\x1b]52;c;YQ==\x1b\\\x1bPtmux;\x1b\x1b]52;c;YQ==\x1b\x1b\\\x1b\\");
    let long = "x".repeat(sequences::MOST_COPIED + 1);
    assert_eq!(sequences::copy(&long, false).map_err(|error| error.bytes), Err(long.len()));
}

#[test]
fn a_title_is_one_harmless_line() {
    assert_eq!(sequences::title("a\nb\x07c"), "\x1b]2;a b␇c\x1b\\");
    let long = sequences::title(&"x".repeat(1000));
    assert!(long.len() < 220 && long.ends_with("…\x1b\\"), "{long}");
}

#[test]
fn what_was_typed_between_the_answers_is_kept() {
    let (answers, rest) = Answers::parse(b"hi\x1b[?1u\r\x1b]11;rgb:0/0/0\x07\xc3\xa4\x1b[?62;22cx");
    assert!(answers.keyboard && answers.is_complete);
    assert_eq!(answers.background, Some(Rgb(0, 0, 0)));
    let keys = probe::typed(&rest);
    let names: Vec<String> = keys.iter().map(|key| key.file_name()).collect();
    assert_eq!(names, ["h", "i", "enter", "ä", "x"]);
    let names: Vec<String> =
        probe::typed(b"\x03\x1b[1;5A\x7f\t\x1b").iter().map(|key| key.file_name()).collect();
    assert_eq!(names, ["ctrl+c", "backspace", "tab", "escape"]);
}

#[test]
fn half_an_answer_is_no_answer() {
    let (answers, rest) = Answers::parse(b"\x1b[?1");
    assert_eq!((answers, rest.len()), (Answers::default(), 4));
    let (answers, _) = Answers::parse(b"\x1b]11;rgb:0/0");
    assert_eq!(answers.background, None);
}

#[test]
fn early_keys_come_first() {
    let (_, terminal) = fake(&[b"a\x1b[?6cb"], usize::MAX);
    let terminal = terminal.expect("a terminal");
    assert_eq!(terminal.early.iter().map(|key| key.to_string()).collect::<String>(), "AB");
}

fn pressed(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

fn letters(text: &str) -> impl Iterator<Item = Event> + '_ {
    text.chars().map(|c| pressed(KeyCode::Char(c), KeyModifiers::NONE))
}

fn alt(c: char) -> Event {
    pressed(KeyCode::Char(c), KeyModifiers::ALT)
}

fn key(name: &str) -> Input {
    Input::Key(name.parse::<Key>().expect("a name"))
}

#[test]
fn a_late_answer_is_not_typed() {
    for end in [alt('\\'), pressed(KeyCode::Char('g'), KeyModifiers::CONTROL)] {
        let mut late = LateAnswer::new(Answers::default());
        let events = letters("a").chain([alt(']')]).chain(letters("11;rgb:FfFf/0000/0000")).chain([end]);
        let inputs: Vec<Input> = events.chain(letters("b")).flat_map(|event| late.pass(event)).collect();
        assert_eq!(inputs, [key("a"), Input::Background(Rgb(255, 0, 0)), key("b")]);
    }
}

#[test]
fn what_only_looks_like_an_answer_is_typed() {
    let mut late = LateAnswer::new(Answers::default());
    let events = [alt(']')].into_iter().chain(letters("12"));
    let inputs: Vec<Input> = events.flat_map(|event| late.pass(event)).collect();
    assert_eq!(inputs, [key("alt+]"), key("1"), key("2")]);
    assert_eq!(late.pass(alt(']')), []);
    assert_eq!(late.give_up(), [key("alt+]")], "when nothing follows");

    let mut late = LateAnswer::new(Answers { is_complete: true, ..Answers::default() });
    assert_eq!(late.pass(alt(']')), [key("alt+]")]);
    assert_eq!(late.pass(Event::Paste("\x1b[31m\r\n".into())), [Input::Paste("\x1b[31m\r\n".into())]);
    assert_eq!(late.pass(Event::Resize(80, 24)), [Input::Resize(80, 24)]);
}

proptest! {
    #[test]
    fn no_key_is_lost_while_an_answer_is_awaited(text in "[\\]1;a\\\\]{0,80}", alts in any::<u64>()) {
        let events: Vec<Event> = text.chars().enumerate().map(|(index, c)| {
            let modifiers = if alts >> (index % 64) & 1 == 1 { KeyModifiers::ALT } else { KeyModifiers::NONE };
            pressed(KeyCode::Char(c), modifiers)
        }).collect();
        let mut late = LateAnswer::new(Answers::default());
        let mut inputs: Vec<Input> = events.iter().cloned().flat_map(|event| late.pass(event)).collect();
        inputs.extend(late.give_up());
        prop_assume!(!text.contains("11;"));
        prop_assert_eq!(inputs.len(), events.len());
    }

    #[test]
    fn answers_are_found_in_anything(bytes: Vec<u8>) {
        let (_, rest) = Answers::parse(&bytes);
        prop_assert!(rest.len() <= bytes.len());
        let _ = probe::typed(&rest);
    }
}
