//! A real program in a real pseudo-terminal, with a terminal emulator behind it.
//!
//! A test types, looks at the screen, drags the window, sends signals, and looks at what is left:
//!
//! ```no_run
//! use ramal_testing::program::Scratch;
//! use ramal_testing::terminal::{Options, Terminal};
//!
//! let scratch = Scratch::new("sh");
//! let mut terminal = Terminal::start(scratch.bare(), Options::new(60, 20).kitty());
//! terminal.text("echo hello");
//! terminal.key("enter");
//! terminal.wait_for(|screen| screen.text().contains("\nhello"));
//! terminal.resize(40, 10);
//! terminal.key("ctrl+d");
//! assert!(terminal.end().success());
//! terminal.assert_clean();
//! ```
//!
//! **What kind of terminal it is.** One that does not reflow, as xterm is: when it becomes narrower, rows are
//! cut at the right, and when it becomes lower, rows above the cursor go to the scrollback, to come back when
//! it grows. With [`Options::reflowing`] it wraps rows anew, the scrollback included, as kitty, VTE and tmux
//! do; these differ in what they do with the rows below the cursor, and here they are kept. While a synchronized update is
//! open a real terminal shows what was there before; here [`Terminal::wait_for`] and [`Terminal::screen`] wait
//! until it is closed.
//!
//! **Waiting.** [`Terminal::wait_for`] a condition; a test that waits for a time is wrong on a slow machine.
//! [`Terminal::wait_until_quiet`] is for the few places where nothing is to happen.
//!
//! **Stopping and coming back.** The kernel ignores Ctrl+Z for the first program of a terminal, since there is
//! nobody to go back to. A test of it starts `sh -i` and types the program's name.

mod drawing;
mod emulator;
mod frames;
mod keys;
mod left;
mod options;
mod process;
mod recording;
mod reflow;
mod screen;
mod svg;
mod watch;

pub use frames::{Frame, Frames};
pub use options::Options;
pub use process::Terminal;
pub use recording::{Event, Happened, Recording};
pub use screen::{Cursor, Screen};
pub use svg::{moving_picture, picture};

pub use rustix::process::Signal;
pub use vt100::{Cell, Color};
