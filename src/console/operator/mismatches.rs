//! Verdicts on payments whose acquirer accepts no more money but has a wrong amount, which a person resolves.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::identity::TransactionId;
use quita_domain::payment::{AMOUNT_MISMATCH, Refusal};

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::operations::MAX_REASON_CHARACTERS;
use super::texts::OperatorTexts;
use super::visitor::{DirectorForm, Operator};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::page_error::PageError;
use quita_services::audit::AuditDraft;

#[derive(Template)]
#[template(path = "console/operator/ask_mismatch.html")]
struct AskMismatchPage {
    frame: OperatorFrame,
    id: TransactionId,
    max_reason_characters: usize,
}

/// Handles `GET /transactions/{id}/mismatch`.
pub(super) async fn ask(
    operator: Operator,
    id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let id = TransactionId::parse(&id).ok_or(PageError::NotFound)?;
    let payment = console.payments.read(id).await?.ok_or(PageError::NotFound)?;
    if !payment.waits_for_a_person() {
        return Err(Refusal::NotStuck.into());
    }
    let max_reason_characters = MAX_REASON_CHARACTERS;
    html(&AskMismatchPage { frame: operator.frame(OperatorSection::Actors), id, max_reason_characters })
}

/// Handles `POST /transactions/{id}/mismatch`.
pub(super) async fn act(
    sent: DirectorForm,
    id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let id = TransactionId::parse(&id).ok_or(PageError::NotFound)?;
    let texts = &OperatorTexts::current().operators;
    let reason = sent.form.lines("reason", MAX_REASON_CHARACTERS, texts.bad_note)?;
    console.operators.end_mismatch(id).await?;
    let draft = AuditDraft::of_operators(AuditAction::PaymentEnded, id);
    let draft = draft.before("pending".to_owned()).after(format!("cancelled, {AMOUNT_MISMATCH}: {reason}"));
    console.audit.note(&sent.visitor.initiator(), draft).await;
    Ok(see_other(format!("/transactions/{id}")))
}
