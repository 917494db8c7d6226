//! Which session a program that works in one begins with.

use std::path::{Path, PathBuf};

use ramal_session::SessionManager;

use crate::cli::Globals;
use crate::failure::Failure;
use crate::work::HEADING;
use crate::{failure, remembered, resolve, settings, work};

/// The options that say which session.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub(crate) struct Which {
    /// Go on with the most recent session of this directory
    #[arg(short, long = "continue", group = "which", help_heading = HEADING)]
    continue_: bool,
    /// Go on with this session; without a name, in a terminal, choose one
    #[arg(short, long, value_name = "SESSION", num_args = 0..=1, group = "which", help_heading = HEADING)]
    resume: Option<Option<String>>,
    /// As --resume; a file that is not there becomes a new session
    #[arg(long, value_name = "SESSION", group = "which", help_heading = HEADING)]
    session: Option<String>,
    /// Go on with a copy of this session, in this directory
    #[arg(long, value_name = "SESSION", group = "which", help_heading = HEADING)]
    fork: Option<String>,
    /// Keep nothing of it
    #[arg(long, group = "which", help_heading = HEADING)]
    no_session: bool,
    /// Name the session
    #[arg(short, long, value_name = "NAME", help_heading = HEADING)]
    name: Option<String>,
}

impl Which {
    /// The name that the session is given.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }

    /// Whether somebody is to choose the session.
    pub(crate) fn wants_selector(&self) -> bool {
        self.resume == Some(None)
    }

    /// As [`Which::open_telling`], where one can be chosen later; and where nothing is said and the settings want it
    /// (`autoResume`), the most recent session of the directory.
    ///
    /// # Errors
    /// As for [`Which::open`].
    pub(crate) fn open_or_resume(&self, globals: &Globals, found: &dyn Fn(&Path)) -> anyhow::Result<Opened> {
        if self.wants_selector() {
            return Ok(SessionManager::create(&resolve::cwd()?, globals.session_dir.as_deref())?.into());
        }
        let says_nothing = Which { name: self.name.clone(), ..Which::default() } == *self;
        if says_nothing && settings::load(&resolve::cwd()?).0.screen.auto_resume {
            return Which { continue_: true, ..self.clone() }.open_telling(globals, found);
        }
        self.open_telling(globals, found)
    }

    /// The session, found. Writes nothing.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be opened.
    pub(crate) fn open(&self, globals: &Globals) -> anyhow::Result<Opened> {
        self.open_telling(globals, &|_| {})
    }

    /// The same. Before a log is read that is gone on with, `found` is told where it lies.
    ///
    /// # Errors
    /// As for [`Which::open`].
    pub(crate) fn open_telling(&self, globals: &Globals, found: &dyn Fn(&Path)) -> anyhow::Result<Opened> {
        let session_dir = globals.session_dir.as_deref();
        let cwd = resolve::cwd()?;
        if self.no_session {
            return Ok(SessionManager::in_memory(&cwd).into());
        }
        if let Some(source) = &self.fork {
            let source = resolve::session_path(Some(source), globals)?;
            let session = SessionManager::open_in(&source, None, &cwd)?;
            let copy = CopyOf { source, cwd, session_dir: session_dir.map(PathBuf::from) };
            return Ok(Opened { session, copy: Some(copy) });
        }
        // An empty file becomes a new session, too.
        if let Some(name) =
            self.session.as_deref().filter(|name| is_new_file(name) || Path::new(name).is_file())
        {
            found(Path::new(name));
            let mut session = SessionManager::open_in(Path::new(name), session_dir, &cwd)?;
            remembered::recall(&mut session);
            return Ok(session.into());
        }
        if self.wants_selector() {
            return Err(Failure::usage("--resume names no session, and nobody can choose one here")
                .hint("`ramal ls` lists the sessions of this directory; -c goes on with the last")
                .into());
        }
        let resumed = self.resume.as_ref().and_then(|name| name.as_deref());
        if let Some(name) = self.session.as_deref().or(resumed) {
            let path = resolve::session_path(Some(name), globals)?;
            found(&path);
            let mut session = SessionManager::open(&path, session_dir)?;
            remembered::recall(&mut session);
            return Ok(session.into());
        }
        if self.continue_ {
            let Some(path) = SessionManager::most_recent(&cwd, session_dir) else {
                failure::note("No session of this directory to go on with: this is a new one");
                return Ok(SessionManager::create(&cwd, session_dir)?.into());
            };
            found(&path);
            let mut session = SessionManager::open_in(&path, session_dir, &cwd)?;
            remembered::recall(&mut session);
            return Ok(session.into());
        }
        Ok(SessionManager::create(&cwd, session_dir)?.into())
    }
}

/// A session that was found. A copy of it is made when it is known that nothing else is missing.
pub(crate) struct Opened {
    pub(crate) session: SessionManager,
    copy: Option<CopyOf>,
}

/// What a copy of a session is made from.
struct CopyOf {
    source: PathBuf,
    cwd: PathBuf,
    session_dir: Option<PathBuf>,
}

impl From<SessionManager> for Opened {
    fn from(session: SessionManager) -> Opened {
        Opened { session, copy: None }
    }
}

impl Opened {
    /// Where it will work.
    ///
    /// # Errors
    /// If that directory is gone.
    pub(crate) fn directory(&self) -> anyhow::Result<PathBuf> {
        match &self.copy {
            Some(copy) => Ok(copy.cwd.clone()),
            None => work::directory(&self.session),
        }
    }

    /// The session that is gone on with.
    ///
    /// # Errors
    /// If the copy cannot be made.
    pub(crate) fn begin(self) -> anyhow::Result<SessionManager> {
        match self.copy {
            Some(CopyOf { source, cwd, session_dir }) => {
                Ok(SessionManager::fork_from(&source, &cwd, session_dir.as_deref())?)
            }
            None => Ok(self.session),
        }
    }
}

/// Whether this can only be the path of a file that is not there yet, in a folder that is.
fn is_new_file(name: &str) -> bool {
    let path = Path::new(name);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let looks_like_a_path = folder.is_some() || path.extension().is_some_and(|end| end == "jsonl");
    looks_like_a_path && !path.exists() && folder.unwrap_or(Path::new(".")).is_dir()
}
