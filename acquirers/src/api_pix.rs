//! API Pix, the Banco Central's standard (document 2.9.0) that every Brazilian PSP speaks in a dialect.
//!
//! Path of a charge: [`ApiPixFactory`] builds an adapter for each thread (`adapter.rs`), which hands a charge to
//! `charge.rs`. That calls the bank through `link.rs` (address, `token.rs`, headers, meaning of a status) and an
//! [`Exchange`](crate::exchange::Exchange). `cob.rs` reads the answer, with the code to pay with from `code.rs` and the
//! received money from `received.rs`. Withdrawals are in `cancel.rs`, refunds in `refund.rs`, callbacks in `notices.rs`
//! and `identify.rs`, lists of received Pix in `lists.rs`, the registration of the callbacks' address in
//! `registration.rs`. `reason.rs` makes error texts presentable.
//!
//! Limits on purpose: only a call answered 401 is retried, once. Nothing is concluded from time, no body of a callback
//! is trusted, and only the token is kept.

mod adapter;
mod cancel;
mod charge;
mod cob;
mod code;
pub mod dialect;
mod due;
mod factory;
mod identify;
pub(crate) mod lenient;
mod link;
mod lists;
pub(crate) mod notices;
pub(crate) mod reason;
mod received;
mod refund;
pub(crate) mod registration;
pub mod settings;
pub(crate) mod token;

pub use factory::ApiPixFactory;
pub use registration::RegistrationOutcome;

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Returns a UUID derived from the hashed data (UUIDv8: RFC 9562, section 5.8).
fn uuid_of(hash: Sha256) -> Uuid {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
    Uuid::new_v8(bytes)
}
