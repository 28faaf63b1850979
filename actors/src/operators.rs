//! The application service of the operators' console: views and directives. A payment is changed only by its own actor,
//! here as everywhere.

use std::sync::Arc;

use futures_util::future::join_all;
use quita_domain::control::{RouteControl, RouteDirective};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::identity::{AcquirerName, OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::Verdict;
use quita_domain::payment::{Command, Payment};
use quita_domain::reconciliation::ReconciliationKind;
use quita_domain::routing::{RoutingTable, Version};
use tokio::sync::watch;
use uuid::Uuid;

use crate::acquirers::route_view::RouteView;
use crate::acquirers::routing::Route;
use crate::actor::kind::ActorKind;
use crate::actor::mailbox::NoAnswer;
use crate::denied::Denied;
use crate::system::parts::SystemParts;
use crate::transaction::front::look::{Busiest, Inspect};
use crate::upkeep::known_nodes::NodeView;
use crate::watch::actor_view::{ActorView, ShardView};
use crate::watch::sample::{MessageSample, Sample};

/// Result of asking an acquirer. The acquirer's answer changes the payment later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It is being asked.
    Asked(Arc<Payment>),
    /// Nothing is open, or a call is under way and must end first.
    NothingToAsk(Arc<Payment>),
    /// Nothing is sent to this acquirer now, because of an operator's directive or because it is no longer configured.
    Withheld(Arc<Payment>),
}

/// The application service of operators. Cheap to clone.
#[derive(Clone)]
pub struct Operators {
    system: Arc<SystemParts>,
}

impl Operators {
    pub(crate) const fn new(system: Arc<SystemParts>) -> Self {
        Self { system }
    }

    /// Returns the sample of the last second.
    pub fn sample(&self) -> Arc<Sample> {
        Arc::clone(&self.system.samples.follow().borrow())
    }

    /// Subscribes to samples, starting with the newest. There is one a second, however many clients watch.
    pub fn samples(&self) -> watch::Receiver<Arc<Sample>> {
        self.system.samples.follow()
    }

    /// Returns the samples of the last 15 minutes, oldest first; each covers 5 seconds.
    pub fn history(&self) -> Vec<Arc<Sample>> {
        self.system.samples.history()
    }

    /// Returns the figures of each message of one kind of actor during the last minute.
    pub fn messages(&self, kind: ActorKind) -> Vec<MessageSample> {
        self.system.samples.messages(kind)
    }

    /// Returns the actor of a transaction; `None` if it is not in memory on this node.
    ///
    /// # Errors
    /// Fails if its front does not answer.
    pub async fn inspect(&self, id: TransactionId) -> Result<Option<ActorView>, Denied> {
        let front = self.system.commands.front(id).ok_or(Denied::Stopping)?;
        front.mailbox().ask(Inspect(id)).await.map_err(unanswered)
    }

    /// Returns transactions in memory on this node, by shard: some of them, busiest first.
    ///
    /// # Errors
    /// Fails if a front does not answer.
    pub async fn busiest(&self) -> Result<Vec<ShardView>, Denied> {
        let fronts = self.system.commands.fronts.get().ok_or(Denied::Stopping)?;
        let asked = fronts.iter().map(|front| {
            let mailbox = front.mailbox();
            async move { mailbox.ask(Busiest).await.map_err(unanswered) }
        });
        join_all(asked).await.into_iter().collect()
    }

    /// Routes new payments of this node by this table from now on.
    pub fn route_by(&self, table: RoutingTable) {
        if let Some(routes) = self.system.routes.get() {
            let before = routes.version();
            routes.route_by(table);
            self.system.meter.show_routing(&before, &routes.version());
        }
    }

    /// Returns the version of the routing table in use on this node.
    pub fn routing_version(&self) -> Option<Version> {
        self.system.routes.get().map(|routes| routes.version())
    }

    /// Returns every route with its state on this node.
    pub fn routes(&self) -> Vec<RouteView> {
        self.system.routes.get().map(|routes| routes.views(self.system.clock.now())).unwrap_or_default()
    }

    /// Directs whether an acquirer is used for a method. Takes effect here at once, on every other node within two
    /// seconds, and survives restarts. Returns `None` if there is no such route.
    ///
    /// # Errors
    /// Fails if the directive may not have been stored; the routes show it a second later.
    pub async fn direct(
        &self,
        acquirer: &AcquirerName,
        method: Method,
        directive: RouteDirective,
    ) -> Result<Option<RouteView>, Denied> {
        let Some(route) = self.route(acquirer, method) else { return Ok(None) };
        let at = self.system.clock.now();
        let control = RouteControl { acquirer: acquirer.clone(), method, directive, at };
        self.system.directives.give(self.system.books.store.as_ref(), route, &control).await?;
        Ok(Some(route.view(self.system.clock.now())))
    }

    fn route(&self, acquirer: &AcquirerName, method: Method) -> Option<&Route> {
        self.system.routes.get()?.find(acquirer, method)
    }

    /// Lists open exceptions, newest first.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn exceptions(&self, limit: usize) -> Result<Vec<Exception>, Denied> {
        Ok(self.system.books.store.exceptions(limit).await?)
    }

    /// Counts an exception found by reconciliation.
    pub fn count_exception(&self, kind: ReconciliationKind) {
        self.system.meter.exceptions.with_label_values(&[kind.as_str()]).inc();
    }

    /// Reports to every node that the comparison of acquirers' lists failed on this one, or works again.
    pub fn report_comparison(&self, failure: Option<&str>) {
        self.system.known_nodes.set_comparison_failure(failure);
    }

    /// Lists resolved exceptions, most recently resolved first.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn resolved(&self, limit: usize) -> Result<Vec<Exception>, Denied> {
        Ok(self.system.books.store.resolved_exceptions(limit).await?)
    }

    /// Returns one exception, open or resolved.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn exception(&self, id: &str) -> Result<Option<Exception>, Denied> {
        Ok(self.system.books.store.exception(id).await?)
    }

    /// Resolves an exception and changes nothing else. Returns `false` if no open exception has this id.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn resolve(&self, id: &str, resolution: &Resolution) -> Result<bool, Denied> {
        Ok(self.system.books.store.resolve_exception(id, resolution).await?)
    }

    /// Makes a payment ask its acquirer now about everything that is open. The answer changes the payment like any
    /// other.
    ///
    /// # Errors
    /// [`Denied::NotFound`] if there is no such payment; or when the store does not answer.
    pub async fn ask_acquirer(&self, id: TransactionId) -> Result<Asked, Denied> {
        let payment = self.system.books.load(id).await?.ok_or(Denied::NotFound)?;
        let route = payment.acquirer().and_then(|acquirer| self.route(acquirer, payment.method()));
        if !route.is_some_and(|route| route.health.sends()) {
            return Ok(Asked::Withheld(payment));
        }
        let executed = self.system.commands.execute(id, Command::InquireNow).await?;
        self.system.exceptions.report_all(&executed);
        Ok(match executed.calls_acquirer {
            true => Asked::Asked(executed.payment),
            false => Asked::NothingToAsk(executed.payment),
        })
    }

    /// Ends a stuck operation with the outcome that a person found out. A later, contradicting answer of the acquirer
    /// is reported.
    ///
    /// # Errors
    /// [`Denied::NotFound`] if there is no such payment, [`Denied::Refused`] if the operation is not stuck; or when the
    /// store does not answer.
    pub async fn resolve_operation(
        &self,
        id: TransactionId,
        operation: OperationId,
        verdict: Verdict,
    ) -> Result<Arc<Payment>, Denied> {
        let command = Command::OperationResolved { operation, verdict };
        let executed = self.system.commands.execute(id, command).await?;
        self.system.exceptions.report_all(&executed);
        Ok(executed.payment)
    }

    /// Ends a charge of unknown outcome with the outcome that a person found out. Money that the acquirer reports later
    /// is given back and reported.
    ///
    /// # Errors
    /// [`Denied::NotFound`] if there is no such payment, [`Denied::Refused`] if the charge is not stuck; or when the store
    /// does not answer.
    pub async fn resolve_charge(
        &self,
        id: TransactionId,
        attempt: AttemptNumber,
        verdict: Verdict,
    ) -> Result<Arc<Payment>, Denied> {
        let command = Command::ChargeResolved { attempt, verdict };
        let executed = self.system.commands.execute(id, command).await?;
        self.system.exceptions.report_all(&executed);
        Ok(executed.payment)
    }

    /// Ends a payment whose acquirer takes no more money for it, but has another amount than requested.
    ///
    /// # Errors
    /// [`Denied::NotFound`] if there is no such payment, [`Denied::Refused`] if it has no such mismatch; or when the
    /// store does not answer.
    pub async fn end_mismatch(&self, id: TransactionId) -> Result<Arc<Payment>, Denied> {
        let executed = self.system.commands.execute(id, Command::MismatchEnded).await?;
        Ok(executed.payment)
    }

    /// Returns the processes on this store, lost ones included, oldest start first. At most five seconds old; while the
    /// store is away, the other live ones are unknown.
    pub fn nodes(&self) -> Vec<NodeView> {
        self.system.nodes()
    }

    /// Returns true if live nodes have been routing payments by different tables or accounts for minutes.
    pub fn routes_differ(&self) -> bool {
        self.system.known_nodes.routes_differ()
    }

    /// Removes a lost node from the list, on every node. Returns `false` if no lost node has this id.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn take_off(&self, id: Uuid) -> Result<bool, Denied> {
        let is_lost = |view: &NodeView| view.node.id == id && view.is_lost();
        if !self.nodes().iter().any(is_lost) {
            return Ok(false);
        }
        let removed = self.system.books.store.remove_node(id).await?;
        // Otherwise it would be shown here until the list is read again, seconds later.
        self.system.known_nodes.forget(id);
        Ok(removed)
    }

    /// Removes this node from the list, so that the other nodes do not report it as lost. Call it after its actors have
    /// stopped.
    ///
    /// # Errors
    /// Fails if the store does not answer; then this node counts as lost.
    pub async fn leave(&self) -> Result<(), Denied> {
        self.system.books.store.remove_node(self.system.own_node).await?;
        Ok(())
    }
}

const fn unanswered(why: NoAnswer) -> Denied {
    match why {
        NoAnswer::Full => Denied::Overloaded,
        NoAnswer::Died => Denied::Interrupted,
    }
}
