//! Courses that are read from views over another program's tables; credentials are in the catalogue's own tables.
//!
//! - **Two files**, each with dedicated readers: the catalogue's for credentials, and the other program's for courses, opened
//!   read-only. No statement spans both, so whether an account exists is looked up first.
//! - **The other program can always write**: SQLite creates a missing `-wal` and `-shm`. A file whose owner could not
//!   write them is not opened ([`wal_files`]).
//! - **Order** is by [`instant`], an expression over `created_at` that is right for any mixture of numbers and texts.
//!   Values that it cannot convert come last, so the page that reaches them fails; nothing is left out. An index on the
//!   expression can serve it.
//! - **Rows** are read strictly ([`ViewRow`]): a value that the API must not return is an error with the view and the key.
//! - **Revisions** are the rows of `catalogue_revisions` if triggers on each table behind the views write to it ([`trust`]).
//!   Otherwise each state of the whole file ([`Version`](crate::readers::Version)) gets a new random revision, unique among
//!   states and processes; without a WAL, there is none. Views that are volatile ([`volatility`]) never have a revision.
//!   Nothing is cached without one. A change of the schema repeats this decision.
//! - **Each row includes its account**, which is compared with the requested one before anything else of the row is used.
//! - **Later pages** use the cheapest statement, which returns no rows if many courses have the cursor's instant
//!   ([`statements`]). Then a statement that is right for any page runs.
//! - **One statement per detail**: a course and its modules in one `UNION ALL`; [`read`] sorts the modules. So views with joins
//!   are flattened, which a `LEFT JOIN` would prevent.
//!
//! [`ViewRow`]: catalogue_core::storage::views::ViewRow

mod accounts;
mod check;
mod check_columns;
mod instant;
pub(crate) mod open;
mod plans;
mod read;
mod revision;
mod row;
mod statements;
mod tokens;
pub(crate) mod trust;
mod volatility;
pub(crate) mod wal_files;

use std::fmt;
use std::sync::Mutex;

use catalogue_core::AccountId;
use catalogue_core::storage::Revision;

use crate::file::FileVersion;
use crate::readers::{Cache, Readers};
use statements::Statements;
use trust::{Basis, Examined};

/// Maximum number of cached revisions.
const CACHE_ENTRIES: usize = 10_000;

/// Views in another program's file.
pub(crate) struct ViewedCourses {
    pub(crate) readers: Readers,
    statements: Statements,
    /// Basis of each account's revision, with the row of `catalogue_revisions` if that is the basis.
    revisions: Cache<AccountId, (Basis, Option<Revision>)>,
    /// Result of the last examination of the schema, and the version of the file then.
    examined: Mutex<Option<(FileVersion, Examined)>>,
}

impl fmt::Debug for ViewedCourses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewedCourses").field("database", self.readers.database()).finish_non_exhaustive()
    }
}
