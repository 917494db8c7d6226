//! What a terminal is to us: something that takes bytes and can be made raw.

use std::fmt;
use std::io;

/// A terminal, or what stands for one.
pub trait Device: fmt::Debug + Send {
    /// Has keys come as they are pressed, or line by line as before.
    ///
    /// # Errors
    /// If the terminal refuses.
    fn set_raw(&mut self, raw: bool) -> io::Result<()>;

    /// Takes all bytes, in one piece as far as the system does that.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits for bytes at most so long, and adds what there is. False when the time is over.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn read(&mut self, within: std::time::Duration, into: &mut Vec<u8>) -> io::Result<bool>;
}

/// The terminal behind standard input and output.
#[derive(Debug, Clone, Copy)]
pub struct Stdout;

#[cfg(unix)]
impl Device for Stdout {
    fn set_raw(&mut self, raw: bool) -> io::Result<()> {
        set_raw(raw)
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        // Rust's own standard output would cut a frame in two at its last newline.
        while !bytes.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(rustix::io::Errno::INTR) => {}
                // A program that ran here may have left the terminal without blocking.
                Err(rustix::io::Errno::AGAIN) => {
                    let stdout = rustix::stdio::stdout();
                    let waited = poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None);
                    waited
                        .or_else(|error| if error == rustix::io::Errno::INTR { Ok(0) } else { Err(error) })?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn read(&mut self, within: std::time::Duration, into: &mut Vec<u8>) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = rustix::stdio::stdin();
        let limit = Timespec::try_from(within).ok();
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], limit.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [0; 1024];
        match rustix::io::read(stdin, &mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                into.extend_from_slice(&buffer[..count]);
                Ok(true)
            }
        }
    }
}

#[cfg(not(unix))]
impl Device for Stdout {
    fn set_raw(&mut self, raw: bool) -> io::Result<()> {
        set_raw(raw)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        use std::io::Write as _;
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    fn read(&mut self, _: std::time::Duration, _: &mut Vec<u8>) -> io::Result<bool> {
        Ok(false)
    }
}

fn set_raw(raw: bool) -> io::Result<()> {
    if raw { crossterm::terminal::enable_raw_mode() } else { crossterm::terminal::disable_raw_mode() }
}
