//! Facts that a charge states about a payment: decided by its status, explained by its newest step.

use quita_domain::acquiring::{
    Approval, CallFailure, ChargeAnswer, ChargeQuery, Fact, Issued, Reference, RemovedBy, Settlement,
    Statement,
};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Terms;
use quita_domain::time::Timestamp;

use super::codes::{self, NoCode};
use super::decline;
use super::order::Charge;
use super::request;
use super::settings::PagarmeSettings;
use super::status::{ChargeStatus, Step, Undecided};
use super::{code, splits};
use crate::reason;

/// Our note that the holder took the money back: if the charge is paid afterwards, the dispute was won.
const DISPUTED: &str = "_disputed";

/// Reader of a payment's charge.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) settings: &'a PagarmeSettings,
    pub(super) now: Timestamp,
    /// Amount that the holder took back, if payables show it.
    pub(super) charged_back: Option<Money>,
    /// True if payables show that this amount came back.
    pub(super) is_dispute_won: bool,
}

impl Reader<'_> {
    /// Returns the facts that the charge states. A charge of another payment states nothing.
    pub(super) fn answer(self, query: &ChargeQuery, charge: &Charge) -> ChargeAnswer {
        if let Some(what) = mismatch(query, charge) {
            return ChargeAnswer::Mismatched(what);
        }
        match (&charge.status, &charge.last.step) {
            // Checked first: an unknown word must not be interpreted by the rest of the pair.
            (ChargeStatus::Other(_), _) | (_, Step::Other(_)) => unclear(charge),
            (ChargeStatus::ChargedBack, _) => self.charged_back(query, charge),
            (ChargeStatus::Paid, step) => self.paid(query, charge, step),
            (ChargeStatus::Canceled, step) => self.canceled(query, charge, step),
            (ChargeStatus::Failed, step) => self.failed(query, charge, step),
            (ChargeStatus::Pending, Step::Held) if query.method == Method::CreditCard => {
                self.known(query, charge, vec![Fact::Authorized(approval(charge))])
            }
            (ChargeStatus::Pending, Step::Waiting) if query.method != Method::CreditCard => {
                self.waits(query, charge)
            }
            (ChargeStatus::Pending | ChargeStatus::Processing, Step::Undecided(Undecided::Review)) => {
                ChargeAnswer::UnderReview(self.reference(query, charge))
            }
            (ChargeStatus::Pending | ChargeStatus::Processing, Step::Undecided(_) | Step::Missing)
            | (ChargeStatus::Processing, Step::Held | Step::Waiting) => {
                ChargeAnswer::Accepted(self.reference(query, charge))
            }
            (ChargeStatus::Pending | ChargeStatus::Processing, _) => unclear(charge),
        }
    }

    fn paid(self, query: &ChargeQuery, charge: &Charge, step: &Step) -> ChargeAnswer {
        match step {
            Step::Taken | Step::GivenBack(_) | Step::Missing | Step::Undecided(Undecided::Error) => {
                self.known(query, charge, money(query, charge))
            }
            Step::Held
            | Step::NotAuthorized
            | Step::Waiting
            | Step::Undecided(Undecided::Review | Undecided::Processing)
            | Step::Failed
            | Step::Expired
            | Step::ChargedBack
            | Step::Other(_) => unclear(charge),
        }
    }

    fn charged_back(self, query: &ChargeQuery, charge: &Charge) -> ChargeAnswer {
        let mut facts = money(query, charge);
        let left = charge.taken().minus(charge.given_back());
        let amount = Some(self.charged_back.unwrap_or(left)).filter(|amount| !amount.is_zero());
        facts.push(Fact::ChargedBack { id: charge.id.to_string(), amount });
        facts.extend(self.is_dispute_won.then(|| dispute_won(charge)));
        let reference = self.reference(query, charge).with(DISPUTED, charge.id.as_str());
        ChargeAnswer::Known(Statement { facts, reference })
    }

    /// Returns the answer for a charge that was withdrawn or voided, or that was paid and fully refunded.
    fn canceled(self, query: &ChargeQuery, charge: &Charge, step: &Step) -> ChargeAnswer {
        let was_paid = charge.paid.is_some() || query.paid_amount.is_some();
        match step {
            Step::GivenBack(_) | Step::Missing | Step::Undecided(Undecided::Error) if was_paid => {
                self.known(query, charge, money(query, charge))
            }
            Step::GivenBack(_)
            | Step::Missing
            | Step::Undecided(Undecided::Error)
            | Step::Failed
            | Step::Expired => self.known(query, charge, vec![self.withdrawn(query, charge)]),
            Step::Held
            | Step::Taken
            | Step::NotAuthorized
            | Step::Waiting
            | Step::Undecided(Undecided::Review | Undecided::Processing)
            | Step::ChargedBack
            | Step::Other(_) => unclear(charge),
        }
    }

    /// Returns the fact for a withdrawn charge. While an operation by this service is under way, it may be the cause,
    /// which the operation's own inquiry will show.
    fn withdrawn(self, query: &ChargeQuery, charge: &Charge) -> Fact {
        let is_card = query.method == Method::CreditCard;
        if is_card && query.operation_under_way {
            Fact::Authorized(approval(charge))
        } else if query.cancelled_at.is_some() {
            Fact::Cancelled
        } else {
            Fact::Removed { by: RemovedBy::Receiver }
        }
    }

    fn failed(self, query: &ChargeQuery, charge: &Charge, step: &Step) -> ChargeAnswer {
        if charge.paid.is_some() || query.paid_amount.is_some() {
            // The charge is refused and paid: neither can be believed.
            return unclear(charge);
        }
        let is_card = query.method == Method::CreditCard;
        match (step, self.gateway(charge)) {
            (Step::Undecided(Undecided::Review), _) => {
                ChargeAnswer::UnderReview(self.reference(query, charge))
            }
            // Pagar.me's own word needs no clock of ours: that of the node that created the payment may have been
            // ahead.
            (Step::Expired, _) if !is_card => self.known(query, charge, vec![Fact::Expired]),
            (Step::Undecided(_), _) | (Step::Failed | Step::Expired | Step::Missing, Gateway::Error) => {
                ChargeAnswer::Accepted(self.reference(query, charge))
            }
            // The gateway refused the request before an issuer saw it. This is not a decline, so another acquirer may
            // take the payment.
            (Step::Failed | Step::Expired | Step::NotAuthorized, Gateway::Refused)
                if charge.last.return_code.is_none() && query.issued.is_none() =>
            {
                ChargeAnswer::Refused(refusal(charge))
            }
            (Step::NotAuthorized, _) if is_card => {
                let brand = query.card.as_ref().map(|card| card.brand);
                self.known(query, charge, vec![Fact::Declined(decline::of_card(brand, &charge.last))])
            }
            (Step::Failed | Step::Expired, _) if is_card && charge.last.return_code.is_some() => {
                let brand = query.card.as_ref().map(|card| card.brand);
                self.known(query, charge, vec![Fact::Declined(decline::of_card(brand, &charge.last))])
            }
            (Step::Failed | Step::Waiting | Step::Missing, _) if !is_card => {
                let is_over = self.time_is_over(query);
                let fact = if is_over { Fact::Expired } else { Fact::Declined(decline::of_code()) };
                self.known(query, charge, vec![fact])
            }
            (_, _) => unclear(charge),
        }
    }

    /// Returns the gateway's answer, from before any issuer or bank was asked.
    fn gateway(self, charge: &Charge) -> Gateway {
        match charge.last.gateway_code.as_deref().and_then(|code| code.bytes().next()) {
            Some(b'4') => Gateway::Refused,
            Some(b'5') => Gateway::Error,
            Some(_) | None => Gateway::Passed,
        }
    }

    /// Returns the fact for a charge that waits for its payer, with a checked code. A code that was already shown
    /// stays.
    fn waits(self, query: &ChargeQuery, charge: &Charge) -> ChargeAnswer {
        let issued = match (&query.issued, codes::issued(query, charge, &self.settings.boleto)) {
            (Some(issued), _) => Issued::clone(issued),
            (None, Ok(issued)) => issued,
            (None, Err(NoCode(why))) => {
                let transaction = query.id;
                let charge_id = &charge.id;
                tracing::warn!(transaction.id = %transaction, pagarme.charge_id = %charge_id, why, "no code to pay with");
                return ChargeAnswer::WithoutCode(self.reference(query, charge));
            }
        };
        self.known(query, charge, vec![Fact::Pending { issued, news_at: None }])
    }

    /// Returns true if a PIX or boleto has expired by itself.
    fn time_is_over(self, query: &ChargeQuery) -> bool {
        match &query.terms {
            Terms::Pix { expires_in_s } => {
                // Its lifetime starts with the request that created it, as the code shows it.
                query.sent_at.plus_ms(expires_in_s.saturating_mul(1000)) <= self.now
            }
            Terms::DuePix(due) | Terms::Boleto(due) => due.payable_before() <= self.now,
            Terms::CreditCard { .. } => false,
        }
    }

    fn known(self, query: &ChargeQuery, charge: &Charge, facts: Vec<Fact>) -> ChargeAnswer {
        ChargeAnswer::Known(Statement { facts, reference: self.reference(query, charge) })
    }

    /// Returns Pagar.me's names of the charge, with notes of its splits.
    pub(super) fn reference(self, query: &ChargeQuery, charge: &Charge) -> Reference {
        let order_id = charge.order_id.as_ref().map(|id| id.as_str()).unwrap_or_default();
        let mut reference =
            Reference::none().with(super::ORDER_ID, order_id).with(super::CHARGE_ID, charge.id.as_str());
        let last = &charge.last;
        for (name, value) in [("transactionId", &last.id), ("tid", &last.tid), ("nsu", &last.nsu)] {
            reference = reference.with(name, value.as_deref().unwrap_or_default());
        }
        reference = splits::noted(reference, &splits::kept(query, self.settings));
        match query.method {
            Method::Boleto => reference
                .with("ourNumber", &codes::reference_number(charge).unwrap_or_default())
                .with(Reference::DOCUMENT_NUMBER, &code::document_number(query.id)),
            Method::Pix | Method::CreditCard => reference,
        }
    }
}

/// Answer of the gateway, from before any issuer or bank was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gateway {
    Passed,
    Refused,
    Error,
}

/// Returns true if the charge does not bear the payment's code.
pub(super) fn is_of_another_order(query: &ChargeQuery, charge: &Charge) -> bool {
    // An absent code is one too: ids are Pagar.me's own, and only the code ties a charge to a payment.
    charge.code.as_deref() != Some(&code::write(query.id))
}

/// Returns a description of the part of the answer that belongs to another order, or is for another amount.
pub(super) fn mismatch(query: &ChargeQuery, charge: &Charge) -> Option<String> {
    if is_of_another_order(query, charge) {
        return Some("the charge is of another order".to_owned());
    }
    if charge.amount != query.amount {
        return Some(format!("the charge is of {}, not of {}", charge.amount, query.amount));
    }
    if charge.currency.as_deref().is_some_and(|currency| !currency.eq_ignore_ascii_case("BRL")) {
        return Some("the charge has another currency".to_owned());
    }
    let method = request::method(&query.terms);
    let is_other = charge.method.as_deref().is_some_and(|given| !given.eq_ignore_ascii_case(method));
    is_other.then(|| format!("the charge is no {method}"))
}

/// Returns the facts about money that came in, part of which may have been refunded.
fn money(query: &ChargeQuery, charge: &Charge) -> Vec<Fact> {
    let may_be_our_capture =
        query.method == Method::CreditCard && query.operation_under_way && query.paid_amount.is_none();
    if may_be_our_capture {
        return vec![Fact::Authorized(approval(charge))];
    }
    let mut facts = vec![Fact::Settled(settlement(query.method, charge))];
    if query.method.has_code() {
        facts.push(Fact::Concluded);
    }
    // A won dispute has no status of its own: the charge is paid again, and only the stored note shows the dispute.
    if charge.status == ChargeStatus::Paid && query.reference.get(DISPUTED) == Some(charge.id.as_str()) {
        facts.push(dispute_won(charge));
    }
    facts.extend(refund(query, charge));
    facts
}

/// Returns the end of the only dispute of a charge.
fn dispute_won(charge: &Charge) -> Fact {
    Fact::DisputeWon { id: format!("{}-won", charge.id), chargeback_id: Some(charge.id.to_string()) }
}

/// Returns the fact for refunded money. The part that is not ours was refunded by somebody at Pagar.me. Its id is
/// derived from the sum, so that it is recorded once.
fn refund(query: &ChargeQuery, charge: &Charge) -> Option<Fact> {
    let given_back = charge.given_back();
    if query.operation_under_way || given_back.is_zero() {
        return None;
    }
    let refund_id = format!("{}-{}", charge.id, given_back.cents());
    Some(Fact::RefundedInTotal { refund_id, total: given_back })
}

/// Returns the only movement of money of a charge; its id is the charge's.
fn settlement(method: Method, charge: &Charge) -> Settlement {
    Settlement {
        id: charge.id.to_string(),
        amount: charge.taken(),
        paid_on: charge.paid_on.filter(|_| method == Method::Boleto),
        end_to_end_id: charge.last.pix.end_to_end_id.clone().filter(|_| method == Method::Pix),
        approval: (method == Method::CreditCard).then(|| approval(charge)),
    }
}

fn approval(charge: &Charge) -> Approval {
    Approval { authorization_code: charge.last.authorization_code.clone().unwrap_or_default() }
}

/// Returns Pagar.me's explanation of a charge that the gateway refused.
fn refusal(charge: &Charge) -> String {
    let said = reason::explained(&charge.last.gateway_code, &charge.last.gateway_message);
    let said = said.map(|said| reason::clean(&said)).filter(|said| !said.is_empty());
    said.unwrap_or_else(|| "the charge failed at Pagar.me".to_owned())
}

fn unclear(charge: &Charge) -> ChargeAnswer {
    let what = match (&charge.status, &charge.last.step) {
        (ChargeStatus::Other(text), _) => format!("the charge's status {text} is not known"),
        (_, Step::Other(text)) => format!("the status {text} of a step is not known"),
        (status, step) => format!("the charge is {status:?}, and its newest step is {step:?}"),
    };
    ChargeAnswer::Failed(CallFailure::Unknown(what))
}
