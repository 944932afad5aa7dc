//! [`Probe`]: what the database is asked to find out whether it answers.

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

/// How long all answers together may take.
const DEADLINE: Duration = Duration::from_secs(2);

/// Asks a storage what requests ask of it, over the same connections: so a database that is gone, whose tables are not
/// those of this build, or whose file holds something else cannot pass.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    storage: Storage,
    /// One at a time, so that those who ask can put no load on a database that hardly answers.
    asking: Arc<Mutex<()>>,
}

/// What was found: the name of each question, and what is wrong.
pub(super) type Answers = [(&'static str, Result<(), String>); 2];

impl Probe {
    /// To ask that storage.
    pub(super) fn new(storage: Storage) -> Self {
        Self { storage, asking: Arc::default() }
    }

    /// See [`Monitor::database`](super::Monitor::database).
    pub(super) async fn status(&self) -> Option<Option<StorageStatus>> {
        timeout(DEADLINE, self.storage.admin().status()).await.map_or(Some(None), |status| status.map(Some))
    }

    /// Asks, off the threads that serve: a database in a file is read by the thread that asks.
    pub(super) async fn ask(&self) -> Answers {
        let probe = self.clone();
        let asked = async {
            let alone = Arc::clone(&self.asking).lock_owned().await;
            spawn_blocking(move || {
                let _alone = alone;
                Handle::current().block_on(async { [probe.look_up().await, probe.read().await] })
            })
            .await
        };
        let [credentials, courses] = match timeout(DEADLINE, asked).await {
            Ok(Ok(found)) => found.map(|answer| answer.map_err(|error| chain(&error))),
            Ok(Err(panic)) => [(); 2].map(|()| Err(panic.to_string())),
            Err(_) => [(); 2].map(|()| Err(format!("no answer within {DEADLINE:?}"))),
        };
        [("credentials", credentials), ("courses", courses)]
    }

    /// Looks up a credential that nobody has.
    async fn look_up(&self) -> Result<(), StorageError> {
        self.storage.credentials().find_credential(&TokenDigest::from_bytes([0; 32])).await.map(drop)
    }

    /// Reads the tables of courses, as an account that need not be there.
    async fn read(&self) -> Result<(), StorageError> {
        let nobody = AccountId::new("");
        let page = PageRequest { limit: Limit::new(1).expect("a limit"), after: None };
        let courses = self.storage.courses();
        courses.list_courses(&nobody, &page, &mut CourseRows::new(page.limit, &mut |_| {})).await?;
        courses.find_course(&nobody, "none").await?;
        courses.revision(&nobody).await.map(drop)
    }
}
