//! What secrets look like: tokens that begin as their issuers let them begin, private keys, and what stands
//! behind a name that says so.

use std::ops::Range;

/// How the tokens of an issuer begin, and how many characters follow at least.
const BEGINNINGS: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 20),
    ("gsk_", 20),
    ("xai-", 20),
];

/// Words before what a header sends.
const SCHEMES: &[&str] = &["bearer ", "basic "];

/// Characters of a value behind such a word, or behind a name, at least.
const SHORTEST_VALUE: usize = 8;

const PRIVATE_KEY: &str = "-----BEGIN ";

/// Where the secrets of a text stand, in order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let place = match byte {
            b'-' => private_key(text, at),
            b':' | b'=' => password_in_address(text, at).or_else(|| value(text, at)),
            byte if byte.is_ascii_alphanumeric() && begins_word(text.as_bytes(), at) => {
                token(text, at).or_else(|| web_token(text, at)).or_else(|| behind_scheme(text, at))
            }
            _ => None,
        };
        match place {
            Some(place) => {
                at = place.end;
                found.push(place);
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a variable or a member of this name holds a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ends = ["apikey", "_key", "-key", "token", "secret", "password", "passwd", "passphrase"];
    ends.iter().any(|end| name.ends_with(end))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn is_value(byte: u8) -> bool {
    is_token(byte)
        || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~' | b'!' | b'@' | b'#' | b'$' | b'%' | b'*')
}

/// Where a run of such bytes ends that begins at `at`.
fn run(text: &str, at: usize, is_in: fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| !is_in(byte)).unwrap_or(rest.len())
}

fn part(text: &str, place: Range<usize>) -> &str {
    text.get(place).unwrap_or_default()
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether no word goes on here. The letter of an escape is no part of one: `\nsk-…` stands in JSON within
/// JSON.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|at| bytes.get(at)) else { return true };
    let escapes = at.checked_sub(2).and_then(|at| bytes.get(at)) == Some(&b'\\');
    !(before.is_ascii_alphanumeric() || before == b'_') || (escapes && matches!(before, b'n' | b'r' | b't'))
}

fn token(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = part(text, at..text.len());
    let (begins, least) = BEGINNINGS.iter().find(|(begins, _)| rest.starts_with(begins))?;
    let from = at + begins.len();
    let end = run(text, from, is_token);
    (end - from >= *least && has_digit(part(text, from..end))).then_some(at..end)
}

/// Three parts in base64 of which the first is an object.
fn web_token(text: &str, at: usize) -> Option<Range<usize>> {
    if !part(text, at..text.len()).starts_with("eyJ") {
        return None;
    }
    let end = run(text, at, |byte| is_token(byte) || byte == b'.');
    let token = part(text, at..end);
    (token.matches('.').count() >= 2 && token.len() >= 30).then_some(at..end)
}

fn behind_scheme(text: &str, at: usize) -> Option<Range<usize>> {
    let starts = |scheme: &&&str| {
        let head = text.as_bytes().get(at..at + scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    let from = at + SCHEMES.iter().find(starts)?.len();
    let end = run(text, from, is_value);
    let value = part(text, from..end);
    (value.len() >= SHORTEST_VALUE && has_digit(value)).then_some(from..end)
}

/// A whole block; one that is cut off, as far as it goes.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = part(text, at..text.len());
    if !rest.starts_with(PRIVATE_KEY) {
        return None;
    }
    let title = rest.get(PRIVATE_KEY.len()..)?;
    let title = title.get(..title.find("-----")?).filter(|title| title.len() < 40)?;
    if !title.ends_with("PRIVATE KEY") && !title.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let from = at + PRIVATE_KEY.len() + title.len() + "-----".len();
    let closing = format!("-----END {title}-----");
    let end = match part(text, from..text.len()).find(&closing) {
        Some(place) => from + place + closing.len(),
        None => run(text, from, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\')
        }),
    };
    Some(at..end)
}

/// What stands between the name and the `@` of `scheme://name:password@host`. `at` is the colon before it.
fn password_in_address(text: &str, at: usize) -> Option<Range<usize>> {
    let is_name = |byte: u8| is_token(byte) || matches!(byte, b'.' | b'%' | b'+');
    let before = text.as_bytes().get(..at)?;
    let name = before.iter().rev().take_while(|&&byte| is_name(byte)).count();
    if !part(text, 0..at - name).ends_with("://") {
        return None;
    }
    let is_password =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'@' | b'/' | b'"' | b'\'' | b'<' | b'>');
    let end = run(text, at + 1, is_password);
    (end > at + 1 && text.as_bytes().get(end) == Some(&b'@')).then_some(at + 1..end)
}

/// What stands behind `name=` or `"name": `, if the name says that it is a secret.
fn value(text: &str, at: usize) -> Option<Range<usize>> {
    let is_mark = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ');
    let before = text.as_bytes().get(..at)?;
    let name_end = at - before.iter().rev().take_while(|byte| is_mark(byte)).count();
    let name = before.get(..name_end)?.iter().rev().take_while(|&&byte| is_token(byte)).count();
    if name == 0 || !names_a_secret(part(text, name_end - name..name_end)) {
        return None;
    }
    let behind = text.as_bytes().get(at + 1..)?;
    let from = at + 1 + behind.iter().take_while(|byte| is_mark(byte)).count();
    let end = run(text, from, is_value);
    let value = part(text, from..end);
    // A word, or what a program calls, is no secret.
    let is_code = text.as_bytes().get(end) == Some(&b'(');
    (value.len() >= SHORTEST_VALUE && has_digit(value) && !is_code).then_some(from..end)
}
