//! The catalogue that every frontend serves: two accounts, one with unreadable courses, and their keys.

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{Identity, Scopes, StoredCredentials};
use catalogue_core::storage::{
    Actor, AtRevision, CourseRows, CourseStorage, KeyStorage, MemoryStorage, PageRequest, Revision, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, Catalogue, Course, CourseDetail, CourseModule, Timestamp, async_trait};
use http::header::COOKIE;
use http::request;

/// Path where the suite's catalogue is mounted.
pub const BASE: &str = "/api/v1";

/// Path where the catalogue's documents are mounted.
pub const DOCS: &str = "/docs";

/// The only origin whose scripts may call the catalogue.
pub(crate) const ORIGIN: &str = "https://app.example.com";

/// Session cookie of the account that has courses.
pub(crate) const SESSION: &str = "session=1";

/// 2026-01-02T03:04:05Z, the creation time of the courses.
const CREATED_AT: i64 = 1_767_323_045_000_000;

const ACCOUNT: &str = "acc";
const UNREACHABLE_ACCOUNT: &str = "acc_unreachable";

/// Slugs of the courses; a wrong conversion of the path would confuse some of them.
const SLUGS: [&str; 8] =
    ["one", "two", "a b", "a%20b", "a+b", "\u{fc}ber", "using-\u{1f917}-transformers", "o'neill;v=1"];

/// The catalogue, and a key for each kind of response.
pub(crate) struct Seed {
    pub(crate) catalogue: Catalogue,
    /// Key that reads courses.
    pub(crate) key: String,
    /// Key that lacks the scope for courses.
    pub(crate) profile_key: String,
    /// Key of the account with unreadable courses.
    pub(crate) unreachable_key: String,
}

impl Seed {
    pub(crate) async fn new() -> Self {
        let storage = MemoryStorage::new();
        let mut import = storage.begin_import().await.expect("an import can begin if no other is open");
        for id in [ACCOUNT, UNREACHABLE_ACCOUNT] {
            let account = Account { id: AccountId::new(id), name: String::new(), email: String::new() };
            import.put_account(&account).await.expect("an account can be put");
        }
        for slug in SLUGS {
            import.put_course(&course(slug)).await.expect("a course can be put");
        }
        import.commit().await.expect("an import can be committed");
        let key = create_key(&storage, ACCOUNT, "read:courses").await;
        let profile_key = create_key(&storage, ACCOUNT, "read:profile").await;
        let unreachable_key = create_key(&storage, UNREACHABLE_ACCOUNT, "read:courses").await;
        let catalogue = Catalogue::builder(Courses(storage.clone()), StoredCredentials::new(storage))
            .base_url(BASE)
            .docs_url(DOCS)
            .cors_origins([ORIGIN])
            .build()
            .expect("the settings are valid")
            .identified_by(session);
        Self { catalogue, key, profile_key, unreachable_key }
    }
}

/// Identifies a caller by the session cookie; HTTP/2 may send cookies in separate fields.
fn session(head: &request::Parts) -> Option<Identity> {
    let fields = head.headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
    let is_signed_in = fields.flat_map(|field| field.split("; ")).any(|cookie| cookie == SESSION);
    let scopes = Scopes::from_names(["read:courses"]);
    is_signed_in.then(|| Identity::session(AccountId::new(ACCOUNT), "session", scopes))
}

async fn create_key(storage: &MemoryStorage, account: &str, scope: &str) -> String {
    let (token, credential) = NewCredential::api_key(AccountId::new(account), "a key", Scopes::from_names([scope]));
    storage.create_key(&credential, &Actor::OPERATOR).await.expect("a key of a known account can be stored");
    token.expose().to_owned()
}

fn course(slug: &str) -> Course {
    Course {
        account: AccountId::new(ACCOUNT),
        slug: slug.to_owned(),
        title: format!("Title of {slug}"),
        tagline: "\u{201c}Naïve\u{201d} & <b>bold</b> \u{1f917}".to_owned(),
        language: "en".to_owned(),
        created_at: Timestamp::from_microseconds(CREATED_AT).expect("a time within the years 0000 to 9999"),
        published_at: None,
        hidden: false,
        access_mode: None,
        modules: vec![CourseModule { title: "First".to_owned(), summary: "S".to_owned(), content: "C".to_owned() }],
    }
}

/// Courses of a memory storage, except that reads of one account fail.
#[derive(Debug)]
struct Courses(MemoryStorage);

impl Courses {
    fn reachable_storage(&self, account: &AccountId) -> Result<&MemoryStorage, StorageError> {
        if account.as_str() == UNREACHABLE_ACCOUNT {
            return Err(StorageError::new(StorageErrorKind::Unavailable, "unreachable"));
        }
        Ok(&self.0)
    }
}

#[async_trait]
impl CourseStorage for Courses {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.reachable_storage(account)?.list_courses(account, page, rows).await
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.reachable_storage(account)?.find_course(account, slug).await
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.reachable_storage(account)?.revision(account).await
    }
}
