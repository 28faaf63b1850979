//! Routing: which acquirers a payment may take, in which order. Reads what the acquirer actors report of their health.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::order::Order;
use quita_domain::routing::Considered;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec};

use crate::acquirer::AcquirerActor;
use crate::limits::Limits;
use crate::slot::Slot;

/// Why an acquirer may not take an order that is too small or too large for it.
const OUT_OF_BOUNDS: &str = "amount_out_of_bounds";

/// One acquirer for one method.
pub(crate) struct Route {
    pub(crate) factory: Arc<dyn AcquirerFactory>,
    pub(crate) method: Method,
    pub(crate) health: Arc<Health>,
    pub(crate) slot: Arc<Slot<AcquirerActor>>,
}

impl Route {
    pub(crate) fn spec(&self) -> &AcquirerSpec {
        self.factory.spec()
    }

    /// Why it may not take this order, or why it may.
    fn judge(&self, order: &Order, now: Timestamp) -> Result<Preference, &'static str> {
        let spec = self.spec();
        if order.amount < spec.min_amount || order.amount > spec.max_amount {
            return Err(OUT_OF_BOUNDS);
        }
        if self.health.is_paused() {
            return Err("paused");
        }
        if self.health.is_busy() {
            return Err("busy");
        }
        Ok(if self.health.is_open(now) { Preference::LastResort } else { Preference::Normal })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Preference {
    Normal,
    LastResort,
}

impl Preference {
    const fn reason(self) -> &'static str {
        match self {
            Self::Normal => "eligible",
            Self::LastResort => "failing_lately",
        }
    }
}

/// Why no acquirer can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// No acquirer takes this method in this mode.
    MethodUnavailable,
    /// None of those that do takes this amount.
    AmountNotAccepted,
    /// Those that do are paused or busy.
    NoneEligible,
}

/// Every route there is. Fixed at the start; only the health changes.
pub(crate) struct Routes(Vec<Route>);

impl Routes {
    pub(crate) const fn new(routes: Vec<Route>) -> Self {
        Self(routes)
    }

    /// The route of an acquirer for a method.
    pub(crate) fn find(&self, acquirer: &AcquirerName, method: Method) -> Option<&Route> {
        self.0.iter().find(|route| route.spec().name == *acquirer && route.method == method)
    }

    /// The acquirers looked at for an order, the eligible ones first and in the order in which they are tried.
    pub(crate) fn plan(
        &self,
        order: &Order,
        mode: Mode,
        now: Timestamp,
        dice: u64,
    ) -> Result<Vec<Considered>, NoRoute> {
        let of_mode = || self.0.iter().filter(|route| route.spec().mode == mode);
        let candidates = of_mode().filter(|route| route.method == order.method);
        let mut judged: Vec<_> = candidates.map(|route| (route, route.judge(order, now))).collect();
        if judged.is_empty() {
            return Err(NoRoute::MethodUnavailable);
        }
        if judged.iter().all(|(_, judgement)| *judgement == Err(OUT_OF_BOUNDS)) {
            return Err(NoRoute::AmountNotAccepted);
        }
        if judged.iter().all(|(_, judgement)| judgement.is_err()) {
            return Err(NoRoute::NoneEligible);
        }
        let mut dice = dice;
        judged.sort_by_cached_key(|(route, judgement)| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let rank = judgement.map_or((true, Preference::LastResort), |preference| (false, preference));
            (rank, route.spec().priority, lot(dice, route.spec().weight))
        });
        Ok(judged
            .into_iter()
            .map(|(route, judgement)| Considered {
                acquirer: route.spec().name.clone(),
                eligible: judgement.is_ok(),
                reason: judgement.map_or_else(|reason| reason, Preference::reason).into(),
            })
            .collect())
    }
}

/// A lot that is drawn first in proportion to the weight: the smallest of `weight` draws would be, this is close
/// enough and needs one.
fn lot(dice: u64, weight: u32) -> u64 {
    (dice >> 33) / u64::from(weight.max(1))
}

/// What is known of a route's health; written by its actor, read by everybody.
#[derive(Debug)]
pub(crate) struct Health {
    failures: AtomicU32,
    open_until_ms: AtomicI64,
    paused: AtomicBool,
    busy: AtomicBool,
    failures_to_open: u32,
    open_for_ms: u64,
}

impl Health {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            failures: AtomicU32::new(0),
            open_until_ms: AtomicI64::new(0),
            paused: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            failures_to_open: limits.breaker_failures,
            open_for_ms: u64::try_from(limits.breaker_open.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// A call brought an answer.
    pub(crate) fn succeeded(&self) {
        self.failures.store(0, Ordering::Relaxed);
        self.open_until_ms.store(0, Ordering::Relaxed);
    }

    /// A call brought none.
    pub(crate) fn failed(&self, now: Timestamp) {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures >= self.failures_to_open {
            self.open_until_ms.store(now.plus_ms(self.open_for_ms).millis(), Ordering::Relaxed);
        }
    }

    /// More calls wait than it should be given.
    pub(crate) fn set_busy(&self, is_busy: bool) {
        self.busy.store(is_busy, Ordering::Relaxed);
    }

    fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    fn is_open(&self, now: Timestamp) -> bool {
        self.open_until_ms.load(Ordering::Relaxed) > now.millis()
    }

    fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    fn state(&self, now: Timestamp) -> RouteState {
        if self.is_paused() {
            RouteState::Paused
        } else if self.is_open(now) {
            RouteState::Failing
        } else {
            RouteState::Healthy
        }
    }
}

/// The health of one route, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteHealth {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The method.
    pub method: Method,
    /// Test or live.
    pub mode: Mode,
    /// How it is.
    pub state: RouteState,
}

/// How a route is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteState {
    /// It is tried in its turn.
    Healthy,
    /// It failed too often lately and is tried last.
    Failing,
    /// An operator paused it.
    Paused,
}

impl RouteState {
    /// As the health page spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Failing => "failing",
            Self::Paused => "paused",
        }
    }
}

impl Routes {
    /// The health of every route.
    pub(crate) fn health(&self, now: Timestamp) -> Vec<RouteHealth> {
        self.0
            .iter()
            .map(|route| RouteHealth {
                acquirer: route.spec().name.clone(),
                method: route.method,
                mode: route.spec().mode,
                state: route.health.state(now),
            })
            .collect()
    }
}
