//! The settings as rows of the screen.

use std::path::Path;

use ramal_tui::settings_view::SettingRow;

use super::table::{self, Kind};
use super::{Files, Origin, Place, Said, Settings};

/// Every setting that there is, as it counts for work in `cwd`, and where it is set. Reads the files of
/// settings; what is wrong with them is told by [`super::load`].
pub(crate) fn rows(cwd: &Path) -> Vec<SettingRow> {
    of(&Files::of(cwd).read())
}

pub(super) fn of(said: &Said) -> Vec<SettingRow> {
    let defaults = Settings::default();
    let from = |key: &str| said.places.get(key).map(Place::shown).unwrap_or_default();
    let mut rows = Vec::new();
    for known in table::SETTINGS {
        rows.push(SettingRow {
            key: known.key.to_owned(),
            value: (known.value)(&said.settings),
            default: (known.value)(&defaults),
            kind: known.kind.shown(),
            says: known.says.to_owned(),
            from: from(known.key),
        });
        // What tools may do stands beside which there are.
        if known.key == "tools" {
            rows.extend(table::tools().iter().map(|tool| permission(said, tool, &from)));
        }
    }
    rows
}

fn permission(said: &Said, tool: &str, from: &dyn Fn(&str) -> String) -> SettingRow {
    let key = format!("{}{tool}", table::PERMISSIONS);
    SettingRow {
        value: table::permission(&said.settings, tool),
        default: String::new(),
        kind: PERMISSION.shown(),
        says: table::PERMISSION_SAYS.to_owned(),
        from: from(&key),
        key,
    }
}

/// What a permission can be.
pub(super) const PERMISSION: Kind = Kind::Choice(|| table::LEVELS.to_vec());

impl Place {
    /// Where it is, in short.
    fn shown(&self) -> String {
        match self.origin {
            Origin::Project => "project file .ramal/settings.toml".to_owned(),
            Origin::PiProject => "project file .pi/settings.json".to_owned(),
            Origin::User | Origin::PiUser => short(&self.path),
        }
    }
}

/// A path with `~` for the home folder.
pub(super) fn short(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute() && home.parent().is_some());
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests;
