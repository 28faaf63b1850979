//! The form in which both stores keep values: BSON, the same bytes in either; the indexed fields of a payment, and the
//! rules that hold in both, the turns of those who list among them.

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
/// [`StoreError::Unreadable`] if it holds a number that BSON has no room for.
pub fn encode(value: &impl ToDocument) -> Result<Vec<u8>, StoreError> {
    Ok(value.to_document()?.into_bytes())
}

/// Reads what [`encode`] wrote. The error names `what` and never shows stored values.
///
/// # Errors
/// [`StoreError::Unreadable`] if somebody else wrote something different.
pub fn decode<T: FromDocument>(bytes: &[u8], what: &str) -> Result<T, StoreError> {
    T::from_document(bytes, what)
}

/// An entry of a list, with what can't be read in its place; that is logged, though not each time.
pub fn listed(read: Result<Payment, StoreError>, place: Cursor) -> Listed {
    read.map_err(|error| {
        log_unreadable(&error);
        Unreadable(place)
    })
}

/// Part of a payment that a replay reads, with its cursor.
pub type PastRead = (Cursor, Result<PastPayment, StoreError>);

/// The page that these make: the last one if there are fewer than were asked for. What can't be read is counted, and logged
/// as in [`listed`].
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
        tracing::error!(%error, "something unreadable is left out; restore it from the backup");
    }
}

/// Keeps what could be read, and leaves out what could not: it must not keep the others waiting. What was left out is
/// logged, though not each time, because it is found again and again.
///
/// # Errors
/// Why nothing could be read, if nothing could.
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

/// A count as the signed number that both stores keep.
pub fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A limit as the signed number that both stores want.
pub fn signed_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A count as a store gives it back; a negative one, which no store makes, is none.
pub fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}
