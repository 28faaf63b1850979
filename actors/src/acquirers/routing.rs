//! Routing: the acquirers that a payment may take, in order. Reads the health that the acquirer actors report.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use quita_domain::card::Brand;
use quita_domain::identity::{AcquirerName, Mode, Owner};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Order;
use quita_domain::payment::{Context, Payment};
use quita_domain::routing::{
    Candidate, Condition, Considered, CostLine, Evaluated, NoRoute, RouteInputs, Routed, RoutingTable,
    Standing, Version, plan,
};
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec, Preparation};

use crate::acquirers::acquirer::AcquirerActor;
use crate::acquirers::approvals::{self, ApprovalWindows};
use crate::acquirers::call_outcome::CallOutcome;
use crate::acquirers::costs::{CostRuns, DIFFERENT_IN_A_ROW};
use crate::acquirers::health::Health;
use crate::acquirers::method_outages::{MethodOutage, MethodOutages};
use crate::acquirers::our_numbers::OurNumbers;
use crate::acquirers::pace::Pace;
use crate::acquirers::route_view::{RouteApprovals, RouteHealth, RouteView};
use crate::actor::slot::Slot;
use crate::watch::meter::Meter;

/// Reason against an acquirer: no slip number is left.
const NUMBERS_USED_UP: &str = "numbers_used_up";

/// One acquirer for one method.
pub(crate) struct Route {
    pub(crate) factory: Arc<dyn AcquirerFactory>,
    pub(crate) method: Method,
    pub(crate) health: Arc<Health>,
    /// Shared by every method of the acquirer.
    pub(crate) pace: Arc<Pace>,
    pub(crate) approvals: ApprovalWindows,
    /// Numbers of its slips, if it leaves them to us. Shared by every method.
    pub(crate) numbers: Option<Arc<OurNumbers>>,
    pub(crate) slot: Arc<Slot<AcquirerActor>>,
}

impl Route {
    pub(crate) fn spec(&self) -> &AcquirerSpec {
        self.factory.spec()
    }

    /// Returns the view of the route for operators.
    pub(crate) fn view(&self, now: Timestamp) -> RouteView {
        let throttled_ms =
            self.pace.throttled_for().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let approvals = self.approvals.all().into_iter().map(|(brand, known)| RouteApprovals {
            brand,
            approved: known.approved,
            tries: known.tries,
        });
        RouteView {
            throttled_until: throttled_ms.map(|wait_ms| now.plus_ms(wait_ms)),
            approvals: approvals.collect(),
            ..self.health.view(self.health(now), now)
        }
    }

    /// Returns its health, in brief.
    fn health(&self, now: Timestamp) -> RouteHealth {
        RouteHealth {
            acquirer: self.spec().name.clone(),
            method: self.method,
            mode: self.spec().mode,
            state: self.health.state(now),
            failing_since: self.health.failing_since(now),
            error: self.health.failing_with(now),
        }
    }

    /// Counts a charge that was answered in this process, without a call. Operators see it like any other.
    pub(crate) fn count_local(&self, took: Duration, meter: &Meter, now: Timestamp) {
        let outcome = CallOutcome::Answered;
        if let Some(change) = self.health.ended(outcome, took, now, None) {
            change.tell(&self.spec().name, self.method, None);
        }
        meter.count_call(&self.spec().name, self.method, outcome, took);
    }

    /// Returns the time for which no call leaves: the provider wants none, or a prerequisite of calls is not available.
    fn held_for(&self) -> Option<Duration> {
        let preparation = self.factory.preparation().and_then(Preparation::held_for);
        self.pace.throttled_for().max(preparation)
    }

    /// Returns the route as a candidate for an order. The merchant waits for `merchant_waits`.
    fn candidate(&self, now: Timestamp, merchant_waits: Duration, order: &Order) -> Candidate<'_> {
        let condition = match (self.health.condition(now), self.held_for()) {
            (Condition::Healthy | Condition::Failing, Some(wait)) if wait > merchant_waits => {
                Condition::ThrottledForLong
            }
            // At the configured rate the call would leave after its merchant has stopped waiting.
            (Condition::Healthy | Condition::Failing, _) if self.pace.backlog() > merchant_waits => {
                Condition::Busy
            }
            (Condition::Healthy | Condition::Failing, Some(_)) => Condition::Throttled,
            (condition, _) => condition,
        };
        let brand = order.card().map(|card| card.brand);
        let is_used_up = self.numbers.as_ref().is_some_and(|numbers| numbers.are_used_up());
        let objection = self.factory.objection(order).or(is_used_up.then_some(NUMBERS_USED_UP));
        Candidate { objection, ..self.spec().candidate(condition, self.approvals.of(brand)) }
    }
}

/// A table of routes with its version.
struct Running {
    table: RoutingTable,
    version: Version,
    counts_tries: bool,
}

impl From<RoutingTable> for Running {
    fn from(table: RoutingTable) -> Self {
        Self { version: table.version(), counts_tries: table.retries_declines(), table }
    }
}

/// All routes. Fixed at the start; only their health and the routing table change.
pub(crate) struct Routes {
    all: Vec<Route>,
    /// Replaced as a whole: each plan uses the old table or the new one.
    running: RwLock<Arc<Running>>,
    costs: CostRuns,
    outages: MethodOutages,
}

impl Routes {
    /// Creates the routes with a table that has no rules.
    pub(crate) fn new(all: Vec<Route>) -> Self {
        let standing = |spec: &AcquirerSpec| Standing { priority: spec.priority, weight: spec.weight };
        let standings = all.iter().map(|route| (route.spec().name.clone(), standing(route.spec())));
        let table = RoutingTable { standings: standings.collect(), ..RoutingTable::default() };
        let running = RwLock::new(Arc::new(table.into()));
        Self { all, running, costs: CostRuns::default(), outages: MethodOutages::default() }
    }

    /// Uses this table for all plans from now on.
    pub(crate) fn route_by(&self, table: RoutingTable) {
        *self.running.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(table.into());
    }

    fn running(&self) -> Arc<Running> {
        Arc::clone(&self.running.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the version of the table in use.
    pub(crate) fn version(&self) -> Version {
        self.running().version.clone()
    }

    /// Returns the version of the accounts that its acquirers have now.
    pub(crate) fn accounts(&self) -> Version {
        let accounts = self.all.iter().map(|route| (route.spec().name.clone(), route.factory.account()));
        Version::of_accounts(&accounts.collect())
    }

    /// Returns true if tries of a card are counted, because a rule sends declined charges to a further acquirer.
    pub(crate) fn count_tries(&self) -> bool {
        self.running().counts_tries
    }

    /// Returns the route of an acquirer for a method.
    pub(crate) fn find(&self, acquirer: &AcquirerName, method: Method) -> Option<&Route> {
        self.all.iter().find(|route| route.spec().name == *acquirer && route.method == method)
    }

    /// Returns a route of an acquirer for any method, preferably one on which calls are sent.
    pub(crate) fn any_of(&self, acquirer: &str) -> Option<&Route> {
        let mut routes = self.all.iter().filter(|route| route.spec().name.as_str() == acquirer);
        routes.clone().find(|route| route.health.sends()).or_else(|| routes.next())
    }

    /// Plans the route of an order. Returns the acquirers considered, eligible ones first in the order in which they
    /// are tried, and the reason for that order. Acquirers in `unready` are skipped as if they were throttled.
    pub(crate) fn plan(
        &self,
        order: &Order,
        owner: &Owner,
        context: &Context,
        merchant_waits: Duration,
        unready: &[AcquirerName],
    ) -> Result<(Vec<Considered>, Routed), NoRoute> {
        let running = self.running();
        let mut candidates = self.candidates(order, owner.mode, context.now, merchant_waits);
        for candidate in &mut candidates {
            if unready.contains(candidate.acquirer) {
                candidate.condition = Condition::ThrottledForLong;
            }
        }
        let inputs = RouteInputs::of(order, &owner.merchant, context.now);
        let planned = plan(&inputs, &candidates, &running.table, context.dice);
        planned.is_possible()?;
        Ok((planned.considered(), planned.routed(running.version.clone())))
    }
}

impl Routes {
    /// Returns the routes that take an order of this mode, in their current state.
    fn candidates(
        &self,
        order: &Order,
        mode: Mode,
        now: Timestamp,
        merchant_waits: Duration,
    ) -> Vec<Candidate<'_>> {
        let takes = |route: &&Route| route.spec().mode == mode && route.method == order.method;
        self.all.iter().filter(takes).map(|route| route.candidate(now, merchant_waits, order)).collect()
    }

    /// Evaluates how an order would be routed at this time, with the state that the acquirers have now. Has no
    /// effect.
    pub(crate) fn evaluate(
        &self,
        order: &Order,
        owner: &Owner,
        now: Timestamp,
        at: Timestamp,
        dice: u64,
        merchant_waits: Duration,
    ) -> Evaluated {
        let running = self.running();
        let candidates = self.candidates(order, owner.mode, now, merchant_waits);
        let inputs = RouteInputs::of(order, &owner.merchant, at);
        let planned = plan(&inputs, &candidates, &running.table, dice);
        Evaluated::of(&planned, &inputs, &running.table, running.version.clone())
    }

    /// Returns true if an acquirer that gets new payments could take this order. Rules are ignored, because they depend
    /// on the payer and are applied at creation.
    pub(crate) fn may_take(&self, order: &Order, owner: &Owner, now: Timestamp) -> bool {
        let inputs = RouteInputs::of(order, &owner.merchant, now);
        let takes = |route: &&Route| {
            route.spec().mode == owner.mode
                && route.method == order.method
                && route.health.state(now).takes_new_payments()
        };
        let objection = |route: &Route| route.candidate(now, Duration::MAX, order).lasting_objection(&inputs);
        self.all.iter().filter(takes).any(|route| objection(route).is_none())
    }

    /// Returns the reason why no acquirer could ever take this order, whatever their states; `None` if one could. Rules
    /// are ignored, as in [`Self::may_take`].
    pub(crate) fn lasting_refusal(&self, order: &Order, owner: &Owner, now: Timestamp) -> Option<NoRoute> {
        let candidates = self.candidates(order, owner.mode, now, Duration::MAX);
        let inputs = RouteInputs::of(order, &owner.merchant, now);
        match plan(&inputs, &candidates, &RoutingTable::default(), 0).is_possible() {
            Ok(()) | Err(NoRoute::NoneEligible) => None,
            Err(
                no_route @ (NoRoute::MethodUnavailable
                | NoRoute::AmountNotAccepted
                | NoRoute::ExpiryNotAccepted),
            ) => Some(no_route),
        }
    }

    /// Returns the least and the greatest amount that acquirers of these methods take; `None` if there are none.
    pub(crate) fn amounts(&self, methods: &[Method], mode: Mode) -> Option<RangeInclusive<Money>> {
        let takes = |route: &&Route| route.spec().mode == mode && methods.contains(&route.method);
        let specs = || self.all.iter().filter(takes).map(Route::spec);
        let least = specs().map(|spec| spec.min_amount).min()?;
        let greatest = specs().map(|spec| spec.max_amount).max()?;
        Some(least..=greatest)
    }

    /// Counts the tries that ended by this write, and compares the cost that it learnt.
    pub(crate) fn count_ended(&self, before: Option<&Payment>, after: &Payment) {
        self.compare_cost(before, after);
        let brand = after.order.card().map(|card| card.brand);
        for (attempt, is_approved) in approvals::ended(before, after) {
            if let Some(route) = self.find(&attempt.acquirer, after.method()) {
                route.approvals.add(brand, is_approved);
            }
        }
    }

    /// Returns the cost of a payment at its acquirer according to the table of costs, if a line matches.
    pub(crate) fn reckoned_cost(&self, payment: &Payment) -> Option<Money> {
        let inputs = RouteInputs::of(&payment.order, &payment.owner.merchant, payment.created_at);
        CostLine::known_cost(&self.running().table.costs, payment.acquirer()?, &inputs)
    }

    /// Compares a cost that this write learnt with the expected one. Warns if an acquirer's costs differ for long.
    fn compare_cost(&self, before: Option<&Payment>, after: &Payment) {
        let was = before.and_then(|payment| payment.state.cost);
        let Some(cost) = after.state.cost.filter(|cost| Some(*cost) != was) else { return };
        let Some((acquirer, reckoned)) = after.acquirer().zip(self.reckoned_cost(after)) else { return };
        if self.costs.differ_for_long(acquirer, cost != reckoned) {
            tracing::warn!(
                %acquirer, %cost, %reckoned, in_a_row = DIFFERENT_IN_A_ROW, transaction.id = %after.id,
                "an acquirer charges fees that differ from its [[cost]] lines: correct them"
            );
        }
    }

    /// Returns every route.
    pub(crate) fn all(&self) -> &[Route] {
        &self.all
    }

    /// Returns the health of every route.
    pub(crate) fn health(&self, now: Timestamp) -> Vec<RouteHealth> {
        self.all.iter().map(|route| route.health(now)).collect()
    }

    /// Returns the views of all routes for operators.
    pub(crate) fn views(&self, now: Timestamp) -> Vec<RouteView> {
        self.all.iter().map(|route| route.view(now)).collect()
    }

    /// Logs each route that began to fail since the last look because time passed, and each that no longer fails. Logs
    /// outages of whole methods, too.
    pub(crate) fn tell_turns(&self, now: Timestamp) {
        for route in &self.all {
            if let Some((change, why)) = route.health.look(now) {
                change.tell(&route.spec().name, route.method, why.as_deref());
            }
        }
        self.tell_outages(now);
    }

    /// Returns the methods that no acquirer can take, as last logged.
    pub(crate) fn outages(&self) -> Vec<MethodOutage> {
        self.outages.current()
    }

    /// Logs each method that no acquirer can take any more since the last look, and each that one can take again.
    fn tell_outages(&self, now: Timestamp) {
        let mut abilities = BTreeMap::<_, Vec<_>>::new();
        for route in &self.all {
            let ability = (route.spec().name.clone(), route.health.ability(now));
            abilities.entry((route.spec().mode, route.method)).or_default().push(ability);
        }
        for (method, routes) in abilities {
            if let Some(change) = self.outages.note(method, &routes, now) {
                change.tell(method);
            }
        }
    }

    /// Exports the approval rate of every route as a metric.
    pub(crate) fn show_approvals(&self, meter: &Meter) {
        for route in &self.all {
            for (brand, approvals) in route.approvals.all() {
                let brand = brand.map_or("", Brand::as_str);
                let labels = [route.spec().name.as_str(), route.method.label(), brand];
                meter.approval.with_label_values(&labels).set(ratio(approvals.per_mille()));
                meter.approval_tries.with_label_values(&labels).set(approvals.tries.into());
            }
        }
    }
}

/// Converts thousandths into the fraction that the metric holds.
#[allow(clippy::float_arithmetic, reason = "a metric is a float, and nothing is decided by it")]
fn ratio(per_mille: u32) -> f64 {
    f64::from(per_mille) / 1_000.0
}
