//! Pictures in the conversation: drawn where the terminal can, named everywhere.

use std::io::Read as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramal_session::json::{self, members};

use super::App;
use crate::editor::Mark;
use crate::images::{Cell, Picture, Placed, pasted_path};

/// Bytes of a file that are looked at for what picture it is.
const SNIFFED: u64 = 256 << 10;

/// The pictures that a message holds.
pub(super) fn pictures_in(message: &str) -> Vec<Vec<u8>> {
    let Some(content) = json::get(message.as_bytes(), "content").filter(|content| content.starts_with(b"["))
    else {
        return Vec::new();
    };
    let images = members::items(content)
        .filter(|block| members::get_str(block, "type").as_deref() == Some("image"))
        .filter_map(|block| STANDARD.decode(members::get_str(block, "data")?.as_bytes()).ok());
    images.collect()
}

impl App {
    /// The pictures that are to be printed now, where the terminal can draw them.
    pub(super) fn take_pictures(&mut self) -> Vec<Placed> {
        let pictures = self.conversation.take_pictures();
        let Some(protocol) = self.graphics.filter(|_| !pictures.is_empty()) else { return Vec::new() };
        let cell = match crossterm::terminal::window_size() {
            Ok(size) => Cell::of_window(size.columns, size.rows, size.width, size.height),
            Err(_) => Cell::default(),
        };
        let place = |bytes: Vec<u8>| Picture::new(&bytes)?.place(protocol, cell, self.columns, self.rows);
        pictures.into_iter().filter_map(place).collect()
    }

    /// Something was pasted into the editor: a text, or the path of a picture that was dropped here.
    pub(super) fn paste_into_editor(&mut self, text: &str) {
        let name =
            pasted_path(text).and_then(|path| Some((path.file_name()?.to_string_lossy().into_owned(), path)));
        let Some((name, path)) = name else {
            self.editor.paste(text);
            return self.typed();
        };
        self.editor.insert_mark(Mark::image(&format!("[image {name}]"), path.to_string_lossy()));
        self.typed();
        // That there is such a picture is looked up beside the screen.
        self.aside(
            move || is_picture(&path),
            move |app, is_picture| {
                if !is_picture {
                    app.hint = Some(format!("{name} is no picture that can be read: it will not go along"));
                }
            },
        );
    }
}

/// Whether a file is a picture of a kind that models take.
fn is_picture(path: &PathBuf) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(SNIFFED).read_to_end(&mut head));
    read.is_ok() && Picture::new(&head).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_in_messages() {
        let message = r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#;
        assert_eq!(pictures_in(message), [b"hi"]);
        assert!(pictures_in(r#"{"role":"user","content":"image"}"#).is_empty());
    }
}
