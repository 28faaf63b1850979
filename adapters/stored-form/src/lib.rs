//! The form in which both stores keep values: BSON, with the same bytes in both. Also the indexed fields of a payment,
//! and the rules that apply in both stores, such as the turns of those who list.

mod archive;
mod document;
pub mod form;
mod payment_index;
mod payment_row;

pub mod rules;
pub mod turns;

use std::sync::atomic::{AtomicU64, Ordering};

use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::routing::PastPayment;
use quita_ports::{Listed, PastPage, StoreError, Unreadable};

pub use archive::merged;
pub use document::{AsDocument, FromDocument, ToDocument, from_document};
pub use form::VERSION;
pub use payment_index::PaymentIndex;
pub use payment_row::PaymentRow;

/// Returns the BSON document of a value.
///
/// # Errors
/// [`StoreError::Unreadable`] if it contains a number that does not fit into BSON.
pub fn encode(value: &impl ToDocument) -> Result<Vec<u8>, StoreError> {
    Ok(value.to_document()?.into_bytes())
}

/// Reads a document that [`encode`] wrote. The error names `what` and never shows stored values.
///
/// # Errors
/// [`StoreError::Unreadable`] if another program wrote something else.
pub fn decode<T: FromDocument>(bytes: &[u8], what: &str) -> Result<T, StoreError> {
    T::from_document(bytes, what)
}

/// Returns an entry of a list; an unreadable one keeps its place. Unreadable entries are logged, but not each time.
pub fn listed(read: Result<Payment, StoreError>, place: Cursor) -> Listed {
    read.map_err(|error| {
        log_unreadable(&error);
        Unreadable(place)
    })
}

/// Part of a payment that a replay reads, with its cursor.
pub type PastRead = (Cursor, Result<PastPayment, StoreError>);

/// Returns the page of these payments. It is the last one if it has fewer than requested. Unreadable ones are counted,
/// and logged as in [`listed`].
pub fn past_page(read: Vec<PastRead>, limit: usize) -> PastPage {
    let next = read.last().filter(|_| read.len() >= limit).map(|(place, _)| *place);
    let mut page = PastPage { payments: Vec::with_capacity(read.len()), unreadable: 0, next };
    for (_, payment) in read {
        match payment {
            Ok(payment) => page.payments.push(payment),
            Err(error) => {
                log_unreadable(&error);
                page.unreadable = page.unreadable.saturating_add(1);
            }
        }
    }
    page
}

fn log_unreadable(error: &StoreError) {
    static FOUND: AtomicU64 = AtomicU64::new(0);
    // Every timer tick and list finds the same damaged payment again; powers of two keep the log readable.
    if FOUND.fetch_add(1, Ordering::Relaxed).saturating_add(1).is_power_of_two() {
        tracing::error!(%error, "unreadable data was left out; restore it from the backup");
    }
}

/// Keeps the readable results and leaves out the others, which must not keep the readable ones waiting. Omitted ones
/// are logged, but not each time, because they are found again and again.
///
/// # Errors
/// The first reason, if nothing could be read.
pub fn readable<T>(found: Vec<Result<T, StoreError>>) -> Result<Vec<T>, StoreError> {
    let mut kept = Vec::with_capacity(found.len());
    let mut why = None;
    for one in found {
        match one {
            Ok(value) => kept.push(value),
            Err(error) => why = Some(error),
        }
    }
    match why {
        // If nothing is readable the store itself is the likelier cause, and an empty answer would hide that.
        Some(error) if kept.is_empty() => Err(error),
        Some(error) => {
            log_unreadable(&error);
            Ok(kept)
        }
        None => Ok(kept),
    }
}

/// Converts a count to the signed number that both stores keep.
pub fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts a limit to the signed number that both stores take.
pub fn signed_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Converts a count from a store. A negative one, which no store writes, becomes zero.
pub fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}
