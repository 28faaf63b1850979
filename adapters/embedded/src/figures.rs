//! Figures of many payments, read from an index that holds everything that is counted.

use std::collections::BTreeMap;

use async_trait::async_trait;
use quita_domain::figures::{Figure, FiguresFilter};
use quita_domain::method::Method;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{FiguresStore, StoreError};
use rusqlite::{Row, Transaction};

use super::EmbeddedStore;
use super::archive::read_both;
use super::failure::Failure;
use quita_stored_form::rules::{paid_within, unknown_word};
use quita_stored_form::turns::Lister;
use quita_stored_form::unsigned;

const OF_PAYMENTS: &str = "SELECT method, status, created_at, paid_at, amount \
    FROM payments INDEXED BY payments_newest \
    WHERE merchant = ?1 AND mode = ?2 AND created_at >= ?3 AND created_at < ?4";

/// Key of one figure.
type Kind = (Method, Status, Option<u8>);

#[async_trait]
impl FiguresStore for EmbeddedStore {
    async fn figures(&self, filter: &FiguresFilter) -> Result<Vec<Figure>, StoreError> {
        let filter = filter.clone();
        let lister = Lister::Merchant(filter.merchant.as_str().into());
        self.list(lister, move |transaction| count(transaction, &filter)).await
    }
}

fn count(transaction: &Transaction<'_>, filter: &FiguresFilter) -> Result<Vec<Figure>, Failure> {
    let bounds = (filter.merchant.as_str(), filter.mode.as_str(), filter.from.millis(), filter.to.millis());
    let mut figures: BTreeMap<Kind, Figure> = BTreeMap::new();
    read_both(transaction, OF_PAYMENTS, bounds, |row| {
        let (method, status, paid_within) = kind(row)?;
        let new = Figure { method, status, paid_within, count: 0, amount_cents: 0 };
        let figure = figures.entry((method, status, paid_within)).or_insert(new);
        figure.count = figure.count.saturating_add(1);
        figure.amount_cents = figure.amount_cents.saturating_add(unsigned(row.get(4)?));
        Ok(())
    })?;
    Ok(figures.into_values().collect())
}

fn kind(row: &Row<'_>) -> Result<Kind, Failure> {
    let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let method = Method::parse(text(0)?).ok_or_else(|| unknown_word("method"))?;
    let status = Status::parse(text(1)?).ok_or_else(|| unknown_word("status"))?;
    let created_at = Timestamp::from_millis(row.get(2)?);
    let paid_at: Option<i64> = row.get(3)?;
    let paid_within = paid_at.map(|at| paid_within(Timestamp::from_millis(at).ms_since(created_at)));
    Ok((method, status, paid_within))
}

#[cfg(test)]
mod tests {
    use super::super::reading::plan;
    use super::*;

    #[test]
    fn no_payment_is_read_to_count_it() {
        plan::check(OF_PAYMENTS, ("loja", "test", 1, 2), "COVERING INDEX payments_newest ");
    }
}
