//! Figures of many payments.

use std::collections::BTreeMap;

use async_trait::async_trait;
use quita_domain::figures::{Figure, FiguresFilter, PAID_WITHIN_MS};
use quita_domain::payment::Payment;
use quita_ports::{FiguresStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;

#[async_trait]
impl<C: Connection> FiguresStore for MemoryStore<C> {
    async fn figures(&self, filter: &FiguresFilter) -> Result<Vec<Figure>, StoreError> {
        self.0
            .read("figures", |records| Ok(count(records.payments.values().map(AsRef::as_ref), filter)))
            .await
    }
}

fn count<'a>(payments: impl Iterator<Item = &'a Payment>, filter: &FiguresFilter) -> Vec<Figure> {
    let mut figures = BTreeMap::new();
    for payment in payments.filter(|payment| is_counted(payment, filter)) {
        let method = payment.method();
        let status = payment.status();
        let paid_within = paid_within(payment);
        let new = Figure { method, status, paid_within, count: 0, amount_cents: 0 };
        let figure = figures.entry((method, status, paid_within)).or_insert(new);
        figure.count += 1;
        figure.amount_cents += payment.order.amount.cents();
    }
    figures.into_values().collect()
}

fn is_counted(payment: &Payment, filter: &FiguresFilter) -> bool {
    (&payment.owner.merchant, payment.owner.mode) == (&filter.merchant, filter.mode)
        && payment.created_at >= filter.from
        && payment.created_at < filter.to
}

/// Returns the class of the time until payment, if it was paid.
fn paid_within(payment: &Payment) -> Option<u8> {
    let took_ms = payment.state.paid_at?.ms_since(payment.created_at);
    u8::try_from(PAID_WITHIN_MS.partition_point(|bound| *bound < took_ms)).ok()
}
