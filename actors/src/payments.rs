//! The application service: what the edge may ask of the actors. The API, the pages and the merchants' console call
//! this and nothing else; what operators may ask is [`crate::Operators`].

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::Notice;
use quita_domain::identity::{Owner, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use quita_domain::operation::{Operation, OperationRequest};
use quita_domain::order::Purchase;
use quita_domain::payment::{Command, Payment, Refusal};
use quita_ports::{NoticeSink, SinkError, StoreError};
use thiserror::Error;
use tokio::time::{sleep, timeout};

use crate::inbox::InboxSink;
use crate::mailbox::{NoAnswer, Question};
use crate::published::Seen;
use crate::route_view::RouteHealth;
use crate::routing::NoRoute;
use crate::shared::{Shared, failed_before};
use crate::transaction::{Asker, Await, Create, Execute, Read, Until};

/// How long a caller that waits for a payment leaves a dead actor alone.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// How soon, and how often at least, the store is asked whether another node has done what a caller waits for.
const LOOK_AFTER: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(800)];

/// What a payment is created with.
#[derive(Debug)]
pub struct CreatePayment {
    /// Its id: derived from the caller's key, or fresh.
    pub id: TransactionId,
    /// To whom it belongs.
    pub owner: Owner,
    /// What was asked for, and the card.
    pub purchase: Purchase,
    /// Keyed hash of the request, if it came with an `Idempotency-Key`.
    pub fingerprint: Option<String>,
    /// The unguessable part of its public pages' addresses.
    pub page_token: String,
}

/// A payment that was created, or found under its key.
#[derive(Debug, Clone)]
pub struct Created {
    /// The payment as it is now.
    pub payment: Arc<Payment>,
    /// Whether it was there before.
    pub is_replay: bool,
}

/// What came of a cancellation, a capture or a refund.
#[derive(Debug, Clone)]
pub struct Operated {
    /// The payment as it is now.
    pub payment: Arc<Payment>,
    /// The operation.
    pub operation: Operation,
    /// Whether it was there before, under the same key.
    pub is_replay: bool,
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Denied {
    /// No such payment for this owner.
    #[error("transaction not found")]
    NotFound,
    /// The payment does not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The `Idempotency-Key` was used with another request.
    #[error("this Idempotency-Key was used with another request")]
    KeyReused,
    /// No acquirer takes this method in this mode.
    #[error("no acquirer is configured for this payment method in this mode")]
    MethodUnavailable,
    /// None of the acquirers that take it takes this amount.
    #[error("no acquirer takes this amount by this payment method")]
    AmountNotAccepted,
    /// The acquirers that take it are paused or busy.
    #[error("no acquirer takes this payment at the moment")]
    NoRoute,
    /// Too much is waiting; nothing was done.
    #[error("too much is waiting, try again")]
    Overloaded,
    /// The actor died while it worked; the store tells what became of it.
    #[error("the work was interrupted, ask again")]
    Interrupted,
    /// The store did not answer as it should.
    #[error("{0}")]
    StoreUnavailable(#[from] StoreError),
    /// The service is starting or stopping.
    #[error("the service is stopping")]
    Stopping,
    /// A mistake in this program.
    #[error("defect: {0}")]
    Defect(&'static str),
}

impl From<NoRoute> for Denied {
    fn from(no_route: NoRoute) -> Self {
        match no_route {
            NoRoute::MethodUnavailable => Self::MethodUnavailable,
            NoRoute::AmountNotAccepted => Self::AmountNotAccepted,
            NoRoute::NoneEligible => Self::NoRoute,
        }
    }
}

impl Denied {
    /// Whether the same request may succeed later without anything being changed.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::NoRoute
            | Self::Overloaded
            | Self::Interrupted
            | Self::StoreUnavailable(_)
            | Self::Stopping => true,
            Self::NotFound
            | Self::Refused(_)
            | Self::KeyReused
            | Self::MethodUnavailable
            | Self::AmountNotAccepted
            | Self::Defect(_) => false,
        }
    }
}

/// The application service. Cheap to clone.
#[derive(Clone)]
pub struct Payments {
    shared: Arc<Shared>,
}

impl Payments {
    pub(crate) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Creates a payment, or finds it under its key. Returns once it is durable and the acquirer has answered, or
    /// after a while as it is then, mostly `initial`: it is worked on in the background.
    ///
    /// # Errors
    /// When it was refused, or nothing certain can be said of it (the same key will tell).
    pub async fn create(&self, new: CreatePayment) -> Result<Created, Denied> {
        let id = new.id;
        let created = self.ask(id, Create(Box::new(new))).await?;
        let payment = self.wait(&created.payment, Until::Answered).await;
        Ok(Created { payment, ..created })
    }

    /// Reads a payment; `None` if there is none with this id.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn read(&self, id: TransactionId) -> Result<Option<Arc<Payment>>, Denied> {
        let load = || async { self.shared.load(id).await.map_err(Denied::StoreUnavailable) };
        if self.shared.may_be_stale(id) {
            return load().await;
        }
        match self.shared.published.look(id) {
            Seen::Known(payment) => Ok(Some(payment)),
            Seen::AtWork => self.ask(id, Read(id)).await,
            Seen::NotLive => load().await,
        }
    }

    /// Reads a payment that this owner may see.
    ///
    /// # Errors
    /// [`Denied::NotFound`] for another's payment too; or when the store does not answer.
    pub async fn read_own(&self, id: TransactionId, owner: &Owner) -> Result<Arc<Payment>, Denied> {
        let payment = self.read(id).await?;
        payment.filter(|payment| owner.may_see(&payment.owner)).ok_or(Denied::NotFound)
    }

    /// Cancels, captures or refunds. Returns once the acquirer has answered, or after a while while it is processing.
    ///
    /// # Errors
    /// When it was refused, or nothing certain can be said of it.
    pub async fn operate(
        &self,
        id: TransactionId,
        owner: Owner,
        request: OperationRequest,
    ) -> Result<Operated, Denied> {
        let command = Command::Operate(request);
        let executed = self.ask(id, Execute { id, asker: Asker::Owner(owner), command }).await?;
        let wanted = executed.operation.ok_or(Denied::Defect("an operation has an id"))?;
        let payment = self.wait(&executed.payment, Until::Ended(wanted)).await;
        let operation = payment.operations.iter().find(|operation| operation.id == wanted).cloned();
        let operation = operation.ok_or(Denied::Defect("an operation is stored"))?;
        Ok(Operated { payment, operation, is_replay: executed.is_replay })
    }

    /// Delivers an event again; returns the payment and the place of the new delivery.
    ///
    /// # Errors
    /// When there is no such delivery, or the store does not answer.
    pub async fn redeliver(
        &self,
        id: TransactionId,
        owner: Owner,
        delivery: u32,
    ) -> Result<(Arc<Payment>, u32), Denied> {
        let command = Command::Redeliver { delivery };
        let executed = self.ask(id, Execute { id, asker: Asker::Owner(owner), command }).await?;
        let place = u32::try_from(executed.payment.outbox.len().saturating_sub(1)).unwrap_or(u32::MAX);
        Ok((executed.payment, place))
    }

    /// Lists payments, newest first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn list(
        &self,
        filter: &PaymentFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Payment>, Denied> {
        Ok(self.shared.store.list(filter, after, limit).await?)
    }

    /// Lists payments that hold matching deliveries, newest first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn list_with_deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Payment>, Denied> {
        Ok(self.shared.store.list_with_deliveries(filter, after, limit).await?)
    }

    /// Takes a notice of an acquirer: returns once it is stored; it is worked afterwards.
    ///
    /// # Errors
    /// When it was not stored; the acquirer has to send it again.
    pub async fn submit(&self, notice: Notice) -> Result<(), SinkError> {
        InboxSink(Arc::clone(&self.shared)).submit(notice).await
    }

    /// Takes a notice, and waits a while until the payment has learnt it. Returns the payment as it is then.
    ///
    /// # Errors
    /// When the notice was not stored.
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
        Ok(self.wait(payment, Until::ChangedSince(version)).await)
    }

    /// How the acquirers are.
    pub fn acquirers(&self) -> Vec<RouteHealth> {
        self.shared.routes.get().map(|routes| routes.health(self.shared.clock.now())).unwrap_or_default()
    }

    /// Whether the store answers and can be trusted.
    ///
    /// # Errors
    /// Why not.
    pub async fn check_store(&self) -> Result<(), StoreError> {
        if self.shared.is_broken() {
            return Err(failed_before());
        }
        self.shared.store.ping().await
    }

    /// Whether every front shard and the journal take messages.
    pub fn takes_messages(&self) -> bool {
        let fronts = self
            .shared
            .fronts
            .get()
            .is_some_and(|fronts| fronts.iter().all(|front| front.mailbox().is_alive()));
        fronts && self.shared.journal.get().is_some_and(|journal| journal.mailbox().is_alive())
    }

    /// Waits until something has come true for a payment; tells what it is at the end of the waiting in any case.
    async fn wait(&self, payment: &Arc<Payment>, until: Until) -> Arc<Payment> {
        let id = payment.id;
        if until.has_come(payment) {
            return Arc::clone(payment);
        }
        let come = async {
            tokio::select! {
                biased;
                told = self.told_here(id, until) => told,
                seen = self.seen_in_store(id, until) => Ok(seen),
            }
        };
        let found = match timeout(self.shared.limits.answer_within, come).await {
            Ok(Ok(payment)) => Some(payment),
            Ok(Err(_)) | Err(_) => self.read(id).await.ok().flatten(),
        };
        found.filter(|found| found.revision >= payment.revision).unwrap_or_else(|| Arc::clone(payment))
    }

    /// Waits for the payment's actor on this node to tell that it has come true.
    async fn told_here(&self, id: TransactionId, until: Until) -> Result<Arc<Payment>, Denied> {
        loop {
            match self.ask(id, Await { id, until }).await {
                // Its actor died, or left the memory with the question in hand: the next one is asked.
                Err(Denied::Interrupted) => sleep(ASK_AGAIN_AFTER).await,
                result => return result,
            }
        }
    }

    /// Waits until the store shows it, where somebody else may have made the change.
    async fn seen_in_store(&self, id: TransactionId, until: Until) -> Arc<Payment> {
        let [mut wait, longest] = LOOK_AFTER;
        loop {
            sleep(wait).await;
            wait = wait.saturating_mul(2).min(longest);
            if self.shared.may_be_stale(id)
                && let Ok(Some(payment)) = self.read(id).await
                && until.has_come(&payment)
            {
                return payment;
            }
        }
    }

    async fn ask<Q, T>(&self, id: TransactionId, question: Q) -> Result<T, Denied>
    where
        Q: Question<Answer = Result<T, Denied>>,
        T: Send + 'static,
        crate::front::FrontActor: actix::Handler<crate::mailbox::Ask<Q>>,
    {
        let front = self.shared.front(id).ok_or(Denied::Stopping)?;
        match front.mailbox().ask(question).await {
            Ok(result) => result,
            Err(NoAnswer::Full) => Err(Denied::Overloaded),
            Err(NoAnswer::Died) => Err(Denied::Interrupted),
        }
    }
}
