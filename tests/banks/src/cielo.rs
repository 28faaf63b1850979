//! A simulated Cielo: its E-commerce API 3.0 for cards, PIX and boletos, with its own books.
//!
//! It is not idempotent: the same `MerchantOrderId` twice gives two sales. [`Config`] has its delays, faults and
//! deviating spellings, [`Plan`] the outcome of one order, and [`Faults`] the faults of calls. Rules are those of
//! Cielo's manual "API E-commerce Cielo" (August 2024) and its portal docs.cielo.com.br (2025–2026).

mod answer;
pub(crate) mod bar_code;
mod books;
pub(crate) mod br_code;
pub(crate) mod chance;
mod config;
mod control;
mod desk;
mod fields;
mod issue;
pub(crate) mod local_time;
mod operate;
mod order;
mod outbox;
mod plan;
mod sale;
mod show;
mod traps;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use crate::faults::{Fault, Faults, Planned};
use crate::{Counterparty, Notice, Reply, Request, Response};

pub use books::{Books, Entry};
pub use config::{Config, Notifications, Trap};
pub use desk::Unable;
pub use outbox::Forgery;
pub use plan::{Failure, Outcome, Plan, WrongCode};
pub use sale::{Chargeback, Status};

use answer::Answer;
use chance::Chance;
use fields::Fields;
use operate::Asked;
use outbox::{Change, Outbox};
use sale::Sale;

/// Age up to which the query host finds sales: three months.
const QUERIES_REACH_MS: i64 = 92 * 24 * 60 * 60 * 1_000;

/// A simulated Cielo with one merchant.
pub struct Cielo {
    config: Config,
    chance: Chance,
    faults: Faults,
    planned: Planned,
    sales: BTreeMap<String, Sale>,
    /// The sales of each order, oldest first.
    orders: BTreeMap<String, Vec<String>>,
    cards: BTreeMap<String, Stored>,
    plans: BTreeMap<String, Plan>,
    next_plans: VecDeque<Plan>,
    timers: BTreeSet<(i64, String, Timer)>,
    outbox: Outbox,
}

/// Event that happens by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Refund,
    Lapse,
}

/// A card behind a token.
#[derive(Debug, Clone)]
struct Stored {
    number: String,
    holder: String,
    expires: String,
}

impl Counterparty for Cielo {
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply {
        self.advance(now_ms);
        let struck = self.planned.faults()(request).or_else(|| (self.faults)(request));
        let refusal = |status| Answer::new(status, json!({ "Message": "unavailable" }));
        match struck {
            None => self.reply(request, now_ms, 0),
            Some(Fault::Slow { ms }) => self.reply(request, now_ms, ms),
            Some(Fault::ResetBefore) => Reply::Reset,
            Some(Fault::SilenceBefore) => Reply::Silence,
            Some(Fault::ErrorBefore(status)) => sent(refusal(status), 0),
            Some(Fault::TokenRefused) => sent(answer::refused(401, &[answer::MERCHANT_KEY_INVALID]), 0),
            Some(Fault::Throttled { retry_after_s }) => throttled(retry_after_s),
            Some(Fault::ResetAfter) => {
                self.serve(request, now_ms);
                Reply::Reset
            }
            Some(Fault::SilenceAfter) => {
                self.serve(request, now_ms);
                Reply::Silence
            }
            Some(Fault::ErrorAfter(status)) => {
                self.serve(request, now_ms);
                sent(refusal(status), 0)
            }
            Some(Fault::Unreadable) => half(self.reply(request, now_ms, 0)),
        }
    }

    fn notices(&mut self, now_ms: i64) -> Vec<Notice> {
        self.advance(now_ms);
        self.outbox.take(now_ms)
    }

    /// Commands: `books`, `faults`; of payers `pay` (with `amountCents`: another amount, or late); of the desk `capture`,
    /// `void`, `chargeback` (`case`, `amountCents`, `status`), `expire`, `finish` (`outcome`), `notify`, `forge` (`how`);
    /// all with `sale` (or `txid`), a `PaymentId` or a `MerchantOrderId`; `plan` with a [`Plan`] for an order or,
    /// without `sale`, for the next sale; `set` with `config`, what changes in the [`Config`].
    fn control(&mut self, command: &Value, now_ms: i64) -> Value {
        self.advance(now_ms);
        self.command(command, now_ms).unwrap_or_else(|error| json!({ "error": error }))
    }
}

impl Cielo {
    /// Creates a Cielo without sales.
    pub fn new(config: Config, faults: Faults) -> Self {
        Self {
            chance: Chance::new(config.seed),
            config,
            faults,
            planned: Planned::default(),
            sales: BTreeMap::new(),
            orders: BTreeMap::new(),
            cards: BTreeMap::new(),
            plans: BTreeMap::new(),
            next_plans: VecDeque::new(),
            timers: BTreeSet::new(),
            outbox: Outbox::default(),
        }
    }

    /// Returns the amounts taken and returned so far.
    pub fn books(&self) -> Books {
        let entries =
            |ids: &Vec<String>| ids.iter().filter_map(|id| self.sales.get(id)).map(Entry::of).collect();
        self.orders.iter().map(|(order, ids)| (order.clone(), entries(ids))).collect()
    }

    /// Returns the sales of one order, oldest first.
    pub fn sales_of(&self, order_id: &str) -> Vec<Entry> {
        let ids = self.orders.get(order_id).into_iter().flatten();
        ids.filter_map(|id| self.sales.get(id)).map(Entry::of).collect()
    }

    /// Returns the time of the next event that happens by itself, in milliseconds since 1970. It is a refund, a lapse
    /// or a notice.
    pub fn next_ms(&self) -> Option<i64> {
        let timer = self.timers.first().map(|(at, _, _)| *at);
        timer.into_iter().chain(self.outbox.next_ms()).min()
    }

    /// Processes everything that is due.
    fn advance(&mut self, now_ms: i64) {
        while let Some((at_ms, payment_id, timer)) = self.timers.first().cloned() {
            if at_ms > now_ms {
                break;
            }
            self.timers.pop_first();
            match timer {
                Timer::Refund => self.settle_refunds(&payment_id, now_ms),
                // It may have been captured or voided meanwhile: then nothing lapses.
                Timer::Lapse => self.expire(&payment_id, now_ms).unwrap_or_default(),
            }
        }
    }

    fn announce(&mut self, payment_id: &str, change: Change, now_ms: i64) {
        self.outbox.announce(&self.config.notices, &mut self.chance, payment_id, change, now_ms);
    }

    fn reply(&mut self, request: &Request, now_ms: i64, slow_ms: u64) -> Reply {
        let (answer, after_ms) = self.serve(request, now_ms);
        sent(answer, after_ms.max(slow_ms))
    }

    /// Handles a request. Returns the answer and its delay.
    fn serve(&mut self, request: &Request, now_ms: i64) -> (Answer, u64) {
        let traps = traps::drawn(&self.config, &mut self.chance);
        let (answer, after_ms) = match self.stranger(request) {
            Some(refused) => (refused, 0),
            None => self.route(request, &traps, now_ms),
        };
        (traps::sprung(answer, &traps), after_ms)
    }

    /// Refuses a request without the merchant's id and key.
    fn stranger(&self, request: &Request) -> Option<Answer> {
        let refused = |refusal| Some(answer::refused(401, &[refusal]));
        match request.header("merchantid").filter(|id| !id.is_empty()) {
            None => return refused(answer::MERCHANT_ID_MISSING),
            Some(id) if id.len() != 36 || uuid::Uuid::try_parse(id).is_err() => {
                return refused(answer::MERCHANT_ID_FORMAT);
            }
            Some(id) if !id.eq_ignore_ascii_case(&self.config.merchant_id) => {
                return refused(answer::MERCHANT_ID_UNKNOWN);
            }
            Some(_) => {}
        }
        match request.header("merchantkey").filter(|key| !key.is_empty()) {
            None => refused(answer::MERCHANT_KEY_MISSING),
            Some(key) if key != self.config.merchant_key => refused(answer::MERCHANT_KEY_INVALID),
            Some(_) => None,
        }
    }

    fn route(&mut self, request: &Request, traps: &BTreeSet<Trap>, now_ms: i64) -> (Answer, u64) {
        let mut path: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
        let is_under_query = path.first() == Some(&"query");
        if is_under_query {
            path.remove(0);
        }
        let is_query =
            is_under_query || request.header("host").is_some_and(|host| host.starts_with("apiquery"));
        let (reads, writes) = if self.config.hosts_apart { (is_query, !is_query) } else { (true, true) };
        let query = request.query.as_str();
        let answer = match (request.method.as_str(), path.as_slice()) {
            ("GET", ["1", "sales"]) if reads => self.list(query, traps, now_ms),
            ("GET", ["1", "sales", id]) if reads => self.read(id, now_ms),
            ("GET", ["1", "card", token]) if reads => self.card(token),
            ("GET", ["1", "cardBin", bin]) if reads => card_bin(bin),
            ("POST", ["1", "sales"]) if writes => return self.create(&request.body, now_ms),
            ("PUT", ["1", "sales", id, "capture"]) if writes => {
                self.capture(&id.to_ascii_lowercase(), Asked::of(query), now_ms)
            }
            ("PUT", ["1", "sales", "OrderId", order, "void"]) if writes => {
                match self.orders.get(*order).and_then(|ids| ids.last()).cloned() {
                    Some(newest) => self.void(&newest, Asked::of(query), now_ms),
                    None => answer::not_found(),
                }
            }
            ("PUT", ["1", "sales", id, "void"]) if writes => {
                self.void(&id.to_ascii_lowercase(), Asked::of(query), now_ms)
            }
            ("POST", ["1", "card"]) if writes => self.keep_card(&request.body),
            ("POST", ["1", "zeroauth"]) if writes => self.zero_auth(&request.body),
            _ => Answer { status: 404, body: None },
        };
        (answer, 0)
    }

    fn is_readable(&self, payment_id: &str, now_ms: i64) -> Option<&Sale> {
        let reaches = |sale: &&Sale| {
            sale.readable_from_ms <= now_ms && now_ms.saturating_sub(sale.received_ms) <= QUERIES_REACH_MS
        };
        self.sales.get(payment_id).filter(reaches)
    }

    fn read(&self, payment_id: &str, now_ms: i64) -> Answer {
        let sale = self.is_readable(&payment_id.to_ascii_lowercase(), now_ms);
        sale.map_or_else(answer::not_found, |sale| Answer::new(200, show::read(sale)))
    }

    fn list(&self, query: &str, traps: &BTreeSet<Trap>, now_ms: i64) -> Answer {
        let mut named = query.split('&').filter_map(|pair| pair.split_once('='));
        let order = named.find(|(name, _)| name.eq_ignore_ascii_case("merchantOrderId"));
        let Some((_, order)) = order else { return answer::bad(answer::ORDER_ID_INVALID) };
        let ids = self.orders.get(order).into_iter().flatten();
        let sales: Vec<&Sale> = ids.filter_map(|id| self.is_readable(id, now_ms)).collect();
        if sales.is_empty() && !traps.contains(&Trap::EmptyListForUnknown) {
            return answer::not_found();
        }
        Answer::new(200, show::list(sales.into_iter()))
    }

    /// Stores a card's number under a token.
    fn keep_card(&mut self, body: &[u8]) -> Answer {
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return answer::bad(answer::UNREADABLE);
        };
        let fields = Fields::of(&body);
        let all = (fields.owned("CardNumber"), fields.owned("Holder"), fields.owned("ExpirationDate"));
        let (Some(number), Some(holder), Some(expires)) = all else {
            return answer::bad(answer::CARD_NUMBER_MISSING);
        };
        let token = self.chance.guid();
        let link = format!("https://cielo.example/1/card/{token}");
        self.cards.insert(token.clone(), Stored { number, holder, expires });
        let links = json!({ "Method": "GET", "Rel": "self", "Href": link });
        Answer::new(201, json!({ "CardToken": token, "Links": links }))
    }

    fn card(&self, token: &str) -> Answer {
        self.cards.get(token).map_or_else(answer::not_found, |card| {
            let number = issue::masked(&card.number);
            let shown =
                json!({ "CardNumber": number, "Holder": card.holder, "ExpirationDate": card.expires });
            Answer::new(200, shown)
        })
    }

    /// Checks a card without charging: valid numbers begin with 5 and end in 0 or 4.
    fn zero_auth(&mut self, body: &[u8]) -> Answer {
        if !self.config.has_zero_auth {
            return answer::bad(answer::ZERO_AUTH_OFF);
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(number) = Fields::of(&body).text("CardNumber") else {
            return answer::bad(answer::CARD_NUMBER_MISSING);
        };
        let is_good = number.starts_with('5') && number.ends_with(['0', '4']);
        let issuer_id = self.chance.digits(15);
        Answer::new(
            200,
            json!({
                "Valid": is_good,
                "ReturnCode": if is_good { "00" } else { "57" },
                "ReturnMessage": if is_good { "Transacao autorizada" } else { "Autorizacao negada" },
                "IssuerTransactionId": issuer_id,
            }),
        )
    }
}

/// Returns the properties that a card's first digits show.
fn card_bin(bin: &str) -> Answer {
    let is_bin = (6..=9).contains(&bin.len()) && bin.bytes().all(|digit| digit.is_ascii_digit());
    let provider = match bin.as_bytes() {
        [b'4', ..] => "VISA",
        [b'5', ..] => "MASTERCARD",
        [b'3', ..] => "AMEX",
        _ => "ELO",
    };
    if !is_bin {
        return answer::bad(answer::CARD_NUMBER_MISSING);
    }
    Answer::new(
        200,
        json!({
            "Status": "00",
            "Provider": provider,
            "CardType": "Crédito",
            "ForeignCard": false,
            "CorporateCard": false,
            "Issuer": "Banco de Exemplo",
            "IssuerCode": "001",
            "Prepaid": false,
        }),
    )
}

fn sent(answer: Answer, after_ms: u64) -> Reply {
    let headers = vec![("content-type".to_owned(), "application/json; charset=utf-8".to_owned())];
    let body = answer.body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    Reply::Answer { response: Response { status: answer.status, headers, body }, after_ms }
}

fn throttled(retry_after_s: u64) -> Reply {
    let headers = vec![("retry-after".to_owned(), retry_after_s.to_string())];
    Reply::Answer { response: Response { status: 429, headers, body: Vec::new() }, after_ms: 0 }
}

/// Sends only the first half of the body.
fn half(reply: Reply) -> Reply {
    match reply {
        Reply::Answer { response, after_ms } => {
            let kept = response.body.len() / 2;
            let body = response.body.into_iter().take(kept).collect();
            Reply::Answer { response: Response { body, ..response }, after_ms }
        }
        Reply::Reset | Reply::Silence => reply,
    }
}
