//! The application service: everything that the edge may ask of the actors. The API, the pages and the merchants'
//! console call nothing else. The operators' service is [`crate::Operators`].

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::Notice;
use quita_domain::exception::Exception;
use quita_domain::identity::{Mode, Owner, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, PaymentFilter};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::DeliveryIndex;
use quita_domain::operation::{Operation, OperationRequest};
use quita_domain::order::Order;
use quita_domain::payment::{Command, Payment};
use quita_domain::routing::Evaluated;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, Ids, Listed, NoticeHead, NoticeSink, RawNotice, SinkError};
use tokio::time::{Instant, sleep, timeout_at};

use crate::acquirers::inbox_sink::InboxSink;
use crate::acquirers::method_outages::MethodOutage;
use crate::acquirers::missing_routes::RouteKey;
use crate::acquirers::notices::{NoticeDenied, Notices};
use crate::acquirers::route_view::RouteHealth;
use crate::denied::Denied;
use crate::store::failing_reads::FailingReads;
use crate::store::state::{StoreAway, StoreState};
use crate::system::parts::SystemParts;
use crate::transaction::messages::{
    Asker, Await, Create, CreatePayment, Created, Execute, Forget, Read, Until,
};
use crate::transaction::published::Seen;

/// Pause before a waiting caller asks again after an actor died.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// First and longest pause between two looks at the store, where another node may have made the awaited change.
const LOOK_AFTER: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(800)];

/// Result of a cancellation, a capture or a refund.
#[derive(Debug, Clone)]
pub struct Operated {
    /// The payment after the operation.
    pub payment: Arc<Payment>,
    /// The operation.
    pub operation: Operation,
    /// True if the operation existed already, under the same key.
    pub is_replay: bool,
}

/// Readiness for payments.
#[derive(Debug, Clone)]
pub struct Readiness {
    /// Absence of the store, also while it answers reads but refuses writes.
    pub store_away: Option<StoreAway>,
    /// True if the actors take messages.
    pub takes_messages: bool,
    /// Health of every route.
    pub routes: Vec<RouteHealth>,
    /// Seconds by which this node's clock is ahead of that of the store's server, negative if it is behind. `None`
    /// while they agree within a few seconds, and while the difference is unknown.
    pub clock_ahead_s: Option<i64>,
}

impl Readiness {
    /// Returns true if payments can be taken: the store is up, the actors take messages, and an acquirer is in use.
    pub fn is_ready(&self) -> bool {
        let has_route = || self.routes.iter().any(|route| route.state.takes_new_payments());
        self.store_away.is_none() && self.takes_messages && has_route()
    }
}

/// The application service. Cheap to clone.
#[derive(Clone)]
pub struct Payments {
    system: Arc<SystemParts>,
    inbox: InboxSink,
    notices: Notices,
}

impl Payments {
    pub(crate) fn new(system: Arc<SystemParts>, inbox: InboxSink) -> Self {
        let notices = Notices::new(Arc::clone(&system), inbox.clone());
        Self { system, inbox, notices }
    }

    pub(crate) fn clock_and_ids(&self) -> (Arc<dyn Clock>, Arc<dyn Ids>) {
        (Arc::clone(&self.system.clock), Arc::clone(&self.system.ids))
    }

    /// Creates a payment, or finds it under its key. Returns once it is durable and the acquirer has answered. After
    /// `answer_within` it returns the payment as it is then, usually `initial`; processing continues in the background.
    ///
    /// # Errors
    /// Fails if it was refused, or its outcome is uncertain; then a request with the same key returns it.
    pub async fn create(&self, new: CreatePayment) -> Result<Created, Denied> {
        let id = new.id;
        let until = self.patience_ends();
        let created = self.system.commands.ask(id, Create(Box::new(new))).await?;
        let payment = self.wait(&created.payment, Until::Answered, until).await;
        Ok(Created { payment, ..created })
    }

    /// Reads a payment; `None` if there is none with this id.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn read(&self, id: TransactionId) -> Result<Option<Arc<Payment>>, Denied> {
        let load = || async { self.system.books.load(id).await.map_err(Denied::StoreUnavailable) };
        if self.system.books.may_be_stale(id) {
            return load().await;
        }
        match self.system.published.look(id) {
            Seen::Known(payment) => Ok(Some(payment)),
            Seen::AtWork => self.system.commands.ask(id, Read(id)).await,
            Seen::NotLive => load().await,
        }
    }

    /// Reads a payment once its acquirer has answered; after `answer_within`, as it is then. `None` if there is none.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn read_answered(&self, id: TransactionId) -> Result<Option<Arc<Payment>>, Denied> {
        let until = self.patience_ends();
        let Some(known) = self.read(id).await? else { return Ok(None) };
        Ok(Some(self.wait(&known, Until::Answered, until).await))
    }

    /// Drops the copies of a payment in memory after its payer was erased in the store. An actor that is about to write
    /// fails at its guard and starts again from what is stored.
    ///
    /// # Errors
    /// Fails if its actor does not answer; then its copy may still be returned.
    pub async fn forget(&self, id: TransactionId) -> Result<(), Denied> {
        self.system.commands.ask(id, Forget(id)).await
    }

    /// Reads a payment that this owner may see.
    ///
    /// # Errors
    /// [`Denied::NotFound`], also for another owner's payment; or when the store does not answer.
    pub async fn read_own(&self, id: TransactionId, owner: &Owner) -> Result<Arc<Payment>, Denied> {
        let payment = self.read(id).await?;
        payment.filter(|payment| owner.may_see(&payment.owner)).ok_or(Denied::NotFound)
    }

    /// Evaluates how an order would be routed at this time, with this dice value or a random one. Uses the current
    /// state of the acquirers on this node, and has no effect.
    ///
    /// # Errors
    /// Fails if the service is stopping.
    pub fn evaluate(
        &self,
        order: &Order,
        owner: &Owner,
        at: Timestamp,
        dice: Option<u64>,
    ) -> Result<Evaluated, Denied> {
        let routes = self.system.routes.get().ok_or(Denied::Stopping)?;
        let dice = dice.unwrap_or_else(|| self.system.dice.roll());
        let now = self.system.clock.now();
        let merchant_waits = self.system.limits.answer_within;
        Ok(routes.evaluate(order, owner, now, at, dice, merchant_waits))
    }

    /// Returns true if an acquirer that gets new payments could take this order: its amount, terms and recipients.
    pub fn may_take(&self, order: &Order, owner: &Owner) -> bool {
        let now = self.system.clock.now();
        self.system.routes.get().is_some_and(|routes| routes.may_take(order, owner, now))
    }

    /// Returns the reason why no acquirer of the mode could ever take this order, whatever their states; `None` if one
    /// could.
    pub fn lasting_refusal(&self, order: &Order, owner: &Owner) -> Option<Denied> {
        let now = self.system.clock.now();
        let routes = self.system.routes.get()?;
        routes.lasting_refusal(order, owner, now).map(Denied::from)
    }

    /// Returns the least and the greatest amount that acquirers of these methods take; `None` if there are none.
    pub fn amounts(&self, methods: &[Method], mode: Mode) -> Option<RangeInclusive<Money>> {
        self.system.routes.get()?.amounts(methods, mode)
    }

    /// Returns the cost of a payment at its acquirer according to the table of costs in use, if a line matches.
    pub fn reckoned_cost(&self, payment: &Payment) -> Option<Money> {
        self.system.routes.get().and_then(|routes| routes.reckoned_cost(payment))
    }

    /// Cancels, captures or refunds. Returns once the acquirer has answered, or after `answer_within` while it is still
    /// processing.
    ///
    /// # Errors
    /// Fails if it was refused, or its outcome is uncertain.
    pub async fn operate(
        &self,
        id: TransactionId,
        owner: Owner,
        request: OperationRequest,
    ) -> Result<Operated, Denied> {
        let command = Command::Operate(request);
        let until = self.patience_ends();
        let executed =
            self.system.commands.ask(id, Execute { id, asker: Asker::Owner(owner), command }).await?;
        let wanted = executed.operation.ok_or(Denied::Defect("an operation has an id"))?;
        let payment = self.wait(&executed.payment, Until::Ended(wanted), until).await;
        let operation = payment.operations.iter().find(|operation| operation.id == wanted).cloned();
        let operation = operation.ok_or(Denied::Defect("an operation is stored"))?;
        Ok(Operated { payment, operation, is_replay: executed.is_replay })
    }

    /// Delivers an event again. Returns the payment and the index of the new delivery.
    ///
    /// # Errors
    /// Fails if there is no such delivery, or the store does not answer.
    pub async fn redeliver(
        &self,
        id: TransactionId,
        owner: Owner,
        delivery: DeliveryIndex,
    ) -> Result<(Arc<Payment>, DeliveryIndex), Denied> {
        let command = Command::Redeliver { delivery };
        let executed =
            self.system.commands.ask(id, Execute { id, asker: Asker::Owner(owner), command }).await?;
        let index = DeliveryIndex::at(executed.payment.outbox.len().saturating_sub(1));
        Ok((executed.payment, index))
    }

    /// Lists payments, newest first.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn list(
        &self,
        filter: &PaymentFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, Denied> {
        Ok(self.system.books.store.list(filter, after, limit).await?)
    }

    /// Lists payments that hold matching deliveries, newest first.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn list_with_deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, Denied> {
        Ok(self.system.books.store.list_with_deliveries(filter, after, limit).await?)
    }

    /// Lists payments that hold matching refunds or disputes, newest first.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn list_with_movements(
        &self,
        filter: &MovementFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, Denied> {
        Ok(self.system.books.store.list_with_movements(filter, after, limit).await?)
    }

    /// Refuses a notice whose head already shows that no provider sent it, so that its body need not be read.
    ///
    /// # Errors
    /// Fails if there is no such address, or the notice is not authentic.
    pub fn admit_notice(&self, acquirer: &str, head: &NoticeHead<'_>) -> Result<(), NoticeDenied> {
        self.notices.admit(acquirer, head)
    }

    /// Accepts a notice that a provider sent to its acquirer's address. Returns once the payment has recorded it, or
    /// once it is stored to be processed later.
    ///
    /// # Errors
    /// Fails if there is no such address, or the notice is not authentic or was not stored. In the last case the
    /// provider has to send it again.
    pub async fn take_notice(&self, acquirer: &str, notice: &RawNotice<'_>) -> Result<(), NoticeDenied> {
        self.notices.take(acquirer, notice).await
    }

    /// Takes a notice made in this process. Returns true if it is new.
    ///
    /// # Errors
    /// Fails if it was not stored.
    pub async fn submit(&self, notice: Notice) -> Result<bool, SinkError> {
        self.inbox.submit(notice).await
    }

    /// Takes a notice, and waits up to `answer_within` until the payment has recorded it. Returns the payment as it is
    /// then.
    ///
    /// # Errors
    /// Fails if the notice was not stored.
    pub async fn submit_and_await(
        &self,
        notice: Notice,
        payment: &Arc<Payment>,
    ) -> Result<Arc<Payment>, Denied> {
        let version = payment.state.version;
        self.submit(notice).await.map_err(|error| match error {
            SinkError::Busy => Denied::Overloaded,
            SinkError::Store(error) => Denied::StoreUnavailable(error),
        })?;
        Ok(self.wait(payment, Until::ChangedSince(version), self.patience_ends()).await)
    }

    /// Reports an exception that concerns no single payment to operators. It is stored in the background, once for each
    /// id.
    pub fn report(&self, exception: Exception) {
        self.system.exceptions.report_until_stored(exception);
    }

    /// Returns the health of every route.
    pub fn acquirers(&self) -> Vec<RouteHealth> {
        self.system.route_health()
    }

    /// Returns the methods that no acquirer can take, because every open one is failing.
    pub fn method_outages(&self) -> Vec<MethodOutage> {
        self.system.method_outages()
    }

    /// Returns reads of the store that fail while it otherwise answers.
    pub fn failing_reads(&self) -> Option<FailingReads> {
        self.system.books.state.failing_reads()
    }

    /// Returns the routes that open payments needed recently but that are not configured on this node.
    pub fn missing_routes(&self) -> Vec<RouteKey> {
        self.system.missing_routes.known(self.system.clock.now())
    }

    /// Asks the store for an answer now. Its state, and with it [`Self::readiness`], takes the result into account.
    pub async fn probe_store(&self) {
        if let Err(error) = self.system.books.store.ping().await {
            tracing::debug!(%error, "the store did not answer a readiness check");
        }
    }

    /// Returns the readiness for payments, the single source for `/health/ready` and `quita_ready`.
    pub fn readiness(&self) -> Readiness {
        Readiness {
            store_away: self.store_away(),
            takes_messages: self.takes_messages(),
            routes: self.acquirers(),
            clock_ahead_s: self.system.known_nodes.own_clock_ahead_s(),
        }
    }

    /// Returns the address of this node if others work on the same store; `None` if it is the only one.
    pub fn node_among_others(&self) -> Option<String> {
        let nodes = self.system.known_nodes.all();
        let own = nodes.iter().find(|view| view.is_own).filter(|_| nodes.len() > 1);
        own.map(|view| view.node.address.clone())
    }

    /// Returns the state of the store.
    pub fn store_state(&self) -> Arc<StoreState> {
        Arc::clone(&self.system.books.state)
    }

    /// Returns the absence of the store; `None` while it is up.
    pub fn store_away(&self) -> Option<StoreAway> {
        self.system.books.state.away()
    }

    /// Returns true if every front shard and the journal take messages.
    pub fn takes_messages(&self) -> bool {
        let fronts = self
            .system
            .commands
            .fronts
            .get()
            .is_some_and(|fronts| fronts.iter().all(|front| front.mailbox().is_alive()));
        fronts && self.system.books.takes_writes()
    }

    /// Returns the time by which a caller that asks now is answered.
    fn patience_ends(&self) -> Instant {
        Instant::now() + self.system.limits.answer_within
    }

    /// Waits until the condition holds for a payment, or the time is up. Returns the payment as it is then.
    async fn wait(&self, payment: &Arc<Payment>, until: Until, latest: Instant) -> Arc<Payment> {
        if until.has_come(payment) {
            return Arc::clone(payment);
        }
        // Boxed: most creations at the sandbox need not wait, and carry a pointer instead.
        Box::pin(self.wait_for_news(payment, until, latest)).await
    }

    async fn wait_for_news(&self, payment: &Arc<Payment>, until: Until, latest: Instant) -> Arc<Payment> {
        let id = payment.id;
        let come = async {
            tokio::select! {
                biased;
                told = self.told_here(id, until) => told,
                seen = self.seen_in_store(id, until) => Ok(seen),
            }
        };
        let found = match timeout_at(latest, come).await {
            Ok(Ok(payment)) => Some(payment),
            Ok(Err(_)) | Err(_) => self.read(id).await.ok().flatten(),
        };
        // An older state must not contradict what the caller was already told.
        found.filter(|found| found.revision >= payment.revision).unwrap_or_else(|| Arc::clone(payment))
    }

    /// Waits until the payment's actor on this node reports that the condition holds.
    async fn told_here(&self, id: TransactionId, until: Until) -> Result<Arc<Payment>, Denied> {
        loop {
            match self.system.commands.ask(id, Await { id, until }).await {
                // The actor died or left memory before it answered. Ask its successor.
                Err(Denied::Interrupted) => sleep(ASK_AGAIN_AFTER).await,
                result => return result,
            }
        }
    }

    /// Polls the store until the condition holds there: another node may have made the change.
    async fn seen_in_store(&self, id: TransactionId, until: Until) -> Arc<Payment> {
        let [mut wait, longest] = LOOK_AFTER;
        loop {
            sleep(wait).await;
            wait = wait.saturating_mul(2).min(longest);
            if self.system.books.may_be_stale(id)
                && let Ok(Some(payment)) = self.read(id).await
                && until.has_come(&payment)
            {
                return payment;
            }
        }
    }
}
