//! API Pix, the Banco Central's standard (document 2.9.0) that every Brazilian PSP speaks in a dialect.
//!
//! The way of a charge: [`ApiPixFactory`] builds an adapter for each thread (`adapter.rs`), which hands a charge to
//! `charge.rs`; that goes through `link.rs` (address, `token.rs`, headers, what a status means) and an
//! [`Exchange`](crate::exchange::Exchange) to the bank. The answer is read by `cob.rs`, which takes the code to pay with
//! from `code.rs` and what came in from `received.rs`. Withdrawals are in `cancel.rs`, refunds in `refund.rs`, callbacks
//! in `notices.rs` and `identify.rs`, lists of what came in in `lists.rs`, the registration of the callbacks' address in
//! `registration.rs`. What errors say is made
//! presentable by `reason.rs`.
//!
//! Absent on purpose: nothing is retried here but a call that was answered 401, once; nothing is concluded from time; no
//! body of a callback is believed; nothing is kept but the token.

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

/// A UUID that follows from what was hashed (UUIDv8: RFC 9562, section 5.8).
fn uuid_of(hash: Sha256) -> Uuid {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
    Uuid::new_v8(bytes)
}
