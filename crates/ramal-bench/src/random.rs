//! A small generator of random numbers, the same on every machine.
//!
//! It works on whole numbers only: floating-point functions may differ in
//! their last bit between platforms, and then so would the files.

/// A SplitMix64 sequence.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// Sixteen multipliers in percent, from small to large as a log-normal
/// distribution has them. Their mean is [`SKEW_MEAN`].
const SKEW: [u64; 16] = [8, 14, 21, 28, 36, 45, 55, 67, 80, 97, 117, 143, 178, 226, 325, 560];

/// The mean of what [`Random::skewed`] returns.
pub const SKEW_MEAN: u64 = 125;

impl Random {
    /// The sequence of a seed. Neighbouring seeds give unrelated sequences.
    pub fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(bound);
        (wide >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A multiplier in percent: mostly small, now and then large.
    pub fn skewed(&mut self) -> u64 {
        SKEW[self.below(SKEW.len() as u64) as usize]
    }

    /// One of `choices`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// A permutation of the 64-bit numbers.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_multipliers_is_what_it_says() {
        assert_eq!(SKEW.iter().sum::<u64>() / SKEW.len() as u64, SKEW_MEAN);
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut random = Random::new(1);
        let seen: std::collections::BTreeSet<u64> = (0..1_000).map(|_| random.between(3, 7)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
    }
}
