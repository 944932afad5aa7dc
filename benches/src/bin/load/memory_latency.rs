//! [`MemoryLatency`]: whether the machine is quiet, told by the processor's last cache, which others on it share.

use std::hint::black_box;
use std::time::Instant;

/// Lines of memory that are walked through: 16 MiB, of what the nearer caches hold a small part.
const LINES: u32 = 1 << 18;

/// A line of the processor's cache; its first number says which one comes next.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Line([u32; 16]);

/// Memory whose lines lead to each other in an order that no processor foresees.
#[derive(Debug)]
pub(crate) struct MemoryLatency(Vec<Line>);

impl MemoryLatency {
    pub(crate) fn new() -> Self {
        // A linear congruential generator of full period comes to each line once.
        let next = |line: u32| line.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) % LINES;
        Self((0..LINES).map(|line| Line([next(line); 16])).collect())
    }

    /// How long the step from one line to the next takes, in ns: as long as a read of the last cache, or of the memory behind
    /// it where others have taken the cache.
    pub(crate) fn measure(&self) -> f64 {
        // Once without looking, which brings into the cache what has room there.
        black_box(black_box(self).walk());
        let begin = Instant::now();
        black_box(black_box(self).walk());
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(LINES)
    }

    /// Steps from line to line until all were read, and gives the one that comes next.
    fn walk(&self) -> u32 {
        (0..LINES).fold(0, |line, _| self.0[line as usize].0[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_comes_to_each_line_before_it_is_back() {
        let memory = MemoryLatency::new();
        let mut line = 0;
        let steps = (1..).find(|_| {
            line = memory.0[line as usize].0[0];
            line == 0
        });
        assert_eq!((steps, memory.walk()), (Some(LINES), 0));
    }
}
