//! The sampler: publishes the state of the actors once a second.
//!
//! Owns no state; its readings are shared. Reads every meter once a second, however many clients watch. Exports each
//! route's approvals as metrics, and whether webhooks fail. Logs routes that began to fail because time passed, and
//! methods that no route can take. Sends no messages and decides nothing. Recreated by the supervisor when it dies.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_ports::Clock;

use crate::acquirers::routing::Routes;
use crate::actor::meter::Alive;
use crate::store::state::StoreState;
use crate::watch::meter::Meter;
use crate::watch::reading::Reading;
use crate::watch::samples::Samples;
use crate::watch::webhook_turns::WebhookTurns;

/// Dependencies of the sampler.
pub(crate) struct SamplerParts {
    pub(crate) meter: Arc<Meter>,
    pub(crate) store_state: Arc<StoreState>,
    pub(crate) routes: Arc<Routes>,
    pub(crate) samples: Arc<Samples>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) interval: Duration,
}

/// Reads the meters.
pub(crate) struct SamplerActor {
    parts: Arc<SamplerParts>,
    webhooks: WebhookTurns,
    _alive: Alive,
}

impl SamplerActor {
    pub(crate) fn new(parts: Arc<SamplerParts>, alive: Alive) -> Self {
        Self { parts, webhooks: WebhookTurns::default(), _alive: alive }
    }

    fn read(&mut self, _: &mut Context<Self>) {
        let (parts, now) = (&self.parts, self.parts.clock.now());
        parts.routes.tell_turns(now);
        parts.routes.show_approvals(&parts.meter);
        parts.samples.add(Reading::take(&parts.meter, parts.store_state.away(), now));
        let failing_since = parts.samples.follow().borrow().webhooks_failing_since();
        parts.meter.webhooks_failing.set(i64::from(failing_since.is_some()));
        if let Some(turn) = self.webhooks.note(failing_since, now) {
            turn.tell(parts.meter.webhook_backlog.get());
        }
    }
}

impl Actor for SamplerActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        self.read(context);
        context.run_interval(self.parts.interval, Self::read);
    }
}
