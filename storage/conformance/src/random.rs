//! A small generator of numbers that look random and are the same in every run.

/// `SplitMix64`, by Sebastiano Vigna.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is small and not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % high.abs_diff(low).saturating_add(1)).expect("a small range")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_returns_every_number_of_range() {
        let mut random = Random::new(1);
        let mut counts = [0; 7];
        for _ in 0..200 {
            counts[usize::try_from(random.between(-3, 3) + 3).expect("from -3 to 3")] += 1;
        }
        assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
    }
}
