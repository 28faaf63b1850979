//! Refunds by `PUT /pix/{endToEndId}/devolucao/{id}`. The id is ours, and the bank refuses one that was used, so a
//! repeated request is the same refund. A refund has its own states, for hours or days.

use quita_domain::acquiring::{CallFailure, ChargeQuery, OperationAnswer};
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use serde_json::{Value, json};

use super::cancel::unknown_at_most;
use super::cob::{self, Cob};
use super::lenient::{is_end_to_end_id, money, text};
use super::link::{Answer, Link};
use super::received::END_TO_END_ID;

/// Asks for a refund of the Pix that paid.
pub(super) async fn refund(
    link: &Link,
    query: &ChargeQuery,
    operation: &Operation,
    amount: Money,
) -> OperationAnswer {
    let path = match path(link, query, operation).await {
        Ok(Some(path)) => path,
        Ok(None) => return not_sent("the bank does not say which Pix paid the charge"),
        // Only the lookup has an unknown outcome here. The refund itself has certainly not left yet.
        Err(CallFailure::Unknown(why)) => return not_sent(&why),
        Err(failure) => return OperationAnswer::Failed(failure),
    };
    match link.put(&path, &json!({ "valor": amount.to_string() })).await {
        Ok(Answer::Success(answer)) => state(link, &answer, operation, amount),
        // It counts as refused unless the bank has the refund: then only the repetition was refused.
        Ok(Answer::NotFound(why) | Answer::Refused(why)) => {
            let known = read(link, &path, operation, amount).await;
            // A bank refuses an id that was used, so a refused repetition may be a refund that was done.
            if known == OperationAnswer::NotFound {
                // A refund that was sent before may be done but not shown yet. If it were reported as failed, the payer
                // might get it twice.
                let was_sent_before = operation.sent > 1;
                return if was_sent_before {
                    OperationAnswer::RefusedPerhaps(why)
                } else {
                    OperationAnswer::Refused(why)
                };
            }
            unknown_at_most(known)
        }
        Err(failure) => OperationAnswer::Failed(failure),
    }
}

/// Asks what became of a refund.
pub(super) async fn inquire(
    link: &Link,
    query: &ChargeQuery,
    operation: &Operation,
    amount: Money,
) -> OperationAnswer {
    match path(link, query, operation).await {
        Ok(Some(path)) => read(link, &path, operation, amount).await,
        // Without the name of a Pix it can't have been sent.
        Ok(None) => OperationAnswer::NotFound,
        Err(failure) => OperationAnswer::Failed(failure),
    }
}

async fn read(link: &Link, path: &str, operation: &Operation, amount: Money) -> OperationAnswer {
    match link.get(path).await {
        Ok(Answer::Success(answer)) => state(link, &answer, operation, amount),
        Ok(Answer::NotFound(_)) => OperationAnswer::NotFound,
        Ok(Answer::Refused(why)) => OperationAnswer::Failed(CallFailure::Unknown(why)),
        Err(failure) => OperationAnswer::Failed(failure),
    }
}

/// Returns the path of the refund. The Pix that paid is known since the payment; if its name was lost, the charge shows
/// it. A surplus that is given back names its own Pix, which may have any amount.
async fn path(
    link: &Link,
    query: &ChargeQuery,
    operation: &Operation,
) -> Result<Option<String>, CallFailure> {
    let id = operation.id.uuid().simple();
    let of_pix = |end_to_end_id: &str| format!("/pix/{end_to_end_id}/devolucao/{id}");
    let surplus = operation.surplus.as_ref().map(|surplus| surplus.id.as_str());
    let known = surplus.or_else(|| query.reference.get(END_TO_END_ID));
    if let Some(known) = known.filter(|known| is_end_to_end_id(known)) {
        return Ok(Some(of_pix(known)));
    }
    match link.get(&cob::path(query)).await? {
        Answer::Success(answer) => {
            let cob = Cob::read(&answer, query, &link.credential);
            let cob = cob.map_err(|_| CallFailure::Unknown("the answer is about another charge".into()))?;
            Ok(cob.income.end_to_end_id().map(of_pix))
        }
        Answer::NotFound(_) => Ok(None),
        Answer::Refused(why) => Err(CallFailure::Unknown(why)),
    }
}

/// Returns the state of a refund. One with another id or amount than ours is not the requested one.
fn state(link: &Link, answer: &Value, operation: &Operation, amount: Money) -> OperationAnswer {
    let id = operation.id.uuid().simple().to_string();
    let is_other = text(answer, "id").is_some_and(|given| !given.eq_ignore_ascii_case(&id))
        || money(answer, "valor").is_some_and(|given| given != amount);
    if is_other {
        return unclear("the answer is about another refund");
    }
    match text(answer, "status").map(str::to_ascii_uppercase).as_deref() {
        // The bank has the refund and may take days. It must not be sent again meanwhile.
        Some("EM_PROCESSAMENTO") => OperationAnswer::Accepted,
        Some("DEVOLVIDO") => OperationAnswer::Done,
        Some("NAO_REALIZADO") => OperationAnswer::Refused(reason(link, answer)),
        Some(_) | None => unclear("the answer has no status of a refund that is known"),
    }
}

fn reason(link: &Link, answer: &Value) -> String {
    let given = text(answer, "motivo").map(|reason| link.scrubbed(reason));
    given.filter(|reason| !reason.is_empty()).unwrap_or_else(|| "not_carried_out".into())
}

fn not_sent(why: &str) -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::NotDelivered(why.to_owned()))
}

fn unclear(why: &str) -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Unknown(why.to_owned()))
}
