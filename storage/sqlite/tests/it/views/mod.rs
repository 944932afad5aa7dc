//! Courses in tables of another program, through views, beside credentials of ours.

mod bad_rows;
pub(crate) mod never_stale;
mod numeric_accounts;
mod opening;
mod out_of_reach;
mod plans;
mod suite;
mod team;
mod triggers;
mod unknown_accounts;

use catalogue_core::storage::{CheckedRows, StorageError, ViewFault};
use catalogue_core::{AccountId, Course};
use catalogue_storage_conformance::sample;

use team::Team;

/// Two courses of `anna`, the second newer and with two modules.
fn two_courses() -> [Course; 2] {
    let first = sample::course("anna", "first");
    let modules = ["One", "Two"].map(sample::module).into();
    let created_at = first.created_at.checked_add(std::time::Duration::from_secs(1)).unwrap();
    let second = Course { created_at, modules, ..sample::course("anna", "second") };
    [first, second]
}

fn anna() -> AccountId {
    AccountId::new("anna")
}

/// The slugs of the first page.
async fn slugs(team: &Team) -> Result<Vec<String>, StorageError> {
    let page = catalogue_core::storage::PageRequest::default();
    let items = crate::items(&team.storage, &anna(), &page).await?;
    Ok(items.into_iter().map(|item| item.slug).collect())
}

async fn faults(team: &Team) -> Vec<ViewFault> {
    team.storage.views().unwrap().check_views(CheckedRows::Sample).await.unwrap()
}
