//! Application services that the API, the consoles and the command line share: keys and secrets, people and their
//! sessions, the audit log, limits. The rules are in the domain; these services apply them to the store.

pub mod access;
pub mod audit;
pub mod holdings;
pub mod people;
pub mod refused_requests;

pub(crate) mod limiter;
pub(crate) mod network;
pub(crate) mod refusal_log;
pub(crate) mod refused_sign_ins;

#[cfg(test)]
pub(crate) mod hand_clock;
