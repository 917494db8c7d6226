//! Changing one setting in the text of a `settings.toml`. Every other byte stays: comments, order, and the
//! way in which things are written.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, TableLike};

use super::read::{DEEPEST, Value};

/// Why a text could not be changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CannotEdit {
    /// Where, from 1; none where it is about no line.
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

/// Gives a setting a value, or takes it out where there is none. It may stand there under any of its
/// `names`, in a table or with dots; one that is not there yet gets the first name.
///
/// # Errors
/// If the text is no TOML, or something else has the name.
pub(super) fn set(text: &str, names: &[&str], value: Option<&Value>) -> Result<String, CannotEdit> {
    let Some(value) = value else { return remove(text, names) };
    let value = to_toml(value)
        .ok_or_else(|| CannotEdit { line: None, message: "no file can say such a value".to_owned() })?;
    let document = parse(text)?;
    let mut places: Vec<Range<usize>> =
        find(&document, names)?.into_iter().map(|place| place.value).collect();
    if places.is_empty() {
        return Ok(match names.first() {
            Some(name) => insert(&document, name, &value)?,
            None => text.to_owned(),
        });
    }
    // From the end, so that the places before it stay where they are.
    places.sort_by_key(|place| std::cmp::Reverse(place.start));
    let replaced = |text: String, place: Range<usize>| with(&text, place, &value);
    Ok(places.into_iter().fold(text.to_owned(), replaced))
}

/// A text with another part in place of what is at `place`.
fn with(text: &str, place: Range<usize>, part: &str) -> String {
    let (before, after) = (text.get(..place.start), text.get(place.end..));
    [before.unwrap_or_default(), part, after.unwrap_or_default()].concat()
}

fn parse(text: &str) -> Result<Document<&str>, CannotEdit> {
    Document::parse(text).map_err(|error| CannotEdit {
        line: error.span().map(|span| line_of(text, span.start)),
        message: error.message().trim().to_owned(),
    })
}

/// The line of a place, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// Where a setting stands.
struct Place {
    key: Range<usize>,
    value: Range<usize>,
    /// Whether it has its lines to itself.
    has_lines: bool,
}

/// All places where the setting stands.
fn find(document: &Document<&str>, names: &[&str]) -> Result<Vec<Place>, CannotEdit> {
    let mut found = Vec::new();
    let mut open: Vec<(&dyn TableLike, Vec<&str>, bool)> = vec![(document.as_table(), Vec::new(), true)];
    while let Some((table, above, has_lines)) = open.pop() {
        for (name, item) in table.iter() {
            let path = [&*above, &[name]].concat();
            let full = path.join(".");
            let has_lines = has_lines && !item.is_inline_table();
            if names.contains(&&*full) {
                let key = table.key(name).and_then(|key| key.span());
                match (key, item.span()) {
                    (Some(key), Some(value)) if item.as_table_like().is_none() && item.is_value() => {
                        found.push(Place { key, value, has_lines });
                    }
                    (_, span) => {
                        let line = span.map(|span| line_of(document.raw(), span.start));
                        return Err(CannotEdit { line, message: format!("`{full}` is a table there") });
                    }
                }
            } else if let Some(inner) = item.as_table_like()
                && above.len() < DEEPEST
            {
                open.push((inner, path, has_lines));
            }
        }
    }
    Ok(found)
}

fn to_toml(value: &Value) -> Option<String> {
    let value = match value {
        Value::Bool(value) => toml::Value::from(*value),
        Value::Integer(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Texts(texts) => texts.clone().into(),
        Value::Other => return None,
    };
    Some(value.to_string())
}

/// Adds a setting: behind the others of its table, or in a new table at the end.
fn insert(document: &Document<&str>, name: &str, value: &str) -> Result<String, CannotEdit> {
    let (text, root) = (document.raw(), document.as_table());
    let Some((above, last)) = name.rsplit_once('.') else {
        let line = format!("{name} = {value}");
        return Ok(match (last_value(root), first_header(root)) {
            (Some(end), _) => with_line(text, end, &line),
            (None, Some(header)) => with_first_line(text, header, &line),
            (None, None) => with_line(text, text.len(), &line),
        });
    };
    Ok(match root.get(above) {
        Some(Item::Table(table)) if table.is_dotted() => {
            with_line(text, last_value(table).unwrap_or(text.len()), &format!("{name} = {value}"))
        }
        Some(Item::Table(table)) if !table.is_implicit() => {
            let header = table.span().map_or(text.len(), |header| header.end);
            with_line(text, last_value(table).unwrap_or(header), &format!("{last} = {value}"))
        }
        Some(Item::Value(toml_edit::Value::InlineTable(table))) => {
            with_member(text, table, &format!("{last} = {value}"))
        }
        // One that is there only for what lies in it has no header yet.
        Some(Item::Table(_)) | None => {
            let blank = if text.trim().is_empty() { "" } else { line_end(text) };
            with_line(text, text.len(), &format!("{blank}[{above}]{}{last} = {value}", line_end(text)))
        }
        Some(other) => {
            let line = other.span().map(|span| line_of(text, span.start));
            let message = format!("`{above}` is no table there, so that `{name}` has no place");
            return Err(CannotEdit { line, message });
        }
    })
}

/// Where the last value of a table ends, of those without a header of their own.
fn last_value(table: &Table) -> Option<usize> {
    table.get_values().iter().filter_map(|(_, value)| Some(value.span()?.end)).max()
}

/// Where the first header of a table begins.
fn first_header(table: &Table) -> Option<usize> {
    let headers = table.iter().filter_map(|(_, item)| match item {
        Item::Table(table) => {
            let own = (!table.is_implicit() && !table.is_dotted()).then(|| table.span());
            // A table may come after one that lies in it.
            own.flatten().map(|span| span.start).into_iter().chain(first_header(table)).min()
        }
        Item::ArrayOfTables(tables) => Some(tables.get(0)?.span()?.start),
        _ => None,
    });
    headers.min()
}

/// How lines end in a text.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A text with a line more, behind the one in which `at` is.
fn with_line(text: &str, at: usize, line: &str) -> String {
    let end = line_end(text);
    let at = end_of_line(text, at);
    let unfinished = text.get(..at).is_some_and(|before| !before.is_empty() && !before.ends_with('\n'));
    with(text, at..at, &format!("{}{line}{end}", if unfinished { end } else { "" }))
}

/// Where the line ends in which `at` is, with its end.
fn end_of_line(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |end| at + end + 1)
}

/// A text with a first setting, before its first table.
fn with_first_line(text: &str, header: usize, line: &str) -> String {
    let end = line_end(text);
    let before = text.get(..header).unwrap_or_default();
    // A first paragraph of comments is about the file, and what follows it is about the table.
    let blank = format!("{end}{end}");
    let at = before.rfind(&blank).map_or(0, |at| at + blank.len());
    with(text, at..at, &format!("{line}{blank}"))
}

/// A text with one more in a table that is written in braces.
fn with_member(text: &str, table: &InlineTable, member: &str) -> String {
    let ends = table.get_values().iter().filter_map(|(_, value)| Some(value.span()?.end)).max();
    match (ends, table.span()) {
        (Some(end), _) => with(text, end..end, &format!(", {member}")),
        (None, Some(whole)) => with(text, whole, &format!("{{ {member} }}")),
        (None, None) => text.to_owned(),
    }
}

/// Takes a setting out, and leaves the comments around it.
fn remove(text: &str, names: &[&str]) -> Result<String, CannotEdit> {
    let mut text = text.to_owned();
    // Each round takes out one place.
    loop {
        let Some(place) = find(&parse(&text)?, names)?.pop() else { return Ok(text) };
        let range = if place.has_lines { lines_of(&text, &place) } else { member_of(&text, &place) };
        text = with(&text, range, "");
    }
}

fn lines_of(text: &str, place: &Place) -> Range<usize> {
    let before = text.get(..place.key.start).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)..end_of_line(text, place.value.end)
}

/// A member of a table in braces, with the comma that it does not need any more.
fn member_of(text: &str, place: &Place) -> Range<usize> {
    let (key, end) = (place.key.start, place.value.end);
    let (before, after) = (text.get(..key).unwrap_or_default(), text.get(end..).unwrap_or_default());
    if let Some(rest) = after.trim_start().strip_prefix(',') {
        return key..text.len() - rest.trim_start_matches(' ').len();
    }
    match before.trim_end().strip_suffix(',') {
        Some(rest) => rest.len()..end,
        None => key..end,
    }
}

#[cfg(test)]
mod tests;
