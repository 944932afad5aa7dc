//! Answers that are read together with the credential that asks for them, where each call of a storage is a round trip.
//!
//! A request is answered as if its token were still whose it was the last time, by a read that brings the credential along.
//! Only then is the token looked up, which takes no call where the credential is there. The answer is used if the caller is
//! the same, and dropped if not.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Response, request};

use crate::auth::{BearerToken, Credential, TokenDigest};
use crate::caller::Caller;
use crate::catalogue::Inner;
use crate::error::ApiError;
use crate::model::{AccountId, CourseDetail};
use crate::operation::Operation;
use crate::panic_guard::catch_panic;
use crate::route::Route;
use crate::storage::{
    AtRevision, CourseRows, CourseStorage, CoursesByKey, CredentialStorage, PageRequest, Revision, StorageError,
};
use crate::sync::Cache;

/// How many callers are kept: some megabytes.
const MOST: usize = 10_000;

/// Whose tokens were, when they were looked up the last time; only of those that were accepted then. A token is never accepted
/// for being here.
#[derive(Debug)]
pub(crate) struct KnownCallers {
    storage: Arc<dyn CredentialStorage>,
    callers: Cache<TokenDigest, Caller>,
}

impl KnownCallers {
    /// `None` where the storage does not read courses together with a credential.
    pub(crate) fn of(storage: &Arc<dyn CredentialStorage>) -> Option<Self> {
        storage.courses_by_key()?;
        Some(Self { storage: Arc::clone(storage), callers: Cache::new(MOST) })
    }

    pub(crate) fn note(&self, token: &mut BearerToken<'_>, caller: &Caller) {
        let digest = token.keep_digest();
        // A look-up of a caller that is there already writes nothing.
        if self.callers.get(&digest).as_ref() != Some(caller) {
            self.callers.insert(digest, caller.clone());
        }
    }

    /// Nothing is read by that token any more, before it is accepted again.
    pub(crate) fn forget(&self, token: &mut BearerToken<'_>) {
        let digest = token.keep_digest();
        // As above: guesses write nothing.
        if self.callers.get(&digest).is_some() {
            self.callers.remove(&digest);
        }
    }
}

/// An answer to whom the token belonged to the last time.
pub(crate) struct Early {
    pub(crate) caller: Caller,
    pub(crate) answer: Result<Response<Bytes>, ApiError>,
    /// Where the token is looked up now.
    pub(crate) credentials: Arc<ByKey>,
}

impl Inner {
    /// Answers whom the token belonged to the last time. Nothing of it may be told before the token was looked up.
    ///
    /// # Errors
    /// Where the storage is out of reach: so is the credential, which was in the same read.
    pub(crate) async fn answer_early(
        &self,
        known: &KnownCallers,
        token: &mut BearerToken<'_>,
        request: &request::Parts,
        route: Route<'_>,
    ) -> Result<Option<Box<Early>>, ApiError> {
        let Route::Operation(operation @ (Operation::ListCourses | Operation::GetCourse), segment) = route else {
            return Ok(None);
        };
        let digest = token.keep_digest();
        let Some(caller) = known.callers.get(&digest) else { return Ok(None) };
        // What is refused here is refused again once the token was looked up, if it still is.
        let Ok(authorized) = operation.authorize(&caller.identity, &self.accepted) else { return Ok(None) };
        let Ok(asked) = operation.parse(&authorized, segment, request.uri.query()) else { return Ok(None) };
        let by_key = Arc::new(ByKey {
            storage: Arc::clone(&known.storage),
            courses: Arc::clone(self.answers.courses()),
            digest,
            credential: Mutex::default(),
        });
        let answers = self.answers.reading(by_key.clone());
        let answer = {
            let answered = pin!(answers.answer(&self.mount, asked, &authorized, caller.revision, &request.headers));
            // A panic, too, is told only once the token was looked up.
            catch_panic(answered).await
        };
        let answer = match answer.unwrap_or_else(|panicked| Err(ApiError::Internal(panicked.into()))) {
            Err(error) if error.is_unavailable() => return Err(error),
            answer => answer.map(|answer| answer.response),
        };
        Ok(Some(Box::new(Early { answer, credentials: by_key, caller })))
    }
}

/// The courses and the credential of one request.
#[derive(Debug)]
pub(crate) struct ByKey {
    storage: Arc<dyn CredentialStorage>,
    courses: Arc<dyn CourseStorage>,
    digest: TokenDigest,
    /// Once it was read.
    credential: Mutex<Option<Credential>>,
}

impl ByKey {
    fn by_key(&self) -> &dyn CoursesByKey {
        self.storage.courses_by_key().expect("`courses_by_key` is the same each time")
    }

    /// Keeps the credential, and gives the revision of its account's courses.
    fn keep(&self, credential: Credential) -> Option<Revision> {
        self.credential.lock().unwrap_or_else(PoisonError::into_inner).insert(credential).revision
    }
}

/// Without the credential courses are read by themselves, as others may wait for the same answer.
#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl CourseStorage for ByKey {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        match self.by_key().list_courses_by_key(&self.digest, account, page, rows).await? {
            Some(credential) => Ok(self.keep(credential)),
            None => self.courses.list_courses(account, page, rows).await,
        }
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        match self.by_key().find_course_by_key(&self.digest, account, slug).await? {
            Some((credential, value)) => Ok(AtRevision { value, revision: self.keep(credential) }),
            None => self.courses.find_course(account, slug).await,
        }
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.courses.revision(account).await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl CredentialStorage for ByKey {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let read = self.credential.lock().unwrap_or_else(PoisonError::into_inner).take();
        match read {
            Some(credential) => Ok(Some(credential)),
            None => self.storage.find_credential(digest).await,
        }
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        self.storage.is_revoked(digest).await
    }

    fn courses_by_key(&self) -> Option<&dyn CoursesByKey> {
        None
    }
}
