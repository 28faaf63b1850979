//! Lists as SQL, always along an index whose order is newest first.

use quita_domain::delivery::DeliveryState;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use quita_domain::method::Method;
use quita_domain::status::Status;
use rusqlite::types::Value;

use quita_stored_form::PaymentIndex;
use quita_stored_form::{signed, signed_limit};

use super::page_query::PageQuery;

/// Columns that are read of each payment.
const COLUMNS: &str = "id, created_at, payment";

impl PageQuery {
    /// Begins a query for one merchant's payments in one mode, along this index if one is prescribed.
    fn of(merchant: &MerchantId, mode: Mode, index: Option<&str>) -> Self {
        let index = index.map(|index| format!(" INDEXED BY {index}")).unwrap_or_default();
        // The index is named, because the planner has no statistics to choose by.
        let sql = format!("SELECT {COLUMNS} FROM payments{index} WHERE merchant = ? AND mode = ?");
        Self { sql, values: vec![merchant.as_str().to_owned().into(), mode.as_str().to_owned().into()] }
    }

    /// Adds a condition, if there is a value for it.
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

    fn newest_first(mut self, after: Option<Cursor>, limit: usize) -> Self {
        if let Some(Cursor { created_at, id }) = after {
            let id = id.uuid().as_bytes().to_vec();
            self.and_all("(created_at, id) < (?, ?)", [created_at.millis().into(), id.into()]);
        }
        self.sql.push_str(" ORDER BY created_at DESC, id DESC LIMIT ?");
        self.values.push(signed_limit(limit).into());
        self
    }
}

/// Returns the query for matching payments, newest first.
pub(super) fn of_payments(filter: &PaymentFilter, after: Option<Cursor>, limit: usize) -> PageQuery {
    let Some(index) = index_for(filter) else { return of_kinds(filter, after, limit) };
    let mut query = PageQuery::of(&filter.merchant, filter.mode, Some(index));
    query.and("id = ?", filter.id.map(|id| id.uuid().as_bytes().to_vec()));
    query.and("document = ?", filter.document.clone());
    query.and("email = ?", filter.email.clone());
    query.and("external_reference = ?", filter.external_reference.clone());
    query.and("link = ?", filter.link.map(|link| link.uuid().as_bytes().to_vec()));
    query.and("amount = ?", filter.amount.map(|amount| signed(amount.cents())));
    query.and("method = ?", filter.method.map(|method| method.as_str().to_owned()));
    query.and("created_at >= ?", filter.created_from.map(|at| at.millis()));
    query.and("created_at < ?", filter.created_to.map(|at| at.millis()));
    query.and("due_on >= ?", filter.due_from.map(|day| day.to_string()));
    query.and("due_on <= ?", filter.due_to.map(|day| day.to_string()));
    let statuses = filter.statuses.iter().map(|status| Value::from(status.as_str().to_owned()));
    match filter.statuses.len() {
        _ if has_every_status(filter) => {}
        1 => query.and_all("status = ?", statuses),
        count => query.and_all(&format!("status IN ({})", vec!["?"; count].join(", ")), statuses),
    }
    query.newest_first(after, limit)
}

/// Returns the index to prescribe; `None` if parts of an index are merged.
fn index_for(filter: &PaymentFilter) -> Option<&'static str> {
    match PaymentIndex::of(filter) {
        PaymentIndex::Id => Some("sqlite_autoindex_payments_1"),
        PaymentIndex::Document => Some("payments_by_document"),
        PaymentIndex::Email => Some("payments_by_email"),
        PaymentIndex::ExternalReference => Some("payments_by_external_reference"),
        PaymentIndex::Link => Some("payments_by_link"),
        PaymentIndex::DueDate => Some("payments_by_due_date"),
        PaymentIndex::Amount if has_every_status(filter) => Some("payments_by_amount"),
        PaymentIndex::Kind if has_every_status(filter) && filter.method.is_none() => Some("payments_newest"),
        // The index by kind includes the amount. The index by amount has no status, so that a change of status touches
        // one index less.
        PaymentIndex::Amount | PaymentIndex::Kind => None,
        PaymentIndex::Newest => Some("payments_newest"),
    }
}

fn has_every_status(filter: &PaymentFilter) -> bool {
    filter.statuses.is_empty() || Status::ALL.iter().all(|status| filter.statuses.contains(status))
}

/// Returns the query by status and method. Each combination has an ordered part of the index, and SQLite merges the
/// parts up to the limit. Nothing is sorted, and only shown payments are read, even if no payment matches.
fn of_kinds(filter: &PaymentFilter, after: Option<Cursor>, limit: usize) -> PageQuery {
    let statuses = if filter.statuses.is_empty() { Status::ALL.to_vec() } else { filter.statuses.clone() };
    let methods = filter.method.map_or_else(|| Method::ALL.to_vec(), |method| vec![method]);
    let mut values: Vec<Value> = vec![
        filter.merchant.as_str().to_owned().into(),
        filter.mode.as_str().to_owned().into(),
        signed_limit(limit).into(),
    ];
    let mut more = String::new();
    let mut and = |condition: &str, value: Value| {
        values.push(value);
        more.push_str(&format!(" AND {condition} ?{}", values.len()));
    };
    if let Some(amount) = filter.amount {
        and("amount =", signed(amount.cents()).into());
    }
    if let Some(from) = filter.created_from {
        and("created_at >=", from.millis().into());
    }
    if let Some(to) = filter.created_to {
        and("created_at <", to.millis().into());
    }
    if let Some(from) = filter.due_from {
        and("due_on >=", from.to_string().into());
    }
    if let Some(to) = filter.due_to {
        and("due_on <=", to.to_string().into());
    }
    if let Some(Cursor { created_at, id }) = after {
        values.extend([created_at.millis().into(), id.uuid().as_bytes().to_vec().into()]);
        let last = values.len();
        more.push_str(&format!(" AND (created_at, id) < (?{}, ?{last})", last.saturating_sub(1)));
    }
    let part = |(status, method): (&Status, &Method)| {
        // Both are words from our own code.
        format!(
            "SELECT {COLUMNS} FROM payments INDEXED BY payments_by_kind WHERE merchant = ?1 AND mode = ?2 \
             AND status = '{}' AND method = '{}'{more}",
            status.as_str(),
            method.as_str()
        )
    };
    let kinds = statuses.iter().flat_map(|status| methods.iter().map(move |method| (status, method)));
    let parts: Vec<_> = kinds.map(part).collect();
    let sql = format!("{} ORDER BY created_at DESC, id DESC LIMIT ?3", parts.join(" UNION ALL "));
    PageQuery { sql, values }
}

/// Returns the query for payments that have a matching delivery, newest first.
pub(super) fn of_deliveries(filter: &DeliveryFilter, after: Option<Cursor>, limit: usize) -> PageQuery {
    let wanted = filter.state.map_or(ANY_DELIVERY, delivery_bit);
    match filter.transaction_id {
        Some(id) => {
            let mut query = PageQuery::of(&filter.merchant, filter.mode, None);
            query.and("id = ?", Some(id.uuid().as_bytes().to_vec()));
            query.and("(delivery_states & ?) <> 0", Some(wanted));
            query.newest_first(after, limit)
        }
        None => merged(filter, wanted, after, limit),
    }
}

/// Returns the query by states of deliveries. Each combination of states has an ordered part of the index, and SQLite
/// merges the parts up to the limit. Nothing is sorted, and only shown payments are read.
fn merged(filter: &DeliveryFilter, wanted: i64, after: Option<Cursor>, limit: usize) -> PageQuery {
    let goes_on = if after.is_some() { " AND (created_at, id) < (?4, ?5)" } else { "" };
    let part = |states: i64| {
        // The last condition is spelt as in the partial index, because SQLite uses that index only for the same text.
        format!(
            "SELECT {COLUMNS} FROM payments INDEXED BY payments_by_deliveries WHERE merchant = ?1 AND mode = ?2 \
             AND delivery_states = {states} AND delivery_states <> 0{goes_on}"
        )
    };
    let parts: Vec<_> = (1..=ANY_DELIVERY).filter(|states| states & wanted != 0).map(part).collect();
    let sql = format!("{} ORDER BY created_at DESC, id DESC LIMIT ?3", parts.join(" UNION ALL "));
    let mut values: Vec<Value> = vec![
        filter.merchant.as_str().to_owned().into(),
        filter.mode.as_str().to_owned().into(),
        signed_limit(limit).into(),
    ];
    if let Some(Cursor { created_at, id }) = after {
        values.extend([created_at.millis().into(), id.uuid().as_bytes().to_vec().into()]);
    }
    PageQuery { sql, values }
}

/// Every bit of `delivery_states`.
const ANY_DELIVERY: i64 = 7;

/// Returns the bit of a state in `delivery_states`.
pub(super) const fn delivery_bit(state: DeliveryState) -> i64 {
    match state {
        DeliveryState::Pending => 1,
        DeliveryState::Delivered => 2,
        DeliveryState::Exhausted => 4,
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::TransactionId;
    use quita_domain::money::Money;
    use quita_domain::time::Timestamp;

    use super::super::reading::plan;
    use super::*;

    fn everything() -> PaymentFilter {
        let of_merchant = PaymentFilter::all_of(MerchantId::new("loja"), Mode::Test);
        PaymentFilter { created_from: Some(Timestamp::from_millis(5)), ..of_merchant }
    }

    #[track_caller]
    fn check(query: PageQuery, index: &str) {
        plan::check(&query.sql, rusqlite::params_from_iter(query.values), index);
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
        check(
            PaymentFilter { document: text(), statuses: statuses.clone(), ..everything() },
            "payments_by_document ",
        );
        check(PaymentFilter { email: text(), ..everything() }, "payments_by_email ");
        let link = Some(quita_domain::identity::LinkId::new(uuid::Uuid::nil()));
        check(PaymentFilter { link, ..everything() }, "payments_by_link ");
        check(
            PaymentFilter { external_reference: text(), statuses, ..everything() },
            "payments_by_external_reference ",
        );
    }

    #[test]
    fn an_amount_is_looked_for_along_its_index_unless_something_is_narrower() {
        let of_amount = || PaymentFilter { amount: Some(Money::from_cents(10_000)), ..everything() };
        let id = TransactionId::new(uuid::Uuid::nil());
        let after = Some(Cursor { created_at: Timestamp::from_millis(9), id });
        let check = |filter: PaymentFilter, index: &str| check(of_payments(&filter, after, 10), index);
        let text = || Some(String::from("x"));
        check(of_amount(), "payments_by_amount ");
        check(PaymentFilter { method: Some(Method::Pix), ..of_amount() }, "payments_by_amount ");
        check(PaymentFilter { statuses: Status::ALL.to_vec(), ..of_amount() }, "payments_by_amount ");
        check(PaymentFilter { document: text(), ..of_amount() }, "payments_by_document ");
        check(PaymentFilter { email: text(), ..of_amount() }, "payments_by_email ");
        check(PaymentFilter { external_reference: text(), ..of_amount() }, "payments_by_external_reference ");
        let statuses = vec![Status::Paid];
        let everything = PaymentFilter { id: Some(id), document: text(), statuses, ..of_amount() };
        check(everything, "sqlite_autoindex_payments_1 (id=?)");
    }

    #[test]
    fn lists_by_status_and_method_merge_parts_of_their_index_and_never_sort() {
        let id = TransactionId::new(uuid::Uuid::nil());
        let after = Some(Cursor { created_at: Timestamp::from_millis(9), id });
        let several = vec![Status::Refund, Status::Chargeback];
        let all = Status::ALL.to_vec();
        let amount = Some(Money::from_cents(10_000));
        let to = Some(Timestamp::from_millis(99));
        for (statuses, method, amount, created_to, parts) in [
            (vec![Status::Paid], Some(Method::Pix), None, None, 1),
            (vec![Status::Paid], None, None, None, 3),
            (several.clone(), Some(Method::Boleto), None, to, 2),
            (several.clone(), None, None, to, 6),
            (several, None, amount, None, 6),
            (Vec::new(), Some(Method::CreditCard), None, None, 9),
            (all, Some(Method::CreditCard), None, to, 9),
        ] {
            let filter = PaymentFilter { statuses, method, amount, created_to, ..everything() };
            for after in [None, after] {
                let PageQuery { sql, values } = of_payments(&filter, after, 10);
                let index = "USING INDEX payments_by_kind (merchant=? AND mode=? AND status=? AND method=?";
                plan::check_merged(&sql, rusqlite::params_from_iter(values), index, parts);
            }
        }
    }

    #[test]
    fn lists_of_deliveries_merge_parts_of_their_index_and_never_sort() {
        let id = TransactionId::new(uuid::Uuid::nil());
        let after = Some(Cursor { created_at: Timestamp::from_millis(9), id });
        let filter = |state, transaction_id| DeliveryFilter {
            merchant: MerchantId::new("loja"),
            mode: Mode::Test,
            transaction_id,
            state,
        };
        for (state, parts) in [None].into_iter().chain(DeliveryState::ALL.map(Some)).zip([7, 4, 4, 4]) {
            for after in [None, after] {
                let PageQuery { sql, values } = of_deliveries(&filter(state, None), after, 10);
                let index = "USING INDEX payments_by_deliveries (merchant=? AND mode=? AND delivery_states=?";
                plan::check_merged(&sql, rusqlite::params_from_iter(values), index, parts);
                check(
                    of_deliveries(&filter(state, Some(id)), after, 10),
                    "sqlite_autoindex_payments_1 (id=?)",
                );
            }
        }
    }
}
