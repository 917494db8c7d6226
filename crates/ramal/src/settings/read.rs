//! Files of settings as lists of dotted keys: our TOML, and pi's JSON. What a key means is not known here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ramal_model::catalog::Problem;
use serde_json::value::RawValue;
use toml::de::{DeTable, DeValue};

/// Bytes of a file that are read.
const LONGEST: u64 = 4 << 20;

/// Tables inside tables that are looked into; no setting lies deeper.
const DEEPEST: usize = 2;

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
pub(super) fn text(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        opened => opened?.take(LONGEST).read_to_end(&mut bytes)?,
    };
    // What is not UTF-8 is told by the parser, with its place.
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()))
}

/// The settings of a TOML file in their order. A line that cannot be read is a problem; the others count.
pub(super) fn toml(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Vec<Setting> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let line = error.span().map(|span| line_of(text, span.start));
        problems.push(Problem { path: path.into(), line, message: error.message().trim().to_owned() });
    }
    let mut found = Vec::new();
    take_table(text, "", table.get_ref(), 0, &mut found);
    found.sort_by_key(|setting: &Setting| setting.line);
    found
}

/// Tables nest no deeper here than [`DEEPEST`].
fn take_table(text: &str, before: &str, table: &DeTable<'_>, depth: usize, found: &mut Vec<Setting>) {
    for (key, value) in table {
        let name = format!("{before}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) if depth < DEEPEST => {
                take_table(text, &format!("{name}."), inner, depth + 1, found);
            }
            value => {
                found.push(Setting {
                    key: name,
                    value: of_toml(value),
                    line: line_of(text, key.span().start),
                });
            }
        }
    }
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
    let mut found = Vec::new();
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
            found.push(Setting { key, value: of_json(value), line: line_of(text, offset) });
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

/// The line of a place in a text, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}
