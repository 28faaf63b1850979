//! An acquirer that moves no money and behaves as the amount or the card prescribes.
//!
//! It has no state: every answer follows from the inquiry and the clock, so every node gives the same one, even after a
//! restart. The node that received the charge sends its notices. If it dies, the node that inquires later sends the
//! remaining ones, under the same ids. The values are those of the contract, section 4.1; a card that is not listed
//! there is approved.

mod card;
mod courier;
mod issue;
mod manual;
mod movement;
mod notices;
mod script;

use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, Identified, Issued, OperationAnswer, Reference,
};
use quita_domain::method::Method;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::{Order, Terms};
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, Clock, ListReader, LocalIssue, NoticeReader, NoticeSink,
    NumberRange, Preparation,
};

pub use manual::{SandboxAction, manual_notice};
pub use notices::SandboxNotices;

use courier::Courier;
use issue::CannotIssue;
use script::{Reception, Script, Timing};

/// Milliseconds after an expected notice until the acquirer is asked, if the notice did not arrive.
const NEWS_MARGIN_MS: u64 = 1_000;

/// Settings of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Milliseconds after which the simulated payer pays.
    pub settle_after_ms: u64,
    /// Name of the receiver, as the payer's bank shows it.
    pub merchant_name: String,
    /// City of the receiver.
    pub merchant_city: String,
    /// Host and path of PIX charges, without scheme; the charge's 32 characters follow.
    pub pix_location: String,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            settle_after_ms: 2_000,
            merchant_name: "QUITA SANDBOX".into(),
            merchant_city: "SAO PAULO".into(),
            pix_location: "pix.sandbox.quita.example/v2/".into(),
        }
    }
}

/// Factory of sandbox acquirers. Those of one factory share their notices.
pub struct SandboxFactory {
    spec: AcquirerSpec,
    sandbox: Sandbox,
    notices: SandboxNotices,
}

impl SandboxFactory {
    /// Creates the factory of sandboxes with this name. Notices over HTTP are signed with any of these secrets.
    pub fn new(
        spec: AcquirerSpec,
        settings: SandboxSettings,
        notification_secrets: Vec<WebhookSecret>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let timing = Timing { settle_after_ms: settings.settle_after_ms, time_out_ms: spec.time_out_ms };
        let courier = Courier::new(spec.name.clone(), Arc::clone(&clock));
        let notices = SandboxNotices::new(spec.name.clone(), notification_secrets);
        Self { spec, sandbox: Sandbox { settings: Arc::new(settings), clock, timing, courier }, notices }
    }
}

impl SandboxFactory {
    /// Accepts notices over HTTP that are signed with any of these secrets from now on.
    pub fn reconfigure(&self, notification_secrets: Vec<WebhookSecret>) {
        self.notices.reconfigure(notification_secrets);
    }
}

impl AcquirerFactory for SandboxFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn account(&self) -> String {
        String::new()
    }

    fn charge_account(&self) -> Option<String> {
        None
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(self.sandbox.clone())
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        None
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(&self.notices)
    }

    fn operates_in_turn(&self) -> bool {
        false
    }

    fn charge_name(&self) -> Option<&'static str> {
        None
    }

    fn refunds(&self, _: Method) -> bool {
        true
    }

    fn looks_at_paid(&self, _: Method) -> bool {
        false
    }

    fn states_cost(&self) -> bool {
        false
    }

    fn refund_shows_after_ms(&self, _: Method) -> u64 {
        0
    }

    fn objection(&self, _: &Order) -> Option<&'static str> {
        None
    }

    fn numbers(&self) -> Option<&NumberRange> {
        None
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        None
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        Some(&self.sandbox)
    }
}

impl LocalIssue for Sandbox {
    fn connect(&self, sink: Arc<dyn NoticeSink>) {
        self.courier.connect(sink);
    }

    fn issue(&self, query: &ChargeQuery) -> Option<Fact> {
        let script = Script::of(query, self.timing);
        let is_local = answers_locally(query.method, script.reception);
        is_local.then(|| self.first_fact(query, &script, self.clock.now()).ok()).flatten()
    }

    fn stored(&self, query: &ChargeQuery) {
        self.courier.begin(query.id, Script::of(query, self.timing).steps);
    }
}

/// The sandbox. Cheap to clone; clones share their state.
#[derive(Clone)]
struct Sandbox {
    settings: Arc<SandboxSettings>,
    clock: Arc<dyn Clock>,
    timing: Timing,
    courier: Courier,
}

#[async_trait(?Send)]
impl Acquirer for Sandbox {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        let query = &charge.query;
        let mut script = Script::of(query, self.timing);
        let is_first = query.attempt.is_first();
        match script.reception {
            Reception::Down if is_first => return failed("acquirer down"),
            Reception::Lost if is_first => return pending().await,
            Reception::Down
            | Reception::Lost
            | Reception::Answered
            | Reception::NoticeFirst
            | Reception::AnswerLost => {}
        }
        let fact = match self.first_fact(query, &script, self.clock.now()) {
            Ok(fact) => fact,
            Err(error) => return failed(&error.to_string()),
        };
        // Awaited, because this script requires the notice before the answer.
        if script.reception == Reception::NoticeFirst && !script.steps.is_empty() {
            let first = script.steps.remove(0);
            self.courier.submit(query.id, &first).await;
        }
        if !answers_locally(query.method, script.reception) {
            self.courier.begin(query.id, script.steps);
        }
        if script.reception == Reception::AnswerLost && is_first {
            return pending().await;
        }
        ChargeAnswer::known(fact)
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        let script = Script::of(query, self.timing);
        if query.attempt.is_first() && matches!(script.reception, Reception::Down | Reception::Lost) {
            return ChargeAnswer::NotFound;
        }
        let now = self.clock.now();
        let first = match self.first_fact(query, &script, now) {
            Ok(fact) => fact,
            Err(error) => return failed(&error.to_string()),
        };
        if is_unknown_to_caller(query, &first) {
            self.courier.begin(query.id, script.steps);
            return ChargeAnswer::known(first);
        }
        if let Some(ended) = ended_unpaid(query, &script) {
            return ChargeAnswer::known(ended);
        }
        let (told, rest) = script.until(now, query.paid_amount.is_some());
        let fact = told.unwrap_or_else(|| expired_if_over(first, now));
        self.courier.begin(query.id, rest);
        ChargeAnswer::known(fact)
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        match operation.kind {
            OperationKind::Cancel => {
                let script = Script::of(query, self.timing);
                // A payer who has not paid by the expiry no longer pays, unless the script says so.
                let paid_by = query.expired_at.filter(|_| !script.expires_by_itself());
                if script.is_settled(paid_by.unwrap_or_else(|| self.clock.now())) {
                    return OperationAnswer::Refused("already_paid".into());
                }
                // A withdrawn charge must send no notice of a payment that did not happen.
                self.courier.recall(query.id);
                OperationAnswer::Done
            }
            OperationKind::Capture(_) if query.card.as_ref().is_some_and(card::refuses_capture) => {
                OperationAnswer::Refused("refused_by_issuer".into())
            }
            OperationKind::Capture(_) | OperationKind::Refund(_) => OperationAnswer::Done,
        }
    }

    /// Repeats the operation. The sandbox has no state and never loses an answer to an operation, so a requested one
    /// counts as done.
    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        self.operate(query, operation).await
    }

    /// Identifies nothing: the sandbox has no references.
    async fn identify(&self, _: &Reference) -> Identified {
        Identified::Unknown
    }
}

impl Sandbox {
    /// Returns the first answer about a charge: a code to pay with, or the verdict on a card.
    fn first_fact(&self, query: &ChargeQuery, script: &Script, now: Timestamp) -> Result<Fact, CannotIssue> {
        let issued = match &query.terms {
            Terms::Pix { expires_in_s } => issue::pix(query, *expires_in_s, &self.settings)?,
            Terms::DuePix(due) => issue::due_pix(query, due, &self.settings)?,
            Terms::Boleto(due) => issue::boleto(query, due, &self.settings)?,
            Terms::CreditCard { card, .. } => return Ok(card::verdict(query, card)),
        };
        let news_at = script.steps.first().map(|step| step.at.max(now).plus_ms(NEWS_MARGIN_MS));
        Ok(Fact::Pending { issued, news_at })
    }
}

/// Returns true for a charge without faults. It is answered at once, and its notices begin when it is stored.
fn answers_locally(method: Method, reception: Reception) -> bool {
    match method {
        Method::Pix | Method::Boleto => reception == Reception::Answered,
        Method::CreditCard => false,
    }
}

/// Returns true if the caller never received the code. Then no later event may be reported yet.
const fn is_unknown_to_caller(query: &ChargeQuery, first: &Fact) -> bool {
    matches!(first, Fact::Pending { .. }) && query.issued.is_none()
}

/// Returns the answer about a charge that was withdrawn or has expired. It can no longer be paid, unless the money came
/// in before, or its script prescribes late money.
fn ended_unpaid(query: &ChargeQuery, script: &Script) -> Option<Fact> {
    let comes_late = |expired_at| script.expires_by_itself() || script.is_settled(expired_at);
    match (query.paid_amount, query.cancelled_at, query.expired_at) {
        (None, Some(_), _) => Some(Fact::Cancelled),
        (None, None, Some(expired_at)) if !comes_late(expired_at) => Some(Fact::Expired),
        (None, None, Some(_)) | (_, None, None) | (Some(_), _, _) => None,
    }
}

/// Returns an expiry for an unpaid PIX charge whose time is over. For a boleto, the service itself decides how long to
/// wait.
fn expired_if_over(fact: Fact, now: Timestamp) -> Fact {
    match &fact {
        Fact::Pending { issued: Issued::Pix { expires_at, .. }, .. } if *expires_at <= now => Fact::Expired,
        Fact::Pending { .. }
        | Fact::Authorized(_)
        | Fact::Settled(_)
        | Fact::Declined(_)
        | Fact::Expired
        | Fact::Cancelled
        | Fact::Removed { .. }
        | Fact::Concluded
        | Fact::PaidToOthers { .. }
        | Fact::Refunded { .. }
        | Fact::RefundedInTotal { .. }
        | Fact::ChargedBack { .. }
        | Fact::DisputeWon { .. }
        | Fact::SecondCharge(_)
        | Fact::Unclear { .. }
        | Fact::PixCodeMissing
        | Fact::AmountUnknown
        | Fact::Cost { .. }
        | Fact::Hint => fact,
    }
}

fn failed(reason: &str) -> ChargeAnswer {
    ChargeAnswer::Failed(CallFailure::NotDelivered(reason.to_owned()))
}
