//! A claimed delivery, as the pool and its workers receive it.

use std::sync::Arc;

use quita_domain::delivery::Lease;
use quita_domain::numbering::DeliveryIndex;
use quita_domain::order::Order;
use quita_domain::payment::Payment;
use quita_ports::trace::Span;

use crate::actor::mailbox::Question;

/// Approximate bytes of an event, apart from the merchant's own text in the payment.
const EVENT_BYTES: usize = 2_048;

/// Approximate bytes of an item or a note, apart from its text.
const ENTRY_BYTES: usize = 64;

/// Delivers this claimed delivery.
#[derive(Clone)]
pub(crate) struct Deliver {
    pub(crate) payment: Arc<Payment>,
    /// Index in the payment's outbox.
    pub(crate) index: DeliveryIndex,
    /// The claim, if there is one.
    pub(super) lease: Option<Lease>,
}

impl Deliver {
    /// Returns a delivery that the payment's last write claimed.
    pub(crate) fn claimed(payment: &Arc<Payment>, index: DeliveryIndex) -> Self {
        let ends_at = payment.delivery(index).and_then(|delivery| delivery.next_attempt_at);
        let lease = ends_at.map(|ends_at| Lease { delivery: index, ends_at });
        Self { payment: Arc::clone(payment), index, lease }
    }

    /// Returns a delivery that is sent under the claim of the previous one.
    pub(crate) fn under(payment: &Arc<Payment>, lease: Lease) -> Self {
        Self { payment: Arc::clone(payment), index: lease.delivery, lease: Some(lease) }
    }
}

impl Question for Deliver {
    type Answer = ();
    const NAME: &'static str = "deliver";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.payment.id);
        span.record("delivery", self.index.get());
    }
}

/// Returns the approximate bytes of an event of a payment.
pub(super) fn weight_of(payment: &Payment) -> usize {
    let Order { items, metadata, .. } = payment.order.as_ref();
    let items = items.iter().map(|item| item.name.len().saturating_add(ENTRY_BYTES));
    let notes =
        metadata.iter().map(|(name, note)| name.len().saturating_add(note.len()).saturating_add(ENTRY_BYTES));
    items.chain(notes).fold(EVENT_BYTES, usize::saturating_add)
}
