//! One line that says what an entry is about.

use ramal_session::{Entry, Kind};

/// Characters of a preview at most.
const LONGEST: usize = 200;

/// The beginning of what an entry says, on one line; for an answer that only calls tools, their names;
/// for settings, what was set.
pub(super) fn of(entry: &Entry) -> String {
    let text = match entry.kind() {
        Kind::Message => match entry.text() {
            text if text.trim().is_empty() => calls(entry),
            text => text,
        },
        Kind::Label => field(entry, "label"),
        Kind::ModelChange if entry.get("model").is_none() => {
            format!("{}/{}", field(entry, "provider"), field(entry, "modelId"))
        }
        Kind::ModelChange => field(entry, "model"),
        Kind::ThinkingLevelChange => field(entry, "thinkingLevel"),
        Kind::ModeChange => field(entry, "mode"),
        Kind::SessionInfo => field(entry, "name"),
        Kind::TitleChange => field(entry, "title"),
        Kind::Custom => field(entry, "customType"),
        _ => entry.text(),
    };
    one_line(&text)
}

fn field(entry: &Entry, key: &str) -> String {
    entry.get_str(key).unwrap_or_default().into_owned()
}

fn calls(entry: &Entry) -> String {
    let Some(message) = entry.message() else { return String::new() };
    let names: Vec<_> = message.tool_calls().map(|call| call.name.into_owned()).collect();
    if names.is_empty() { String::new() } else { format!("[{}]", names.join(", ")) }
}

fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= LONGEST {
                line.push('\u{2026}');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_one_short_line() {
        assert_eq!(one_line(" a\n\tb  c "), "a b c");
        let long = one_line(&"\u{1f600}".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with('\u{2026}')), (LONGEST + 1, true));
    }
}
