//! The merchant's order: the parts of a payment that never change.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::card::{CardData, MaskedCard};
use crate::document::{Document, DocumentType};
use crate::due_terms::DueTerms;
use crate::method::Method;
use crate::money::Money;
use crate::phone::Phone;
use crate::postal::{Cep, Uf};

/// Mask of an erased text.
pub(crate) const ERASED: &str = "***";

/// Mask of an erased e-mail address.
const ERASED_EMAIL: &str = "***@***";

/// A valid creation request. Contains no card number and no security code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Payment method.
    pub method: Method,
    /// Amount to be paid.
    pub amount: Money,
    /// The payer.
    pub payer: Payer,
    /// Items of the purchase. Their prices need not add up to the amount.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// The fee for shipping, if it was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping_fee: Option<Money>,
    /// Shares of recipients. The rest belongs to the merchant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<Split>,
    /// Campaign parameters.
    #[serde(default, skip_serializing_if = "Utm::is_empty")]
    pub utm: Utm,
    /// URL that receives status changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postback_url: Option<String>,
    /// The merchant's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_reference: Option<String>,
    /// The merchant's own notes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Terms of the method.
    pub terms: Terms,
}

/// Terms that depend on the method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Terms {
    /// PIX.
    #[serde(rename_all = "camelCase")]
    Pix {
        /// Time for which the code may be paid, in seconds from the creation.
        expires_in_s: u64,
    },
    /// PIX with a due date.
    DuePix(DueTerms),
    /// Boleto.
    Boleto(DueTerms),
    /// Credit card.
    #[serde(rename_all = "camelCase")]
    CreditCard {
        /// Masked card data.
        card: MaskedCard,
        /// Number of instalments, from 1.
        installments: u8,
        /// True if an authorisation is captured at once.
        capture: bool,
    },
}

impl Terms {
    /// Returns the number of instalments; only a card has them.
    pub const fn installments(&self) -> Option<u8> {
        match self {
            Self::CreditCard { installments, .. } => Some(*installments),
            Self::Pix { .. } | Self::DuePix(_) | Self::Boleto(_) => None,
        }
    }

    /// Returns the terms of a charge with a due date.
    pub const fn due(&self) -> Option<&DueTerms> {
        match self {
            Self::DuePix(due) | Self::Boleto(due) => Some(due),
            Self::Pix { .. } | Self::CreditCard { .. } => None,
        }
    }

    /// Returns the masked card, if it is paid by card.
    pub const fn card(&self) -> Option<&MaskedCard> {
        match self {
            Self::CreditCard { card, .. } => Some(card),
            Self::Pix { .. } | Self::DuePix(_) | Self::Boleto(_) => None,
        }
    }
}

impl Order {
    /// Returns the number of instalments; only a card has them.
    pub const fn installments(&self) -> Option<u8> {
        self.terms.installments()
    }

    /// Returns the masked card, if it is paid by card.
    pub const fn card(&self) -> Option<&MaskedCard> {
        self.terms.card()
    }

    /// Returns true if an authorisation is captured at once. Only for a card can this be false.
    pub const fn captures_at_once(&self) -> bool {
        match &self.terms {
            Terms::CreditCard { capture, .. } => *capture,
            Terms::Pix { .. } | Terms::DuePix(_) | Terms::Boleto(_) => true,
        }
    }
}

/// The person or company that pays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payer {
    /// Given name, trimmed.
    pub first_name: String,
    /// Family name, trimmed.
    pub last_name: String,
    /// CPF or CNPJ.
    pub document: Document,
    /// E-mail address.
    pub email: String,
    /// Telephone, digits only.
    pub phone: Phone,
    /// Postal address. Absent if a payment link did not ask for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

impl Payer {
    /// Returns a payer that consists of masks. Only the kind of the document is kept.
    pub fn erased(kind: DocumentType) -> Self {
        Self {
            first_name: ERASED.into(),
            last_name: ERASED.into(),
            document: Document::erased(kind),
            email: ERASED_EMAIL.into(),
            phone: Phone::erased(),
            address: Some(Address::erased()),
        }
    }

    /// Returns first and last name with a blank between.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }

    /// Returns the e-mail address, masked for display: `m***@example.com`.
    pub fn masked_email(&self) -> String {
        if self.email == ERASED_EMAIL {
            return self.email.clone();
        }
        let (name, host) = self.email.split_once('@').unwrap_or_default();
        let first: String = name.chars().take(1).collect();
        format!("{first}***@{host}")
    }
}

/// A Brazilian address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// Street (logradouro).
    pub street: String,
    /// House number; may hold letters, `S/N` too.
    pub number: String,
    /// Flat, block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complement: Option<String>,
    /// Neighbourhood (bairro).
    pub neighborhood: String,
    /// City.
    pub city: String,
    /// State.
    pub state: Uf,
    /// Postal code.
    pub zip_code: Cep,
}

impl Address {
    /// Returns the masks of an erased address.
    fn erased() -> Self {
        let text = || String::from(ERASED);
        Self {
            street: text(),
            number: text(),
            complement: None,
            neighborhood: text(),
            city: text(),
            state: Uf::ERASED,
            zip_code: Cep::erased(),
        }
    }
}

/// One line of the purchase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// The merchant's id of the product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    /// Its name.
    pub name: String,
    /// Quantity, from 1.
    pub quantity: u64,
    /// Price of one.
    pub price: Money,
}

impl Item {
    /// Returns the price of all.
    pub const fn total(&self) -> Money {
        self.price.times(self.quantity)
    }
}

/// The share of one recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Split {
    /// The recipient.
    pub recipient_id: String,
    /// Size of the share.
    pub share: Share,
}

/// Size of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Share {
    /// A fixed amount.
    Amount(Money),
    /// Hundredths of a percent: 12.5 % is 1250.
    BasisPoints(u32),
}

impl Share {
    /// Returns the share of `whole`, rounded down to a cent.
    pub fn of(self, whole: Money) -> Money {
        match self {
            Self::Amount(amount) => amount,
            Self::BasisPoints(points) => {
                let cents = u128::from(whole.cents()) * u128::from(points) / 10_000;
                Money::from_cents(u64::try_from(cents).unwrap_or(u64::MAX))
            }
        }
    }
}

/// Campaign parameters, as they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Utm {
    /// `UTMSource`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `UTMMedium`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<String>,
    /// `UTMCampaign`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<String>,
    /// `UTMTerm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
    /// `UTMContent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl Utm {
    /// Returns true if none was supplied.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// An order together with the card that pays it. The card goes to the acquirer and nowhere else.
#[derive(Debug)]
pub struct Purchase {
    /// The order. Shared, because it is large and moves from the request into the payment.
    pub order: Arc<Order>,
    /// Number and security code, for a card payment.
    pub card: Option<CardData>,
}
