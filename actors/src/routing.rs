//! Routing: which acquirers a payment may take, in which order. Reads what the acquirer actors report of their health.

use std::sync::Arc;

use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::order::Order;
use quita_domain::routing::Considered;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec};

use crate::acquirer::AcquirerActor;
use crate::health::Health;
use crate::meter::Meter;
use crate::route_view::{RouteHealth, RouteState, RouteView};
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

    /// Everything there is to be told of it.
    pub(crate) fn view(&self, now: Timestamp) -> RouteView {
        self.health.view(self, now)
    }

    /// Why it may not take this order, or why it may.
    fn judge(&self, order: &Order, now: Timestamp) -> Result<Preference, &'static str> {
        let spec = self.spec();
        if order.amount < spec.min_amount || order.amount > spec.max_amount {
            return Err(OUT_OF_BOUNDS);
        }
        if !self.health.order().takes_new_payments() {
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

impl Routes {
    /// Every route.
    pub(crate) fn all(&self) -> &[Route] {
        &self.0
    }

    /// The health of every route.
    pub(crate) fn health(&self, now: Timestamp) -> Vec<RouteHealth> {
        let health = |route: &Route| RouteHealth {
            acquirer: route.spec().name.clone(),
            method: route.method,
            mode: route.spec().mode,
            state: route.health.state(now),
        };
        self.0.iter().map(health).collect()
    }

    /// Everything there is to be told of every route.
    pub(crate) fn views(&self, now: Timestamp) -> Vec<RouteView> {
        self.0.iter().map(|route| route.view(now)).collect()
    }

    /// Shows as a metric how every route is.
    pub(crate) fn show(&self, meter: &Meter, now: Timestamp) {
        for route in &self.0 {
            let is = route.health.state(now);
            for state in RouteState::ALL {
                let labels = [route.spec().name.as_str(), route.method.label(), state.as_str()];
                meter.route_states.with_label_values(&labels).set(i64::from(state == is));
            }
        }
    }
}
