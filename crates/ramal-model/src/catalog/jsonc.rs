//! JSON as people write it: with comments, and commas before closing brackets.

/// The text with comments and such commas made blanks. Every place keeps its offset and its line.
pub(super) fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    // A mark of the order of bytes.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        blank(&mut bytes, 0..3);
    }
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                comma = None;
                while let Some(&byte) = bytes.get(at) {
                    at += if byte == b'\\' { 2 } else { 1 };
                    if byte == b'"' || byte == b'\n' {
                        break;
                    }
                }
            }
            b'/' if bytes.get(at) == Some(&b'/') => {
                at =
                    bytes.iter().skip(at).position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end);
                blank(&mut bytes, start..at);
            }
            b'/' if bytes.get(at) == Some(&b'*') => {
                let rest = bytes.get(at + 1..).unwrap_or_default();
                let end = rest.windows(2).position(|two| two == b"*/");
                at = end.map_or(bytes.len(), |end| at + 1 + end + 2);
                blank(&mut bytes, start..at);
            }
            b',' => comma = Some(start),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    blank(&mut bytes, comma..comma + 1);
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn blank(bytes: &mut [u8], range: std::ops::Range<usize>) {
    for byte in bytes.get_mut(range).into_iter().flatten().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn comments_and_last_commas_become_blanks() {
        for (text, want) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("{ // é\n\"a\":1, }", "{      \n\"a\":1  }"),
            ("[1,/* ,] \n */]", "[1       \n   ]"),
            (r#"{"u":"http://x/*,]","e":"\"//",}"#, r#"{"u":"http://x/*,]","e":"\"//" }"#),
            ("/* never ends", "             "),
            ("[1,2] //", "[1,2]   "),
        ] {
            assert_eq!(plain(text), want);
        }
    }
}
