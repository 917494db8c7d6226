//! Answers: each one line, written as it is made, so that its size is no concern.
//!
//! Where something may still fail when the data has begun, `success` stands behind the data.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};

use ramal_session::json::quote;

use super::request::Request;

/// Bytes of answers that wait to be written at most.
const BUFFERED: usize = 256 * 1024;

/// Writes the `data` of an answer, whole JSON whatever happens. The outer error is one of the output;
/// the inner one says that the data is not all there, so that the request failed.
pub(super) type Data = Box<dyn FnOnce(&mut dyn Write) -> io::Result<Result<(), Refusal>>>;

/// What a command that succeeded answers.
pub(super) enum Reply {
    /// That it succeeded.
    Done,
    /// An object, as JSON text.
    Small(String),
    /// An object that is written piece by piece.
    Large(Data),
    /// Nothing yet: whoever works on it answers, or has answered already.
    Elsewhere,
}

impl Reply {
    /// An object that is written piece by piece, and may turn out not to be all there.
    pub(super) fn large(
        write: impl FnOnce(&mut dyn Write) -> io::Result<Result<(), Refusal>> + 'static,
    ) -> Reply {
        Reply::Large(Box::new(write))
    }
}

/// Why a command was refused, in words for whoever wrote the request.
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

/// The answer to a request, as a line without its end. For what is small.
pub(super) fn line(id: Option<&str>, command: &str, outcome: Result<Option<String>, Refusal>) -> String {
    let id = id.map(|id| format!("\"id\":{id},")).unwrap_or_default();
    let rest = match outcome {
        Ok(None) => "\"success\":true".to_owned(),
        Ok(Some(data)) => format!("\"success\":true,\"data\":{data}"),
        Err(why) => format!("\"success\":false,\"error\":{}", quote(&why.0)),
    };
    format!("{{{id}\"type\":\"response\",\"command\":{},{rest}}}", quote(command))
}

/// Where answers and events go.
pub(super) struct Output<W: Write> {
    out: BufWriter<W>,
}

impl<W: Write> Output<W> {
    pub(super) fn new(out: W) -> Output<W> {
        Output { out: BufWriter::with_capacity(BUFFERED, out) }
    }

    /// Writes a line that is ready. It may wait in the buffer for [`Output::flush`].
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes what is in the buffer.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Answers a request that was not refused.
    pub(super) fn answer(&mut self, request: &Request<'_>, reply: Reply) -> io::Result<()> {
        if matches!(reply, Reply::Elsewhere) {
            return Ok(());
        }
        self.head(request.id.as_deref(), &request.command)?;
        match reply {
            Reply::Done | Reply::Elsewhere => self.out.write_all(b",\"success\":true")?,
            Reply::Small(data) => write!(self.out, ",\"success\":true,\"data\":{data}")?,
            Reply::Large(write) => {
                self.out.write_all(b",\"data\":")?;
                match write(&mut self.out)? {
                    Ok(()) => self.out.write_all(b",\"success\":true")?,
                    Err(why) => self.failure(&why)?,
                }
            }
        }
        self.end()
    }

    /// Answers a request that was refused.
    pub(super) fn refuse(&mut self, id: Option<&str>, command: &str, why: &Refusal) -> io::Result<()> {
        self.head(id, command)?;
        self.failure(why)?;
        self.end()
    }

    fn head(&mut self, id: Option<&str>, command: &str) -> io::Result<()> {
        self.out.write_all(b"{")?;
        if let Some(id) = id {
            write!(self.out, "\"id\":{id},")?;
        }
        write!(self.out, "\"type\":\"response\",\"command\":{}", quote(command))
    }

    fn failure(&mut self, why: &Refusal) -> io::Result<()> {
        write!(self.out, ",\"success\":false,\"error\":{}", quote(&why.0))
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}
