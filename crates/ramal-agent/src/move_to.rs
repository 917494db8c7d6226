//! Going on with a session in another directory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use ramal_session::{NameSource, SessionManager};

use crate::AgentSession;
use crate::chosen::ModelChoice;
use crate::error::AgentError;
use crate::hooks::SwitchReason;
use crate::operation::{OnStage, Operation};
use crate::session::AgentConfig;

/// Where a session went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The directory that it works in now, as the file system names it.
    pub cwd: PathBuf,
    /// Its file now.
    pub session_file: PathBuf,
    /// The file that was left, as it was; none if nothing had been written yet.
    pub left_file: Option<PathBuf>,
}

impl AgentSession {
    /// Goes on in another directory: with a copy of the whole file, all branches and labels, that belongs to
    /// that directory and names this one as its parent. The file of before stays where it is. One stands at
    /// the same entry as before. A turn that runs is ended first.
    ///
    /// `dir` may be relative to the directory of the session. The copy is made in `session_dir`, or in the
    /// program's own folder for `dir`. What follows from a directory, such as permissions and the system
    /// prompt, is made anew by what was given to [`AgentSession::reconfigure_with`]. None says that a hook or
    /// the user ended it.
    ///
    /// # Errors
    /// If there is no such directory, the session is in it already, or in memory only, something else than a
    /// turn runs, or the copy could not be made. Nothing has moved.
    pub async fn move_to(&self, dir: &Path, session_dir: Option<&Path>) -> Result<Option<Moved>, AgentError> {
        let dir = self.other_directory(dir)?;
        if !self.manager().is_persisted() {
            return Err(AgentError::OnlyInMemory { path: dir });
        }
        let stage = self.shared.stage.take_over(Operation::Replacement).await?;
        let moved = self.move_on(&stage, dir, session_dir).await;
        self.end(stage);
        moved
    }

    /// The directory of that name, which is not the one of the session.
    fn other_directory(&self, dir: &Path) -> Result<PathBuf, AgentError> {
        let cwd = self.cwd();
        let path = cwd.join(dir);
        let failed = |source| AgentError::NoSuchDirectory { path: path.clone(), source };
        let real = std::fs::canonicalize(&path).map_err(failed)?;
        // A file has an end of its path, but nothing in it.
        std::fs::read_dir(&real).map_err(failed)?;
        match std::fs::canonicalize(&cwd) {
            Ok(cwd) if cwd == real => Err(AgentError::AlreadyThere { path: real }),
            _ => Ok(real),
        }
    }

    async fn move_on(
        &self,
        stage: &OnStage,
        dir: PathBuf,
        session_dir: Option<&Path>,
    ) -> Result<Option<Moved>, AgentError> {
        if !self.may_switch(stage, SwitchReason::Fork, None).await {
            return Ok(None);
        }
        let choice = self.model_choice()?;
        let left_file = self.with_session(|manager| {
            manager.is_on_disk().then(|| manager.get_session_file().map(Path::to_owned)).flatten()
        });
        let copy = match &left_file {
            Some(file) => self.copy_for(file.clone(), dir.clone(), session_dir.map(Path::to_owned)).await?,
            None => self.begin_in(&dir, session_dir, &choice)?,
        };
        let session_file = copy.get_session_file().map(Path::to_owned).unwrap_or_default();
        let go = |manager: &mut SessionManager| {
            *manager = copy;
            Ok(())
        };
        self.go_over(stage, SwitchReason::Fork, go).await?;
        self.work_in(&dir);
        Ok(Some(Moved { cwd: dir, session_file, left_file }))
    }

    /// A copy of a file, which may be large, standing where this session stands.
    async fn copy_for(
        &self,
        file: PathBuf,
        dir: PathBuf,
        session_dir: Option<PathBuf>,
    ) -> Result<SessionManager, AgentError> {
        let leaf = self.leaf_id()?;
        let copying = tokio::task::spawn_blocking(move || {
            SessionManager::fork_from(&file, &dir, session_dir.as_deref())
        });
        let mut copy = match copying.await {
            Ok(copy) => copy?,
            Err(error) => return Err(AgentError::Other { message: format!("the copy broke off: {error}") }),
        };
        match leaf {
            Some(leaf) => copy.branch(&leaf)?,
            None => copy.reset_leaf(),
        }
        Ok(copy)
    }

    /// A new session in place of one in which nothing was said: there is no file to copy.
    fn begin_in(
        &self,
        dir: &Path,
        session_dir: Option<&Path>,
        choice: &ModelChoice,
    ) -> Result<SessionManager, AgentError> {
        let name = self.manager().get_session_name();
        let mut fresh = SessionManager::create(dir, session_dir)?;
        self.choose_in(&mut fresh, choice)?;
        if let Some(name) = name {
            fresh.set_session_name(&name, NameSource::User)?;
        }
        Ok(fresh)
    }

    /// Lets tools work in a directory, where nobody said what follows from it.
    fn work_in(&self, dir: &Path) {
        let mut config = self.shared.config.lock().unwrap_or_else(PoisonError::into_inner);
        if config.cwd != dir {
            *config = Arc::new(AgentConfig { cwd: dir.to_owned(), ..AgentConfig::clone(&config) });
        }
    }
}
