//! Course of a charge in time: the table of the contract, section 4.1.

use quita_domain::acquiring::{ChargeQuery, Fact};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Terms;
use quita_domain::time::Timestamp;

use super::{card, movement};

/// Milliseconds after which the payer of an amount with cents 07 pays.
const SLOW_PAYER_MS: u64 = 30_000;

/// Milliseconds after its time-out by which the caller has certainly inquired once.
const ASKED_AFTER_MS: u64 = 2_000;

/// Milliseconds after its time-out by which the caller has certainly sent an unknown charge again.
const SENT_AGAIN_AFTER_MS: u64 = 25_000;

/// Configured times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    /// Milliseconds after which the payer pays.
    pub(super) settle_after_ms: u64,
    /// Milliseconds after which the caller aborts a call.
    pub(super) time_out_ms: u64,
}

/// Outcomes of the request for a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reception {
    /// Created and answered.
    Answered,
    /// Created; the first notice is submitted before the answer.
    NoticeFirst,
    /// The first attempt creates the charge, but its answer never arrives.
    AnswerLost,
    /// The first attempt creates nothing, and its answer never arrives.
    Lost,
    /// The first attempt is turned away.
    Down,
}

impl Reception {
    /// Returns the reception of a PIX or boleto with this amount.
    pub(super) const fn of_amount(amount: Money) -> Self {
        match amount.last_two_digits() {
            62 => Self::NoticeFirst,
            91 => Self::AnswerLost,
            92 => Self::Lost,
            99 => Self::Down,
            _ => Self::Answered,
        }
    }
}

/// Something that happens by itself, and is reported in a notice.
#[derive(Debug, Clone)]
pub(super) struct ScriptStep {
    /// Time at which it happens.
    pub(super) at: Timestamp,
    /// Name of the event, from which the notice's id is derived.
    pub(super) event: &'static str,
    /// The reported fact.
    pub(super) fact: Fact,
}

/// Everything that happens to one charge, in order.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) reception: Reception,
    pub(super) steps: Vec<ScriptStep>,
}

impl Script {
    /// Returns the script of a charge.
    pub(super) fn of(query: &ChargeQuery, timing: Timing) -> Self {
        match &query.terms {
            Terms::Pix { .. } | Terms::DuePix(_) | Terms::Boleto(_) => {
                let reception = Reception::of_amount(query.amount);
                Self { reception, steps: steps_of_code(query, reception, timing) }
            }
            Terms::CreditCard { card, .. } => {
                let at = query.created_at.plus_ms(timing.settle_after_ms);
                let dispute = card::is_disputed(card).then(|| charged_back(at, query));
                Self { reception: card::reception(card), steps: dispute.into_iter().collect() }
            }
        }
    }

    /// Returns the last event until `now`, and the steps that are still to be reported after it.
    ///
    /// Returned money is reported only for a payment that the caller knows to be paid; otherwise it would come too
    /// early.
    pub(super) fn until(self, now: Timestamp, is_paid: bool) -> (Option<Fact>, Vec<ScriptStep>) {
        let may_be_told = |step: &ScriptStep| step.at <= now && (is_paid || !takes_money_back(&step.fact));
        let told = self.steps.iter().rposition(may_be_told);
        let fact = told.and_then(|place| self.steps.get(place)).map(|step| step.fact.clone());
        let rest = self.steps.into_iter().skip(told.map_or(0, |place| place + 1)).collect();
        (fact, rest)
    }

    /// Returns true if it expires because of its amount, not because the time has passed.
    pub(super) fn expires_by_itself(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.fact, Fact::Expired))
    }

    /// Returns true if the payer's money has come in by itself.
    pub(super) fn is_settled(&self, now: Timestamp) -> bool {
        self.steps.iter().any(|step| step.at <= now && matches!(step.fact, Fact::Settled(_)))
    }
}

const fn takes_money_back(fact: &Fact) -> bool {
    matches!(fact, Fact::ChargedBack { .. } | Fact::Refunded { .. })
}

/// Returns the course of a PIX or boleto, by the last two digits of its amount.
fn steps_of_code(query: &ChargeQuery, reception: Reception, timing: Timing) -> Vec<ScriptStep> {
    let created_at = match reception {
        // The payer can't start before the caller has the code.
        Reception::AnswerLost => query.created_at.plus_ms(timing.time_out_ms).plus_ms(ASKED_AFTER_MS),
        Reception::Lost => query.created_at.plus_ms(timing.time_out_ms).plus_ms(SENT_AGAIN_AFTER_MS),
        Reception::Answered | Reception::NoticeFirst | Reception::Down => query.created_at,
    };
    let soon = created_at.plus_ms(timing.settle_after_ms);
    let later = soon.plus_ms(timing.settle_after_ms);
    let cent = Money::from_cents(1);
    let paid = |at, amount| settled(at, query, amount);
    let owed = |at: Timestamp| movement::owed_on(query, at.sao_paulo_date());
    let settled = |at| paid(at, owed(at));
    match query.amount.last_two_digits() {
        7 => vec![settled(created_at.plus_ms(SLOW_PAYER_MS))],
        17 => vec![expired(created_at)],
        27 => Vec::new(),
        31 => vec![settled(soon), charged_back(later, query)],
        41 => vec![settled(soon), refunded(later, query)],
        51 if query.method == Method::Boleto => vec![paid(soon, owed(soon).minus(cent))],
        52 if query.method == Method::Boleto => vec![paid(soon, owed(soon).plus(cent))],
        // The same settlement, twice under one notice id, and once under another: it must count only once.
        61 => vec![settled(soon), settled(soon), ScriptStep { event: "settled-again", ..settled(soon) }],
        62 => vec![settled(created_at)],
        71 => vec![expired(soon), settled(later)],
        _ => vec![settled(soon)],
    }
}

fn settled(at: Timestamp, query: &ChargeQuery, amount: Money) -> ScriptStep {
    ScriptStep {
        at,
        event: "settled",
        fact: Fact::Settled(movement::settlement(query, amount, at.sao_paulo_date())),
    }
}

const fn expired(at: Timestamp) -> ScriptStep {
    ScriptStep { at, event: "expired", fact: Fact::Expired }
}

fn charged_back(at: Timestamp, query: &ChargeQuery) -> ScriptStep {
    let id = format!("chargeback-{}", query.id.uuid().simple());
    ScriptStep { at, event: "charged-back", fact: Fact::ChargedBack { id, amount: None } }
}

fn refunded(at: Timestamp, query: &ChargeQuery) -> ScriptStep {
    let refund_id = format!("refund-{}", query.id.uuid().simple());
    ScriptStep { at, event: "refunded", fact: Fact::Refunded { refund_id, amount: None } }
}
