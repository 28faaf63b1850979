//! Actions of payers, and of people at Cielo outside the API.

use super::local_time;
use super::operate;
use super::outbox::{Change, Forgery};
use super::plan::{Outcome, Plan};
use super::sale::{Chargeback, Means, Sale, Status};
use super::{Cielo, chance::Chance};

/// Reason why something can't be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unable {
    /// No such order or sale.
    Unknown,
    /// It is too early, too late, or not a sale of this kind.
    NotNow,
    /// The amount is zero, or more than there is.
    Amount,
}

impl std::fmt::Display for Unable {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str(match self {
            Self::Unknown => "no such sale",
            Self::NotNow => "not possible with this sale now",
            Self::Amount => "not possible with this amount",
        })
    }
}

impl Cielo {
    /// Plans the outcome of this order, from its next sale on.
    pub fn plan(&mut self, order_id: &str, plan: Plan) {
        self.plans.insert(order_id.to_owned(), plan);
    }

    /// Plans the outcome of the next sale of any order without a plan. Plans queue up.
    pub fn plan_next(&mut self, plan: Plan) {
        self.next_plans.push_back(plan);
    }

    /// Has the payer pay a PIX or boleto: the requested amount, in time.
    pub fn pay(&mut self, sale: &str, now_ms: i64) -> Result<(), Unable> {
        let sale = self.known(sale)?;
        let is_late = match &sale.means {
            Means::Pix(pix) => now_ms >= pix.expires_ms,
            Means::Boleto(boleto) => local_time::day(now_ms) > boleto.due,
            Means::Card(_) => true,
        };
        let amount_cents = sale.amount_cents;
        let payment_id = sale.payment_id.clone();
        if is_late { Err(Unable::NotNow) } else { self.pay_other_amount(&payment_id, amount_cents, now_ms) }
    }

    /// Has the payer pay another amount, or pay late: less than the boleto's amount, or with interest.
    pub fn pay_other_amount(&mut self, sale: &str, amount_cents: u64, now_ms: i64) -> Result<(), Unable> {
        let payment_id = self.known(sale)?.payment_id.clone();
        let Some(sale) = self.sales.get_mut(&payment_id) else { return Err(Unable::Unknown) };
        let is_open = match &mut sale.means {
            Means::Pix(pix) if sale.status == Status::Pending => {
                pix.end_to_end_id = Some(end_to_end_id(&mut self.chance, now_ms));
                true
            }
            Means::Boleto(_) => sale.status == Status::Authorized,
            Means::Pix(_) | Means::Card(_) => false,
        };
        if !is_open {
            return Err(Unable::NotNow);
        }
        if amount_cents == 0 {
            return Err(Unable::Amount);
        }
        operate::take(sale, amount_cents, now_ms);
        let is_less = amount_cents < sale.amount_cents;
        self.announce(&payment_id, if is_less { Change::PaidLess } else { Change::Status }, now_ms);
        Ok(())
    }

    /// Ends an unfinished authorisation.
    pub fn finish(&mut self, sale: &str, outcome: &Outcome, now_ms: i64) -> Result<(), Unable> {
        let sale = self.known(sale)?;
        if sale.card().is_none() || sale.status != Status::NotFinished {
            return Err(Unable::NotNow);
        }
        let payment_id = sale.payment_id.clone();
        self.conclude(&payment_id, outcome, now_ms);
        Ok(())
    }

    /// Captures at Cielo's desk: this amount, or everything.
    pub fn capture_at_desk(&mut self, sale: &str, amount: Option<u64>, now_ms: i64) -> Result<(), Unable> {
        let sale = self.known_mut(sale)?;
        let amount_cents = amount.unwrap_or(sale.amount_cents);
        if sale.card().is_none() || sale.status != Status::Authorized {
            return Err(Unable::NotNow);
        }
        if amount_cents == 0 || amount_cents > sale.amount_cents {
            return Err(Unable::Amount);
        }
        operate::take(sale, amount_cents, now_ms);
        let payment_id = sale.payment_id.clone();
        self.announce(&payment_id, Change::Status, now_ms);
        Ok(())
    }

    /// Voids at Cielo's desk: this part of the captured or paid amount, or everything; an authorisation only as a
    /// whole.
    pub fn void_at_desk(&mut self, sale: &str, amount: Option<u64>, now_ms: i64) -> Result<(), Unable> {
        let sale = self.known_mut(sale)?;
        match (&sale.means, sale.status) {
            (Means::Card(_), Status::Authorized) => {
                if amount.is_some_and(|amount| amount != sale.amount_cents) {
                    return Err(Unable::Amount);
                }
                operate::release(sale, now_ms);
            }
            (Means::Card(_) | Means::Pix(_), Status::PaymentConfirmed) => {
                let left = sale.refundable_cents();
                let amount_cents = amount.unwrap_or(left);
                if amount_cents == 0 || amount_cents > left {
                    return Err(Unable::Amount);
                }
                operate::give_back(sale, amount_cents, now_ms);
            }
            (Means::Card(_) | Means::Pix(_) | Means::Boleto(_), _) => return Err(Unable::NotNow),
        }
        let payment_id = sale.payment_id.clone();
        self.announce(&payment_id, Change::Status, now_ms);
        Ok(())
    }

    /// Opens a dispute about this amount under a case number, or continues that case.
    pub fn chargeback(
        &mut self,
        sale: &str,
        case: &str,
        amount_cents: u64,
        status: &str,
        now_ms: i64,
    ) -> Result<(), Unable> {
        let sale = self.known_mut(sale)?;
        if sale.captured_cents == 0 || matches!(sale.means, Means::Boleto(_)) {
            return Err(Unable::NotNow);
        }
        if amount_cents == 0 || amount_cents > sale.captured_cents {
            return Err(Unable::Amount);
        }
        match sale.chargebacks.iter_mut().find(|known| known.case == case) {
            Some(known) => {
                known.amount_cents = amount_cents;
                status.clone_into(&mut known.status);
            }
            None => sale.chargebacks.push(Chargeback {
                case: case.to_owned(),
                amount_cents,
                status: status.to_owned(),
                opened_ms: now_ms,
            }),
        }
        let payment_id = sale.payment_id.clone();
        self.announce(&payment_id, Change::Chargeback, now_ms);
        Ok(())
    }

    /// Ends the time of a sale: an authorisation lapses, a PIX or boleto can no longer be paid in time. Cielo does not
    /// report the latter: its status does not change.
    pub fn expire(&mut self, sale: &str, now_ms: i64) -> Result<(), Unable> {
        let sale = self.known_mut(sale)?;
        match (&mut sale.means, sale.status) {
            (Means::Card(_), Status::Authorized) => {
                sale.status = Status::Voided;
                let payment_id = sale.payment_id.clone();
                self.announce(&payment_id, Change::Status, now_ms);
            }
            (Means::Pix(pix), Status::Pending) => pix.expires_ms = pix.expires_ms.min(now_ms),
            (Means::Boleto(boleto), Status::Authorized) => {
                let yesterday = local_time::day(now_ms).pred_opt().unwrap_or(boleto.due);
                boleto.due = boleto.due.min(yesterday);
            }
            (Means::Card(_) | Means::Pix(_) | Means::Boleto(_), _) => return Err(Unable::NotNow),
        }
        Ok(())
    }

    /// Sends a forged notification that looks like Cielo's.
    pub fn forge(&mut self, sale: &str, forgery: Forgery, now_ms: i64) {
        let payment_id = self.known(sale).map_or_else(|_| sale.to_owned(), |sale| sale.payment_id.clone());
        self.outbox.forge(&self.config.notices, &mut self.chance, &payment_id, forgery, now_ms);
    }

    /// Sends a notification again, or about something that did not change.
    pub fn notify(&mut self, sale: &str, now_ms: i64) -> Result<(), Unable> {
        let payment_id = self.known(sale)?.payment_id.clone();
        self.outbox.announce_early(&self.config.notices, &payment_id, now_ms);
        Ok(())
    }

    /// Finds a sale by its `PaymentId`, or the newest sale of an order.
    fn known(&self, sale: &str) -> Result<&Sale, Unable> {
        let payment_id = self.orders.get(sale).and_then(|ids| ids.last()).map_or(sale, String::as_str);
        self.sales.get(payment_id).ok_or(Unable::Unknown)
    }

    fn known_mut(&mut self, sale: &str) -> Result<&mut Sale, Unable> {
        let payment_id = self.orders.get(sale).and_then(|ids| ids.last()).map_or(sale, String::as_str);
        self.sales.get_mut(payment_id).ok_or(Unable::Unknown)
    }
}

/// Returns `E`, the payer's bank, the minute, and eleven characters.
fn end_to_end_id(chance: &mut Chance, now_ms: i64) -> String {
    format!("E12345678{}{}", local_time::utc_minute(now_ms), chance.hexadecimal(11))
}
