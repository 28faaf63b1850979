//! The Pix that came in for a charge, and what was given back of them.

use std::collections::BTreeSet;

use quita_domain::acquiring::{ChargeQuery, Fact, Settlement};
use quita_domain::due_terms::Paid;
use quita_domain::money::Money;
use quita_domain::time::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::cob::payment_of;
use super::lenient::{expected_money, instant, is_end_to_end_id, list, text};
use super::link::Credential;

/// Maximum number of each kind that are read. An answer with more is a mistake.
const MAX_ITEMS: usize = 1_000;

/// The name of the Pix that paid a charge, among the bank's names of the charge.
pub(super) const END_TO_END_ID: &str = "endToEndId";

/// A Pix that came in for our key.
#[derive(Debug, PartialEq, Eq)]
struct Received {
    end_to_end_id: String,
    amount: Money,
    at: Option<Timestamp>,
    returned: Vec<Returned>,
}

/// A part of a Pix that went back to its payer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Returned {
    pub(super) id: String,
    pub(super) amount: Money,
    pub(super) at: Option<Timestamp>,
    /// The banks took it back, in a procedure for fraud or failure.
    pub(super) is_disputed: bool,
}

/// Money that came in for a charge.
pub(super) struct Income {
    /// The Pix that paid it.
    payment: Option<Received>,
    /// Whatever else came in.
    others: Vec<Received>,
    /// The names of what came in under another key.
    foreign: Vec<String>,
}

impl Income {
    /// Reads an answer about a charge. The paying Pix is the earliest one with the charge's amount. Once one has paid,
    /// it stays that one, even if the bank later shows an earlier one.
    pub(super) fn read(answer: &Value, query: &ChargeQuery, credential: &Credential) -> Self {
        let ignores_txid = credential.settings.ignores_txid_of_answer;
        let is_of_charge = |pix: &&Value| {
            text(pix, "txid").is_none_or(|txid| ignores_txid || payment_of(txid) == Some(query.id))
        };
        let is_ours = |pix: &&Value| text(pix, "chave").is_none_or(|key| credential.receives(key, query));
        let belongs_to_another = |pix: &&Value| {
            end_to_end_id(pix).is_some_and(|id| query.foreign_pix.iter().any(|foreign| foreign == id))
        };
        let told = list(answer, "pix").iter().take(MAX_ITEMS).filter(is_of_charge);
        let told = told.filter(|pix| !belongs_to_another(pix));
        let (own, others): (Vec<_>, Vec<_>) = told.partition(is_ours);
        let foreign: BTreeSet<_> = others.into_iter().filter_map(end_to_end_id).collect();
        let mut all: Vec<Received> = Vec::new();
        for pix in own.into_iter().filter_map(|pix| Received::read(pix, query.amount)) {
            // A Pix that occurs twice in an answer would count as a double payment.
            if !all.iter().any(|known| known.end_to_end_id == pix.end_to_end_id) {
                all.push(pix);
            }
        }
        // Those without a time come last, so that they never displace the Pix that is known to be the first.
        all.sort_by_key(|pix| (pix.at.is_none(), pix.at));
        let known = query.reference.get(END_TO_END_ID);
        let pays = |pix: &Received| pays(query, pix.amount, pix.at);
        let place = all.iter().position(|pix| pays(pix) && Some(pix.end_to_end_id.as_str()) == known);
        let payment = place.or_else(|| all.iter().position(pays)).map(|place| all.remove(place));
        Self { payment, others: all, foreign: foreign.into_iter().map(String::from).collect() }
    }

    /// Says whether nothing came in for it, under any key.
    pub(super) fn is_empty(&self) -> bool {
        self.payment.is_none() && self.others.is_empty() && self.foreign.is_empty()
    }

    /// The end-to-end id of the Pix that paid.
    pub(super) fn end_to_end_id(&self) -> Option<&str> {
        self.payment.as_ref().map(|pix| pix.end_to_end_id.as_str())
    }

    /// Returns the facts: the Pix that paid, every other one, and refunds of the one that paid. Other Pix were never
    /// counted as the payment's, so their refunds are not refunds of it.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let settled = self.payment.iter().chain(&self.others).map(Received::settled);
        let foreign = self.foreign.iter().map(|id| Fact::PaidToOthers { id: id.clone() });
        settled.chain(self.payment.iter().flat_map(Received::given_back)).chain(foreign).collect()
    }
}

/// Returns true if a Pix of this amount and time pays the charge. With a due date, the amount owed depends on the day.
pub(super) fn pays(query: &ChargeQuery, amount: Money, at: Option<Timestamp>) -> bool {
    let due = query.terms.due();
    due.map_or(amount == query.amount, |due| {
        let day = at.map_or_else(|| due.moved_due_date(), Timestamp::sao_paulo_date);
        due.compare(query.amount, amount, day) != Paid::TooLittle
    })
}

fn end_to_end_id(pix: &Value) -> Option<&str> {
    text(pix, END_TO_END_ID).filter(|id| is_end_to_end_id(id))
}

impl Received {
    /// Reads a Pix. One without a name or an amount can't be reported.
    fn read(pix: &Value, expected: Money) -> Option<Self> {
        let end_to_end_id = end_to_end_id(pix)?.to_owned();
        let amount = expected_money(pix, "valor", expected)?;
        let returned = list(pix, "devolucoes").iter().take(MAX_ITEMS);
        let returned = returned.filter_map(|refund| Returned::read(refund, amount));
        let mut returned: Vec<Returned> = returned.collect();
        returned.sort_by_key(|each| (each.at.is_none(), each.at));
        Some(Self { end_to_end_id, amount, at: instant(pix, "horario"), returned })
    }

    fn settled(&self) -> Fact {
        Fact::Settled(Settlement {
            id: self.end_to_end_id.clone(),
            amount: self.amount,
            paid_on: self.at.map(Timestamp::sao_paulo_date),
            end_to_end_id: Some(self.end_to_end_id.clone()),
            approval: None,
        })
    }

    fn given_back(&self) -> impl Iterator<Item = Fact> {
        self.returned.iter().map(|returned| {
            let id = refund_id(&self.end_to_end_id, &returned.id);
            if returned.is_disputed {
                let amount = Some(returned.amount).filter(|amount| *amount != self.amount);
                Fact::ChargedBack { id, amount }
            } else {
                Fact::Refunded { refund_id: id, amount: Some(returned.amount) }
            }
        })
    }
}

impl Returned {
    /// Returns whether money went back.
    pub(super) fn is_done(refund: &Value) -> bool {
        text(refund, "status").is_some_and(|status| status.eq_ignore_ascii_case("DEVOLVIDO"))
    }

    /// Reads a completed refund of a Pix of this amount. One that is under way or was refused has moved nothing.
    pub(super) fn read(refund: &Value, whole: Money) -> Option<Self> {
        let times = refund.get("horario");
        let at =
            times.and_then(|times| instant(times, "liquidacao").or_else(|| instant(times, "solicitacao")));
        // Natures that begin with MED are returns by the banks for fraud
        // or failure: a chargeback, and no refund of the merchant's.
        let is_disputed = text(refund, "natureza").is_some_and(|nature| nature.starts_with("MED"));
        let id = text(refund, "id").or_else(|| text(refund, "rtrId"))?.to_owned();
        Self::is_done(refund).then_some(Self {
            id,
            amount: expected_money(refund, "valor", whole)?,
            at,
            is_disputed,
        })
    }
}

/// Returns our id of a refund. One that we requested has the id of its operation without hyphens. One that others
/// requested has an id derived from the bank's names, so that it is the same in each reading (UUIDv8: RFC 9562, section
/// 5.8).
pub(super) fn refund_id(end_to_end_id: &str, id: &str) -> String {
    let is_hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let own = (id.len() == 32 && id.bytes().all(is_hexadecimal)).then(|| Uuid::try_parse(id).ok()).flatten();
    let derived = || {
        let mut hash = Sha256::new_with_prefix("quita refund 1");
        hash.update(end_to_end_id);
        hash.update([0]);
        hash.update(id);
        super::uuid_of(hash)
    };
    own.unwrap_or_else(derived).hyphenated().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_of_ours_has_our_id_and_another_one_always_the_same() {
        let ours = "7978c0c97ea847e78e8849634473c1f1";
        assert_eq!(refund_id("E1", ours), "7978c0c9-7ea8-47e7-8e88-49634473c1f1");
        let others = refund_id("E1", "R1");
        assert_eq!(others, refund_id("E1", "R1"));
        assert_ne!(others, refund_id("E2", "R1"));
        assert_ne!(others, refund_id("E1R", "1"));
        assert!(Uuid::try_parse(&others).is_ok());
    }
}
