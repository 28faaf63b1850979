//! One payment as a single thing that does one step after the other: what each answer may say.

use std::collections::BTreeSet;

use serde_json::Value;

/// Contents of a record that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct View {
    pub(crate) status: String,
    pub(crate) version: u64,
    pub(crate) captured: Option<u64>,
    pub(crate) refunded: u64,
    /// Id, cents, and whether the payer has them.
    pub(crate) refunds: Vec<(String, u64, bool)>,
}

impl View {
    /// Reads a record as the API shows it.
    pub(crate) fn of(record: &Value) -> Self {
        let refunds = record["refunds"].as_array().unwrap().iter().map(|refund| {
            let id = refund["refundId"].as_str().unwrap().to_owned();
            (id, cents(&refund["amount"]), refund["status"] == "succeeded")
        });
        Self {
            status: record["status"].as_str().unwrap().to_owned(),
            version: record["version"].as_u64().unwrap(),
            captured: record["capturedAmount"].as_str().map(|_| cents(&record["capturedAmount"])),
            refunded: cents(&record["refundedAmount"]),
            refunds: refunds.collect(),
        }
    }
}

/// `"100.27"` as 10027.
pub(crate) fn cents(amount: &Value) -> u64 {
    amount.as_str().unwrap().replace('.', "").parse().unwrap()
}

/// One step of an operation. Steps of one operation happen in their order, between its call and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The payment came to be, or was there before.
    Create { replayed: bool },
    /// Its record was shown.
    See(View),
    /// It was withdrawn.
    Cancel,
    /// It was charged.
    Capture(u64),
    /// A refund began; without an id its answer was lost.
    Refund { id: Option<String>, amount: Option<u64>, key: Option<u8> },
    /// A refund that had begun under this key was reported again.
    RefundAgain { id: String, key: u8 },
    /// So much is not left (all that is left, when absent).
    TooMuch(Option<u64>),
    /// The status did not allow it.
    Refused { requested: RequestedOperation, status: String },
    /// The acquirer told something.
    Notice(RequestedOperation),
}

/// Operation that the status allows or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedOperation {
    Cancel,
    Capture,
    Refund,
    Pay,
    Expire,
    Chargeback,
}

impl RequestedOperation {
    fn is_allowed(self, status: &str) -> bool {
        let statuses: &[&str] = match self {
            Self::Cancel => &["pending", "approved"],
            Self::Capture => &["approved"],
            Self::Refund => &["paid"],
            Self::Pay => &["pending", "approved", "expired", "cancelled", "chargeback"],
            Self::Expire => &["pending"],
            Self::Chargeback => &["approved", "paid"],
        };
        statuses.contains(&status)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Refund {
    id: Option<String>,
    amount: u64,
    key: Option<u8>,
}

/// A payment between two steps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Model {
    /// Status after the creation: `pending` or `approved`.
    begins_as: &'static str,
    total: u64,
    status: Option<String>,
    version: u64,
    captured: Option<u64>,
    refunds: Vec<Refund>,
    /// Refunds that were seen to have succeeded.
    succeeded: BTreeSet<String>,
}

impl Model {
    /// Before it was created.
    pub(crate) fn new(begins_as: &'static str, total: u64) -> Self {
        let status = None;
        let captured = None;
        Self {
            begins_as,
            total,
            status,
            version: 0,
            captured,
            refunds: Vec::new(),
            succeeded: BTreeSet::new(),
        }
    }

    /// Returns the payments that may follow from a step; none if the step can't happen now.
    pub(crate) fn after(&self, step: &Step) -> Vec<Self> {
        let whole = self.clone().step(step);
        let refunded = self.all_refunded().and_then(|refunded| refunded.step(step));
        whole.into_iter().chain(refunded).collect()
    }

    /// Refunds succeed by themselves: the last one makes a payment `refund`.
    fn all_refunded(&self) -> Option<Self> {
        let may_become = matches!(self.status.as_deref(), Some("paid" | "chargeback"));
        let is_all = self.captured.is_some_and(|captured| captured > 0 && self.left() == 0);
        (may_become && is_all).then(|| Self { status: Some("refund".into()), ..self.clone() })
    }

    fn left(&self) -> u64 {
        let taken: u64 = self.refunds.iter().map(|refund| refund.amount).sum();
        self.captured.unwrap_or(0).checked_sub(taken).unwrap()
    }

    fn is(&self, status: &str) -> bool {
        self.status.as_deref() == Some(status)
    }

    fn step(mut self, step: &Step) -> Option<Self> {
        match step {
            Step::Create { replayed } => {
                (self.status.is_some() == *replayed).then_some(())?;
                self.status.get_or_insert_with(|| self.begins_as.to_owned());
            }
            Step::See(view) => self.see(view)?,
            Step::Cancel => self.become_one_of(RequestedOperation::Cancel, "cancelled")?,
            Step::Capture(amount) => {
                self.become_one_of(RequestedOperation::Capture, "paid")?;
                self.captured = Some(*amount);
            }
            Step::Refund { id, amount, key } => self.refund(id.as_ref(), *amount, *key)?,
            Step::RefundAgain { id, key } => {
                let refund = self.refunds.iter_mut().find(|refund| refund.key == Some(*key))?;
                (refund.id.get_or_insert_with(|| id.clone()) == id).then_some(())?;
            }
            Step::TooMuch(amount) => {
                let left = self.left();
                (self.is("paid") && amount.map_or(left == 0, |amount| amount > left)).then_some(())?;
            }
            Step::Refused { requested, status } => {
                (self.is(status) && !requested.is_allowed(status)).then_some(())?
            }
            Step::Notice(requested) => self.learn(*requested)?,
        }
        Some(self)
    }

    fn become_one_of(&mut self, requested: RequestedOperation, next: &str) -> Option<()> {
        requested.is_allowed(self.status.as_deref()?).then_some(())?;
        self.status = Some(next.to_owned());
        Some(())
    }

    fn refund(&mut self, id: Option<&String>, amount: Option<u64>, key: Option<u8>) -> Option<()> {
        let amount = amount.unwrap_or_else(|| self.left());
        let is_new = key.is_none() || self.refunds.iter().all(|refund| refund.key != key);
        let is_other = id.is_none() || self.refunds.iter().all(|refund| refund.id.as_ref() != id);
        let fits = self.is("paid") && 0 < amount && amount <= self.left();
        (is_new && is_other && fits).then_some(())?;
        self.refunds.push(Refund { id: id.cloned(), amount, key });
        Some(())
    }

    fn learn(&mut self, requested: RequestedOperation) -> Option<()> {
        match requested {
            RequestedOperation::Pay => {
                let settles = !self.is("chargeback");
                self.become_one_of(requested, "paid")?;
                if settles {
                    self.captured = Some(self.total);
                }
            }
            RequestedOperation::Expire => self.become_one_of(requested, "expired")?,
            RequestedOperation::Chargeback => self.become_one_of(requested, "chargeback")?,
            RequestedOperation::Cancel | RequestedOperation::Capture | RequestedOperation::Refund => {
                return None;
            }
        }
        Some(())
    }

    /// A record shows exactly this, and never an earlier version than a record before it.
    fn see(&mut self, view: &View) -> Option<()> {
        let is_same = self.is(&view.status) && view.captured == self.captured && view.version >= self.version;
        let succeeded: BTreeSet<_> =
            view.refunds.iter().filter(|refund| refund.2).map(|refund| &refund.0).collect();
        let total: u64 = view.refunds.iter().filter(|refund| refund.2).map(|refund| refund.1).sum();
        let is_all = view.status != "refund" || Some(view.refunded) == view.captured;
        let stay = self.succeeded.iter().all(|id| succeeded.contains(id));
        (is_same && is_all && stay && total == view.refunded && self.has_refunds_of(view)).then_some(())?;
        self.version = view.version;
        self.succeeded = succeeded.into_iter().cloned().collect();
        Some(())
    }

    /// Every refund is shown once, those whose answer was lost under some id.
    fn has_refunds_of(&self, view: &View) -> bool {
        let named = |id: &String| self.refunds.iter().find(|refund| refund.id.as_ref() == Some(id));
        let known = view.refunds.iter().filter(|(id, ..)| named(id).is_some());
        let agree =
            known.clone().all(|(id, amount, _)| named(id).is_some_and(|refund| refund.amount == *amount));
        let sorted = |mut amounts: Vec<u64>| {
            amounts.sort_unstable();
            amounts
        };
        let shown = view.refunds.iter().filter(|(id, ..)| named(id).is_none()).map(|(_, amount, _)| *amount);
        let nameless = self.refunds.iter().filter(|refund| refund.id.is_none()).map(|refund| refund.amount);
        let are_all = known.count() == self.refunds.iter().filter(|refund| refund.id.is_some()).count();
        agree && are_all && sorted(shown.collect()) == sorted(nameless.collect())
    }
}
