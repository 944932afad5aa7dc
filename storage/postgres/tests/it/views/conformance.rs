//! Runs the conformance suites over views of a host application's tables, which only that application writes.

use catalogue_storage_tests::host_app::OverViews;

use super::host_app::{HostApp, Kind};

async fn fixture(kind: Kind) -> OverViews<HostApp> {
    OverViews::new(kind).await
}

mod texts {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| super::fixture(super::Kind::Texts));
}

mod numbers {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| super::fixture(super::Kind::Numbers));
}

mod keys {
    catalogue_storage_conformance::key_storage_tests!(|| super::fixture(super::Kind::Texts));
}

mod sign_ins {
    catalogue_storage_conformance::sign_in_storage_tests!(|| super::fixture(super::Kind::Texts));
}
