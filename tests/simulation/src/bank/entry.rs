//! Entry of one payment in a bank's books.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use quita_domain::acquiring::{
    Approval, ChargeQuery, Decline, DeclineKind, Fact, Issued, OperationAnswer, Reference, RemovedBy,
    Settlement, Statement,
};
use quita_domain::boleto::business_day;
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::OperationId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Terms;
use quita_domain::slip::IssuedBoleto;
use quita_domain::time::{DAY_MS, Timestamp};
use uuid::Uuid;

use crate::account::Account;

/// State of a payment in a bank's books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Waiting for the payer.
    Awaited,
    /// The limit of a card is held.
    Authorised,
    /// The money has come in.
    Captured,
    Declined,
    Expired,
    Cancelled,
    /// The limit of a card is free again, as it was never captured.
    Lapsed,
}

/// Money that is being returned, or was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Returned {
    amount: Money,
    state: Return,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Return {
    /// It ends at this time, as done or as failed.
    UnderWay {
        until: Timestamp,
        fails: bool,
    },
    Done,
    Failed,
}

/// Entry of one payment.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) holding: Holding,
    /// Kind of its decline: whether another try may succeed, if the bank reports that.
    pub(crate) decline_kind: Option<DeclineKind>,
    /// Number of times that a card was authorised; more than one means that the payer was charged twice.
    pub(crate) authorised: u32,
    pub(crate) captured: Money,
    /// Amount asked for.
    pub(crate) asked: Money,
    /// Amount that came in on top of that because a boleto was paid late.
    pub(crate) interest: Money,
    /// Day on which a boleto was paid.
    pub(crate) paid_on: Option<NaiveDate>,
    /// True if the amount that came in differs from the amount asked for.
    pub(crate) is_odd: bool,
    /// True if the payer paid although the charge was withdrawn.
    pub(crate) is_crossed: bool,
    /// True if it could not be found for a while.
    pub(crate) has_lagged: bool,
    /// True if money is given back although it was charged back.
    pub(crate) gives_back_disputed: bool,
    /// True if the bank reports the party that withdrew a charge, and that a charge takes no more money.
    pub(crate) says_how_it_ended: bool,
    /// Party that withdrew it, unless the service did.
    pub(crate) removed_by: Option<RemovedBy>,
    /// True if a card was captured at the bank's desk.
    pub(crate) was_captured_at_the_desk: bool,
    /// True if there is no code to pay with.
    pub(crate) has_no_code: bool,
    /// Moment at which the limit of an uncaptured card is free again.
    pub(crate) lapses_at: Option<Timestamp>,
    /// Number of its chargebacks.
    pub(crate) chargebacks: u32,
    /// True if the payer's money is under way, sent before the time to pay ended.
    pub(crate) is_in_transit: bool,
    /// True if it was paid in time, but the money came in after the time to pay.
    pub(crate) came_after_its_time: bool,
    /// True if it was authorised long after its caller gave it up.
    pub(crate) is_late: bool,
    pub(crate) issued: Option<Issued>,
    /// Moment from which it can be found.
    pub(crate) visible_at: Timestamp,
    /// Moment from which the bank shows that the last operation was done.
    pub(crate) operations_visible_at: Timestamp,
    /// Moment from which there is a code to pay with.
    pub(crate) registered_at: Timestamp,
    /// Reference that the bank gave it.
    pub(crate) reference: Reference,
    /// Chargebacks and refunds, in the order in which they happened, as far as the bank lists them.
    moved: Vec<Fact>,
    /// Chargebacks whose dispute was not won, oldest first.
    open_chargebacks: Vec<String>,
    /// Money being returned, by an id of the bank's, or by one of ours if the bank knows those.
    returned: BTreeMap<String, Returned>,
    expires_at: Timestamp,
    method: Method,
    answered: BTreeMap<OperationId, OperationAnswer>,
}

impl Entry {
    pub(crate) fn new(query: &ChargeQuery, holding: Holding, reference: Reference) -> Self {
        let (issued, expires_at) = issue(query);
        let is_card = query.method == Method::CreditCard;
        let takes_money = matches!(holding, Holding::Authorised | Holding::Captured);
        Self {
            holding,
            decline_kind: None,
            authorised: u32::from(is_card && takes_money),
            captured: if holding == Holding::Captured { query.amount } else { Money::ZERO },
            asked: query.amount,
            interest: Money::ZERO,
            paid_on: None,
            is_odd: false,
            is_crossed: false,
            has_lagged: false,
            gives_back_disputed: false,
            says_how_it_ended: false,
            removed_by: None,
            was_captured_at_the_desk: false,
            has_no_code: false,
            lapses_at: None,
            chargebacks: 0,
            is_in_transit: false,
            came_after_its_time: false,
            is_late: false,
            open_chargebacks: Vec::new(),
            issued,
            visible_at: Timestamp::default(),
            operations_visible_at: Timestamp::default(),
            registered_at: Timestamp::default(),
            reference,
            moved: Vec::new(),
            returned: BTreeMap::new(),
            expires_at,
            method: query.method,
            answered: BTreeMap::new(),
        }
    }

    /// Returns the end of the time to pay.
    pub(crate) const fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Returns true if a payer who pays now owes a fine and interest.
    pub(crate) fn costs_interest(&self, now: Timestamp) -> bool {
        match &self.issued {
            Some(Issued::Boleto(slip)) => business_day::roll(slip.due_date) < now.sao_paulo_date(),
            Some(Issued::Pix { .. }) | None => false,
        }
    }

    /// Returns the facts that the judge needs.
    pub(crate) fn account(&self) -> Account {
        Account {
            tells_by_sums: false,
            counted: None,
            others: Vec::new(),
            is_blind: false,
            is_never_told: false,
            holding: self.holding,
            declined_as: (self.holding == Holding::Declined).then_some(self.decline_kind),
            authorised: self.authorised,
            captured: self.captured,
            given_back: self.given_back(),
            is_charged_back: self.is_charged_back(),
            chargebacks: self.chargebacks,
            is_odd: self.is_odd,
            is_listed_alone: false,
            paid_unasked_interest: self.interest > Money::ZERO,
            is_foreign: false,
            removed_by: self.removed_by,
            was_captured_at_the_desk: self.was_captured_at_the_desk,
            sums_moved: self.was_captured_at_the_desk,
            is_late: self.is_late,
            came_after_its_time: self.came_after_its_time,
            // A withdrawal was reported after the money came, or the bank denied for a while what it had.
            may_be_contradicted: self.is_crossed || self.has_lagged,
        }
    }

    /// Returns the amount that was returned for certain.
    fn given_back(&self) -> Money {
        self.returned.values().filter(|one| one.state == Return::Done).map(|one| one.amount).sum()
    }

    /// Returns the amount that may still be returned.
    pub(crate) fn left(&self) -> Money {
        let taken: Money =
            self.returned.values().filter(|one| one.state != Return::Failed).map(|one| one.amount).sum();
        self.captured.minus(taken)
    }

    /// Advances the entry to this moment: whatever was under way ends. Money that was charged back is not given back too,
    /// unless this bank does so.
    pub(crate) fn pass_to(&mut self, now: Timestamp) {
        if self.holding == Holding::Awaited && now > self.expires_at && !self.is_in_transit {
            self.holding = Holding::Expired;
        }
        if self.holding == Holding::Authorised && self.lapses_at.is_some_and(|at| at <= now) {
            self.holding = Holding::Lapsed;
        }
        let gives_back = !self.is_charged_back() || self.gives_back_disputed;
        for (id, one) in &mut self.returned {
            let Return::UnderWay { until, fails } = one.state else { continue };
            if until <= now {
                one.state = if fails || !gives_back { Return::Failed } else { Return::Done };
                if one.state == Return::Done {
                    self.moved.push(Fact::Refunded { refund_id: id.clone(), amount: Some(one.amount) });
                }
            }
        }
    }

    /// Returns the fact that the bank states first.
    pub(crate) fn fact(&mut self, id: Uuid, now: Timestamp) -> Fact {
        self.pass_to(now);
        match self.holding {
            Holding::Awaited => Fact::Pending { issued: self.issued.clone().unwrap(), news_at: None },
            Holding::Authorised => Fact::Authorized(approval()),
            Holding::Captured => Fact::Settled(Settlement {
                id: format!("settlement-{id}"),
                amount: self.captured.plus(self.interest),
                paid_on: self.paid_on,
                end_to_end_id: None,
                approval: (self.method == Method::CreditCard).then(approval),
            }),
            Holding::Declined => {
                let kind = self.decline_kind;
                Fact::Declined(Decline { kind, ..Decline::of("insufficient_funds") })
            }
            Holding::Expired | Holding::Lapsed => Fact::Expired,
            Holding::Cancelled => match self.removed_by {
                Some(by) => Fact::Removed { by },
                None if self.says_how_it_ended => Fact::Removed { by: RemovedBy::Receiver },
                None => Fact::Cancelled,
            },
        }
    }

    /// Returns all that the bank states about it.
    pub(crate) fn statement(&mut self, id: Uuid, now: Timestamp) -> Statement {
        let mut facts = vec![self.fact(id, now)];
        let is_pix = self.method == Method::Pix;
        if self.says_how_it_ended && is_pix && self.is_odd && self.holding == Holding::Captured {
            let issued = self.issued.clone().unwrap();
            facts.insert(0, Fact::Pending { issued, news_at: None });
            facts.push(Fact::Concluded);
        }
        if self.holding == Holding::Captured && !self.is_odd {
            facts.extend(self.moved.iter().cloned());
        }
        Statement { facts, reference: self.reference.clone() }
    }

    /// Returns true if money that was charged back has not come back.
    pub(crate) const fn is_charged_back(&self) -> bool {
        !self.open_chargebacks.is_empty()
    }

    /// Charges money back.
    pub(crate) fn charge_back(&mut self, id: &str, amount: Option<Money>) -> Fact {
        self.open_chargebacks.push(id.to_owned());
        self.dispute(Fact::ChargedBack { id: id.to_owned(), amount })
    }

    /// Records a won dispute about this chargeback, or about the oldest one if the bank does not name it.
    pub(crate) fn win(&mut self, id: String, chargeback: &str, is_named: bool) -> Fact {
        let place = self.open_chargebacks.iter().position(|open| !is_named || open == chargeback);
        self.open_chargebacks.remove(place.unwrap());
        self.dispute(Fact::DisputeWon { id, chargeback_id: is_named.then(|| chargeback.to_owned()) })
    }

    fn dispute(&mut self, fact: Fact) -> Fact {
        self.moved.push(fact.clone());
        fact
    }

    /// Withdraws the charge, at the bank's desk or by the bank itself.
    pub(crate) fn remove(&mut self, by: RemovedBy) -> Fact {
        (self.holding, self.removed_by) = (Holding::Cancelled, Some(by));
        Fact::Removed { by }
    }

    /// Captures a card at the bank's desk.
    pub(crate) fn capture_at_the_desk(&mut self, amount: Money) {
        (self.holding, self.captured, self.was_captured_at_the_desk) = (Holding::Captured, amount, true);
    }

    /// Gives money back at the bank, without a request of ours.
    pub(crate) fn give_back_at_the_desk(&mut self, id: &str, amount: Money) {
        self.returned.insert(id.to_owned(), Returned { amount, state: Return::Done });
        self.moved.push(Fact::Refunded { refund_id: id.to_owned(), amount: Some(amount) });
    }

    /// Performs an operation once for each id.
    pub(crate) fn operate_by_id(
        &mut self,
        operation: &Operation,
        refund_ends: Option<(Timestamp, bool)>,
    ) -> OperationAnswer {
        if !self.answered.contains_key(&operation.id) {
            let name = operation.id.to_string();
            let answer = self.operate(operation.kind, name, refund_ends, true);
            self.answered.insert(operation.id, answer);
        }
        self.became_by_id(operation)
    }

    /// Refuses to capture a card whose limit is held. A bank that knows ids gives the same answer for this one from
    /// then on.
    pub(crate) fn refuse_capture(&mut self, operation: &Operation, knows_ids: bool) -> OperationAnswer {
        let answer = refused("over_the_limit");
        if knows_ids {
            self.answered.insert(operation.id, answer.clone());
        }
        answer
    }

    /// Returns true if this operation was requested before.
    pub(crate) fn has_answered(&self, operation: &Operation) -> bool {
        self.answered.contains_key(&operation.id)
    }

    /// Returns the outcome of an operation, found by its id.
    pub(crate) fn became_by_id(&self, operation: &Operation) -> OperationAnswer {
        let returned = self.returned.get(&operation.id.to_string()).map(|one| one.state);
        match (self.answered.get(&operation.id), returned) {
            (None, _) => OperationAnswer::NotFound,
            (Some(_), Some(Return::UnderWay { .. })) => OperationAnswer::Accepted,
            (Some(_), Some(Return::Done)) => OperationAnswer::Done,
            (Some(_), Some(Return::Failed)) => OperationAnswer::Refused("no_balance".into()),
            (Some(answer), None) => answer.clone(),
        }
    }

    /// Performs an operation each time that it is requested: there are no ids.
    pub(crate) fn operate_once_more(&mut self, operation: &Operation) -> OperationAnswer {
        let name = format!("return-{}", self.returned.len());
        self.operate(operation.kind, name, None, false)
    }

    /// Infers the outcome of an operation from what the bank holds and what the caller knows of that.
    pub(crate) fn became_by_sums(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        match (operation.kind, self.holding) {
            (OperationKind::Cancel, Holding::Cancelled) => OperationAnswer::Done,
            (OperationKind::Cancel, Holding::Awaited | Holding::Authorised) => OperationAnswer::NotFound,
            (OperationKind::Cancel, Holding::Expired) if self.method == Method::Boleto => {
                OperationAnswer::NotFound
            }
            (OperationKind::Capture(amount), Holding::Captured) if amount == self.captured => {
                OperationAnswer::Done
            }
            (OperationKind::Capture(_), Holding::Authorised) => OperationAnswer::NotFound,
            (OperationKind::Capture(_), Holding::Captured) => {
                OperationAnswer::Contradicted("another amount is captured".into())
            }
            (OperationKind::Refund(amount), Holding::Captured) => {
                match self.given_back().minus(query.refunded_amount) {
                    grown if grown == amount => OperationAnswer::Done,
                    Money::ZERO => OperationAnswer::NotFound,
                    _ => OperationAnswer::Contradicted("the sums do not fit".into()),
                }
            }
            (OperationKind::Cancel | OperationKind::Capture(_) | OperationKind::Refund(_), _) => {
                refused("not_possible")
            }
        }
    }

    fn operate(
        &mut self,
        kind: OperationKind,
        name: String,
        refund_ends: Option<(Timestamp, bool)>,
        lists_ours: bool,
    ) -> OperationAnswer {
        match (kind, self.holding) {
            (OperationKind::Cancel, Holding::Awaited | Holding::Authorised) => {
                self.holding = Holding::Cancelled;
                OperationAnswer::Done
            }
            (OperationKind::Cancel, Holding::Cancelled) => OperationAnswer::Done,
            (OperationKind::Cancel, Holding::Expired) if self.method == Method::Boleto => {
                self.holding = Holding::Cancelled;
                OperationAnswer::Done
            }
            (OperationKind::Capture(amount), Holding::Authorised) => {
                (self.holding, self.captured) = (Holding::Captured, amount);
                OperationAnswer::Done
            }
            (OperationKind::Refund(amount), Holding::Captured)
                if (!self.is_charged_back() || self.gives_back_disputed) && amount <= self.left() =>
            {
                let state = match refund_ends {
                    Some((until, fails)) => Return::UnderWay { until, fails },
                    None => Return::Done,
                };
                if state == Return::Done && lists_ours {
                    self.moved.push(Fact::Refunded { refund_id: name.clone(), amount: Some(amount) });
                }
                self.returned.insert(name, Returned { amount, state });
                OperationAnswer::Done
            }
            (
                OperationKind::Cancel | OperationKind::Capture(_) | OperationKind::Refund(_),
                Holding::Awaited
                | Holding::Authorised
                | Holding::Captured
                | Holding::Declined
                | Holding::Expired
                | Holding::Lapsed
                | Holding::Cancelled,
            ) => refused("not_possible"),
        }
    }
}

fn refused(why: &str) -> OperationAnswer {
    OperationAnswer::Refused(why.into())
}

fn approval() -> Approval {
    Approval { authorization_code: "123456".into() }
}

/// Issues what the payer pays with, if anything, and returns it with the end of the time to pay.
fn issue(query: &ChargeQuery) -> (Option<Issued>, Timestamp) {
    match &query.terms {
        Terms::Pix { expires_in_s } => {
            let expires_at = query.created_at.plus_ms(expires_in_s * 1_000);
            let txid = query.id.uuid().simple().to_string();
            (Some(Issued::Pix { txid, code: "code".into(), expires_at }), expires_at)
        }
        Terms::DuePix(due) => {
            let expires_at = due.payable_before();
            let txid = query.id.uuid().simple().to_string();
            (Some(Issued::Pix { txid, code: "code".into(), expires_at }), expires_at)
        }
        Terms::Boleto(DueTerms { due_date, .. }) => {
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
                pix_code: None,
            };
            (Some(Issued::Boleto(Box::new(slip))), Timestamp::end_of_sao_paulo_day(*due_date))
        }
        Terms::CreditCard { .. } => (None, query.created_at.plus_ms(365 * DAY_MS)),
    }
}
