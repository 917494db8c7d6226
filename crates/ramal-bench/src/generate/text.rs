//! The words, tool outputs and signatures that entries are filled with.
//!
//! Text is made once, already escaped as JSON, and cut into pieces; an entry
//! copies a run of neighbouring pieces. That is what makes a gigabyte a matter
//! of seconds.

use std::sync::LazyLock;

use crate::random::Random;

/// Size of a pool. Large enough that runs differ, small enough for the cache.
const POOL_BYTES: usize = 192 * 1024;

const WORDS: &[&str] = &[
    "the",
    "a",
    "parser",
    "date",
    "returns",
    "when",
    "file",
    "line",
    "and",
    "not",
    "is",
    "test",
    "fails",
    "because",
    "offset",
    "of",
    "index",
    "we",
    "should",
    "first",
    "check",
    "whether",
    "timezone",
    "entry",
    "branch",
    "it",
    "reads",
    "again",
    "value",
    "empty",
    "string",
    "before",
    "after",
    "change",
    "in",
    "this",
    "function",
    "with",
    "error",
    "path",
    "cache",
    "now",
    "let",
    "me",
    "look",
    "at",
    "then",
    "run",
    "whole",
    "suite",
    "naïve",
    "größer",
    "façade",
    "→",
    "日付",
    "😀",
    "\"quoted\"",
    "`code`",
    "C:\\temp",
    "don't",
    "50%",
];

const NAMES: &[&str] = &[
    "offset",
    "reader",
    "parse_date",
    "Zone",
    "buffer",
    "entries",
    "next_line",
    "is_leap",
    "cursor",
    "Header",
    "width",
    "token",
];

const PATHS: &[&str] = &[
    "src/parse.rs",
    "src/zone/table.rs",
    "tests/leap_years.rs",
    "README.md",
    "src/lib.rs",
    "packages/web/src/date-picker.tsx",
    "docs/format.md",
    "scripts/build.sh",
];

/// Escapes and characters that a reader has to get right, as they stand in
/// files: some programs escape everything that is not ASCII.
const ESCAPED: &[&str] = &[
    r"\u001b[32mok\u001b[0m test zone::table ... passed\n",
    r"caf\u00e9 na\u00efve \u2192 \u65e5\u4ed8\n",
    r"\ud83d\ude80 released 1.4.2\r\n",
    r"a\/b \b\f\u0000 end\n",
];

/// Text in JSON form, in pieces that may each stand alone.
#[derive(Debug)]
struct Pool {
    text: String,
    /// Where each piece begins, and at the end where the last one ends.
    cuts: Vec<usize>,
}

impl Pool {
    fn new(mut piece: impl FnMut(&mut String)) -> Self {
        let mut text = String::with_capacity(POOL_BYTES + 256);
        let mut cuts = vec![0];
        while text.len() < POOL_BYTES {
            piece(&mut text);
            cuts.push(text.len());
        }
        Self { text, cuts }
    }

    /// Appends whole pieces of about `length` bytes, one at least.
    fn take(&self, random: &mut Random, length: usize, out: &mut Vec<u8>) {
        let pieces = self.cuts.len() - 1;
        let goal = out.len() + length;
        loop {
            let first = random.below(pieces as u64) as usize;
            let start = self.cuts[first];
            let wanted = start + goal.saturating_sub(out.len());
            let last = self.cuts.partition_point(|cut| *cut <= wanted) - 1;
            let last = last.max(first + 1);
            out.extend_from_slice(&self.text.as_bytes()[start..self.cuts[last]]);
            // A run ends early only at the end of the pool.
            if last < pieces || out.len() >= goal {
                return;
            }
        }
    }
}

/// The text of all sessions. What is taken from it depends on their seeds.
pub(super) static TEXTS: LazyLock<Texts> = LazyLock::new(Texts::new);

/// Everything that entries are filled with.
#[derive(Debug)]
pub(super) struct Texts {
    prose: Pool,
    output: Pool,
    signature: String,
}

impl Texts {
    fn new() -> Self {
        let mut random = Random::new(0x7465_7874);
        Self {
            prose: Pool::new(|text| word(&mut random, text)),
            output: Pool::new(|text| output_line(&mut random, text)),
            signature: (0..16 * 1024).map(|_| base64_digit(&mut random)).collect(),
        }
    }

    /// Words of about `length` bytes.
    pub(super) fn prose(&self, random: &mut Random, length: usize, out: &mut Vec<u8>) {
        self.prose.take(random, length, out);
    }

    /// Source lines and tool output of about `length` bytes.
    pub(super) fn output(&self, random: &mut Random, length: usize, out: &mut Vec<u8>) {
        self.output.take(random, length, out);
    }

    /// What looks like a signature, of at most `length` bytes.
    pub(super) fn signature(&self, random: &mut Random, length: usize, out: &mut Vec<u8>) {
        let length = length.clamp(4, self.signature.len() / 2) / 4 * 4;
        let start = random.below((self.signature.len() - length) as u64) as usize;
        out.extend_from_slice(&self.signature.as_bytes()[start..start + length]);
    }

    /// A relative path of a source file.
    pub(super) fn path(&self, random: &mut Random) -> &'static str {
        random.pick(PATHS)
    }
}

fn word(random: &mut Random, text: &mut String) {
    escape(random.pick(WORDS), text);
    match random.below(40) {
        0 => text.push_str(".\\n\\n"),
        1 | 2 => text.push_str(". "),
        3 | 4 => text.push_str(", "),
        _ => text.push(' '),
    }
}

fn output_line(random: &mut Random, text: &mut String) {
    let name = random.pick(NAMES);
    let other = random.pick(NAMES);
    let path = random.pick(PATHS);
    let number = random.between(1, 990);
    let line = match random.below(12) {
        0 => format!("{number:>5}→    let {name} = {other}.get(\"{path}\")?;\n"),
        1 => format!("{number:>5}→\t\tif {name} < {number} {{ return Err(\"{other}\\n\"); }}\n"),
        2 => format!("{path}:{number}:17: warning: unused variable `{name}`\n"),
        3 => format!("test {name}::{other} ... ok ({number} ms)\n"),
        4 => format!("-    {name}({other}, \"{number}\")\n+    {name}(&{other}, '{number}')\n"),
        5 => format!("{{\"name\": \"{name}\", \"path\": \"C:\\\\src\\\\{other}\", \"n\": {number}}}\n"),
        6 => format!("│ {name:<12} │ {number:>6} │ {other:<12} │ größer → 日付 │\n"),
        7 => format!("drwxr-xr-x  {number:>4} user  staff  4096 Jan 12 09:{:02} {path}\n", number % 60),
        8 => "\n".to_owned(),
        9 => format!("    // {name} of {other}: see {path}, line {number}\n"),
        10 => format!("    pub fn {name}(&self, {other}: &str) -> Result<u64, Error> {{\n"),
        _ => return text.push_str(random.pick(ESCAPED)),
    };
    escape(&line, text);
}

fn base64_digit(random: &mut Random) -> char {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char::from(digits[random.below(64) as usize])
}

/// Appends `plain` as it stands inside a JSON string.
pub(super) fn escape(plain: &str, out: &mut String) {
    for character in plain.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
}
