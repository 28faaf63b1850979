//! Books of the bank.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::due_charges::Due;
use super::rules::amount;

/// Charges, Pix received and refunds.
#[derive(Default)]
pub(super) struct Books {
    pub(super) charges: BTreeMap<String, Charge>,
    pub(super) pix: BTreeMap<String, Pix>,
    /// Pix that lists lack, by their endToEndIds.
    pub(super) unlisted: BTreeSet<String>,
    count: u64,
}

/// An immediate charge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) number: u64,
    pub(super) created_ms: i64,
    pub(super) expires_s: i64,
    pub(super) debtor: Option<Value>,
    pub(super) amount_cents: i64,
    pub(super) change_by_payer: Option<i64>,
    pub(super) key: String,
    pub(super) question: Option<String>,
    pub(super) further: Option<Value>,
    pub(super) location: String,
    pub(super) status: Status,
    pub(super) revision: u64,
    /// The charge at earlier revisions.
    pub(super) earlier: Vec<Charge>,
    /// The endToEndIds of the Pix received for it.
    pub(super) pix: Vec<String>,
    /// Terms of a charge with a due date.
    pub(super) due: Option<Due>,
}

/// The status of a charge's record: an expired one stays active.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Status {
    #[default]
    Active,
    Concluded,
    RemovedByReceiver,
    RemovedByPsp,
}

/// A Pix received.
pub(super) struct Pix {
    pub(super) number: u64,
    pub(super) txid: Option<String>,
    pub(super) amount_cents: i64,
    pub(super) key: String,
    pub(super) received_ms: i64,
    pub(super) refunds: Vec<Refund>,
}

/// A refund of all or part of a Pix.
pub(super) struct Refund {
    pub(super) id: String,
    pub(super) rtr_id: String,
    pub(super) amount_cents: i64,
    pub(super) nature: &'static str,
    pub(super) description: Option<String>,
    pub(super) asked_ms: i64,
    pub(super) settled_ms: Option<i64>,
    pub(super) status: RefundStatus,
    pub(super) outcome: RefundStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefundStatus {
    Processing,
    Done,
    NotDone,
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Active => "ATIVA",
            Self::Concluded => "CONCLUIDA",
            Self::RemovedByReceiver => "REMOVIDA_PELO_USUARIO_RECEBEDOR",
            Self::RemovedByPsp => "REMOVIDA_PELO_PSP",
        }
    }
}

impl RefundStatus {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Processing => "EM_PROCESSAMENTO",
            Self::Done => "DEVOLVIDO",
            Self::NotDone => "NAO_REALIZADO",
        }
    }
}

impl Charge {
    pub(super) fn expires_ms(&self) -> i64 {
        if let Some(due) = &self.due {
            return due.expires_ms();
        }
        self.created_ms.saturating_add(self.expires_s.saturating_mul(1000))
    }
}

impl Pix {
    /// Returns the amount that was refunded or is being refunded, in cents.
    pub(super) fn given_back_cents(&self) -> i64 {
        sum(self
            .refunds
            .iter()
            .filter(|refund| refund.status != RefundStatus::NotDone)
            .map(|refund| refund.amount_cents))
    }
}

/// Account of one txid in the books; amounts in cents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Charged amount; `None` if money came without a charge.
    pub charged_cents: Option<i64>,
    /// The charge's status as the API names it, empty without a charge.
    pub status: &'static str,
    /// The receiver's key.
    pub key: String,
    /// Each Pix received: endToEndId and amount.
    pub received: Vec<(String, i64)>,
    /// Each refund that was done.
    pub refunded: Vec<Returned>,
    /// Amount of the refunds under way.
    pub processing_cents: i64,
}

/// A refund that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    /// Its Pix.
    pub end_to_end_id: String,
    /// The id that the receiver, or the bank, gave it.
    pub id: String,
    /// The amount.
    pub cents: i64,
    /// `ORIGINAL`, `MED_FRAUDE`, …
    pub nature: &'static str,
}

impl Account {
    /// Returns the total amount received.
    pub fn received_cents(&self) -> i64 {
        sum(self.received.iter().map(|(_, cents)| *cents))
    }

    /// Returns the total amount refunded.
    pub fn refunded_cents(&self) -> i64 {
        sum(self.refunded.iter().map(|refund| refund.cents))
    }

    pub(super) fn tell(&self) -> Value {
        json!({
            "charged": self.charged_cents.map(amount), "status": self.status, "key": self.key,
            "received": amount(self.received_cents()), "refunded": amount(self.refunded_cents()),
            "processing": amount(self.processing_cents),
            "pix": self.received.iter()
                .map(|(id, cents)| json!({"endToEndId": id, "amount": amount(*cents)})).collect::<Vec<_>>(),
            "refunds": self.refunded.iter().map(|refund| json!({
                "endToEndId": refund.end_to_end_id, "id": refund.id, "amount": amount(refund.cents),
                "nature": refund.nature,
            })).collect::<Vec<_>>(),
        })
    }
}

impl Books {
    pub(super) fn next_number(&mut self) -> u64 {
        self.count = self.count.saturating_add(1);
        self.count
    }

    /// Returns the account of a charge.
    pub(super) fn account(&self, txid: &str) -> Option<Account> {
        let charge = self.charges.get(txid)?;
        let mut account = Account::new(Some(charge.amount_cents), charge.status.name(), &charge.key);
        for id in &charge.pix {
            if let Some(pix) = self.pix.get(id) {
                account.add(id, pix);
            }
        }
        Some(account)
    }

    /// Returns one account for each txid. A Pix without a txid is under its endToEndId.
    pub(super) fn accounts(&self) -> BTreeMap<String, Account> {
        let mut accounts: BTreeMap<String, Account> = self
            .charges
            .iter()
            .map(|(txid, charge)| {
                (txid.clone(), Account::new(Some(charge.amount_cents), charge.status.name(), &charge.key))
            })
            .collect();
        let mut pix: Vec<_> = self.pix.iter().collect();
        pix.sort_by_key(|(_, pix)| pix.number);
        for (id, pix) in pix {
            let name = pix.txid.as_ref().unwrap_or(id);
            let account = accounts.entry(name.clone()).or_insert_with(|| Account::new(None, "", &pix.key));
            account.add(id, pix);
        }
        accounts
    }
}

impl Account {
    fn new(charged_cents: Option<i64>, status: &'static str, key: &str) -> Self {
        Self {
            charged_cents,
            status,
            key: key.to_owned(),
            received: Vec::new(),
            refunded: Vec::new(),
            processing_cents: 0,
        }
    }

    fn add(&mut self, id: &str, pix: &Pix) {
        self.received.push((id.to_owned(), pix.amount_cents));
        for refund in &pix.refunds {
            match refund.status {
                RefundStatus::Processing => {
                    self.processing_cents = self.processing_cents.saturating_add(refund.amount_cents);
                }
                RefundStatus::Done => self.refunded.push(Returned {
                    end_to_end_id: id.to_owned(),
                    id: refund.id.clone(),
                    cents: refund.amount_cents,
                    nature: refund.nature,
                }),
                RefundStatus::NotDone => {}
            }
        }
    }
}

fn sum(amounts: impl Iterator<Item = i64>) -> i64 {
    amounts.fold(0, i64::saturating_add)
}
