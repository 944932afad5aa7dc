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
                changed_course_is_returned_with_current_content
                changed_creation_time_moves_course_in_list
                removed_course_is_not_returned
                recreated_course_has_no_data_of_removed_one
            }
            concurrency {
                concurrent_reads_on_several_threads_return_own_results
                concurrent_reads_on_one_thread_return_own_results
                dropped_read_does_not_affect_later_calls
                read_returns_all_changes_committed_before_it
                call_returns_one_consistent_state
            }
            detail {
                modules_are_ordered_and_numbered_from_one
                missing_course_returns_none
                slugs_are_compared_by_bytes
                longest_slugs_are_distinguished
            }
            fields {
                course_texts_are_stored_unchanged
                module_bodies_are_not_returned
                absent_and_empty_values_differ
                times_are_stored_to_the_microsecond
            }
            isolation {
                list_returns_courses_of_one_account
                course_of_other_account_returns_none
                position_of_other_account_returns_only_own_courses
                account_ids_are_compared_by_bytes
                writes_do_not_affect_other_accounts
            }
            list {
                account_without_courses_has_empty_page
                courses_are_ordered_newest_first_to_the_microsecond
                ties_are_ordered_by_descending_slug_bytes
                unpublished_and_hidden_courses_are_listed
                module_count_equals_number_of_modules
            }
            paging {
                pages_concatenate_to_full_list_for_every_limit
                next_is_none_only_on_last_page
                page_starts_after_position_without_course
                page_after_last_course_is_empty
            }
            paging_under_change {
                paging_returns_every_remaining_course_once
            }
            revision {
                revision_is_stable_without_changes
                reads_return_current_revision
                reads_never_return_older_revision
                every_course_change_replaces_revision
                removing_course_replaces_revision
                changes_do_not_affect_revisions_of_other_accounts
                accounts_with_different_courses_have_different_revisions
                revision_is_never_reused
            }
        }
    };
    ($then:ident, credentials) => {
        $crate::$then! { credentials:
            lookup {
                credential_is_found_only_by_whole_digest
                scopes_are_stored_unchanged
                expiry_is_stored_to_the_microsecond
                revoked_credential_is_found_as_revoked
                concurrent_lookups_return_own_results
                dropped_lookup_does_not_affect_later_ones
            }
            revocations {
                revocation_applies_from_next_lookup
                revoked_token_is_found_only_by_whole_digest
            }
        }
    };
    ($then:ident, combined) => {
        $crate::$then! { combined:
            credential_revision {
                credential_has_current_revision
            }
        }
    };
    ($then:ident, keys) => {
        $crate::$then! { keys:
            key_changes {
                key_accepts_any_name
                ended_key_can_be_renamed
                revoking_returns_record
                second_revocation_does_not_change_time
                unknown_key_is_neither_renamed_nor_revoked
            }
            key_creation {
                key_is_active_from_creation
                key_of_unknown_account_is_refused
                existing_key_is_refused
            }
            key_events {
                each_change_records_one_event
                calls_without_change_record_no_event
                events_are_listed_newest_first
                events_keep_key_name_at_their_time
                events_belong_to_one_account
                events_are_removed_with_their_account
            }
            key_lists {
                empty_list_and_unknown_account_differ
                keys_are_listed_as_stored_oldest_first_with_ties_by_id
                ended_keys_are_listed_up_to_limit
                key_is_found_by_id_in_its_account
            }
            key_retention {
                ended_keys_are_retained_for_400_days
                creation_removes_at_most_100_ended_keys
                last_renames_of_key_keep_their_events
            }
            key_rotation {
                rotation_ends_old_key_and_stores_successor
                rotated_key_ends_at_earlier_of_both_ends
                only_active_key_is_rotated
                key_with_successor_is_not_rotated_again
                refused_successor_leaves_key_unchanged
            }
            keys_concurrency {
                one_of_many_concurrent_creations_succeeds
                one_of_many_concurrent_rotations_succeeds
                one_of_many_concurrent_revocations_takes_effect
                key_and_its_event_become_visible_together
            }
        }
    };
    ($then:ident, sign_ins) => {
        $crate::$then! { sign_ins:
            links {
                link_of_unknown_account_is_refused
                existing_link_is_refused
                link_is_found_only_by_whole_digest
                creating_a_link_purges_expired_sessions
                link_is_exchanged_once
                one_of_many_concurrent_exchanges_succeeds
                expired_or_unknown_link_returns_none
                expiry_is_checked_at_time_of_call
                links_and_sessions_are_not_interchangeable
            }
            sessions {
                session_is_found_with_account_and_expiry
                session_is_found_only_by_whole_digest
                oldest_session_is_removed_beyond_limit
                ended_session_is_not_found
                signing_out_ends_links_and_sessions
                sign_ins_are_removed_with_their_account
            }
            sign_in_events {
                each_change_records_one_event
                calls_without_change_record_no_event
                session_and_its_event_become_visible_together
                creating_a_link_removes_old_events
            }
        }
    };
    ($then:ident, administration) => {
        $crate::$then! { administration:
            accounts {
                accounts_are_listed_by_id_with_course_counts
                only_active_keys_are_counted
                account_filter_lists_only_named_accounts
            }
            concurrent_writes {
                concurrent_imports_lose_no_data
                removal_during_import_is_not_undone
                import_becomes_visible_atomically
            }
            credential_records {
                record_is_found_by_id
                records_of_all_accounts_are_ordered_by_account
                account_filter_returns_only_records_of_named_accounts
                import_leaves_credentials_unchanged
            }
            credential_uses {
                use_is_recorded_to_the_microsecond
                latest_use_is_stored
                use_of_unknown_credential_is_ignored
                use_of_revoked_credential_is_recorded
                use_does_not_change_revision_or_lookup
            }
            export {
                export_orders_accounts_then_courses_by_bytes
                export_contains_every_field
                export_contains_every_account_text
                reimported_export_changes_nothing
                account_filter_exports_only_named_accounts
            }
            import {
                putting_account_returns_its_change
                every_difference_is_reported_as_change
                course_put_twice_is_repeated
                course_of_unknown_account_is_refused
                creation_time_reflects_uncommitted_import
                course_with_invalid_slug_is_refused
                batched_records_are_put_in_order
            }
            import_atomicity {
                import_is_invisible_before_commit
                dropped_import_changes_nothing
                prune_removes_courses_that_were_not_put
                prune_leaves_other_accounts_unchanged
                import_replaces_revision_only_when_committed
            }
            removal {
                removing_account_removes_exactly_its_data
                removing_account_returns_removed_counts
                recreated_account_starts_empty
                removing_returns_whether_course_existed
                account_remains_after_its_last_course
            }
            token_revocations {
                all_tokens_of_call_are_revoked
                revocation_is_retained_for_a_day_after_expiry
                later_revocations_remove_those_past_retention
                removing_account_leaves_revocations
            }
        }
    };
}

/// All cases by group and topic.
#[doc(hidden)]
pub const CASES: [&[(&str, &str, &[&str])]; 6] = [
    crate::__cases!(__names, administration),
    crate::__cases!(__names, combined),
    crate::__cases!(__names, courses),
    crate::__cases!(__names, credentials),
    crate::__cases!(__names, keys),
    crate::__cases!(__names, sign_ins),
];

#[cfg(test)]
mod tests;
