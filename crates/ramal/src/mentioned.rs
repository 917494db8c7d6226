//! Pictures that go with what is said: those it names with an `@`, and those that were dropped on the editor.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ramal_agent::Prompt;
use ramal_tui::completing::mentions;
use ramal_tui::editor::{Content, MarkKind};
use ramal_tui::images::Header;

/// Bytes of a file that are looked at: what cameras put before the size of a picture is not longer.
const SNIFFED: u64 = 256 << 10;

/// The prompt that stands in an editor, with its pictures; and what of them could not go along. Names are those of
/// `cwd`. Files that are named and are no pictures stay names, for the model to look at. Reads files, so it is not
/// for the thread that draws.
pub(crate) fn prompt(content: &Content, cwd: &Path) -> (Prompt, Vec<String>) {
    let text = content.text();
    let mut prompt = Prompt::text(&*text);
    let dropped = content.marks().iter().filter_map(|mark| match mark.kind() {
        MarkKind::Image { source } => Some(PathBuf::from(source)),
        MarkKind::Paste => None,
    });
    // What was pasted may hold any number of such signs that nobody typed.
    let named =
        mentions(&typed(content)).into_iter().map(|name| resolve(&name, cwd)).filter(|path| is_picture(path));
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in dropped.chain(named) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let mut problems = Vec::new();
    for path in paths {
        if let Err(error) = prompt.attach(&path) {
            problems.push(format!("the picture does not go along: {error}"));
        }
    }
    if !prompt.images.is_empty() {
        prompt.typed = Some(text);
    }
    (prompt, problems)
}

/// What was typed, without what marks stand for.
fn typed(content: &Content) -> String {
    let mut text = content.text();
    for mark in content.marks().iter().filter(|mark| !mark.text().is_empty()) {
        text = text.replacen(mark.text(), " ", 1);
    }
    text
}

fn resolve(name: &str, cwd: &Path) -> PathBuf {
    match (name.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => cwd.join(name),
    }
}

fn is_picture(path: &Path) -> bool {
    // Looked at before it is opened: to open a named pipe waits for whoever writes to it.
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SNIFFED).read_to_end(&mut bytes));
    read.is_ok() && Header::read(&bytes).is_some()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of the test's own folder")]
mod tests {
    use std::fs;

    use ramal_tui::editor::Mark;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x02\x08\x02\0\0\0";

    #[test]
    fn pictures_that_are_named_or_dropped_go_along() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.png", "my cat.png", "dropped.png", "pasted.png"] {
            fs::write(folder.path().join(name), PNG).unwrap();
        }
        fs::write(folder.path().join("notes.png"), "no picture").unwrap();
        fs::create_dir(folder.path().join("folder.png")).unwrap();
        let mut content =
            Content::from("see @a.png, @\"my cat.png\", @notes.png, @folder.png/, @gone.png, @a.png again ");
        content.push_mark(Mark::paste(1, "@pasted.png"));
        let dropped = folder.path().join("dropped.png");
        content.push_mark(Mark::image("[image #1]", dropped.to_string_lossy()));
        let (prompt, problems) = prompt(&content, folder.path());
        assert_eq!((prompt.images.len(), problems), (3, Vec::new()));
        assert_eq!(prompt.typed.as_deref(), Some(&*content.text()));
        let [before, first, second, third] =
            prompt.text.split("\n\n").collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(before, content.text());
        for (text, name) in [(first, "dropped.png"), (second, "a.png"), (third, "my cat.png")] {
            assert!(text.contains(name), "{text}");
        }
    }

    #[test]
    fn what_cannot_go_along_is_told_and_the_rest_is_said() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("huge.png"), [PNG, &[0; 4_000_000]].concat()).unwrap();
        let mut content = Content::from("see @huge.png ");
        content.push_mark(Mark::image("[image #1]", folder.path().join("gone.png").to_string_lossy()));
        let (prompt, problems) = prompt(&content, folder.path());
        assert_eq!(prompt, Prompt::text(content.text()));
        assert!(problems[0].contains("gone.png") && problems[1].contains("huge.png"), "{problems:?}");
        assert_eq!(problems.len(), 2);
        let plain = Content::from("nothing @here, ana@example.org");
        assert_eq!(super::prompt(&plain, folder.path()), (Prompt::text(plain.text()), Vec::new()));
    }
}
