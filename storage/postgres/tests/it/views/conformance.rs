//! The suites of storages over a team's tables, which only the team's own program writes.

use super::team::{NUMBERS, TEXTS, Team};

/// Runs the cases with a team each, or none where PostgreSQL is missing, which was said.
mod texts {
    async fn team() -> super::Team {
        super::Team::new(super::TEXTS).await.unwrap()
    }

    catalogue_storage_conformance::course_and_credential_storage_tests!(team);
}

mod numbers {
    async fn team() -> super::Team {
        super::Team::new(super::NUMBERS).await.unwrap()
    }

    catalogue_storage_conformance::course_storage_tests!(team);
}

mod keys {
    async fn team() -> super::Team {
        super::Team::new(super::TEXTS).await.unwrap()
    }

    catalogue_storage_conformance::key_storage_tests!(team);
}

mod sign_ins {
    async fn team() -> super::Team {
        super::Team::new(super::TEXTS).await.unwrap()
    }

    catalogue_storage_conformance::sign_in_storage_tests!(team);
}
