//! How the outside is reached: stores, the webhook sender, traces, documents for payers, the machine's clock.

mod payment_index;
mod payment_row;
mod store_rules;
mod stored_form;

pub mod embedded;
pub mod mongo;
pub mod otlp;
pub mod paper;
pub mod system;
pub mod vault;
pub mod webhook_http;
