//! The supervisor: recreates actors that died.
//!
//! Owns the list of all actors that must stay alive: every actor except the transactions, the workers of the pool and
//! itself. No payment passes through it, so no payment waits for it: routes are read on the payment's own thread. The
//! system itself watches over the supervisor.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;

use crate::actor::meter::Alive;
use crate::actor::slot::Revive;
use crate::limits::Limits;

/// Looks after the other actors.
pub(crate) struct SupervisorActor {
    charges: Vec<(&'static str, Arc<dyn Revive>)>,
    restart_after: Duration,
    look_every: Duration,
    _alive: Alive,
}

impl SupervisorActor {
    pub(crate) const fn new(
        charges: Vec<(&'static str, Arc<dyn Revive>)>,
        limits: &Limits,
        alive: Alive,
    ) -> Self {
        let restart_after = limits.restart_after;
        let look_every = limits.supervision_interval;
        Self { charges, restart_after, look_every, _alive: alive }
    }

    fn look(&mut self, _: &mut Context<Self>) {
        for (name, charge) in &self.charges {
            if charge.revive_if_dead(self.restart_after) {
                tracing::error!(actor = name, "an actor died and was recreated");
            }
        }
    }
}

impl Actor for SupervisorActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.run_interval(self.look_every, Self::look);
    }
}
