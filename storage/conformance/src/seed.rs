//! Test data: records with defaults, put into the storage through the fixture.

use catalogue_core::admin::{Account, AdminStorage, CredentialRecord, Import, NewCredential};
use catalogue_core::auth::{BearerToken, Identity, Scopes, TokenDigest};
use catalogue_core::{AccountId, Course, CourseModule, Timestamp};

use crate::reading::{as_stored, skip};
pub(crate) use crate::sample::{account, course, instant, module, time};
use crate::{AccountFixture, CourseFixture, CredentialFixture};

pub(crate) fn id(account: &str) -> AccountId {
    AccountId::new(account)
}

/// Returns an unpublished course without modules, created `microseconds` after the default time.
pub(crate) fn course_at(account: &str, slug: &str, microseconds: i64) -> Course {
    Course { created_at: time(microseconds), ..course(account, slug) }
}

/// Returns an unpublished course with `count` modules.
pub(crate) fn course_of(account: &str, slug: &str, count: usize) -> Course {
    Course { modules: modules(count), ..course(account, slug) }
}

/// Returns `count` modules with different titles.
pub(crate) fn modules(count: usize) -> Vec<CourseModule> {
    (0..count).map(|index| module(&format!("Module {index}"))).collect()
}

/// Puts courses, and the accounts that they name, as the fixture's tables can store them.
pub(crate) async fn seed<'c>(fixture: &impl CourseFixture, courses: impl IntoIterator<Item = &'c Course>) {
    let mut put = Vec::new();
    for course in courses {
        let account = fixture.account(course.account.as_str()).await;
        put.push(Course { account, ..as_stored(fixture, course) });
    }
    fixture.put_courses(&put).await;
}

/// Begins an import, if no other is open.
pub(crate) async fn begin(storage: &impl AdminStorage) -> Box<dyn Import> {
    storage.begin_import().await.expect("an import can begin")
}

/// Puts accounts and courses in one import.
pub(crate) async fn import<'r>(
    storage: &impl AdminStorage,
    accounts: impl IntoIterator<Item = &'r Account>,
    courses: impl IntoIterator<Item = &'r Course>,
) {
    let mut import = begin(storage).await;
    for account in accounts {
        import.put_account(account).await.expect("an account can be put");
    }
    for course in courses {
        import.put_course(course).await.expect("a course of a known account can be put");
    }
    import.commit().await.expect("an import can be committed");
}

/// Puts accounts without courses.
pub(crate) async fn seed_accounts(storage: &impl AdminStorage, ids: &[&str]) {
    import(storage, &ids.iter().map(|id| account(id)).collect::<Vec<_>>(), []).await;
}

/// Prunes, and returns the removed courses as `account/slug`, sorted.
pub(crate) async fn prune(import: &mut dyn Import) -> Vec<String> {
    let removed = import.prune().await.expect("an import can prune");
    let mut removed: Vec<_> = removed.iter().map(|(account, slug)| format!("{account}/{slug}")).collect();
    removed.sort();
    removed
}

/// Removes an existing course.
pub(crate) async fn remove(fixture: &impl CourseFixture, account: &str, slug: &str) {
    fixture.remove_course(&fixture.account(account).await, slug).await;
}

/// Returns an API key of `account` with a name, scopes and an expiry.
pub(crate) fn api_key(account: &str, id: &str, token: &str) -> NewCredential {
    let scopes = Scopes::from_names(["read:profile", "read:courses"]);
    let identity = Identity::api_key(AccountId::new(account), id, scopes);
    let record = CredentialRecord {
        identity,
        name: Some(format!("Name of {id}")),
        shown_prefix: token.chars().take(8).collect(),
        created_at: time(0),
        expires_at: Some(time(1)),
        revoked_at: None,
        last_used_at: None,
        replaced_by: None,
    };
    NewCredential { digest: digest(token), record }
}

/// Returns API key `number` of `account`, with its creation and its expiry in seconds after the default time; `None` never
/// expires.
pub(crate) fn numbered_key(account: &str, number: usize, created: i64, expires: Option<i64>) -> NewCredential {
    let mut key = api_key(account, &format!("key_{number}"), &format!("token-{number}"));
    key.record.created_at = second(created);
    key.record.expires_at = expires.map(second);
    key
}

/// Returns an OAuth token of `account`, which has no name and no expiry.
pub(crate) fn oauth_token(account: &str, token: &str) -> NewCredential {
    let mut credential = api_key(account, "", token);
    let scopes = credential.record.identity.scopes;
    credential.record.identity = Identity::oauth(AccountId::new(account), &credential.digest, scopes);
    credential.record.name = None;
    credential.record.expires_at = None;
    credential
}

/// Returns an OAuth token for each account and token, or none if the fixture's table has none.
pub(crate) fn oauth_tokens<const N: usize>(
    fixture: &impl CredentialFixture,
    tokens: [(&str, &str); N],
) -> Vec<NewCredential> {
    if !fixture.has_oauth_tokens() {
        skip("only its OAuth tokens: the fixture has none");
        return Vec::new();
    }
    tokens.map(|(account, token)| oauth_token(account, token)).into()
}

/// Returns the digest of a token.
pub(crate) fn digest(token: &str) -> TokenDigest {
    BearerToken::new(token).expect("a case's tokens are bearer tokens").digest()
}

/// Returns digests that differ in one byte, or after the byte that ends a C string, with which one of them begins.
pub(crate) fn similar_digests() -> [TokenDigest; 5] {
    let differing = |at: usize, by: u8| {
        let mut bytes = [7; 32];
        bytes[9] = 0;
        bytes[at] = by;
        TokenDigest::from_bytes(bytes)
    };
    [differing(0, 7), differing(0, 8), differing(0, 0), differing(31, 8), differing(10, 0)]
}

/// Puts an account, and returns its id.
pub(crate) async fn create_account(fixture: &impl AccountFixture, name: &str) -> AccountId {
    let id = fixture.account(name).await;
    fixture.put_account(&account(id.as_str())).await;
    id
}

/// Returns the time `seconds` after the default time, which every precision can store.
pub(crate) fn second(seconds: i64) -> Timestamp {
    time(seconds * 1_000_000)
}
