//! Courses in views over the host application's tables.

mod collations;
mod conformance;
mod freshness;
mod host_app;
mod invalid_rows;
mod opening;
mod plans;

catalogue_storage_tests::host_app_laws!(host_app::HostApp);
