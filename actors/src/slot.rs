//! A place for one actor that can be made anew when it dies.

use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use actix::Actor;
use tokio::time::Instant;

use crate::actor_meter::ActorMeter;
use crate::mailbox::Mailbox;
use crate::shared::Shared;

/// Makes an actor of the system.
type Build<A> = Box<dyn Fn(&Arc<Shared>) -> Mailbox<A> + Send + Sync>;

/// Holds the mailbox of an actor, and how to make another one.
pub(crate) struct Slot<A: Actor> {
    mailbox: RwLock<Mailbox<A>>,
    build: Build<A>,
    /// Weak, as the system holds its slots: it would hold itself for good.
    system: Weak<Shared>,
    meter: Arc<ActorMeter>,
    back_off: Mutex<BackOff>,
}

impl<A: Actor> Slot<A> {
    /// Makes the actor.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        meter: Arc<ActorMeter>,
        build: impl Fn(&Arc<Shared>) -> Mailbox<A> + Send + Sync + 'static,
    ) -> Self {
        let (mailbox, system) = (RwLock::new(build(shared)), Arc::downgrade(shared));
        Self { mailbox, build: Box::new(build), system, meter, back_off: Mutex::new(BackOff::default()) }
    }

    /// The mailbox of the actor that lives there now.
    pub(crate) fn mailbox(&self) -> Mailbox<A> {
        self.mailbox.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Something that can be made anew when it died.
pub(crate) trait Revive: Send + Sync {
    /// Makes the actor anew if it is dead and its back-off is over. Says whether it did.
    fn revive_if_dead(&self, restart_after: Duration) -> bool;
}

impl<A: Actor> Revive for Slot<A> {
    fn revive_if_dead(&self, restart_after: Duration) -> bool {
        let Some(shared) = self.system.upgrade() else { return false };
        let mut back_off = self.back_off.lock().unwrap_or_else(PoisonError::into_inner);
        if self.mailbox().is_alive() || !back_off.is_over(restart_after) {
            return false;
        }
        *self.mailbox.write().unwrap_or_else(PoisonError::into_inner) = (self.build)(&shared);
        self.meter.restarted();
        true
    }
}

/// How long an actor that dies again and again stays away.
#[derive(Default)]
struct BackOff {
    died_at: Option<Instant>,
    deaths: u32,
}

impl BackOff {
    /// Deaths in a row after which the wait grows no longer.
    const MAX_DOUBLINGS: u32 = 8;
    /// An actor that lived this long begins to count anew.
    const FORGIVEN_AFTER: Duration = Duration::from_secs(60);

    fn is_over(&mut self, restart_after: Duration) -> bool {
        let now = Instant::now();
        if self.died_at.is_some_and(|died| now.duration_since(died) > Self::FORGIVEN_AFTER) {
            *self = Self::default();
        }
        let wait = restart_after.saturating_mul(1 << self.deaths.min(Self::MAX_DOUBLINGS));
        let over = match self.died_at {
            None => true,
            Some(died) => now.duration_since(died) >= wait,
        };
        if over {
            self.died_at = Some(now);
            self.deaths = self.deaths.saturating_add(1);
        }
        over
    }
}
