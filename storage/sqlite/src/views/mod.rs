//! Courses that are read from views over another program's tables; credentials stay in tables of ours.
//!
//! - **Two files**, with dedicated readers each: ours for credentials, that program's for courses, opened read-only. No statement
//!   spans both: whether an account exists is looked up beforehand.
//! - **Its program writes** whatever happens here: SQLite makes a `-wal` and `-shm` where they are missing, and a file whose owner
//!   could not write these is not opened ([`wal_files`]).
//! - **Order** is that of [`instant`]s, an expression over `created_at`: right for numbers and for texts of any mixture. What cannot
//!   be converted comes last, so the page that reaches it fails; nothing is left out. An index on the expression serves.
//! - **Rows** are read strictly ([`ViewRow`]): a value that the API must not show is an error with the view and the key.
//! - **Revisions** are the rows of `catalogue_revisions` if triggers on each table behind the views write to it ([`trust`]).
//!   Otherwise they stand for the state of the whole file ([`Version`](crate::readers::Version)): each state gets a fresh random
//!   one, which no other state and no other process has. Without a WAL there is none, and nothing is cached; nor is anything of
//!   views that read the [`clock`]. A change of the schema decides again.
//! - **Each row says whose it is**, and is compared with the account that was asked for before anything of it is used.
//! - **Later pages** are asked by the cheapest statement, which has no rows where there are many courses of the place's instant
//!   ([`statements`]). Then one for any page is asked.
//! - **One statement a detail**: it is a course and its modules in one `UNION ALL`, put in order here: so views that join
//!   are flattened, which a `LEFT JOIN` would hinder.
//!
//! [`ViewRow`]: catalogue_core::storage::views::ViewRow

mod accounts;
mod check;
mod check_columns;
mod clock;
mod instant;
pub(crate) mod open;
mod plans;
mod read;
mod revision;
mod row;
mod statements;
mod tokens;
pub(crate) mod trust;
pub(crate) mod wal_files;

use std::fmt;
use std::sync::Mutex;

use catalogue_core::AccountId;
use catalogue_core::storage::Revision;

use crate::file::FileVersion;
use crate::readers::{Cache, Readers};
use statements::Statements;
use trust::{Basis, Examined};

/// How many revisions are cached.
const CACHE_ENTRIES: usize = 10_000;

/// The views of another program's file.
pub(crate) struct ViewedCourses {
    pub(crate) readers: Readers,
    statements: Statements,
    /// Revisions that are rows of `catalogue_revisions`; `None` for those that are not.
    revisions: Cache<AccountId, (Basis, Option<Revision>)>,
    /// What was found in the schema last, and in which version of the file.
    examined: Mutex<Option<(FileVersion, Examined)>>,
}

impl fmt::Debug for ViewedCourses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewedCourses").field("database", self.readers.database()).finish_non_exhaustive()
    }
}
