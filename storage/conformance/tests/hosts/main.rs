//! A host application that fills its tables itself, and whose storages only read its courses. Without a flaw, it passes the
//! suite; with a flaw, or undeclared lock errors, it fails, although its tables store less than those of the built-in storages.

mod blocked_reads;
mod flaws;
mod host;
mod rows;

use catalogue_storage_conformance::{CourseFixture, CredentialFixture, combined, courses, credentials, run};

use flaws::Flaw;
use host::Host;

async fn host() -> Host {
    Host::new(None)
}

async fn courses_only() -> impl CourseFixture {
    Host::new(None)
}

async fn credentials_only() -> impl CredentialFixture {
    Host::new(None)
}

mod with_courses_and_credentials {
    catalogue_storage_conformance::course_and_credential_storage_tests!(super::host);
}

mod with_courses_only {
    catalogue_storage_conformance::course_storage_tests!(super::courses_only);
}

mod with_credentials_only {
    catalogue_storage_conformance::credential_storage_tests!(super::credentials_only);
}

mod with_keys {
    catalogue_storage_conformance::key_storage_tests!(super::host);
}

mod with_sign_ins {
    catalogue_storage_conformance::sign_in_storage_tests!(super::host);
}

/// Creates a test of each flaw: the case fails with the quoted words in its message.
macro_rules! caught {
    ($($name:ident: $flaw:expr => $group:ident::$topic:ident::$case:ident, $rule:literal;)*) => {
        $(
            #[test]
            fn $name() {
                assert_caught($rule, || run($group::$topic::$case(&Host::new(Some($flaw)))));
            }
        )*
    };
}

fn assert_caught(rule: &str, case: impl FnOnce()) {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)).expect_err("the flaw was not caught");
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = message.expect("a message");
    assert!(message.contains(rule), "caught for another reason than {rule:?}: {message}");
}

caught! {
    courses_are_ordered_oldest_first: Flaw::OldestFirst => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "newest first";
    ties_are_ordered_ascending: Flaw::TiesAscending
        => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    list_omits_hidden_courses: Flaw::OmitsHidden
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    page_includes_cursor_position: Flaw::IncludesCursorPosition
        => courses::paging::page_after_last_course_is_empty, "does not contain the course at its start";
    page_continues_by_time_only: Flaw::ComparesTimeOnly
        => courses::paging::pages_concatenate_to_full_list_for_every_limit, "concatenated pages are the whole list";
    last_page_has_next: Flaw::NextOnLastPage
        => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    extra_row_is_omitted: Flaw::OmitsExtraRow
        => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    list_ignores_account: Flaw::IgnoresAccountInLists => courses::isolation::list_returns_courses_of_one_account, "no others";
    detail_ignores_account: Flaw::IgnoresAccountInDetails
        => courses::isolation::course_of_other_account_returns_none, "like one that does not exist";
    slugs_are_case_insensitive: Flaw::IgnoresSlugCase
        => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    modules_are_numbered_from_zero: Flaw::NumbersModulesFromZero
        => courses::detail::modules_are_ordered_and_numbered_from_one, "numbered from 1";
    removed_course_is_found: Flaw::ServesRemovedCourses
        => courses::changes::removed_course_is_not_returned, "A removed course is not found";
    first_version_is_served: Flaw::ServesFirstVersion
        => courses::changes::changed_course_is_returned_with_current_content, "listed once, with its current content";
    missing_course_is_an_error: Flaw::FailsForMissingCourse
        => courses::detail::missing_course_returns_none, "returns None, not an error";
    revision_never_changes: Flaw::NeverReplacesRevision
        => courses::revision::every_course_change_replaces_revision, "is replaced by";
    revision_ignores_removals: Flaw::IgnoresRemovalInRevision
        => courses::revision::removing_course_replaces_revision, "a removed course";
    credential_has_old_revision: Flaw::StaleRevision
        => combined::credential_revision::credential_has_current_revision, "current revision";
    revoked_credential_is_not_found: Flaw::HidesRevoked
        => credentials::lookup::revoked_credential_is_found_as_revoked, "found as revoked";
    scopes_are_dropped: Flaw::OmitsScopes => credentials::lookup::scopes_are_stored_unchanged, "Scopes are stored";
}
