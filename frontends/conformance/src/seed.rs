//! The catalogue that every frontend serves: an account with courses, its keys, and a token that cannot be checked.

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{Authenticator, BearerToken, Identity, Scopes, Verdict};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Catalogue, Course, CourseModule, Timestamp, async_trait};
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

/// Token that the catalogue cannot check, so that it returns a 500.
pub(crate) const UNREACHABLE_TOKEN: &str = "unreachable";

/// Slugs of the courses; a wrong conversion of the path would confuse some of them.
const SLUGS: [&str; 8] =
    ["one", "two", "a b", "a%20b", "a+b", "\u{fc}ber", "using-\u{1f917}-transformers", "o'neill;v=1"];

/// The catalogue, and a key for each kind of response.
#[derive(Debug)]
pub(crate) struct Seed {
    pub(crate) catalogue: Catalogue,
    /// Key that reads courses.
    pub(crate) key: String,
    /// Key that lacks the scope for courses.
    pub(crate) profile_key: String,
}

impl Seed {
    pub(crate) async fn new() -> Self {
        let storage = MemoryStorage::new();
        let mut import = storage.begin_import().await.expect("an import can begin if no other is open");
        let account = Account { id: AccountId::new(ACCOUNT), name: String::new(), email: String::new() };
        import.put_account(&account).await.expect("an account can be put");
        for slug in SLUGS {
            import.put_course(&course(slug)).await.expect("a course can be put");
        }
        import.commit().await.expect("an import can be committed");
        let key = create_key(&storage, "read:courses").await;
        let profile_key = create_key(&storage, "read:profile").await;
        let catalogue = Catalogue::with_api_keys(storage)
            .or_authenticator(Unreachable)
            .base_url(BASE)
            .docs_url(DOCS)
            .cors_origins([ORIGIN])
            .build()
            .expect("the settings are valid")
            .identified_by(session);
        Self { catalogue, key, profile_key }
    }
}

/// Identifies a caller by the session cookie; HTTP/2 may send cookies in separate fields.
fn session(head: &request::Parts) -> Option<Identity> {
    let fields = head.headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
    let is_signed_in = fields.flat_map(|field| field.split("; ")).any(|cookie| cookie == SESSION);
    let scopes = Scopes::from_names(["read:courses"]);
    is_signed_in.then(|| Identity::session(AccountId::new(ACCOUNT), "session", scopes))
}

async fn create_key(storage: &MemoryStorage, scope: &str) -> String {
    let (token, credential) = NewCredential::api_key(AccountId::new(ACCOUNT), "a key", Scopes::from_names([scope]));
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

/// Cannot check [`UNREACHABLE_TOKEN`], and recognizes no other token.
#[derive(Debug)]
struct Unreachable;

#[async_trait]
impl Authenticator for Unreachable {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        let is_unreachable = token.expose() == UNREACHABLE_TOKEN;
        let error = || StorageError::new(StorageErrorKind::Unavailable, "unreachable");
        if is_unreachable { Err(error()) } else { Ok(Verdict::Unrecognized) }
    }
}
