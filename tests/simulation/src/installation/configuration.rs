//! Configuration that nodes start with and read again: the routes, which acquirer there is not, and how long a drawn
//! bank may take.

use std::sync::{Arc, Mutex};

use quita_domain::identity::AcquirerName;
use quita_domain::payment::Payment;
use quita_domain::routing::Version;

use crate::bank::TIME_OUT_MS;
use crate::planted::{self, Mistake};
use crate::routes::{Place, Routes};
use crate::world::World;

/// Time after every node has other routes for which a payment may still be stored that went by the old ones, in
/// milliseconds.
const STORED_WITHIN_MS: u64 = 60_000;

/// Configuration of a node.
#[derive(Clone)]
pub(crate) struct Configuration {
    pub(crate) routes: Arc<Routes>,
    /// Version of those routes, as the node understands them.
    pub(crate) version: Version,
    /// Longest time of a drawn bank for an answer.
    pub(crate) time_out_ms: u64,
}

impl Configuration {
    /// The bank that is not configured.
    pub(crate) fn absent(&self) -> Option<Place> {
        self.routes.absent
    }
}

/// Routes that some node went by once.
struct Known {
    routes: Arc<Routes>,
    version: Version,
    /// Moment at which the last node left them, if all did.
    left_ms: Option<u64>,
}

/// All configurations of a world, the present one and those before.
pub(crate) struct Configurations {
    names: Vec<AcquirerName>,
    mistake: Option<Mistake>,
    present: Mutex<Configuration>,
    known: Mutex<Vec<Known>>,
}

impl Configurations {
    /// The one that a world begins with.
    pub(crate) fn new(routes: Routes, names: Vec<AcquirerName>, mistake: Option<Mistake>) -> Self {
        let routes = Arc::new(routes);
        let version = planted::table(mistake, &routes, &names).version();
        let present = Configuration { routes, version, time_out_ms: TIME_OUT_MS };
        let configurations =
            Self { names, mistake, present: Mutex::new(present.clone()), known: Mutex::default() };
        configurations.learn(&present);
        configurations
    }

    /// Configuration of a node that starts now.
    pub(crate) fn present(&self) -> Configuration {
        self.present.lock().unwrap().clone()
    }

    /// Changes what nodes get from now on.
    pub(super) fn change(&self, routes: Arc<Routes>, time_out_ms: u64) {
        let version = planted::table(self.mistake, &routes, &self.names).version();
        let present = Configuration { routes, version, time_out_ms };
        self.learn(&present);
        *self.present.lock().unwrap() = present;
    }

    /// The routes as they were before an acquirer was gone.
    pub(super) fn whole(&self) -> Arc<Routes> {
        let known = self.known.lock().unwrap();
        let mut whole = known.iter().rev().map(|one| &one.routes).filter(|routes| routes.absent.is_none());
        Arc::clone(whole.next().unwrap())
    }

    fn learn(&self, new: &Configuration) {
        let mut known = self.known.lock().unwrap();
        for one in known.iter_mut().filter(|one| one.version == new.version) {
            one.left_ms = None;
        }
        let routes = Arc::clone(&new.routes);
        let version = new.version.clone();
        known.push(Known { routes, version, left_ms: None });
    }

    /// The nodes that are up go by these: what nobody goes by any more was left.
    pub(crate) fn note_followed(&self, followed: &[Version], now_ms: u64) {
        let present = self.present().version;
        for one in self.known.lock().unwrap().iter_mut() {
            let is_followed = one.version == present || followed.contains(&one.version);
            if !is_followed && one.left_ms.is_none() {
                one.left_ms = Some(now_ms);
            }
        }
    }

    /// The routes by which a payment went: those of its version, and among several of one version the ones by which these
    /// acquirers were to be looked at.
    pub(crate) fn routes_of(&self, payment: &Payment, fits: impl Fn(&Routes) -> bool) -> Option<Arc<Routes>> {
        let known = self.known.lock().unwrap();
        let of_version = known.iter().filter(|one| Some(&one.version) == payment.routed.version.as_ref());
        let of_version: Vec<_> = of_version.map(|one| &one.routes).collect();
        let fitting = of_version.iter().find(|routes| fits(routes));
        fitting.or_else(|| of_version.first()).map(|routes| Arc::clone(routes))
    }

    /// A payment is stored for the first time: the routes that decided about it are some node's, or were a moment ago.
    pub(crate) fn check_followed(&self, world: &World, payment: &Payment) {
        let Some(version) = &payment.routed.version else { return };
        let now_ms = world.clock.elapsed_ms();
        let known = self.known.lock().unwrap();
        let is_followed = |one: &Known| {
            one.version == *version && one.left_ms.is_none_or(|left_ms| now_ms < left_ms + STORED_WITHIN_MS)
        };
        if !known.iter().any(is_followed) {
            drop(known);
            world.violation(format!("{} went by routes {version}, which no node has any more", payment.id));
        }
    }
}
