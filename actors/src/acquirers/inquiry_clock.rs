//! For how long acquirers have been asked about unknown outcomes, by a clock that never jumps.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::identity::TransactionId;
use quita_domain::operation::{Operation, OperationCall};
use quita_domain::payment::{Inquiring, Payment};
use tokio::time::Instant;
use uuid::Uuid;

/// After this long without an inquiry another node may have had the answer: inquiries are an hour apart at most.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(2 * 3_600);

/// Remembers since when this process asks, in memory only and never of more than its capacity. What is forgotten is
/// measured from the start, which delays a second charge or operation and never hurries it.
pub(crate) struct InquiryClock {
    known: Mutex<HashMap<Subject, Inquiries>>,
    capacity: usize,
}

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Charge(TransactionId),
    Operation(Uuid),
}

struct Inquiries {
    /// Which call, and whether it was known to be over: what was measured before is worth nothing after it.
    call: (u32, bool),
    since: Instant,
    last: Instant,
}

impl InquiryClock {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { known: Mutex::new(HashMap::new()), capacity }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, Inquiries>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The acquirer is asked about the last charge now. `None` if what became of the charge is known.
    pub(crate) fn asks_about_charge(&self, payment: &Payment) -> Option<Inquiring> {
        let attempt = payment.state.attempts.last().filter(|attempt| attempt.outcome.is_open())?;
        let number = u32::try_from(payment.state.attempts.len()).unwrap_or(u32::MAX);
        Some(self.asks(Subject::Charge(payment.id), (number, attempt.call_is_over)))
    }

    /// The acquirer is asked about an operation now.
    pub(crate) fn asks_about_operation(&self, operation: &Operation) -> Inquiring {
        let call = (operation.sending(), operation.call_is_over);
        self.asks(Subject::Operation(operation.id), call)
    }

    fn asks(&self, subject: Subject, call: (u32, bool)) -> Inquiring {
        Inquiring { call_is_over: call.1, for_ms: self.measure(subject, call) }
    }

    /// For how many milliseconds it has been asked about.
    fn measure(&self, subject: Subject, call: (u32, bool)) -> u64 {
        let (now, mut known) = (Instant::now(), self.lock());
        if known.len() >= self.capacity && !known.contains_key(&subject) {
            known.retain(|_, inquiries| inquiries.last + FORGOTTEN_AFTER > now);
            if known.len() >= self.capacity {
                tracing::error!(count = known.len(), "too many outcomes are unknown to remember all of them");
                return 0;
            }
        }
        let inquiries = known.entry(subject).or_insert(Inquiries { call, since: now, last: now });
        if inquiries.call != call {
            *inquiries = Inquiries { call, since: now, last: now };
        }
        inquiries.last = now;
        u64::try_from(now.duration_since(inquiries.since).as_millis()).unwrap_or(u64::MAX)
    }

    /// The outcome of the last charge may be known now.
    pub(crate) fn charge_answered(&self, payment: &Payment) {
        if payment.state.attempts.last().is_none_or(|attempt| !attempt.outcome.is_open()) {
            self.lock().remove(&Subject::Charge(payment.id));
        }
    }

    /// The outcome of an operation may be known now.
    pub(crate) fn operation_answered(&self, payment: &Payment, id: Uuid) {
        let operation = payment.operations.iter().find(|operation| operation.id == id);
        let is_unknown =
            |operation: &Operation| operation.is_processing() && operation.call == OperationCall::Unknown;
        if !operation.is_some_and(is_unknown) {
            self.lock().remove(&Subject::Operation(id));
        }
    }
}
