//! Payment links: offers with an address through which payers begin payments.
//!
//! A payment is the source of truth about itself. The uses of a link are counted in its payments. The link holds only
//! the uses taken for payments that may not be stored yet.

mod card_input;
mod creation;
mod installments;
mod specimen;

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::document::{Document, DocumentType};
use crate::due_terms::{Discount, Interest, Portion};
use crate::identity::{LinkId, MerchantId, Mode, Owner, TransactionId};
use crate::listing::Cursor;
use crate::method::Method;
use crate::money::Money;
use crate::order::{Address, Item, Split, Utm};
use crate::phone::Phone;
use crate::status::Status;
use crate::time::Timestamp;

pub use card_input::CardInput;
pub use creation::PayerInput;
pub use installments::InstallmentPlan;

/// Minimum time for which a PIX of a link can be paid. A link that ends sooner counts as expired.
pub const LEAST_TIME_TO_PAY_MS: u64 = 60_000;

/// Time after which a taken use becomes free again if its payment was not stored.
const TAKEN_FOR_MS: u64 = 120_000;

/// Time after which no payment is stored for a taken use: long before the use is free again.
pub const STORED_WITHIN_MS: u64 = TAKEN_FOR_MS / 2;

/// Maximum number of closing keys that a link keeps: the newest ones.
const MAX_CLOSING_KEYS: usize = 20;

/// Maximum number of uses taken at once for payments that are not stored yet.
const MAX_TAKEN: usize = 50;

/// A payment link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// Its id.
    pub id: LinkId,
    /// Number of writes so far: the guard that lets only one writer win.
    pub revision: u64,
    /// Its owner, and that of its payments.
    pub owner: Owner,
    /// Keyed hash of the request, if it came with an `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The offer.
    pub offer: Offer,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which it expires.
    pub expires_at: Timestamp,
    /// Time at which it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// Keys under which it was closed, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closings: Vec<KeyedClosing>,
    /// Uses that were taken for payments which may not be stored yet, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<TakenUse>,
}

/// An `Idempotency-Key` under which a link was closed, with the options of that request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyedClosing {
    /// The key, as it was sent.
    pub key: String,
    /// True if waiting payments are cancelled too.
    pub cancel_pending: bool,
}

/// An offer, as requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// Title.
    pub title: String,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Amount of each payment.
    pub amount: Money,
    /// Methods, in the order of [`Method::ALL`].
    pub methods: Vec<Method>,
    /// Largest number of instalments of a card payment.
    pub max_installments: u8,
    /// Number of payments.
    pub uses: u32,
    /// Parts of the payer that are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<KnownPayer>,
    /// URL that is offered once a payment is paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_url: Option<String>,
    /// Due date of its payments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<LinkDue>,
    /// Terms of that due date.
    #[serde(default, skip_serializing_if = "LinkTerms::is_empty")]
    pub terms: LinkTerms,
    /// Items of the purchase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// The fee for shipping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping_fee: Option<Money>,
    /// Shares of recipients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<Split>,
    /// Campaign parameters.
    #[serde(default, skip_serializing_if = "Utm::is_empty")]
    pub utm: Utm,
    /// URL that receives status changes of its payments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postback_url: Option<String>,
    /// The merchant's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_reference: Option<String>,
    /// The merchant's own notes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// Due date of a link's payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LinkDue {
    /// One day for all of them.
    On(NaiveDate),
    /// Days from the one on which a payment begins.
    InDays(u16),
}

impl LinkDue {
    /// Returns the due date of a payment that begins today.
    pub fn date(self, today: NaiveDate) -> NaiveDate {
        match self {
            Self::On(date) => date,
            Self::InDays(days) => today.checked_add_days(Days::new(days.into())).unwrap_or(today),
        }
    }
}

/// Terms of a due date, as requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkTerms {
    /// Calendar days after the due date on which a charge may be paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payable_after_due_days: Option<u16>,
    /// Added once if it is paid late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine: Option<Portion>,
    /// Added for each day by which it is paid late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interest: Option<Interest>,
    /// Discounts for early payment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<Discount>,
    /// Texts that a slip shows to its payer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<String>,
}

impl LinkTerms {
    /// Returns true if none was requested.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Parts of a payer that a merchant knows. Payers can't change them, and see them masked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownPayer {
    /// Given name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    /// Family name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    /// CPF or CNPJ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// E-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Telephone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<Phone>,
    /// Postal address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// A use that was taken for a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenUse {
    /// The payment, whose id is fixed before it is stored.
    pub payment: TransactionId,
    /// Method of the payment. If absent, the use counts as a boleto's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Time at which the use is free again, if the payment is not stored by then.
    pub until: Timestamp,
}

/// Uses that were taken for payments which are not stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnstoredUses {
    /// Number of all of them.
    pub all: u64,
    /// Number of those for boletos.
    pub boletos: u64,
}

/// State of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkStatus {
    /// Payments can begin.
    Open,
    /// All uses are paid.
    Paid,
    /// Its time is over.
    Expired,
    /// Its merchant closed it.
    Closed,
}

impl LinkStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Open, Self::Paid, Self::Expired, Self::Closed];

    /// Returns the API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paid => "paid",
            Self::Expired => "expired",
            Self::Closed => "closed",
        }
    }

    /// Reads the API's spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// Uses of a link, counted in its payments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkUses {
    /// Payments that were ever paid. A refund does not lower it.
    pub paid: u64,
    /// Other payments that hold a use.
    pub held: u64,
    /// Boletos among those.
    pub held_by_boletos: u64,
}

impl LinkUses {
    /// Counts payments of one kind.
    pub fn count(&mut self, method: Method, status: Status, was_paid: bool, number: u64) {
        if was_paid {
            self.paid = self.paid.saturating_add(number);
        } else if holds_a_use(status) {
            self.held = self.held.saturating_add(number);
            if method == Method::Boleto {
                self.held_by_boletos = self.held_by_boletos.saturating_add(number);
            }
        }
    }
}

/// Returns true if an unpaid payment in this status holds a use of its link.
pub const fn holds_a_use(status: Status) -> bool {
    match status {
        Status::Initial
        | Status::Pending
        | Status::Approved
        | Status::Paid
        | Status::Refund
        | Status::Chargeback => true,
        Status::Declined | Status::Expired | Status::Cancelled => false,
    }
}

/// Reason why no payment can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoUse {
    /// The link is paid, expired or closed.
    Over(LinkStatus),
    /// Every use is held.
    AllHeld,
    /// Payments that may wait for days already hold their half of the remaining uses.
    BoletosHeld,
    /// Too many payments are being created at this moment.
    Crowded,
}

impl Link {
    /// Returns the cursor for its position in a list.
    pub const fn place(&self) -> Cursor {
        Cursor { created_at: self.created_at, id: TransactionId::new(self.id.uuid()) }
    }

    /// Returns its status. Paid takes precedence over closed, and closed over expired.
    pub fn status(&self, uses: &LinkUses, now: Timestamp) -> LinkStatus {
        if uses.paid >= self.offer.uses.into() {
            LinkStatus::Paid
        } else if self.closed_at.is_some() {
            LinkStatus::Closed
        } else if now.plus_ms(LEAST_TIME_TO_PAY_MS) > self.expires_at {
            LinkStatus::Expired
        } else {
            LinkStatus::Open
        }
    }

    /// Closes the link; `None` if that changes nothing.
    pub fn close(&self, uses: &LinkUses, now: Timestamp) -> Option<Self> {
        match self.status(uses, now) {
            LinkStatus::Open => {
                Some(Self { closed_at: Some(now), revision: self.revision.saturating_add(1), ..self.clone() })
            }
            LinkStatus::Paid | LinkStatus::Expired | LinkStatus::Closed => None,
        }
    }

    /// Returns the earlier closing under this key.
    pub fn closing_of(&self, key: &str) -> Option<&KeyedClosing> {
        self.closings.iter().find(|known| known.key == key)
    }

    /// Returns the link with the key of its closing recorded.
    #[must_use]
    pub fn with_closing(&self, closing: KeyedClosing) -> Self {
        let surplus = self.closings.len().saturating_add(1).saturating_sub(MAX_CLOSING_KEYS);
        let closings = self.closings.iter().skip(surplus).cloned().chain([closing]).collect();
        Self { closings, revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// Returns the payments whose taken uses are not free again, each with true if it may be a boleto.
    pub fn taken_at(&self, now: Timestamp) -> BTreeMap<TransactionId, bool> {
        let mut found = BTreeMap::new();
        for taken in self.taken.iter().filter(|taken| taken.until > now) {
            let may_be_boleto = found.entry(taken.payment).or_default();
            *may_be_boleto |= taken.method.is_none_or(|method| method == Method::Boleto);
        }
        found
    }

    /// Takes a use for a payment. `uses` are those of stored payments, `unstored` the taken ones whose payment is not
    /// stored. Both must be read after this link. Payments that may wait for days, which are boletos and PIX with a due
    /// date, take at most half of the remaining uses.
    ///
    /// # Errors
    /// [`NoUse`] if no use can be taken.
    pub fn take(
        &self,
        payment: TransactionId,
        method: Method,
        uses: &LinkUses,
        unstored: UnstoredUses,
        now: Timestamp,
    ) -> Result<Self, NoUse> {
        match self.status(uses, now) {
            LinkStatus::Open => {}
            over @ (LinkStatus::Paid | LinkStatus::Expired | LinkStatus::Closed) => {
                return Err(NoUse::Over(over));
            }
        }
        let unpaid = u64::from(self.offer.uses).saturating_sub(uses.paid);
        let held = uses.held.saturating_add(unstored.all);
        if held >= unpaid {
            return Err(NoUse::AllHeld);
        }
        let all_last = self.offer.due.is_some();
        let is_long = match method {
            Method::Pix => all_last,
            Method::Boleto => true,
            Method::CreditCard => false,
        };
        let held_long = if all_last { held } else { uses.held_by_boletos.saturating_add(unstored.boletos) };
        // At least one: otherwise the last use of a link could never be taken by a boleto.
        if is_long && self.offer.uses > 1 && held_long >= (unpaid / 2).max(1) {
            return Err(NoUse::BoletosHeld);
        }
        let mut taken: Vec<_> = self.taken.iter().copied().filter(|taken| taken.until > now).collect();
        if taken.len() >= MAX_TAKEN {
            return Err(NoUse::Crowded);
        }
        taken.push(TakenUse { payment, method: Some(method), until: now.plus_ms(TAKEN_FOR_MS) });
        Ok(Self { taken, revision: self.revision.saturating_add(1), ..self.clone() })
    }

    /// Removes one taken use whose payment its taker did not store; `None` if there is none. Another taker may be
    /// storing the same payment, and keeps its own entry.
    pub fn release(&self, payment: TransactionId, method: Method) -> Option<Self> {
        let is_own = |taken: &TakenUse| (taken.payment, taken.method) == (payment, Some(method));
        let place = self.taken.iter().position(is_own)?;
        let mut taken = self.taken.clone();
        taken.remove(place);
        Some(Self { taken, revision: self.revision.saturating_add(1), ..self.clone() })
    }

    /// Removes all taken uses of a payment that is stored; `None` if there are none.
    pub fn settle(&self, payment: TransactionId) -> Option<Self> {
        let taken: Vec<_> = self.taken.iter().copied().filter(|taken| taken.payment != payment).collect();
        (taken.len() < self.taken.len()).then(|| Self {
            taken,
            revision: self.revision.saturating_add(1),
            ..self.clone()
        })
    }

    /// Returns the time from which the payer that its merchant entered may be erased; `None` if there is none.
    pub fn customer_until(&self) -> Option<Timestamp> {
        self.offer.customer.as_ref()?;
        Some(self.closed_at.map_or(self.expires_at, |closed_at| closed_at.min(self.expires_at)))
    }

    /// Returns the link without the payer that its merchant entered.
    #[must_use]
    pub fn without_customer(&self) -> Self {
        let offer = Offer { customer: None, ..self.offer.clone() };
        Self { offer, revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// Returns the name of the payer that its merchant entered, if it is complete: both parts, or a company's only one.
    pub fn customer_name(&self) -> Option<(&str, Option<&str>)> {
        let known = self.offer.customer.as_ref()?;
        let first = known.first_name.as_deref()?;
        let is_company =
            known.document.as_ref().is_some_and(|document| document.kind() == DocumentType::Cnpj);
        (is_company || known.last_name.is_some()).then_some((first, known.last_name.as_deref()))
    }

    /// Returns the document of the payer that its merchant entered.
    pub fn customer_document(&self) -> Option<&Document> {
        self.offer.customer.as_ref()?.document.as_ref()
    }

    /// Returns true if the link was made for one payment.
    pub const fn is_for_one(&self) -> bool {
        self.offer.uses == 1
    }
}

/// Filter of links. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkFilter {
    /// Their merchant.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// The merchant's own id.
    pub external_reference: Option<String>,
}

#[cfg(test)]
mod tests;
