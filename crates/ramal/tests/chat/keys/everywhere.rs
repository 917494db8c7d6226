//! In every place: on the main screen, and where a list covers it.

use std::process::Command;

use ramal_testing::terminal::{Options, Terminal};
use ramal_tui::keys::ActionId;

use super::{Row, World, add_models, leave, leave_written, terminal};

pub(super) const ROWS: &[Row] = &[
    Row { action: ActionId::Suspend, scenario: suspend },
    Row { action: ActionId::Hotkeys, scenario: hotkeys },
    Row { action: ActionId::Redraw, scenario: redraw },
];

const PROMPT: &str = "prompt>";

/// A shell in the world's folder, in which the program is started.
fn in_shell(world: &World, options: Options) -> Terminal {
    let program = world.command(&[]);
    let mut shell = Command::new("sh");
    shell.arg("-i").env_clear().current_dir(world.scratch.path(""));
    for (name, value) in program.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let terminal = Terminal::start(shell, options.variable("PS1", "prompt> ").variable("ENV", ""));
    terminal.wait_for_text(PROMPT);
    let words = std::iter::once(program.get_program()).chain(program.get_args());
    let line: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    terminal.text(&format!("{}\r", line.join(" ")));
    // The lines around the editor.
    terminal.wait_for_text("────");
    terminal
}

fn suspend(key: &str) {
    for is_covered in [false, true] {
        let world = World::new(&[]);
        add_models(&world);
        let mut terminal = in_shell(&world, terminal(100, 30, key));
        terminal.text("half a thought");
        terminal.wait_for_text("half a thought");
        if is_covered {
            terminal.key("ctrl+l");
            terminal.wait_for(|screen| screen.is_alternate() && screen.says("mine/third"));
        }
        terminal.key(key);
        // The shell is there and does what is typed.
        terminal.wait_for(|screen| !screen.is_alternate() && ends_with_prompt(screen));
        terminal.text("echo $((6 * 7))\r");
        terminal.wait_for_text("42");
        terminal.text("fg\r");
        match is_covered {
            true => terminal.wait_for(|screen| screen.is_alternate() && screen.says("mine/third")),
            false => terminal.wait_for(|screen| !ends_with_prompt(screen) && screen.says("half a thought")),
        }
        if is_covered {
            terminal.key("esc");
            terminal.wait_for(|screen| !screen.is_alternate() && screen.says("half a thought"));
        }
        terminal.keys(&["ctrl+c", "ctrl+d"]);
        terminal.wait_for(ends_with_prompt);
        terminal.text("exit 0\r");
        assert!(terminal.end().success());
        terminal.assert_clean();
    }
}

/// Whether the shell waits for something to be typed.
fn ends_with_prompt(screen: &ramal_testing::terminal::Screen<'_>) -> bool {
    screen.text().lines().next_back().is_some_and(|last| last.trim_end() == PROMPT)
}

fn hotkeys(key: &str) {
    let world = World::new(&[]);
    add_models(&world);
    let mut terminal = world.start(terminal(100, 30, key));
    terminal.key(key);
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("app.interrupt"));
    // The key that opens them closes them.
    terminal.key(key);
    terminal.wait_for(|screen| !screen.is_alternate());
    terminal.key("ctrl+l");
    terminal.wait_for_text("mine/third");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("mine/third") && screen.says("app.interrupt"));
    terminal.key("esc");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("mine/third"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave(&mut terminal);
}

fn redraw(key: &str) {
    const LITTER: &[u8] = b"\x1b[1;1HLITTER\x1b[3;1H\x1b[2KLITTER\x1b[30;1H";
    let world = World::with_sample(&[]);
    let mut terminal = world.start(terminal(100, 30, key));
    terminal.text("half a thought");
    // What stands at the bottom is looked up beside the screen.
    let bottom = ["half a thought", "week 53", "‹2/2›", "↑369k", "$0.32 · 1% of 200k", "thinking: high"];
    terminal.wait_for(|screen| bottom.iter().all(|text| screen.says(text)));
    let before = terminal.screen().text();
    terminal.write_from_elsewhere(LITTER);
    terminal.wait_for_text("LITTER");
    terminal.key(key);
    terminal.wait_for(|screen| screen.text() == before);
    terminal.key("ctrl+l");
    terminal.wait_for(|screen| screen.is_alternate() && screen.says("Models"));
    terminal.write_from_elsewhere(LITTER);
    terminal.wait_for_text("LITTER");
    terminal.key(key);
    terminal.wait_for(|screen| !screen.says("LITTER") && screen.says("Models"));
    terminal.key("esc");
    terminal.wait_for(|screen| !screen.is_alternate());
    leave_written(&mut terminal);
}
