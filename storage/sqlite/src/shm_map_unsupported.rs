//! Replaces `shm_map.rs` on systems other than Linux, where mapping was not tested.

use std::fs::File;
use std::sync::Arc;

pub(crate) enum ShmMap {}

impl ShmMap {
    pub(crate) fn start_of(_: Arc<File>, _: usize) -> Option<Self> {
        None
    }

    pub(crate) fn words<const N: usize>(&self, _: usize) -> Option<[u64; N]> {
        match *self {}
    }
}
