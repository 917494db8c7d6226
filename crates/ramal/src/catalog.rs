//! The models there are, as this user's files and environment say.

use std::path::PathBuf;

use ramal_model::Catalog;
use ramal_model::catalog::{Problem, Sources};

/// The user's folder for settings; none where the environment names no place for it.
pub(crate) fn settings_folder() -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    config.is_absolute().then(|| config.join("ramal"))
}

/// pi's folder of settings.
pub(crate) fn pi_folder() -> Option<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    match std::env::var_os("PI_CODING_AGENT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from) {
        Some(folder) => match (folder.strip_prefix("~"), &home) {
            (Ok(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(folder),
        },
        None => home.map(|home| home.join(".pi/agent")),
    }
}

/// The catalog, and what in the files could not be used.
pub(crate) fn load() -> (Catalog, Vec<Problem>) {
    Catalog::load(&Sources {
        own: settings_folder().map(|folder| folder.join("models.toml")),
        pi: pi_folder().map(|folder| folder.join("models.json")),
        variables: &|name| std::env::var(name).ok(),
    })
}
