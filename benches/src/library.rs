//! [`Library`]: one account's courses in an SQLite file, read without a socket.

use std::error::Error;
use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use catalogue_core::storage::{CourseRow, CourseRows, CourseStorage, PageRequest, StorageError};
use catalogue_core::{Catalogue, CourseListItem};
use catalogue_sqlite::SqliteStorage;

use crate::caller::Caller;
use crate::data::{Data, Owner};
use crate::team::Team;

/// One account's courses in an SQLite file, and a key that reads them.
#[derive(Debug)]
pub struct Library {
    storage: SqliteStorage,
    data: Data,
}

impl Library {
    /// A library of that many courses of one account.
    ///
    /// # Panics
    /// When the temporary directory or its database fails.
    #[must_use]
    pub fn with_courses(courses: usize) -> Self {
        let data = Data::sqlite(&[courses], courses).expect("the courses are written");
        Self { storage: SqliteStorage::open(data.path()).expect("a database"), data }
    }

    /// The account, how many courses it has, and its key.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.data.accounts()[0]
    }

    /// Nine tenths of the way down the list.
    #[must_use]
    pub fn deep(&self) -> usize {
        self.owner().courses / 10 * 9
    }

    /// The storage.
    #[must_use]
    pub const fn storage(&self) -> &SqliteStorage {
        &self.storage
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.data.path()
    }

    /// The same courses in another program's tables, with views over them.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn team(&self) -> Result<Team, Box<dyn Error>> {
        Team::beside(&self.data)
    }

    /// The items of a page, as the storage reads it.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn page(&self, page: &PageRequest) -> Result<Vec<CourseListItem>, StorageError> {
        let mut items = Vec::with_capacity(page.limit.get());
        let mut take = |row: CourseRow<'_>| items.push(row.into());
        let mut rows = CourseRows::new(page.limit, &mut take);
        now(self.storage.list_courses(&self.owner().account, page, &mut rows))?;
        Ok(items)
    }

    /// A caller whose catalogue keeps rendered answers as it does by default.
    #[must_use]
    pub fn hot(&self) -> Caller {
        Caller::new(Catalogue::with_api_keys(self.storage.clone()), self.owner().token.expose())
    }

    /// A caller whose catalogue keeps no answer.
    #[must_use]
    pub fn cold(&self) -> Caller {
        Caller::new(Catalogue::with_api_keys(self.storage.clone()).page_cache(0), self.owner().token.expose())
    }
}

/// The value of a future that never waits, as none does over SQLite.
pub fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
