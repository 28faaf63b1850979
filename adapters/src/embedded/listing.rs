//! Lists as SQL: always along an index that yields the newest first.

use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use rusqlite::types::Value;

use super::payments::delivery_bit;
use crate::stored_form::signed_limit;

/// A query that grows by conditions.
struct Query {
    sql: String,
    values: Vec<Value>,
}

impl Query {
    /// One merchant's payments in one mode: id and document.
    fn of(merchant: &MerchantId, mode: Mode) -> Self {
        let sql = String::from("SELECT id, payment FROM payments WHERE merchant = ? AND mode = ?");
        Self { sql, values: vec![merchant.as_str().to_owned().into(), mode.as_str().to_owned().into()] }
    }

    /// One more condition, if there is a value for it.
    fn and(&mut self, condition: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.and_all(condition, [value.into()]);
        }
    }

    fn and_all(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.values.extend(values);
    }

    fn newest_first(mut self, after: Option<Cursor>, limit: usize) -> (String, Vec<Value>) {
        if let Some(Cursor { created_at, id }) = after {
            let id = id.uuid().as_bytes().to_vec();
            self.and_all("(created_at, id) < (?, ?)", [created_at.millis().into(), id.into()]);
        }
        self.sql.push_str(" ORDER BY created_at DESC, id DESC LIMIT ?");
        self.values.push(signed_limit(limit).into());
        (self.sql, self.values)
    }
}

/// Payments that match, newest first.
pub(super) fn of_payments(
    filter: &PaymentFilter,
    after: Option<Cursor>,
    limit: usize,
) -> (String, Vec<Value>) {
    let mut query = Query::of(&filter.merchant, filter.mode);
    query.and("document = ?", filter.document.clone());
    query.and("email = ?", filter.email.clone());
    query.and("external_reference = ?", filter.external_reference.clone());
    query.and("method = ?", filter.method.map(|method| method.as_str().to_owned()));
    query.and("created_at >= ?", filter.created_from.map(|at| at.millis()));
    query.and("created_at < ?", filter.created_to.map(|at| at.millis()));
    add_statuses(&mut query, filter);
    query.newest_first(after, limit)
}

/// The index by status is right for one status alone: several would have to be sorted, and a payer has few
/// payments. The plus keeps SQLite from taking it then.
fn add_statuses(query: &mut Query, filter: &PaymentFilter) {
    let names = filter.statuses.iter().map(|status| Value::from(status.as_str().to_owned()));
    let is_narrow =
        filter.document.is_some() || filter.email.is_some() || filter.external_reference.is_some();
    match filter.statuses.len() {
        0 => {}
        1 if !is_narrow => query.and_all("status = ?", names),
        count => query.and_all(&format!("+status IN ({})", vec!["?"; count].join(", ")), names),
    }
}

/// Payments that hold a delivery that matches, newest first.
pub(super) fn of_deliveries(
    filter: &DeliveryFilter,
    after: Option<Cursor>,
    limit: usize,
) -> (String, Vec<Value>) {
    let mut query = Query::of(&filter.merchant, filter.mode);
    query.and("id = ?", filter.transaction_id.map(|id| id.uuid().as_bytes().to_vec()));
    // Spelt as in the partial indexes, which are only taken for the same words.
    let has_state = filter.state.map_or_else(
        || String::from("delivery_states <> 0"),
        |state| format!("(delivery_states & {}) <> 0", delivery_bit(state)),
    );
    query.and_all(&has_state, []);
    query.newest_first(after, limit)
}

#[cfg(test)]
mod tests {
    use quita_domain::delivery::DeliveryState;
    use quita_domain::identity::TransactionId;
    use quita_domain::status::Status;
    use quita_domain::time::Timestamp;

    use super::*;

    fn everything() -> PaymentFilter {
        PaymentFilter {
            merchant: MerchantId::new("loja"),
            mode: Mode::Test,
            statuses: Vec::new(),
            method: None,
            document: None,
            email: None,
            external_reference: None,
            id: None,
            amount: None,
            created_from: Some(Timestamp::from_millis(5)),
            created_to: None,
        }
    }

    /// The query must walk this index, and neither sort nor read the whole table.
    fn check((sql, values): (String, Vec<Value>), index: &str) {
        let folder = tempfile::tempdir().unwrap();
        let connection = super::super::open::writer(&folder.path().join("quita.db")).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map(rusqlite::params_from_iter(values), |row| row.get(3)).unwrap();
        let plan: Vec<String> = rows.map(Result::unwrap).collect();
        assert_eq!(plan.len(), 1, "{sql}: {plan:?}");
        assert!(plan[0].starts_with("SEARCH") && plan[0].contains(index), "{sql}: {plan:?}");
    }

    #[test]
    fn lists_walk_an_index_and_never_sort() {
        let after =
            Some(Cursor { created_at: Timestamp::from_millis(9), id: TransactionId::new(uuid::Uuid::nil()) });
        let check = |filter: PaymentFilter, index: &str| check(of_payments(&filter, after, 10), index);
        let text = || Some(String::from("x"));
        let statuses = vec![Status::Paid];
        check(everything(), "payments_newest ");
        check(PaymentFilter { statuses: Status::ALL.to_vec(), ..everything() }, "payments_newest ");
        check(PaymentFilter { statuses: statuses.clone(), ..everything() }, "payments_by_status ");
        check(
            PaymentFilter { document: text(), statuses: statuses.clone(), ..everything() },
            "payments_by_document ",
        );
        check(PaymentFilter { email: text(), ..everything() }, "payments_by_email ");
        check(
            PaymentFilter { external_reference: text(), statuses, ..everything() },
            "payments_by_external_reference ",
        );
    }

    #[test]
    fn deliveries_that_are_rare_have_an_index_of_their_own() {
        let filter = |state| DeliveryFilter {
            merchant: MerchantId::new("loja"),
            mode: Mode::Test,
            transaction_id: None,
            state,
        };
        let check = |state, index| check(of_deliveries(&filter(state), None, 10), index);
        check(None, "payments_newest ");
        check(Some(DeliveryState::Delivered), "payments_newest ");
        check(Some(DeliveryState::Pending), "payments_undelivered ");
        check(Some(DeliveryState::Exhausted), "payments_exhausted ");
    }
}
