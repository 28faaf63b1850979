//! Verdicts on stuck operations: a person states the outcome.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::identity::{OperationId, TransactionId};
use quita_domain::operation::{Operation, OperationKind, Verdict};
use quita_domain::payment::Refusal;
use uuid::Uuid;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::visitor::{DirectorForm, Operator};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::page_error::PageError;
use quita_services::audit::AuditDraft;

/// Maximum number of characters of a reason.
pub(super) const MAX_REASON_CHARACTERS: usize = 500;

#[derive(Template)]
#[template(path = "console/operator/ask_operation.html")]
struct AskOperationPage {
    frame: OperatorFrame,
    id: TransactionId,
    operation: Operation,
    /// Possible verdicts, each with its words.
    choices: Vec<(&'static str, &'static str)>,
    max_reason_characters: usize,
}

/// Handles `GET /transactions/{id}/operations/{operation}`.
pub(super) async fn ask(
    operator: Operator,
    path: Path<(String, String)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let (id, operation) = read(&path)?;
    let payment = console.payments.read(id).await?.ok_or(PageError::NotFound)?;
    let known = payment.operations.iter().find(|known| known.id == operation);
    let operation = known.ok_or(PageError::NotFound)?.clone();
    let frame = operator.frame(OperatorSection::Actors);
    let texts = &frame.texts.operators;
    let words = |verdict: &Verdict| match verdict {
        Verdict::Done => (verdict.as_str(), texts.operation_done),
        Verdict::Refused => (verdict.as_str(), texts.operation_refused),
    };
    let choices: Vec<_> = operation.possible_verdicts(console.clock.now()).iter().map(words).collect();
    if choices.is_empty() {
        return Err(Refusal::NotStuck.into());
    }
    let max_reason_characters = MAX_REASON_CHARACTERS;
    html(&AskOperationPage { frame, id, operation, choices, max_reason_characters })
}

/// Handles `POST /transactions/{id}/operations/{operation}`.
pub(super) async fn act(
    sent: DirectorForm,
    path: Path<(String, String)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let (id, operation) = read(&path)?;
    let texts = &OperatorTexts::current().operators;
    let verdict = Verdict::parse(sent.form.text("verdict"));
    let verdict = verdict.ok_or_else(|| PageError::Unreadable(texts.bad_verdict.into()))?;
    let reason = sent.form.lines("reason", MAX_REASON_CHARACTERS, texts.bad_note)?;
    let payment = console.operators.resolve_operation(id, operation, verdict).await?;
    let ended = payment.operations.iter().find(|known| known.id == operation);
    let verb = ended.map_or("operation", |known| known.kind.verb());
    let draft = AuditDraft::of_operators(AuditAction::OperationResolved, id);
    let draft = draft.before(format!("{verb} {operation}")).after(format!("{}: {reason}", verdict.as_str()));
    console.audit.note(&sent.visitor.initiator(), draft).await;
    Ok(see_other(format!("/transactions/{id}")))
}

fn read(path: &(String, String)) -> Result<(TransactionId, OperationId), PageError> {
    let (id, operation) = path;
    let id = TransactionId::parse(id).ok_or(PageError::NotFound)?;
    let operation = Uuid::try_parse(operation).map_err(|_| PageError::NotFound)?;
    Ok((id, OperationId::new(operation)))
}

/// Returns the amount of an operation; a cancellation has none.
pub(super) const fn amount_of(operation: &Operation) -> Option<quita_domain::money::Money> {
    match operation.kind {
        OperationKind::Cancel => None,
        OperationKind::Capture(amount) | OperationKind::Refund(amount) => Some(amount),
    }
}
