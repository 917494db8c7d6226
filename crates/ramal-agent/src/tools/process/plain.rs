//! What a terminal would have been told, as plain text: no colours, no cursor, no bells.

/// `text` without escape sequences and control characters. Of a line that was written over, what was
/// written last stays.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut line = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => {
                plain.push('\n');
                line = plain.len();
            }
            '\t' => plain.push('\t'),
            '\r' => {
                while characters.next_if_eq(&'\r').is_some() {}
                // Before an end nothing is written over.
                if characters.peek().is_some_and(|&next| next != '\n') {
                    plain.truncate(line);
                }
            }
            '\u{1b}' => escape(&mut characters),
            other if other.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Passes over the rest of an escape sequence.
fn escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            while characters.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            characters.next_if(|c| matches!(c, '@'..='~'));
        }
        // Strings to the terminal, such as titles and links, end with a bell or an escape. One that
        // never ends takes its line with it, not the rest of the output.
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while characters.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {}
            if characters.next_if_eq(&'\u{1b}').is_some() {
                characters.next_if_eq(&'\\');
            }
        }
        Some(' '..='/') => {
            while characters.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            characters.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => drop(characters.next()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn only_text_stays() {
        for (given, want) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;31mred\u{1b}[0m\r\n", "red\n"),
            ("10%\r20%\r\r100%\n", "100%\n"),
            ("over\r", "over"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;url\u{1b}\\link\u{1b}]8;;\u{1b}\\", "xlink"),
            ("\u{1b}]never ends\nx", "\nx"),
            ("\u{1b}(Bx\u{1b}=y\u{1b}", "xy"),
            ("a\u{8}\u{7}\0b\u{85}", "ab"),
        ] {
            assert_eq!(plain(given), want, "{given:?}");
        }
    }
}
