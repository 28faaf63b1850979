//! Time for which unknown outcomes have been inquired about, measured by a monotonic clock.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::identity::{OperationId, TransactionId};
use quita_domain::operation::Operation;
use quita_domain::outbound_call::Progress;
use quita_domain::payment::{Inquiring, Payment};
use tokio::time::Instant;

/// Age of the last inquiry after which an entry may be forgotten. Inquiries are an hour apart at most, so another node
/// may have had the answer since.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(2 * 3_600);

/// Remembers when this process began to inquire about each outcome, in memory and up to its capacity. After an entry is
/// forgotten, the measurement starts again, which can delay a second charge or operation but never hasten it.
pub(crate) struct InquiryClock {
    known: Mutex<HashMap<Subject, Inquiries>>,
    capacity: usize,
}

/// Subject of an inquiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Charge(TransactionId),
    Operation(OperationId),
}

struct Inquiries {
    /// Number of the call, and whether it was known to be over. The measurement starts again when either changes.
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

    /// Records an inquiry about the last charge. `None` if the charge's outcome is known.
    pub(crate) fn asks_about_charge(&self, payment: &Payment) -> Option<Inquiring> {
        let attempt = payment.state.attempts.last().filter(|attempt| attempt.call.is_open())?;
        let number = payment.last_attempt().get();
        Some(self.asks(Subject::Charge(payment.id), (number, attempt.call.is_over)))
    }

    /// Records an inquiry about an operation.
    pub(crate) fn asks_about_operation(&self, operation: &Operation) -> Inquiring {
        let call = (operation.sending(), operation.call.is_over);
        self.asks(Subject::Operation(operation.id), call)
    }

    fn asks(&self, subject: Subject, call: (u32, bool)) -> Inquiring {
        Inquiring { call_is_over: call.1, for_ms: self.measure(subject, call) }
    }

    /// Returns the milliseconds since the first inquiry about this call.
    fn measure(&self, subject: Subject, call: (u32, bool)) -> u64 {
        let now = Instant::now();
        let mut known = self.lock();
        if known.len() >= self.capacity && !known.contains_key(&subject) {
            known.retain(|_, inquiries| inquiries.last + FORGOTTEN_AFTER > now);
            if known.len() >= self.capacity {
                tracing::error!(count = known.len(), "too many unknown outcomes to remember them all");
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

    /// Forgets the last charge if its outcome is known now.
    pub(crate) fn charge_answered(&self, payment: &Payment) {
        if payment.state.attempts.last().is_none_or(|attempt| !attempt.call.is_open()) {
            self.lock().remove(&Subject::Charge(payment.id));
        }
    }

    /// Forgets an operation if its outcome is known now.
    pub(crate) fn operation_answered(&self, payment: &Payment, id: OperationId) {
        let operation = payment.operations.iter().find(|operation| operation.id == id);
        let is_unknown = |operation: &Operation| operation.call.progress == Progress::Unknown;
        if !operation.is_some_and(is_unknown) {
            self.lock().remove(&Subject::Operation(id));
        }
    }
}
