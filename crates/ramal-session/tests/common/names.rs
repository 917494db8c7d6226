//! What differs from run to run gets names: ids, session ids, paths, times.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use ramal_session::time;

use super::json::{Json, Reading, read, text};

/// Replaces what differs from run to run.
#[derive(Default)]
pub struct Names {
    start: i64,
    cwd: String,
    ids: HashMap<String, String>,
    real: HashMap<String, String>,
    sessions: HashMap<String, String>,
    /// In the order in which they were made.
    pub files: Vec<String>,
    known: HashSet<String>,
    known_sessions: HashSet<String>,
}

impl Names {
    /// For a session opened from `data`.
    pub fn new(data: &[u8], cwd: &str) -> Names {
        let mut names = Names { start: time::now() - 1000, cwd: cwd.into(), ..Names::default() };
        names.add_data(data);
        names.known_sessions = names.known.clone();
        names
    }

    /// Every string that stands behind a key `id` in the data keeps its name.
    pub fn add_data(&mut self, data: &[u8]) {
        let mut rest = data;
        while let Some(at) = memchr_id(rest) {
            rest = &rest[at + 4..];
            let Some(value) = after_blanks(rest).strip_prefix(b":") else { continue };
            let value = after_blanks(value);
            if !value.starts_with(b"\"") {
                continue;
            }
            let mut end = 1;
            while end < value.len() && value[end] != b'"' {
                end += if value[end] == b'\\' { 2 } else { 1 };
            }
            if let Some(quoted) = value.get(..=end) {
                let quoted = String::from_utf8_lossy(quoted);
                if let Some(Json::Text(id)) = read(quoted.as_bytes(), Reading::Plain) {
                    self.known.insert(String::from_utf8_lossy(&id).into_owned());
                }
                rest = &value[end..];
            }
        }
    }

    /// Ids in the order in which they appear.
    pub fn note(&mut self, id: &str) {
        if !self.known.contains(id) && !self.ids.contains_key(id) {
            let name = format!("n{}", self.ids.len() + 1);
            self.real.insert(name.clone(), id.into());
            self.ids.insert(id.into(), name);
        }
    }

    pub fn session(&mut self, id: &str) {
        if !self.known_sessions.contains(id) && !self.sessions.contains_key(id) {
            let name = format!("s{}", self.sessions.len() + 1);
            self.sessions.insert(id.into(), name);
        }
    }

    pub fn file(&mut self, path: &Path) {
        let path = path.to_str().unwrap().to_owned();
        if !self.files.contains(&path) {
            self.files.push(path);
        }
    }

    fn file_name(&self, path: &str) -> Option<String> {
        let at = self.files.iter().position(|file| file == path)?;
        Some(if at == 0 { "$FILE".into() } else { format!("$NEW{at}") })
    }

    /// The path behind a name.
    pub fn path(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|file| self.file_name(file).as_deref() == Some(name)).map(String::as_str)
    }

    /// The id behind a name, or the id itself.
    pub fn real(&self, id: &str) -> String {
        self.real.get(id).map_or(id, String::as_str).to_owned()
    }

    pub fn canon(&self, value: Json) -> Json {
        self.canon_under(value, b"")
    }

    fn canon_under(&self, value: Json, key: &[u8]) -> Json {
        match value {
            Json::Text(ref bytes) => match std::str::from_utf8(bytes) {
                Ok(content) => self.canon_text(content).map_or(value, |name| text(&name)),
                Err(_) => value,
            },
            Json::Int(_) | Json::Float(_) if key == b"timestamp" => match value.as_number() {
                Some(number) if number >= self.start as f64 => text("T"),
                _ => value,
            },
            Json::List(items) => {
                Json::List(items.into_iter().map(|item| self.canon_under(item, key)).collect())
            }
            Json::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (key.clone(), self.canon_under(value, &key)))
                    .collect(),
            ),
            other => other,
        }
    }

    fn canon_text(&self, content: &str) -> Option<String> {
        if let Some(name) = self.ids.get(content).or_else(|| self.sessions.get(content)) {
            return Some(name.clone());
        }
        if let Some(name) = self.file_name(content) {
            return Some(name);
        }
        if content == self.cwd {
            return Some("$CWD".into());
        }
        let in_this_form = content.len() == 24
            && content.bytes().zip(*b"0000-00-00T00:00:00.000Z").all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                _ => byte == form,
            });
        (in_this_form && time::parse(content).is_some_and(|at| at >= self.start)).then(|| "T".into())
    }
}

fn memchr_id(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\"id\"")
}

fn after_blanks(bytes: &[u8]) -> &[u8] {
    let count = bytes.iter().take_while(|b| b.is_ascii_whitespace() || **b == 0x0B).count();
    &bytes[count..]
}
