//! A payment while a decision is being made.

use super::change::{AttemptChange, OperationChange};
use super::schedule::{spread, spread_upwards};
use super::{Change, Context, Discrepancy, Effect, Payment};
use crate::identity::OperationId;
use crate::outbound_call::CallChange;
use crate::time::Timestamp;

/// A payment while a decision is being made: every change is visible to the steps after it.
pub(super) struct Draft {
    pub(super) payment: Payment,
    pub(super) context: Context,
    pub(super) effects: Vec<Effect>,
    pub(super) discrepancies: Vec<Discrepancy>,
    pub(super) stray_pix: Vec<String>,
    pub(super) operation: Option<OperationId>,
    pub(super) is_replay: bool,
    has_changed: bool,
    has_unversioned_changes: bool,
}

impl Draft {
    pub(super) const fn new(payment: Payment, context: Context) -> Self {
        Self {
            payment,
            context,
            effects: Vec::new(),
            discrepancies: Vec::new(),
            stray_pix: Vec::new(),
            operation: None,
            is_replay: false,
            has_changed: false,
            has_unversioned_changes: false,
        }
    }

    /// Returns the wall-clock time, which may have jumped. Due times are computed from it and compared with it.
    pub(super) const fn clock(&self) -> Timestamp {
        self.context.now
    }

    /// Returns the time of record, never earlier than the payment's last change, even if the clock went back.
    pub(super) fn now(&self) -> Timestamp {
        // Nothing is scheduled from this time: if the clock was once far ahead, everything would wait that long.
        self.context.now.max(self.payment.state.updated_at)
    }

    /// Returns the time after a step of a schedule, by the clock.
    pub(super) fn after(&self, step_ms: u64) -> Timestamp {
        self.context.now.plus_ms(spread(step_ms, self.context.dice))
    }

    /// Returns the time after a step of a schedule, but not before a minimum wait is over.
    pub(super) fn after_at_least(&self, step_ms: u64, at_least_ms: u64) -> Timestamp {
        self.after(step_ms).max(self.clock().plus_ms(spread_upwards(at_least_ms, self.context.dice)))
    }

    /// Applies a change.
    pub(super) fn make(&mut self, change: Change) {
        let now = self.now();
        self.has_changed = true;
        self.has_unversioned_changes |= change.shows();
        // Counted before the event is created, so that its snapshot contains the version that it is delivered with.
        if change.makes_event() {
            self.count_version();
            self.has_unversioned_changes = false;
        }
        if change.shows() {
            self.payment.state_mut().updated_at = now;
        }
        self.payment.apply(change, now, self.clock());
    }

    /// Records a change that only this service sees, but that must be written.
    pub(super) const fn note_change(&mut self) {
        self.has_changed = true;
    }

    pub(super) const fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Counts a version for the changes that show and that no event counted.
    pub(super) fn count_unversioned_changes(&mut self) {
        if self.has_unversioned_changes {
            self.count_version();
        }
    }

    fn count_version(&mut self) {
        let state = self.payment.state_mut();
        state.version = state.version.saturating_add(1);
    }

    /// Marks the changes so far as no reason for a write on their own.
    pub(super) const fn wait_for_a_reason(&mut self) {
        self.has_changed = false;
    }

    /// Changes the call of the last charge.
    pub(super) fn charge_call(&mut self, change: CallChange) {
        self.make(Change::Attempt(AttemptChange::Call(change)));
    }

    /// Changes the call of an operation.
    pub(super) fn operation_call(&mut self, id: OperationId, change: CallChange) {
        self.make(Change::Operation(id, OperationChange::Call(change)));
    }
}
