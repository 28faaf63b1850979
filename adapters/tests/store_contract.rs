//! One contract for both stores: every case runs against the embedded store, and against MongoDB when
//! `QUITA_TEST_MONGODB_URI` names a replica set.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

#[path = "store_contract/access.rs"]
mod access;
#[path = "store_contract/embedded.rs"]
mod embedded;
#[path = "store_contract/exceptions.rs"]
mod exceptions;
#[path = "store_contract/fail_point.rs"]
mod fail_point;
#[path = "store_contract/inbox.rs"]
mod inbox;
#[path = "store_contract/listing.rs"]
mod listing;
#[path = "store_contract/mongo.rs"]
mod mongo;
#[path = "store_contract/mongo_faults.rs"]
mod mongo_faults;
#[path = "store_contract/payments.rs"]
mod payments;
#[path = "store_contract/samples.rs"]
mod samples;
#[path = "store_contract/waiting.rs"]
mod waiting;

/// Hands every case to a macro that makes a test of each.
macro_rules! for_each_case {
    ($run:ident) => {
        $run! {
            payments::a_stored_payment_reads_back_as_it_was,
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
            listing::time_bounds_include_the_start_and_not_the_end,
            listing::a_list_follows_a_changed_status,
            listing::deliveries_are_found_by_state_and_payment,
            waiting::what_is_due_comes_in_the_order_of_its_time,
            waiting::what_is_no_longer_due_is_gone,
            waiting::deliveries_wait_in_the_order_of_their_time,
            waiting::the_backlog_counts_what_waits,
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
            waiting::the_store_answers_a_ping,
        }
    };
}
pub(crate) use for_each_case;
