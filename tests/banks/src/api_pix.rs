//! A bank with API Pix, the Banco Central's standard, version 2.9.0, and with its own books.
//!
//! Sources: `scripts/lib/judges/pix-api-openapi.yaml` (the standard's own document) for calls, patterns and errors.
//! [`Config`] has everything that the document leaves to a bank.

mod books;
pub(crate) mod br_code;
mod charges;
mod config;
mod desk;
mod due_charges;
mod instants;
mod pages;
mod problem;
mod received;
mod rules;
#[cfg(test)]
mod tests;
mod webhooks;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::chance::mixed;
use crate::faults::{self, Faults, Planned};
pub use crate::oauth::TokenForm;
use crate::oauth::{Refusal, Tokens};
use crate::query::{Query, decode};
use crate::{Counterparty, Notice, Reply, Request, Response};
use books::Books;
pub use books::{Account, Returned};
pub use config::{Callbacks, Code, Config, ErrorShape, RefundOutcome, Shape};
use problem::Problem;
use webhooks::Webhook;

/// A bank of one receiver. Its calls lie under any base path; it has no clock and no chance of its own.
///
/// Commands of [`Counterparty::control`], with the method that each stands for: `pay`, `pay_amount`, `pay_twice`,
/// `pay_late`, `pay_on` (a charge with a due date: `on`, perhaps `amount`), `desk_refund`, `med_refund`, `remove_by_psp`, `remove_by_receiver_at_desk`, `foreign_key` (all with
/// `txid`, some with `amount` as `"10.00"` or `key`), `pay_key` (`key`, `amount`, perhaps `endToEndId`), `unlist` and
/// `relist` (`endToEndId`), `foreign_webhook` (`key`, `url`), `forge` (`txid`), `revoke_tokens`, `set` (`config`: the
/// fields of [`Config`] that change), `faults` (see [`Planned`]), `calls` (how often each call came in), `books`.
pub struct PixBank {
    config: Config,
    books: Books,
    tokens: Tokens,
    webhooks: BTreeMap<String, Webhook>,
    /// Pending refunds by the time at which they end: endToEndId and id.
    due: BTreeMap<(i64, u64), (String, String)>,
    notices: BTreeMap<(i64, u64), Notice>,
    calls: BTreeMap<&'static str, u64>,
    faults: Faults,
    planned: Planned,
    dice: u64,
    drawn: u64,
    answer_later_ms: u64,
}

impl PixBank {
    /// Creates a bank with empty books. Faults are planned by [`Counterparty::control`].
    pub fn new(config: Config) -> Self {
        let planned = Planned::default();
        Self {
            dice: config.seed,
            config,
            books: Books::default(),
            tokens: Tokens::default(),
            webhooks: BTreeMap::new(),
            due: BTreeMap::new(),
            notices: BTreeMap::new(),
            calls: BTreeMap::new(),
            faults: planned.faults(),
            planned,
            drawn: 0,
            answer_later_ms: 0,
        }
    }

    /// Replaces the source of faults.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// Returns its configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns its configuration, to be changed.
    pub fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// Returns the charged, received and refunded amounts of each txid at this time.
    pub fn books(&mut self, now_ms: i64) -> BTreeMap<String, Account> {
        self.settle_refunds(now_ms);
        self.books.accounts()
    }

    /// Returns the charged, received and refunded amounts of one txid at this time; `None` if it is unknown.
    pub fn account(&mut self, txid: &str, now_ms: i64) -> Option<Account> {
        self.settle_refunds(now_ms);
        self.books.account(txid)
    }

    /// Returns the count of each call by its name, such as `PUT /cob/{txid}`. Calls with a fault count too.
    pub fn calls(&self) -> &BTreeMap<&'static str, u64> {
        &self.calls
    }

    /// Invalidates all tokens that were issued.
    pub fn revoke_tokens(&mut self) {
        self.tokens.revoke();
    }

    fn answer(&mut self, call: &Call, request: &Request, now_ms: i64) -> Response {
        if *call == Call::Token {
            return self.tokens.give(&self.config.client(), request, now_ms);
        }
        match self.answer_authorised(call, request, now_ms) {
            Ok(response) => response,
            Err(problem) => problem.response(self.config.errors),
        }
    }

    fn answer_authorised(
        &mut self,
        call: &Call,
        request: &Request,
        now_ms: i64,
    ) -> Result<Response, Problem> {
        let scope = call.scope().ok_or_else(|| Problem::of_status(404))?;
        self.tokens.check(&self.config.client(), request, scope, now_ms).map_err(
            |refusal| match refusal {
                Refusal::Unauthorized => Problem::of_status(401),
                Refusal::Forbidden => Problem::of_status(403),
            },
        )?;
        let query = Query::read(&request.query);
        let body = || {
            serde_json::from_slice::<Value>(&request.body)
                .map_err(|_| Problem::new(400, "RequisicaoInvalida", "O corpo não é JSON."))
        };
        match call {
            Call::PutCharge(txid) => self.put_charge(txid, &body()?, now_ms),
            Call::PostCharge => self.post_charge(&body()?, now_ms),
            Call::PatchCharge(txid) => self.patch_charge(txid, &body()?),
            Call::GetCharge(txid) => self.get_charge(txid, &query),
            Call::ListCharges if self.config.lists => self.list_charges(&query),
            Call::PutDue(txid) => self.put_due_charge(txid, &body()?, now_ms),
            Call::PatchDue(txid) => self.patch_due_charge(txid, &body()?, now_ms),
            Call::GetDue(txid) => self.get_due_charge(txid),
            Call::GetPix(id) => self.get_pix(id),
            Call::ListPix if self.config.lists => self.list_pix(&query),
            Call::PutRefund(end_to_end_id, id) => self.put_refund(end_to_end_id, id, &body()?, now_ms),
            Call::GetRefund(end_to_end_id, id) => self.get_refund(end_to_end_id, id),
            Call::PutWebhook(key) => self.put_webhook(key, &body()?, now_ms),
            Call::GetWebhook(key) => self.get_webhook(key),
            Call::DeleteWebhook(key) => self.delete_webhook(key),
            Call::ListWebhooks => self.list_webhooks(&query),
            Call::ListCharges | Call::ListPix | Call::Token | Call::Unknown => Err(Problem::of_status(404)),
        }
    }

    /// Returns true this many times in a thousand.
    fn chance(&mut self, permille: u64) -> bool {
        permille > 0 && {
            self.dice = self.dice.wrapping_add(1);
            mixed(self.dice) % 1000 < permille
        }
    }

    /// Returns a new pseudorandom number.
    fn draw_id(&mut self) -> u128 {
        self.drawn = self.drawn.wrapping_add(1);
        let high = mixed(self.config.seed.wrapping_add(self.drawn));
        u128::from(high) << 64 | u128::from(self.drawn)
    }
}

impl Counterparty for PixBank {
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply {
        self.settle_refunds(now_ms);
        let call = Call::of(request);
        let count = self.calls.entry(call.name()).or_default();
        *count = count.saturating_add(1);
        self.answer_later_ms = 0;
        let fault = (self.faults)(request);
        let shape = self.config.errors;
        let error = |status| Problem::of_status(status).response(shape);
        faults::struck(fault, error, || {
            let response = self.answer(&call, request, now_ms);
            (response, self.answer_later_ms)
        })
    }

    fn notices(&mut self, now_ms: i64) -> Vec<Notice> {
        self.settle_refunds(now_ms);
        let later = self.notices.split_off(&(now_ms.saturating_add(1), 0));
        std::mem::replace(&mut self.notices, later).into_values().collect()
    }

    fn control(&mut self, command: &Value, now_ms: i64) -> Value {
        self.settle_refunds(now_ms);
        self.command(command, now_ms).unwrap_or_else(|error| json!({"error": error}))
    }
}

/// Operation that a request calls.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    Token,
    PutCharge(String),
    PostCharge,
    PatchCharge(String),
    GetCharge(String),
    ListCharges,
    PutDue(String),
    PatchDue(String),
    GetDue(String),
    GetPix(String),
    ListPix,
    PutRefund(String, String),
    GetRefund(String, String),
    PutWebhook(String),
    GetWebhook(String),
    DeleteWebhook(String),
    ListWebhooks,
    Unknown,
}

impl Call {
    fn of(request: &Request) -> Self {
        let segments: Vec<String> = request.path.split('/').map(decode).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let owned = str::to_owned;
        match (request.method.as_str(), segments.as_slice()) {
            ("POST", [.., last]) if last.starts_with("token") => Self::Token,
            ("PUT", [.., "pix", id, "devolucao", refund]) => Self::PutRefund(owned(id), owned(refund)),
            ("GET", [.., "pix", id, "devolucao", refund]) => Self::GetRefund(owned(id), owned(refund)),
            ("PUT", [.., "cob", txid]) => Self::PutCharge(owned(txid)),
            ("PATCH", [.., "cob", txid]) => Self::PatchCharge(owned(txid)),
            ("GET", [.., "cob", txid]) => Self::GetCharge(owned(txid)),
            ("POST", [.., "cob"]) => Self::PostCharge,
            ("GET", [.., "cob"]) => Self::ListCharges,
            ("PUT", [.., "cobv", txid]) => Self::PutDue(owned(txid)),
            ("PATCH", [.., "cobv", txid]) => Self::PatchDue(owned(txid)),
            ("GET", [.., "cobv", txid]) => Self::GetDue(owned(txid)),
            ("PUT", [.., "webhook", key]) => Self::PutWebhook(owned(key)),
            ("GET", [.., "webhook", key]) => Self::GetWebhook(owned(key)),
            ("DELETE", [.., "webhook", key]) => Self::DeleteWebhook(owned(key)),
            ("GET", [.., "webhook"]) => Self::ListWebhooks,
            ("GET", [.., "pix", id]) => Self::GetPix(owned(id)),
            ("GET", [.., "pix"]) => Self::ListPix,
            _ => Self::Unknown,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Token => "POST token",
            Self::PutCharge(_) => "PUT /cob/{txid}",
            Self::PostCharge => "POST /cob",
            Self::PatchCharge(_) => "PATCH /cob/{txid}",
            Self::GetCharge(_) => "GET /cob/{txid}",
            Self::ListCharges => "GET /cob",
            Self::PutDue(_) => "PUT /cobv/{txid}",
            Self::PatchDue(_) => "PATCH /cobv/{txid}",
            Self::GetDue(_) => "GET /cobv/{txid}",
            Self::GetPix(_) => "GET /pix/{e2eid}",
            Self::ListPix => "GET /pix",
            Self::PutRefund(..) => "PUT /pix/{e2eid}/devolucao/{id}",
            Self::GetRefund(..) => "GET /pix/{e2eid}/devolucao/{id}",
            Self::PutWebhook(_) => "PUT /webhook/{chave}",
            Self::GetWebhook(_) => "GET /webhook/{chave}",
            Self::DeleteWebhook(_) => "DELETE /webhook/{chave}",
            Self::ListWebhooks => "GET /webhook",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the scope that it needs; `None` if there is no such call.
    fn scope(&self) -> Option<&'static str> {
        match self {
            Self::PutCharge(_) | Self::PostCharge | Self::PatchCharge(_) => Some("cob.write"),
            Self::GetCharge(_) | Self::ListCharges => Some("cob.read"),
            Self::PutDue(_) | Self::PatchDue(_) => Some("cobv.write"),
            Self::GetDue(_) => Some("cobv.read"),
            Self::PutRefund(..) => Some("pix.write"),
            Self::GetRefund(..) | Self::GetPix(_) | Self::ListPix => Some("pix.read"),
            Self::PutWebhook(_) | Self::DeleteWebhook(_) => Some("webhook.write"),
            Self::GetWebhook(_) | Self::ListWebhooks => Some("webhook.read"),
            Self::Token | Self::Unknown => None,
        }
    }
}
