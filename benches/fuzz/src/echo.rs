//! [`Echo`]: a storage that records the last page request, and returns a course for every slug.

use std::sync::{Arc, LazyLock, Mutex};

use catalogue_core::auth::{Authenticator, BearerToken, Identity, Scopes, Verdict};
use catalogue_core::storage::{
    AtRevision, CourseRow, CourseRows, CourseStorage, PageRequest, Position, Revision, StorageError,
};
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder, CourseDetail, async_trait};

use super::call::ACCOUNT;

/// A storage, and a catalogue that reads it.
pub(super) static FIXTURE: LazyLock<(Echo, Catalogue)> = LazyLock::new(|| {
    let echo = Echo::default();
    let catalogue = echo.catalogue().build().unwrap();
    (echo, catalogue)
});

/// A storage whose clones share one state.
#[derive(Clone, Debug, Default)]
pub(super) struct Echo(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    page: Option<PageRequest>,
    rows: Vec<Position>,
}

/// Recognizes no token: here the host application identifies the caller.
#[derive(Debug)]
struct RejectingAuthenticator;

impl Echo {
    pub(super) fn catalogue(&self) -> CatalogueBuilder {
        Catalogue::builder(self.clone(), RejectingAuthenticator)
    }

    /// Takes the last recorded page request.
    pub(super) fn page(&self) -> Option<PageRequest> {
        self.0.lock().unwrap().page.take()
    }

    /// Sets the courses of all later lists.
    pub(super) fn set_list(&self, rows: Vec<Position>) {
        self.0.lock().unwrap().rows = rows;
    }
}

/// Returns a caller that may read courses.
pub(super) fn caller() -> Identity {
    Identity::api_key(AccountId::new(ACCOUNT), "key_fuzz", Scopes::from_names(["read:courses"]))
}

#[async_trait]
impl CourseStorage for Echo {
    async fn list_courses(
        &self,
        _: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let mut state = self.0.lock().unwrap();
        state.page = Some(page.clone());
        for row in &state.rows {
            let text = row.slug.as_str();
            let course = CourseRow {
                slug: text,
                title: text,
                language: text,
                published_at: None,
                hidden: true,
                module_count: 7,
            };
            if rows.push(course, || row.clone()).is_break() {
                break;
            }
        }
        Ok(None)
    }

    async fn find_course(&self, _: &AccountId, slug: &str) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let text = || slug.to_owned();
        Ok(Some(CourseDetail {
            slug: text(),
            title: text(),
            tagline: text(),
            language: text(),
            published_at: None,
            hidden: false,
            access_mode: Some(text()),
            modules: Vec::new(),
        })
        .into())
    }
}

#[async_trait]
impl Authenticator for RejectingAuthenticator {
    async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> {
        Ok(Verdict::Unrecognized)
    }
}
