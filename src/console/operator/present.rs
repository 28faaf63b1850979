//! Present state of payments whose outcome was reported as unknown. The exception itself says what was so then.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use quita_domain::exception::Exception;
use quita_domain::identity::TransactionId;
use quita_domain::outbound_call::Progress;
use quita_domain::payment::{DiscrepancyKind, Payment};
use quita_domain::status::Status;

use super::OperatorConsole;

/// Maximum number of payments that are read, those of the newest exceptions.
const LOOK_AT: usize = 100;
/// Number of payments that are read at once.
const AT_ONCE: usize = 8;

/// Present state of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PresentState {
    pub(crate) status: Status,
    /// True if no outcome of the payment is unknown any more: it was settled without anybody.
    pub(crate) is_settled: bool,
}

/// Present states of payments, by payment.
#[derive(Debug)]
pub(crate) struct PresentStates(BTreeMap<TransactionId, PresentState>);

impl PresentStates {
    /// Returns the present state of the payment of an exception about an unknown outcome. `None` for other exceptions.
    pub(crate) fn of(&self, exception: &Exception) -> Option<&PresentState> {
        self.0.get(&exception.transaction_id?).filter(|_| is_about_unknown_outcome(exception))
    }
}

fn is_about_unknown_outcome(exception: &Exception) -> bool {
    exception.kind == DiscrepancyKind::UnknownOutcome.as_str()
}

impl PresentState {
    fn of(payment: &Payment) -> Self {
        let charges = payment.state.attempts.iter().all(|attempt| is_over(&attempt.call.progress));
        let operations = payment.operations.iter().all(|operation| is_over(&operation.call.progress));
        let status = payment.status();
        Self { status, is_settled: charges && operations && status != Status::Initial }
    }
}

const fn is_over<E>(progress: &Progress<E>) -> bool {
    match progress {
        Progress::Ended(_) => true,
        Progress::Ready | Progress::Sent | Progress::Unknown | Progress::Taken => false,
    }
}

impl OperatorConsole {
    /// Returns the present state of the payments with an open exception about an unknown outcome. A payment that can't be
    /// read has none.
    pub(crate) async fn present(&self, exceptions: &[Exception]) -> PresentStates {
        let is_meant =
            |exception: &&Exception| is_about_unknown_outcome(exception) && exception.resolution.is_none();
        let ids = exceptions.iter().filter(is_meant).filter_map(|exception| exception.transaction_id);
        let ids: Vec<_> = ids.take(LOOK_AT).collect();
        let read = stream::iter(ids).map(async |id| {
            let payment: Option<Arc<Payment>> = self.payments.read(id).await.ok().flatten();
            payment.map(|payment| (id, PresentState::of(&payment)))
        });
        PresentStates(read.buffer_unordered(AT_ONCE).filter_map(async |state| state).collect().await)
    }
}

#[cfg(test)]
mod tests {
    use quita_memory_store::sample_payment;
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn a_payment_is_settled_once_its_status_and_every_outcome_are_known() {
        let of = |status: &str, progress: &[&str]| {
            let mut stored = to_value(sample_payment(1)).unwrap();
            let attempt = |progress: &&str| json!({ "acquirer": "bank", "at": 0, "call": { "progress": progress }, "reference": {} });
            stored["state"]["attempts"] = progress.iter().map(attempt).collect();
            stored["state"]["status"] = json!(status);
            PresentState::of(&from_value(stored).unwrap())
        };
        let settled = PresentState { status: Status::Paid, is_settled: true };
        assert_eq!(of("paid", &["known"]), settled);
        assert_eq!(of("paid", &["not_delivered", "known"]), settled);
        assert!(!of("paid", &["unknown", "known"]).is_settled, "another charge is still unknown");
        assert!(!of("initial", &["unknown"]).is_settled);
        assert!(!of("initial", &["not_delivered"]).is_settled, "it may be charged elsewhere");
    }

    #[test]
    fn only_an_exception_about_an_unknown_outcome_has_a_present_state() {
        let id = TransactionId::new(uuid::Uuid::from_u128(7));
        let state = PresentState { status: Status::Paid, is_settled: true };
        let states = PresentStates(BTreeMap::from([(id, state)]));
        let of = |kind: DiscrepancyKind, transaction_id| {
            let exception = Exception {
                id: "e".into(),
                transaction_id,
                acquirer: None,
                kind: kind.as_str().into(),
                detail: String::new(),
                advice: String::new(),
                reported_at: quita_domain::time::Timestamp::from_millis(0),
                resolution: None,
            };
            states.of(&exception).copied()
        };
        assert_eq!(of(DiscrepancyKind::UnknownOutcome, Some(id)), Some(state));
        assert_eq!(of(DiscrepancyKind::AmountMismatch, Some(id)), None);
        assert_eq!(of(DiscrepancyKind::UnknownOutcome, None), None);
    }
}
