//! Creates sales: authorises cards, issues PIX charges and boletos.

use chrono::Days;

use super::answer::{self, Answer};
use super::bar_code::{self, Bank};
use super::br_code;
use super::local_time;
use super::operate;
use super::order::{BoletoOrder, CardNumber, CardOrder, Order, Wanted};
use super::outbox::Change;
use super::plan::{Outcome, WrongCode};
use super::sale::{Boleto, Card, Means, Pix, Sale, Status};
use super::{Cielo, Stored, Timer, show};

/// Delay of an answer that its notification precedes, in milliseconds.
const AFTER_ITS_NOTICE_MS: u64 = 1_500;

/// Verdict of an issuer.
struct Verdict {
    status: Status,
    code: String,
    message: &'static str,
    advice: Option<String>,
}

impl Verdict {
    fn new(status: Status, code: &str, message: &'static str) -> Self {
        Self { status, code: code.to_owned(), message, advice: None }
    }

    fn approved() -> Self {
        Self::new(Status::Authorized, "4", "Operation Successful")
    }

    fn planned(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Approve => Self::approved(),
            Outcome::Decline { code, advice } => {
                Self { advice: advice.clone(), ..Self::new(Status::Denied, code, "Not Authorized") }
            }
            Outcome::Abort => Self::new(Status::Aborted, "BP171", "Rejected by fraud risk"),
            Outcome::NotFinish => Self::new(Status::NotFinished, "", ""),
        }
    }

    /// Returns the sandbox's verdict on a card that ends in this digit.
    fn by_last_digit(digit: Option<char>) -> Self {
        let denied = |code, message| Self::new(Status::Denied, code, message);
        match digit {
            Some('2') => denied("05", "Not Authorized"),
            Some('3') => denied("57", "Card Expired"),
            Some('5') => denied("78", "Blocked Card"),
            Some('6') => denied("99", "Time Out"),
            Some('7') => denied("77", "Card Canceled"),
            Some('8') => denied("70", "Problems with Creditcard"),
            Some(_) | None => Self::approved(),
        }
    }
}

impl Cielo {
    /// Handles a request for a sale. Returns the answer and its delay.
    pub(super) fn create(&mut self, body: &[u8], now_ms: i64) -> (Answer, u64) {
        let order = match Order::read(body, &self.config, local_time::day(now_ms)) {
            Ok(order) => order,
            Err(refusals) => return (answer::refused(400, &refusals), 0),
        };
        if self.config.refuses_same_order && self.orders.contains_key(&order.order_id) {
            return (answer::bad(answer::ORDER_ID_USED), 0);
        }
        if let Some(plan) = self.next_plans.pop_front() {
            self.plans.entry(order.order_id.clone()).or_insert(plan);
        }
        let Some(sale) = self.sale(order, now_ms) else {
            return (answer::bad(answer::CARD_NUMBER_MISSING), 0);
        };
        let answer = Answer::new(201, show::created(&sale));
        let payment_id = sale.payment_id.clone();
        self.orders.entry(sale.order_id.clone()).or_default().push(payment_id.clone());
        self.sales.insert(payment_id.clone(), sale);
        if self.chance.per_mille(self.config.notices.early_permille) {
            self.outbox.announce_early(&self.config.notices, &payment_id, now_ms);
            return (answer, AFTER_ITS_NOTICE_MS);
        }
        self.announce(&payment_id, Change::Status, now_ms);
        (answer, 0)
    }

    /// Ends an unfinished authorisation.
    pub(super) fn conclude(&mut self, payment_id: &str, outcome: &Outcome, now_ms: i64) {
        let verdict = Verdict::planned(outcome);
        let authorization_code = self.chance.digits(6);
        let lapses_ms = now_ms.saturating_add(self.config.authorisation_lapses_ms);
        if let Some(sale) = self.sales.get_mut(payment_id) {
            judge(sale, verdict, authorization_code, now_ms);
            if sale.status == Status::Authorized {
                self.timers.insert((lapses_ms, payment_id.to_owned(), Timer::Lapse));
            }
            self.announce(payment_id, Change::Status, now_ms);
        }
    }

    fn sale(&mut self, order: Order, now_ms: i64) -> Option<Sale> {
        let lags = self.chance.per_mille(self.config.query_lag_permille);
        let lag_ms = if lags { self.config.query_lag_ms } else { 0 };
        let blank = Sale {
            payment_id: self.chance.guid(),
            order_id: order.order_id,
            customer: order.customer,
            amount_cents: order.amount_cents,
            means: Means::Card(Card::default()),
            status: Status::NotFinished,
            return_code: String::new(),
            return_message: String::new(),
            tid: self.chance.digits(20),
            proof_of_sale: self.chance.digits(6),
            received_ms: now_ms,
            readable_from_ms: now_ms.saturating_add(lag_ms),
            authorised_cents: 0,
            captured_cents: 0,
            captured_ms: None,
            voided_cents: 0,
            voided_ms: None,
            chargebacks: Vec::new(),
            refunds: Vec::new(),
            last_operation_ms: None,
        };
        match order.wanted {
            Wanted::Card(wanted) => self.card_sale(blank, wanted, now_ms),
            Wanted::Pix { provider, expires_in_s } => {
                Some(self.pix_sale(blank, provider, expires_in_s, now_ms))
            }
            Wanted::Boleto(wanted) => Some(self.boleto_sale(blank, wanted)),
        }
    }

    /// Creates a card sale; `None` if a token belongs to no card.
    fn card_sale(&mut self, blank: Sale, wanted: CardOrder, now_ms: i64) -> Option<Sale> {
        let (number, holder, expires, token) = match wanted.number {
            CardNumber::Plain(number) => {
                let token = wanted.keeps_card.then(|| self.chance.guid());
                (number, wanted.holder, wanted.expires, token)
            }
            CardNumber::Token(token) => {
                let stored = self.cards.get(&token)?.clone();
                (stored.number, stored.holder, stored.expires, Some(token))
            }
        };
        if let Some(token) = &token {
            let stored = Stored { number: number.clone(), holder: holder.clone(), expires: expires.clone() };
            self.cards.insert(token.clone(), stored);
        }
        let is_small = blank.amount_cents < self.config.least_instalment_cents * wanted.instalments;
        let planned = self.plans.get(&blank.order_id).and_then(|plan| plan.outcome.clone());
        let verdict = match planned {
            Some(outcome) => Verdict::planned(&outcome),
            None if wanted.instalments > 1 && is_small => {
                Verdict::new(Status::Denied, "EE", "Instalment is too small")
            }
            None => self.by_digit(&number),
        };
        let card = Card {
            masked: masked(&number),
            holder,
            expires,
            brand: wanted.brand.to_owned(),
            token,
            instalments: wanted.instalments,
            interest: wanted.interest,
            captures_at_once: wanted.captures_at_once,
            soft_descriptor: wanted.soft_descriptor,
            authorization_code: None,
            advice: None,
        };
        let mut sale = Sale { means: Means::Card(card), ..blank };
        judge(&mut sale, verdict, self.chance.digits(6), now_ms);
        if sale.status == Status::Authorized {
            let lapses_ms = now_ms.saturating_add(self.config.authorisation_lapses_ms);
            self.timers.insert((lapses_ms, sale.payment_id.clone(), Timer::Lapse));
        }
        Some(sale)
    }

    /// Returns the sandbox's verdict on this number.
    fn by_digit(&mut self, number: &str) -> Verdict {
        match number.chars().last() {
            Some('9') if self.chance.per_mille(500) => Verdict::by_last_digit(Some('6')),
            digit => Verdict::by_last_digit(digit),
        }
    }

    fn pix_sale(&mut self, blank: Sale, provider: Option<String>, expires_in_s: u64, now_ms: i64) -> Sale {
        let expires_in_s = i64::try_from(expires_in_s).unwrap_or(0);
        let location = format!("pix.cielo.example/v2/{}", self.chance.hexadecimal(32));
        let stated = |amount: u64| self.config.pix_code_states_amount.then_some(amount);
        let right = br_code::dynamic(&location, stated(blank.amount_cents));
        let other = br_code::dynamic(&location, Some(blank.amount_cents + 1));
        let code = match self.wrong_code(&blank.order_id) {
            None | Some(WrongCode::OtherDay) => Some(right),
            Some(WrongCode::OtherAmount) => Some(other),
            Some(WrongCode::WrongCheck) => Some(br_code::with_wrong_crc(&right)),
            Some(WrongCode::Garbage) => Some("codigo indisponivel".to_owned()),
            Some(WrongCode::Missing) => None,
        };
        let pix = Pix {
            provider,
            txid: self.chance.hexadecimal(32),
            code,
            expires_ms: now_ms.saturating_add(expires_in_s.saturating_mul(1_000)),
            expires_in_s,
            end_to_end_id: None,
        };
        Sale {
            means: Means::Pix(pix),
            status: Status::Pending,
            return_code: "0".to_owned(),
            return_message: "Pix gerado com sucesso".to_owned(),
            ..blank
        }
    }

    fn boleto_sale(&mut self, blank: Sale, wanted: BoletoOrder) -> Sale {
        let bank = if wanted.provider == "BancoDoBrasil3" { Bank::BancoDoBrasil } else { Bank::Bradesco };
        let number = wanted.number.unwrap_or_else(|| self.chance.digits(9));
        let our_number = number.parse().unwrap_or(0);
        let right = bar_code::bar_code(bank, wanted.due, blank.amount_cents, our_number);
        let later = wanted.due.checked_add_days(Days::new(1)).unwrap_or(wanted.due);
        let bar_code = match self.wrong_code(&blank.order_id) {
            None => Some(right),
            Some(WrongCode::OtherAmount) => {
                Some(bar_code::bar_code(bank, wanted.due, blank.amount_cents + 1, our_number))
            }
            Some(WrongCode::OtherDay) => {
                Some(bar_code::bar_code(bank, later, blank.amount_cents, our_number))
            }
            Some(WrongCode::WrongCheck) => Some(bar_code::with_wrong_digit(&right)),
            Some(WrongCode::Garbage) => Some("codigo indisponivel".to_owned()),
            Some(WrongCode::Missing) => None,
        };
        let line = bar_code.as_deref().filter(|_| bank == Bank::Bradesco).map(bar_code::line);
        let boleto = Boleto {
            provider: wanted.provider,
            number,
            bar_code,
            line,
            due: wanted.due,
            assignor: wanted.assignor,
            instructions: wanted.instructions,
            identification: wanted.identification,
        };
        Sale {
            means: Means::Boleto(boleto),
            status: Status::Authorized,
            return_code: "0".to_owned(),
            return_message: "Boleto emitido".to_owned(),
            ..blank
        }
    }

    /// Returns the planned or random fault in the code of this order.
    fn wrong_code(&mut self, order_id: &str) -> Option<WrongCode> {
        let planned = self.plans.get(order_id).and_then(|plan| plan.wrong_code);
        if planned.is_some() || !self.chance.per_mille(self.config.wrong_codes_permille) {
            return planned;
        }
        let which = usize::try_from(self.chance.below(5)).unwrap_or(0);
        WrongCode::ALL.get(which).copied()
    }
}

/// Applies the issuer's verdict to a card sale.
fn judge(sale: &mut Sale, verdict: Verdict, authorization_code: String, now_ms: i64) {
    sale.status = verdict.status;
    sale.return_code = verdict.code;
    sale.return_message = verdict.message.to_owned();
    let Means::Card(card) = &mut sale.means else { return };
    card.advice = verdict.advice;
    if verdict.status != Status::Authorized {
        return;
    }
    card.authorization_code = Some(authorization_code);
    sale.authorised_cents = sale.amount_cents;
    if card.captures_at_once {
        operate::take(sale, sale.amount_cents, now_ms);
    }
}

/// Returns the first six and the last four digits.
pub(super) fn masked(number: &str) -> String {
    let count = number.chars().count();
    let shown = |(at, digit)| if at < 6 || at + 4 >= count { digit } else { '*' };
    number.chars().enumerate().map(shown).collect()
}
