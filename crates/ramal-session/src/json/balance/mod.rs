//! Is a line of JSON whole: do its strings and brackets close exactly at its end?
//!
//! This tells a complete record from a torn one, or from two that share a line, without parsing
//! either. It looks at nothing but quotes, backslashes, brackets and the white space around them:
//! a line that is whole may still be no JSON (`{]` and `{nope}` are whole).
//!
//! The rules, the same for every implementation:
//!
//! - Before the first bracket and after the last only JSON white space may stand: space, `\t`,
//!   `\r` and `\n`. Any other byte there, a quote or a closing bracket included, spoils the line
//!   for good.
//! - `{` and `[` open, `}` and `]` close, and the kinds need not match.
//! - Between the brackets a `"` opens or closes a string, unless an odd run of backslashes that
//!   lies inside the string stands before it. Brackets inside a string do not count.
//! - A backslash outside a string is an ordinary byte and escapes nothing: in `{\"` a string is
//!   open.
//!
//! Only the stretch between the first bracket and the last is worth speed, so that is the part
//! with two implementations: one for machines with AVX2, found at run time, and a portable one.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
#[cfg(test)]
mod tests;

/// How far a line has come, carried from chunk to chunk so that a line of any length needs no
/// buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    place: Place,
    open: Open,
}

/// Which part of the line comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// No bracket yet.
    Before,
    /// At least one bracket is open.
    Within,
    /// The last bracket has closed.
    After,
    /// Nothing that follows can make the line whole.
    Spoiled,
}

/// What is open while the place is [`Place::Within`]; all zero in every other place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Open {
    /// Brackets. Each one took a byte of input, so 64 bits are never used up.
    depth: u64,
    in_string: bool,
    /// The next byte is escaped by the last one. Only ever true inside a string.
    escaped: bool,
}

impl Balance {
    /// The state before the first byte of a line, where only JSON white space may stand ahead of
    /// the opening bracket.
    pub fn new() -> Balance {
        Balance { place: Place::Before, open: Open::default() }
    }

    /// The state in the middle of a line: `depth` brackets are open and no string is.
    ///
    /// With a `depth` of 0 nothing has been opened yet, as in [`Balance::new`].
    pub fn inside(depth: u32) -> Balance {
        let mut balance = Balance::new();
        if depth > 0 {
            balance.place = Place::Within;
            balance.open.depth = u64::from(depth);
        }
        balance
    }

    /// Reads on. The line may be cut into chunks anywhere, and chunks may be empty.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.feed_with(bytes, close);
    }

    /// True if at least one bracket was opened, all have closed, once and for all, and only white
    /// space has followed.
    pub fn is_whole(&self) -> bool {
        self.place == Place::After
    }

    /// Reads on, with `close` for the stretch between the brackets. It must update what is open
    /// and return the length up to and including the byte that closes the last bracket, or `None`
    /// if that byte has not come. In the first case it may leave anything in `open`.
    #[inline(always)]
    fn feed_with(&mut self, mut bytes: &[u8], close: impl FnOnce(&mut Open, &[u8]) -> Option<usize>) {
        if self.place == Place::Before {
            let Some(first) = bytes.iter().position(|&byte| !is_space(byte)) else {
                return;
            };
            if !matches!(bytes[first], b'{' | b'[') {
                self.place = Place::Spoiled;
                return;
            }
            self.place = Place::Within;
            self.open.depth = 1;
            bytes = &bytes[first + 1..];
        }
        if self.place == Place::Within {
            let Some(end) = close(&mut self.open, bytes) else {
                return;
            };
            self.place = Place::After;
            self.open = Open::default();
            bytes = &bytes[end..];
        }
        if self.place == Place::After && !bytes.iter().all(|&byte| is_space(byte)) {
            self.place = Place::Spoiled;
        }
    }
}

impl Default for Balance {
    fn default() -> Balance {
        Balance::new()
    }
}

/// The quickest way there is here; the contract is that of the closure in [`Balance::feed_with`].
#[inline]
fn close(open: &mut Open, bytes: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::detect() {
        return avx2.close(open, bytes);
    }
    portable::close(open, bytes)
}

/// How many bytes there are up to and including the one that closes a bracket which has just been
/// opened before them.
pub(crate) fn close_of(behind_bracket: &[u8]) -> Option<usize> {
    close(&mut Open { depth: 1, ..Open::default() }, behind_bracket)
}

/// Whether a line is whole, given all of it at once from where `depth` brackets are open and no
/// string is. See [`Balance::is_whole`] for what that means and [`Balance::inside`] for `depth`.
pub fn is_whole(bytes: &[u8], depth: u32) -> bool {
    let mut balance = Balance::inside(depth);
    balance.feed(bytes);
    balance.is_whole()
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
