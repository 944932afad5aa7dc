//! [`Sketches`]: which slugs of a page may be there twice.

use catalogue_core::storage::Limit;

/// Those of a page's slugs.
pub(super) struct Sketches {
    all: Vec<u64>,
    /// A bit for each of which a few are the same: of most it tells alone that they are new.
    ends: [u64; 64],
}

impl Default for Sketches {
    fn default() -> Self {
        Self { all: Vec::with_capacity(Limit::MAX.get() + 1), ends: [0; 64] }
    }
}

impl Sketches {
    /// Whether it is new, as far as its sketch tells.
    #[inline]
    pub(super) fn insert(&mut self, slug: &str) -> bool {
        let sketch = sketch(slug);
        let end = sketch.wrapping_mul(ODD) >> 52;
        let (place, bit) = (end as usize >> 6, 1 << (end & 63));
        let is_new = self.ends[place] & bit == 0 || !self.all.contains(&sketch);
        self.ends[place] |= bit;
        self.all.push(sketch);
        is_new
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Spreads what differs in the last bits over the first ones.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number that other slugs hardly have.
fn sketch(slug: &str) -> u64 {
    let bytes = slug.as_bytes();
    let mix = |sketch: u64, eight: &[u8; 8]| (sketch.rotate_left(5) ^ u64::from_le_bytes(*eight)).wrapping_mul(ODD);
    match bytes.last_chunk() {
        // Some of the last eight bytes are looked at twice.
        Some(last) => bytes.as_chunks().0.iter().fold(u64::from_le_bytes(*last), mix),
        None => bytes.iter().fold(0, |sketch, byte| sketch << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_slugs_may_have_the_same_sketch() {
        let mut sketches = Sketches::default();
        assert!(sketches.is_empty() && sketches.insert("b-------a") && !sketches.is_empty());
        assert!(!sketches.insert("c-------i") && sketches.insert("c-------j") && sketches.insert("short"));
    }
}
