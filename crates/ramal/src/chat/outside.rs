//! Other programs: git, as far as its files tell, and the user's own editor.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

/// The branch that is checked out where a directory lies: as the file says that git keeps of it, without git.
pub(super) fn git_branch(cwd: &Path) -> Option<String> {
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
pub(super) fn edit(text: &str) -> io::Result<Option<String>> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok());
    let editor = editor.filter(|editor| !editor.trim().is_empty());
    let editor = editor.ok_or_else(|| io::Error::other("neither VISUAL nor EDITOR names one"))?;
    let mut file = tempfile::Builder::new().prefix("ramal-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // As git does it: the variable may have options in it.
    let status =
        Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file.path()).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("{editor} ended with {status}")));
    }
    // Editors may have put another file in its place.
    let edited = std::fs::read(file.path())?;
    let edited = String::from_utf8_lossy(&edited).into_owned();
    Ok((edited != text).then_some(edited))
}
