//! Answers: each one line, written as it is made, so that its size is no concern.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};

use ramal_session::json::quote;

use super::request::Request;

/// Bytes of answers that wait to be written at most.
const BUFFERED: usize = 256 * 1024;

/// Writes the `data` of an answer. An error is one of the output: whatever can be refused was refused
/// before, since an answer that has begun must end as an answer.
pub(super) type Data<'s> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 's>;

/// What a command that succeeded answers.
pub(super) enum Reply<'s> {
    /// That it succeeded.
    Done,
    /// An object, as JSON text.
    Small(String),
    /// An object that is written piece by piece.
    Large(Data<'s>),
}

impl<'s> Reply<'s> {
    /// An object that is written piece by piece.
    pub(super) fn large(write: impl FnOnce(&mut dyn Write) -> io::Result<()> + 's) -> Reply<'s> {
        Reply::Large(Box::new(write))
    }
}

/// Why a command was refused, in words for whoever wrote the request. Nothing has changed.
#[derive(Debug)]
pub(super) struct Refusal(String);

impl Refusal {
    pub(super) fn new(why: impl Into<String>) -> Refusal {
        Refusal(why.into())
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal(error.to_string())
    }
}

/// Where answers go.
pub(super) struct Output<W: Write> {
    out: BufWriter<W>,
}

impl<W: Write> Output<W> {
    pub(super) fn new(out: W) -> Output<W> {
        Output { out: BufWriter::with_capacity(BUFFERED, out) }
    }

    /// Answers a request that succeeded.
    pub(super) fn answer(&mut self, request: &Request<'_>, reply: Reply<'_>) -> io::Result<()> {
        self.head(request.id.as_deref(), &request.command, true)?;
        match reply {
            Reply::Done => {}
            Reply::Small(data) => write!(self.out, ",\"data\":{data}")?,
            Reply::Large(write) => {
                self.out.write_all(b",\"data\":")?;
                write(&mut self.out)?;
            }
        }
        self.end()
    }

    /// Answers a request that was refused.
    pub(super) fn refuse(&mut self, id: Option<&str>, command: &str, why: &Refusal) -> io::Result<()> {
        self.head(id, command, false)?;
        write!(self.out, ",\"error\":{}", quote(&why.0))?;
        self.end()
    }

    fn head(&mut self, id: Option<&str>, command: &str, success: bool) -> io::Result<()> {
        self.out.write_all(b"{")?;
        if let Some(id) = id {
            write!(self.out, "\"id\":{id},")?;
        }
        write!(self.out, "\"type\":\"response\",\"command\":{},\"success\":{success}", quote(command))
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}
