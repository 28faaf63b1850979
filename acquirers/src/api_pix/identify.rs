//! Search of a Pix's charge by its end-to-end id: what a callback may name when it has no txid of ours.

use quita_domain::acquiring::{CallFailure, Identified, Reference};

use super::cob::payment_of;
use super::lenient::{is_end_to_end_id, text};
use super::link::{Answer, Link};
use super::received::END_TO_END_ID;

/// Asks the bank. The key that received the Pix is checked when its charge is read.
pub(super) async fn identify(link: &Link, reference: &Reference) -> Identified {
    if let Some(id) = reference.get("txid").and_then(payment_of) {
        return Identified::Payment(id);
    }
    let Some(id) = reference.get(END_TO_END_ID).filter(|id| is_end_to_end_id(id)) else {
        return Identified::Unknown;
    };
    match link.get(&format!("/pix/{id}")).await {
        Ok(Answer::Success(pix)) => {
            let payment = text(&pix, "txid").and_then(payment_of);
            payment.map_or(Identified::Unknown, Identified::Payment)
        }
        Ok(Answer::NotFound(_)) => Identified::Unknown,
        Ok(Answer::Refused(why)) => Identified::Failed(CallFailure::Unknown(why)),
        Err(failure) => Identified::Failed(failure),
    }
}
