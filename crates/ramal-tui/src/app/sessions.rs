//! Other sessions: looking for them, naming and deleting them, going over to them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ramal_session::library::{Heard as Found, SessionInfo};

use super::over::{Heard, Over};
use super::{App, Message};
use crate::question::{Question, Told as Answered};
use crate::session_view::{Around, SessionScope, SessionView, Told};
use crate::text::clean;
use crate::transcript::Block;

/// Sessions that are handed over to the screen at a time.
const PORTION: usize = 50;

/// The sessions on the screen, and the number of the search that is wanted.
pub(super) struct Sessions {
    pub(super) view: Box<SessionView>,
    wanted: Arc<AtomicU64>,
}

impl Drop for Sessions {
    /// Nobody wants to know any more what is still being looked for.
    fn drop(&mut self) {
        self.wanted.store(u64::MAX, Ordering::Relaxed);
    }
}

impl App {
    /// `/resume`: opens the selector, or the session that is named.
    pub(super) fn resume(&mut self, name: &str) {
        if name.is_empty() {
            return self.open_sessions();
        }
        if let Some(program) = name.strip_prefix('@') {
            let program = clean::one_line(program, 20);
            self.hint =
                Some(format!("Sessions of {program} cannot be taken over yet; pi's and oh-my-pi's can"));
            return;
        }
        let (host, cwd, name) = (Arc::clone(&self.host), self.agent.cwd(), name.to_owned());
        self.aside(
            move || host.find_session(&cwd, &name),
            |app, found| match found {
                Ok(path) => app.open_session(&path),
                Err(why) => app.notice(&why),
            },
        );
    }

    /// Opens the session selector.
    pub(super) fn open_sessions(&mut self) {
        let open = self.with_session(|session| {
            session.get_session_file().filter(|_| session.is_on_disk()).map(Path::to_owned)
        });
        let around = Around { cwd: self.agent.cwd(), home: self.home.clone(), open };
        let view = Box::new(SessionView::new(around));
        self.cover(Over::Sessions(Sessions { view, wanted: Arc::default() }));
        self.list_sessions(SessionScope::Directory);
    }

    fn sessions(&mut self) -> Option<&mut SessionView> {
        self.over.iter_mut().rev().find_map(|over| match over {
            Over::Sessions(sessions) => Some(&mut *sessions.view),
            _ => None,
        })
    }

    /// Lists the sessions of a scope, and shows them as they come.
    fn list_sessions(&mut self, scope: SessionScope) {
        let (host, cwd, messages) = (Arc::clone(&self.host), self.agent.cwd(), self.messages.clone());
        let list = move || {
            let mut portion: Vec<SessionInfo> = Vec::new();
            let mut hear = |found: Found| {
                let progress = match found {
                    Found::Session(info) => {
                        portion.push(*info);
                        None
                    }
                    Found::Progress { done, of } => Some((done, of)),
                    // A file that is no session is told of by `ramal ls`.
                    Found::Problem(_) => None,
                };
                if portion.len() < PORTION && progress.is_none_or(|(done, of)| done < of) {
                    return ControlFlow::Continue(());
                }
                let some = std::mem::take(&mut portion);
                let take =
                    Message::Done(Box::new(move |app: &mut App| app.has_sessions(scope, some, progress)));
                match messages.send(take) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            };
            host.list_sessions(&cwd, scope, &mut hear);
            portion
        };
        self.aside(list, move |app, rest| {
            app.has_sessions(scope, rest, None);
            if let Some(view) = app.sessions() {
                view.finished(scope);
            }
        });
    }

    fn has_sessions(
        &mut self,
        scope: SessionScope,
        some: Vec<SessionInfo>,
        progress: Option<(usize, usize)>,
    ) {
        let Some(view) = self.sessions() else { return };
        view.add(scope, some);
        if let Some((done, of)) = progress {
            view.progress(scope, done, of);
        }
        self.search_texts();
    }

    /// Looks through the texts that the search in the selector asks for.
    fn search_texts(&mut self) {
        let Some(Over::Sessions(sessions)) =
            self.over.iter_mut().rev().find(|over| matches!(over, Over::Sessions(_)))
        else {
            return;
        };
        let Some(wanted) = sessions.view.texts_wanted() else { return };
        let number = wanted.number;
        sessions.wanted.store(number, Ordering::Relaxed);
        let now = Arc::clone(&sessions.wanted);
        let messages = self.messages.clone();
        let look = move || {
            let files = wanted.files;
            let cancelled = || now.load(Ordering::Relaxed) != number;
            let mut hear = |file: usize, found: Result<_, _>| {
                let Some(path) = files.get(file).cloned() else { return };
                // One that cannot be read has nothing in it that could be shown.
                let found = found.ok().flatten();
                let _ = messages.send(Message::Done(Box::new(move |app: &mut App| {
                    if let Some(view) = app.sessions() {
                        view.texts_found(number, &path, found);
                    }
                })));
            };
            ramal_session::library::search(&files, &wanted.query, &cancelled, &mut hear);
        };
        self.aside(look, |_, ()| {});
    }

    pub(super) fn sessions_told(&mut self, told: Told) {
        match told {
            Told::Search => self.search_texts(),
            Told::WantScope(scope) => self.list_sessions(scope),
            Told::Open { path, found_at } => {
                self.uncover_all();
                self.open_session_at(&path, found_at.as_deref().map(str::to_owned));
            }
            Told::AlreadyOpen => {
                self.uncover_all();
                self.hint = Some("You are in that session already".into());
            }
            Told::Rename { path, name } => self.rename_session(path, name),
            Told::Delete(path) => self.trash_session(path),
            Told::Nothing | Told::Redraw | Told::Close | Told::Suspend => {}
        }
    }

    fn rename_session(&mut self, path: PathBuf, name: String) {
        let is_open = self.with_session(|session| session.get_session_file() == Some(&*path));
        let (agent, host) = (self.agent.clone(), Arc::clone(&self.host));
        let (file, called) = (path.clone(), name.clone());
        let rename = move || match is_open {
            true => agent.set_session_name(&called).map(drop).map_err(|error| error.to_string()),
            false => host.rename_session(&file, &called),
        };
        self.write(rename, move |app, renamed| {
            let Some(view) = app.sessions() else {
                return renamed.err().into_iter().for_each(|why| app.notice(&why));
            };
            match renamed {
                Ok(()) => view.renamed(&path, Some(&*name).filter(|name| !name.is_empty())),
                Err(why) => view.notice(why),
            }
        });
    }

    fn trash_session(&mut self, path: PathBuf) {
        let open = self.with_session(|session| session.get_session_file().map(Path::to_owned));
        let (host, file) = (Arc::clone(&self.host), path.clone());
        self.write(
            move || host.trash_session(&file, open.as_deref()),
            move |app, trashed| {
                let Some(view) = app.sessions() else {
                    return app.notice(&trashed.unwrap_or_else(|why| why));
                };
                match trashed {
                    Ok(where_to) => {
                        view.deleted(&path);
                        view.notice(where_to);
                    }
                    Err(why) => view.notice(why),
                }
            },
        );
    }

    /// `/drop`: begins a new session, and the one that is left goes to the trash.
    pub(super) fn delete_session(&mut self) {
        let file = self.with_session(|session| {
            session.get_session_file().filter(|_| session.is_on_disk()).map(Path::to_owned)
        });
        let Some(file) = file else {
            self.hint = Some("There is no file of this session that could be deleted".into());
            return;
        };
        let says = "A new session begins. The file goes to the trash, from where it can be brought back.";
        let question = Question::yes_no("Delete this session?", says, "Delete it", "Keep it");
        self.question(question, move |app, answered| {
            if !matches!(answered, Answered::Answer { option: 0, .. }) {
                return;
            }
            let (agent, host) = (app.agent.clone(), Arc::clone(&app.host));
            app.begin_to_leave(true);
            let work = async move {
                match agent.new_session(None).await {
                    Ok(true) => return Err("An extension did not let the session be left".to_owned()),
                    Ok(false) => {}
                    Err(error) => return Err(error.to_string()),
                }
                // It runs programs, which nobody on this thread waits for.
                let trashed = tokio::task::spawn_blocking(move || host.trash_session(&file, None)).await;
                trashed.unwrap_or_else(|error| Err(error.to_string()))
            };
            app.job_away(work, |app, trashed| match trashed {
                Ok(where_to) => app.say(Block::notice(&where_to)),
                Err(why) => app.say(Block::wrong(&why)),
            });
        });
    }
}

/// What is heard of the selector.
pub(super) fn heard(told: Told) -> Heard {
    match told {
        Told::Nothing => Heard::Nothing,
        Told::Redraw => Heard::Redraw,
        Told::Close => Heard::Close,
        Told::Suspend => Heard::Suspend,
        told => Heard::Do(Box::new(move |app| app.sessions_told(told))),
    }
}
