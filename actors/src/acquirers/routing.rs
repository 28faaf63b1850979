//! Routing: which acquirers a payment may take, in which order. Reads what the acquirer actors report of their health.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use quita_domain::identity::{AcquirerName, Mode, Owner};
use quita_domain::method::Method;
use quita_domain::order::Order;
use quita_domain::payment::Context;
use quita_domain::routing::{
    Approvals, Candidate, Condition, Considered, Evaluated, NoRoute, Routed, RoutingTable, Standing, Version,
    Wanted, plan,
};
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec};

use crate::acquirers::acquirer::AcquirerActor;
use crate::acquirers::health::Health;
use crate::acquirers::pace::Pace;
use crate::acquirers::route_view::{RouteHealth, RouteState, RouteView};
use crate::actor::slot::Slot;
use crate::watch::meter::Meter;

/// One acquirer for one method.
pub(crate) struct Route {
    pub(crate) factory: Arc<dyn AcquirerFactory>,
    pub(crate) method: Method,
    pub(crate) health: Arc<Health>,
    /// Shared by every method of the acquirer.
    pub(crate) pace: Arc<Pace>,
    pub(crate) slot: Arc<Slot<AcquirerActor>>,
}

impl Route {
    pub(crate) fn spec(&self) -> &AcquirerSpec {
        self.factory.spec()
    }

    /// Everything that is shown of it.
    pub(crate) fn view(&self, now: Timestamp) -> RouteView {
        let throttled_ms =
            self.pace.throttled_for().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        RouteView {
            throttled_until: throttled_ms.map(|wait_ms| now.plus_ms(wait_ms)),
            ..self.health.view(self.health(now), now)
        }
    }

    /// How it is, in a word.
    fn health(&self, now: Timestamp) -> RouteHealth {
        RouteHealth {
            acquirer: self.spec().name.clone(),
            method: self.method,
            mode: self.spec().mode,
            state: self.health.state(now),
        }
    }

    /// What the plan has to know of it. A merchant waits for this long.
    fn candidate(&self, now: Timestamp, merchant_waits: Duration) -> Candidate<'_> {
        let spec = self.spec();
        let condition = match (self.health.condition(now), self.pace.throttled_for()) {
            (Condition::Healthy | Condition::Failing, Some(wait)) if wait > merchant_waits => {
                Condition::ThrottledForLong
            }
            (Condition::Healthy | Condition::Failing, _) if self.pace.backlog() > merchant_waits => {
                Condition::Busy
            }
            (Condition::Healthy | Condition::Failing, Some(_)) => Condition::Throttled,
            (condition, _) => condition,
        };
        Candidate {
            acquirer: &spec.name,
            min_amount: spec.min_amount,
            max_amount: spec.max_amount,
            max_expiry_s: spec.max_expiry_s,
            condition,
            approvals: Approvals::default(),
        }
    }
}

/// A table of routes with its version.
struct Running {
    table: RoutingTable,
    version: Version,
}

impl From<RoutingTable> for Running {
    fn from(table: RoutingTable) -> Self {
        Self { version: table.version(), table }
    }
}

/// Every route there is. Fixed at the start; only the health changes, and the table that decides among them.
pub(crate) struct Routes {
    all: Vec<Route>,
    /// Changed all at once: a plan is made with the one of before or with the one of after.
    running: RwLock<Arc<Running>>,
}

impl Routes {
    /// With a table that has no rules.
    pub(crate) fn new(all: Vec<Route>) -> Self {
        let standing = |spec: &AcquirerSpec| Standing { priority: spec.priority, weight: spec.weight };
        let standings = all.iter().map(|route| (route.spec().name.clone(), standing(route.spec())));
        let table = RoutingTable { standings: standings.collect(), ..RoutingTable::default() };
        Self { all, running: RwLock::new(Arc::new(table.into())) }
    }

    /// Decides by this table, from the next plan on.
    pub(crate) fn route_by(&self, table: RoutingTable) {
        *self.running.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(table.into());
    }

    fn running(&self) -> Arc<Running> {
        Arc::clone(&self.running.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Which table decides.
    pub(crate) fn version(&self) -> Version {
        self.running().version.clone()
    }

    /// The route of an acquirer for a method.
    pub(crate) fn find(&self, acquirer: &AcquirerName, method: Method) -> Option<&Route> {
        self.all.iter().find(|route| route.spec().name == *acquirer && route.method == method)
    }

    /// The route of an acquirer for any method: one on which something is sent, if there is one.
    pub(crate) fn any_of(&self, acquirer: &str) -> Option<&Route> {
        let mut routes = self.all.iter().filter(|route| route.spec().name.as_str() == acquirer);
        routes.clone().find(|route| route.health.sends()).or_else(|| routes.next())
    }

    /// The acquirers looked at for an order, the eligible ones first and in the order in which they are tried; and what
    /// decided so.
    pub(crate) fn plan(
        &self,
        order: &Order,
        owner: &Owner,
        context: &Context,
        merchant_waits: Duration,
    ) -> Result<(Vec<Considered>, Routed), NoRoute> {
        let running = self.running();
        let candidates = self.candidates(order, owner.mode, context.now, merchant_waits);
        let wanted = Wanted::of(order, &owner.merchant, context.now);
        let planned = plan(&wanted, &candidates, &running.table, context.dice);
        planned.is_possible()?;
        Ok((planned.considered(), planned.routed(running.version.clone())))
    }
}

impl Routes {
    /// Those that take an order of this mode, as they are now.
    fn candidates(
        &self,
        order: &Order,
        mode: Mode,
        now: Timestamp,
        merchant_waits: Duration,
    ) -> Vec<Candidate<'_>> {
        let takes = |route: &&Route| route.spec().mode == mode && route.method == order.method;
        let routes = self.all.iter().filter(takes);
        routes.map(|route| route.candidate(now, merchant_waits)).collect()
    }

    /// Which way an order would go at this time, with the acquirers as they are now. Nothing comes of it.
    pub(crate) fn evaluate(
        &self,
        order: &Order,
        owner: &Owner,
        (now, at): (Timestamp, Timestamp),
        dice: u64,
        merchant_waits: Duration,
    ) -> Evaluated {
        let running = self.running();
        let candidates = self.candidates(order, owner.mode, now, merchant_waits);
        let wanted = Wanted::of(order, &owner.merchant, at);
        let planned = plan(&wanted, &candidates, &running.table, dice);
        Evaluated::of(&planned, &wanted, &running.table, running.version.clone())
    }

    /// Every route.
    pub(crate) fn all(&self) -> &[Route] {
        &self.all
    }

    /// The health of every route.
    pub(crate) fn health(&self, now: Timestamp) -> Vec<RouteHealth> {
        self.all.iter().map(|route| route.health(now)).collect()
    }

    /// Everything that is shown of every route.
    pub(crate) fn views(&self, now: Timestamp) -> Vec<RouteView> {
        self.all.iter().map(|route| route.view(now)).collect()
    }

    /// Shows as a metric how every route is.
    pub(crate) fn show(&self, meter: &Meter, now: Timestamp) {
        for route in &self.all {
            let is = route.health.state(now);
            for state in RouteState::ALL {
                let labels = [route.spec().name.as_str(), route.method.label(), state.as_str()];
                meter.route_states.with_label_values(&labels).set(i64::from(state == is));
            }
        }
    }
}
