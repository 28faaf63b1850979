//! Operators' views of a shard. Looking starts no actor and keeps none alive.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use actix::prelude::*;
use quita_domain::identity::TransactionId;
use tokio::time::Instant;

use super::{FrontActor, Live};
use crate::actor::mailbox::{Ask, Question};
use crate::watch::actor_view::{ActorView, LiveView, MessageView, ShardView, ago, shown};

/// Returns the view of a transaction's actor, if it is in memory.
pub(crate) struct Inspect(pub(crate) TransactionId);

impl Question for Inspect {
    type Answer = Option<ActorView>;
    const NAME: &'static str = "inspect";
}

/// Returns transactions in memory: a bounded number, the busiest among a bounded number examined.
pub(crate) struct Busiest;

impl Question for Busiest {
    type Answer = ShardView;
    const NAME: &'static str = "busiest";
}

impl Handler<Ask<Inspect>> for FrontActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Inspect>, _: &mut Self::Context) {
        let (Inspect(id), reply, _timer) = ask.open();
        reply.send(self.live.get(&id).map(|live| self.view(id, live)));
    }
}

impl Handler<Ask<Busiest>> for FrontActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Busiest>, _: &mut Self::Context) {
        let (Busiest, reply, _timer) = ask.open();
        reply.send(self.busiest());
    }
}

impl FrontActor {
    fn view(&self, id: TransactionId, live: &Live) -> ActorView {
        let (now, instant, inside) = (self.system.clock.now(), Instant::now(), live.mailbox.inside());
        let message = |step: crate::actor::trail::Step| MessageView {
            name: step.name,
            at: ago(now, step.ago),
            waited_ms: shown(step.waited),
            took_ms: step.took.map(shown),
        };
        ActorView {
            transaction_id: id,
            is_alive: live.mailbox.is_alive(),
            since: ago(now, instant.saturating_duration_since(live.since)),
            last_used_at: ago(now, instant.saturating_duration_since(live.used_at)),
            waiting: inside.waiting,
            handling: inside.handling,
            holds_card: live.hold.is_held_for_card(instant),
            messages: inside.steps.into_iter().map(message).collect(),
        }
    }

    fn busiest(&self) -> ShardView {
        let (limits, now, instant) = (&self.system.limits, self.system.clock.now(), Instant::now());
        let mut busiest = BinaryHeap::new();
        for (id, live) in self.live.iter().take(limits.transactions_looked_at) {
            busiest.push(Reverse((live.mailbox.load(), live.used_at, *id)));
            if busiest.len() > limits.transactions_shown {
                busiest.pop();
            }
        }
        let view = |Reverse((load, used_at, id)): Reverse<(usize, Instant, TransactionId)>| LiveView {
            transaction_id: id,
            load,
            last_used_at: ago(now, instant.saturating_duration_since(used_at)),
        };
        ShardView {
            live: self.live.len(),
            looked_at: self.live.len().min(limits.transactions_looked_at),
            transactions: busiest.into_sorted_vec().into_iter().map(view).collect(),
        }
    }
}
