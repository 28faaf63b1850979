//! A slot for one actor, which is recreated when it dies.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use actix::Actor;
use tokio::time::Instant;

use crate::actor::mailbox::Mailbox;
use crate::actor::meter::ActorMeter;

/// Creates an actor; `None` once its system is gone.
type Build<A> = Box<dyn Fn() -> Option<Mailbox<A>> + Send + Sync>;

/// Holds the mailbox of an actor and the function that recreates it.
pub(crate) struct Slot<A: Actor> {
    mailbox: RwLock<Mailbox<A>>,
    build: Build<A>,
    meter: Arc<ActorMeter>,
    backoff: Mutex<RestartBackoff>,
}

impl<A: Actor> Slot<A> {
    /// Creates the actor from the parts of its system.
    pub(crate) fn new<S: Send + Sync + 'static>(
        system: &Arc<S>,
        meter: Arc<ActorMeter>,
        build: impl Fn(&Arc<S>) -> Mailbox<A> + Send + Sync + 'static,
    ) -> Self {
        let mailbox = RwLock::new(build(system));
        // Weak, because the system holds its slots: a strong reference would be a cycle.
        let system = Arc::downgrade(system);
        let build: Build<A> = Box::new(move || system.upgrade().map(|system| build(&system)));
        Self { mailbox, build, meter, backoff: Mutex::new(RestartBackoff::default()) }
    }

    /// Returns the mailbox of the current actor.
    pub(crate) fn mailbox(&self) -> Mailbox<A> {
        self.mailbox.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Something that can be recreated after it died.
pub(crate) trait Revive: Send + Sync {
    /// Recreates the actor if it is dead and its back-off is over. Returns true if it did.
    fn revive_if_dead(&self, restart_after: Duration) -> bool;
}

impl<A: Actor> Revive for Slot<A> {
    fn revive_if_dead(&self, restart_after: Duration) -> bool {
        let mut backoff = self.backoff.lock().unwrap_or_else(PoisonError::into_inner);
        if self.mailbox().is_alive() || !backoff.is_over(restart_after) {
            return false;
        }
        let Some(mailbox) = (self.build)() else { return false };
        *self.mailbox.write().unwrap_or_else(PoisonError::into_inner) = mailbox;
        self.meter.restarted();
        true
    }
}

/// Back-off of an actor that dies repeatedly.
#[derive(Default)]
struct RestartBackoff {
    died_at: Option<Instant>,
    deaths: u32,
}

impl RestartBackoff {
    /// Deaths in a row after which the wait no longer grows.
    const MAX_DOUBLINGS: u32 = 8;
    /// Lifetime after which the count of deaths starts again.
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
