//! Selection of the events that one click redelivers, and its outcome.

use std::ops::ControlFlow;

use quita_actors::Denied;
use quita_domain::delivery::DeliveryState;
use quita_domain::identity::{Owner, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter};
use quita_domain::numbering::DeliveryIndex;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_domain::webhook::address::receiver_of;
use quita_ports::place_of;

use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;

/// Maximum number of events redelivered by one click.
pub(super) const MOST_AT_ONCE: usize = 1_000;
/// Payments per read, and maximum number of reads per click.
const READ: usize = 200;
const READS: usize = 50;

/// Selection of exhausted events to redeliver.
pub(super) struct Chosen {
    pub(super) owner: Owner,
    pub(super) since: Timestamp,
    /// Receiver to redeliver to; every receiver if absent.
    pub(super) receiver: Option<String>,
}

impl Chosen {
    /// Redelivers the selected events, newest payments first, starting after this cursor.
    pub(super) async fn redeliver(
        &self,
        console: &MerchantConsole,
        after: Option<Cursor>,
    ) -> Result<Redelivered, PageError> {
        let Owner { merchant, mode, .. } = self.owner.clone();
        let state = Some(DeliveryState::Exhausted);
        let filter = DeliveryFilter { merchant, mode, transaction_id: None, state };
        let mut done = Redelivered { count: 0, after, has_more: true, denied: None };
        for _ in 0..READS {
            let payments = match console.edge.payments.list_with_deliveries(&filter, done.after, READ).await {
                Ok(payments) => payments,
                Err(denied) if done.count == 0 => return Err(denied.into()),
                // The redeliveries so far are reported; the next click continues after them.
                Err(_) => return Ok(done),
            };
            for listed in &payments {
                if done.count >= MOST_AT_ONCE {
                    return Ok(done);
                }
                // An unreadable payment is skipped: it must not block the click.
                if let Ok(payment) = listed
                    && self.redeliver_of(payment, console, &mut done).await.is_break()
                {
                    return Ok(done);
                }
                // Advanced only past a complete payment. If a payment was interrupted, `given_up` skips its deliveries
                // that were already redelivered.
                done.after = Some(place_of(listed));
            }
            if payments.len() < READ {
                done.has_more = false;
                return Ok(done);
            }
        }
        Ok(done)
    }

    async fn redeliver_of(
        &self,
        payment: &Payment,
        console: &MerchantConsole,
        done: &mut Redelivered,
    ) -> ControlFlow<()> {
        if !self.is_to_receiver(payment) {
            return ControlFlow::Continue(());
        }
        for index in given_up(payment, self.since) {
            let answer = console.edge.payments.redeliver(payment.id, self.owner.clone(), index).await;
            done.take(payment.id, answer.map(drop))?;
        }
        ControlFlow::Continue(())
    }

    fn is_to_receiver(&self, payment: &Payment) -> bool {
        let Some(wanted) = &self.receiver else { return true };
        payment.order.postback_url.as_deref().is_some_and(|url| receiver_of(url) == *wanted)
    }

    /// Summarises a click for the audit log.
    pub(super) fn audit_summary(&self, done: &Redelivered) -> String {
        let receiver = self.receiver.as_ref().map(|receiver| format!(" to {receiver}")).unwrap_or_default();
        let is_unknown = done.denied.as_ref().is_some_and(Denied::is_transient);
        let unknown = if is_unknown { ", outcome unknown of one more" } else { "" };
        format!("{} since {}{receiver}{unknown}", done.count, self.since)
    }
}

/// Outcome of one click.
pub(super) struct Redelivered {
    pub(super) count: usize,
    /// Cursor at which the click ended.
    pub(super) after: Option<Cursor>,
    /// True if there may be more after the cursor.
    pub(super) has_more: bool,
    /// Last failure. A transient one ended the click.
    pub(super) denied: Option<Denied>,
}

impl Redelivered {
    /// Counts the outcome of one event, and breaks on a transient failure. A permanent failure does not stop the click.
    fn take(&mut self, id: TransactionId, answer: Result<(), Denied>) -> ControlFlow<()> {
        let denied = match answer {
            Ok(()) => {
                self.count = self.count.saturating_add(1);
                return ControlFlow::Continue(());
            }
            // The payment has reached the maximum number of deliveries.
            Err(Denied::Refused(_)) => return ControlFlow::Continue(()),
            Err(denied) => denied,
        };
        let may_pass = denied.is_transient();
        if !may_pass {
            tracing::error!(transaction.id = %id, %denied, "an event can't be redelivered");
        }
        self.denied = Some(denied);
        if may_pass { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns the exhausted deliveries of events since then, except those followed by a later delivery of the same event.
fn given_up(payment: &Payment, since: Timestamp) -> Vec<DeliveryIndex> {
    let repeated = |index: usize, sequence| {
        let mut later = payment.outbox.iter().skip(index.saturating_add(1));
        later.any(|other| other.sequence == sequence)
    };
    let is_recent = |sequence| payment.event(sequence).is_some_and(|event| event.occurred_at >= since);
    let numbered = payment.outbox.iter().enumerate();
    numbered
        .filter(|(_, delivery)| delivery.state == DeliveryState::Exhausted && is_recent(delivery.sequence))
        .filter(|(index, delivery)| !repeated(*index, delivery.sequence))
        .map(|(index, _)| DeliveryIndex::at(index))
        .collect()
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::{ApplicationName, MerchantId, Mode};
    use quita_domain::payment::Refusal;

    use super::*;

    #[test]
    fn what_fails_every_time_is_passed_over_and_what_may_pass_is_waited_for() {
        let id = TransactionId::new(uuid::Uuid::nil());
        let mut done = Redelivered { count: 0, after: None, has_more: true, denied: None };
        for answer in
            [Ok(()), Err(Denied::Refused(Refusal::NoSuchDelivery)), Err(Denied::Defect("x")), Ok(())]
        {
            assert!(done.take(id, answer).is_continue());
        }
        assert!(done.count == 2 && matches!(done.denied, Some(Denied::Defect(_))));
        assert!(done.take(id, Err(Denied::Interrupted)).is_break());
        let merchant = MerchantId::new("demo");
        let application = ApplicationName::new("default");
        let owner = Owner { merchant, application, mode: Mode::Test };
        let chosen = Chosen { owner, since: Timestamp::default(), receiver: Some("loja.example".into()) };
        assert_eq!(
            chosen.audit_summary(&done),
            "2 since 1970-01-01T00:00:00.000Z to loja.example, outcome unknown of one more"
        );
    }
}
