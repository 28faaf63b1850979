//! The titles in the bank's books, and the payments for them.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::terms::Terms;

/// Titles by number, and the numbers that are taken.
#[derive(Default)]
pub(super) struct Books {
    pub(super) titles: BTreeMap<u64, Title>,
    count: u64,
}

/// A registered title.
pub(super) struct Title {
    pub(super) number: u64,
    pub(super) your_number: String,
    pub(super) registered_ms: i64,
    pub(super) amount_cents: u64,
    pub(super) due: NaiveDate,
    pub(super) payable_until: Option<NaiveDate>,
    pub(super) terms: Terms,
    pub(super) payer_document: String,
    /// The registration's fields.
    pub(super) fields: Map<String, Value>,
    pub(super) bar_code: String,
    pub(super) pix_code: Option<String>,
    /// True if a code was requested but could not be created.
    pub(super) pix_rejected: bool,
    pub(super) status: Status,
    pub(super) history: Vec<Line>,
    pub(super) payments: Vec<Payment>,
}

/// `situacaoBoleto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// "Em Aberto".
    Open,
    /// "Liquidado".
    Settled,
    /// "Baixado".
    WrittenOff,
}

impl Status {
    /// Returns the bank's spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "Em Aberto",
            Self::Settled => "Liquidado",
            Self::WrittenOff => "Baixado",
        }
    }

    /// Returns `codigoSituacao` in the list by payer.
    pub(super) const fn code(self) -> u64 {
        match self {
            Self::Open => 1,
            Self::WrittenOff => 2,
            Self::Settled => 3,
        }
    }
}

/// A line of `listaHistorico`.
pub(super) struct Line {
    pub(super) at_ms: i64,
    pub(super) kind: u64,
    pub(super) text: String,
}

/// A payment that a payer's bank accepted.
#[derive(Debug, Clone)]
pub(super) struct Payment {
    pub(super) id: u64,
    pub(super) on: NaiveDate,
    pub(super) cents: u64,
    pub(super) by_pix: bool,
    pub(super) accepted_ms: i64,
    pub(super) state: PaymentState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaymentState {
    /// The payer's bank accepted it, and may still take it back.
    Accepted,
    /// The money came in.
    Settled {
        /// Time of the settlement.
        at_ms: i64,
    },
    /// The payer's bank took it back.
    Cancelled,
}

/// Account of one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// `seuNumero`.
    pub your_number: String,
    /// Registered amount.
    pub amount_cents: u64,
    /// Status of the title.
    pub status: Status,
    /// Payments that came in for it.
    pub paid_cents: Vec<u64>,
}

impl Books {
    /// Returns the next number, which titles, payments and codes share.
    pub(super) fn next_number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    pub(super) fn account(&self, number: u64) -> Option<Account> {
        self.titles.get(&number).map(Title::account)
    }

    pub(super) fn accounts(&self) -> BTreeMap<u64, Account> {
        self.titles.iter().map(|(number, title)| (*number, title.account())).collect()
    }
}

impl Title {
    pub(super) fn account(&self) -> Account {
        let is_settled = |payment: &&Payment| matches!(payment.state, PaymentState::Settled { .. });
        Account {
            your_number: self.your_number.clone(),
            amount_cents: self.amount_cents,
            status: self.status,
            paid_cents: self.payments.iter().filter(is_settled).map(|payment| payment.cents).collect(),
        }
    }

    /// Returns the amount that is owed on this day.
    pub(super) fn owed_cents(&self, day: NaiveDate) -> u64 {
        self.terms.owed_cents(self.amount_cents, self.due, day)
    }
}

impl Account {
    pub(super) fn tell(&self) -> Value {
        json!({
            "yourNumber": self.your_number, "amountCents": self.amount_cents, "status": self.status.name(),
            "paidCents": self.paid_cents,
        })
    }
}
