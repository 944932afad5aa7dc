//! Hosts that only read for the catalogue, and write their tables in ways of their own: with tables that hold
//! everything and with tables that hold little, both pass the suite, and both fail it with a flaw.

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
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async { super::Host::ample() });
}

mod with_few_columns {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async { super::Host::scant() });
}

mod with_courses_alone {
    catalogue_storage_conformance::course_storage_tests!(super::courses);
}

mod with_credentials_alone {
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
    Host::ample()
}

async fn credentials_only() -> impl CredentialFixture {
    Host::ample()
}

/// Makes two tests of each flaw, of a host with ample tables and of one with scant ones: the case fails, and its message
/// holds those words of the rule.
macro_rules! caught {
    ($($name:ident: $flaw:expr => $group:ident::$topic:ident::$case:ident, $rule:literal;)*) => {
        mod caught {
            use super::*;
            $(
                mod $name {
                    use super::*;

                    #[test]
                    fn in_ample_tables() {
                        assert_caught($rule, || run($group::$topic::$case(&Host::ample().with($flaw))));
                    }

                    #[test]
                    fn in_scant_tables() {
                        assert_caught($rule, || run($group::$topic::$case(&Host::scant().with($flaw))));
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
    oldest_first: Flaw::OldestFirst => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "newest first";
    ties_as_they_come: Flaw::TiesAscending
        => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    hidden_left_out: Flaw::OmitsHidden
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    starting_at_the_place: Flaw::IncludesCursorPosition
        => courses::paging::page_after_last_course_is_empty, "does not hold the course at whose place";
    starting_after_the_time: Flaw::ComparesTimeOnly
        => courses::paging::pages_concatenate_to_full_list_for_every_limit, "pages joined are the whole list";
    a_next_page_after_the_last: Flaw::NextOnLastPage
        => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    no_row_beyond_the_page: Flaw::OmitsExtraRow
        => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    owner_forgotten_in_lists: Flaw::IgnoresAccountInLists => courses::isolation::list_returns_courses_of_one_account, "no others";
    owner_forgotten_in_details: Flaw::IgnoresAccountInDetails
        => courses::isolation::course_of_other_account_returns_none, "like one that does not exist";
    slugs_regardless_of_case: Flaw::IgnoresSlugCase
        => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    modules_from_zero: Flaw::NumbersModulesFromZero
        => courses::detail::modules_are_ordered_and_numbered_from_one, "numbered from 1";
    removed_ones_remembered: Flaw::ServesRemovedCourses
        => courses::changes::removed_course_is_not_returned, "A removed course is not found";
    changes_unseen: Flaw::ServesFirstVersion
        => courses::changes::changed_course_is_returned_with_current_content, "listed once and as it is now";
    absent_ones_an_error: Flaw::FailsForMissingCourse
        => courses::detail::missing_course_returns_none, "is None, not an error";
    one_revision_for_ever: Flaw::NeverReplacesRevision
        => courses::revision::every_course_change_replaces_revision, "is replaced by";
    revisions_blind_to_removals: Flaw::IgnoresRemovalInRevision
        => courses::revision::removing_course_replaces_revision, "a course that is removed";
    an_old_revision_with_the_credential: CredentialFlaw::StaleRevision
        => combined::credential_revision::credential_has_current_revision, "current revision";
    revoked_ones_gone: CredentialFlaw::HidesRevoked
        => credential_cases::lookup::revoked_credential_is_found_as_revoked, "found as revoked";
    scopes_forgotten: CredentialFlaw::OmitsScopes => credential_cases::lookup::scopes_are_stored_unchanged, "Scopes are kept";
}

/// Where tables hold them.
#[test]
fn revocations_unseen_are_caught() {
    let host = Host::ample().with(CredentialFlaw::IgnoresRevocations);
    let case = credential_cases::revocations::revocation_applies_from_next_lookup(&host);
    assert_caught("from the next look-up on", || run(case));
}

/// Where tables hold bodies; the scant ones have none to give away.
#[test]
fn bodies_given_away_are_caught() {
    let host = Host::ample().with(Flaw::LeaksBodies);
    assert_caught("in no answer", || run(courses::fields::module_bodies_are_not_returned(&host)));
}
