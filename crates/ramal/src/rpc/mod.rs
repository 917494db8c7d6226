//! `ramal rpc`: requests as JSON lines on standard input, answers on standard output (contract,
//! section 12). What a command does is in [`read`] and [`change`]; here is only who does it when.

mod answer;
mod change;
mod input;
mod read;
mod request;
mod stream;

use std::io::{self, Write};
use std::path::PathBuf;

use ramal_session::SessionManager;

use self::answer::{Output, Refusal, Reply};
use self::request::{Parsed, Request};
use crate::remembered;

/// One session, served to one client.
pub(crate) struct Server {
    session: SessionManager,
    /// Where the client's command line wants copies and new sessions.
    session_dir: Option<PathBuf>,
    cwd: PathBuf,
}

impl Server {
    /// A server of `session`. Sessions that the client switches to are opened with `session_dir` and
    /// `cwd`.
    pub(crate) fn new(session: SessionManager, session_dir: Option<PathBuf>, cwd: PathBuf) -> Server {
        Server { session, session_dir, cwd }
    }

    /// Answers requests in order until the input ends or nobody reads the answers any more; then
    /// everything appended is forced to disk.
    ///
    /// # Errors
    /// If answers cannot be written for another reason than a closed pipe, or the log not forced to
    /// disk.
    pub(crate) fn serve(mut self) -> anyhow::Result<()> {
        let lines = input::lines()?;
        let mut out = Output::new(io::stdout().lock());
        let served = lines.iter().try_for_each(|line| self.answer(&line, &mut out));
        self.session.sync()?;
        match served {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(anyhow::Error::new(error).context("the answers cannot be written"))
            }
            _ => Ok(()),
        }
    }

    /// Answers one line. An error is one of the output.
    fn answer<W: Write>(&mut self, line: &[u8], out: &mut Output<W>) -> io::Result<()> {
        let request = match Request::parse(line) {
            Parsed::Blank => return Ok(()),
            Parsed::Bad { id, why } => return out.refuse(id.as_deref(), "parse", &Refusal::new(why)),
            Parsed::Request(request) => request,
        };
        let reply = self.reply(&request);
        match reply {
            Ok(reply) => out.answer(&request, reply),
            Err(refusal) => out.refuse(request.id.as_deref(), &request.command, &refusal),
        }
    }

    fn reply(&mut self, request: &Request<'_>) -> Result<Reply<'_>, Refusal> {
        let changed = change::reply(self, request)?;
        if let Some(reply) = changed {
            return Ok(reply);
        }
        // What other programs appended is there for whoever asks. Should the file have become
        // unreadable, the entries asked for say so themselves.
        self.session.refresh().ok();
        read::reply(&self.session, request)
    }

    /// Remembers where one is now.
    fn remember(&self) {
        remembered::remember(&self.session);
    }
}
