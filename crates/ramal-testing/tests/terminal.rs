//! The terminal of the tests, tried with programs that are everywhere.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use ramal_testing::program::Scratch;
use ramal_testing::screens;
use ramal_testing::terminal::{Frames, Happened, Options, Signal, Terminal, moving_picture, picture};

/// A shell that runs this, in a folder of its own.
fn run(script: &str, options: Options) -> (Scratch, Terminal) {
    let scratch = Scratch::new("sh");
    let mut command = scratch.bare();
    command.args(["-c", script]);
    let terminal = Terminal::start(command, options);
    (scratch, terminal)
}

/// Prints what is asked, and the bytes that come, as hexadecimal numbers: so many of them.
fn bytes_that_come(asked: &str, count: usize) -> String {
    let dump = format!("dd bs=1 count={count} 2>/dev/null | od -An -v -tx1");
    // The numbers need whole line ends, or they walk out of the screen.
    format!("stty raw -echo opost; printf '{asked}ready\\r\\n'; {dump}; printf '\\r\\nend'; stty sane")
}

fn hexadecimal(terminal: &mut Terminal) -> Vec<u8> {
    assert!(terminal.end().success());
    let text = terminal.main_screen().everything();
    let bytes = text.split("ready").nth(1).unwrap().split("end").next().unwrap().split_whitespace();
    bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[track_caller]
fn check_keys(asked: &str, options: Options, keys: &[&str], sent: &str) {
    let (_scratch, mut terminal) = run(&bytes_that_come(asked, sent.len()), options);
    terminal.wait_for_text("ready");
    terminal.keys(keys);
    assert_eq!(String::from_utf8(hexadecimal(&mut terminal)).unwrap(), sent);
}

#[test]
fn keys_arrive_in_the_legacy_form() {
    let keys = ["ctrl+left", "alt+enter", "shift+l", "esc", "up", "ctrl+c", "shift+enter", "é"];
    check_keys("", Options::new(80, 20).kitty(), &keys, "\x1b[1;5D\x1b\rL\x1b\x1b[A\x03\ré");
    check_keys("\\033[>1u", Options::new(80, 20), &keys, "\x1b[1;5D\x1b\rL\x1b\x1b[A\x03\ré");
}

#[test]
fn keys_arrive_in_the_form_that_was_asked_for() {
    let kitty = || Options::new(80, 20).kitty();
    let keys = ["ctrl+left", "alt+enter", "shift+l", "esc", "ctrl+c"];
    check_keys("\\033[>1u", kitty(), &keys, "\x1b[1;5D\x1b[13;3uL\x1b[27u\x1b[99;5u");
    check_keys("\\033[>1u\\033[<u", kitty(), &["esc", "ctrl+c"], "\x1b\x03");
    check_keys("\\033[?1h", kitty(), &["up", "home"], "\x1bOA\x1bOH");
}

#[test]
fn a_paste_is_in_brackets_if_they_were_asked_for() {
    for (asked, sent) in [("\\033[?2004h", "\x1b[200~a\rb\x1b[201~"), ("", "a\rb")] {
        let (_scratch, mut terminal) = run(&bytes_that_come(asked, sent.len()), Options::new(80, 20));
        terminal.wait_for_text("ready");
        terminal.paste("a\nb");
        assert_eq!(String::from_utf8(hexadecimal(&mut terminal)).unwrap(), sent);
    }
}

#[test]
fn a_long_paste_arrives_whole_while_nobody_reads_yet() {
    let script = "stty raw -echo; printf ready; read -r go < go; head -c 300000 | cksum; stty sane";
    let scratch = Scratch::new("sh");
    let mut command = scratch.bare();
    command.args(["-c", &format!("mkfifo go; {script}")]);
    let mut terminal = Terminal::start(command, Options::new(80, 20));
    terminal.wait_for_text("ready");
    terminal.text(&"0123456789".repeat(30_000));
    scratch_go(&scratch);
    assert!(terminal.end().success());
    assert!(terminal.screen().says(" 300000"), "{:?}", terminal.screen());
}

/// Opens the pipe that the script waits for.
fn scratch_go(scratch: &Scratch) {
    use std::io::Write;
    let mut pipe = std::fs::OpenOptions::new().write(true).open(scratch.path("go")).unwrap();
    pipe.write_all(b"go\n").unwrap();
}

#[test]
fn questions_are_answered() {
    let answer = |options: Options, asked: &str, sent: &str| {
        let (_scratch, mut terminal) = run(&bytes_that_come(asked, sent.len()), options);
        assert_eq!(String::from_utf8(hexadecimal(&mut terminal)).unwrap(), sent);
    };
    let all = "\\033[?u\\033[c\\033[3;4H\\033[6n\\033]11;?\\007\\033[?2026$p";
    let place = "\x1b[3;4R";
    let dark = "\x1b]11;rgb:1818/1818/1818\x1b\\\x1b[?2026;2$y";
    let light = "\x1b]11;rgb:fafa/fafa/fafa\x1b\\\x1b[?2026;2$y";
    answer(Options::new(80, 20), all, &format!("\x1b[?62;22c{place}{dark}"));
    answer(Options::new(80, 20).kitty().light(), all, &format!("\x1b[?0u\x1b[?62;22c{place}{light}"));
}

#[test]
fn a_silent_terminal_answers_nothing() {
    let asked = "\\033[?u\\033[c\\033[6n\\033]11;?\\007";
    check_keys(asked, Options::new(80, 20).kitty().silent(), &["x"], "x");
}

#[test]
fn the_size_is_seen_and_a_change_is_told() {
    let script = "trap 'stty size' WINCH; trap 'exit 0' TERM; stty size; while :; do read -r x; done";
    let (_scratch, mut terminal) = run(script, Options::new(60, 20));
    terminal.wait_for_text("20 60");
    terminal.resize(33, 11);
    // The shell runs its trap when the read is over, which the signal does not end in every shell.
    terminal.key("enter");
    terminal.wait_for_text("11 33");
    assert_eq!(terminal.screen().size(), (33, 11));
    terminal.signal(Signal::TERM);
    terminal.key("enter");
    assert!(terminal.end().success());
    let sizes = terminal
        .recording()
        .events
        .into_iter()
        .filter(|event| matches!(event.happened, Happened::Resize(33, 11)));
    assert_eq!(sizes.count(), 1);
}

#[test]
fn rows_go_to_the_scrollback_and_come_back_when_the_window_grows() {
    let script = "i=1; while [ $i -le 30 ]; do echo row $i; i=$((i+1)); done; printf prompt; read -r x";
    let (_scratch, mut terminal) = run(script, Options::new(20, 10));
    terminal.wait_for_text("prompt");
    let whole: Vec<String> = (1..=30).map(|row| format!("row {row}")).chain(["prompt".to_owned()]).collect();
    for (columns, rows) in [(20, 10), (20, 4), (20, 25), (9, 7), (100, 1), (20, 10)] {
        terminal.resize(columns, rows);
        assert_eq!(terminal.screen().everything(), whole.join("\n"), "{columns}×{rows}");
    }
    assert_eq!(terminal.screen().scrollback().len(), 21);
    let cursor = terminal.screen().cursor();
    assert_eq!((cursor.row, cursor.column, cursor.is_visible), (9, 6, true));
    terminal.key("enter");
    assert!(terminal.end().success());
}

#[test]
fn a_window_that_reflows_loses_nothing_while_it_is_dragged() {
    let script = "i=1; while [ $i -le 200 ]; do echo row $i of those that are written meanwhile; i=$((i+1)); done; read -r x";
    let (_scratch, mut terminal) = run(script, Options::new(40, 10).reflowing());
    for columns in (5..60).rev() {
        terminal.resize(columns, 10);
        std::thread::yield_now();
    }
    terminal.resize(60, 10);
    terminal.wait_for_text("row 200 of");
    let whole: Vec<String> =
        (1..=200).map(|row| format!("row {row} of those that are written meanwhile")).collect();
    terminal.wait_for(|screen| screen.everything() == whole.join("\n"));
    terminal.key("enter");
    assert!(terminal.end().success());
}

#[test]
fn what_is_on_the_screen() {
    let script = "printf '\\033]2;a title\\007plain \\033[1;31mbold red\\033[0m \\033[38;5;200;48;2;1;2;3mboth\\033[0m\\r\\n'
        printf '\\033[7minverse\\033[0m \\033[2;3;4mthree\\033[0m 漢字 \\033[32m漢\\033[0m|\\r\\n\\033[5;10Hhere\\033[?25l'";
    let (_scratch, mut terminal) = run(script, Options::new(40, 6));
    assert!(terminal.end().success());
    let screen = terminal.screen();
    assert_eq!(screen.title(), "a title");
    assert_eq!(screen.text(), "plain bold red both\ninverse three 漢字 漢|\n\n\n         here");
    assert_eq!(screen.row_of("here"), Some(4));
    let cursor = screen.cursor();
    assert_eq!((cursor.row, cursor.column, cursor.is_visible), (4, 13, false));
    screens::check("what-is-on-the-screen", &screen.styled());
    assert_eq!(terminal.left_behind(), ["the cursor is hidden"]);
    assert_eq!(terminal.bytes_written(), terminal.recording().output().len());
}

#[test]
fn the_alternate_screen_has_the_main_one_behind_it() {
    let script = "echo main; printf '\\033[?1049h\\033[Hother'; read -r x; printf '\\033[?1049l'";
    let (_scratch, mut terminal) = run(script, Options::new(40, 6));
    terminal.wait_for_text("other");
    assert!(terminal.screen().is_alternate());
    assert_eq!(terminal.main_screen().text(), "main");
    assert_eq!(terminal.left_behind(), ["the alternate screen is shown"]);
    terminal.key("enter");
    assert!(terminal.end().success());
    assert_eq!(terminal.screen().text(), "main");
    terminal.assert_clean();
}

#[test]
fn a_screen_that_is_being_made_is_not_looked_at() {
    let script = "printf '\\033[?2026hhalf'; read -r x; printf ' whole\\033[?2026l'; read -r x";
    let (_scratch, mut terminal) = run(&format!("stty -echo; {script}"), Options::new(40, 6));
    while !terminal.recording().output().ends_with(b"half") {
        std::thread::yield_now();
    }
    terminal.key("enter");
    let halves = std::cell::Cell::new(0);
    terminal.wait_for(|screen| {
        halves.set(halves.get() + usize::from(screen.text() == "half"));
        screen.says("half whole")
    });
    assert_eq!(halves.get(), 0);
    terminal.key("enter");
    assert!(terminal.end().success());
    let frames = Frames::of(&terminal.recording());
    assert!(!frames.screens().iter().any(|(_, screen)| screen.text() == "half"));
}

#[test]
fn a_program_that_is_killed_leaves_what_it_left() {
    let modes = "\\033[?1049h\\033[?2004h\\033[?1000h\\033[?1006h\\033[>1u\\033[?25l\\033[?2026h\\033[2;5r";
    let script = format!("stty raw -echo; printf '{modes}ready'; kill -9 $$");
    let (_scratch, mut terminal) = run(&script, Options::new(40, 6).kitty());
    assert_eq!(terminal.end_by_signal(), Some(9));
    let left = terminal.left_behind().join("\n");
    for words in [
        "ICANON",
        "ECHO",
        "ISIG",
        "OPOST",
        "ICRNL",
        "alternate screen",
        "bracketed paste",
        "mouse is on (mode 1000)",
        "mouse is on (mode 1006)",
        "keyboard flags",
        "cursor is hidden",
        "synchronized update",
        "part of the screen",
    ] {
        assert!(left.contains(words), "{words} is missing in:\n{left}");
    }
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| terminal.assert_clean()));
    let words = *panic.unwrap_err().downcast::<String>().unwrap();
    assert!(words.contains("left unclean") && words.contains("ICANON"), "{words}");
}

#[test]
fn a_program_that_tidies_up_is_clean() {
    let on = "\\033[?1049h\\033[?2004h\\033[?1000h\\033[>1u\\033[?25l\\033[?2026h\\033[2;5r";
    let off = "\\033[r\\033[?2026l\\033[?25h\\033[<u\\033[?1000l\\033[?2004l\\033[?1049l";
    let script = format!("was=$(stty -g); stty raw -echo; printf '{on}ready{off}'; stty $was");
    let (_scratch, mut terminal) = run(&script, Options::new(40, 6).kitty());
    assert!(terminal.end().success());
    terminal.assert_clean();
}

#[test]
fn all_that_was_written_before_the_end_is_there() {
    let script = "i=0; while [ $i -lt 2000 ]; do echo row $i; i=$((i+1)); done; printf '\\033[3'";
    let (_scratch, mut terminal) = run(script, Options::new(40, 6));
    assert!(terminal.end().success());
    let output = terminal.recording().output();
    assert!(
        output.ends_with(b"row 1999\r\n\x1b[3"),
        "{:?}",
        String::from_utf8_lossy(&output[output.len() - 40..])
    );
    assert_eq!(terminal.screen().scrollback().len() + 5, 2000);
}

#[test]
fn a_program_is_stopped_and_comes_back() {
    let scratch = Scratch::new("sh");
    let mut command = scratch.bare();
    command.args(["-i"]);
    let options = Options::new(60, 20).variable("PS1", "prompt> ").variable("ENV", "");
    let mut terminal = Terminal::start(command, options);
    terminal.wait_for_text("prompt>");
    terminal.text("cat\r");
    terminal.text("first\r");
    // Echoed, and said again by cat.
    terminal.wait_for(|screen| screen.text().matches("first").count() == 2);
    terminal.key("ctrl+z");
    terminal.wait_for(|screen| screen.text().matches("prompt>").count() == 2);
    terminal.text("fg\r");
    terminal.wait_for(|screen| screen.text().matches("cat").count() >= 2);
    terminal.text("second\r");
    terminal.wait_for(|screen| screen.text().matches("second").count() == 2);
    terminal.key("ctrl+d");
    terminal.wait_for(|screen| screen.text().matches("prompt>").count() == 3);
    terminal.text("exit 0\r");
    assert!(terminal.end().success());
}

#[test]
fn a_window_that_is_closed_ends_its_program() {
    let (scratch, mut terminal) =
        run("trap 'echo > hung-up; exit 3' HUP; printf ready; read -r x", Options::new(40, 6));
    terminal.wait_for_text("ready");
    terminal.hang_up();
    assert_eq!(terminal.end().code(), Some(3));
    assert!(scratch.path("hung-up").exists());
}

#[test]
#[should_panic(expected = "the program has ended")]
fn waiting_for_what_cannot_come_any_more_ends() {
    let (_scratch, terminal) = run("echo something else", Options::new(40, 6));
    terminal.wait_for_text("something to wait for");
}

#[test]
fn quiet_is_when_all_is_said() {
    let script =
        "stty -echo; read -r x; i=0; while [ $i -lt 300 ]; do echo row $i; i=$((i+1)); done; read -r x";
    let (_scratch, mut terminal) = run(script, Options::new(40, 6));
    terminal.key("enter");
    terminal.wait_for_text("row");
    terminal.wait_until_quiet(Duration::from_millis(100));
    assert!(terminal.screen().says("row 299"), "{:?}", terminal.screen());
    terminal.key("enter");
    assert!(terminal.end().success());
    terminal.wait_until_quiet(Duration::from_secs(3600));
}

#[test]
fn the_same_screens_make_the_same_picture() {
    let pictures = [(); 2].map(|()| {
        let script = "stty -echo; echo one; read -r x; printf '\\033[2J\\033[H\\033[32mtwo'; read -r x";
        let (_scratch, mut terminal) = run(script, Options::new(20, 3));
        for name in ["one", "two"] {
            terminal.wait_for_text(name);
            terminal.mark(name);
            terminal.key("enter");
        }
        assert!(terminal.end().success());
        let recording = terminal.recording();
        let read = ramal_testing::terminal::Recording::from_cast(&recording.to_cast()).unwrap();
        let frames = Frames::of(&read);
        assert!(frames.marked("two").unwrap().looks_like(Frames::of(&recording).marked("two").unwrap()));
        let moving = moving_picture(&frames.at_marks(Duration::from_millis(800)));
        format!("{}{moving}", picture(frames.marked("one").unwrap()))
    });
    assert_eq!(pictures[0], pictures[1]);
    assert!(pictures[0].contains(">two"), "{}", pictures[0]);
}
