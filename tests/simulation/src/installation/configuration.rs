//! Configuration that nodes start with and read again. It has the routes, an acquirer that is left out, and the
//! time-out of banks simulated at the port.

use std::sync::{Arc, Mutex};

use quita_domain::identity::AcquirerName;
use quita_domain::payment::Payment;
use quita_domain::routing::Version;

use crate::bank::TIME_OUT_MS;
use crate::planted::{self, Mistake};
use crate::routes::{Place, Routes};
use crate::world::World;

/// Time in milliseconds for which a payment may be stored by old routes after every node has others.
const STORED_WITHIN_MS: u64 = 60_000;

/// Configuration of a node.
#[derive(Clone)]
pub(crate) struct Configuration {
    pub(crate) routes: Arc<Routes>,
    /// Version of those routes, as the node understands them.
    pub(crate) version: Version,
    /// Longest time for an answer of a bank simulated at the port.
    pub(crate) time_out_ms: u64,
}

impl Configuration {
    /// Returns the bank that is not configured.
    pub(crate) fn absent(&self) -> Option<Place> {
        self.routes.absent
    }
}

/// Routes that some node once followed.
struct Known {
    routes: Arc<Routes>,
    version: Version,
    /// Moment at which the last node left them, if all have.
    left_ms: Option<u64>,
}

/// Configurations of a world: the present one and earlier ones.
pub(crate) struct Configurations {
    names: Vec<AcquirerName>,
    mistake: Option<Mistake>,
    present: Mutex<Configuration>,
    known: Mutex<Vec<Known>>,
}

impl Configurations {
    /// Creates the configuration with which a world begins.
    pub(crate) fn new(routes: Routes, names: Vec<AcquirerName>, mistake: Option<Mistake>) -> Self {
        let routes = Arc::new(routes);
        let version = planted::table(mistake, &routes, &names).version();
        let present = Configuration { routes, version, time_out_ms: TIME_OUT_MS };
        let configurations =
            Self { names, mistake, present: Mutex::new(present.clone()), known: Mutex::default() };
        configurations.learn(&present);
        configurations
    }

    /// Returns the configuration of a node that starts now.
    pub(crate) fn present(&self) -> Configuration {
        self.present.lock().unwrap().clone()
    }

    /// Changes the configuration that nodes receive from now on.
    pub(super) fn change(&self, routes: Arc<Routes>, time_out_ms: u64) {
        let version = planted::table(self.mistake, &routes, &self.names).version();
        let present = Configuration { routes, version, time_out_ms };
        self.learn(&present);
        *self.present.lock().unwrap() = present;
    }

    /// Returns the routes as they were before an acquirer was removed.
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

    /// Notes the routes that the running nodes follow. Routes that none follows any more were left.
    pub(crate) fn note_followed(&self, followed: &[Version], now_ms: u64) {
        let present = self.present().version;
        for one in self.known.lock().unwrap().iter_mut() {
            let is_followed = one.version == present || followed.contains(&one.version);
            if !is_followed && one.left_ms.is_none() {
                one.left_ms = Some(now_ms);
            }
        }
    }

    /// Returns the routes by which a payment was routed. If its version has several, those are preferred that fit the
    /// acquirers that were considered.
    pub(crate) fn routes_of(&self, payment: &Payment, fits: impl Fn(&Routes) -> bool) -> Option<Arc<Routes>> {
        let known = self.known.lock().unwrap();
        let of_version = known.iter().filter(|one| Some(&one.version) == payment.routed.version.as_ref());
        let of_version: Vec<_> = of_version.map(|one| &one.routes).collect();
        let fitting = of_version.iter().find(|routes| fits(routes));
        fitting.or_else(|| of_version.first()).map(|routes| Arc::clone(routes))
    }

    /// Checks a payment that is stored for the first time. The routes that decided about it are followed by some node,
    /// or were a moment ago.
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
