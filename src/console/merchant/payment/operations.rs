//! Operations on a payment. Each asks for confirmation, and follows the same path as through the API.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::{Denied, Operated};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{Mode, OperationId};
use quita_domain::money::Money;
use quita_domain::numbering::DeliveryIndex;
use quita_domain::operation::{OperationRequest, OperationState, RequestedOperation};
use quita_domain::payment::Payment;
use quita_domain::people::Permission;
use quita_domain::status::Status;
use serde::Deserialize;
use uuid::Uuid;

use super::own;
use crate::console::kit::answer::see_other;
use crate::console::kit::form::Form;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::ask::{AskPage, AskWords, AskedPayment};
use crate::console::merchant::frame::MerchantSection;
use crate::console::merchant::mode::{InMode, base_of};
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{PaymentChange, Visitor};
use quita_services::audit::AuditDraft;

/// Operation that a person may request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PaymentAction {
    Cancel,
    Capture,
    Refund,
}

impl PaymentAction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Capture => "capture",
            Self::Refund => "refund",
        }
    }

    const fn requested(self, amount: Option<Money>) -> RequestedOperation {
        match self {
            Self::Cancel => RequestedOperation::Cancel,
            Self::Capture => RequestedOperation::Capture(amount),
            Self::Refund => RequestedOperation::Refund(amount),
        }
    }

    const fn action(self) -> AuditAction {
        match self {
            Self::Cancel => AuditAction::PaymentCancelled,
            Self::Capture => AuditAction::PaymentCaptured,
            Self::Refund => AuditAction::PaymentRefunded,
        }
    }

    /// Returns the maximum amount; a cancellation has none.
    fn most(self, payment: &Payment) -> Option<Money> {
        match self {
            Self::Cancel => None,
            Self::Capture => Some(payment.order.amount),
            Self::Refund => Some(payment.state.refundable_amount()),
        }
    }
}

/// Handles `GET /console/{mode}/payments/{id}/{verb}`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String, PaymentAction)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ChangePayments)?;
    let (_, id, verb) = path.into_inner();
    let payment = own(&visitor, mode, &id, &console).await?;
    payment.permits(verb.requested(None))?;
    let frame = visitor.frame(mode, MerchantSection::Payments);
    let texts = &frame.texts.payments;
    let (question, sentence, button, field) = match verb {
        PaymentAction::Cancel => (texts.cancel_question, texts.cancel_sentence, texts.cancel, ""),
        PaymentAction::Capture => {
            (texts.capture_question, texts.capture_sentence, texts.capture, texts.amount_to_capture)
        }
        PaymentAction::Refund => {
            (texts.refund_question, texts.refund_sentence, texts.refund, texts.amount_to_refund)
        }
    };
    let words = AskWords { question: question.into(), sentence, button };
    let back = format!("{}/payments/{}", frame.base, payment.id);
    let amount = verb.most(&payment).map(|most| (most, field));
    let mut page = AskPage::new(frame, words, back, verb.as_str());
    page.is_grave = verb != PaymentAction::Capture;
    // The key is created with the question rather than with the answer, so a double click is a replay.
    page.payment = Some(AskedPayment { payment, amount, key: Uuid::now_v7() });
    page.show()
}

/// Handles `POST /console/{mode}/payments/{id}/{verb}`.
pub(crate) async fn act(
    request: HttpRequest,
    change: PaymentChange,
    InMode(mode): InMode,
    path: Path<(String, String, PaymentAction)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PaymentChange { visitor, form } = change;
    let (_, id, verb) = path.into_inner();
    let payment = own(&visitor, mode, &id, &console).await?;
    let amount = match verb {
        PaymentAction::Cancel => None,
        PaymentAction::Capture | PaymentAction::Refund => Some(read_amount(form.text("amount"))?),
    };
    let key = Uuid::try_parse(form.text("key")).map_err(|_| PageError::ForeignForm)?;
    let counted = match (verb, amount) {
        (PaymentAction::Refund, Some(amount)) => {
            count_refund(&request, &visitor, &form, amount, &console).await?
        }
        (PaymentAction::Refund | PaymentAction::Cancel | PaymentAction::Capture, _) => None,
    };
    let request = OperationRequest {
        id: OperationId::new(Uuid::now_v7()),
        requested: verb.requested(amount),
        // The `Idempotency-Key` of an API request never contains a space, so the two never collide.
        key: Some(format!("console {key}")),
    };
    let before = payment.status();
    let draft = visitor.draft(verb.action(), payment.id).before(before);
    let operated = match console.edge.payments.operate(payment.id, visitor.owner(mode), request).await {
        Ok(operated) => operated,
        Err(denied) => {
            // A refund with an unknown outcome stays counted.
            uncount_refund(counted.filter(|_| !denied.is_transient()), &visitor, &console).await;
            return Err(note_failed(denied, draft, &visitor, &console).await);
        }
    };
    let is_none = operated.is_replay || operated.operation.state() == OperationState::Refused;
    uncount_refund(counted.filter(|_| is_none), &visitor, &console).await;
    // A replay changed nothing, so it gets no second entry.
    if !operated.is_replay {
        let after = audit_summary(&operated, amount);
        console.audit.note(&visitor.initiator(), draft.after(after)).await;
    }
    tracing::info!(
        transaction.id = %payment.id, operation = verb.as_str(), state = ?operated.operation.state(),
        "an operation was requested in the console"
    );
    let done = outcome(verb, &operated)?;
    Ok(back_to(mode, &payment, done))
}

/// Counts a refund against the total that a session may refund without a proof of identity, if the owners limit it.
/// Beyond the limit, requires a proof. Returns the counted amount.
async fn count_refund(
    request: &HttpRequest,
    visitor: &Visitor,
    form: &Form,
    amount: Money,
    console: &MerchantConsole,
) -> Result<Option<Money>, PageError> {
    let limit = console.people.policy(&visitor.user.merchant).await?.confirm_refunds_above;
    if limit.is_none() {
        return Ok(None);
    }
    if !console.people.count_refund(&visitor.session, amount, limit).await? {
        console.accounts.require_recent_proof(request, &visitor.holder(), form).await?;
        // A proof starts a new total, and this refund is its first one. It may exceed the limit by itself, so none is
        // applied.
        console.people.count_refund(&visitor.session, amount, None).await?;
    }
    Ok(Some(amount))
}

/// Removes a refund from the count. If that fails, a proof is required sooner, which does no harm.
async fn uncount_refund(counted: Option<Money>, visitor: &Visitor, console: &MerchantConsole) {
    let Some(amount) = counted else { return };
    if let Err(error) = console.people.uncount_refund(&visitor.session, amount).await {
        tracing::debug!(%error, "a refund that was refused stays counted");
    }
}

/// Records an operation with an unknown outcome in the audit log.
async fn note_failed(
    denied: Denied,
    draft: AuditDraft,
    visitor: &Visitor,
    console: &MerchantConsole,
) -> PageError {
    if denied.is_transient() {
        console.audit.note(&visitor.initiator(), draft.after("outcome unknown")).await;
    }
    denied.into()
}

fn read_amount(text: &str) -> Result<Money, PageError> {
    let unreadable = || PageError::Unreadable(MerchantTexts::current().payments.bad_amount.into());
    Language::current().parse_money(text).ok_or_else(unreadable)
}

/// Summarises an operation for the audit log.
fn audit_summary(operated: &Operated, amount: Option<Money>) -> String {
    let amount = amount.map(|amount| format!(" {amount}")).unwrap_or_default();
    let state = match operated.operation.state() {
        OperationState::Processing => "processing",
        OperationState::Done => "done",
        OperationState::Refused => "refused by the acquirer",
    };
    format!("{}{amount}: {state}", operated.payment.status())
}

/// Returns the confirmation that the payment's page shows afterwards.
fn outcome(verb: PaymentAction, operated: &Operated) -> Result<&'static str, PageError> {
    let texts = &MerchantTexts::current().payments;
    let was_cancelled = operated.payment.history.iter().any(|event| event.status == Status::Cancelled);
    match operated.operation.state() {
        OperationState::Done if verb == PaymentAction::Cancel && !was_cancelled => {
            Err(PageError::Refused(texts.not_cancelled.into()))
        }
        OperationState::Done => Ok(verb.as_str()),
        OperationState::Processing => Ok("processing"),
        OperationState::Refused => {
            let why = operated.operation.call.refusal.as_deref().unwrap_or("–");
            Err(PageError::Refused(texts.refused_by_acquirer.replace("{why}", why)))
        }
    }
}

fn back_to(mode: Mode, payment: &Payment, done: &str) -> HttpResponse {
    see_other(format!("{}/payments/{}?done={done}", base_of(mode), payment.id))
}

/// Handles `GET /console/{mode}/payments/{id}/deliveries/{index}/redeliver`.
pub(crate) async fn ask_redelivery(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String, DeliveryIndex)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ChangePayments)?;
    let payment = own(&visitor, mode, &path.1, &console).await?;
    payment.delivery(path.2).ok_or(PageError::NotFound)?;
    let frame = visitor.frame(mode, MerchantSection::Payments);
    let texts = &frame.texts.payments;
    let back = format!("{}/payments/{}", frame.base, payment.id);
    let words = AskWords {
        question: texts.redeliver_question.into(),
        sentence: texts.redeliver_sentence,
        button: texts.redeliver,
    };
    let mut page = AskPage::new(frame, words, back, &format!("deliveries/{}/redeliver", path.2));
    page.is_grave = false;
    page.payment = Some(AskedPayment { payment, amount: None, key: Uuid::nil() });
    page.show()
}

/// Handles `POST /console/{mode}/payments/{id}/deliveries/{index}/redeliver`.
pub(crate) async fn redeliver(
    change: PaymentChange,
    InMode(mode): InMode,
    path: Path<(String, String, DeliveryIndex)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PaymentChange { visitor, .. } = change;
    let payment = own(&visitor, mode, &path.1, &console).await?;
    let draft = visitor.draft(AuditAction::EventRedelivered, format!("{} {}", payment.id, path.2));
    if let Err(denied) = console.edge.payments.redeliver(payment.id, visitor.owner(mode), path.2).await {
        return Err(note_failed(denied, draft, &visitor, &console).await);
    }
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(back_to(mode, &payment, "redeliver"))
}
