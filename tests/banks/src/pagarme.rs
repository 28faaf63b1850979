//! A simulated Pagar.me: its core v5 API for cards, PIX and boletos, with its own books.
//!
//! It keeps the answer to each `Idempotency-Key` for a day, whatever it was; without a key, the same code twice gives
//! two orders. [`Config`] has its delays, faults and deviating spellings, [`Plan`] the outcome of one order, and
//! [`Faults`] the faults of calls. Rules are those of docs.pagar.me (2026-08-28), the official SDK 7.0.2 and the
//! official plugins.

mod answer;
mod books;
mod charge;
mod config;
mod control;
mod desk;
mod issue;
mod operate;
mod order;
mod outbox;
mod payables;
mod plan;
mod query;
mod show;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::cielo::chance::Chance;
use crate::faults::{Fault, Faults, Planned};
use crate::{Counterparty, Notice, Reply, Request, Response};

pub use books::{Books, Entry};
pub use charge::{Share, Status};
pub use config::{Config, Notifications, PagesEnd};
pub use desk::Unable;
pub use outbox::Forgery;
pub use plan::{Failure, Outcome, Plan, WrongCode};

use answer::Answer;
use charge::{Charge, Order};
use outbox::{Event, Outbox, Told};
use payables::Payable;
use query::Query;

/// A Pagar.me with one account.
pub struct Pagarme {
    config: Config,
    chance: Chance,
    faults: Faults,
    planned: Planned,
    orders: BTreeMap<String, Order>,
    /// Orders of each code, oldest first.
    codes: BTreeMap<String, Vec<String>>,
    charges: BTreeMap<String, Charge>,
    payables: Vec<Payable>,
    /// Charges whose payables every list lacks.
    unlisted: BTreeSet<String>,
    keys: BTreeMap<String, Kept>,
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
    /// A card in processing is approved or declined.
    Decide(bool),
}

/// Answer that is stored under an idempotency key.
struct Kept {
    at_ms: i64,
    answer: Answer,
}

impl Counterparty for Pagarme {
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply {
        self.advance(now_ms);
        let struck = self.planned.faults()(request).or_else(|| (self.faults)(request));
        match struck {
            None => self.reply(request, now_ms, 0),
            Some(Fault::Slow { ms }) => self.reply(request, now_ms, ms),
            Some(Fault::ResetBefore) => Reply::Reset,
            Some(Fault::SilenceBefore) => Reply::Silence,
            Some(Fault::ErrorBefore(status)) => sent(answer::failed(status), 0),
            Some(Fault::TokenRefused) => sent(answer::stranger(), 0),
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
                sent(answer::failed(status), 0)
            }
            Some(Fault::Unreadable) => half(self.reply(request, now_ms, 0)),
        }
    }

    fn notices(&mut self, now_ms: i64) -> Vec<Notice> {
        self.advance(now_ms);
        self.outbox.take(now_ms)
    }

    /// Commands: `books`, `faults`; of payers `pay` (with `amountCents`: another amount, or late); of the dashboard
    /// `capture`, `cancel` (both with `amountCents`), `chargeback` (`amountCents`), `win` (`keepsStatus`: only payables show it), `recover`, `expire`,
    /// `again` (a second order of the same code), `finish` (`outcome`), `notify`, `forge` (`how`), `anticipate`
    /// (`feeCents`), `adjust` (`amountCents`, a payable without a charge), `unlist` and `relist` (its payables), `forget_keys`; with `charge` (or `txid`), an
    /// id of a charge or order, or a code; `plan` with a [`Plan`] for a code or, without `charge`, for the next order;
    /// `set` with `config`, what changes in the [`Config`].
    fn control(&mut self, command: &Value, now_ms: i64) -> Value {
        self.advance(now_ms);
        self.command(command, now_ms).unwrap_or_else(|error| json!({ "error": error }))
    }
}

impl Pagarme {
    /// Creates a Pagar.me without orders.
    pub fn new(config: Config, faults: Faults) -> Self {
        Self {
            chance: Chance::new(config.seed),
            config,
            faults,
            planned: Planned::default(),
            orders: BTreeMap::new(),
            codes: BTreeMap::new(),
            charges: BTreeMap::new(),
            payables: Vec::new(),
            unlisted: BTreeSet::new(),
            keys: BTreeMap::new(),
            plans: BTreeMap::new(),
            next_plans: VecDeque::new(),
            timers: BTreeSet::new(),
            outbox: Outbox::default(),
        }
    }

    /// Returns the amounts taken and returned so far.
    pub fn books(&self) -> Books {
        self.codes.keys().map(|code| (code.clone(), self.charges_of(code))).collect()
    }

    /// Returns the charges of one code, oldest first.
    pub fn charges_of(&self, code: &str) -> Vec<Entry> {
        let orders = self.codes.get(code).into_iter().flatten().filter_map(|id| self.orders.get(id));
        let charges = orders.flat_map(|order| &order.charges).filter_map(|id| self.charges.get(id));
        charges.map(|charge| Entry::of(charge, self.fees_of(&charge.id))).collect()
    }

    /// Returns the time of the next event that happens by itself: a refund, a lapse or a callback.
    pub fn next_ms(&self) -> Option<i64> {
        let timer = self.timers.first().map(|(at, _, _)| *at);
        timer.into_iter().chain(self.outbox.next_ms()).min()
    }

    /// Processes everything that is due.
    fn advance(&mut self, now_ms: i64) {
        while let Some((at_ms, id, timer)) = self.timers.first().cloned() {
            if at_ms > now_ms {
                break;
            }
            self.timers.pop_first();
            match timer {
                Timer::Refund => self.settle_refunds(&id, now_ms),
                // It may have been paid, captured or voided meanwhile: then nothing lapses.
                Timer::Lapse => self.lapse(&id, now_ms),
                Timer::Decide(approves) => {
                    let declined = Outcome::Decline { code: "05".to_owned(), brand_code: None };
                    let outcome = if approves { Outcome::Approve } else { declined };
                    // It may have been finished by hand.
                    self.finish(&id, &outcome, now_ms).unwrap_or_default();
                }
            }
        }
    }

    fn told(&self, id: &str, event: Event) -> Option<Told> {
        let data = show::charge(self, self.charges.get(id)?);
        Some(Told { event, data })
    }

    fn announce(&mut self, id: &str, event: Event, now_ms: i64) {
        if let Some(told) = self.told(id, event) {
            self.outbox.announce(&self.config.notices, &mut self.chance, &told, now_ms);
        }
    }

    fn announce_at_once(&mut self, id: &str, now_ms: i64) {
        if let Some(told) = self.told(id, Event::Created) {
            self.outbox.announce_at_once(&self.config.notices, &mut self.chance, &told, now_ms);
        }
    }

    fn order_of(&self, charge: &str) -> Option<&Order> {
        self.orders.get(&self.charges.get(charge)?.order_id)
    }

    fn reply(&mut self, request: &Request, now_ms: i64, slow_ms: u64) -> Reply {
        let (answer, after_ms) = self.serve(request, now_ms);
        sent(answer, after_ms.max(slow_ms))
    }

    /// Handles a request. Returns the answer and its delay.
    fn serve(&mut self, request: &Request, now_ms: i64) -> (Answer, u64) {
        if self.is_stranger(request) {
            return (answer::stranger(), 0);
        }
        let key = request.header("idempotency-key").filter(|_| request.method != "GET").map(str::to_owned);
        if let Some(kept) = key.as_ref().and_then(|key| self.keys.get(key))
            && now_ms.saturating_sub(kept.at_ms) < self.config.keys_last_ms
        {
            return (kept.answer.clone(), 0);
        }
        let (mut answer, after_ms) = self.route(request, now_ms);
        if self.chance.per_mille(self.config.camel_case_permille) {
            show::in_camel_case(&mut answer.body);
        }
        // A 429 is not an answer to be stored.
        if let Some(key) = key.filter(|_| answer.status != 429) {
            self.keys.insert(key, Kept { at_ms: now_ms, answer: answer.clone() });
        }
        (answer, after_ms)
    }

    /// Returns true if the user of Basic authentication is not the account's key.
    fn is_stranger(&self, request: &Request) -> bool {
        let expected = STANDARD.encode(format!("{}:", self.config.secret_key));
        let given = request.header("authorization").and_then(|given| given.split_once(' '));
        !given.is_some_and(|(scheme, credentials)| {
            scheme.eq_ignore_ascii_case("basic") && credentials.trim() == expected
        })
    }

    fn route(&mut self, request: &Request, now_ms: i64) -> (Answer, u64) {
        let path = request.path.to_ascii_lowercase();
        let Some(path) = path.strip_prefix("/core/v5/") else { return (answer::not_found("Page"), 0) };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let query = Query::of(&request.query);
        let answer = match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["orders"]) => return self.create(&request.body, now_ms),
            ("GET", ["orders"]) => self.list_orders(&query, now_ms),
            ("GET", ["orders", id]) => match self.orders.get(*id) {
                Some(order) => Answer::ok(show::order(self, order)),
                None => answer::not_found("Order"),
            },
            ("GET", ["charges", id]) => match self.charges.get(*id) {
                Some(charge) => Answer::ok(show::charge(self, charge)),
                None => answer::not_found("Charge"),
            },
            ("GET", ["charges", id, "transactions"]) => match self.charges.get(*id) {
                Some(charge) => {
                    let steps = charge.transactions.iter().map(|step| show::transaction(charge, step));
                    Answer::ok(json!({ "data": steps.collect::<Vec<_>>(), "paging": {} }))
                }
                None => answer::not_found("Charge"),
            },
            ("POST", ["charges", id, "capture"]) => self.capture(id, &request.body, now_ms),
            ("DELETE", ["charges", id]) => self.cancel(id, &request.body, now_ms),
            ("GET", ["payables"]) => self.list_payables(&query, now_ms),
            _ => answer::not_found("Page"),
        };
        (answer, 0)
    }

    /// Lists orders, newest first, without those that the list does not show yet.
    fn list_orders(&self, query: &Query<'_>, now_ms: i64) -> Answer {
        let code = query.text("code");
        let mut found: Vec<&Order> = self
            .orders
            .values()
            .filter(|order| order.listed_from_ms <= now_ms)
            .filter(|order| code.as_ref().is_none_or(|code| order.code.eq_ignore_ascii_case(code)))
            .collect();
        found.sort_by_key(|order| std::cmp::Reverse(order.created_ms));
        let size = query.number("size").unwrap_or(10).clamp(1, 30);
        let page = query.number("page").unwrap_or(1).max(1);
        let from = size.saturating_mul(page.saturating_sub(1));
        let shown: Vec<&Order> = found.iter().skip(from).take(size).copied().collect();
        Answer::ok(show::orders(self, &shown, found.len()))
    }
}

fn sent(answer: Answer, after_ms: u64) -> Reply {
    let headers = vec![("content-type".to_owned(), "application/json; charset=utf-8".to_owned())];
    let body = answer.body.to_string().into_bytes();
    Reply::Answer { response: Response { status: answer.status, headers, body }, after_ms }
}

fn throttled(retry_after_s: u64) -> Reply {
    // No page of Pagar.me names the header; 0 leaves it out.
    let headers = vec![("retry-after".to_owned(), retry_after_s.to_string())];
    let headers = if retry_after_s == 0 { Vec::new() } else { headers };
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
