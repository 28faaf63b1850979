//! One payment in a bank's books.

use std::collections::BTreeMap;

use quita_domain::acquiring::{Approval, ChargeQuery, Fact, Issued, OperationAnswer, Settlement};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Terms;
use quita_domain::slip::IssuedBoleto;
use quita_domain::time::{DAY_MS, Timestamp};
use uuid::Uuid;

/// What a bank holds for a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// It waits for the payer.
    Awaited,
    /// A card's limit is held.
    Authorised,
    /// The money is there.
    Captured,
    Declined,
    Expired,
    Cancelled,
}

/// One payment.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) holding: Holding,
    /// How often a card was authorised; more than once is a payer who was charged twice.
    pub(crate) authorised: u32,
    pub(crate) captured: Money,
    /// Whether what came in was not what was asked for.
    pub(crate) is_odd: bool,
    /// Whether the payer paid although the charge was withdrawn.
    pub(crate) is_crossed: bool,
    /// Whether it could not be found for a while.
    pub(crate) has_lagged: bool,
    /// What was given back, by the id of the refund.
    pub(crate) refunded: BTreeMap<String, Money>,
    pub(crate) is_charged_back: bool,
    /// Whether it was charged back at any time.
    pub(crate) was_disputed: bool,
    pub(crate) issued: Option<Issued>,
    /// From when it can be found.
    pub(crate) visible_at: Timestamp,
    expires_at: Timestamp,
    method: Method,
    answered: BTreeMap<Uuid, OperationAnswer>,
}

impl Entry {
    pub(crate) fn new(query: &ChargeQuery, holding: Holding) -> Self {
        let (issued, expires_at) = issue(query);
        let is_card = query.method == Method::CreditCard;
        let takes_money = matches!(holding, Holding::Authorised | Holding::Captured);
        Self {
            holding,
            authorised: u32::from(is_card && takes_money),
            captured: if holding == Holding::Captured { query.amount } else { Money::ZERO },
            is_odd: false,
            is_crossed: false,
            has_lagged: false,
            refunded: BTreeMap::new(),
            is_charged_back: false,
            was_disputed: false,
            issued,
            visible_at: Timestamp::default(),
            expires_at,
            method: query.method,
            answered: BTreeMap::new(),
        }
    }

    /// When the time to pay ends.
    pub(crate) const fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    pub(crate) fn given_back(&self) -> Money {
        self.refunded.values().copied().sum()
    }

    /// A withdrawal was told after the money came, or the bank denied for a while what it had.
    pub(crate) const fn may_be_contradicted(&self) -> bool {
        self.is_crossed || self.has_lagged
    }

    /// What the bank states about it.
    pub(crate) fn fact(&mut self, id: Uuid, now: Timestamp) -> Fact {
        if self.holding == Holding::Awaited && now > self.expires_at {
            self.holding = Holding::Expired;
        }
        match self.holding {
            Holding::Awaited => Fact::Pending { issued: self.issued.clone().unwrap(), news_at: None },
            Holding::Authorised => Fact::Authorized(approval()),
            Holding::Captured => Fact::Settled(Settlement {
                id: format!("settlement-{id}"),
                amount: self.captured,
                end_to_end_id: None,
                approval: (self.method == Method::CreditCard).then(approval),
            }),
            Holding::Declined => Fact::Declined { code: "insufficient_funds".into() },
            Holding::Expired => Fact::Expired,
            Holding::Cancelled => Fact::Cancelled,
        }
    }

    /// Does what is asked, once for each id.
    pub(crate) fn operate(&mut self, operation: &Operation) -> OperationAnswer {
        if let Some(answer) = self.answered.get(&operation.id) {
            return answer.clone();
        }
        let refused = |why: &str| OperationAnswer::Refused(why.into());
        let answer = match (operation.kind, self.holding) {
            (OperationKind::Cancel, Holding::Awaited | Holding::Authorised) => {
                self.holding = Holding::Cancelled;
                OperationAnswer::Done
            }
            (OperationKind::Cancel, Holding::Cancelled) => OperationAnswer::Done,
            (OperationKind::Capture(amount), Holding::Authorised) => {
                (self.holding, self.captured) = (Holding::Captured, amount);
                OperationAnswer::Done
            }
            (OperationKind::Capture(amount), Holding::Captured) if amount == self.captured => {
                OperationAnswer::Done
            }
            (OperationKind::Refund(amount), Holding::Captured)
                if !self.is_charged_back && amount <= self.captured.minus(self.given_back()) =>
            {
                self.refunded.insert(operation.id.to_string(), amount);
                OperationAnswer::Done
            }
            (
                OperationKind::Cancel | OperationKind::Capture(_) | OperationKind::Refund(_),
                Holding::Awaited
                | Holding::Authorised
                | Holding::Captured
                | Holding::Declined
                | Holding::Expired
                | Holding::Cancelled,
            ) => refused("not_possible"),
        };
        self.answered.insert(operation.id, answer.clone());
        answer
    }
}

fn approval() -> Approval {
    Approval { authorization_code: "123456".into() }
}

/// What the payer pays with, and until when.
fn issue(query: &ChargeQuery) -> (Option<Issued>, Timestamp) {
    match &query.terms {
        Terms::Pix { expires_in_s } => {
            let expires_at = query.created_at.plus_ms(expires_in_s * 1_000);
            let txid = query.id.uuid().simple().to_string();
            (Some(Issued::Pix { txid, code: "code".into(), expires_at }), expires_at)
        }
        Terms::Boleto { due_date } => {
            let slip = IssuedBoleto {
                barcode: "0".repeat(44),
                digitable_line: "0".repeat(47),
                due_date: *due_date,
                our_number: "1".into(),
                portfolio: "1".into(),
                agency_and_account: "1/1".into(),
                bank_code: "001-9".into(),
                bank_name: "Banco".into(),
                beneficiary_name: "Loja".into(),
                beneficiary_document: "1".into(),
                beneficiary_address: "Rua".into(),
            };
            (Some(Issued::Boleto(slip)), Timestamp::end_of_sao_paulo_day(*due_date))
        }
        Terms::CreditCard { .. } => (None, query.created_at.plus_ms(365 * DAY_MS)),
    }
}
