//! What the database pays for the look-up of a credential, the one thing that it does for a kept answer.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use catalogue_benches::cpu_of_this_thread;
use catalogue_core::{CredentialStorage, TokenDigest};
use tokio::task::JoinSet;

use crate::database::Database;

/// How many are on their way at the same time.
const AT_ONCE: usize = 8;
const DIGESTS: &str = "SELECT digest FROM credentials ORDER BY random() LIMIT 10000";

/// µs of the processor's time for one look-up.
pub(crate) struct LookUp {
    pub(crate) database: f64,
    /// Ours, without HTTP.
    pub(crate) driver: f64,
}

/// Looks credentials up, each of an account by chance, through the storage.
pub(crate) fn measure(database: &Database, number: usize) -> Result<LookUp, Box<dyn Error>> {
    let rows = database.query(DIGESTS, &[])?;
    let digests: Result<Vec<_>, _> = rows.iter().map(|row| row.get::<_, &[u8]>(0).try_into()).collect();
    let digests: Arc<[TokenDigest]> = digests?.into_iter().map(TokenDigest::from_bytes).collect();
    let storage = database.storage("")?;
    let look_up = |number: usize| {
        let (storage, digests) = (storage.clone(), Arc::clone(&digests));
        async move {
            let mut tasks = JoinSet::new();
            for task in 0..AT_ONCE {
                let (storage, digests) = (storage.clone(), Arc::clone(&digests));
                tasks.spawn(async move {
                    for place in (task..number).step_by(AT_ONCE) {
                        let found = storage.find_credential(&digests[place % digests.len()]).await;
                        if !found.is_ok_and(|found| found.is_some()) {
                            return false;
                        }
                    }
                    true
                });
            }
            tasks.join_all().await.into_iter().all(|found| found)
        }
    };
    let run = |number| if database.wait(look_up(number)) { Ok(()) } else { Err("a credential was not found") };
    run(AT_ONCE * 50)?;
    let (sessions, driver) = (database.sessions()?, cpu_of_this_thread()?);
    run(number)?;
    let driver = cpu_of_this_thread()? - driver;
    let sessions = database.sessions()?.used_since(&sessions)?;
    let each = |used: Duration| used.as_secs_f64() * 1e6 / number as f64;
    Ok(LookUp { database: each(sessions), driver: each(driver) })
}
