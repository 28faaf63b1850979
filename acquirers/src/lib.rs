//! The acquirers that this service can use. Each is a translation between a payment and one provider, and knows nothing
//! of actors, stores or HTTP servers.
//!
//! A real provider is reached through [`exchange`]: one HTTP request and its answer. The service implements it with an
//! HTTP client that supports mutual TLS, tests with a bank.

pub mod api_pix;
mod bank_boleto;
mod bearer;
pub mod cielo;
mod decline;
pub mod exchange;
mod field;
pub mod pagarme;
mod reason;
pub mod sandbox;
pub mod sicoob;
mod slip;
mod text;
