//! Trace of what happened, in order, seen from the outside: by the store, the banks and the callers.

use std::sync::{Arc, Mutex};

use quita_domain::identity::TransactionId;
use quita_domain::status::Status;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A write became durable.
    Stored(TransactionId, u64, Status),
    /// A bank got a charge.
    Charged(&'static str, TransactionId),
    /// A bank was told that its local answer is stored.
    Begun(&'static str, TransactionId),
    /// A bank was asked what became of a charge.
    Asked(&'static str, TransactionId),
    /// A bank got a cancellation, capture or refund.
    Operated(&'static str, TransactionId),
    /// A caller got its answer.
    Replied(TransactionId),
}

impl Mark {
    const fn id(&self) -> TransactionId {
        match self {
            Self::Stored(id, ..)
            | Self::Charged(_, id)
            | Self::Begun(_, id)
            | Self::Asked(_, id)
            | Self::Operated(_, id)
            | Self::Replied(id) => *id,
        }
    }
}

/// The shared record of what happened.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<Mark>>>);

impl Trace {
    pub(crate) fn note(&self, mark: Mark) {
        self.0.lock().unwrap().push(mark);
    }

    /// Returns what happened to one payment.
    pub(crate) fn of(&self, id: TransactionId) -> Vec<Mark> {
        self.0.lock().unwrap().iter().filter(|mark| mark.id() == id).cloned().collect()
    }

    /// Without the callers' answers, which come when they come.
    pub(crate) fn of_outside(&self, id: TransactionId) -> Vec<Mark> {
        self.of(id).into_iter().filter(|mark| !matches!(mark, Mark::Replied(_))).collect()
    }

    pub(crate) fn charges(&self) -> usize {
        self.count(|mark| matches!(mark, Mark::Charged(..)))
    }

    pub(crate) fn asked(&self) -> usize {
        self.count(|mark| matches!(mark, Mark::Asked(..)))
    }

    pub(crate) fn stored(&self) -> usize {
        self.count(|mark| matches!(mark, Mark::Stored(..)))
    }

    fn count(&self, is_meant: impl Fn(&Mark) -> bool) -> usize {
        self.0.lock().unwrap().iter().filter(|mark| is_meant(mark)).count()
    }
}
