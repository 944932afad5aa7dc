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

use catalogue_core::AccountId;
use catalogue_core::storage::{CheckedRows, StorageError, ViewProblem};
use catalogue_storage_tests::host_app::{HostApp as _, slugs, two_courses};

use host_app::{HostApp, Kind};

catalogue_storage_tests::host_app_laws!(HostApp);

fn anna() -> AccountId {
    AccountId::new("anna")
}

/// Creates a host application with two courses of `anna`.
async fn with_two_courses(kind: Kind) -> HostApp {
    let host_app = HostApp::new(kind);
    host_app.put_courses(&two_courses(&anna())).await;
    host_app
}

/// Returns the slugs of `anna`'s courses.
async fn slugs_of_anna(host_app: &HostApp) -> Result<Vec<String>, StorageError> {
    slugs(&host_app.storage, &anna(), 50).await
}

async fn problems(host_app: &HostApp) -> Vec<ViewProblem> {
    host_app.problems(CheckedRows::Sample).await
}
