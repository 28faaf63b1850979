//! Payments with which the targets begin.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;
use quita_domain::card::{CardData, CardFingerprint, CardNumber, Cvv, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::{AcquirerName, ApplicationName, MerchantId, Mode, Owner, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::{Address, Order, Payer, Terms, Utm};
use quita_domain::payment::{Context, NewPayment, Payment};
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::routing::{Considered, Routed};
use quita_domain::time::Timestamp;
use uuid::Uuid;

/// Moment at which payments are opened: 2026-11-21T12:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// Returns the owner who creates the payments.
pub fn owner() -> Owner {
    let merchant = MerchantId::new("demo");
    let application = ApplicationName::new("default");
    Owner { merchant, application, mode: Mode::Test }
}

/// Returns the context on which a decision depends. Every `op` is a different one.
pub fn context(now: Timestamp, op: u128) -> Context {
    let op = Uuid::from_u128(op);
    Context { dice: 20, card_at_hand: true, ..Context::plain(now, op) }
}

/// Choice of a payment's properties, made by the first bytes of an input.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Method by which it is paid.
    pub method: Method,
    /// True if a card is captured at once.
    pub capture: bool,
    /// True if the merchant wants webhooks.
    pub postback: bool,
    /// Number of acquirers that could take it, 0 to 3.
    pub acquirers: usize,
    /// True if the acquirers know operations only by their sums.
    pub in_turn: bool,
    /// True if a declined payment goes to a further acquirer.
    pub goes_further: bool,
    /// True if the acquirers may have several charges of a payment, distinguished by name.
    pub named: bool,
    /// True if the acquirers share one account.
    pub one_account: bool,
}

impl Choice {
    /// Reads a choice from a byte.
    pub fn from_byte(byte: u8) -> Self {
        let method = Method::ALL.into_iter().cycle().nth(usize::from(byte & 3)).unwrap_or(Method::Pix);
        let acquirers = usize::from(byte >> 4 & 3);
        let in_turn = byte & 64 != 0;
        let goes_further = byte & 128 != 0;
        let [capture, postback] = [byte & 4 == 0, byte & 8 == 0];
        let named = acquirers == 3;
        let one_account = acquirers == 3 && !postback;
        Self { method, capture, postback, acquirers, in_turn, goes_further, named, one_account }
    }

    /// Returns the name by which its acquirers distinguish charges, if they do.
    pub fn charge_name(self) -> Option<&'static str> {
        self.named.then_some("name-0")
    }
}

/// Returns a new payment of that kind, declined at once if there is no acquirer.
pub fn opened(choice: Choice) -> Payment {
    let considered = |number| Considered {
        acquirer: AcquirerName::new(format!("acquirer-{number}")),
        eligible: number != 1,
        reason: "eligible".into(),
    };
    let new = NewPayment {
        id: TransactionId::new(Uuid::from_u128(7)),
        owner: owner(),
        order: Arc::new(order(choice)),
        fingerprint: None,
        card_fingerprint: choice.goes_further.then(card_fingerprint),
        used_token: None,
        page_token: String::from("token"),
        link: None,
        considered: (0..choice.acquirers).map(considered).collect(),
        routed: Routed { retries_declines: choice.goes_further, ..Routed::default() },
    };
    Payment::open(new, &context(START, 1)).next.expect("opening is a change")
}

fn order(choice: Choice) -> Order {
    Order {
        method: choice.method,
        amount: Money::from_cents(10_000),
        payer: payer(),
        items: Vec::new(),
        shipping_fee: None,
        splits: Vec::new(),
        utm: Utm::default(),
        postback_url: choice.postback.then(|| String::from("https://shop.example.com/hooks")),
        external_reference: None,
        metadata: BTreeMap::new(),
        terms: terms(choice),
    }
}

fn terms(choice: Choice) -> Terms {
    match choice.method {
        Method::Pix => Terms::Pix { expires_in_s: 3_600 },
        Method::Boleto => {
            Terms::Boleto(DueTerms::plain(NaiveDate::from_ymd_opt(2026, 11, 24).expect("a date")))
        }
        Method::CreditCard => {
            let number = card_number();
            let cvv = Cvv::parse("123", number.brand()).expect("a security code");
            let expiry = Expiry::new(12, 2030).expect("a month");
            let card = CardData { number, holder_name: String::from("MARIA"), expiry, cvv };
            Terms::CreditCard { card: card.masked(), installments: 1, capture: choice.capture }
        }
    }
}

fn card_number() -> CardNumber {
    CardNumber::parse("4242424242424242").expect("a card number")
}

fn card_fingerprint() -> CardFingerprint {
    CardFingerprint::of(&card_number(), Mode::Test, b"key")
}

fn payer() -> Payer {
    Payer {
        first_name: String::from("Maria"),
        last_name: String::from("Silva"),
        document: Document::parse("52998224725", DocumentType::Cpf).expect("a CPF"),
        email: String::from("maria@example.com"),
        phone: Phone::parse("11987654321").expect("a phone"),
        address: Some(Address {
            street: String::from("Rua Augusta"),
            number: String::from("100"),
            complement: None,
            neighborhood: String::from("Centro"),
            city: String::from("São Paulo"),
            state: Uf::parse("SP").expect("a state"),
            zip_code: Cep::parse("01304000").expect("a postal code"),
        }),
    }
}
