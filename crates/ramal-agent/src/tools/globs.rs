//! Patterns for names of files, and the walk over a folder that they are used in.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::{Walk, WalkBuilder};

/// A pattern: without a slash for the name of a file, with one for its path below where one looks.
pub(super) struct Pattern {
    matcher: GlobMatcher,
    whole_path: bool,
    negated: bool,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Pattern, String> {
        let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let pattern = text.strip_prefix("./").unwrap_or(text);
        let whole_path = pattern.contains('/');
        let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("`{text}` is no pattern for files: {}.", error.kind()))?;
        Ok(Pattern { matcher: glob.compile_matcher(), whole_path, negated })
    }

    /// Whether a path is meant, which is relative to where one looks.
    pub(super) fn is_match(&self, path: &Path) -> bool {
        let path = if self.whole_path { Some(path) } else { path.file_name().map(Path::new) };
        path.is_some_and(|path| self.matcher.is_match(path)) != self.negated
    }
}

/// All below `root` in the order of the names, without what git ignores and without its own folder.
/// Links are not followed, so that nothing outside is seen.
pub(super) fn walk(root: &Path) -> Walk {
    WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .sort_by_file_name(|one, other| one.cmp(other))
        .build()
}
