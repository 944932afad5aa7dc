//! Host applications that fill their tables themselves: two whose storages only read, with full and with minimal tables, and
//! one with developer settings. Without a flaw, they pass the suite; with a flaw, or undeclared lock errors, they fail it.

mod blocked_reads;
mod credentials;
mod flaws;
mod owners;
mod tables;

use catalogue_storage_conformance::{CourseFixture, CredentialFixture};

use credentials::Flaw as CredentialFlaw;
use flaws::Flaw;
use owners::Owners;
use tables::Host;

mod with_all_tables {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async { super::Host::full() });
}

mod with_few_columns {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async { super::Host::minimal() });
}

mod with_courses_only {
    catalogue_storage_conformance::course_storage_tests!(super::courses);
}

mod with_credentials_only {
    catalogue_storage_conformance::credential_storage_tests!(super::credentials_only);
}

mod with_developer_settings {
    mod keys {
        catalogue_storage_conformance::key_storage_tests!(super::super::owners);
    }

    mod sign_ins {
        catalogue_storage_conformance::sign_in_storage_tests!(super::super::owners);
    }

    mod credentials {
        catalogue_storage_conformance::credential_storage_tests!(super::super::owners);
    }
}

async fn owners() -> Owners {
    Owners::default()
}

async fn courses() -> impl CourseFixture {
    Host::full()
}

async fn credentials_only() -> impl CredentialFixture {
    Host::full()
}

/// Creates two tests of each flaw: with full and with minimal tables, the case fails with the quoted words in its message.
macro_rules! caught {
    ($($name:ident: $flaw:expr => $group:ident::$topic:ident::$case:ident, $rule:literal;)*) => {
        mod caught {
            use super::*;
            $(
                mod $name {
                    use super::*;

                    #[test]
                    fn fails_with_full_tables() {
                        assert_caught($rule, || run($group::$topic::$case(&Host::full().with($flaw))));
                    }

                    #[test]
                    fn fails_with_minimal_tables() {
                        assert_caught($rule, || run($group::$topic::$case(&Host::minimal().with($flaw))));
                    }
                }
            )*
        }
    };
}

use catalogue_storage_conformance::{combined, courses, credentials as credential_cases, run};

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
    credential_has_old_revision: CredentialFlaw::StaleRevision
        => combined::credential_revision::credential_has_current_revision, "current revision";
    revoked_credential_is_not_found: CredentialFlaw::HidesRevoked
        => credential_cases::lookup::revoked_credential_is_found_as_revoked, "found as revoked";
    scopes_are_dropped: CredentialFlaw::OmitsScopes => credential_cases::lookup::scopes_are_stored_unchanged, "Scopes are stored";
}

/// Uses full tables, because minimal ones have no revocations.
#[test]
fn ignored_revocations_fail_the_case() {
    let host = Host::full().with(CredentialFlaw::IgnoresRevocations);
    let case = credential_cases::revocations::revocation_applies_from_next_lookup(&host);
    assert_caught("from the next lookup on", || run(case));
}

/// Uses full tables, because minimal ones have no bodies.
#[test]
fn leaked_bodies_fail_the_case() {
    let host = Host::full().with(Flaw::LeaksBodies);
    assert_caught("in no result", || run(courses::fields::module_bodies_are_not_returned(&host)));
}
