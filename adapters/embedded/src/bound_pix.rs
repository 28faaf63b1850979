//! Pix that belong to payments, in a table of their own. Each Pix is inserted only once, so all other writes cost
//! nothing more.

use quita_domain::identity::{Mode, TransactionId};
use quita_domain::payment::Payment;
use rusqlite::{OptionalExtension, Transaction};
use uuid::Uuid;

const HOLDER: &str = "SELECT payment FROM bound_pix WHERE mode = ?1 AND pix = ?2";
const BIND: &str = "INSERT INTO bound_pix (mode, pix, payment) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";

/// Returns the payment that a Pix belongs to.
pub(super) fn holder(
    transaction: &Transaction<'_>,
    mode: Mode,
    pix: &str,
) -> rusqlite::Result<Option<TransactionId>> {
    let mut statement = transaction.prepare_cached(HOLDER)?;
    let found =
        statement.query_row((mode.as_str(), pix), |row| row.get(0).map(Uuid::from_bytes)).optional()?;
    Ok(found.map(TransactionId::new))
}

/// Returns true if a Pix of this payment belongs to another one.
pub(super) fn is_taken(transaction: &Transaction<'_>, payment: &Payment) -> rusqlite::Result<bool> {
    for pix in &payment.bound_pix {
        if holder(transaction, payment.owner.mode, pix)?.is_some_and(|holder| holder != payment.id) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Binds those Pix of a payment that belong to no other one. The payment was written in this transaction.
pub(super) fn bind(transaction: &Transaction<'_>, payment: &Payment) -> rusqlite::Result<()> {
    let mode = payment.owner.mode.as_str();
    let id = payment.id.uuid();
    for pix in &payment.bound_pix {
        // Each write of the payment arrives here with all its Pix; those that it already has are no conflict.
        transaction.prepare_cached(BIND)?.execute((mode, pix, id.as_bytes()))?;
    }
    Ok(())
}
