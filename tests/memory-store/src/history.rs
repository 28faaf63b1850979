//! Every payment, reduced to the fields that a replay needs.

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::routing::PastPayment;
use quita_ports::{HistoryStore, PastFilter, PastPage, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{Records, first_by};

type Payee = (MerchantId, Mode);

#[async_trait]
impl<C: Connection> HistoryStore for MemoryStore<C> {
    async fn next_payee(&self, after: Option<&Payee>) -> Result<Option<Payee>, StoreError> {
        self.0
            .read("next_payee", |records| {
                let names = |(merchant, mode): &Payee| (merchant.as_str().to_owned(), mode.as_str());
                let payees = records.payments.values();
                let payees = payees.map(|payment| (payment.owner.merchant.clone(), payment.owner.mode));
                let is_after = |payee: &Payee| after.is_none_or(|after| names(payee) > names(after));
                Ok(payees.filter(is_after).min_by_key(names))
            })
            .await
    }

    async fn past_payments(
        &self,
        filter: &PastFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<PastPage, StoreError> {
        self.0.read("past_payments", |records| Ok(page(records, filter, after, limit))).await
    }
}

fn page(records: &Records, filter: &PastFilter, after: Option<Cursor>, limit: usize) -> PastPage {
    let place = |payment: &Payment| (payment.created_at, payment.id);
    let is_wanted = |payment: &&Payment| {
        (&payment.owner.merchant, payment.owner.mode) == (&filter.merchant, filter.mode)
            && payment.created_at >= filter.since
            && after.is_none_or(|after| place(payment) > (after.created_at, after.id))
    };
    let found = first_by(records.payments.values().map(AsRef::as_ref).filter(is_wanted), place, limit);
    let next = found.last().filter(|_| found.len() == limit);
    let next = next.map(|last| Cursor { created_at: last.created_at, id: last.id });
    let readable = found.iter().filter(|payment| !records.unreadable.contains(&payment.id));
    let payments: Vec<_> = readable.map(PastPayment::of).collect();
    PastPage { unreadable: found.len() - payments.len(), payments, next }
}
