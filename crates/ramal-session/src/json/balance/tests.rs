//! Every way of reading a line must give the same answer, and end in the same state.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

type Feed = fn(&mut Balance, &[u8]);

/// Every implementation this machine can run, with its name.
fn feeds() -> Vec<(&'static str, Feed)> {
    let mut feeds: Vec<(&'static str, Feed)> = vec![
        ("feed", Balance::feed),
        ("portable", |balance, bytes| {
            balance.feed_with(bytes, portable::close);
        }),
    ];
    #[cfg(target_arch = "x86_64")]
    if avx2::Avx2::detect().is_some() {
        feeds.push(("avx2", |balance, bytes| {
            let avx2 = avx2::Avx2::detect().unwrap();
            balance.feed_with(bytes, |open, bytes| avx2.close(open, bytes));
        }));
    }
    feeds
}

/// The rules, one byte at a time.
fn reference(bytes: &[u8], depth: u32) -> Balance {
    let mut state = Balance::inside(depth);
    let Balance { place, open } = &mut state;
    for &byte in bytes {
        match (*place, byte) {
            (Place::Within, _) if open.escaped => open.escaped = false,
            (Place::Within, b'\\') if open.in_string => open.escaped = true,
            (Place::Within, b'"') => open.in_string ^= true,
            (Place::Within, b'{' | b'[') if !open.in_string => open.depth += 1,
            (Place::Within, b'}' | b']') if !open.in_string => open.depth -= 1,
            (Place::Before, b'{' | b'[') => (*place, open.depth) = (Place::Within, 1),
            (Place::Within, _) | (_, b' ' | b'\t' | b'\r' | b'\n') => {}
            _ => *place = Place::Spoiled,
        }
        if *place == Place::Within && open.depth == 0 {
            *place = Place::After;
        }
    }
    state
}

/// Reads `bytes` in every implementation, at once and in chunks of each of `sizes` in turn, and
/// returns the state all of them end in.
#[track_caller]
fn read(bytes: &[u8], depth: u32, sizes: &[usize]) -> Balance {
    let expected = reference(bytes, depth);
    for (name, feed) in feeds() {
        let mut balance = Balance::inside(depth);
        feed(&mut balance, bytes);
        assert_eq!(balance, expected, "{name}, at once");

        let mut balance = Balance::inside(depth);
        let mut rest = bytes;
        let mut next = sizes.iter().cycle();
        while let Some(&size) = next.next().filter(|_| !rest.is_empty()) {
            let (chunk, later) = rest.split_at(size.min(rest.len()));
            feed(&mut balance, chunk);
            rest = later;
        }
        feed(&mut balance, rest);
        assert_eq!(balance, expected, "{name}, in chunks of {sizes:?}");
    }
    assert_eq!(is_whole(bytes, depth), expected.is_whole());
    expected
}

#[track_caller]
fn assert_whole(bytes: impl AsRef<[u8]>, depth: u32, whole: bool) {
    let bytes = bytes.as_ref();
    for sizes in [&[1][..], &[7], &[63], &[64], &[65], &[1, 64, 0, 130]] {
        assert_eq!(
            read(bytes, depth, sizes).is_whole(),
            whole,
            "{} at depth {depth}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(300)]),
        );
    }
}

#[test]
fn closes_exactly_at_the_end() {
    assert_whole(r#"{}"#, 0, true);
    assert_whole(r#"[]"#, 0, true);
    assert_whole(r#"{"a":[1,{"b":null}],"c":"d"}"#, 0, true);
    // Kinds are not matched and nothing else is parsed.
    assert_whole(r#"{[}]"#, 0, true);
    assert_whole(r#"{nope"}"!}"#, 0, true);
}

#[test]
fn torn() {
    let line = r#"{"type":"message","content":[{"text":"a \"b\" {c} \\"}],"n":{"x":[1,2,[3]]}}"#;
    assert_whole(line, 0, true);
    for end in 0..line.len() {
        assert_whole(&line[..end], 0, false);
    }
    for start in 1..line.len() {
        assert_whole(&line[start..], 0, false);
    }
}

#[test]
fn two_on_a_line() {
    assert_whole(r#"{"a":1}{"b":2}"#, 0, false);
    assert_whole(r#"{"a":1} {"b":2}"#, 0, false);
    assert_whole(r#"{"a":{"b":2}{"c":3}}"#, 0, true);
    // The first one torn, so that the second hangs inside it or inside its string.
    assert_whole(r#"{"a":1{"b":2}"#, 0, false);
    assert_whole(r#"{"a":"text{"b":"2"}"#, 0, false);
    // Both in one block, and the second in a block of its own.
    for gap in [0, 30, 56, 57, 58, 64, 200] {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(gap));
        assert_whole(&long, 0, true);
        assert_whole(format!("{long}{long}"), 0, false);
        assert_whole(format!("{long}{}{{}}", " ".repeat(gap)), 0, false);
    }
}

#[test]
fn only_white_space_around() {
    assert_whole(" \t\r\n{} \t\r\n", 0, true);
    assert_whole("{}\r", 0, true);
    assert_whole(format!("{}[]{}", " ".repeat(99), "\r\n".repeat(99)), 0, true);
    for byte in 0..=255_u8 {
        if !b" \t\r\n".contains(&byte) {
            assert_whole([b"{}", &[byte][..]].concat(), 0, false);
            assert_whole([b"{} ", &[byte][..], b" "].concat(), 0, false);
            assert_whole([&[byte][..], b"}"].concat(), 0, b"{[".contains(&byte));
            assert_whole([&[byte][..], b"{}"].concat(), 0, false);
        }
    }
    // A byte-order mark is not white space.
    assert_whole("\u{feff}{}", 0, false);
}

#[test]
fn nothing_opened() {
    for bytes in ["", " ", "\r", "null", "\"\"", "\"{}\"", "}", "]", "}{", "\0"] {
        assert_whole(bytes, 0, false);
    }
}

#[test]
fn open_at_the_start() {
    assert_whole("}", 1, true);
    assert_whole("", 1, false);
    assert_whole(r#""a":"b"}]} "#, 3, true);
    assert_whole(r#""a":"b"}]} "#, 2, false);
    assert_whole(r#""a":"b"}]} "#, 4, false);
    // Zero open is a line not begun, not a line finished.
    assert_whole("", 0, false);
    assert_whole("{}", 0, true);
    assert_whole("}", u32::MAX, false);
    let mut balance = Balance::inside(u32::MAX);
    balance.feed(b"{[");
    assert_eq!(balance.open.depth, u64::from(u32::MAX) + 2);
    assert_eq!(Balance::default(), Balance::new());
}

#[test]
fn nul_bytes() {
    assert_whole("{\0}", 0, true);
    assert_whole("{\"\0\"}", 0, true);
    assert_whole("\0{}", 0, false);
    // What a lost write leaves behind.
    assert_whole(["{}".as_bytes(), &[0; 200]].concat(), 0, false);
    assert_whole(["{\"a\":\"".as_bytes(), &[0; 200]].concat(), 0, false);
}

#[test]
fn any_byte_inside() {
    // None but the four brackets, the quote and the backslash may mean anything, above 127 too.
    for byte in 0..=255_u8 {
        let outside = [b"{", &[byte][..], b"}"].concat();
        assert_whole(&outside, 0, !b"{}[]\"".contains(&byte));
        let in_string = [b"{\"", &[byte][..], b"\"}"].concat();
        assert_whole(&in_string, 0, !b"\"\\".contains(&byte));
    }
}

#[test]
fn escapes_at_block_borders() {
    // Runs of every length up to more than two blocks, starting at every place in a block.
    for before in 0..130 {
        for run in (0..6).chain(60..68).chain([127, 128, 129, 130]) {
            let head = format!("{{\"{}{}\"", "x".repeat(before), "\\".repeat(run));
            // An odd run escapes the quote, so the string goes on past the brackets.
            assert_eq!(read(format!("{head}}}").as_bytes(), 0, &[64]).is_whole(), run % 2 == 0);
            let odd = format!("{head}}}{{\"}}");
            assert_eq!(read(odd.as_bytes(), 0, &[1, 63]).is_whole(), run % 2 == 1);
        }
    }
}

#[test]
fn escapes_at_chunk_borders() {
    for run in 0..70 {
        let line = format!("{{\"ab{}\"}}{{\"}}", "\\".repeat(run));
        for cut in 1..=line.len() {
            let state = read(line.as_bytes(), 0, &[cut, 1, line.len()]);
            assert_eq!(state.is_whole(), run % 2 == 1, "run {run}, cut {cut}");
        }
    }
}

#[test]
fn backslash_outside_a_string_escapes_nothing() {
    assert_whole(r#"{\}"#, 0, true);
    assert_whole(r#"{\"}"}"#, 0, true);
    assert_whole(r#"{\"}"#, 0, false);
    assert_whole(r#"{\\\"}\"}"}"#, 0, true);
    assert_whole(r#"{}\"#, 0, false);
    for before in 0..70 {
        let pad = " ".repeat(before);
        assert_whole(format!(r#"{{{pad}\"}}"}}"#), 0, true);
        assert_whole(format!(r#"{{{pad}\"\"{pad}"}}"#), 0, true);
        assert_whole(format!(r#"{{{pad}\"}}"#), 0, false);
    }
}

#[test]
fn deep_nesting() {
    for depth in [63, 64, 65, 5_000, 100_000] {
        for (open, close) in [("{", "}"), ("[", "]"), ("{\"a}\":[", "]}")] {
            let line = open.repeat(depth) + &close.repeat(depth);
            let read = |bytes: &str| read(bytes.as_bytes(), 0, &[4096]).is_whole();
            assert!(read(&line));
            assert!(!read(&line[..line.len() - 1]));
            assert!(!read(&format!("{line}{close}")));
        }
    }
}

#[test]
fn shallow_and_busy() {
    // Every block holds more closing brackets than are open when it starts.
    let line = format!("[{}[]]", "[[]],{},".repeat(100));
    for start in 0..64 {
        let line = format!("{}{line}", " ".repeat(start));
        assert!(read(line.as_bytes(), 0, &[100]).is_whole());
        assert!(!read(format!("{line}]").as_bytes(), 0, &[100]).is_whole());
        assert!(!read(&line.as_bytes()[..line.len() - 1], 0, &[100]).is_whole());
    }
}

/// What is left to write so that a line in this state becomes whole.
fn rest_of(state: &Balance) -> Vec<u8> {
    let mut rest = Vec::new();
    if state.open.escaped {
        rest.push(b'n');
    }
    if state.open.in_string {
        rest.push(b'"');
    }
    rest.resize(rest.len() + usize::try_from(state.open.depth).unwrap(), b'}');
    rest
}

fn soup(alphabet: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    vec(select(alphabet), 0..400)
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    vec(1_usize..150, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn all_agree(
        bytes in soup(b"\"\\{}[] a\n\t\r\0:;\xff|\x02\\\\"),
        depth in select(vec![0_u32, 1, 2, 3, 40, 1_000, u32::MAX]),
        sizes in sizes(),
    ) {
        read(&bytes, depth, &sizes);
    }

    /// Random bytes are hardly ever whole, so this finishes them.
    #[test]
    fn all_agree_on_finished_lines(
        body in prop_oneof![
            soup(b"\"\\{}[] a\n"),
            soup(b"\"\\\\\\aaaaa"),
            soup(b"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{}"),
            soup(b"\"\"[]{}"),
        ],
        depth in 1_u32..100,
        sizes in sizes(),
        behind in vec(select(b" \r\n\t".as_slice()), 0..3),
    ) {
        let mut line = body;
        while reference(&line, depth).place != Place::Within {
            line.pop();
        }
        line.extend(rest_of(&reference(&line, depth)));
        line.extend(&behind);
        prop_assert!(read(&line, depth, &sizes).is_whole());
        prop_assert!(!read(&line, depth + 1, &sizes).is_whole());
        let torn = &line[..line.len() - behind.len() - 1];
        prop_assert!(!read(torn, depth, &sizes).is_whole());
        line.push(b'}');
        prop_assert!(!read(&line, depth, &sizes).is_whole());
    }
}
