//! Files that a text names with an `@`.

/// The files that a text names, `@file` or `@"file with spaces"`, in their order and each once. Whether they are
/// there is not looked at.
pub fn mentions(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let begins = before.is_none_or(|c: char| c.is_whitespace() || "([{\"'`<".contains(c));
        let (name, length) = match (c, begins) {
            ('@', true) => name(after),
            _ => ("", 0),
        };
        if !name.is_empty() && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
        rest = &after[length..];
        before = if length == 0 { Some(c) } else { after[..length].chars().next_back() };
    }
    found
}

/// The name at the beginning of a text, and how much of the text it takes.
fn name(text: &str) -> (&str, usize) {
    if let Some(quoted) = text.strip_prefix('"') {
        return match quoted.split(['"', '\n']).next() {
            Some(name) if quoted[name.len()..].starts_with('"') => (name, name.len() + 2),
            _ => ("", 0),
        };
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    // What a sentence puts behind a name.
    let name = text[..end].trim_end_matches([',', ';', ':', '!', '?', ')', ']', '}', '\'', '`', '>', '.']);
    (name, name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_the_editor_writes_them() {
        for (text, want) in [
            ("", &[] as &[&str]),
            ("see @src/main.rs now", &["src/main.rs"]),
            ("@a.png and @\"my cat.png\", then @a.png", &["a.png", "my cat.png"]),
            ("look (@a.rs), [@b.rs]; `@c.rs` and @d.rs.", &["a.rs", "b.rs", "c.rs", "d.rs"]),
            ("ana@example.org, @ nothing @", &[]),
            ("@\"not closed.png", &[]),
            ("@\"not\nclosed.png\"", &[]),
            ("line\n@x.png\n@y.png", &["x.png", "y.png"]),
            ("@日本/猫.png です", &["日本/猫.png"]),
            ("@a@b", &["a@b"]),
            ("@\"\" @...", &[]),
        ] {
            assert_eq!(mentions(text), want, "{text:?}");
        }
    }
}
