//! How the outside is reached: stores, acquirers, webhook sender, documents.

mod payment_row;
mod store_rules;
mod stored_form;

pub mod embedded;
pub mod mongo;
