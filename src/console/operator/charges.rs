//! Verdicts on charges whose outcome is unknown: a person ends them.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::identity::TransactionId;
use quita_domain::operation::Verdict;
use quita_domain::payment::{Payment, Refusal};
use quita_domain::routing::Attempt;

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::operations::MAX_REASON_CHARACTERS;
use super::texts::Texts;
use super::visitor::{DirectorForm, Operator};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::failure::Failure;
use quita_services::audit::AuditDraft;

#[derive(Template)]
#[template(path = "console/operator/ask_charge.html")]
struct AskChargePage {
    frame: Frame,
    id: TransactionId,
    /// Number of the charge within the payment, from 1.
    number: u32,
    charge: Attempt,
    /// Possible verdicts, each with its words.
    choices: Vec<(&'static str, &'static str)>,
    max_reason_characters: usize,
}

/// Handles `GET /transactions/{id}/charges/{number}`.
pub(super) async fn ask(
    operator: Operator,
    path: Path<(String, u32)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    operator.must_direct()?;
    let (id, number) = read(&path)?;
    let payment = console.payments.read(id).await?.ok_or(Failure::NotFound)?;
    let charge = charge_of(&payment, number).ok_or(Failure::NotFound)?.clone();
    let frame = operator.frame(Section::Actors);
    let texts = &frame.texts.operators;
    let words = |verdict: &Verdict| match verdict {
        Verdict::Done => (verdict.as_str(), texts.operation_done),
        Verdict::Refused => (verdict.as_str(), texts.charge_holds_nothing),
    };
    let is_last = last_number(&payment) == number;
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
    path: Path<(String, u32)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let (id, number) = read(&path)?;
    let texts = &Texts::current().operators;
    let verdict = Verdict::parse(sent.form.text("verdict"));
    let verdict = verdict.ok_or_else(|| Failure::Unreadable(texts.bad_verdict.into()))?;
    let reason = sent.form.lines("reason", MAX_REASON_CHARACTERS, texts.bad_note)?;
    let payment = console.operators.resolve_charge(id, number, verdict).await?;
    let draft = AuditDraft::of_operators(AuditAction::PaymentEnded, id);
    let (before, after) = (format!("initial, charge {number}"), payment.status());
    let draft = draft.before(before).after(format!("{after}, {}: {reason}", verdict.as_str()));
    console.audit.note(&sent.visitor.initiator(), draft).await;
    Ok(see_other(format!("/transactions/{id}")))
}

fn read((id, number): &(String, u32)) -> Result<(TransactionId, u32), Failure> {
    Ok((TransactionId::parse(id).ok_or(Failure::NotFound)?, *number))
}

/// Returns the number of the last charge, from 1; 0 if there is none.
pub(super) fn last_number(payment: &Payment) -> u32 {
    u32::try_from(payment.state.attempts.len()).unwrap_or(u32::MAX)
}

fn charge_of(payment: &Payment, number: u32) -> Option<&Attempt> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    payment.state.attempts.get(place)
}
