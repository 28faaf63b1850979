//! Actions of payers, and of people at Pagar.me outside the API.

use super::charge::{Charge, Means, Status};
use super::issue;
use super::operate::waits_for_capture;
use super::outbox::{Event, Forgery};
use super::plan::{Outcome, Plan};
use super::{Pagarme, Timer};
use crate::cielo::chance::Chance;
use crate::cielo::local_time;

/// Reason why something can't be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unable {
    /// No such order or charge.
    Unknown,
    /// It is too early, too late, or not a charge of this kind.
    NotNow,
    /// The amount is zero, or more than there is.
    Amount,
}

impl std::fmt::Display for Unable {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str(match self {
            Self::Unknown => "no such charge",
            Self::NotNow => "not possible with this charge now",
            Self::Amount => "not possible with this amount",
        })
    }
}

impl Pagarme {
    /// Plans the outcome of this code, from its next order on.
    pub fn plan(&mut self, code: &str, plan: Plan) {
        self.plans.insert(code.to_owned(), plan);
    }

    /// Plans the outcome of the next order that has no plan. Plans queue up.
    pub fn plan_next(&mut self, plan: Plan) {
        self.next_plans.push_back(plan);
    }

    /// Has the payer pay a PIX or boleto: the requested amount, in time.
    pub fn pay(&mut self, charge: &str, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        let (id, amount_cents, is_late) =
            (charge.id.clone(), charge.amount_cents, issue::is_late(charge, now_ms));
        if is_late { Err(Unable::NotNow) } else { self.pay_other_amount(&id, amount_cents, now_ms) }
    }

    /// Has the payer pay another amount, or pay late.
    pub fn pay_other_amount(&mut self, charge: &str, amount_cents: u64, now_ms: i64) -> Result<(), Unable> {
        let id = self.known(charge)?.id.clone();
        let end_to_end_id = end_to_end_id(&mut self.chance, now_ms);
        let Some(charge) = self.charges.get_mut(&id) else { return Err(Unable::Unknown) };
        // A payment that began in time may arrive after the end of a PIX.
        let is_open = charge.status == Status::Pending || charge.status == Status::Failed;
        if !is_open || charge.card().is_some() || charge.paid_cents > 0 {
            return Err(Unable::NotNow);
        }
        if amount_cents == 0 {
            return Err(Unable::Amount);
        }
        if let Means::Pix(pix) = &mut charge.means {
            pix.end_to_end_id = Some(end_to_end_id);
        }
        let (status, step) = match amount_cents.cmp(&charge.amount_cents) {
            std::cmp::Ordering::Less => (Status::Underpaid, "underpaid"),
            std::cmp::Ordering::Equal => (Status::Paid, "paid"),
            std::cmp::Ordering::Greater => (Status::Overpaid, "overpaid"),
        };
        charge.status = status;
        charge.paid_cents = amount_cents;
        charge.paid_ms = Some(now_ms);
        self.note(&id, step, amount_cents, now_ms);
        self.book_credit(&id, now_ms);
        self.announce(&id, Event::Paid, now_ms);
        Ok(())
    }

    /// Ends a charge in processing.
    pub fn finish(&mut self, charge: &str, outcome: &Outcome, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        if charge.status != Status::Processing {
            return Err(Unable::NotNow);
        }
        let id = charge.id.clone();
        self.conclude(&id, outcome, Vec::new(), now_ms);
        let event = match self.charges.get(&id).map(|charge| charge.status) {
            Some(Status::Paid) => Event::Paid,
            Some(Status::Failed) => Event::Failed,
            Some(_) | None => Event::Created,
        };
        self.announce(&id, event, now_ms);
        Ok(())
    }

    /// Retries a refused card successfully, as `auto_recovery` does unless it is false.
    pub fn recover(&mut self, charge: &str, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        if charge.card().is_none() || charge.status != Status::Failed {
            return Err(Unable::NotNow);
        }
        let id = charge.id.clone();
        self.conclude(&id, &Outcome::Approve, Vec::new(), now_ms);
        self.announce(&id, Event::Paid, now_ms);
        Ok(())
    }

    /// Captures at the dashboard: this amount, or everything.
    pub fn capture_at_desk(&mut self, charge: &str, amount: Option<u64>, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        let amount_cents = amount.unwrap_or(charge.amount_cents);
        if !charge.last().is_some_and(waits_for_capture) {
            return Err(Unable::NotNow);
        }
        if amount_cents == 0 || amount_cents > charge.amount_cents {
            return Err(Unable::Amount);
        }
        let id = charge.id.clone();
        let shares = charge.shares.clone();
        self.take_card(&id, amount_cents, shares, now_ms);
        Ok(())
    }

    /// Cancels at the dashboard: this part of the paid amount, or everything; an unpaid charge only as a whole.
    pub fn cancel_at_desk(&mut self, charge: &str, amount: Option<u64>, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        let id = charge.id.clone();
        let left = charge.refundable_cents();
        match charge.status {
            Status::Pending if amount.is_none_or(|amount| amount == charge.amount_cents) => {
                self.release(&id, now_ms);
            }
            Status::Pending => return Err(Unable::Amount),
            Status::Paid | Status::Overpaid | Status::Underpaid => {
                let amount_cents = amount.unwrap_or(left);
                if amount_cents == 0 || amount_cents > left {
                    return Err(Unable::Amount);
                }
                self.give_back(&id, amount_cents, now_ms);
            }
            Status::Canceled | Status::Processing | Status::Failed | Status::ChargedBack => {
                return Err(Unable::NotNow);
            }
        }
        Ok(())
    }

    /// Has the holder dispute this amount of a charge, or everything.
    pub fn chargeback(&mut self, charge: &str, amount: Option<u64>, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        let id = charge.id.clone();
        let left = charge.refundable_cents();
        let amount_cents = amount.unwrap_or(left);
        if charge.status != Status::Paid {
            return Err(Unable::NotNow);
        }
        if amount_cents == 0 || amount_cents > left {
            return Err(Unable::Amount);
        }
        if let Some(charge) = self.charges.get_mut(&id) {
            charge.status = Status::ChargedBack;
            charge.charged_back_cents = amount_cents;
        }
        self.note(&id, "chargedback", amount_cents, now_ms);
        self.book_back(&id, "chargeback", amount_cents, now_ms);
        self.announce(&id, Event::ChargedBack, now_ms);
        Ok(())
    }

    /// Ends a dispute in the merchant's favour.
    pub fn win(&mut self, charge: &str, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        let id = charge.id.clone();
        let amount_cents = charge.charged_back_cents;
        if charge.status != Status::ChargedBack {
            return Err(Unable::NotNow);
        }
        if let Some(charge) = self.charges.get_mut(&id) {
            charge.status = Status::Paid;
            charge.charged_back_cents = 0;
        }
        self.note(&id, "captured", amount_cents, now_ms);
        self.book_back(&id, "chargeback_refund", amount_cents, now_ms);
        self.announce(&id, Event::Paid, now_ms);
        Ok(())
    }

    /// Ends a dispute in the merchant's favour only in the payables: the charge's status does not change.
    pub fn win_in_payables(&mut self, charge: &str, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        let id = charge.id.clone();
        let amount_cents = charge.charged_back_cents;
        if charge.status != Status::ChargedBack {
            return Err(Unable::NotNow);
        }
        self.book_back(&id, "chargeback_refund", amount_cents, now_ms);
        Ok(())
    }

    /// Ends the time of a charge: an authorisation lapses, a PIX or boleto fails.
    pub fn expire(&mut self, charge: &str, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?;
        if charge.status != Status::Pending {
            return Err(Unable::NotNow);
        }
        let id = charge.id.clone();
        self.lapse(&id, now_ms);
        Ok(())
    }

    /// Ends the time of a waiting charge.
    pub(super) fn lapse(&mut self, id: &str, now_ms: i64) {
        let Some(charge) = self.charges.get_mut(id).filter(|charge| charge.status == Status::Pending) else {
            return;
        };
        if charge.card().is_some() {
            self.release(id, now_ms);
            return;
        }
        charge.status = Status::Failed;
        let amount_cents = charge.amount_cents;
        self.note(id, "expired", amount_cents, now_ms);
        self.announce(id, Event::Failed, now_ms);
    }

    /// Creates another order with the same code, in the same state. No answer contains its id.
    pub fn make_again(&mut self, charge: &str, now_ms: i64) -> Result<(), Unable> {
        let charge = self.known(charge)?.clone();
        let Some(order) = self.orders.get(&charge.order_id).cloned() else { return Err(Unable::Unknown) };
        let [order_id, charge_id] =
            ["or", "ch"].map(|kind| format!("{kind}_{}", self.chance.hexadecimal(16)));
        let order =
            super::charge::Order { id: order_id.clone(), charges: Vec::new(), created_ms: now_ms, ..order };
        let charge = Charge { id: charge_id.clone(), order_id, created_ms: now_ms, ..charge };
        let is_waiting_pix = matches!(charge.means, Means::Pix(_)) && charge.status == Status::Pending;
        let has_money = charge.paid_cents > 0;
        if let (Means::Pix(pix), true) = (&charge.means, is_waiting_pix) {
            self.timers.insert((pix.expires_ms, charge_id.clone(), Timer::Lapse));
        }
        self.keep(order, charge);
        if has_money {
            self.book_credit(&charge_id, now_ms);
        }
        Ok(())
    }

    /// Sends a forged callback.
    pub fn forge(&mut self, charge: &str, forgery: Forgery, now_ms: i64) -> Result<(), Unable> {
        let id = self.known(charge)?.id.clone();
        let Some(told) = self.told(&id, Event::Paid) else { return Err(Unable::Unknown) };
        self.outbox.forge(&self.config.notices, &mut self.chance, &told, forgery, now_ms);
        Ok(())
    }

    /// Sends a callback again, or about something that did not change.
    pub fn notify(&mut self, charge: &str, now_ms: i64) -> Result<(), Unable> {
        let id = self.known(charge)?.id.clone();
        self.announce_at_once(&id, now_ms);
        Ok(())
    }

    /// Finds a charge by its id, or the newest one of an order or code.
    pub(super) fn known(&self, name: &str) -> Result<&Charge, Unable> {
        let order = self.codes.get(name).and_then(|ids| ids.last()).map_or(name, String::as_str);
        let charge =
            self.orders.get(order).and_then(|order| order.charges.last()).map_or(name, String::as_str);
        self.charges.get(charge).ok_or(Unable::Unknown)
    }
}

/// Returns an id of a transfer: `E`, the payer's bank, the minute, eleven characters.
fn end_to_end_id(chance: &mut Chance, now_ms: i64) -> String {
    format!("E12345678{}{}", local_time::utc_minute(now_ms), chance.hexadecimal(11))
}
