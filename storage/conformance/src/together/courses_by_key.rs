//! Courses that are read together with the credential that asks for them.

use catalogue_core::AccountId;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    CourseRow, CourseRows, CourseStorage, CoursesByKey, CredentialStorage, Limit, PageRequest,
};

use crate::looking_up::put;
use crate::reading::{Page, read_page};
use crate::seed::{api_key, course, digest, modules, remove, seed, time};
use crate::{CourseFixture, CredentialFixture};

const RULE: &str = "Courses can be read together with a credential.";

/// A page that is read by key, and the credential.
async fn page_by_key(
    storage: &dyn CoursesByKey,
    digest: &TokenDigest,
    account: &AccountId,
    request: &PageRequest,
) -> (Page, Option<Credential>) {
    let mut items = Vec::new();
    let mut take = |row: CourseRow<'_>| items.push(row.into());
    let mut rows = CourseRows::new(request.limit, &mut take);
    let credential = storage.list_courses_by_key(digest, account, request, &mut rows).await.expect(RULE);
    let next = rows.next();
    (Page { items, next, revision: credential.as_ref().and_then(|credential| credential.revision) }, credential)
}

/// Courses that are read by key, and their credential, are those of the two reads: before and after a change, to the last
/// page, where nothing is there, and where the credential has ended.
pub async fn courses_by_key_are_those_of_the_two_reads(fixture: &(impl CourseFixture + CredentialFixture)) {
    let (courses, credentials) = (CourseFixture::storage(fixture), CredentialFixture::storage(fixture));
    let Some(by_key) = credentials.courses_by_key() else { return };
    let with_modules = |slug| catalogue_core::Course { modules: modules(3), ..course("a", slug) };
    seed(fixture, &[with_modules("first"), course("a", "second"), course("b", "first")]).await;
    let key = put(fixture, &api_key("a", "key_1", "token-1")).await;
    let mut expired = api_key("a", "key_2", "token-2");
    expired.record.expires_at = Some(time(1));
    let mut revoked = api_key("a", "key_3", "token-3");
    revoked.record.revoked_at = Some(time(1));
    let (expired, revoked) = (put(fixture, &expired).await, put(fixture, &revoked).await);
    let account = &key.record.identity.account;
    for change in 0..5 {
        for key in [&key, &expired, &revoked] {
            let expected = credentials.find_credential(&key.digest).await.expect(RULE);
            assert_eq!(expected.as_ref().map(|found| &found.identity), Some(&key.record.identity), "{RULE}");
            for limit in [1, 2, 100] {
                let limit = Limit::new(limit).expect("a case keeps to 1 to 100");
                let mut request = PageRequest { limit, after: None };
                loop {
                    let expected_page = read_page(courses, account, &request).await.expect(RULE);
                    let (page, credential) = page_by_key(by_key, &key.digest, account, &request).await;
                    assert_eq!(credential, expected, "A credential comes with the page as it is looked up.");
                    assert_eq!(
                        (page.items, &page.next),
                        (expected_page.items, &expected_page.next),
                        "A page by key is the page."
                    );
                    request.after = page.next;
                    if request.after.is_none() {
                        break;
                    }
                }
            }
            for slug in ["first", "second", "absent"] {
                let expected_course = courses.find_course(account, slug).await.expect(RULE).value;
                let found = by_key.find_course_by_key(&key.digest, account, slug).await.expect(RULE);
                let (credential, course) = found.expect("A credential is found where its account has no such course.");
                assert_eq!(
                    (Some(credential), course),
                    (expected.clone(), expected_course),
                    "A course by key is the course."
                );
            }
        }
        match change {
            0 => seed(fixture, &[course("a", "third")]).await,
            1 => remove(fixture, "a", "second").await,
            2 => remove(fixture, "a", "first").await,
            3 => remove(fixture, "a", "third").await,
            _ => {}
        }
    }
}

/// A credential is found by key by its digest and its account alone; without it no course is handed over.
pub async fn a_credential_of_another_account_reads_nothing(fixture: &(impl CourseFixture + CredentialFixture)) {
    let Some(by_key) = CredentialFixture::storage(fixture).courses_by_key() else { return };
    seed(fixture, &[course("a", "first"), course("b", "first")]).await;
    let key = put(fixture, &api_key("a", "key_1", "token-1")).await;
    let (own, other) = (&key.record.identity.account, fixture.account("b").await);
    let request = PageRequest::default();
    for (digest, account) in
        [(&key.digest, &other), (&digest("token-2"), own), (&key.digest, &AccountId::new("nobody"))]
    {
        let (page, credential) = page_by_key(by_key, digest, account, &request).await;
        assert_eq!(
            (credential, page.items, page.next),
            (None, Vec::new(), None),
            "A credential reads its own account alone."
        );
        let course = by_key.find_course_by_key(digest, account, "first").await.expect(RULE);
        assert_eq!(course, None, "A credential reads its own account alone.");
    }
}
