//! Requests of merchants.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use quita_actors::CreatePayment;
use quita_domain::card::{Brand, CardData, CardFingerprint, CardNumber, Cvv, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::TransactionId;
use quita_domain::link::{CardInput, PayerInput};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::{Address, Order, Payer, Purchase, Terms, Utm};
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::store::{owner, owner_of};

/// Cards of this world's payers.
pub(crate) const CARDS: [(Brand, &str); 3] = [
    (Brand::Visa, "4242424242424242"),
    (Brand::Mastercard, "5555555555554444"),
    (Brand::Elo, "6362970000457013"),
];

/// Kind of payment that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pix,
    Boleto,
    /// Card that is captured at once.
    Card,
    /// Card whose limit is held until it is captured.
    HeldCard,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Pix, Self::Boleto, Self::Card, Self::HeldCard];

    pub(crate) const fn method(self) -> Method {
        match self {
            Self::Pix => Method::Pix,
            Self::Boleto => Method::Boleto,
            Self::Card | Self::HeldCard => Method::CreditCard,
        }
    }

    fn is_card(self) -> bool {
        self.method() == Method::CreditCard
    }
}

/// Request that a merchant may repeat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// Number of the merchant.
    pub(crate) merchant: u64,
    pub(crate) number: u128,
    pub(crate) kind: Kind,
    pub(crate) cents: u64,
    /// Index of the card in [`CARDS`].
    pub(crate) card: usize,
    /// True if it carries an `Idempotency-Key`.
    pub(crate) has_key: bool,
    /// True if the merchant wants webhooks.
    pub(crate) has_postback: bool,
}

impl Request {
    pub(crate) const fn id(&self) -> TransactionId {
        TransactionId::new(Uuid::from_u128(self.number))
    }

    /// Returns the request as the edge passes it on.
    pub(crate) fn new_payment(&self, now: Timestamp) -> CreatePayment {
        let (order, card) = self.order(now);
        CreatePayment {
            id: self.id(),
            owner: owner_of(self.merchant),
            purchase: Purchase { order: Arc::new(order), card },
            fingerprint: self.has_key.then(|| format!("{:?} {}", self.kind, self.cents)),
            card_fingerprint: self.kind.is_card().then(|| fingerprint_of(self.card)),
            other_card_fingerprints: Vec::new(),
            used_token: None,
            page_token: format!("token-{}", self.number),
            link: None,
        }
    }

    fn person(&self) -> &'static Person {
        &PERSONS[usize::try_from(self.number % PERSONS.len() as u128).unwrap()]
    }

    /// Returns the receiver's address. The first merchant's receivers have hosts of their own; those of the others
    /// share some.
    fn postback_url(&self) -> String {
        match self.merchant {
            0 => format!("https://shop{}.example/hook", self.number % 3),
            merchant => format!("https://hooks{}.example/merchant{merchant}", merchant % 4),
        }
    }

    fn order(&self, now: Timestamp) -> (Order, Option<CardData>) {
        let (method, terms, card) = match self.kind {
            Kind::Pix => (Method::Pix, Terms::Pix { expires_in_s: 600 }, None),
            Kind::Boleto => {
                let due_date = now.sao_paulo_date() + TimeDelta::days(1);
                (Method::Boleto, Terms::Boleto(DueTerms::plain(due_date)), None)
            }
            Kind::Card | Kind::HeldCard => {
                let card = card(self.card, self.person());
                let capture = self.kind == Kind::Card;
                let terms = Terms::CreditCard { card: card.masked(), installments: 1, capture };
                (Method::CreditCard, terms, Some(card))
            }
        };
        let order = Order {
            method,
            amount: Money::from_cents(self.cents),
            payer: self.person().payer(),
            items: Vec::new(),
            shipping_fee: None,
            splits: Vec::new(),
            utm: Utm::default(),
            postback_url: self.has_postback.then(|| self.postback_url()),
            external_reference: None,
            metadata: BTreeMap::new(),
            terms,
        };
        (order, card)
    }
}

/// Returns the fingerprint of one of the cards, as the edge makes it.
pub(crate) fn fingerprint_of(card: usize) -> CardFingerprint {
    CardFingerprint::of(&CardNumber::parse(CARDS[card].1).unwrap(), owner().mode, b"key")
}

/// Returns one of the cards, held by this person.
fn card(card: usize, person: &Person) -> CardData {
    let number = CardNumber::parse(CARDS[card].1).unwrap();
    let cvv = Cvv::parse("123", number.brand()).unwrap();
    let holder_name = format!("{} {}", person.first_name, person.last_name).to_uppercase();
    CardData { number, holder_name, expiry: Expiry::new(12, 2030).unwrap(), cvv }
}

/// Payer of a world.
pub(crate) struct Person {
    first_name: &'static str,
    last_name: &'static str,
    document: &'static str,
    email: &'static str,
    phone: &'static str,
}

/// Payers of a world.
pub(crate) const PERSONS: [Person; 3] = [
    Person {
        first_name: "Maria",
        last_name: "Silva",
        document: "52998224725",
        email: "maria@example.com",
        phone: "11987654321",
    },
    Person {
        first_name: "Joaquim",
        last_name: "Teixeira",
        document: "11144477735",
        email: "joaquim@example.org",
        phone: "21976543210",
    },
    Person {
        first_name: "Benedita",
        last_name: "Cavalcanti",
        document: "12345678909",
        email: "benedita@example.net",
        phone: "71965432109",
    },
];

impl Person {
    /// Returns this person's input on the page of a link, in some cases with one of the cards.
    pub(crate) fn types(&self, card: Option<usize>) -> PayerInput {
        let text = |text: &str| text.to_owned();
        let name = format!("{} {}", self.first_name, self.last_name);
        let typed = |card: usize| CardInput {
            number: Secret::new(text(CARDS[card].1)),
            holder_name: Secret::new(name.to_uppercase()),
            expiry: Secret::new(text("12/30")),
            code: Secret::new(text("123")),
            installments: 1,
        };
        PayerInput {
            document: text(self.document),
            email: text(self.email),
            phone: text(self.phone),
            street: text("Rua Augusta"),
            number: text("100"),
            complement: String::new(),
            neighborhood: text("Centro"),
            city: text("São Paulo"),
            state: text("SP"),
            zip_code: text("01304000"),
            card: card.map(typed),
            name,
        }
    }

    fn payer(&self) -> Payer {
        Payer {
            first_name: self.first_name.into(),
            last_name: self.last_name.into(),
            document: Document::parse(self.document, DocumentType::Cpf).unwrap(),
            email: self.email.into(),
            phone: Phone::parse(self.phone).unwrap(),
            address: Some(Address {
                street: "Rua Augusta".into(),
                number: "100".into(),
                complement: None,
                neighborhood: "Centro".into(),
                city: "São Paulo".into(),
                state: Uf::parse("SP").unwrap(),
                zip_code: Cep::parse("01304000").unwrap(),
            }),
        }
    }

    /// Returns the texts that would identify this person, in any letter case.
    pub(crate) fn traces(&self) -> [&'static str; 5] {
        [self.first_name, self.last_name, self.document, self.email, self.phone]
    }
}
