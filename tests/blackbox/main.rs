//! Quita from the outside: the real program, real HTTP, a store of its own for each test.
//!
//! What is tried here is `docs/` and the API's contract, not the code: nothing of the service's crates is used.
//! `QUITA_TEST_STORE=mongodb` runs the same tests on `QUITA_TEST_MONGODB_URI`. `scripts/test` does both.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::float_arithmetic,
    reason = "tests: what must not happen fails the test"
)]

mod acquirer_kills;
mod acquirer_outage;
mod acquirer_secrets;
mod archive;
mod audit;
mod background_jobs;
mod backup;
mod below_a_path;
mod browser;
mod by_hand;
mod cancel_and_capture;
mod card_data;
mod card_script;
mod checkout;
mod checkout_browser;
mod checkout_card;
mod checkout_robots;
mod checkout_verify;
mod cnab;
mod connections;
mod console_attacks;
mod console_links;
mod console_sandbox;
mod console_search;
mod console_story;
mod crash;
mod create;
mod dead_bank;
mod deliveries;
mod disk_faults;
mod doctor;
mod due_dates;
mod edge;
mod endpoints;
mod erasure;
mod errors;
mod errors_that_teach;
mod events;
mod examples;
mod front_door;
mod hostile;
mod idempotency;
mod key_ends;
mod keys;
mod linearizability;
mod links;
mod listen;
mod listing;
mod load;
mod load_away;
mod logs;
mod mails;
mod memory;
mod message_webhooks;
mod movements;
mod mutations;
mod nodes;
mod notices;
mod on_the_wire;
mod open_pages;
mod openapi;
mod operator_attacks;
mod operator_doors;
mod operator_factors;
mod operator_home;
mod operator_story;
mod operators;
mod ops_documents;
mod outage;
mod pagarme;
mod pages;
mod privacy;
mod production;
mod profiles;
mod program_help;
mod program_keys;
mod program_names;
mod program_payments;
mod program_users;
mod real_acquirers;
mod reconcile;
mod refunds;
mod refusal_pages;
mod refused_requests;
mod reload;
mod routes;
mod routing;
mod routing_on_paper;
mod sandbox_cards;
mod sandbox_codes;
mod second_sales;
mod secret_keys;
mod sicoob;
mod slow_clients;
mod spreadsheets;
mod staff_erasure;
mod start_and_stop;
mod store_away;
mod store_faults;
mod store_is_missing;
mod store_upgrade;
mod stuck;
mod support;
mod tokens;
mod traces;
mod uncounted;
mod violations;
mod webhook_failures;
mod webhook_retries;
mod webhooks;
