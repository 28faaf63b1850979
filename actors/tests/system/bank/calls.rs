//! Every call that a bank got, in order, and when.

use std::sync::{Arc, Mutex};

use quita_domain::operation::Operation;

use crate::chance::TestClock;

/// Purpose of a call to a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Charge,
    Inquire,
    Operate,
    InquireOperation,
    Identify,
}

/// The calls of one bank.
pub(super) struct Calls {
    made: Mutex<Vec<(Call, u64)>>,
    operations: Mutex<Vec<Operation>>,
    clock: Arc<TestClock>,
}

impl Calls {
    pub(super) fn new(clock: Arc<TestClock>) -> Self {
        Self { made: Mutex::default(), operations: Mutex::default(), clock }
    }

    pub(super) fn note(&self, call: Call) {
        self.made.lock().unwrap().push((call, self.clock.elapsed_ms()));
    }

    pub(super) fn note_operation(&self, operation: &Operation) {
        self.note(Call::Operate);
        self.operations.lock().unwrap().push(operation.clone());
    }

    pub(super) fn made(&self) -> Vec<(Call, u64)> {
        self.made.lock().unwrap().clone()
    }

    /// The operations as they were sent.
    pub(super) fn operations(&self) -> Vec<Operation> {
        self.operations.lock().unwrap().clone()
    }
}
