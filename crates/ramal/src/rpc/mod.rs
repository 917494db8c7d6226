//! `ramal rpc`: requests as JSON lines on standard input, answers and events on standard output
//! (contract, section 12). What a command does is in [`read`], [`change`], [`leave`], [`say`] and
//! [`settings`]; here is only who does it when.
//!
//! Three threads: one reads and acts at once on what cannot wait, one takes up requests in order, one
//! writes. What takes longer than a moment becomes a task, which answers when it ends.

mod answer;
mod asks;
mod change;
mod dialogs;
mod export;
mod hooks;
mod input;
mod leave;
mod models;
mod outgoing;
mod read;
mod request;
mod say;
mod settings;
mod setup;
mod stream;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use ramal_agent::{AgentEvent, AgentSession};
use ramal_session::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::answer::{Refusal, Reply};
use self::asks::Asks;
use self::dialogs::{Client, Dialogs};
use self::hooks::ClientHooks;
use self::input::{Input, Line};
use self::outgoing::Outgoing;
use self::request::{Parsed, Request};
use crate::extensions::Crew;
use crate::failure::Status;
use crate::models::Models;
use crate::remembered;
use crate::signals::Signals;
use crate::work::TITLE_LIMIT;
use crate::workshop::Workshop;

pub(crate) use setup::{Options, start};

/// Requests that cannot wait are short.
const LONGEST_URGENT: usize = 64 * 1024;

/// One session, served to one client.
struct Server {
    agent: AgentSession,
    out: Outgoing,
    asks: Arc<Asks>,
    hooks: Arc<ClientHooks>,
    dialogs: Arc<Dialogs>,
    crew: Arc<Crew>,
    workshop: Arc<Workshop>,
    models: Arc<Models>,
    ends: Arc<Ends>,
    runtime: tokio::runtime::Runtime,
    /// Held by what extensions hear before it is said.
    says: Arc<tokio::sync::Mutex<()>>,
    /// What was begun and answers when it ends.
    tasks: Vec<JoinHandle<()>>,
    /// Where the client's command line wants copies and new sessions.
    session_dir: Option<PathBuf>,
    cwd: PathBuf,
}

/// What ends things, for every thread.
#[derive(Default)]
struct Ends {
    agent: Mutex<Option<AgentSession>>,
    /// The command that the client runs.
    bash: Mutex<Option<CancellationToken>>,
    /// How many lines came before the last `abort`: what they began, or begin yet, is ended.
    aborted: AtomicU64,
    aborted_bash: AtomicU64,
    /// Ends what extensions were asked for.
    extensions: Mutex<CancellationToken>,
    is_compacting: AtomicBool,
    /// The session got a title, which may lie behind where one is.
    is_titled: AtomicBool,
    /// The signal by which somebody ended the program; 0 if nobody did.
    signal: AtomicI32,
}

impl Ends {
    fn agent(&self) -> Option<AgentSession> {
        self.agent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers where one is: the leaf has moved, or the log has grown by what does not say so itself.
    fn remember(&self) {
        if let Some(agent) = self.agent() {
            agent.with_session(|session| remembered::remember(session));
        }
    }

    fn abort(&self) {
        let mut extensions = self.extensions.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *extensions).cancel();
        drop(extensions);
        if let Some(agent) = self.agent() {
            agent.abort();
        }
    }

    /// Cancelled by the next abort.
    fn token(&self) -> CancellationToken {
        self.extensions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn abort_bash(&self) {
        if let Some(bash) = &*self.bash.lock().unwrap_or_else(PoisonError::into_inner) {
            bash.cancel();
        }
    }

    /// Everything, since nobody is there any more.
    fn end_all(&self) {
        self.aborted.store(u64::MAX, Ordering::SeqCst);
        self.aborted_bash.store(u64::MAX, Ordering::SeqCst);
        self.abort();
        self.abort_bash();
    }
}

/// What a line that cannot wait acts on.
struct Urgent {
    ends: Arc<Ends>,
    asks: Arc<Asks>,
    hooks: Arc<ClientHooks>,
    dialogs: Arc<Dialogs>,
}

impl Urgent {
    /// Acts on a line that cannot wait; keeps it if it gets no answer.
    fn take(&self, line: Line) -> Option<Line> {
        let is_long = line.text.len() > LONGEST_URGENT;
        // A long line is not read to its end for its type: that stands in front, or nothing is urgent.
        let head = line.text.get(..LONGEST_URGENT).unwrap_or(&line.text);
        let command = json::get_str(head, "type").map(|command| command.into_owned()).unwrap_or_default();
        let is_urgent = match &*command {
            // What a hook answers may be a whole conversation, and what is written in an editor a book.
            "hook_response" | "extension_ui_response" => true,
            "abort" | "abort_compaction" | "abort_branch_summary" | "abort_bash" | "abort_retry" => !is_long,
            _ => false,
        };
        if !is_urgent {
            return Some(line);
        }
        let Parsed::Request(request) = Request::parse(&line.text) else { return Some(line) };
        match &*request.command {
            "hook_response" => return if self.hooks.answer(&request) { None } else { Some(line) },
            "extension_ui_response" => {
                let is_taken = self.dialogs.answer(&request) || self.asks.answer(&request);
                return if is_taken { None } else { Some(line) };
            }
            "abort_bash" => {
                self.ends.aborted_bash.store(line.number, Ordering::SeqCst);
                self.ends.abort_bash();
            }
            "abort_retry" => {
                if let Some(agent) = self.ends.agent() {
                    agent.abort_retry();
                }
            }
            "abort" | "abort_compaction" | "abort_branch_summary" => {
                self.ends.aborted.store(line.number, Ordering::SeqCst);
                self.ends.abort();
            }
            // The last `type` of a line counts, and may stand far behind the first.
            _ => {}
        }
        Some(line)
    }

    /// The input has ended: nobody will answer any more.
    fn close(&self) {
        self.asks.close();
        self.hooks.close();
        self.dialogs.close();
    }
}

impl Server {
    /// Takes up requests in order until the input ends, nobody reads the answers any more, or a signal
    /// comes. What was accepted is finished, or ended if nobody waits for it; then everything appended is
    /// forced to disk.
    fn serve(mut self, writer: std::thread::JoinHandle<io::Result<()>>) -> anyhow::Result<Status> {
        let (ends, asks, hooks) = (&self.ends, &self.asks, &self.hooks);
        let urgent = Arc::new(Urgent {
            ends: Arc::clone(ends),
            asks: Arc::clone(asks),
            hooks: Arc::clone(hooks),
            dialogs: Arc::clone(&self.dialogs),
        });
        let closing = Arc::clone(&urgent);
        let (lines, stop) = input::lines(move |line| urgent.take(line), move || closing.close())?;
        self.listen();
        let handle = self.runtime.handle().clone();
        let served = {
            let _in_runtime = handle.enter();
            self.end_on_signals(stop.clone())?;
            let dialogs = Arc::clone(&self.dialogs);
            self.crew.set_front(Arc::new(Client { dialogs, stop: Mutex::new(Some(stop)) }));
            handle.block_on(self.crew.begin(&self.agent, &self.workshop));
            let ends = Arc::clone(&self.ends);
            let lines = lines.iter().map_while(|input| match input {
                Input::Line(line) if ends.signal.load(Ordering::SeqCst) == 0 => Some(line),
                _ => None,
            });
            lines.into_iter().try_for_each(|line| self.answer(&line))
        };
        if served.is_err() {
            self.asks.close();
            self.hooks.close();
            self.dialogs.close();
            self.ends.end_all();
        }
        let tasks = std::mem::take(&mut self.tasks);
        self.runtime.block_on(async {
            for task in tasks {
                // A task that broke has no answer; there is nobody to be told.
                let _ = task.await;
            }
            self.agent.wait_for_idle().await;
            self.crew.end().await;
        });
        if served.is_ok() && self.ends.signal.load(Ordering::SeqCst) == 0 {
            self.runtime.block_on(self.agent.wait_for_title(TITLE_LIMIT));
        }
        self.agent.give_up_titles();
        if self.ends.is_titled.load(Ordering::SeqCst) {
            self.ends.remember();
        }
        self.out.end();
        let written = writer.join().unwrap_or(Ok(()));
        // What is left on it is nobody's any more: a title that is looked up, say.
        self.runtime.shutdown_background();
        self.agent.with_session(|session| session.sync())?;
        match (served.and(written), self.ends.signal.load(Ordering::SeqCst)) {
            (Err(error), _) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(anyhow::Error::new(error).context("the answers cannot be written"))
            }
            (_, 0) => Ok(Status::Done),
            (_, signal) => Ok(Status::Signalled(signal)),
        }
    }

    /// From now on a signal ends everything as an abort does: what came of it so far is stored.
    fn end_on_signals(&self, stop: SyncSender<Input>) -> io::Result<()> {
        let mut signals = Signals::new()?;
        let (ends, asks, hooks) = (Arc::clone(&self.ends), Arc::clone(&self.asks), Arc::clone(&self.hooks));
        let dialogs = Arc::clone(&self.dialogs);
        self.runtime.spawn(async move {
            let signal = signals.next().await;
            ends.signal.store(signal, Ordering::SeqCst);
            asks.close();
            hooks.close();
            dialogs.close();
            ends.end_all();
            // Where the lines that were read ahead fill it, the next of them is seen as the last.
            let _ = stop.try_send(Input::Stop);
            // Whoever asks twice does not want to wait; whole messages are stored already.
            std::process::exit(128 + signals.next().await);
        });
        Ok(())
    }

    /// Tells the client all events from now on.
    fn listen(&self) {
        let (out, ends) = (self.out.clone(), Arc::clone(&self.ends));
        let runtime = self.runtime.handle().clone();
        self.agent.listen(move |event| {
            match **event {
                AgentEvent::CompactionStart { .. } => ends.is_compacting.store(true, Ordering::Relaxed),
                AgentEvent::CompactionEnd { .. } => ends.is_compacting.store(false, Ordering::Relaxed),
                AgentEvent::SessionInfoChanged { .. } => {
                    ends.is_titled.store(true, Ordering::SeqCst);
                    // The session is locked by whoever tells this.
                    let ends = Arc::clone(&ends);
                    runtime.spawn(async move { ends.remember() });
                }
                _ => {}
            }
            out.event(event);
            true
        });
    }

    /// Answers one line. An error is one of the output.
    fn answer(&mut self, line: &Line) -> io::Result<()> {
        let request = match Request::parse(&line.text) {
            Parsed::Blank => return Ok(()),
            Parsed::Bad { id, why } => {
                let refusal = Refusal::new(why);
                return self.out.lend(|out| out.refuse(id.as_deref(), "parse", &refusal));
            }
            Parsed::Request(request) => request,
        };
        let reply = self.reply(&request);
        // An abort that was read behind this request is meant for what it began, too.
        if self.ends.aborted.load(Ordering::SeqCst) > line.number {
            self.ends.abort();
        }
        if self.ends.aborted_bash.load(Ordering::SeqCst) > line.number {
            self.ends.abort_bash();
        }
        self.out.lend(|out| match reply {
            Ok(reply) => out.answer(&request, reply),
            Err(refusal) => out.refuse(request.id.as_deref(), &request.command, &refusal),
        })
    }

    fn reply(&mut self, request: &Request<'_>) -> Result<Reply, Refusal> {
        // What other programs appended is there for whoever asks. Should the file have become
        // unreadable, the entries asked for say so themselves.
        self.agent.with_session(|session| session.refresh().ok());
        for answers in [change::reply, export::reply, leave::reply, say::reply, settings::reply] {
            if let Some(reply) = answers(self, request)? {
                return Ok(reply);
            }
        }
        read::reply(self, request)
    }

    /// Begins something that answers by itself. Its first step is made here; what is left of it goes on beside the
    /// next requests.
    fn start(&mut self, work: impl Future<Output = ()> + Send + 'static) -> Reply {
        let mut work = Box::pin(work);
        if work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            self.tasks.retain(|task| !task.is_finished());
            self.tasks.push(self.runtime.spawn(work));
        }
        Reply::Elsewhere
    }

    /// Begins something that answers when it ends. It has begun when this returns, so that an abort
    /// behind it finds it.
    fn begin(
        &mut self,
        request: &Request<'_>,
        work: impl Future<Output = Result<Option<String>, Refusal>> + Send + 'static,
    ) -> Reply {
        let (out, id, command) = (self.out.clone(), request.id.clone(), request.command.clone());
        self.start(async move {
            let outcome = work.await;
            out.line(answer::line(id.as_deref(), &command, outcome));
        })
    }
}
