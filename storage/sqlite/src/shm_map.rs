//! [`ShmMap`]: the start of a file as shared memory.
//!
//! Uses `vm-memory`, which reads a map without a reference to its memory, so that other processes may write there.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{Bytes as _, FileOffset, MmapRegion, VolatileMemory as _};

/// The first words of a file, each of 8 bytes. If another process truncates the file, reading them ends this process
/// (`SIGBUS`), as with every memory map.
pub(crate) struct ShmMap(MmapRegion);

impl ShmMap {
    /// Maps the first `words` words; `None` if the file has fewer, or cannot be mapped.
    pub(crate) fn start_of(file: Arc<File>, words: usize) -> Option<Self> {
        let size = words * size_of::<u64>();
        if file.metadata().ok()?.len() < size as u64 {
            return None;
        }
        let [read, shared] = [ProtFlags::READ.bits(), MapFlags::SHARED.bits()].map(u32::cast_signed);
        MmapRegion::build(Some(FileOffset::from_arc(file, 0)), size, read, shared).ok().map(Self)
    }

    /// Returns `N` words from index `from` on, read one after the other; `None` if there are fewer.
    pub(crate) fn words<const N: usize>(&self, from: usize) -> Option<[u64; N]> {
        let memory = self.0.as_volatile_slice();
        let mut words = [0; N];
        for (at, word) in words.iter_mut().enumerate() {
            *word = memory.load((from + at) * size_of::<u64>(), Ordering::Acquire).ok()?;
        }
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    fn file_with(content: &[u8]) -> Arc<File> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(content, 0).unwrap();
        Arc::new(file)
    }

    #[test]
    fn file_writes_are_visible_in_map() {
        let file = file_with(&[1; 24]);
        let mapped = ShmMap::start_of(Arc::clone(&file), 3).unwrap();
        assert_eq!(mapped.words(0), Some([0x0101_0101_0101_0101; 3]));
        file.write_all_at(&[2; 8], 8).unwrap();
        assert_eq!(mapped.words(1), Some([0x0202_0202_0202_0202, 0x0101_0101_0101_0101]));
        assert_eq!(mapped.words::<2>(2), None);
    }

    /// SQLite truncates an index that no connection has open.
    #[test]
    fn short_file_is_not_mapped() {
        assert!(ShmMap::start_of(file_with(&[1; 3]), 1).is_none());
        assert!(ShmMap::start_of(file_with(&[]), 1).is_none());
    }
}
