//! A delivery that was claimed, as the pool and its workers get it.

use std::sync::Arc;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::trace::Span;

use crate::actor::mailbox::Question;

/// Deliver this, which was claimed.
#[derive(Clone)]
pub(crate) struct Deliver {
    pub(crate) payment: Arc<Payment>,
    /// Place in the payment's outbox.
    pub(crate) index: u32,
}

impl Deliver {
    pub(super) fn key(&self) -> Key {
        (self.payment.id, self.index)
    }

    /// Whether the lease still runs. When it is over, the next one to look may claim the delivery.
    pub(super) fn is_ours(&self, now: Timestamp) -> bool {
        let place = usize::try_from(self.index).unwrap_or(usize::MAX);
        let lease_end = self.payment.outbox.get(place).and_then(|delivery| delivery.next_attempt_at);
        lease_end.is_some_and(|end| now < end)
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

/// A delivery: which payment's, and its place in the outbox.
pub(super) type Key = (TransactionId, u32);
