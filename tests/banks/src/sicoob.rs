//! A bank that registers boletos as Sicoob does, Cobrança Bancária v3, with its own books.
//!
//! Sources: the portal's page of the API and its models, as integrators copied them; PyPI `brbank` 0.0.5, whose calls
//! ran in the bank's own sandbox, and PyPI `sicoob-sdk` 0.2.19. Where those differ, [`Config`] has both.

mod books;
mod config;
mod desk;
mod form;
mod money;
mod movements;
mod problem;
mod terms;
mod titles;
mod webhooks;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::chance::mixed;
use crate::faults::{self, Faults, Planned};
use crate::oauth::{Refusal, Tokens};
use crate::query::{Query, decode};
use crate::{Counterparty, Notice, Reply, Request, Response};
use books::Books;
pub use books::{Account, Status};
pub use config::{BarCode, Callbacks, Config, PixCode, Shape};
pub use desk::Paying;
use form::Form;
use movements::Order;
use problem::Problem;
use webhooks::Webhook;

/// A bank of one customer. Its calls lie under any base path; it has no clock and no chance of its own.
///
/// Commands of [`Counterparty::control`], with the method that each stands for: `pay`, `pay_anyway` (both perhaps with
/// `on`, `cents`, `by`), `cancel_payment` (`motive`), `write_off`, `fee` (`cents`), `forge`, `unlist`, `relist`, all
/// with `txid` (a number or a `seuNumero`) or `number`; `take_number` (`number`), `revoke_tokens`, `set` (`config`: the
/// fields of [`Config`] that change), `faults` (see [`Planned`]), `calls`, `books`.
pub struct SicoobBank {
    config: Config,
    books: Books,
    tokens: Tokens,
    webhooks: Vec<Webhook>,
    /// Time at which a notice was sent, and true if it was accepted.
    sent: Vec<(i64, bool)>,
    orders: Vec<Order>,
    /// Titles that lists lack: a mistake of the bank.
    unlisted: BTreeSet<u64>,
    notices: BTreeMap<(i64, u64), Notice>,
    calls: BTreeMap<&'static str, u64>,
    faults: Faults,
    planned: Planned,
    dice: u64,
    answer_later_ms: u64,
}

impl SicoobBank {
    /// Creates a bank with empty books. Faults are planned by [`Counterparty::control`].
    pub fn new(config: Config) -> Self {
        let planned = Planned::default();
        Self {
            dice: config.seed,
            config,
            books: Books::default(),
            tokens: Tokens::default(),
            webhooks: Vec::new(),
            sent: Vec::new(),
            orders: Vec::new(),
            unlisted: BTreeSet::new(),
            notices: BTreeMap::new(),
            calls: BTreeMap::new(),
            faults: planned.faults(),
            planned,
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

    /// Returns the title and payments of each number at this time.
    pub fn books(&mut self, now_ms: i64) -> BTreeMap<u64, Account> {
        self.advance(now_ms);
        self.books.accounts()
    }

    /// Returns the title and payments of one number at this time; `None` if it is unknown.
    pub fn account(&mut self, number: u64, now_ms: i64) -> Option<Account> {
        self.advance(now_ms);
        self.books.account(number)
    }

    /// Returns the count of each call, by a name such as `POST /boletos`, including those with a fault.
    pub fn calls(&self) -> &BTreeMap<&'static str, u64> {
        &self.calls
    }

    fn answer(&mut self, call: &Call, request: &Request, now_ms: i64) -> Response {
        if *call == Call::Token {
            return self.tokens.give(&self.config.client(), request, now_ms);
        }
        self.answer_authorised(call, request, now_ms).unwrap_or_else(|problem| problem.response())
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
        if request.header("client_id") != Some(&self.config.client_id) {
            return Err(Problem::of_status(401));
        }
        let query = Query::read(&request.query);
        let body = || {
            serde_json::from_slice::<Value>(&request.body).map_err(|_| Problem::data("O corpo não é JSON."))
        };
        match call {
            Call::Register => self.register(&body()?, now_ms),
            Call::Read => self.read(&query, now_ms),
            Call::SecondCopy => self.second_copy(&query, now_ms),
            Call::Ranges => self.ranges(&query),
            Call::OfPayer(document) => self.of_payer(document, &query, now_ms),
            Call::WriteOff(number) => self.write_off(number, &body()?, now_ms),
            Call::Change(number) => self.change(number, &body()?),
            Call::OrderMovements => self.order_movements(&body()?, now_ms),
            Call::OrderedMovements => self.ordered_movements(&query, now_ms),
            Call::DownloadMovements => self.download_movements(&query, now_ms),
            Call::AddWebhook => self.add_webhook(&body()?, now_ms),
            Call::ListWebhooks => Ok(self.list_webhooks(&query)),
            Call::ChangeWebhook(id) => self.change_webhook(id, &body()?, now_ms),
            Call::ReviveWebhook(id) => self.revive_webhook(id, now_ms),
            Call::RemoveWebhook(id) => self.remove_webhook(id),
            Call::SentByWebhook(id) => self.sent_by_webhook(id, &query),
            Call::Token | Call::Unknown => Err(Problem::of_status(404)),
        }
    }

    fn register_form(&mut self, form: Form, number: u64, now_ms: i64) {
        let title = self.title(form, number, now_ms);
        self.books.titles.insert(number, title);
    }

    /// Returns true this many times in a thousand.
    fn chance(&mut self, permille: u64) -> bool {
        permille > 0 && {
            self.dice = self.dice.wrapping_add(1);
            mixed(self.dice) % 1000 < permille
        }
    }
}

impl Counterparty for SicoobBank {
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply {
        self.advance(now_ms);
        let call = Call::of(request);
        let count = self.calls.entry(call.name()).or_default();
        *count = count.saturating_add(1);
        self.answer_later_ms = 0;
        let fault = (self.faults)(request);
        faults::struck(
            fault,
            |status| Problem::of_status(status).response(),
            || {
                let response = self.answer(&call, request, now_ms);
                (response, self.answer_later_ms)
            },
        )
    }

    fn notices(&mut self, now_ms: i64) -> Vec<Notice> {
        self.advance(now_ms);
        let later = self.notices.split_off(&(now_ms.saturating_add(1), 0));
        std::mem::replace(&mut self.notices, later).into_values().collect()
    }

    fn notified(&mut self, notice: &Notice, status: Option<u16>, now_ms: i64) {
        self.notice_answered(notice, status, now_ms);
    }

    fn control(&mut self, command: &Value, now_ms: i64) -> Value {
        self.advance(now_ms);
        self.command(command, now_ms).unwrap_or_else(|error| json!({"error": error}))
    }
}

/// Call that a request makes.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    Token,
    Register,
    Read,
    SecondCopy,
    Ranges,
    OfPayer(String),
    WriteOff(String),
    Change(String),
    OrderMovements,
    OrderedMovements,
    DownloadMovements,
    AddWebhook,
    ListWebhooks,
    ChangeWebhook(String),
    ReviveWebhook(String),
    RemoveWebhook(String),
    SentByWebhook(String),
    Unknown,
}

impl Call {
    fn of(request: &Request) -> Self {
        let segments: Vec<String> = request.path.split('/').map(decode).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let owned = str::to_owned;
        match (request.method.as_str(), segments.as_slice()) {
            ("POST", [.., "token"]) => Self::Token,
            ("GET", [.., "pagadores", document, "boletos"]) => Self::OfPayer(owned(document)),
            ("GET", [.., "boletos", "segunda-via"]) => Self::SecondCopy,
            ("GET", [.., "boletos", "faixas-nosso-numero"]) => Self::Ranges,
            ("POST", [.., "boletos", "movimentacoes"]) => Self::OrderMovements,
            ("GET", [.., "boletos", "movimentacoes"]) => Self::OrderedMovements,
            ("GET", [.., "boletos", "movimentacoes", "download"]) => Self::DownloadMovements,
            ("POST", [.., "boletos", number, "baixar"]) => Self::WriteOff(owned(number)),
            ("PATCH", [.., "boletos", number]) => Self::Change(owned(number)),
            ("POST", [.., "boletos"]) => Self::Register,
            ("GET", [.., "boletos"]) => Self::Read,
            ("PATCH", [.., "webhooks", id, "reativar"]) => Self::ReviveWebhook(owned(id)),
            ("GET", [.., "webhooks", id, "solicitacoes"]) => Self::SentByWebhook(owned(id)),
            ("PATCH", [.., "webhooks", id]) => Self::ChangeWebhook(owned(id)),
            ("DELETE", [.., "webhooks", id]) => Self::RemoveWebhook(owned(id)),
            ("POST", [.., "webhooks"]) => Self::AddWebhook,
            ("GET", [.., "webhooks"]) => Self::ListWebhooks,
            _ => Self::Unknown,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Token => "POST token",
            Self::Register => "POST /boletos",
            Self::Read => "GET /boletos",
            Self::SecondCopy => "GET /boletos/segunda-via",
            Self::Ranges => "GET /boletos/faixas-nosso-numero",
            Self::OfPayer(_) => "GET /pagadores/{cpfCnpj}/boletos",
            Self::WriteOff(_) => "POST /boletos/{nossoNumero}/baixar",
            Self::Change(_) => "PATCH /boletos/{nossoNumero}",
            Self::OrderMovements => "POST /boletos/movimentacoes",
            Self::OrderedMovements => "GET /boletos/movimentacoes",
            Self::DownloadMovements => "GET /boletos/movimentacoes/download",
            Self::AddWebhook => "POST /webhooks",
            Self::ListWebhooks => "GET /webhooks",
            Self::ChangeWebhook(_) => "PATCH /webhooks/{idWebhook}",
            Self::ReviveWebhook(_) => "PATCH /webhooks/{idWebhook}/reativar",
            Self::RemoveWebhook(_) => "DELETE /webhooks/{idWebhook}",
            Self::SentByWebhook(_) => "GET /webhooks/{idWebhook}/solicitacoes",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the scope that it needs; `None` if there is no such call.
    fn scope(&self) -> Option<&'static str> {
        match self {
            Self::Register => Some("boletos_inclusao"),
            Self::Read
            | Self::SecondCopy
            | Self::Ranges
            | Self::OfPayer(_)
            | Self::OrderMovements
            | Self::OrderedMovements
            | Self::DownloadMovements => Some("boletos_consulta"),
            Self::WriteOff(_) | Self::Change(_) => Some("boletos_alteracao"),
            Self::AddWebhook
            | Self::ListWebhooks
            | Self::ChangeWebhook(_)
            | Self::ReviveWebhook(_)
            | Self::RemoveWebhook(_)
            | Self::SentByWebhook(_) => Some("boletos_webhook"),
            Self::Token | Self::Unknown => None,
        }
    }
}
