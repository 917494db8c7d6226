//! The system prompt: our own few lines, and what the project and the user want to be known.
//!
//! It holds nothing that changes within a session, such as the time: providers cache a conversation
//! by its beginning.

use std::io;
use std::path::{Path, PathBuf};

const OWN: &str = include_str!("prompts/assistant.md");

/// The names under which projects and users keep what a model should know, the first one counts.
const CONTEXT_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Bytes of a context file that are taken in.
const LONGEST: u64 = 256 * 1024;

/// A file with what a model should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// What is found of context files, and what could not be read.
#[derive(Debug, Default)]
pub struct ContextFiles {
    /// The user's own first, then from the top of the file system down to the directory.
    pub files: Vec<ContextFile>,
    /// Files that are there and cannot be read.
    pub problems: Vec<(PathBuf, io::Error)>,
}

/// Looks for context files: in the first of `user_folders` that has one, and in `cwd` and every directory
/// above it.
pub fn context_files(cwd: &Path, user_folders: &[PathBuf]) -> ContextFiles {
    let mut found = ContextFiles::default();
    let mut seen: Vec<PathBuf> = Vec::new();
    for folder in user_folders {
        if found.take_from(folder, &mut seen) {
            break;
        }
    }
    let above: Vec<&Path> = cwd.ancestors().collect();
    for folder in above.into_iter().rev() {
        found.take_from(folder, &mut seen);
    }
    found
}

impl ContextFiles {
    /// Takes in the file of a folder, unless it was seen. Answers whether there is one.
    fn take_from(&mut self, folder: &Path, seen: &mut Vec<PathBuf>) -> bool {
        let mut is_there = false;
        for name in CONTEXT_FILES {
            let path = folder.join(name);
            let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            if seen.contains(&real) {
                return true;
            }
            match read(&path) {
                Ok(text) => {
                    seen.push(real);
                    if !text.trim().is_empty() {
                        self.files.push(ContextFile { path, text });
                    }
                    return true;
                }
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => {
                    is_there = true;
                    self.problems.push((path, error));
                }
            }
        }
        is_there
    }
}

fn read(path: &Path) -> io::Result<String> {
    use std::io::Read;
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a context file begins with in a system prompt, up to its path, and what it ends with.
const FILE_START: &str = "\n\n<context-file path=\"";
const FILE_END: &str = "\n</context-file>";

/// The system prompt. `own` stands in place of our own lines, `more` is added at the end.
pub fn system_prompt(cwd: &Path, files: &[ContextFile], own: Option<&str>, more: Option<&str>) -> String {
    let mut prompt = own.unwrap_or(OWN).trim_end().to_owned();
    prompt += &format!("\n\nThe directory is {}.", cwd.display());
    for file in files {
        prompt += &format!("{FILE_START}{}\">\n{}{FILE_END}", file.path.display(), file.text.trim_end());
    }
    if let Some(more) = more.filter(|more| !more.trim().is_empty()) {
        prompt += &format!("\n\n{}", more.trim_end());
    }
    prompt
}

/// The context files in a system prompt that [`system_prompt`] made: the path of each, and the bytes that it
/// takes.
pub(crate) fn files_in(prompt: &str) -> Vec<(&str, usize)> {
    let mut starts = prompt.match_indices(FILE_START).map(|(at, _)| at).peekable();
    let mut files = Vec::new();
    while let Some(start) = starts.next() {
        let end = starts.peek().copied().unwrap_or(prompt.len());
        let Some(part) = prompt.get(start..end) else { continue };
        // What stands behind the last file is no file.
        let Some(end) = part.rfind(FILE_END) else { continue };
        let path = part.get(FILE_START.len()..).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        files.push((path, end + FILE_END.len()));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "files of the test's own folder")]
    fn files_are_found_from_the_top_down() {
        let folder = tempfile::tempdir().unwrap();
        let (user, project) = (folder.path().join("user"), folder.path().join("project"));
        let inner = project.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir_all(&user).unwrap();
        std::fs::write(user.join("AGENTS.md"), "mine").unwrap();
        std::fs::write(project.join("CLAUDE.md"), "project\n").unwrap();
        std::fs::write(inner.join("AGENTS.md"), "inner").unwrap();
        std::fs::write(inner.join("CLAUDE.md"), "not this one").unwrap();
        let found = context_files(&inner, &[folder.path().join("none"), user.clone(), project.clone()]);
        let texts: Vec<&str> = found.files.iter().map(|file| file.text.trim()).collect();
        assert_eq!(texts, ["mine", "project", "inner"]);
        let prompt = system_prompt(&inner, &found.files, None, Some("Be brief."));
        assert!(prompt.starts_with("You help") && prompt.ends_with("Be brief."));
        let listed = files_in(&prompt);
        let paths: Vec<&Path> = listed.iter().map(|(path, _)| Path::new(*path)).collect();
        assert_eq!(paths, found.files.iter().map(|file| &*file.path).collect::<Vec<_>>());
        let without = system_prompt(&inner, &[], None, Some("Be brief."));
        assert_eq!(listed.iter().map(|(_, bytes)| bytes).sum::<usize>(), prompt.len() - without.len());
        assert_eq!(prompt, system_prompt(&inner, &found.files, None, Some("Be brief.")));
    }
}
