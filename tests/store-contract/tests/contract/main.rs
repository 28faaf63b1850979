//! One contract for all stores. Every case runs against the embedded store, the one in memory that other tests use, and
//! MongoDB if `QUITA_TEST_MONGODB_URI` names a replica set.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

mod access;
mod archive;
mod archiving;
mod audit;
mod cards;
mod complete;
mod embedded;
mod erasure;
mod exceptions;
mod figures;
mod golden;
mod history;
mod inbox;
mod keyring;
mod links;
mod listing;
mod meddling;
mod memory;
mod mongo;
mod mongo_archive;
mod mongo_faults;
mod mongo_version;
mod movements;
mod numbers;
mod operator;
mod payments;
mod people;
mod pix;
mod reconciliation;
mod secret_keys;
mod upgrade;
mod waiting;

/// Passes every case about payments to a macro, followed by the given ones.
macro_rules! for_each_case_of_payments {
    ($run:ident $(, $($module:ident::$case:ident),*)? $(,)?) => {
        $run! {
            payments::a_stored_payment_reads_back_as_it_was,
            payments::a_replacement_leaves_nothing_of_what_it_replaces,
            payments::every_field_of_a_payment_reads_back,
            payments::an_id_can_be_taken_once,
            payments::a_replacement_needs_the_stored_revision,
            payments::of_many_writers_at_one_revision_one_wins,
            payments::of_many_inserts_of_one_id_one_wins,
            payments::a_mixed_batch_answers_each_write_in_order,
            payments::a_large_batch_is_written_whole,
            payments::an_empty_batch_and_an_empty_lookup_are_nothing,
            payments::absent_payments_are_left_out,
            listing::the_newest_come_first_and_pages_neither_skip_nor_repeat,
            listing::a_list_shows_one_merchant_in_one_mode,
            listing::each_filter_narrows_the_list,
            listing::a_payment_is_found_by_its_id_and_by_nobody_else,
            listing::payments_are_found_by_their_amount,
            listing::due_dates_are_filtered_by_day_and_only_what_has_one_matches,
            listing::time_bounds_include_the_start_and_not_the_end,
            listing::a_list_follows_a_changed_status,
            listing::deliveries_are_found_by_state_and_payment,
            listing::pages_of_deliveries_neither_skip_nor_repeat_whatever_their_states,
            listing::an_ended_refund_is_told_and_leaves_the_payment_where_it_is_found,
            movements::refunds_and_disputes_are_found_by_what_they_are_now,
            movements::a_payment_with_several_comes_once,
            movements::pages_neither_skip_nor_repeat_whatever_the_statuses,
            movements::their_period_is_that_of_their_payment_with_its_start_and_without_its_end,
            movements::a_merchant_in_one_mode_sees_its_own,
            movements::what_moved_back_stays_listed_when_the_payer_is_erased,
            waiting::what_is_due_comes_in_the_order_of_its_time,
            waiting::what_is_no_longer_due_is_gone,
            waiting::deliveries_wait_in_the_order_of_their_time,
            waiting::deliveries_of_one_moment_are_read_page_by_page,
            waiting::the_backlog_counts_what_waits,
            waiting::the_backlog_is_counted_as_far_as_it_is_asked_for,
            figures::each_kind_of_payment_is_counted_and_summed,
            figures::the_time_to_be_paid_falls_into_its_class,
            figures::a_payment_is_counted_as_what_it_is_now,
            figures::figures_are_of_one_merchant_in_one_mode_and_a_time,
            cards::tries_of_a_card_are_counted_in_windows_that_roll_and_of_every_merchant,
            cards::a_token_is_used_by_one_payment,
            cards::of_many_payments_with_one_token_one_is_stored,
            pix::a_pix_belongs_to_one_payment_of_a_mode,
            pix::of_many_payments_with_one_pix_one_is_stored,
            pix::a_refused_pix_leaves_the_payment_as_it_was,
            cards::every_charge_of_a_payment_is_a_try,
            cards::a_card_that_is_forgotten_counts_no_more,
            cards::a_card_that_was_tried_more_often_than_any_brand_allows_is_counted_to_there,
            reconciliation::a_line_is_there_once_and_as_it_was_put_last,
            reconciliation::lines_are_found_by_the_beginning_of_their_ids,
            reconciliation::every_kind_of_line_reads_back_as_it_was,
            reconciliation::lines_come_by_day_and_pages_neither_skip_nor_repeat,
            reconciliation::lines_are_counted_and_summed_by_their_verdict,
            reconciliation::runs_are_found_by_day_with_whether_they_are_done,
            reconciliation::a_run_is_one_nodes_until_its_lease_is_over_and_nobodys_once_it_is_done,
            reconciliation::of_many_who_claim_a_run_one_gets_it,
            reconciliation::a_boleto_is_found_by_the_numbers_that_others_give_it,
            reconciliation::payments_are_found_by_the_time_at_which_they_were_paid,
            erasure::whoever_was_erased_is_found_by_nothing_and_the_payment_by_its_id,
            erasure::an_erasure_meets_the_guard_of_every_write,
            erasure::payments_that_rest_come_by_status_the_longest_first,
            erasure::what_was_erased_is_told_in_its_order,
            history::everybody_who_has_payments_is_told_once_by_name,
            history::the_oldest_come_first_and_pages_of_the_past_neither_skip_nor_repeat,
            history::the_past_is_of_one_merchant_in_one_mode_from_a_time_on,
            history::whatever_became_of_a_payment_its_route_reads_back_as_it_was,
            links::uses_are_counted_in_the_payments_of_a_link,
            waiting::the_store_answers_a_ping,
            $($($module::$case),*)?
        }
    };
}
pub(crate) use for_each_case_of_payments;

/// Passes every case to a macro that creates a test from each.
macro_rules! for_each_case {
    ($run:ident) => {
        $crate::for_each_case_of_payments! {
            $run,
            archive::an_archived_payment_reads_back_and_its_id_stays_taken,
            archive::a_payment_that_was_written_since_stays_where_it_is,
            archive::what_is_not_archived_comes_the_oldest_first,
            archive::whatever_is_archived_while_it_is_written_is_there_once,
            archive::a_list_misses_nothing_that_is_archived_meanwhile,
            inbox::a_repeated_notice_is_known,
            inbox::notices_come_the_longest_waiting_first,
            inbox::a_postponed_notice_comes_back_and_counts_its_tries,
            inbox::a_finished_notice_is_gone_and_still_known,
            exceptions::an_exception_stays_as_it_was_first_reported,
            exceptions::the_newest_exceptions_come_first,
            access::an_application_is_made_once,
            access::an_application_is_replaced_only_if_it_is_as_expected,
            access::of_many_replacements_of_an_application_one_wins,
            access::a_key_is_found_by_its_id,
            access::the_id_of_a_key_is_never_taken_twice,
            access::a_revoked_key_keeps_its_first_date,
            people::a_login_is_taken_once_whosever_it_is,
            people::users_come_by_login_and_of_one_merchant,
            people::a_user_is_replaced_only_if_it_is_as_expected,
            people::of_many_replacements_of_a_user_one_wins,
            people::a_removed_user_is_gone_and_the_login_is_free,
            people::a_session_is_found_until_it_is_removed,
            people::a_session_that_begins_ends_no_other_that_goes_on,
            people::users_of_everybody_come_page_by_page,
            people::a_merchant_has_one_policy_and_none_asks_for_nothing,
            people::a_merchant_has_one_profile_and_an_empty_one_at_first,
            people::operators_are_made_listed_and_replaced_only_as_expected,
            people::of_many_replacements_of_an_operator_one_wins,
            people::a_session_is_replaced_as_expected_and_never_comes_back,
            people::the_sessions_of_one_person_are_found,
            audit::every_action_reads_back_as_it_was,
            audit::the_newest_entries_come_first_and_pages_neither_skip_nor_repeat,
            audit::a_merchant_sees_only_what_is_its_own,
            audit::an_entry_that_is_appended_again_stands_once_and_as_it_was,
            audit::a_log_is_begun_once_and_its_entries_follow_on_each_other,
            audit::an_entry_is_returned_with_its_place,
            audit::what_many_append_at_once_is_one_chain,
            audit::what_is_erased_is_gone_and_the_chain_stays_whole,
            audit::what_is_appended_without_a_head_goes_on_and_is_told,
            keyring::applications_come_by_name_and_of_one_merchant,
            keyring::the_keys_of_a_merchant_come_oldest_first,
            keyring::a_limited_key_ends_no_later_than_it_would_have,
            keyring::the_last_use_of_a_key_never_goes_back,
            keyring::a_key_that_came_from_a_browser_keeps_the_first_time,
            keyring::a_publishable_key_stays_publishable,
            keyring::a_use_that_is_noted_late_brings_no_revoked_key_back,
            secret_keys::a_record_is_noted_once_and_replaced_only_if_it_is_as_expected,
            secret_keys::of_many_who_note_a_record_one_does,
            secret_keys::the_key_of_the_audit_log_is_noted_once_and_replaced_only_if_it_is_as_expected,
            secret_keys::applications_of_everybody_come_page_by_page,
            secret_keys::a_sealed_secret_reads_back_as_it_was,
            operator::a_directive_takes_the_place_of_the_one_before,
            operator::a_resolved_exception_is_open_no_more_and_never_again,
            operator::of_many_who_resolve_an_exception_one_does,
            operator::the_exceptions_that_were_resolved_last_come_first,
            operator::nodes_that_are_alive_come_by_their_start,
            operator::a_node_that_is_removed_is_gone_until_it_is_seen_again,
            operator::a_node_that_was_seen_this_month_is_not_forgotten,
            numbers::numbers_are_given_out_in_order_until_the_range_is_used_up,
            numbers::a_range_that_is_widened_goes_on_and_one_that_is_narrowed_ends,
            numbers::the_largest_numbers_are_given_out_too,
            numbers::of_many_who_take_numbers_no_two_get_the_same,
            links::a_link_reads_back_as_it_was_and_its_id_is_taken_once,
            links::of_many_replacements_of_a_link_one_wins,
            links::the_newest_links_come_first_and_pages_neither_skip_nor_repeat,
            links::payers_of_links_that_are_over_are_found_by_document_and_time,
            links::events_are_counted_up_to_their_limit_in_any_stretch_of_time,
            links::counted_events_are_those_after_a_time,
            links::an_event_that_is_taken_back_makes_room_for_one_other,
            links::of_many_events_at_once_no_more_than_the_limit_are_counted,
        }
    };
}
pub(crate) use for_each_case;
