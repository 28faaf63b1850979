//! A delivery that was claimed, as the pool and its workers get it.

use std::sync::Arc;

use quita_domain::delivery::Lease;
use quita_domain::order::Order;
use quita_domain::payment::Payment;
use quita_ports::trace::Span;

use crate::actor::mailbox::Question;

/// Bytes of an event besides what the merchant wrote into its payment, about.
const EVENT_BYTES: usize = 2_048;

/// Bytes of an item or a note besides its text, about.
const ENTRY_BYTES: usize = 64;

/// Deliver this, which was claimed.
#[derive(Clone)]
pub(crate) struct Deliver {
    pub(crate) payment: Arc<Payment>,
    /// Place in the payment's outbox.
    pub(crate) index: u32,
}

impl Deliver {
    /// The claim, if there is one.
    pub(super) fn lease(&self) -> Option<Lease> {
        let place = usize::try_from(self.index).unwrap_or(usize::MAX);
        let ends_at = self.payment.outbox.get(place)?.next_attempt_at?;
        Some(Lease { delivery: self.index, ends_at })
    }
}

impl Question for Deliver {
    type Answer = ();
    const NAME: &'static str = "deliver";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.payment.id);
        span.record("delivery", self.index);
    }
}

/// How many bytes an event of a payment has, about.
pub(super) fn weight_of(payment: &Payment) -> usize {
    let Order { items, metadata, .. } = payment.order.as_ref();
    let items = items.iter().map(|item| item.name.len().saturating_add(ENTRY_BYTES));
    let notes =
        metadata.iter().map(|(name, note)| name.len().saturating_add(note.len()).saturating_add(ENTRY_BYTES));
    items.chain(notes).fold(EVENT_BYTES, usize::saturating_add)
}
