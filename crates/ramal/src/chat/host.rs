//! What the conversation asks of this program.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ramal_session::SessionManager;
use ramal_tui::app::{DoubleEscape, Host, Wishes};
use ramal_tui::model_view::ModelRow;
use ramal_tui::settings_view::SettingRow;
use ramal_tui::theme::{Background, ColorDepth, Theme};

use crate::models::Models;
use crate::settings::{self, DoubleEscape as Escape};
use crate::{failure, remembered};

/// This program.
pub(super) struct ProgramHost {
    pub(super) models: Arc<Models>,
    pub(super) depth: ColorDepth,
}

impl Host for ProgramHost {
    fn wishes(&self, cwd: &Path) -> Wishes {
        // What is wrong with them was told when the session was made ready.
        let (settings, _) = settings::load(cwd);
        let screen = &settings.screen;
        Wishes {
            double_escape: match screen.double_escape {
                Escape::Tree => DoubleEscape::Tree,
                Escape::Branch => DoubleEscape::Branch,
                Escape::None => DoubleEscape::None,
            },
            asks_for_summary: screen.summary_enabled && !screen.summary_skip_prompt,
            hides_thinking: screen.hide_thinking,
            is_quiet: screen.quiet_startup,
            replay_limit: usize::try_from(screen.replay_limit).unwrap_or(usize::MAX),
            tree_filter: settings.tree_filter,
        }
    }

    fn theme(&self, background: Background) -> (Theme, Vec<String>) {
        (Theme::built_in(background, self.depth), Vec::new())
    }

    fn remember(&self, session: &SessionManager) {
        remembered::remember(session);
    }

    fn window(&self, model: &str) -> Option<u64> {
        self.models.window(model)
    }

    fn git_branch(&self, cwd: &Path) -> Option<String> {
        git_branch(cwd)
    }

    fn any_model(&self) -> Option<String> {
        self.models.first_usable()
    }

    fn models(&self, present: Option<&str>) -> Vec<ModelRow> {
        self.models.usable(|listed| {
            let (name, model) = (listed.name(), listed.model);
            ModelRow {
                is_present: Some(&*name) == present,
                name,
                context_window: model.context_window,
                input_price: model.cost.input,
                output_price: model.cost.output,
                thinks: model.thinks,
                sees: model.sees,
            }
        })
    }

    fn settings(&self, _: &Path) -> Vec<SettingRow> {
        Vec::new()
    }

    fn set(&self, _: &Path, _: &str, _: &str) -> Result<String, String> {
        Err(String::new())
    }

    fn sent(&self, _: &Path, _: &str) {}

    fn edit(&self, text: &str) -> io::Result<Option<String>> {
        edit(text)
    }

    fn complain(&self, message: &str) {
        failure::warn(message);
    }
}

/// The branch that is checked out where a directory lies: as the file says that git keeps of it, without git.
fn git_branch(cwd: &Path) -> Option<String> {
    let found = cwd.ancestors().map(|folder| folder.join(".git")).find(|path| path.exists())?;
    let folder = match found.is_dir() {
        true => found,
        // A worktree: the file says where its folder is.
        false => {
            let text = std::fs::read_to_string(&found).ok()?;
            let named = text.strip_prefix("gitdir:")?.trim();
            found.parent()?.join(named)
        }
    };
    let head = std::fs::read_to_string(folder.join("HEAD")).ok()?;
    let head = head.trim();
    Some(match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch.to_owned(),
        // Not on a branch: the commit.
        None => head.chars().take(8).collect(),
    })
}

/// Gives a text to the user's editor.
fn edit(text: &str) -> io::Result<Option<String>> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok());
    let editor = editor.filter(|editor| !editor.trim().is_empty());
    let editor = editor.ok_or_else(|| io::Error::other("neither VISUAL nor EDITOR names one"))?;
    let mut file = tempfile::Builder::new().prefix("ramal-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // As git does it: the variable may have options in it.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!("{editor} ended with {status}")));
    }
    // Editors may have put another file in its place.
    let edited = std::fs::read_to_string(file.path())?;
    Ok((edited != text).then_some(edited))
}
