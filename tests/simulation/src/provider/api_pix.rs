//! Bank that implements API Pix.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_acquirers::api_pix::ApiPixFactory;
use quita_acquirers::api_pix::settings::{
    ApiPixSettings, CallbackRegistration, Receiver, TokenForm, TokenSettings, WebhookSettings,
};
use quita_acquirers::exchange::{ExchangeFactory, Request, Verb};
use quita_banks::api_pix::{Code, Config, ErrorShape, PixBank, RefundOutcome, Shape};
use quita_banks::{Counterparty, Notice, Reply};
use quita_domain::acquiring::{OperationAnswer, RemovedBy};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::pix::amount;
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec, Clock};
use serde_json::{Value, json};
use uuid::Uuid;

use super::courier::Letter;
use super::listing::{Listing, PageSize, Received};
use super::till::{Act, Till};
use super::view::{View, Window};
use super::{FOREIGN_KEY, OUR_KEY, spec, wire};
use crate::account::Account;
use crate::bank::{Holding, TIME_OUT_MS};
use crate::chance::{Chance, Fault};
use crate::clock::START;
use crate::world::World;

const BASE: &str = "https://pix.bank.example/v2";
const TOKEN_URL: &str = "https://pix.bank.example/oauth/token";
const WEBHOOK_TOKEN: &str = "a-token-that-nobody-guesses";
/// Times that a refund may take, in milliseconds; some are hours.
const REFUND_TAKES_MS: [u64; 4] = [20_000, 120_000, 1_800_000, 6 * 3_600_000];

/// Behaviour of a bank that implements API Pix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ways {
    /// A refund is done, or fails, minutes or hours after it was accepted.
    pub(crate) takes_time_for_refunds: bool,
    /// There is no code to copy, only the address where it is found.
    pub(crate) gives_location_only: bool,
    /// Its callbacks are an array, and its errors have a form that only some banks use.
    pub(crate) bends_the_standard: bool,
    /// Tokens are valid for minutes.
    pub(crate) has_short_tokens: bool,
    /// Its lists have few entries a page, whatever the request asks for.
    pub(crate) gives_short_pages: bool,
    /// View of what it has.
    pub(crate) view: View,
}

impl Ways {
    pub(crate) fn by(chance: &Chance) -> Self {
        Self {
            takes_time_for_refunds: chance.per_mille(500),
            gives_location_only: chance.per_mille(300),
            bends_the_standard: chance.per_mille(300),
            has_short_tokens: chance.per_mille(300),
            gives_short_pages: chance.per_mille(500),
            view: View::by(chance),
        }
    }
}

/// API Pix bank in this world.
pub(super) struct PixTill {
    bank: PixBank,
    takes_time_for_refunds: bool,
    listing: Listing,
    window: Window,
    /// Amount asked for and end of the time to pay, for each charge.
    asked: BTreeMap<TransactionId, (Money, Timestamp)>,
    /// Pix that paid other charges, and that are stated with these ones.
    misattributed: BTreeMap<TransactionId, String>,
}

pub(super) fn open(place: usize, ways: Ways) -> (AcquirerSpec, Box<dyn Till>) {
    let mut config = Config {
        // No two banks assign the same name to two Pix.
        ispb: format!("{:08}", 12_345_678 + place),
        keys: vec![OUR_KEY.to_owned()],
        token_ttl_s: if ways.has_short_tokens { 120 } else { 3_600 },
        code: if ways.gives_location_only { Code::Absent } else { Code::Good },
        refund_after_ms: 0,
        seed: place as u64,
        ..Config::default()
    };
    if ways.bends_the_standard {
        (config.errors, config.callbacks.shape) = (ErrorShape::Erros, Shape::Array);
    }
    let till = PixTill {
        bank: PixBank::new(config),
        takes_time_for_refunds: ways.takes_time_for_refunds,
        listing: Listing::new(match ways {
            Ways { view: View { has_no_paging: true, .. }, .. } => PageSize::Untold,
            Ways { gives_short_pages: true, .. } => PageSize::Of(2),
            Ways { .. } => PageSize::Of(100),
        }),
        window: Window::of(ways.view),
        asked: BTreeMap::new(),
        misattributed: BTreeMap::new(),
    };
    (spec(format!("pix{place}"), vec![Method::Pix], TIME_OUT_MS), Box::new(till))
}

/// Returns the adapter's factory for one node.
pub(super) fn factory(
    spec: &AcquirerSpec,
    exchanges: Arc<dyn ExchangeFactory>,
    clock: Arc<dyn Clock>,
) -> Arc<dyn AcquirerFactory> {
    let settings = ApiPixSettings {
        base_url: BASE.to_owned(),
        revision_base_url: BASE.to_owned(),
        token: TokenSettings::ClientCredentials {
            url: TOKEN_URL.to_owned(),
            form: TokenForm::BasicForm,
            client_id: "id".to_owned(),
            client_secret: Some(Secret::new("secret".to_owned())),
            scope: "cob.write cob.read pix.write pix.read webhook.write webhook.read".to_owned(),
        },
        pix_key: OUR_KEY.to_owned(),
        receiver: Some(Receiver { name: "LOJA EXEMPLO".to_owned(), city: "SAO PAULO".to_owned() }),
        headers: Vec::new(),
        query: Vec::new(),
        code_fields: vec!["pixCopiaECola".to_owned()],
        ignores_txid_of_answer: false,
        webhook: WebhookSettings {
            registration: CallbackRegistration::Off,
            address: None,
            token: Secret::new(WEBHOOK_TOKEN.to_owned()),
            other_tokens: Vec::new(),
            headers: Vec::new(),
        },
        lists: true,
    };
    Arc::new(ApiPixFactory::new(spec.clone(), settings, exchanges, clock))
}

fn txid(id: TransactionId) -> String {
    id.uuid().simple().to_string()
}

pub(super) fn read_txid(text: &str) -> Option<TransactionId> {
    Uuid::parse_str(text).ok().map(TransactionId::new)
}

/// Returns true if a request is for a page of the Pix that came in.
fn is_for_a_list(path: &str) -> bool {
    path.split('?').next().is_some_and(|path| path.ends_with("/pix"))
}

/// Returns the payment of a request about a charge.
fn charge_of(request: &Request) -> Option<TransactionId> {
    read_txid(wire::path(request).split("/cob/").nth(1)?)
}

fn cents(money: Money) -> i64 {
    i64::try_from(money.cents()).unwrap()
}

pub(super) fn money(cents: i64) -> Money {
    Money::from_cents(u64::try_from(cents).unwrap())
}

impl PixTill {
    /// Lets another merchant own the charge that an inquiry of ours names, if we have not made it.
    fn be_foreign(&mut self, world: &World, id: TransactionId, now_ms: i64) {
        let is_free = self.bank.account(&txid(id), now_ms).is_none();
        if is_free && world.store.payment(id).is_some() && world.strikes(Fault::ForeignCharge) {
            self.bank.foreign_key(&txid(id), FOREIGN_KEY, now_ms);
            drop(self.bank.pay_late(&txid(id), now_ms));
        }
    }

    /// Makes the bank state with this charge, from now on, a Pix that is known to have paid another one.
    fn misattribute(&mut self, world: &World, id: TransactionId, now_ms: i64) {
        let is_free = !self.misattributed.contains_key(&id) && !world.installation.plan.may_forget();
        let is_ours = self.bank.account(&txid(id), now_ms).is_some_and(|books| books.key == OUR_KEY);
        if !(is_free && is_ours) || world.faults.rate(Fault::AnothersPix) == 0 {
            return;
        }
        let others = world.store.payments().into_iter().filter(|payment| payment.id != id);
        let paid: Vec<_> = others
            .filter(|payment| self.asked.contains_key(&payment.id))
            .filter_map(|payment| payment.state.end_to_end_id.clone())
            .collect();
        if !paid.is_empty() && world.strikes(Fault::AnothersPix) {
            let pix = world.chance.pick(&paid);
            world.note(|| format!("{pix} is stated with {id}"));
            self.misattributed.insert(id, pix);
        }
    }

    /// Returns the answer to an inquiry about a charge, with a Pix that paid another one.
    fn with_anothers_pix(&self, request: &quita_banks::Request, reply: Reply) -> Reply {
        let about = request.path.split("/cob/").nth(1).and_then(read_txid);
        let stated = about.and_then(|id| Some((id, self.misattributed.get(&id)?)));
        let (Some((id, pix)), Reply::Answer { response, after_ms }) = (stated, &reply) else { return reply };
        let Ok(mut cob) = serde_json::from_slice::<Value>(&response.body) else { return reply };
        if response.status >= 300 || request.method != Verb::Get.as_str() {
            return reply;
        }
        let stated = json!({
            "endToEndId": pix, "txid": txid(id), "valor": cob["valor"]["original"], "chave": OUR_KEY,
            "horario": cob["calendario"]["criacao"],
        });
        let known = cob["pix"].as_array().cloned().unwrap_or_default();
        cob["pix"] = std::iter::once(stated).chain(known).collect();
        let response = quita_banks::Response { body: cob.to_string().into_bytes(), ..response.clone() };
        Reply::Answer { response, after_ms: *after_ms }
    }

    /// Notes the request of a new charge, and the errors that lists will have about it.
    fn note(&mut self, world: &World, id: TransactionId, request: &Request) {
        let now_ms = world.clock.now().millis();
        // Income of another merchant's charge with this name may have been listed already.
        if !self.asked.contains_key(&id) && self.bank.account(&txid(id), now_ms).is_none() {
            self.listing.note(world, id);
        }
        if world.strikes(Fault::StrangerPays) {
            self.bank.pay_key(OUR_KEY, cents(Money::from_cents(100)), None, now_ms).unwrap();
        }
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else { return };
        let asked = body.pointer("/valor/original").and_then(Value::as_str).and_then(amount::from_text);
        let seconds = body.pointer("/calendario/expiracao").and_then(Value::as_u64);
        if let (Some(asked), Some(seconds)) = (asked, seconds) {
            let expires_at = Timestamp::from_millis(now_ms).plus_ms(seconds * 1_000);
            self.asked.entry(id).or_insert((Money::from_cents(asked), expires_at));
        }
    }
}

impl Till for PixTill {
    fn counterparty(&mut self) -> &mut dyn Counterparty {
        &mut self.bank
    }

    fn is_for_a_token(&self, request: &Request) -> bool {
        request.url == TOKEN_URL
    }

    fn prepare(&mut self, world: &World, request: &Request) {
        let now_ms = world.clock.now().millis();
        match (request.verb, charge_of(request)) {
            (Verb::Put, Some(id)) => self.note(world, id, request),
            (Verb::Get, Some(id)) => {
                self.be_foreign(world, id, now_ms);
                self.misattribute(world, id, now_ms);
            }
            (Verb::Put, None) => {
                let takes_ms = match self.takes_time_for_refunds {
                    true => world.chance.between(1_000, world.chance.pick(&REFUND_TAKES_MS)),
                    false => 0,
                };
                let config = self.bank.config_mut();
                config.refund_after_ms = i64::try_from(takes_ms).unwrap();
                config.refund_outcome = match world.strikes(Fault::RefundFails) {
                    true => RefundOutcome::NotDone,
                    false => RefundOutcome::Done,
                };
            }
            _ => {}
        }
    }

    fn handle(&mut self, request: &quita_banks::Request, now_ms: i64) -> Reply {
        let is_for_a_list = request.method == Verb::Get.as_str() && is_for_a_list(&request.path);
        let reply = match is_for_a_list {
            true if self.window.has_no_lists(now_ms, START.millis()) => {
                let response = quita_banks::Response { status: 503, headers: Vec::new(), body: Vec::new() };
                Reply::Answer { response, after_ms: 0 }
            }
            true => self.listing.answer(&mut self.bank, &self.window, request, now_ms),
            false => self.bank.handle(request, now_ms),
        };
        let shown = self.window.show(request, reply, now_ms);
        self.with_anothers_pix(request, shown)
    }

    fn received(&mut self, now_ms: i64) -> Option<Vec<Received>> {
        Some(self.listing.received(&mut self.bank, now_ms))
    }

    fn lists_truly(&self, id: TransactionId) -> bool {
        self.listing.slip(id).is_none()
    }

    fn touched(&mut self, request: &Request) -> Option<TransactionId> {
        charge_of(request)
    }

    fn only_authorises(&self, _: &Request) -> Option<TransactionId> {
        None
    }

    fn account(&mut self, id: TransactionId, now_ms: i64) -> Option<Account> {
        let books = self.bank.account(&txid(id), now_ms)?;
        let is_foreign = books.key != OUR_KEY;
        let is_over = self.asked.get(&id).is_some_and(|(_, expires_at)| expires_at.millis() < now_ms);
        let holding = match books.status {
            _ if is_foreign => Holding::Awaited,
            _ if !books.received.is_empty() => Holding::Captured,
            "ATIVA" if is_over => Holding::Expired,
            "ATIVA" => Holding::Awaited,
            _ => Holding::Cancelled,
        };
        let (disputed, given_back): (Vec<_>, Vec<_>) =
            books.refunded.iter().partition(|refund| refund.nature.starts_with("MED_"));
        let is_ours = !is_foreign;
        Some(Account {
            tells_by_sums: false,
            counted: None,
            others: Vec::new(),
            is_blind: false,
            is_never_told: false,
            declined_as: None,
            holding,
            authorised: 0,
            captured: if is_ours { money(books.received_cents()) } else { Money::ZERO },
            given_back: given_back.iter().map(|refund| money(refund.cents)).sum(),
            is_charged_back: !disputed.is_empty(),
            chargebacks: 0,
            is_odd: is_foreign,
            is_listed_alone: false,
            paid_unasked_interest: false,
            is_foreign,
            removed_by: None,
            was_captured_at_the_desk: false,
            sums_moved: false,
            is_late: false,
            came_after_its_time: false,
            may_be_contradicted: false,
        })
    }

    fn became_of_refund(
        &mut self,
        id: TransactionId,
        refund: &Operation,
        now_ms: i64,
    ) -> Option<OperationAnswer> {
        let books = self.bank.account(&txid(id), now_ms)?;
        let name = refund.id.uuid().simple().to_string();
        Some(if books.refunded.iter().any(|known| known.id == name) {
            OperationAnswer::Done
        } else if books.processing_cents > 0 {
            // It may be this one that is under way.
            OperationAnswer::Accepted
        } else {
            OperationAnswer::NotFound
        })
    }

    fn paid(&mut self, now_ms: i64) -> Vec<TransactionId> {
        let known: Vec<_> = self.asked.keys().copied().collect();
        let mut holds = |id: &TransactionId| self.account(*id, now_ms).map(|account| account.holding);
        known.into_iter().filter(|id| holds(id) == Some(Holding::Captured)).collect()
    }

    fn asked(&self, id: TransactionId) -> Money {
        self.asked.get(&id).map_or(Money::ZERO, |(asked, _)| *asked)
    }

    fn left(&mut self, id: TransactionId, now_ms: i64) -> Money {
        let Some(books) = self.bank.account(&txid(id), now_ms) else { return Money::ZERO };
        money((books.received_cents() - books.refunded_cents() - books.processing_cents).max(0))
    }

    fn expires_at(&self, id: TransactionId) -> Timestamp {
        self.asked.get(&id).map_or_else(Timestamp::default, |(_, expires_at)| *expires_at)
    }

    fn act(&mut self, id: TransactionId, act: Act, now_ms: i64) -> bool {
        let txid = txid(id);
        // Actions at the desk take effect at once.
        self.bank.config_mut().refund_after_ms = 0;
        self.bank.config_mut().refund_outcome = RefundOutcome::Done;
        let done = match act {
            Act::Pay { amount } if amount == self.asked(id) => {
                self.bank.pay(&txid, now_ms).or_else(|_| self.bank.pay_late(&txid, now_ms)).map(drop)
            }
            Act::Pay { amount } => self.bank.pay_amount(&txid, cents(amount), now_ms).map(drop),
            Act::ChargeBack { amount } => self.bank.med_refund(&txid, cents(amount), now_ms).map(drop),
            Act::GiveBack { amount } => self.bank.desk_refund(&txid, cents(amount), now_ms).map(drop),
            Act::Withdraw { by: RemovedBy::Acquirer } => self.bank.remove_by_psp(&txid),
            Act::Withdraw { by: RemovedBy::Receiver } => self.bank.remove_by_receiver_at_desk(&txid),
            Act::Void | Act::Capture { .. } => return false,
        };
        done.is_ok()
    }

    fn letter(&self, notice: Notice) -> Letter {
        Letter {
            path_tail: format!("/{WEBHOOK_TOKEN}/pix"),
            headers: notice.headers,
            body: notice.body,
            is_authentic: true,
        }
    }

    fn subject(&self, letter: &Letter) -> Option<TransactionId> {
        let body: Value = serde_json::from_slice(&letter.body).ok()?;
        let first = body.get("pix").unwrap_or(&body).get(0)?;
        read_txid(first.get("txid")?.as_str()?)
    }

    fn forged(&self, world: &World, about: Option<TransactionId>) -> Letter {
        let chance = &world.chance;
        let stranger = TransactionId::new(Uuid::from_u128(u128::from(chance.any())));
        let id = about.filter(|_| chance.per_mille(700)).unwrap_or(stranger);
        let key = if chance.per_mille(700) { OUR_KEY } else { FOREIGN_KEY };
        let asked = about.map_or(Money::from_cents(100), |id| self.asked(id));
        let pix = json!({
            "endToEndId": format!("E12345678202611211200{:011}", chance.between(0, 99_999_999_999)),
            "txid": txid(id), "valor": amount::to_text(asked.cents()), "chave": key,
            "horario": "2026-11-21T12:00:00.000Z",
        });
        let is_authentic = chance.per_mille(700);
        let token = if is_authentic { WEBHOOK_TOKEN } else { "a-token-that-somebody-guessed" };
        let body = if chance.per_mille(200) {
            b"{\"pix\":".to_vec()
        } else {
            json!({"pix": [pix]}).to_string().into()
        };
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Letter { path_tail: format!("/{token}"), headers, body, is_authentic }
    }
}
