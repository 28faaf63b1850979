//! Payments, and the store as a whole.

use async_trait::async_trait;
use quita_domain::card::CardFingerprint;
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::routing::CardTries;
use quita_domain::time::Timestamp;
use quita_ports::{
    Backlog, DueDelivery, Listed, OutboxPlace, PaymentStore, Store, StoreError, Unreadable, Write, WriteError,
};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{Records, last_by};

#[async_trait]
impl<C: Connection> PaymentStore for MemoryStore<C> {
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.0.commit(batch).await
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.0.load(ids).await
    }

    async fn load_missing(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.0.load_missing(ids).await
    }

    async fn list(
        &self,
        filter: &PaymentFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let shows = |payment: &Payment| is_listed(payment, filter);
        self.0.read("list", |records| Ok(page(records, shows, after, limit))).await
    }

    async fn list_with_deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let shows = |payment: &Payment| has_delivery(payment, filter);
        self.0.read("list_with_deliveries", |records| Ok(page(records, shows, after, limit))).await
    }

    async fn list_with_movements(
        &self,
        filter: &MovementFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let shows = |payment: &Payment| has_movement(payment, filter);
        self.0.read("list_with_movements", |records| Ok(page(records, shows, after, limit))).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        self.0.read("due", |records| Ok(due(records, now, limit))).await
    }

    async fn outbox_due(
        &self,
        after: Option<OutboxPlace>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueDelivery>, StoreError> {
        self.0.read("outbox_due", |records| Ok(outbox_due(records, after, now, limit))).await
    }

    async fn card_tries(&self, card: &CardFingerprint, now: Timestamp) -> Result<CardTries, StoreError> {
        let is_by_card = |payment: &&Payment| payment.card_fingerprint.as_ref() == Some(card);
        let count = |records: &Records| {
            CardTries::of(records.payments.values().map(AsRef::as_ref).filter(is_by_card), now)
        };
        self.0.read("card_tries", |records| Ok(count(records))).await
    }

    async fn payment_of_pix(&self, mode: Mode, pix: &str) -> Result<Option<TransactionId>, StoreError> {
        self.0.read("payment_of_pix", |records| Ok(records.payment_of_pix(mode, pix))).await
    }
}

#[async_trait]
impl<C: Connection> Store for MemoryStore<C> {
    async fn ping(&self) -> Result<(), StoreError> {
        self.0.read("ping", |_| Ok(())).await
    }

    async fn backlog(&self, now: Timestamp, limit: u32) -> Result<Backlog, StoreError> {
        self.0.read("backlog", |records| Ok(backlog(records, now, limit.into()))).await
    }

    fn is_sole_writer(&self) -> bool {
        self.0.is_sole_writer()
    }
}

fn page(
    records: &Records,
    shows: impl Fn(&Payment) -> bool,
    after: Option<Cursor>,
    limit: usize,
) -> Vec<Listed> {
    let place = |payment: &Payment| (payment.created_at, payment.id);
    let is_after = |payment: &Payment| after.is_none_or(|last| place(payment) < (last.created_at, last.id));
    let found = records.payments.values().map(AsRef::as_ref);
    let found = last_by(found.filter(|payment| is_after(payment) && shows(payment)), place, limit);
    let listed = |payment: Payment| {
        let place = Cursor { created_at: payment.created_at, id: payment.id };
        if records.unreadable.contains(&payment.id) { Err(Unreadable(place)) } else { Ok(payment) }
    };
    found.into_iter().map(listed).collect()
}

fn is_listed(payment: &Payment, filter: &PaymentFilter) -> bool {
    let (order, payer) = (&payment.order, &payment.order.payer);
    (&payment.owner.merchant, payment.owner.mode) == (&filter.merchant, filter.mode)
        && (filter.statuses.is_empty() || filter.statuses.contains(&payment.status()))
        && filter.method.is_none_or(|method| order.method == method)
        && (!payment.is_erased() || filter.document.is_none() && filter.email.is_none())
        && filter.document.as_ref().is_none_or(|document| payer.document.as_str() == document)
        && filter.email.as_ref().is_none_or(|email| payer.email == *email)
        && (filter.external_reference.is_none() || order.external_reference == filter.external_reference)
        && (filter.link.is_none() || payment.link == filter.link)
        && filter.id.is_none_or(|id| payment.id == id)
        && filter.amount.is_none_or(|amount| order.amount == amount)
        && filter.created_from.is_none_or(|from| payment.created_at >= from)
        && filter.created_to.is_none_or(|to| payment.created_at < to)
        && (!filter.has_due_date() || order.terms.due().is_some_and(|due| is_due_in(due, filter)))
}

fn is_due_in(due: &DueTerms, filter: &PaymentFilter) -> bool {
    filter.due_from.is_none_or(|from| due.due_date >= from)
        && filter.due_to.is_none_or(|to| due.due_date <= to)
}

fn has_delivery(payment: &Payment, filter: &DeliveryFilter) -> bool {
    (&payment.owner.merchant, payment.owner.mode) == (&filter.merchant, filter.mode)
        && filter.transaction_id.is_none_or(|id| payment.id == id)
        && payment.outbox.iter().any(|delivery| filter.state.is_none_or(|state| delivery.state == state))
}

fn has_movement(payment: &Payment, filter: &MovementFilter) -> bool {
    let refunds = &payment.state.refunds;
    let chargebacks = &payment.chargebacks;
    (&payment.owner.merchant, payment.owner.mode) == (&filter.merchant, filter.mode)
        && filter.is_in_period(payment.created_at)
        && (refunds.iter().any(|refund| filter.movements.have_refund(refund.status))
            || chargebacks.iter().any(|chargeback| filter.movements.have_dispute(chargeback.status())))
}

fn outbox_due(
    records: &Records,
    after: Option<OutboxPlace>,
    now: Timestamp,
    limit: usize,
) -> Vec<DueDelivery> {
    let waiting = records.payments.values().filter_map(|payment| {
        let place = OutboxPlace { at: payment.outbox_at()?, id: payment.id };
        Some(DueDelivery { place, receiver: payment.receiver()? })
    });
    let is_after = |place| after.is_none_or(|after| place > after);
    let mut due: Vec<_> = waiting.filter(|due| due.place.at <= now && is_after(due.place)).collect();
    due.sort_unstable_by_key(|due| due.place);
    due.truncate(limit);
    due
}

fn due(records: &Records, now: Timestamp, limit: usize) -> Vec<TransactionId> {
    let timed = records.payments.values().filter_map(|payment| Some((payment.due_at()?, payment.id)));
    let mut due: Vec<_> = timed.filter(|(at, _)| *at <= now).collect();
    due.sort_unstable();
    due.into_iter().take(limit).map(|(_, id)| id).collect()
}

fn backlog(records: &Records, now: Timestamp, limit: u64) -> Backlog {
    let mut backlog = Backlog::default();
    for payment in records.payments.values() {
        backlog.webhooks += u64::from(payment.outbox_at().is_some());
        backlog.due += u64::from(payment.due_at().is_some_and(|at| at <= now));
    }
    let inbox: u64 = records.notices.values().map(|stored| u64::from(!stored.is_done)).sum();
    Backlog { webhooks: backlog.webhooks.min(limit), due: backlog.due.min(limit), inbox: inbox.min(limit) }
}
