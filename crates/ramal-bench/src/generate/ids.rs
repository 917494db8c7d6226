//! Entry ids that are unique without a table of those already given.

/// The ids of one session: a permutation of the entry numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    offset: u32,
}

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self { offset: (seed ^ (seed >> 32)) as u32 }
    }

    /// The id of entry `number`. Every step can be undone, so no two numbers
    /// share an id.
    pub(super) fn of(self, number: u32) -> [u8; 8] {
        let mut bits = number.wrapping_add(self.offset);
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
        bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
        bits ^= bits >> 16;
        let mut id = [0; 8];
        for (place, digit) in id.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(bits >> (28 - 4 * place)) as usize & 15];
        }
        id
    }
}
