//! Hosts that only read for the catalogue, and write their tables in ways of their own: with tables that hold
//! everything and with tables that hold little, both pass the suite, and both fail it with a flaw.

mod credentials;
mod flaws;
mod locked_out;
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
    catalogue_storage_conformance::credential_storage_tests!(super::credentials_alone);
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

async fn credentials_alone() -> impl CredentialFixture {
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

use catalogue_storage_conformance::{courses, credentials as credential_cases, run, together};

fn assert_caught(rule: &str, case: impl FnOnce()) {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)).expect_err("the flaw was not caught");
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = message.expect("a message");
    assert!(message.contains(rule), "caught for another reason than {rule:?}: {message}");
}

caught! {
    oldest_first: Flaw::OldestFirst => courses::list::newest_comes_first_to_the_microsecond, "newest first";
    ties_as_they_come: Flaw::TiesAscending
        => courses::list::ties_are_ordered_by_slug_descending_by_bytes, "byte by byte";
    hidden_left_out: Flaw::HiddenLeftOut
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    starting_at_the_place: Flaw::StartsAtThePlace
        => courses::paging::a_page_after_the_last_course_is_empty, "does not hold the course at whose place";
    starting_after_the_time: Flaw::StartsAfterTheTime
        => courses::paging::pages_joined_are_the_whole_list_for_every_limit, "pages joined are the whole list";
    a_next_page_after_the_last: Flaw::NextAfterTheLast
        => courses::paging::next_is_none_exactly_on_the_last_page, "exactly on the last";
    no_row_beyond_the_page: Flaw::NoRowBeyond
        => courses::paging::next_is_none_exactly_on_the_last_page, "exactly on the last";
    owner_forgotten_in_lists: Flaw::OwnerForgottenInLists => courses::isolation::a_list_never_mixes_accounts, "no others";
    owner_forgotten_in_details: Flaw::OwnerForgottenInDetails
        => courses::isolation::a_foreign_course_is_like_an_absent_one, "like one that does not exist";
    slugs_regardless_of_case: Flaw::SlugsRegardlessOfCase
        => courses::detail::slugs_are_compared_by_bytes, "byte by byte";
    modules_from_zero: Flaw::ModulesFromZero
        => courses::detail::modules_are_in_order_and_numbered_from_one, "numbered from 1";
    removed_ones_remembered: Flaw::RemovedOnesRemembered
        => courses::changes::a_removed_course_is_gone, "A removed course is not found";
    changes_unseen: Flaw::ChangesUnseen
        => courses::changes::a_changed_course_is_shown_as_it_is_now, "listed once and as it is now";
    absent_ones_an_error: Flaw::AbsentOnesAnError
        => courses::detail::an_absent_course_is_none, "is None, not an error";
    one_revision_for_ever: Flaw::OneRevisionForEver
        => courses::revision::every_change_of_a_course_replaces_the_revision, "is replaced by";
    revisions_blind_to_removals: Flaw::RevisionsBlindToRemovals
        => courses::revision::removing_a_course_replaces_the_revision, "a course that is removed";
    an_old_revision_with_the_credential: CredentialFlaw::OldRevision
        => together::credential_revision::a_credential_brings_the_current_revision, "current revision";
    revoked_ones_gone: CredentialFlaw::RevokedOnesGone
        => credential_cases::look_up::a_revoked_credential_is_found_as_revoked, "found as revoked";
    scopes_forgotten: CredentialFlaw::ScopesForgotten => credential_cases::look_up::scopes_are_kept, "Scopes are kept";
}

/// Where tables hold them.
#[test]
fn revocations_unseen_are_caught() {
    let host = Host::ample().with(CredentialFlaw::RevocationsUnseen);
    let case = credential_cases::revocations::a_revocation_counts_from_the_next_look_up_on(&host);
    assert_caught("from the next look-up on", || run(case));
}

/// Where tables hold bodies; the scant ones have none to give away.
#[test]
fn bodies_given_away_are_caught() {
    let host = Host::ample().with(Flaw::BodiesGivenAway);
    assert_caught("in no answer", || run(courses::fields::bodies_are_in_no_answer(&host)));
}
