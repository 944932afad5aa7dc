//! A host application that fills its tables itself, which store less than those of the built-in storages. Without a flaw, it
//! passes the suite; with a flaw, it fails.

use catalogue_storage_conformance::{CourseFixture, CredentialFixture};

use crate::host::Host;
use crate::{courses, keys, races};

async fn host() -> Host {
    Host::new()
}

async fn courses_only() -> impl CourseFixture {
    Host::new()
}

async fn credentials_only() -> impl CredentialFixture {
    Host::new()
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

/// Creates a test of each flaw, over the host application's tables: the case fails with the quoted words in its message.
macro_rules! caught {
    ($($topic:ident::$case:ident: $($file:ident::$flaw:ident => $rule:literal),+;)*) => {
        $(
            #[test]
            fn $case() {
                $(
                    let case = || crate::run_case(crate::cases::$topic::$case(&Host::over($file::storages::$flaw())));
                    let message = crate::caught(stringify!($flaw), case);
                    assert!(message.contains($rule), "{} was caught for another reason: {message}", stringify!($flaw));
                )+
            }
        )*
    };
}

caught! {
    list::ties_are_ordered_by_descending_slug_bytes: courses::courses_are_listed_oldest_first => "byte by byte";
    list::unpublished_and_hidden_courses_are_listed: courses::hidden_courses_are_not_listed => "unpublished or hidden";
    fields::times_are_stored_to_declared_precision: courses::courses_are_listed_oldest_first => "newest first";
    paging::pages_concatenate_to_full_list_for_every_limit:
        courses::page_continues_by_time_only => "concatenated pages are the whole list";
    paging::next_is_none_only_on_last_page:
        courses::full_page_has_next => "exactly on the last", courses::extra_row_is_omitted => "exactly on the last";
    paging::page_starts_right_after_position: courses::page_repeats_last_course => "starts right after its position";
    isolation::list_returns_courses_of_one_account: courses::list_ignores_account => "no others";
    isolation::account_ids_are_compared_by_bytes:
        courses::course_lookup_ignores_account => "like one that does not exist";
    detail::slugs_are_compared_by_bytes: courses::slugs_are_case_insensitive => "byte by byte";
    detail::modules_are_ordered_and_numbered_from_one: courses::modules_are_numbered_from_zero => "numbered from 1";
    detail::missing_course_returns_none: courses::missing_course_is_an_error => "returns None, not an error";
    changes::removed_course_is_not_returned: courses::removed_course_is_found => "A removed course is not found";
    changes::changed_course_is_returned_with_current_content:
        races::course_is_cached => "listed once, with its current content";
    revision::every_course_change_replaces_revision: courses::revision_is_account_id => "is replaced by";
    revision::removing_course_replaces_revision: courses::revision_ignores_removals => "a removed course";
    credential_revision::credential_has_current_revision: courses::revision_changes_on_each_call => "current revision";
    lookup::revoked_credential_is_found_as_revoked: keys::revoked_credential_is_not_found => "found as revoked";
    lookup::scopes_are_stored_unchanged: keys::unknown_scopes_are_dropped => "Scopes are stored";
}
