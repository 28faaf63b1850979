//! Quita: payments in Brazil by PIX, boleto and credit card, one actor per transaction.

pub mod access;
mod acquirers;
pub mod audit;
pub mod cli;
pub mod config;
mod console;
mod first_run;
pub mod http;
mod limiter;
mod ops;
pub mod people;
mod sample_request;
pub mod serve;
pub mod store;
pub mod telemetry;
mod traces;
