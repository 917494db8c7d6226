//! Files of settings as lists of dotted keys: our TOML, and pi's JSON. What a key means is not known here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ramal_model::catalog::Problem;
use serde_json::value::RawValue;
use toml::de::{DeTable, DeValue};

/// Bytes of a file that are read.
pub(super) const LONGEST: u64 = 1 << 20;

/// Tables inside tables that are looked into; no setting lies deeper.
pub(super) const DEEPEST: usize = 2;

/// The value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Integer(i64),
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// Something that no setting takes.
    Other,
}

/// A setting as a file has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    /// With the names of the tables it stands in, such as `compaction.enabled`.
    pub(super) key: String,
    pub(super) value: Value,
    /// Where it stands, from 1.
    pub(super) line: usize,
}

/// The text of a file; none if there is no such file.
pub(crate) fn text(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let found = match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        found => found?,
    };
    // A pipe that a project brings would be waited for without end.
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    // What is not UTF-8 is told by the parser, with its place.
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()))
}

/// The settings of a TOML file in their order. A line that cannot be read is a problem, and what the
/// parser makes of it does not count; the others do.
pub(super) fn toml(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Vec<Setting> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let (lines, mut broken) = (Lines::new(text), Vec::new());
    for error in &errors {
        let line = error.span().map(|span| lines.of(span.start));
        broken.extend(line);
        problems.push(Problem { path: path.into(), line, message: error.message().trim().to_owned() });
    }
    broken.sort_unstable();
    let mut found = Vec::new();
    let mut open = vec![(String::new(), table.get_ref(), 0)];
    while let Some((before, table, depth)) = open.pop() {
        for (key, value) in table {
            let name = format!("{before}{}", key.get_ref());
            let (line, last) = (lines.of(key.span().start), lines.of(value.span().end));
            let is_broken =
                || broken.get(broken.partition_point(|at| *at < line)).is_some_and(|at| *at <= last);
            match value.get_ref() {
                DeValue::Table(inner) if depth < DEEPEST => open.push((format!("{name}."), inner, depth + 1)),
                _ if is_broken() => {}
                value => found.push(Setting { key: name, value: of_toml(value), line }),
            }
        }
    }
    found.sort_by_key(|setting| setting.line);
    found
}

fn of_toml(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::String(value) => Value::Text(value.to_string()),
        DeValue::Integer(value) => {
            i64::from_str_radix(value.as_str(), value.radix()).map_or(Value::Other, Value::Integer)
        }
        DeValue::Array(values) => {
            let texts: Option<Vec<String>> =
                values.iter().map(|value| value.get_ref().as_str().map(str::to_owned)).collect();
            texts.map_or(Value::Other, Value::Texts)
        }
        _ => Value::Other,
    }
}

/// The settings of a JSON file in their order.
pub(super) fn json(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Vec<Setting> {
    let (lines, mut found) = (Lines::new(text), Vec::new());
    // What is still to be looked into: the text of an object, the keys above it, and how many.
    let mut open: Vec<(&str, String, usize)> = vec![(text, String::new(), 0)];
    while let Some((object, before, depth)) = open.pop() {
        let members: BTreeMap<String, &RawValue> = match serde_json::from_str(object) {
            Ok(members) => members,
            Err(error) => {
                let problem = |line, message| Problem { path: PathBuf::from(path), line, message };
                problems.push(problem(Some(error.line()), format!("cannot be read: {error}")));
                continue;
            }
        };
        for (key, value) in members {
            let value = value.get();
            let key = format!("{before}{key}");
            if value.starts_with('{') && depth < DEEPEST {
                open.push((value, format!("{key}."), depth + 1));
                continue;
            }
            // The value is a part of the text.
            let offset = (value.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            found.push(Setting { key, value: of_json(value), line: lines.of(offset) });
        }
    }
    found.sort_by_key(|setting| setting.line);
    found
}

fn of_json(value: &str) -> Value {
    match serde_json::from_str(value) {
        Ok(serde_json::Value::Bool(value)) => Value::Bool(value),
        Ok(serde_json::Value::String(value)) => Value::Text(value),
        Ok(serde_json::Value::Number(value)) => value.as_i64().map_or(Value::Other, Value::Integer),
        Ok(serde_json::Value::Array(values)) => {
            let texts: Option<Vec<String>> =
                values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
            texts.map_or(Value::Other, Value::Texts)
        }
        _ => Value::Other,
    }
}

/// Where the lines of a text end.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines(ends.map(|(at, _)| at).collect())
    }

    /// The line of a place, from 1.
    fn of(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
    }
}
