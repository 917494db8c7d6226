//! The settings of extensions: which there are besides those in the folders, and what each may use up.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::read::Value;
use super::values::{folder, some};
use super::{Origin, Taken};

/// What the settings say of extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extensions {
    /// Files and folders, as they are written.
    pub(super) named: Vec<String>,
    /// The folder of the file in which they stand.
    beside: PathBuf,
    /// Whether those in pi's folders are loaded, too.
    pub(crate) from_pi: bool,
    /// The same for oh-my-pi.
    pub(crate) from_omp: bool,
    /// How long their JavaScript may run at a stretch.
    pub(crate) running_time: Duration,
    /// How long a handler may take to answer, besides what it waits for.
    pub(crate) event_time: Duration,
    /// Bytes that each may hold.
    pub(crate) memory: usize,
}

impl Extensions {
    /// Takes in a setting. A project's extensions lie in its own folder, and are asked about; what it names
    /// elsewhere is not for it to say. What pi's file names is pi's.
    pub(super) fn take(
        &mut self,
        key: &str,
        value: &Value,
        path: &Path,
        origin: Origin,
    ) -> Result<Taken, String> {
        if origin.is_pi() {
            return Ok(Taken::PassedOver);
        }
        if origin.is_project() {
            return Err("cannot be set by a project; it is passed over".into());
        }
        match key {
            "extensions" => {
                let Value::Texts(paths) = value else {
                    return Err(
                        "must be a list of files and folders such as [\"~/mine.ts\"]; none is loaded".into(),
                    );
                };
                self.named = paths.clone();
                // Nobody asks where nothing stands.
                let beside = path.parent().filter(|_| !paths.is_empty());
                self.beside = beside.unwrap_or(Path::new("")).to_owned();
            }
            "extensionsFrom" => {
                let wrong = || "must be a list of \"pi\" and \"omp\"; only ramal's own are loaded".to_owned();
                let Value::Texts(names) = value else { return Err(wrong()) };
                if names.iter().any(|name| !matches!(&**name, "pi" | "omp")) {
                    return Err(wrong());
                }
                self.from_pi = names.iter().any(|name| name == "pi");
                self.from_omp = names.iter().any(|name| name == "omp");
            }
            "extensionRunningMs" => self.running_time = Duration::from_millis(some(value)?),
            "extensionAnswerMs" => self.event_time = Duration::from_millis(some(value)?),
            "extensionMemoryMb" => {
                self.memory = usize::try_from(some(value)?.saturating_mul(1 << 20)).unwrap_or(usize::MAX);
            }
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Yes)
    }

    /// Files and folders.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let found = self.named.iter().filter_map(|path| folder(&Value::Text(path.clone())).ok());
        found.map(|path| self.beside.join(path)).collect()
    }
}

impl Default for Extensions {
    fn default() -> Extensions {
        Extensions {
            named: Vec::new(),
            beside: PathBuf::new(),
            from_pi: false,
            from_omp: false,
            running_time: Duration::from_secs(5),
            event_time: Duration::from_secs(30),
            memory: 256 << 20,
        }
    }
}
