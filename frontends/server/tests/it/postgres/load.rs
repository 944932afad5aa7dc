//! Requests without a pause, of which none may be answered in a way that it must not.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::program::get;

/// What came of the requests up to now, and whether there are to be more.
pub(super) struct Load {
    goes_on: AtomicBool,
    pub(super) served: AtomicUsize,
    pub(super) failed: AtomicUsize,
}
