//! Verdicts on charges with an unknown outcome, which a person resolves.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::identity::TransactionId;
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::Verdict;
use quita_domain::payment::Refusal;
use quita_domain::routing::Attempt;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::operations::MAX_REASON_CHARACTERS;
use super::texts::OperatorTexts;
use super::visitor::{DirectorForm, Operator};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::page_error::PageError;
use quita_services::audit::AuditDraft;

#[derive(Template)]
#[template(path = "console/operator/ask_charge.html")]
struct AskChargePage {
    frame: OperatorFrame,
    id: TransactionId,
    /// Number of the charge within the payment.
    number: AttemptNumber,
    charge: Attempt,
    /// Possible verdicts, each with its words.
    choices: Vec<(&'static str, &'static str)>,
    max_reason_characters: usize,
}

/// Handles `GET /transactions/{id}/charges/{number}`.
pub(super) async fn ask(
    operator: Operator,
    path: Path<(String, AttemptNumber)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let (id, number) = read(&path)?;
    let payment = console.payments.read(id).await?.ok_or(PageError::NotFound)?;
    let charge = payment.attempt(number).ok_or(PageError::NotFound)?.clone();
    let frame = operator.frame(OperatorSection::Actors);
    let texts = &frame.texts.operators;
    let words = |verdict: &Verdict| match verdict {
        Verdict::Done => (verdict.as_str(), texts.operation_done),
        Verdict::Refused => (verdict.as_str(), texts.charge_holds_nothing),
    };
    let is_last = payment.last_attempt() == number;
    let verdicts = payment.possible_charge_verdicts(console.clock.now());
    let choices: Vec<_> = verdicts.iter().filter(|_| is_last).map(words).collect();
    if choices.is_empty() {
        return Err(Refusal::NotStuck.into());
    }
    let max_reason_characters = MAX_REASON_CHARACTERS;
    html(&AskChargePage { frame, id, number, charge, choices, max_reason_characters })
}

/// Handles `POST /transactions/{id}/charges/{number}`.
pub(super) async fn act(
    sent: DirectorForm,
    path: Path<(String, AttemptNumber)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let (id, number) = read(&path)?;
    let texts = &OperatorTexts::current().operators;
    let verdict = Verdict::parse(sent.form.text("verdict"));
    let verdict = verdict.ok_or_else(|| PageError::Unreadable(texts.bad_verdict.into()))?;
    let reason = sent.form.lines("reason", MAX_REASON_CHARACTERS, texts.bad_note)?;
    let payment = console.operators.resolve_charge(id, number, verdict).await?;
    let draft = AuditDraft::of_operators(AuditAction::PaymentEnded, id);
    let before = format!("initial, charge {number}");
    let after = payment.status();
    let draft = draft.before(before).after(format!("{after}, {}: {reason}", verdict.as_str()));
    console.audit.note(&sent.visitor.initiator(), draft).await;
    Ok(see_other(format!("/transactions/{id}")))
}

fn read(path: &(String, AttemptNumber)) -> Result<(TransactionId, AttemptNumber), PageError> {
    let (id, number) = path;
    Ok((TransactionId::parse(id).ok_or(PageError::NotFound)?, *number))
}
