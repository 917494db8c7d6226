//! What a program left behind in its terminal.

use rustix::termios::{InputModes, LocalModes, OutputModes, Termios};

use super::watch::Watch;

/// What is not as it was before the program came, in words.
pub(crate) fn behind(watch: &Watch, before: &Termios, now: &Termios) -> Vec<String> {
    let mut left = line_discipline(before, now);
    for mode in &watch.modes {
        left.push(match mode {
            47 | 1047 | 1049 => "the alternate screen is shown".into(),
            1 => "arrows are sent as for an application".into(),
            9 | 1000 | 1002 | 1003 | 1005 | 1006 | 1015 | 1016 => format!("the mouse is on (mode {mode})"),
            1004 => "focus is reported".into(),
            2004 => "bracketed paste is on".into(),
            2026 => "a synchronized update is open".into(),
            2031 => "changes of the colour scheme are reported".into(),
            // Wrapping is on from the beginning, and 12 is only how the cursor blinks.
            7 | 12 => continue,
            mode => format!("mode {mode} is on"),
        });
    }
    if watch.is_cursor_hidden {
        left.push("the cursor is hidden".into());
    }
    if watch.has_margins {
        left.push("only a part of the screen scrolls".into());
    }
    if !watch.keyboard_is_as_it_was() {
        left.push("kitty's keyboard flags are on".into());
    }
    left
}

fn line_discipline(before: &Termios, now: &Termios) -> Vec<String> {
    let local = [
        (LocalModes::ICANON, "lines are not collected (ICANON)"),
        (LocalModes::ECHO, "what is typed is not echoed (ECHO)"),
        (LocalModes::ISIG, "Ctrl+C sends no signal (ISIG)"),
        (LocalModes::IEXTEN, "IEXTEN is off"),
    ];
    let input = [(InputModes::ICRNL, "ICRNL is off"), (InputModes::IXON, "IXON is off")];
    let output = [(OutputModes::OPOST, "OPOST is off"), (OutputModes::ONLCR, "ONLCR is off")];
    let mut left = Vec::new();
    let mut look = |was: bool, is: bool, words: &str| {
        if was && !is {
            left.push(words.to_owned());
        }
    };
    for (mode, words) in local {
        look(before.local_modes.contains(mode), now.local_modes.contains(mode), words);
    }
    for (mode, words) in input {
        look(before.input_modes.contains(mode), now.input_modes.contains(mode), words);
    }
    for (mode, words) in output {
        look(before.output_modes.contains(mode), now.output_modes.contains(mode), words);
    }
    left
}
