//! Services shared by the API, the consoles, the background jobs and the command line.
//!
//! Keys and secrets, people and their sessions, the audit log, limits, erasure, retention, the archive, reconciliation. The rules are
//! in the domain; these services apply them to the store. None of them is an actor, and none knows HTTP, BSON or SQL.

pub mod access;
pub mod archive;
pub mod audit;
pub mod erasure;
pub mod holdings;
pub mod limiter;
pub mod network;
pub mod people;
pub mod reconciliation;
pub mod refusal_log;
pub mod refused_requests;
pub mod refused_sign_ins;
pub mod retention;
pub mod secret_keys;
