//! One account with a course, in memory. A real application has a database.

use catalogue_core::admin::{Account, AdminStorage};
use catalogue_core::storage::{MemoryStorage, StorageError};
use catalogue_core::{Course, Timestamp};

pub(crate) const ACCOUNT: &str = "acc_demo";

pub(crate) async fn storage() -> Result<MemoryStorage, StorageError> {
    let storage = MemoryStorage::new();
    let mut import = storage.begin_import().await?;
    let account = Account { id: ACCOUNT.into(), name: "Demo school".to_owned(), email: String::new() };
    import.put_account(&account).await?;
    import.put_course(&course()).await?;
    import.commit().await?;
    Ok(storage)
}

fn course() -> Course {
    let now = Timestamp::now();
    Course {
        account: ACCOUNT.into(),
        slug: "first-steps".to_owned(),
        title: "First steps".to_owned(),
        tagline: String::new(),
        language: "en".to_owned(),
        created_at: now,
        published_at: Some(now),
        hidden: false,
        access_mode: Some("free".to_owned()),
        modules: Vec::new(),
    }
}
