//! Requests read in a thread of their own, at all times: what ends something, and answers to questions,
//! take effect as soon as they are read, whatever the one who answers is doing.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::failure;

/// Requests that are read ahead. A client that writes on without reading answers waits then.
const AHEAD: usize = 1024;

/// A line of the input, and how many came before it.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: Vec<u8>,
}

/// What there is to do next.
pub(super) enum Input {
    Line(Line),
    /// Nothing more: the program is to end, whatever is still said.
    Stop,
}

/// The lines of standard input, split at line feeds only; a last line that has no line feed counts. It
/// stops when the input ends, or when somebody says so. `first` sees each line when it is read, and keeps
/// it if it answers none; `ended` is called at the end.
///
/// # Errors
/// If no thread can be started.
pub(super) fn lines(
    first: impl Fn(Line) -> Option<Line> + Send + 'static,
    ended: impl FnOnce() + Send + 'static,
) -> io::Result<(Receiver<Input>, SyncSender<Input>)> {
    let (sender, receiver) = sync_channel(AHEAD);
    let stop = sender.clone();
    let read = move || {
        let mut input = io::BufReader::with_capacity(64 * 1024, io::stdin());
        for number in 0.. {
            let mut text = Vec::new();
            match input.read_until(b'\n', &mut text) {
                Ok(0) => break,
                Ok(_) => {
                    let Some(line) = first(Line { number, text }) else { continue };
                    if sender.send(Input::Line(line)).is_err() {
                        break;
                    }
                }
                Err(error) => {
                    failure::warn(&format!("the requests cannot be read any more: {error}"));
                    break;
                }
            }
        }
        ended();
        // Whoever waits for lines knows by this that there are no more.
        let _ = sender.send(Input::Stop);
    };
    std::thread::Builder::new().name("requests".into()).spawn(read)?;
    Ok((receiver, stop))
}
