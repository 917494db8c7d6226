//! Files that go with what the user says: a text in tags, an image as an image.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramal_session::json::quote;

use crate::Prompt;
use crate::tools::{LARGEST_IMAGE, image_type};

/// Bytes of a text that goes along whole; more is no prompt for any model.
const LONGEST_TEXT: u64 = 16 << 20;

/// Why a file cannot go with what is said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// It cannot be read, or is not there.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a folder, a pipe, or another thing that has no end.
    #[error("{} is no regular file", path.display())]
    NoFile {
        /// What it is called.
        path: PathBuf,
    },
    /// It is longer than can be sent.
    #[error("{} is longer than {most} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// What can be sent.
        most: u64,
    },
    /// It is neither text in UTF-8 nor an image of a kind that models take.
    #[error("{} is neither text in UTF-8 nor an image (PNG, JPEG, GIF, WebP)", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
    },
}

impl Prompt {
    /// Lets a file go along: behind what is said so far its path and its text, or the image.
    ///
    /// # Errors
    /// If it cannot be read, or not be sent as it is; nothing is taken of it then.
    pub fn attach(&mut self, path: &Path) -> Result<(), AttachError> {
        let (bytes, kind) = read(path)?;
        let name = attribute(&path.to_string_lossy());
        if let Some(mime_type) = kind {
            self.images.push(format!(
                "{{\"type\":\"image\",\"data\":{},\"mimeType\":{}}}",
                quote(&STANDARD.encode(bytes)),
                quote(mime_type)
            ));
            self.add(&format!("<file path=\"{name}\"></file>"));
            return Ok(());
        }
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| AttachError::NoText { path: path.into() })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).trim_end_matches('\n');
        self.add(&format!("<file path=\"{name}\">\n{text}\n</file>"));
        Ok(())
    }

    /// Says one thing more, below what is said so far.
    pub fn add(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text += "\n\n";
        }
        self.text += text;
    }
}

/// The bytes of a file, and the type of the image that it is.
fn read(path: &Path) -> Result<(Vec<u8>, Option<&'static str>), AttachError> {
    let failed = |source| AttachError::Read { path: path.into(), source };
    // Looked at before it is opened: to open a named pipe waits for whoever writes to it.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(AttachError::NoFile { path: path.into() });
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(LONGEST_TEXT + 1).read_to_end(&mut bytes).map_err(failed)?;
    let kind = image_type(&bytes);
    let most = if kind.is_some() { LARGEST_IMAGE } else { LONGEST_TEXT };
    if bytes.len() as u64 > most {
        return Err(AttachError::TooLong { path: path.into(), most });
    }
    Ok((bytes, kind))
}

/// A path as it stands between quotes.
fn attribute(text: &str) -> String {
    let mut out = text.replace('&', "&amp;");
    for (plain, escaped) in [("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;"), ("\n", "&#10;")] {
        out = out.replace(plain, escaped);
    }
    out
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of the test's own folder")]
mod tests {
    use super::*;

    #[test]
    fn texts_and_images_go_along() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let (notes, image) = (put("a \"b\".md", b"one\ntwo\n"), put("x", b"\x89PNG\r\n\x1a\nrest"));
        let mut prompt = Prompt::text("Look:");
        prompt.attach(&notes).unwrap();
        prompt.attach(&image).unwrap();
        let folder_name = folder.path().display();
        assert_eq!(
            prompt.text,
            format!(
                "Look:\n\n<file path=\"{folder_name}/a &quot;b&quot;.md\">\none\ntwo\n</file>\n\n<file path=\"{folder_name}/x\"></file>"
            )
        );
        assert_eq!(prompt.images, [r#"{"type":"image","data":"iVBORw0KGgpyZXN0","mimeType":"image/png"}"#]);
    }

    #[test]
    fn what_cannot_go_along_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = folder.path().join("bytes");
        std::fs::write(&bytes, b"a\xff\0").unwrap();
        let huge = folder.path().join("huge.png");
        std::fs::write(&huge, [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 4_000_000]].concat()).unwrap();
        let mut prompt = Prompt::default();
        let mut why = |path: &Path| prompt.attach(path).unwrap_err();
        assert!(matches!(why(&bytes), AttachError::NoText { .. }));
        assert!(matches!(why(&huge), AttachError::TooLong { most: LARGEST_IMAGE, .. }));
        assert!(matches!(why(folder.path()), AttachError::NoFile { .. }));
        assert!(matches!(why(&folder.path().join("none")), AttachError::Read { .. }));
        assert_eq!(prompt, Prompt::default());
    }
}
