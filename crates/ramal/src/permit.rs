//! What calls of tools may be run: the policy of a session, and who is asked where it does not decide.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ramal_agent::Permit;
use ramal_agent::permission::{Decision, Mode, Permissions, Question, Store};
use ramal_agent::tools::{self, Access};
use ramal_session::{SessionManager, json};

use crate::failure;
use crate::settings::Settings;

#[cfg(test)]
mod tests;

/// For how long a yes is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remember {
    /// For the rest of the session.
    Session,
    /// For later sessions in the same directory, too.
    Project,
}

/// What somebody answered. The default is no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) is_yes: bool,
    /// For how long it is remembered; none: it counts once.
    pub(crate) remember: Option<Remember>,
}

/// Somebody who can be asked.
pub(crate) trait AsksUser: Send + Sync {
    /// Whether a call of a tool may be run, and for how long that holds. The arguments are those of the call,
    /// as JSON; `offered` is what can be remembered of the answer, which may be nothing.
    ///
    /// May take as long as the user does. A turn that is ended drops it: then nobody waits for the answer.
    fn confirm<'a>(
        &'a self,
        tool: &'a str,
        arguments: &'a str,
        question: &'a Question,
        offered: Vec<Remember>,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

    /// Says what became of an answer, if that is not what was wanted.
    fn notice(&self, message: String);
}

/// Lets calls of tools be run as the policy says, and asks where it says so.
pub(crate) struct Asking {
    permissions: Mutex<Permissions>,
    asks: Arc<dyn AsksUser>,
}

impl Asking {
    /// As `permissions` say; `asks` is who is asked.
    pub(crate) fn new(permissions: Permissions, asks: Arc<dyn AsksUser>) -> Asking {
        Asking { permissions: Mutex::new(permissions), asks }
    }

    fn permissions(&self) -> MutexGuard<'_, Permissions> {
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows reading below another folder.
    pub(crate) fn allow_reading(&self, folder: &Path) {
        self.permissions().allow_reading(folder);
    }

    async fn ask(&self, tool: &str, arguments: &str, question: &Question) -> bool {
        let offered = match question.rules.is_empty() {
            true => Vec::new(),
            false if self.permissions().has_store() => vec![Remember::Session, Remember::Project],
            false => vec![Remember::Session],
        };
        let answer = self.asks.confirm(tool, arguments, question, offered).await;
        // A no allows nothing, whatever else the answer says.
        match answer.remember.filter(|_| answer.is_yes) {
            None => {}
            Some(Remember::Session) => self.permissions().always_in_session(&question.rules),
            Some(Remember::Project) => {
                let remembered = self.permissions().always_in_project(&question.rules);
                if let Err(error) = remembered {
                    let error = anyhow::Error::new(error);
                    self.asks.notice(format!("remembered for this session only: {error:#}"));
                }
            }
        }
        answer.is_yes
    }
}

impl Permit for Asking {
    fn may_run<'a>(
        &'a self,
        tool: &'a str,
        arguments: &'a str,
        access: &'a [Access],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            let decision = self.permissions().decide(tool, access);
            match decision {
                Decision::Allow => true,
                Decision::Deny(_) => false,
                Decision::Ask(question) => self.ask(tool, arguments, &question).await,
            }
        })
    }
}

/// Decides where nobody can be asked: what would have to be asked for is refused, and said.
pub(crate) struct Unattended(pub(crate) Permissions);

impl Permit for Unattended {
    fn may_run<'a>(
        &'a self,
        tool: &'a str,
        _: &'a str,
        access: &'a [Access],
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        let why = match self.0.decide(tool, access) {
            Decision::Allow => None,
            Decision::Ask(question) => Some(format!("Not allowed: to {}", question.reason)),
            Decision::Deny(why) => Some(why),
        };
        if let Some(why) = &why {
            failure::note(why);
        }
        Box::pin(std::future::ready(why.is_none()))
    }
}

/// What a session in `cwd` may do: the rules of the user, the levels of the settings.
pub(crate) fn permissions(
    manager: &SessionManager,
    cwd: &Path,
    settings: &Settings,
    mode: Mode,
) -> Permissions {
    let (mut permissions, problem) = Permissions::new(cwd, mode, Store::from_environment());
    if let Some(problem) = problem {
        failure::warn(&format!("{:#}", anyhow::Error::new(problem)));
    }
    for (tool, level) in &settings.permissions {
        permissions.set_level(tool, *level);
    }
    for folder in outputs(manager) {
        permissions.allow_reading(&folder);
    }
    permissions
}

/// Sessions that a copy is a copy of, at most.
const MOST_PARENTS: usize = 32;

/// Bytes of a header that are read for the name of its parent.
const LONGEST_HEADER: u64 = 64 * 1024;

/// The folders in which the model reads what was too long for it: that of the session, and those of the
/// sessions it was copied from, since the copy speaks of them.
pub(crate) fn outputs(manager: &SessionManager) -> Vec<PathBuf> {
    let Some(file) = manager.get_session_file() else { return Vec::new() };
    let mut files = vec![file.to_owned()];
    let mut parent = manager.get_header().parent_session().map(PathBuf::from);
    while let Some(file) = parent.filter(|file| file.is_absolute() && !files.contains(file)) {
        parent = parent_of(&file);
        files.push(file);
        if files.len() > MOST_PARENTS {
            break;
        }
    }
    files.iter().map(|file| tools::outputs_folder(file)).collect()
}

/// The session that the one in a file was copied from.
fn parent_of(file: &Path) -> Option<PathBuf> {
    use std::io::{BufRead as _, BufReader, Read as _};
    let mut line = Vec::new();
    let file = std::fs::File::open(file).ok()?;
    BufReader::new(file.take(LONGEST_HEADER)).read_until(b'\n', &mut line).ok()?;
    json::get_str(&line, "parentSession").map(|parent| PathBuf::from(&*parent))
}
