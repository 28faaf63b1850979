//! Batches under way to the store, and the decision when the next one may leave.

use std::time::Duration;

use actix::prelude::*;

use crate::actor::meter::Level;

/// Longest time for which waiting writes are held back for a larger batch.
const PATIENCE: Duration = Duration::from_millis(25);

/// Number of times that other tasks on this thread run first.
const TURNS: u32 = 2;

/// Lets other tasks on this thread run: their messages then join the next batch.
async fn after_the_others() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

/// The sizes of the batches under way.
///
/// While no batch is under way, whatever waits leaves at once. While one is, a second batch pays only if it is at least
/// as large. Many small batches cost the store and this process more than their early start saves.
pub(crate) struct Lanes {
    under_way: Vec<usize>,
    most: usize,
    level: Level,
    /// True while a batch is to leave as soon as the other tasks on this thread have run.
    is_about_to_leave: bool,
    /// True while the waiting writes are to leave after a pause, however few they are.
    is_held_back: bool,
}

/// An actor that gathers messages into batches.
pub(crate) trait Gathers: Actor<Context = Context<Self>> {
    fn lanes(&mut self) -> &mut Lanes;

    /// Returns the number of waiting messages.
    fn waiting(&self) -> usize;

    /// Sends a batch of the waiting messages, if there are any.
    fn depart(&mut self, context: &mut Context<Self>);

    fn is_worth_a_batch(&mut self) -> bool {
        let waiting = self.waiting();
        self.lanes().is_worth_a_batch(waiting)
    }

    /// Sends the waiting messages: soon, together with those that are about to arrive, if they are worth a batch,
    /// otherwise after a pause.
    fn pump(&mut self, context: &mut Context<Self>) {
        if self.is_worth_a_batch() && !self.lanes().is_about_to_leave {
            self.lanes().is_about_to_leave = true;
            context.spawn(after_the_others().into_actor(self).map(|(), actor, context| {
                actor.lanes().is_about_to_leave = false;
                while actor.is_worth_a_batch() {
                    actor.depart(context);
                }
                actor.hold_back(context);
            }));
        }
        self.hold_back(context);
    }

    /// Schedules the departure of messages that are too few for another batch now.
    fn hold_back(&mut self, context: &mut Context<Self>) {
        let waiting = self.waiting();
        let lanes = self.lanes();
        lanes.level.set(waiting);
        if waiting > 0 && lanes.is_one_free() && !lanes.is_about_to_leave && !lanes.is_held_back {
            lanes.is_held_back = true;
            context.run_later(PATIENCE, |actor, context| {
                actor.lanes().is_held_back = false;
                // Batches may have left during the pause. The first one to finish makes the next one leave.
                if actor.lanes().is_one_free() {
                    actor.depart(context);
                }
                actor.pump(context);
            });
        }
    }
}

impl Lanes {
    /// Allows at most `most` batches at once.
    pub(crate) const fn new(most: usize, level: Level) -> Self {
        Self { under_way: Vec::new(), most, level, is_about_to_leave: false, is_held_back: false }
    }

    /// Returns true if another batch may be under way.
    pub(crate) fn is_one_free(&self) -> bool {
        self.under_way.len() < self.most
    }

    /// Returns true if a batch of the waiting messages should leave now.
    pub(crate) fn is_worth_a_batch(&self, waiting: usize) -> bool {
        waiting > 0 && self.is_one_free() && self.under_way.iter().all(|size| waiting >= *size)
    }

    /// Records that a batch of this size leaves.
    pub(crate) fn leave(&mut self, size: usize) {
        self.under_way.push(size);
    }

    /// Records that a batch of this size is over.
    pub(crate) fn arrive(&mut self, size: usize) {
        if let Some(place) = self.under_way.iter().position(|known| *known == size) {
            self.under_way.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes() -> Lanes {
        Lanes::new(2, Level::of(prometheus::IntGauge::new("depth", "depth").unwrap()))
    }

    #[test]
    fn what_waits_leaves_at_once_if_nothing_is_under_way() {
        let lanes = lanes();
        assert!(lanes.is_worth_a_batch(1));
        assert!(!lanes.is_worth_a_batch(0));
    }

    #[test]
    fn a_second_batch_must_be_as_large_as_the_first_and_a_third_must_wait() {
        let mut lanes = lanes();
        lanes.leave(10);
        assert!(!lanes.is_worth_a_batch(9) && lanes.is_worth_a_batch(10));
        lanes.leave(10);
        assert!(!lanes.is_worth_a_batch(1_000) && !lanes.is_one_free());
        lanes.arrive(10);
        assert!(!lanes.is_worth_a_batch(9) && lanes.is_one_free());
        lanes.arrive(10);
        assert!(lanes.is_worth_a_batch(9));
    }
}
