//! [`Probe`]: checks whether the database responds.

use std::sync::Arc;
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{CourseRows, Limit, PageRequest, StorageError, StorageStatus};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::database::Storage;
use crate::exit::chain;

/// Timeout for all checks together, and for the status.
const DEADLINE: Duration = Duration::from_secs(2);

/// A probe that makes the storage run the queries of requests, over the connections of requests. It fails if the database
/// is unreachable, has the tables of another build, or is a file with other content.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    storage: Storage,
    /// Held during a check: only one runs at a time, so frequent checks cannot put load on a database that hardly responds.
    running: Arc<Mutex<()>>,
}

/// Results of the probe: the name of each check, and the error if it failed.
pub(super) type ProbeResults = [(&'static str, Result<(), String>); 2];

impl Probe {
    /// Creates a probe of `storage`.
    pub(super) fn new(storage: Storage) -> Self {
        Self { storage, running: Arc::default() }
    }

    /// Returns the status that [`Monitor::database`](super::Monitor::database) describes.
    pub(super) async fn status(&self) -> Option<Option<StorageStatus>> {
        timeout(DEADLINE, self.storage.admin().status()).await.map_or(Some(None), |status| status.map(Some))
    }

    /// Runs all checks off the serving threads: a database in a file is read on the calling thread.
    pub(super) async fn run(&self) -> ProbeResults {
        let probe = self.clone();
        let checks = async {
            let guard = Arc::clone(&self.running).lock_owned().await;
            spawn_blocking(move || {
                let _guard = guard;
                Handle::current().block_on(async { [probe.check_credentials().await, probe.check_courses().await] })
            })
            .await
        };
        let [credentials, courses] = match timeout(DEADLINE, checks).await {
            Ok(Ok(results)) => results.map(|result| result.map_err(|error| chain(&error))),
            Ok(Err(panic)) => [(); 2].map(|()| Err(panic.to_string())),
            Err(_) => [(); 2].map(|()| Err(format!("no response within {DEADLINE:?}"))),
        };
        [("credentials", credentials), ("courses", courses)]
    }

    /// Looks up a credential that does not exist.
    async fn check_credentials(&self) -> Result<(), StorageError> {
        self.storage.credentials().find_credential(&TokenDigest::from_bytes([0; 32])).await.map(drop)
    }

    /// Reads the tables of courses, as an account that need not exist.
    async fn check_courses(&self) -> Result<(), StorageError> {
        let account = AccountId::new("");
        let page = PageRequest { limit: Limit::new(1).expect("1 is a valid limit"), after: None };
        let courses = self.storage.courses();
        courses.list_courses(&account, &page, &mut CourseRows::new(page.limit, &mut |_| {})).await?;
        courses.find_course(&account, "none").await?;
        courses.revision(&account).await.map(drop)
    }
}
