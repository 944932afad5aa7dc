//! The storage suite over views: reading, keys and sign-ins.

use catalogue_storage_tests::host_app::OverViews;

use super::host_app::{HostApp, Kind, PLAIN, Times, WITH_REVISIONS};

async fn fixture(kind: Kind) -> OverViews<HostApp> {
    OverViews::new(kind).await
}

mod space_separated_times {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| super::fixture(super::PLAIN));
}

mod numbers {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| {
        super::fixture(super::Kind { times: super::Times::Microseconds, ..super::PLAIN })
    });
}

mod rfc_3339_with_revisions {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| {
        super::fixture(super::Kind { times: super::Times::Rfc3339, ..super::WITH_REVISIONS })
    });
}

mod mixed_times_with_rollback_journal {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| {
        super::fixture(super::Kind { times: super::Times::Mixed, journal_mode: "delete", ..super::PLAIN })
    });
}

mod keys {
    catalogue_storage_conformance::key_storage_tests!(|| super::fixture(super::PLAIN));
}

mod sign_ins {
    catalogue_storage_conformance::sign_in_storage_tests!(|| super::fixture(super::PLAIN));
}
