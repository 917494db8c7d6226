//! Shows what a terminal says of itself and what its keys are called, for reports about terminals.
//!
//! `q` leaves, Ctrl+Z stops, `p` panics, `e` lends the terminal to `cat` until Ctrl+D, `a` goes to the
//! alternate screen and back.

use std::io::Write as _;
use std::process::Command;
use std::sync::mpsc;

use ramal_tui::keys::{Keymap, Place};
use ramal_tui::terminal::{Input, Options, Terminal};
use ramal_tui::text::clean;
use ramal_tui::theme::ColorDepth;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut terminal = Terminal::start(&Options { tells_focus: true, ..Options::default() })?;
    let (sender, inputs) = mpsc::channel();
    let reader = terminal.listen(move |input| sender.send(input).is_ok())?;
    let depth = ColorDepth::from_environment(|name| std::env::var(name).ok());
    let keymap = Keymap::default();
    let mut writer = terminal.writer();
    write!(writer, "{:?}\r\n{depth:?}; q leaves\r\n", terminal.answers())?;
    writer.flush()?;
    let mut is_alternate = false;
    for input in inputs {
        let line = match &input {
            Input::Quit(_) | Input::Closed => break,
            Input::Key(key) => {
                let action = keymap.action(Place::EmptyEditor, *key);
                format!("{key} {}", action.map_or("", |action| action.description()))
            }
            other => format!("{other:?}"),
        };
        write!(writer, "{}\r\n", clean::one_line(&line, 200))?;
        writer.flush()?;
        let Input::Key(key) = input else { continue };
        match key.file_name().as_str() {
            "q" => break,
            "p" => panic!("as wished"),
            "ctrl+z" => terminal.suspend()?,
            "e" => drop(terminal.lend(Some(&reader), || Command::new("cat").status())?),
            "a" => {
                is_alternate = !is_alternate;
                writer.alternate_screen(is_alternate);
                writer.flush()?;
            }
            _ => {}
        }
    }
    terminal.leave()?;
    Ok(())
}
