//! Lists of all cases: the macros expand them to tests, and a unit test compares them with the sources.

#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    ($group:ident: $($topic:ident { $($case:ident)* })*) => {
        &[$((::core::stringify!($group), ::core::stringify!($topic), &[$(::core::stringify!($case)),*])),*]
    };
}

/// Calls a macro with every case of a group, by topic.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($then:ident, courses) => {
        $crate::$then! { courses:
            changes {
                a_changed_course_is_shown_as_it_is_now
                another_creation_time_moves_a_course
                a_removed_course_is_gone
                a_course_put_again_has_nothing_of_the_one_before
            }
            concurrency {
                reads_on_several_threads_have_their_own_answers
                many_reads_on_one_thread_have_their_own_answers
                a_dropped_read_does_no_harm
                a_read_sees_every_change_before_it
                a_call_sees_one_state
            }
            detail {
                modules_are_in_order_and_numbered_from_one
                equal_modules_are_all_kept
                bare_unpublished_and_hidden_courses_are_found
                an_absent_course_is_none
                slugs_are_compared_by_bytes
                slugs_that_look_like_sql_are_only_slugs
                the_longest_slugs_are_told_apart
            }
            fields {
                texts_of_a_course_are_kept
                texts_of_modules_are_kept
                bodies_are_in_no_answer
                absent_and_empty_differ
                times_are_kept_to_the_microsecond
            }
            isolation {
                accounts_that_share_slugs_find_their_own
                a_list_never_mixes_accounts
                a_foreign_course_is_like_an_absent_one
                a_foreign_place_is_only_a_place
                account_ids_are_compared_by_bytes
                writes_for_one_account_leave_the_others
            }
            list {
                an_account_without_courses_has_an_empty_page
                an_unknown_account_has_an_empty_page
                newest_comes_first_to_the_microsecond
                ties_are_ordered_by_slug_descending_by_bytes
                unpublished_and_hidden_courses_are_listed
                module_count_is_the_number_of_modules
                module_count_follows_changes
            }
            paging {
                pages_joined_are_the_whole_list_for_every_limit
                next_is_none_exactly_on_the_last_page
                next_is_the_place_of_the_last_item
                a_page_starts_after_a_place_that_never_was
                a_page_after_the_last_course_is_empty
                a_page_starts_after_a_deleted_course
                a_page_starts_after_a_changed_course
            }
            paging_under_change {
                a_walk_meets_every_lasting_course_once
                courses_that_come_earlier_in_the_list_do_not_disturb_a_walk
                courses_that_come_later_in_the_list_are_met
                a_walk_whose_rest_is_deleted_ends
            }
            revision {
                a_revision_stays_while_nothing_changes
                reads_bring_the_current_revision
                no_read_brings_an_older_revision
                adding_a_course_replaces_the_revision
                every_change_of_a_course_replaces_the_revision
                removing_a_course_replaces_the_revision
                a_revision_belongs_to_one_account
                accounts_with_different_courses_have_different_revisions
                no_revision_ever_comes_back
            }
        }
    };
    ($then:ident, credentials) => {
        $crate::$then! { credentials:
            look_up {
                a_credential_is_found_with_all_its_fields
                a_credential_is_found_by_its_exact_digest
                scopes_are_kept
                an_expiry_is_kept_to_the_microsecond
                a_revoked_credential_is_found_as_revoked
                look_ups_at_the_same_time_have_their_own_answers
                a_dropped_look_up_does_no_harm
            }
            revocations {
                a_revocation_counts_from_the_next_look_up_on
                a_revoked_token_is_known_by_its_whole_digest
            }
        }
    };
    ($then:ident, together) => {
        $crate::$then! { together:
            credential_revision {
                a_credential_brings_the_current_revision
            }
        }
    };
    ($then:ident, keys) => {
        $crate::$then! { keys:
            key_creation {
                a_key_holds_from_its_creation_on
                a_key_of_an_unknown_account_is_refused
                a_key_that_is_there_is_refused
            }
            key_events {
                each_change_has_one_event
                what_changes_nothing_has_no_event
                events_come_newest_first
                events_keep_the_name_of_their_time
                events_belong_to_one_account
                events_go_with_their_account
            }
            key_lists {
                an_empty_list_and_an_unknown_account_differ
                a_removed_account_has_no_list
                the_oldest_comes_first_and_ties_go_by_id
                records_are_listed_as_they_were_stored
                revoked_keys_stay_in_the_list
                ended_keys_are_listed_up_to_a_number
                a_key_is_found_by_its_id_in_its_account
            }
            key_names {
                a_key_takes_any_name
                an_ended_key_is_renamed_too
                renaming_what_the_account_has_not_is_none
            }
            key_retention {
                ended_keys_stay_for_400_days
                a_creation_removes_a_hundred_ended_keys
                the_last_renames_of_a_key_keep_their_events
            }
            key_revocation {
                revoking_returns_the_record
                the_first_revocation_stays
                revoking_what_the_account_has_not_is_none
            }
            key_rotation {
                rotating_ends_the_old_and_stores_the_new
                the_earlier_end_counts
                only_a_key_that_holds_is_rotated
                what_has_a_successor_is_not_rotated_again
                a_refused_successor_ends_nothing
            }
            keys_at_once {
                of_many_creations_one_is_done
                of_many_rotations_one_is_done
                of_many_revocations_one_is_done
                a_key_and_its_event_are_seen_together
            }
        }
    };
    ($then:ident, sign_ins) => {
        $crate::$then! { sign_ins:
            link_exchange {
                a_link_is_exchanged_once
                of_many_exchanges_one_wins
                a_link_that_is_over_or_unknown_is_none
                the_instant_of_the_call_decides
                links_and_sessions_are_two_kinds
            }
            links {
                a_link_of_an_unknown_account_is_refused
                a_link_that_is_there_is_refused
                a_link_is_known_by_its_whole_digest
                what_is_over_goes_with_the_next_link
            }
            sessions {
                a_session_is_found_with_account_and_end
                a_session_is_known_by_its_whole_digest
                beyond_the_limit_the_oldest_goes
            }
            sign_in_events {
                each_change_has_one_event
                what_changes_nothing_has_no_event
                a_session_and_its_event_are_seen_together
                old_events_go_when_a_link_is_made
            }
            sign_out {
                an_ended_session_is_gone
                signing_out_ends_both_kinds
                sign_ins_go_with_their_account
            }
        }
    };
    ($then:ident, administration) => {
        $crate::$then! { administration:
            account_removal {
                nothing_of_a_removed_account_is_left
                the_other_accounts_stay
                removing_says_what_went
                one_that_comes_back_begins_anew
            }
            accounts {
                accounts_are_listed_by_id_with_their_courses
                keys_that_hold_are_counted
                some_accounts_are_listed_alone
                a_break_ends_a_list
            }
            concurrent_writes {
                imports_at_the_same_time_lose_nothing
                a_removal_beside_an_import_stays
                a_call_sees_all_of_an_import_or_nothing
            }
            credential_records {
                a_record_is_found_by_its_id
                those_of_all_accounts_come_by_account
                those_of_some_accounts_come_alone
                an_import_leaves_credentials_alone
            }
            credential_uses {
                a_use_is_noted_to_the_microsecond
                the_greatest_time_stays
                an_unknown_credential_is_passed_over
                a_use_before_the_revocation_is_noted
                a_use_leaves_revision_and_look_up
            }
            export {
                an_empty_storage_exports_nothing
                accounts_come_first_then_courses_by_bytes
                an_export_shows_every_field
                an_export_shows_every_text_of_an_account
                an_export_shows_every_text_of_a_module
                an_export_shows_creation_times_to_the_microsecond
                an_export_imported_again_changes_nothing
                a_break_ends_an_export
                an_export_of_some_accounts_shows_no_other
            }
            import {
                an_import_says_what_it_did_with_an_account
                a_course_is_added_then_unchanged
                every_difference_is_a_change
                a_course_put_twice_is_repeated
                a_course_needs_its_account
                creation_time_is_that_of_the_course_within_the_import
                a_course_without_a_proper_slug_is_refused
                records_put_together_are_put_in_their_order
            }
            import_as_a_whole {
                nothing_of_an_import_is_seen_before_its_commit
                a_dropped_import_changes_nothing
                an_import_of_nothing_new_changes_nothing
                prune_removes_what_was_not_put
                prune_leaves_other_accounts_alone
            }
            import_revision {
                pruning_replaces_the_revision
                an_import_without_commit_leaves_the_revision
            }
            removal {
                a_removed_course_is_not_exported
                removing_says_whether_it_was_there
                an_account_outlives_its_last_course
            }
            token_revocations {
                every_token_of_a_call_is_revoked
                a_revocation_is_kept_for_a_day_after_the_expiry
                what_is_long_over_goes_with_later_ones
                a_removed_account_brings_no_token_back
            }
        }
    };
}

/// All cases by group and topic.
#[doc(hidden)]
pub const CASES: [&[(&str, &str, &[&str])]; 6] = [
    crate::__cases!(__names, administration),
    crate::__cases!(__names, courses),
    crate::__cases!(__names, credentials),
    crate::__cases!(__names, keys),
    crate::__cases!(__names, sign_ins),
    crate::__cases!(__names, together),
];

#[cfg(test)]
mod tests;
