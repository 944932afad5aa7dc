//! [`Library`]: one account's courses in an SQLite file, read without a socket.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use catalogue_core::storage::{CourseRow, CourseRows, CourseStorage, PageRequest, StorageError};
use catalogue_core::{Catalogue, CourseListItem};
use catalogue_sqlite::SqliteStorage;

use crate::caller::Caller;
use crate::data::{Data, Owner};

/// One account's courses in an SQLite file, and a key that reads them.
#[derive(Debug)]
pub struct Library {
    /// The storage over the file.
    pub storage: SqliteStorage,
    /// The database.
    pub data: Data,
}

impl Library {
    /// Creates a database with `courses` courses in one account.
    pub fn with_courses(courses: usize) -> Self {
        let data = Data::sqlite(&[courses], courses).expect("a writable temporary directory");
        Self { storage: SqliteStorage::open(data.path()).expect("a database"), data }
    }

    /// Returns the account, its number of courses, and its key.
    pub fn owner(&self) -> &Owner {
        &self.data.accounts()[0]
    }

    /// Returns the number of courses in the first 90 % of the list.
    pub fn deep(&self) -> usize {
        self.owner().courses / 10 * 9
    }

    /// Returns the items of a page, as the storage reads it.
    pub fn page(&self, page: &PageRequest) -> Result<Vec<CourseListItem>, StorageError> {
        let mut items = Vec::with_capacity(page.limit.get());
        let mut take = |row: CourseRow<'_>| items.push(row.into());
        let mut rows = CourseRows::new(page.limit, &mut take);
        block_on(self.storage.list_courses(&self.owner().account, page, &mut rows))?;
        Ok(items)
    }

    /// Returns a caller whose catalogue has the default cache.
    pub fn hot(&self) -> Caller {
        Caller::new(Catalogue::with_api_keys(self.storage.clone()), self.owner().token.expose())
    }

    /// Returns a caller whose catalogue does not cache.
    pub fn cold(&self) -> Caller {
        Caller::new(Catalogue::with_api_keys(self.storage.clone()).page_cache(0), self.owner().token.expose())
    }
}

/// Polls a future until it is ready: for futures that never wait for an event, such as reads from SQLite.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
