//! However one leaves, the terminal is clean and the log is whole.

use ramal_testing::terminal::{Options, Signal, Terminal};

use super::doing::{eventually, say, wait_until_idle};
use super::support::{dawdles, says};
use super::world::{LAST_ANSWER, World, leave};

/// A way to leave: its name, how, and what the program ends with.
type Way = (&'static str, fn(&mut Terminal), Option<i32>);

const WAYS: [Way; 6] = [
    ("Ctrl+D", |terminal| terminal.key("ctrl+d"), Some(0)),
    ("/quit", |terminal| say(terminal, "/quit"), Some(0)),
    ("Ctrl+C twice", |terminal| terminal.raw(b"\x03\x03"), Some(0)),
    ("SIGTERM", |terminal| terminal.signal(Signal::TERM), Some(128 + 15)),
    ("SIGHUP", |terminal| terminal.signal(Signal::HUP), Some(128 + 1)),
    ("SIGINT", |terminal| terminal.signal(Signal::INT), Some(128 + 2)),
];

#[test]
fn while_nothing_runs() {
    for (name, go, code) in WAYS {
        let world = World::with_sample(&[]);
        let mut terminal = world.start(Options::new(80, 24).kitty());
        go(&mut terminal);
        assert_eq!(terminal.end().code(), code, "{name}");
        terminal.assert_clean();
    }
}

#[test]
fn in_the_middle_of_a_turn() {
    for (name, go, code) in WAYS {
        let world = World::with_sample(&[dawdles("It begins.")]);
        let mut terminal = world.start(Options::new(80, 24));
        say(&terminal, "Tell me.");
        terminal.wait_for_text("It begins.");
        go(&mut terminal);
        assert_eq!(terminal.end().code(), code, "{name}");
        terminal.assert_clean();
        let last = world.entries().pop().unwrap();
        assert_eq!(last["message"]["stopReason"], "aborted", "{name}: {last}");
        assert!(last.to_string().contains("It begins."), "{name}: {last}");
        // The shell goes on below, and what was seen is still to be seen, unless there was no time for it.
        let screen = terminal.main_screen();
        let is_there = screen.everything().contains("It begins.");
        assert!(is_there || code != Some(0), "{name}:\n{screen:?}");
        assert_eq!(screen.cursor().column, 0, "{name}:\n{screen:?}");
    }
}

#[test]
fn while_something_covers_the_conversation() {
    for (name, go, code) in WAYS.into_iter().skip(3) {
        for key in ["alt+t", "alt+o", "f1"] {
            let world = World::with_sample(&[]);
            let mut terminal = world.start(Options::new(80, 24));
            terminal.key(key);
            terminal.wait_for(|screen| screen.is_alternate());
            go(&mut terminal);
            assert_eq!(terminal.end().code(), code, "{name}");
            terminal.assert_clean();
        }
    }
}

#[test]
fn when_the_window_is_closed() {
    let world = World::with_sample(&[dawdles("It begins.")]);
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    terminal.hang_up();
    terminal.end();
    let last = world.entries().pop().unwrap();
    assert_eq!(last["message"]["stopReason"], "aborted", "{last}");
    assert!(last.to_string().contains("It begins."), "{last}");
}

#[test]
fn for_a_while_and_back() {
    let world = World::with_sample(&[says("I am back.")]);
    let program = world.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-i").current_dir(program.get_current_dir().unwrap()).env_clear();
    shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let options = Options::new(100, 40).variable("PS1", "prompt> ").variable("ENV", "");
    let mut terminal = Terminal::start(shell, options);
    terminal.wait_for_text("prompt>");
    let mut line = program.get_program().to_string_lossy().into_owned();
    for argument in program.get_args() {
        line = format!("{line} {}", argument.to_string_lossy());
    }
    terminal.text(&format!("{line}\r"));
    terminal.wait_for(|screen| screen.says(LAST_ANSWER) && screen.says("replay/answers.jsonl"));
    terminal.text("half a thought");
    terminal.wait_for_text("half a thought");
    for covers in [false, true] {
        if covers {
            terminal.key("alt+t");
            terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
        }
        terminal.key("ctrl+z");
        terminal.wait_for(|screen| {
            !screen.is_alternate()
                && screen.rows().iter().rfind(|row| !row.is_empty()).is_some_and(|row| row == "prompt>")
        });
        terminal.assert_clean();
        terminal.text("fg\r");
        if covers {
            terminal.wait_for(|screen| screen.is_alternate() && screen.says("◀ leaf"));
            terminal.key("esc");
        }
        // All is as it was.
        terminal.wait_for(|screen| !screen.is_alternate() && screen.says("half a thought"));
    }
    terminal.key("ctrl+c");
    terminal.wait_for(|screen| !screen.rows().iter().rev().take(6).any(|row| row.contains("half a thought")));
    say(&terminal, "Are you there?");
    terminal.wait_for_text("I am back.");
    wait_until_idle(&terminal);
    terminal.key("ctrl+d");
    eventually("the shell", || {
        let rows = terminal.screen().rows();
        rows.iter().rfind(|row| !row.is_empty()).filter(|row| *row == "prompt>").map(drop)
    });
    terminal.assert_clean();
    terminal.text("exit 0\r");
    assert!(terminal.end().success());
}

#[test]
fn what_was_written_of_a_turn_is_there_again() {
    let world = World::with_sample(&[dawdles("It begins.")]);
    let mut terminal = world.start(Options::new(80, 24));
    say(&terminal, "Tell me.");
    terminal.wait_for_text("It begins.");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.end().code(), Some(128 + 15));
    let mut terminal = Terminal::start(world.command(&[]), Options::new(80, 24));
    terminal.wait_for_text("It begins.");
    terminal.wait_for_text("replay/answers.jsonl");
    leave(&mut terminal);
}
