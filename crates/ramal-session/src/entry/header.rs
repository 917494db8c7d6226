//! The header of a log: which session it is (contract, sections 1, 2 and 14).

use crate::entry::time;
use crate::json::{self, ObjectEdit, quote};
use crate::tree::HeaderTitle;

/// The first logical line of a log, with a title line before it folded in.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    id: String,
    timestamp: Option<String>,
    cwd: String,
    parent_session: Option<String>,
    pub(crate) title: HeaderTitle,
    pub(crate) version: StatedVersion,
    /// Made up, since the log has none that can be read.
    made_up: bool,
    json: String,
}

/// The version that a header states.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatedVersion {
    /// No number, none at all, or 1 and less: 3 if any entry has an id, otherwise 1.
    Unclear,
    Two,
    Three,
    Newer(String),
}

impl Header {
    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When the session was begun, as it stands in the log.
    pub fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_deref()
    }

    /// The working directory that the session belongs to; empty if the log does not say.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Where the session was copied from: a path or an id, as it stands in the log.
    pub fn parent_session(&self) -> Option<&str> {
        self.parent_session.as_deref()
    }

    /// True if the log has no header that could be read and this one stands in its place.
    pub fn is_made_up(&self) -> bool {
        self.made_up
    }

    /// The header as a JSON object, with every field of the log.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// A header for a new session.
    pub(crate) fn new(id: String, now: i64, cwd: &str, parent_session: Option<&str>) -> Header {
        let timestamp = time::format(now);
        let mut json = format!(
            r#"{{"type":"session","version":3,"id":{},"timestamp":{},"cwd":{}"#,
            quote(&id),
            quote(&timestamp),
            quote(cwd)
        );
        if let Some(parent) = parent_session {
            json += &format!(r#","parentSession":{}"#, quote(parent));
        }
        json.push('}');
        Header {
            id,
            timestamp: Some(timestamp),
            cwd: cwd.into(),
            parent_session: parent_session.map(String::from),
            title: HeaderTitle::default(),
            version: StatedVersion::Three,
            made_up: false,
            json,
        }
    }

    /// Stands in for a header that cannot be read.
    pub(crate) fn made_up(id: String) -> Header {
        Header {
            json: format!(
                r#"{{"type":"session","version":3,"id":{},"timestamp":null,"cwd":""}}"#,
                quote(&id)
            ),
            id,
            timestamp: None,
            cwd: String::new(),
            parent_session: None,
            title: HeaderTitle::default(),
            version: StatedVersion::Three,
            made_up: true,
        }
    }

    /// Reads a line of type `session`; none if it has no id and so is no header.
    pub(crate) fn read(line: &[u8]) -> Option<Header> {
        let line = json::clean(line);
        let bytes = line.as_bytes();
        if !json::is_valid(&line) {
            return None;
        }
        let text = |key| json::get_str(bytes, key).map(|text| text.into_owned());
        let id = text("id").filter(|id| !id.is_empty())?;
        Some(Header {
            id,
            timestamp: text("timestamp"),
            cwd: text("cwd").unwrap_or_default(),
            parent_session: text("parentSession"),
            title: HeaderTitle {
                title: text("title").map(|title| title.trim().to_owned()),
                by_user: text("titleSource").as_deref() == Some("user"),
                slot_time: None,
            },
            version: stated_version(json::get(bytes, "version")),
            made_up: false,
            json: line.trim().to_owned(),
        })
    }

    /// Shows a header of an old version as version 3 has it. The log keeps what it says.
    pub(crate) fn migrate(&mut self) {
        let migrated = crate::migrate::header(self.json.as_bytes());
        self.json = String::from_utf8_lossy(&migrated).into_owned();
    }

    /// Takes in a title line that stands before the header.
    pub(crate) fn fold_title(&mut self, line: &[u8]) {
        let line = json::clean(line);
        if !json::is_valid(&line) {
            return;
        }
        let Some(title) = json::get_str(line.as_bytes(), "title") else { return };
        let source = json::get_str(line.as_bytes(), "source");
        let mut edit = ObjectEdit::new().set("title", quote(&title));
        edit = match &source {
            Some(source) => edit.set("titleSource", quote(source)),
            None => edit.remove("titleSource"),
        };
        self.json = String::from_utf8_lossy(&edit.apply(self.json.as_bytes())).into_owned();
        self.title = HeaderTitle {
            title: Some(title.trim().to_owned()),
            by_user: source.as_deref() == Some("user"),
            slot_time: json::get_str(line.as_bytes(), "updatedAt")
                .and_then(|at| time::parse(&at))
                .or(Some(i64::MIN)),
        };
    }
}

fn stated_version(value: Option<&[u8]>) -> StatedVersion {
    let number = value.and_then(|value| std::str::from_utf8(value).ok()?.parse::<f64>().ok());
    match number {
        Some(number) if number > 3.0 => {
            StatedVersion::Newer(String::from_utf8_lossy(value.unwrap_or_default()).into_owned())
        }
        Some(number) if number >= 3.0 => StatedVersion::Three,
        Some(number) if number >= 2.0 => StatedVersion::Two,
        // Between 1 and 2 there is no version: read as the oldest.
        _ => StatedVersion::Unclear,
    }
}
