//! A storage whose calls a test counts, blocks, changes or fails.

use std::fmt;
use std::pin::Pin;
use std::sync::Mutex;

use catalogue_core::admin::{Account, CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, AtRevision, CourseRows, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, NewSession,
    NewSignIn, PageRequest, Revision, Session, SignInStorage, StorageError,
};
use catalogue_core::{AccountId, CourseDetail, Timestamp, async_trait};

/// Point of a call at which the hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Before the call of the storage.
    Begun,
    /// After courses were read, before their revision is read.
    CoursesRead,
    /// After the call of the storage, if it succeeded.
    Done,
}

/// Returned future of a hook. An error becomes the result of the call.
pub type HookFuture = Pin<Box<dyn Future<Output = Result<(), StorageError>> + Send>>;
type Hook = dyn Fn(&'static str, Point) -> HookFuture + Send + Sync;

/// A storage that records its calls and forwards them to `S`. A hook runs during each call. Lists and lookups of courses
/// read the courses first and the revision afterwards.
pub struct Intercept<S> {
    storage: S,
    hook: Box<Hook>,
    has_revisions: bool,
    revocation_time: fn(Timestamp) -> Timestamp,
    calls: Mutex<Vec<&'static str>>,
}

impl<S> Intercept<S> {
    /// Creates a storage that only records its calls.
    pub fn new(storage: S) -> Self {
        let hook = Box::new(|_, _| -> HookFuture { Box::pin(std::future::ready(Ok(()))) });
        Self { storage, hook, has_revisions: true, revocation_time: |time| time, calls: Mutex::default() }
    }

    /// Runs `hook` during each call, with the name of the trait's method.
    #[must_use]
    pub fn on_call<F>(mut self, hook: impl Fn(&'static str, Point) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), StorageError>> + Send + 'static,
    {
        self.hook = Box::new(move |call, point| Box::pin(hook(call, point)));
        self
    }

    /// Omits all revisions.
    #[must_use]
    pub fn without_revisions(mut self) -> Self {
        self.has_revisions = false;
        self
    }

    /// Changes the times of revocations.
    #[must_use]
    pub fn revocation_time(mut self, change: fn(Timestamp) -> Timestamp) -> Self {
        self.revocation_time = change;
        self
    }

    /// Returns the number of calls so far of the methods named in `calls`.
    ///
    /// # Panics
    /// Panics if another thread panicked while it recorded a call.
    pub fn count(&self, calls: &[&str]) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| calls.contains(call)).count()
    }

    async fn around<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Result<T, StorageError>>,
    ) -> Result<T, StorageError> {
        self.calls.lock().unwrap().push(name);
        (self.hook)(name, Point::Begun).await?;
        let result = call.await?;
        (self.hook)(name, Point::Done).await?;
        Ok(result)
    }
}

impl<S: CourseStorage> Intercept<S> {
    async fn revision_after(&self, call: &'static str, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        (self.hook)(call, Point::CoursesRead).await?;
        if self.has_revisions { self.storage.revision(account).await } else { Ok(None) }
    }
}

impl<S> fmt::Debug for Intercept<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intercept").field("calls", &self.calls).finish_non_exhaustive()
    }
}

#[async_trait]
impl<S: CourseStorage> CourseStorage for Intercept<S> {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let call = async {
            self.storage.list_courses(account, page, rows).await?;
            self.revision_after("list_courses", account).await
        };
        self.around("list_courses", call).await
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let call = async {
            let value = self.storage.find_course(account, slug).await?.value;
            Ok(AtRevision { value, revision: self.revision_after("find_course", account).await? })
        };
        self.around("find_course", call).await
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let revision = self.around("revision", self.storage.revision(account)).await?;
        Ok(revision.filter(|_| self.has_revisions))
    }
}

#[async_trait]
impl<S: CredentialStorage> CredentialStorage for Intercept<S> {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let mut found = self.around("find_credential", self.storage.find_credential(digest)).await?;
        if let Some(credential) = &mut found {
            credential.revision = credential.revision.filter(|_| self.has_revisions);
        }
        Ok(found)
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        self.around("is_revoked", self.storage.is_revoked(digest)).await
    }
}

/// Implements a trait with methods that forward their calls.
macro_rules! forward {
    ($trait:ident { $($call:ident($($name:ident: $type:ty $(=> $change:ident)?),*) -> $result:ty;)* }) => {
        #[async_trait]
        impl<S: $trait> $trait for Intercept<S> {
            $(async fn $call(&self, $($name: $type),*) -> Result<$result, StorageError> {
                $($(let $name = (self.$change)($name);)?)*
                self.around(stringify!($call), self.storage.$call($($name),*)).await
            })*
        }
    };
}

forward! {
    KeyStorage {
        list_keys(account: &AccountId, now: Timestamp, ended: usize) -> Option<Vec<CredentialRecord>>;
        find_key(account: &AccountId, id: &str) -> Option<CredentialRecord>;
        create_key(key: &NewCredential, by: &Actor) -> ();
        rename_key(account: &AccountId, id: &str, name: &str, by: &Actor) -> Option<CredentialRecord>;
        rotate_key(
            account: &AccountId, id: &str, ends_at: Timestamp, successor: &NewCredential, by: &Actor
        ) -> Option<CredentialRecord>;
        revoke_key(
            account: &AccountId, id: &str, at: Timestamp => revocation_time, by: &Actor
        ) -> Option<CredentialRecord>;
        list_events(account: &AccountId, limit: usize) -> Vec<CredentialEvent>;
    }
}

forward! {
    SignInStorage {
        create_link(link: &NewSignIn, by: &Actor) -> ();
        exchange_link(link: &TokenDigest, now: Timestamp, session: &NewSession) -> Option<Account>;
        find_session(digest: &TokenDigest) -> Option<Session>;
        end_session(digest: &TokenDigest) -> ();
        end_sign_ins(account: &AccountId, by: &Actor) -> u64;
    }
}
