//! Quita: payments in Brazil by PIX, boleto and credit card, one actor per transaction.

mod acquirers;
mod archive;
pub mod build_info;
pub mod cli;
mod console;
mod core_dumps;
mod failing_webhooks;
mod first_run;
pub mod http;
mod jobs;
mod keyring;
mod listener;
mod messages;
mod nightly;
mod ops;
mod retention;
mod sample_request;
pub mod serve;
pub mod store;
pub mod telemetry;
mod traces;
