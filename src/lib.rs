//! Quita: payments in Brazil by PIX, boleto and credit card, one actor per transaction.

mod access;
mod acquirers;
pub mod config;
mod first_run;
pub mod http;
mod ops;
pub mod serve;
mod store;
