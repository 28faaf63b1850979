//! Withdrawal of a charge by `PATCH /cob/{txid}` with only its status. If the answer is not clear, the charge itself is
//! read.

use quita_domain::acquiring::{CallFailure, ChargeQuery, OperationAnswer};
use serde_json::{Value, json};

use super::cob::{self, Cob, CobStatus};
use super::link::{Answer, Link};

/// Reason why a paid charge can't be withdrawn.
const ALREADY_PAID: &str = "already_paid";

/// Withdraws a charge.
pub(super) async fn cancel(link: &Link, query: &ChargeQuery) -> OperationAnswer {
    // The status alone: banks refuse a removal that is combined with another change (API Pix, `PATCH /cob/{txid}`).
    let body = json!({ "status": "REMOVIDA_PELO_USUARIO_RECEBEDOR" });
    let refusal = match link.patch(&cob::path(query), &body).await {
        Ok(Answer::Success(answer)) => match found(link, query, &answer) {
            ChargeState::Removed => return OperationAnswer::Done,
            ChargeState::Paid | ChargeState::Open | ChargeState::Unclear(_) => None,
        },
        Ok(Answer::NotFound(why) | Answer::Refused(why)) => Some(why),
        Err(failure) => return OperationAnswer::Failed(failure),
    };
    // A refusal may be the echo of an earlier withdrawal that was done, so the charge itself decides.
    match (unknown_at_most(inquire(link, query).await), refusal) {
        // Still there, because the bank refused to withdraw it.
        (OperationAnswer::NotFound, Some(why)) => OperationAnswer::Refused(why),
        (OperationAnswer::NotFound, None) => unclear("the answer does not say that the charge was withdrawn"),
        (answer, _) => answer,
    }
}

/// Inquires whether a charge was withdrawn. One that still waits for its payer was not.
pub(super) async fn inquire(link: &Link, query: &ChargeQuery) -> OperationAnswer {
    match link.get(&cob::path(query)).await {
        Ok(Answer::Success(answer)) => match found(link, query, &answer) {
            ChargeState::Removed => OperationAnswer::Done,
            ChargeState::Paid => OperationAnswer::Refused(ALREADY_PAID.into()),
            ChargeState::Open => OperationAnswer::NotFound,
            ChargeState::Unclear(why) => unclear(why),
        },
        Ok(Answer::NotFound(_)) => OperationAnswer::NotFound,
        Ok(Answer::Refused(why)) => OperationAnswer::Failed(CallFailure::Unknown(why)),
        Err(failure) => OperationAnswer::Failed(failure),
    }
}

/// State of the charge, as an answer has it.
enum ChargeState {
    Removed,
    Paid,
    Open,
    Unclear(&'static str),
}

fn found(link: &Link, query: &ChargeQuery, answer: &Value) -> ChargeState {
    let Ok(cob) = Cob::read(answer, query, &link.credential) else {
        return ChargeState::Unclear("the answer is about another charge, or none");
    };
    match cob.status {
        CobStatus::Removed(_) => ChargeState::Removed,
        CobStatus::Concluded => ChargeState::Paid,
        CobStatus::Active => ChargeState::Open,
        CobStatus::Unknown => ChargeState::Unclear("the answer has no status that is known"),
    }
}

/// Returns an answer that is at most unknown, because the request has left: if the bank can't be asked now, its outcome
/// is unknown.
pub(super) fn unknown_at_most(answer: OperationAnswer) -> OperationAnswer {
    if let OperationAnswer::Failed(CallFailure::NotDelivered(why)) = answer {
        return OperationAnswer::Failed(CallFailure::Unknown(why));
    }
    answer
}

fn unclear(why: &str) -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Unknown(why.to_owned()))
}
