//! Courses in a host application's tables, through views, and credentials in the catalogue's own file.

mod conformance;
mod host_app;
mod invalid_rows;
pub(crate) mod never_stale;
mod numeric_accounts;
mod opening;
mod out_of_reach;
mod plans;
mod triggers;
mod unknown_accounts;

use catalogue_core::storage::{CheckedRows, StorageError, ViewProblem};
use catalogue_core::{AccountId, Course};
use catalogue_storage_conformance::sample;

use host_app::HostApp;

/// Returns two courses of `anna`. The second is newer, and has two modules.
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

/// Returns the slugs of the first page.
async fn slugs(host_app: &HostApp) -> Result<Vec<String>, StorageError> {
    let page = catalogue_core::storage::PageRequest::default();
    let items = crate::items(&host_app.storage, &anna(), &page).await?;
    Ok(items.into_iter().map(|item| item.slug).collect())
}

async fn problems(host_app: &HostApp) -> Vec<ViewProblem> {
    host_app.storage.views().unwrap().check_views(CheckedRows::Sample).await.unwrap()
}
