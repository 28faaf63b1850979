//! Notices from providers: parsed by their acquirer's reader, stored or acted on, and counted.
//!
//! A fact is stored by its payment's own write, or by the inbox if the payment can't accept it now. A hint causes an
//! immediate inquiry, and any news is stored. If there is none within two seconds, or an inquiry is already open, the
//! hint brings the payment's next inquiry forward in one guarded write. The provider is answered after that.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::{HintSubject, Identified, NoticeContent, Reference};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::Command;
use quita_ports::trace;
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, NoticeSink, RawNotice, SinkError};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::acquirers::call::Identify;
use crate::acquirers::inbox_sink::InboxSink;
use crate::acquirers::references::{Recalled, References};
use crate::acquirers::routing::Route;
use crate::denied::Denied;
use crate::system::parts::SystemParts;
use crate::transaction::effects::inquire_for_hint;
use crate::transaction::messages::{Asker, MayInquire};

/// Time for the answer to the inquiry that a hint causes, while its provider waits. After that the hint is stored.
const HINT_ANSWERED_WITHIN: Duration = Duration::from_secs(2);

/// Reason why a notice was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoticeDenied {
    /// There is no such acquirer, or it sends no notices, or not to this address.
    #[error("there is no such address")]
    NoSuchAddress,
    /// Nothing proves that the provider sent it.
    #[error("the notice is not authenticated in the way that this acquirer's notices are")]
    NotAuthentic,
    /// The notice was not stored: the provider has to send it again.
    #[error(transparent)]
    NotTaken(#[from] Denied),
}

/// Outcome of one notice, for the meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Taken,
    Repeated,
    Unknown,
    Unreadable,
    Refused,
}

impl Outcome {
    const fn label(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Repeated => "repeated",
            Self::Unknown => "unknown",
            Self::Unreadable => "unreadable",
            Self::Refused => "refused",
        }
    }
}

/// Receives notices from providers.
#[derive(Clone)]
pub(crate) struct Notices {
    system: Arc<SystemParts>,
    inbox: InboxSink,
    references: Arc<References>,
}

impl Notices {
    pub(crate) fn new(system: Arc<SystemParts>, inbox: InboxSink) -> Self {
        Self { system, inbox, references: Arc::default() }
    }

    /// Refuses a notice whose head already shows that its sender may not send any.
    pub(crate) fn admit(&self, acquirer: &str, head: &NoticeHead<'_>) -> Result<(), NoticeDenied> {
        let (route, reader) = self.reader(acquirer).ok_or(NoticeDenied::NoSuchAddress)?;
        reader.admit(head).or_else(|refused| self.refuse(route, refused))
    }

    /// Handles one request to an acquirer's address. An unreadable notice to the right address is accepted too: the
    /// provider would only send it again.
    pub(crate) async fn take(&self, acquirer: &str, notice: &RawNotice<'_>) -> Result<(), NoticeDenied> {
        let (route, reader) = self.reader(acquirer).ok_or(NoticeDenied::NoSuchAddress)?;
        match reader.read(notice, self.system.clock.now()) {
            Ok(contents) => Ok(self.take_all(route, contents).await?),
            Err(refused) => self.refuse(route, refused),
        }
    }

    fn reader(&self, acquirer: &str) -> Option<(&Route, &dyn NoticeReader)> {
        let route = self.system.routes.get()?.any_of(acquirer)?;
        Some((route, route.factory.notices()?))
    }

    /// Counts a notice that was not read. It counts as accepted if it came to the right address.
    fn refuse(&self, route: &Route, refused: NoticeRefused) -> Result<(), NoticeDenied> {
        let (outcome, answer) = match refused {
            NoticeRefused::NoSuchAddress => (Outcome::Refused, Err(NoticeDenied::NoSuchAddress)),
            NoticeRefused::NotAuthentic => (Outcome::Refused, Err(NoticeDenied::NotAuthentic)),
            NoticeRefused::Unreadable(why) => {
                tracing::warn!(acquirer = %route.spec().name, why, "a notice can't be read");
                (Outcome::Unreadable, Ok(()))
            }
        };
        self.count(route, outcome);
        answer
    }

    async fn take_all(&self, route: &Route, contents: Vec<NoticeContent>) -> Result<(), Denied> {
        let mut unanswered = None;
        for content in contents {
            let outcome = match content {
                NoticeContent::Fact(notice) => match self.inbox.submit(*notice).await {
                    Ok(true) => Outcome::Taken,
                    Ok(false) => Outcome::Repeated,
                    // The provider sends the whole notice again. The parts already accepted change nothing the second
                    // time.
                    Err(SinkError::Busy) => return Err(Denied::Overloaded),
                    Err(SinkError::Store(error)) => return Err(Denied::StoreUnavailable(error)),
                },
                NoticeContent::Hint(subject) => match self.hint(route, subject).await {
                    Ok(outcome) => outcome,
                    // Accept the other contents anyway. The provider sends the notice again for this one.
                    Err(denied @ Denied::Interrupted) => {
                        unanswered = Some(denied);
                        continue;
                    }
                    Err(denied) => return Err(denied),
                },
                NoticeContent::Unrelated => Outcome::Unknown,
            };
            self.count(route, outcome);
        }
        unanswered.map_or(Ok(()), Err)
    }

    /// Causes an inquiry about a payment. Nothing is stored for an unknown payment: a hint counts only through the
    /// answer to its inquiry.
    async fn hint(&self, route: &Route, subject: HintSubject) -> Result<Outcome, Denied> {
        let acquirer = &route.spec().name;
        let (id, charge) = match subject {
            HintSubject::Payment(id) => (id, Reference::none()),
            HintSubject::Charge(id, reference) => (id, reference),
            HintSubject::Reference(reference) => match self.identify(route, &reference).await? {
                Some(id) => (id, reference),
                None => return Ok(Outcome::Unknown),
            },
        };
        // A hint needs no write of its own if no other inquiry is open (decision 16).
        if self.ask_at_once(acquirer, id).await {
            return Ok(Outcome::Taken);
        }
        let command = Command::Hinted { acquirer: acquirer.clone(), charge: charge.clone() };
        match self.system.commands.execute_for(asker(acquirer), id, command).await {
            Ok(executed) => {
                self.system.exceptions.report_all(&executed);
                Ok(if executed.is_changed { Outcome::Taken } else { Outcome::Repeated })
            }
            // A hint that overtakes the first write of its payment is dropped: the schedule will find the change
            // (decision 16).
            Err(Denied::NotFound) => {
                if !charge.is_empty() {
                    self.references.count_nobodys(acquirer, charge);
                }
                Ok(Outcome::Unknown)
            }
            Err(denied) => Err(denied),
        }
    }

    /// Asks the acquirer about a payment without a prior write, and stores its news. Returns true once that is done.
    /// Until then nothing of the hint is stored, so it must not be confirmed to the provider.
    async fn ask_at_once(&self, acquirer: &AcquirerName, id: TransactionId) -> bool {
        let question = MayInquire { id, acquirer: acquirer.clone() };
        let Ok(Some(payment)) = self.system.commands.ask(id, question).await else { return false };
        let (answered, is_answered) = oneshot::channel();
        let system = Arc::clone(&self.system);
        // Runs in its own task, so that an answer that comes later than the provider can wait is stored too.
        actix::spawn(trace::carry(async move {
            answered.send(inquire_for_hint(&system, &payment).await).ok();
        }));
        let answered = timeout(HINT_ANSWERED_WITHIN, is_answered).await;
        answered.is_ok_and(Result::unwrap_or_default)
    }

    /// Asks the provider which payment it means by this reference, unless that is cached or the pace forbids it.
    async fn identify(&self, route: &Route, reference: &Reference) -> Result<Option<TransactionId>, Denied> {
        let acquirer = &route.spec().name;
        match self.references.recall(acquirer, reference) {
            Recalled::Told(told) => return Ok(told),
            // Only the provider's notice reveals a second charge, so the provider has to send it again.
            Recalled::TooMany if route.factory.charge_name().is_some() => return Err(Denied::Interrupted),
            Recalled::TooMany => {
                tracing::debug!(%acquirer, "too many hints match no payment: one is dropped");
                return Ok(None);
            }
            Recalled::Unknown => {}
        }
        match route.slot.mailbox().ask(Identify(reference.clone())).await {
            Ok(Identified::Payment(id)) => {
                self.references.learn(acquirer, reference.clone(), Some(id));
                Ok(Some(id))
            }
            Ok(Identified::Unknown) => {
                self.references.count_nobodys(acquirer, reference.clone());
                Ok(None)
            }
            // The provider's queries may lag behind its notices, so it has to send this one again.
            Ok(Identified::NotFound) => {
                self.references.was_not_found(acquirer);
                self.count(route, Outcome::Unknown);
                Err(Denied::Interrupted)
            }
            Ok(Identified::Failed(_)) | Err(_) => Err(Denied::Interrupted),
        }
    }

    fn count(&self, route: &Route, outcome: Outcome) {
        let labels = [route.spec().name.as_str(), outcome.label()];
        self.system.meter.notices.with_label_values(&labels).inc();
    }
}

fn asker(acquirer: &AcquirerName) -> Asker {
    Asker::Acquirer(acquirer.clone())
}
