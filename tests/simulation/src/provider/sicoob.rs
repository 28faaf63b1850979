//! Bank that registers boletos as Sicoob does, with numbers that we assign.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quita_acquirers::api_pix::settings::{CallbackRegistration, TokenForm, TokenSettings, WebhookSettings};
use quita_acquirers::exchange::{ExchangeFactory, Request, Verb};
use quita_acquirers::sicoob::SicoobFactory;
use quita_acquirers::sicoob::settings::{Beneficiary, SicoobSettings};
use quita_banks::sicoob::{Callbacks, Config, Paying, SicoobBank, Status};
use quita_banks::{Counterparty, Notice};
use quita_domain::acquiring::RemovedBy;
use quita_domain::boleto::NumberDigit;
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Terms;
use quita_domain::routing::{DueDates, DueTermsTaken};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec, Clock};
use serde_json::{Value, json};
use uuid::Uuid;

use super::courier::Letter;
use super::till::{Act, Till};
use super::{spec, wire};
use crate::account::{Account, Beside};
use crate::bank::Holding;
use crate::chance::{Chance, Fault};
use crate::world::World;

const BASE: &str = "https://boletos.bank.example/cobranca-bancaria/v3";
const TOKEN_URL: &str = "https://boletos.bank.example/token";
const WEBHOOK_TOKEN: &str = "a-token-that-nobody-guesses";
/// Time-out of calls. A registration that is refused is followed by an inquiry within the same call.
const TIME_OUT_MS: u64 = 10_000;
/// Range of numbers that only we use.
const NUMBERS: (u32, u32) = (1, 9_999_999);
/// Cooperative of the contract, which is part of the check digit's input.
const COOPERATIVE: u64 = 4_027;
/// Time for which a title may not be found, in milliseconds.
const LAG_MS: i64 = 8_000;
/// Times from a payment to its money, in milliseconds.
const SETTLES_AFTER_MS: [i64; 3] = [20_000, 6 * 3_600_000, 24 * 3_600_000];

/// Behaviour of such a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ways {
    /// New titles are not found for a few seconds.
    pub(crate) lags: bool,
    /// Time from a payment to its money, in milliseconds.
    pub(crate) settles_after_ms: i64,
    /// Callbacks come twice.
    pub(crate) repeats_itself: bool,
    /// Boletos have a PIX code.
    pub(crate) has_pix: bool,
    /// Tokens are valid for minutes.
    pub(crate) has_short_tokens: bool,
    /// It wants a check digit after each number.
    pub(crate) wants_digits: bool,
}

impl Ways {
    pub(crate) fn by(chance: &Chance) -> Self {
        Self {
            lags: chance.per_mille(500),
            settles_after_ms: if chance.per_mille(500) { chance.pick(&SETTLES_AFTER_MS) } else { 0 },
            repeats_itself: chance.per_mille(300),
            has_pix: chance.per_mille(500),
            has_short_tokens: chance.per_mille(300),
            wants_digits: chance.per_mille(300),
        }
    }

    fn digits(self) -> Option<NumberDigit> {
        self.wants_digits.then(|| NumberDigit::sicoob(COOPERATIVE, Config::default().customer).unwrap())
    }
}

/// Bank of this kind in this world.
pub(super) struct SicoobTill {
    bank: SicoobBank,
    digits: Option<NumberDigit>,
    /// True if new titles are not found for a few seconds.
    lags: bool,
    /// Amount and last day of each payment's first title.
    asked: BTreeMap<TransactionId, (Money, Timestamp)>,
    /// Numbers of a payment's titles.
    numbers: BTreeMap<TransactionId, BTreeSet<u64>>,
}

pub(super) fn open(place: usize, ways: Ways) -> (AcquirerSpec, Box<dyn Till>) {
    let config = Config {
        seed: place as u64,
        read_lag_ms: if ways.lags { LAG_MS } else { 0 },
        settles_after_ms: ways.settles_after_ms,
        token_ttl_s: if ways.has_short_tokens { 120 } else { 3_600 },
        callbacks: Callbacks {
            repeated_permille: if ways.repeats_itself { 500 } else { 0 },
            ..Callbacks::default()
        },
        ..Config::default()
    };
    let till = SicoobTill {
        bank: SicoobBank::new(config),
        digits: ways.digits(),
        lags: ways.lags,
        asked: BTreeMap::new(),
        numbers: BTreeMap::new(),
    };
    let mut spec = spec(format!("sicoob{place}"), vec![Method::Boleto], TIME_OUT_MS);
    spec.due_dates = DueDates { of_pix: false, terms: DueTermsTaken::All };
    (spec, Box::new(till))
}

/// Returns the adapter's factory for one node.
pub(super) fn factory(
    spec: &AcquirerSpec,
    ways: Ways,
    exchanges: Arc<dyn ExchangeFactory>,
    clock: Arc<dyn Clock>,
) -> Arc<dyn AcquirerFactory> {
    let known = Config::default();
    let settings = SicoobSettings {
        base_url: BASE.to_owned(),
        token: TokenSettings::ClientCredentials {
            url: TOKEN_URL.to_owned(),
            form: TokenForm::FormNoSecret,
            client_id: known.client_id.clone(),
            client_secret: None,
            scope: "boletos_inclusao boletos_consulta boletos_alteracao boletos_webhook".to_owned(),
        },
        client_id: known.client_id,
        customer: known.customer,
        account: known.account,
        portfolio: known.portfolio,
        document_kind: "DM".to_owned(),
        has_pix: ways.has_pix,
        our_numbers: NUMBERS,
        number_digit: ways.digits(),
        beneficiary: Beneficiary { name: "LOJA EXEMPLO".to_owned(), ..Beneficiary::default() },
        webhook: WebhookSettings {
            registration: CallbackRegistration::Off,
            address: None,
            token: Secret::new(WEBHOOK_TOKEN.to_owned()),
            other_tokens: Vec::new(),
            headers: Vec::new(),
        },
        lists: false,
        name_keys: vec![Secret::new("a key of names".to_owned())],
    };
    Arc::new(SicoobFactory::new(spec.clone(), settings, exchanges, clock))
}

/// Returns the payment and the number of a registration.
fn registered(request: &Request) -> Option<(TransactionId, u64)> {
    if request.verb != Verb::Post || !wire::path(request).ends_with("/boletos") {
        return None;
    }
    let body: Value = serde_json::from_slice(&request.body).ok()?;
    let ours = body.get("identificacaoBoletoEmpresa")?.as_str()?;
    let id = u128::from_str_radix(ours, 36).ok()?;
    Some((TransactionId::new(Uuid::from_u128(id)), body.get("nossoNumero")?.as_u64()?))
}

impl SicoobTill {
    fn id_of(&self, number: u64) -> Option<TransactionId> {
        self.numbers.iter().find(|(_, numbers)| numbers.contains(&number)).map(|(id, _)| *id)
    }

    /// Returns the titles of a payment that the bank has, by their numbers.
    fn titles(&mut self, id: TransactionId, now_ms: i64) -> Vec<(u64, quita_banks::sicoob::Account)> {
        let numbers = self.numbers.get(&id).cloned().unwrap_or_default();
        // A title under a number that another program took is not ours.
        let is_ours = |account: &quita_banks::sicoob::Account| !account.your_number.starts_with("OUTRO");
        let known =
            numbers.into_iter().filter_map(|number| Some((number, self.bank.account(number, now_ms)?)));
        known.filter(|(_, account)| is_ours(account)).collect()
    }

    /// Returns the title that counts: one that has money, or the first.
    fn main(&mut self, id: TransactionId, now_ms: i64) -> Option<u64> {
        let titles = self.titles(id, now_ms);
        let paid = titles.iter().find(|(_, title)| !title.paid_cents.is_empty());
        paid.or_else(|| titles.first()).map(|(number, _)| *number)
    }
}

fn paid(account: &quita_banks::sicoob::Account) -> Money {
    Money::from_cents(account.paid_cents.iter().sum())
}

impl Till for SicoobTill {
    fn counterparty(&mut self) -> &mut dyn Counterparty {
        &mut self.bank
    }

    fn is_for_a_token(&self, request: &Request) -> bool {
        request.url == TOKEN_URL
    }

    fn prepare(&mut self, world: &World, request: &Request) {
        let Some((id, number)) = registered(request) else { return };
        if let Some(digits) = &self.digits {
            let whole = u32::try_from(number).unwrap_or_default();
            if digits.appended(NumberDigit::stripped(whole)) != whole {
                world.violation(format!("{id} is registered under {number}, whose digit is wrong"));
            }
        }
        let now_ms = world.clock.now().millis();
        let is_free = self.bank.account(number, now_ms).is_none();
        if is_free && world.strikes(Fault::ForeignCharge) {
            self.bank.take_number(number, now_ms).unwrap();
        }
        // After a backup was restored, a number may already have another payment's title: the bank refuses it.
        if is_free {
            self.numbers.entry(id).or_default().insert(number);
        }
        let Some(payment) = world.payment_sent(id).filter(|_| !self.asked.contains_key(&id)) else { return };
        let Terms::Boleto(due) = &payment.order.terms else { return };
        let expires_at = Timestamp::end_of_sao_paulo_day(due.moved_due_date());
        self.asked.insert(id, (payment.order.amount, expires_at));
    }

    fn touched(&mut self, request: &Request) -> Option<TransactionId> {
        if let Some((id, _)) = registered(request) {
            return Some(id);
        }
        let number = wire::path(request).strip_suffix("/baixar")?.rsplit('/').next()?;
        self.id_of(number.parse().ok()?)
    }

    fn only_authorises(&self, _: &Request) -> Option<TransactionId> {
        None
    }

    fn account(&mut self, id: TransactionId, now_ms: i64) -> Option<Account> {
        let titles = self.titles(id, now_ms);
        let number = self.main(id, now_ms)?;
        let main = &titles.iter().find(|(known, _)| *known == number)?.1;
        let is_over = self.asked.get(&id).is_some_and(|(_, expires_at)| expires_at.millis() < now_ms);
        let holding = match main.status {
            _ if !main.paid_cents.is_empty() => Holding::Captured,
            Status::Open | Status::Settled if is_over => Holding::Expired,
            Status::Open | Status::Settled => Holding::Awaited,
            Status::WrittenOff => Holding::Cancelled,
        };
        let beside = |(number, account): &(u64, quita_banks::sicoob::Account)| Beside {
            name: number.to_string(),
            held: !account.paid_cents.is_empty(),
            holds: !account.paid_cents.is_empty(),
        };
        Some(Account {
            tells_by_sums: false,
            counted: None,
            others: titles.iter().filter(|(known, _)| *known != number).map(beside).collect(),
            is_blind: false,
            is_never_told: false,
            declined_as: None,
            holding,
            authorised: 0,
            captured: paid(main),
            given_back: Money::ZERO,
            is_charged_back: false,
            chargebacks: 0,
            is_odd: false,
            is_listed_alone: false,
            paid_unasked_interest: false,
            is_foreign: false,
            removed_by: None,
            was_captured_at_the_desk: false,
            sums_moved: false,
            is_late: false,
            came_after_its_time: false,
            // It does not find a new registration at first.
            may_be_contradicted: self.lags,
        })
    }

    fn paid(&mut self, now_ms: i64) -> Vec<TransactionId> {
        let known: Vec<_> = self.numbers.keys().copied().collect();
        let mut has_money = |id: &TransactionId| {
            self.titles(*id, now_ms).iter().any(|(_, title)| !title.paid_cents.is_empty())
        };
        known.into_iter().filter(|id| has_money(id)).collect()
    }

    fn asked(&self, id: TransactionId) -> Money {
        self.asked.get(&id).map_or(Money::ZERO, |(asked, _)| *asked)
    }

    /// Returns zero, as boletos cannot be refunded.
    fn left(&mut self, _: TransactionId, _: i64) -> Money {
        Money::ZERO
    }

    fn expires_at(&self, id: TransactionId) -> Timestamp {
        self.asked.get(&id).map_or_else(Timestamp::default, |(_, expires_at)| *expires_at)
    }

    fn act(&mut self, id: TransactionId, act: Act, now_ms: i64) -> bool {
        let Some(number) = self.main(id, now_ms) else { return false };
        let is_withdrawn =
            self.bank.account(number, now_ms).is_some_and(|title| title.status == Status::WrittenOff);
        let paying = |amount: Money| Paying { cents: Some(amount.cents()), ..Paying::default() };
        let done = match act {
            // The payment was under way when the title was withdrawn.
            Act::Pay { amount } if is_withdrawn => {
                self.bank.pay_anyway(number, paying(amount), now_ms).map(drop)
            }
            Act::Pay { amount } => self.bank.pay(number, paying(amount), now_ms).map(drop),
            Act::Withdraw { by: RemovedBy::Receiver } => self.bank.write_off_at_desk(number, now_ms),
            // The bank does not report that it withdrew the title itself.
            Act::Withdraw { by: RemovedBy::Acquirer } => return false,
            Act::ChargeBack { .. } | Act::GiveBack { .. } | Act::Void | Act::Capture { .. } => return false,
        };
        done.is_ok()
    }

    fn letter(&self, notice: Notice) -> Letter {
        let headers = notice.headers;
        let body = notice.body;
        Letter { path_tail: format!("/{WEBHOOK_TOKEN}"), headers, body, is_authentic: true }
    }

    fn subject(&self, letter: &Letter) -> Option<TransactionId> {
        let body: Value = serde_json::from_slice(&letter.body).ok()?;
        self.id_of(body.pointer("/dados/nossoNumero")?.as_u64()?)
    }

    fn forged(&self, world: &World, about: Option<TransactionId>) -> Letter {
        let chance = &world.chance;
        let known = about.and_then(|id| self.numbers.get(&id)?.first().copied());
        let number = known.filter(|_| chance.per_mille(700)).unwrap_or_else(|| chance.between(1, 9_999_999));
        let is_authentic = chance.per_mille(700);
        let token = if is_authentic { WEBHOOK_TOKEN } else { "a-token-that-somebody-guessed" };
        let body = match chance.per_mille(200) {
            true => b"{\"dados\":".to_vec(),
            false => json!({"tipoMovimento": 7, "dados": {"nossoNumero": number}}).to_string().into(),
        };
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Letter { path_tail: format!("/{token}"), headers, body, is_authentic }
    }
}
