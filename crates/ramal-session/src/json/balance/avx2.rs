//! The stretch between the brackets, 64 bytes at a time.
//!
//! A block becomes a few 64-bit masks, bit `i` standing for byte `i`, and everything about the
//! block is then worked out for all its bytes at once. Two things cross from block to block
//! besides the depth: whether a string is open, and whether the first byte is escaped.

use std::arch::x86_64::{
    __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
};
use std::sync::LazyLock;

use super::{Open, portable};

const BLOCK: usize = 64;

/// Proof that this machine has every instruction used here.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    #[inline]
    pub(super) fn detect() -> Option<Avx2> {
        static FOUND: LazyLock<bool> = LazyLock::new(|| {
            // Processors that have AVX2 have the others too. Should one not, the portable way is
            // good enough for it.
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("popcnt")
        });
        FOUND.then_some(Avx2(()))
    }

    /// The contract is that of the closure in [`super::Balance::feed_with`].
    #[inline]
    pub(super) fn close(self, open: &mut Open, bytes: &[u8]) -> Option<usize> {
        // SAFETY: an `Avx2` is made by `detect` alone, and only after it has found the four
        // features that `close` is compiled with.
        unsafe { close(open, bytes) }
    }
}

#[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
fn close(open: &mut Open, bytes: &[u8]) -> Option<usize> {
    let mut scan = Scan::from(*open);
    let (blocks, tail) = bytes.as_chunks::<BLOCK>();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(end) = scan.step(&Block::load(block, BLOCK), block) {
            return Some(index * BLOCK + end);
        }
    }
    if !tail.is_empty() {
        let block = match bytes.last_chunk::<BLOCK>() {
            // Cheaper than a copy: reads some bytes a second time, and shifts them out.
            Some(last) => Block::load(last, tail.len()),
            None => {
                let mut padded = [b' '; BLOCK];
                // Against the far end, so that both kinds of tail are shifted alike.
                padded[BLOCK - tail.len()..].copy_from_slice(tail);
                Block::load(&padded, tail.len())
            }
        };
        if let Some(end) = scan.step(&block, tail) {
            return Some(blocks.len() * BLOCK + end);
        }
    }
    *open = Open::from(scan);
    None
}

/// The last `len` of 64 bytes, `len` being at least 1.
struct Block {
    low: __m256i,
    high: __m256i,
    len: usize,
}

impl Block {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; BLOCK], len: usize) -> Block {
        let start = bytes.as_ptr().cast::<__m256i>();
        // SAFETY: `bytes` is 64 readable bytes, two vectors of 32, and these loads ask for no
        // alignment.
        let (low, high) = unsafe { (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))) };
        Block { low, high, len }
    }

    /// Where `byte` stands, after `fold` has been or-ed into each byte of the block.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn find(&self, byte: u8, fold: u8) -> u64 {
        let byte = _mm256_set1_epi8(byte.cast_signed());
        let fold = _mm256_set1_epi8(fold.cast_signed());
        let low = _mm256_cmpeq_epi8(_mm256_or_si256(self.low, fold), byte);
        let high = _mm256_cmpeq_epi8(_mm256_or_si256(self.high, fold), byte);
        let low = u64::from(_mm256_movemask_epi8(low).cast_unsigned());
        let high = u64::from(_mm256_movemask_epi8(high).cast_unsigned());
        (high << 32 | low) >> (BLOCK - self.len)
    }

    /// Whether there is neither a quote nor a backslash among all 64 bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn is_plain_text(&self) -> bool {
        let quote = _mm256_set1_epi8(b'"'.cast_signed());
        let backslash = _mm256_set1_epi8(b'\\'.cast_signed());
        let quotes = _mm256_or_si256(_mm256_cmpeq_epi8(self.low, quote), _mm256_cmpeq_epi8(self.high, quote));
        let backslashes =
            _mm256_or_si256(_mm256_cmpeq_epi8(self.low, backslash), _mm256_cmpeq_epi8(self.high, backslash));
        _mm256_movemask_epi8(_mm256_or_si256(quotes, backslashes)) == 0
    }
}

/// [`Open`] in the form that the masks need.
#[derive(Clone, Copy)]
struct Scan {
    depth: u64,
    /// All ones if a string is open, else 0.
    string: u64,
    /// 1 if the next byte is escaped, else 0.
    escaped: u64,
}

impl Scan {
    /// Reads one block, which holds `bytes`. Returns the length up to and including the byte that
    /// closes the last bracket, if it is here.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
    fn step(&mut self, block: &Block, bytes: &[u8]) -> Option<usize> {
        if self.string != 0 && block.is_plain_text() {
            self.escaped = 0;
            return None;
        }

        let before = *self;
        let backslashes = block.find(b'\\', 0);
        let escaped = self.escape(backslashes, block.len);
        let quotes = block.find(b'"', 0) & !escaped;
        // From each opening quote up to, and without, its closing one.
        let strings = fill_between(quotes) ^ before.string;
        self.string = (strings.cast_signed() >> 63).cast_unsigned();

        if backslashes & !strings != 0 {
            // `escape` took this backslash for one in a string. JSON has none out here, so the
            // block is not worth a fast way.
            return self.step_by_byte(before, bytes);
        }
        if strings == u64::MAX {
            return None;
        }

        // `[` and `{` differ in one bit and so do `]` and `}`. Setting that bit makes each pair
        // one byte, and makes no other byte equal to it.
        let opens = block.find(b'{', b'{' ^ b'[') & !strings;
        let closes = block.find(b'}', b'}' ^ b']') & !strings;
        let opened = u64::from(opens.count_ones());
        let closed = u64::from(closes.count_ones());
        if closed >= self.depth
            && let Some(end) = last_close(self.depth, opens, closes)
        {
            return Some(end);
        }
        self.depth = self.depth + opened - closed;
        None
    }

    /// Finds the bytes that an odd run of backslashes stands before, and carries a run that reaches
    /// the end of the block. The bits on the backslashes themselves mean nothing.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
    fn escape(&mut self, backslashes: u64, len: usize) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;

        // A backslash that is itself escaped starts no run.
        let runs = backslashes & !self.escaped;
        let starts = runs & !(runs << 1);
        // Adding its start to a run moves one bit to just behind the run. The run is odd if that
        // place and the start differ in parity. Runs of the other parity stay as they are.
        let (behind_even, _) = runs.overflowing_add(starts & EVEN);
        let (behind_odd, past_end) = runs.overflowing_add(starts & !EVEN);
        let escaped = ((behind_even & !EVEN) | (behind_odd & EVEN)) | self.escaped;

        // Bit 64, where a run with an odd start is an odd run; or the first bit that is not filled
        // in a shorter block.
        self.escaped = if len == BLOCK { u64::from(past_end) } else { escaped >> len & 1 };
        escaped
    }

    /// The slow and sure way through a block, from the state before it.
    #[cold]
    fn step_by_byte(&mut self, before: Scan, bytes: &[u8]) -> Option<usize> {
        let mut open = Open::from(before);
        let end = portable::close(&mut open, bytes);
        *self = Scan::from(open);
        end
    }
}

impl From<Open> for Scan {
    fn from(open: Open) -> Scan {
        Scan {
            depth: open.depth,
            string: u64::from(open.in_string).wrapping_neg(),
            escaped: u64::from(open.escaped),
        }
    }
}

impl From<Scan> for Open {
    fn from(scan: Scan) -> Open {
        Open { depth: scan.depth, in_string: scan.string != 0, escaped: scan.escaped != 0 }
    }
}

/// Sets the bits from each odd-numbered one up to, and without, the next: bit `i` of the result is
/// the parity of the bits up to and including `i`, which is what a product without carries by all
/// ones gives.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn fill_between(bits: u64) -> u64 {
    let bits = _mm_set_epi64x(0, bits.cast_signed());
    let product = _mm_clmulepi64_si128(bits, _mm_set1_epi8(-1), 0);
    _mm_cvtsi128_si64(product).cast_unsigned()
}

/// The length up to and including the close that brings `depth` to zero, if one does.
#[inline]
#[target_feature(enable = "bmi1,popcnt")]
fn last_close(depth: u64, opens: u64, mut closes: u64) -> Option<usize> {
    let mut closed = 0;
    while closes != 0 {
        closed += 1;
        let close = closes & closes.wrapping_neg();
        let opened = u64::from((opens & (close - 1)).count_ones());
        if depth + opened == closed {
            return Some(close.trailing_zeros() as usize + 1);
        }
        closes ^= close;
    }
    None
}
