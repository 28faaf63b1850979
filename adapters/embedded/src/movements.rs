//! Payments with refunds and disputes, in a table of their own. It only has movements back to payers, so the write of
//! any other payment costs nothing more.

use quita_domain::identity::TransactionId;
use quita_domain::listing::{Cursor, MovementFilter, Movements};
use quita_domain::payment::{DisputeStatus, Payment};
use quita_domain::state::RefundStatus;
use quita_domain::time::Timestamp;
use quita_ports::StoreError;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Transaction, params_from_iter};
use uuid::Uuid;

use super::failure::Failure;
use super::page_query::PageQuery;
use super::transaction::{self, Failed};
use quita_stored_form::{decode, signed_limit};

const ADD: &str = "INSERT INTO movements (merchant, mode, status, created_at, payment) VALUES (?1, ?2, ?3, ?4, ?5) \
    ON CONFLICT DO NOTHING";
const REMOVE: &str = "DELETE FROM movements \
    WHERE merchant = ?1 AND mode = ?2 AND status = ?3 AND created_at = ?4 AND payment = ?5";

/// Returns the number of a refund's status in the table.
const fn refund_code(status: RefundStatus) -> i64 {
    match status {
        RefundStatus::Processing => 1,
        RefundStatus::Succeeded => 2,
        RefundStatus::Failed => 3,
    }
}

/// Returns the number of a dispute's status in the table.
const fn dispute_code(status: DisputeStatus) -> i64 {
    match status {
        DisputeStatus::Open => 4,
        DisputeStatus::Won => 5,
    }
}

/// Brings the table up to date with a payment that was written in this transaction.
pub(super) fn index(transaction: &Transaction<'_>, payment: &Payment) -> rusqlite::Result<()> {
    let refunds = &payment.state.refunds;
    let chargebacks = &payment.chargebacks;
    // A payment never loses a refund or a dispute, so a payment without them has no row to remove.
    if !refunds.is_empty() {
        for status in RefundStatus::ALL {
            let is_held = refunds.iter().any(|refund| refund.status == status);
            put(transaction, payment, refund_code(status), is_held)?;
        }
    }
    if !chargebacks.is_empty() {
        for status in DisputeStatus::ALL {
            let is_held = chargebacks.iter().any(|chargeback| chargeback.status() == status);
            put(transaction, payment, dispute_code(status), is_held)?;
        }
    }
    Ok(())
}

fn put(transaction: &Transaction<'_>, payment: &Payment, status: i64, is_held: bool) -> rusqlite::Result<()> {
    let owner = &payment.owner;
    let created_at = payment.created_at.millis();
    let id = payment.id.uuid();
    let row = (owner.merchant.as_str(), owner.mode.as_str(), status, created_at, id.as_bytes());
    transaction.prepare_cached(if is_held { ADD } else { REMOVE })?.execute(row).map(drop)
}

/// Returns the query of a page. Each status has an ordered part of the table. SQLite merges the parts up to the limit,
/// and a payment that is in several parts appears once.
pub(super) fn page_of(filter: &MovementFilter, after: Option<Cursor>, limit: usize) -> PageQuery {
    let mut values: Vec<Value> = vec![
        filter.merchant.as_str().to_owned().into(),
        filter.mode.as_str().to_owned().into(),
        signed_limit(limit).into(),
    ];
    let mut more = String::new();
    for (condition, at) in [("created_at >=", filter.created_from), ("created_at <", filter.created_to)] {
        if let Some(at) = at {
            values.push(at.millis().into());
            more.push_str(&format!(" AND {condition} ?{}", values.len()));
        }
    }
    if let Some(Cursor { created_at, id }) = after {
        values.extend([created_at.millis().into(), id.uuid().as_bytes().to_vec().into()]);
        let last = values.len();
        more.push_str(&format!(" AND (created_at, payment) < (?{}, ?{last})", last.saturating_sub(1)));
    }
    let part = |status: i64| {
        format!(
            "SELECT created_at, payment FROM movements \
             WHERE merchant = ?1 AND mode = ?2 AND status = {status}{more}"
        )
    };
    let parts: Vec<_> = codes(&filter.movements).into_iter().map(part).collect();
    let sql = format!("{} ORDER BY created_at DESC, payment DESC LIMIT ?3", parts.join(" UNION "));
    PageQuery { sql, values }
}

/// Returns the numbers of the statuses that match.
fn codes(movements: &Movements) -> Vec<i64> {
    let refunds = RefundStatus::ALL.into_iter().filter(|status| movements.have_refund(*status));
    let disputes = DisputeStatus::ALL.into_iter().filter(|status| movements.have_dispute(*status));
    refunds.map(refund_code).chain(disputes.map(dispute_code)).collect()
}

/// Returns the places of the payments of a page, newest first.
pub(super) fn places(transaction: &Transaction<'_>, page: &PageQuery) -> Result<Vec<Cursor>, Failure> {
    let mut statement = transaction.prepare_cached(&page.sql)?;
    let rows = statement.query_map(params_from_iter(&page.values), |row| {
        let id = TransactionId::new(Uuid::from_bytes(row.get(1)?));
        Ok(Cursor { created_at: Timestamp::from_millis(row.get(0)?), id })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Rowids that one transaction examines, few enough that other processes need not wait long to write.
const STEP: i64 = 1_000;

const PROGRESS: &str = "SELECT up_to, until FROM movements_progress WHERE id = 1";
const BEGIN: &str = "INSERT INTO movements_progress (id, up_to, until) \
    SELECT 1, 0, coalesce(max(rowid), 0) FROM payments";
const ADVANCE: &str = "UPDATE movements_progress SET up_to = ?1 WHERE id = 1";

/// Payments of a step whose document has a field `refunds` or `chargebacks`. They are few, and the others need not be
/// decoded.
const OF_STEP: &str = "SELECT id, payment FROM payments WHERE rowid > ?1 AND rowid <= ?2 \
    AND (instr(payment, x'04726566756E647300') > 0 OR instr(payment, x'046368617267656261636B7300') > 0)";

/// Indexes the payments that an earlier version wrote, once for each file. Continues where it was interrupted.
///
/// # Errors
/// The reason why the file can't be written, unless it may be temporary.
pub(super) fn index_earlier(writer: &mut Connection) -> Result<(), StoreError> {
    loop {
        match transaction::run(writer, index_step) {
            Ok(Step::More) => {}
            Ok(Step::Last) => return Ok(()),
            // Payments can still be served. The next start continues.
            Err(Failed::Undone(error @ (StoreError::Unavailable(_) | StoreError::Full(_)))) => {
                tracing::warn!(%error, "earlier refunds and disputes are missing from the lists until the next start");
                return Ok(());
            }
            Err(failed) => return Err(failed.into()),
        }
    }
}

/// Remaining work after a step.
enum Step {
    More,
    Last,
}

fn index_step(transaction: &Transaction<'_>) -> Result<Step, Failure> {
    let progress = transaction.query_row(PROGRESS, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((from, until)): Option<(i64, i64)> = progress else {
        transaction.execute(BEGIN, [])?;
        return Ok(Step::More);
    };
    if from >= until {
        return Ok(Step::Last);
    }
    let to = from.saturating_add(STEP).min(until);
    let mut statement = transaction.prepare_cached(OF_STEP)?;
    let mut rows = statement.query((from, to))?;
    while let Some(row) = rows.next()? {
        let (id, document): ([u8; 16], Vec<u8>) = (row.get(0)?, row.get(1)?);
        // The list of payments reports unreadable ones. They have no status to be listed by.
        if let Ok(payment) = decode::<Payment>(&document, &format!("payment {}", Uuid::from_bytes(id))) {
            index(transaction, &payment)?;
        }
    }
    // Progress and rows are written in one transaction, so an interrupted start continues without a gap.
    transaction.execute(ADVANCE, [to])?;
    Ok(Step::More)
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::{MerchantId, Mode};

    use super::super::reading::plan;
    use super::*;

    fn filter(movements: Movements) -> MovementFilter {
        MovementFilter {
            merchant: MerchantId::new("loja"),
            mode: Mode::Test,
            movements,
            created_from: Some(Timestamp::from_millis(5)),
            created_to: Some(Timestamp::from_millis(99)),
        }
    }

    #[test]
    fn lists_of_refunds_and_disputes_merge_parts_of_their_table_and_never_sort() {
        let id = TransactionId::new(Uuid::nil());
        let after = Some(Cursor { created_at: Timestamp::from_millis(9), id });
        let index =
            "USING PRIMARY KEY (merchant=? AND mode=? AND status=? AND created_at>? AND created_at<?)";
        for (movements, parts) in [
            (Movements::Refunds(vec![]), 3),
            (Movements::Refunds(vec![RefundStatus::Processing, RefundStatus::Failed]), 2),
            (Movements::Disputes(vec![]), 2),
        ] {
            for after in [None, after] {
                let PageQuery { sql, values } = page_of(&filter(movements.clone()), after, 10);
                plan::check_merged(&sql, params_from_iter(values), index, parts);
            }
        }
        let one = filter(Movements::Disputes(vec![DisputeStatus::Won]));
        for after in [None, after] {
            let PageQuery { sql, values } = page_of(&one, after, 10);
            plan::check(&sql, params_from_iter(values), index);
        }
    }
}
