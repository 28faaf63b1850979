//! What every actor of one system can reach.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use quita_domain::control::Node;
use quita_domain::exception::Exception;
use quita_domain::identity::TransactionId;
use quita_domain::payment::{Command, Context, Oddity, OddityKind, Payment};
use quita_ports::trace::Tracer;
use quita_ports::{Clock, Dice, Ids, Store, StoreError, Write, WriteError};
use tokio::time::timeout;

use crate::asking::Asking;
use crate::doubts::Doubts;
use crate::failed_lately::FailedLately;
use crate::front::FrontActor;
use crate::inbox::InboxActor;
use crate::journal::{Commit, JournalActor};
use crate::limits::Limits;
use crate::mailbox::NoAnswer;
use crate::meter::Meter;
use crate::orders::Orders;
use crate::payments::Denied;
use crate::published::Published;
use crate::reader::{Load, ReaderActor};
use crate::reporting::Reporting;
use crate::routing::Routes;
use crate::sampler::Samples;
use crate::secrets::Secrets;
use crate::slot::Slot;
use crate::transaction::{Asker, Execute, Executed};
use crate::webhook_pool::WebhookPoolActor;

/// How often a step that must happen is sent again to a payment whose mailbox is full.
const INSISTENCE: u32 = 6;

/// What every actor of one system can reach. The places of the actors are filled once, at the start.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    /// This process, as the others are told of it.
    pub(crate) node: Node,
    pub(crate) public_url: String,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) dice: Arc<dyn Dice>,
    /// Records the traces that begin here, if anybody wants them.
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) secrets: Secrets,
    pub(crate) is_broken: AtomicBool,
    pub(crate) reporting: Reporting,
    /// Payments that could not be woken, and notices that could not be worked.
    pub(crate) failed_payments: FailedLately<TransactionId>,
    pub(crate) failed_notices: FailedLately<String>,
    pub(crate) asking: Asking,
    pub(crate) doubts: Doubts,
    pub(crate) published: Published,
    pub(crate) orders: Orders,
    pub(crate) samples: Samples,
    pub(crate) routes: OnceLock<Routes>,
    pub(crate) fronts: OnceLock<Vec<Arc<Slot<FrontActor>>>>,
    pub(crate) journal: OnceLock<Arc<Slot<JournalActor>>>,
    pub(crate) reader: OnceLock<Arc<Slot<ReaderActor>>>,
    pub(crate) inbox: OnceLock<Arc<Slot<InboxActor>>>,
    pub(crate) webhooks: OnceLock<Arc<Slot<WebhookPoolActor>>>,
}

impl Shared {
    /// What a decision may depend on, fresh.
    pub(crate) fn context(&self, card_at_hand: bool) -> Context {
        Context { now: self.clock.now(), dice: self.dice.roll(), op: self.ids.fresh(), card_at_hand }
    }

    /// Whether the store may have a payment in another state than the memory here.
    pub(crate) fn may_be_stale(&self, id: TransactionId) -> bool {
        !self.store.is_sole_writer() || self.doubts.has(id)
    }

    /// A write of a payment may still land. Where several write, the memory here is never trusted anyway.
    pub(crate) fn doubt(&self, id: TransactionId) {
        if self.store.is_sole_writer() {
            self.doubts.begin(id);
        }
    }

    /// The shard of a payment: always the same one, so that its actor is on one thread.
    pub(crate) fn front(&self, id: TransactionId) -> Option<&Arc<Slot<FrontActor>>> {
        let fronts = self.fronts.get()?;
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let count = u64::try_from(fronts.len().max(1)).unwrap_or(1);
        fronts.get(usize::try_from(hasher.finish() % count).unwrap_or(0))
    }

    /// Makes one guarded write durable.
    pub(crate) async fn commit(
        &self,
        payment: Arc<Payment>,
        expected_revision: u64,
    ) -> Result<(), WriteError> {
        if self.is_broken() {
            self.meter.store_failures.inc();
            return Err(WriteError::NotWritten(failed_before()));
        }
        let id = payment.id;
        let Some(journal) = self.journal.get() else { return Err(lost("the journal has not started")) };
        let asked = journal.mailbox();
        let asked = asked.ask(Commit(Write { payment, expected_revision }));
        let result = match timeout(self.limits.write_time_out, asked).await {
            Ok(Ok(result)) => result,
            Ok(Err(NoAnswer::Full)) => Err(WriteError::NotWritten(StoreError::Unavailable("busy".into()))),
            Ok(Err(NoAnswer::Died)) => Err(lost("the journal died")),
            Err(_) => Err(lost("the store takes too long")),
        };
        match &result {
            Ok(()) => self.doubts.end(id),
            Err(WriteError::Unknown(error)) => {
                self.meter.store_failures.inc();
                self.doubt(id);
                self.heed(error);
            }
            Err(WriteError::NotWritten(error)) => {
                self.meter.store_failures.inc();
                self.heed(error);
            }
            Err(WriteError::Conflict) => {}
        }
        result
    }

    /// Accepts nothing more after a failure that makes the store untrustworthy.
    pub(crate) fn heed(&self, error: &StoreError) {
        if let StoreError::Broken(why) = error
            && !self.is_broken.swap(true, Ordering::Relaxed)
        {
            tracing::error!(%why, "the store can no longer be trusted: nothing more is accepted, restart the service");
        }
    }

    /// Reads a payment from the store.
    pub(crate) async fn load(&self, id: TransactionId) -> Result<Option<Arc<Payment>>, StoreError> {
        let unavailable = |why: &str| Err(StoreError::Unavailable(why.into()));
        let Some(reader) = self.reader.get() else { return unavailable("the reader has not started") };
        match timeout(self.limits.write_time_out, reader.mailbox().ask(Load(id))).await {
            Ok(Ok(found)) => found,
            Ok(Err(NoAnswer::Full)) => unavailable("too many reads are waiting"),
            Ok(Err(NoAnswer::Died)) => unavailable("the reader died"),
            Err(_) => unavailable("the store takes too long"),
        }
    }

    /// Has a command of the service itself executed by the payment's actor.
    pub(crate) async fn execute(&self, id: TransactionId, command: Command) -> Result<Executed, Denied> {
        self.execute_for(Asker::Service, id, command).await
    }

    /// Has somebody's command executed by the payment's actor.
    pub(crate) async fn execute_for(
        &self,
        asker: Asker,
        id: TransactionId,
        command: Command,
    ) -> Result<Executed, Denied> {
        let Some(front) = self.front(id) else { return Err(Denied::Stopping) };
        match front.mailbox().ask(Execute { id, asker, command }).await {
            Ok(result) => result,
            Err(NoAnswer::Full) => Err(Denied::Overloaded),
            Err(NoAnswer::Died) => Err(Denied::Interrupted),
        }
    }

    /// Has a command executed that must not be lost to a full mailbox. What still fails is due again by the store.
    pub(crate) async fn insist(&self, id: TransactionId, command: Command) -> Result<Executed, Denied> {
        let mut wait = std::time::Duration::from_millis(20);
        for _ in 0..INSISTENCE {
            let result = self.execute(id, command.clone()).await;
            if !result.as_ref().is_err_and(Denied::is_transient) {
                return result;
            }
            tokio::time::sleep(wait).await;
            wait = wait.saturating_mul(3);
        }
        self.execute(id, command).await
    }

    /// Whether the store failed in a way after which nothing may be accepted.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Stores something that an operator has to see; if that fails, whoever has its cause reports it again.
    pub(crate) async fn report(&self, exception: Exception) -> Result<(), StoreError> {
        self.announce(&exception);
        self.store.put_exception(&exception).await
    }

    /// Counts and logs something that an operator has to see.
    pub(crate) fn announce(&self, exception: &Exception) {
        self.meter.exceptions.with_label_values(&[&exception.kind]).inc();
        tracing::warn!(
            transaction.id = %exception.transaction_id, kind = exception.kind, detail = exception.detail,
            "an exception needs an operator"
        );
    }

    /// The exception for an oddity of a payment. What it is about tells its cause from others, whoever stated it and
    /// however often; where nothing does, `source` tells apart what may happen to one payment more than once.
    ///
    /// An outcome can be unknown again after the payment has moved on. That is another exception: the first one may be
    /// resolved, and would hide it.
    pub(crate) fn exception(&self, payment: &Payment, oddity: &Oddity, source: &str) -> Exception {
        let cause = match (&oddity.about, oddity.kind == OddityKind::UnknownOutcome) {
            (Some(about), _) => about.clone(),
            (None, false) => source.to_owned(),
            (None, true) => format!("{source} {}", payment.state.version),
        };
        Exception {
            id: format!("{}:{}:{cause}", payment.id, oddity.kind.as_str()),
            kind: oddity.kind.as_str().into(),
            transaction_id: payment.id,
            acquirer: payment.acquirer().cloned(),
            detail: oddity.detail.clone(),
            advice: oddity.kind.advice().into(),
            reported_at: self.clock.now(),
            resolution: None,
        }
    }
}

/// Why nothing more is accepted.
pub(crate) fn failed_before() -> StoreError {
    StoreError::Broken("a commit failed; restart the service".into())
}

fn lost(why: &str) -> WriteError {
    WriteError::Unknown(StoreError::Unavailable(why.into()))
}
