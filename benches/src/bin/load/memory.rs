//! [`Memory`]: what the servers hold once every account was read.

use std::error::Error;

use catalogue_benches::{Data, Program, resident_memory};

use crate::measure::visit;
use crate::works::{Target, walk};

/// Limits of pages: each is an answer of its own, and all of them together are more than the cache holds.
const LIMITS: std::ops::RangeInclusive<usize> = 50..=60;

/// Bytes of memory that a server has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// After the first page of every account was read.
    pub(crate) one_page: u64,
    /// After so many pages of every account were read, plain and compressed, that the cache is full.
    pub(crate) full: u64,
    /// The most it ever had.
    pub(crate) most: u64,
}

impl Memory {
    /// Walks over all accounts and looks at the first of the servers.
    pub(crate) fn of(servers: &[Program], data: &Data) -> Result<Self, Box<dyn Error>> {
        visit(&target(servers, data, 50, false))?;
        let (one_page, _) = resident_memory(servers[0].id())?;
        for limit in LIMITS {
            for gzip in [false, true] {
                visit(&target(servers, data, limit, gzip))?;
            }
        }
        let (full, most) = resident_memory(servers[0].id())?;
        Ok(Self { one_page, full, most })
    }
}

fn target(servers: &[Program], data: &Data, limit: usize, gzip: bool) -> Target {
    Target::of(servers, walk(data, &format!("/courses?limit={limit}"), gzip))
}
