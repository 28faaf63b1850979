//! Erasure of payers: in one payment, for one person, or in all payments that have rested long enough.
//!
//! Not an actor: the service and the command do the same. Each payment takes one guarded write, like any other; an
//! actor that holds the payment in memory fails at that guard. The steps are bounded, and a run may end after any of
//! them: another run does the rest, and no longer finds the payments that are done.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_domain::audit::AuditErasure;
use quita_domain::document::Document;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::link::{Link, LinkStatus};
use quita_domain::listing::{Cursor, PaymentFilter};
use quita_domain::payment::{Erasure, Payment};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{
    AuditEraser, Clock, Ids, Listed, RestingPlace, StoreError, WholeStore, Write, WriteError, place_of,
};

/// Payments in one step.
const PAGE: usize = 100;

/// Links of one document whose time has not passed, among which the paid ones are looked for.
const MOST_RUNNING_LINKS: usize = 10_000;

/// Lost races in a row after which a payment is left to the next call.
const MAX_RACES: usize = 16;

/// Result of erasing payers from some payments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasureTally {
    /// Payments whose payer was erased, or would have been.
    pub erased: u64,
    /// Payments whose payer was erased before.
    pub erased_before: u64,
    /// Payments that are not finished, and stay as they are.
    pub not_finished: u64,
    /// Payments that can't be read, or that others keep changing.
    pub left: u64,
}

impl ErasureTally {
    /// Adds two tallies.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            erased: self.erased.saturating_add(other.erased),
            erased_before: self.erased_before.saturating_add(other.erased_before),
            not_finished: self.not_finished.saturating_add(other.not_finished),
            left: self.left.saturating_add(other.left),
        }
    }
}

/// Start of the next step in the search for one person: among the payments of one merchant in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPlace {
    payee: (MerchantId, Mode),
    after: Option<Cursor>,
}

/// Result of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedPage<Place> {
    /// Tally of its payments.
    pub tally: ErasureTally,
    /// Merchant of the payments, if they belong to one.
    pub merchant: Option<MerchantId>,
    /// Start of the next step; `None` after the last.
    pub next: Option<Place>,
}

/// Erases payers.
#[derive(Clone)]
pub struct Eraser {
    store: Arc<dyn WholeStore>,
    audit: Arc<dyn AuditEraser>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// Time after payment at which a payment counts as finished.
    paid_for_ms: u64,
    changes_nothing: bool,
}

impl Eraser {
    /// Erases in this store and in its audit log. A payment is finished once it was paid this many milliseconds ago.
    pub fn new(
        store: Arc<dyn WholeStore>,
        audit: Arc<dyn AuditEraser>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        paid_for_ms: u64,
    ) -> Self {
        Self { store, audit, clock, ids, paid_for_ms, changes_nothing: false }
    }

    /// Makes it only count, and change nothing.
    #[must_use]
    pub fn that_only_counts(self) -> Self {
        Self { changes_nothing: true, ..self }
    }

    /// Erases the payer of one payment. `None` if there is no such payment.
    ///
    /// # Errors
    /// [`StoreError`]; the payer may be erased or not, and the call may be repeated.
    pub async fn erase(&self, id: TransactionId) -> Result<Option<(MerchantId, ErasureTally)>, StoreError> {
        let Some(payment) = self.store.load_all(&[id]).await?.pop() else { return Ok(None) };
        let merchant = payment.owner.merchant.clone();
        Ok(Some((merchant, self.erase_all(vec![payment]).await?)))
    }

    /// Erases one person from a page of the payments with this document. The pages cover every merchant in both modes.
    ///
    /// # Errors
    /// [`StoreError`]; some payments may be done.
    pub async fn erase_page_of(
        &self,
        document: &Document,
        place: Option<DocumentPlace>,
    ) -> Result<ErasedPage<DocumentPlace>, StoreError> {
        let place = match place {
            Some(place) => place,
            None => match self.place_behind(None).await? {
                Some(place) => place,
                None => return Ok(ErasedPage { tally: ErasureTally::default(), merchant: None, next: None }),
            },
        };
        let (merchant, mode) = &place.payee;
        let found = self.store.list(&of_payer(merchant.clone(), *mode, document), place.after, PAGE).await?;
        let next = match found.last().filter(|_| found.len() == PAGE) {
            Some(last) => Some(DocumentPlace { payee: place.payee.clone(), after: Some(place_of(last)) }),
            None => self.place_behind(Some(&place.payee)).await?,
        };
        let merchant = Some(merchant.clone());
        Ok(ErasedPage { tally: self.erase_listed(found).await?, merchant, next })
    }

    /// Erases the payers that merchants entered in links, with one document or all, in links that ended at least this
    /// many milliseconds ago. A payer with one document is also erased in paid links, even if their time has not
    /// passed. Returns the number of links by merchant.
    ///
    /// # Errors
    /// [`StoreError`]; some links may be done, and the call may be repeated.
    pub async fn erase_links(
        &self,
        document: Option<&Document>,
        over_for_ms: u64,
    ) -> Result<BTreeMap<MerchantId, u64>, StoreError> {
        let until = self.clock.now().minus_ms(over_for_ms);
        let mut erased: BTreeMap<MerchantId, u64> = BTreeMap::new();
        loop {
            let found = self.store.links_with_customer(document, until, PAGE).await?;
            let mut is_stuck = true;
            for link in &found {
                // A link that another writer changed is read again with the next page.
                is_stuck &= !self.erase_link(link, &mut erased).await?;
            }
            // If no link of the page could be changed, the same page would be returned for ever.
            if found.len() < PAGE || is_stuck || self.changes_nothing {
                break;
            }
        }
        if let Some(document) = document {
            let ever = Timestamp::from_millis(i64::MAX);
            let found = self.store.links_with_customer(Some(document), ever, MOST_RUNNING_LINKS).await?;
            for link in found.iter().filter(|link| link.customer_until().is_some_and(|over| over > until)) {
                let uses = self.store.link_uses(link).await?;
                if link.status(&uses, self.clock.now()) == LinkStatus::Paid {
                    self.erase_link(link, &mut erased).await?;
                }
            }
        }
        Ok(erased)
    }

    /// Erases the payer of a link, and counts it. Returns false if another writer was faster.
    async fn erase_link(
        &self,
        link: &Link,
        erased: &mut BTreeMap<MerchantId, u64>,
    ) -> Result<bool, StoreError> {
        let is_done = self.changes_nothing || self.store.replace_link(&link.without_customer()).await?;
        if is_done {
            let count = erased.entry(link.owner.merchant.clone()).or_default();
            *count = count.saturating_add(1);
        }
        Ok(is_done)
    }

    /// Erases the payers from a page of the payments of this status that have rested for so many milliseconds.
    ///
    /// # Errors
    /// [`StoreError`]; some payments may be done.
    pub async fn erase_page_of_resting(
        &self,
        status: Status,
        rested_for_ms: u64,
        after: Option<RestingPlace>,
    ) -> Result<ErasedPage<RestingPlace>, StoreError> {
        let found = self.store.resting(status, self.rests_until(status, rested_for_ms), after, PAGE).await?;
        let next = found.last().filter(|_| found.len() == PAGE).copied();
        let ids: Vec<_> = found.iter().map(|place| place.id).collect();
        let tally = match self.store.load_all(&ids).await {
            Ok(payments) => self.erase_all(payments).await?,
            Err(StoreError::Unreadable(_)) => self.erase_readable(&ids).await?,
            Err(error) => return Err(error),
        };
        Ok(ErasedPage { tally, merchant: None, next })
    }

    /// Returns true if any payment of this status has rested for so many milliseconds.
    ///
    /// # Errors
    /// [`StoreError`], if the store can't answer.
    pub async fn has_resting(&self, status: Status, rested_for_ms: u64) -> Result<bool, StoreError> {
        let until = self.rests_until(status, rested_for_ms);
        Ok(!self.store.resting(status, until, None, 1).await?.is_empty())
    }

    /// Removes the old states of erased payments from the store's files, as far as the store can do that.
    ///
    /// # Errors
    /// [`StoreError`]; the call may be repeated.
    pub async fn forget_replaced(&self) -> Result<(), StoreError> {
        if self.changes_nothing { Ok(()) } else { self.store.forget_replaced().await }
    }

    /// Returns the time up to which payments of this status have rested. Paid payments that are not finished anyway are
    /// left out.
    fn rests_until(&self, status: Status, rested_for_ms: u64) -> Timestamp {
        let least_ms = match status {
            Status::Paid => self.paid_for_ms,
            Status::Initial
            | Status::Pending
            | Status::Approved
            | Status::Declined
            | Status::Refund
            | Status::Chargeback
            | Status::Expired
            | Status::Cancelled => 0,
        };
        self.clock.now().minus_ms(rested_for_ms.max(least_ms))
    }

    async fn place_behind(
        &self,
        payee: Option<&(MerchantId, Mode)>,
    ) -> Result<Option<DocumentPlace>, StoreError> {
        Ok(self.store.next_payee(payee).await?.map(|payee| DocumentPlace { payee, after: None }))
    }

    async fn erase_listed(&self, found: Vec<Listed>) -> Result<ErasureTally, StoreError> {
        let listed = found.len();
        let readable: Vec<_> = found.into_iter().filter_map(Result::ok).collect();
        let left = count(listed.saturating_sub(readable.len()));
        let tally = self.erase_all(readable).await?;
        Ok(tally.plus(ErasureTally { left, ..ErasureTally::default() }))
    }

    /// Erases one payment after the other, so that an unreadable one does not stop the others.
    async fn erase_readable(&self, ids: &[TransactionId]) -> Result<ErasureTally, StoreError> {
        let mut tally = ErasureTally::default();
        for id in ids {
            tally = tally.plus(match self.store.load_all(&[*id]).await {
                Ok(payments) => self.erase_all(payments).await?,
                Err(StoreError::Unreadable(why)) => {
                    tracing::warn!(transaction.id = %id, why, "the payer of a payment can't be erased");
                    ErasureTally { left: 1, ..ErasureTally::default() }
                }
                Err(error) => return Err(error),
            });
        }
        Ok(tally)
    }

    /// Erases them in one batch. Payments that others changed in the meantime are read and tried again.
    async fn erase_all(&self, mut payments: Vec<Payment>) -> Result<ErasureTally, StoreError> {
        let mut tally = ErasureTally::default();
        for _ in 0..MAX_RACES {
            let writes = self.decide(&payments, &mut tally);
            if writes.is_empty() {
                return Ok(tally);
            }
            if self.changes_nothing {
                tally.erased = tally.erased.saturating_add(count(writes.len()));
                return Ok(tally);
            }
            let ids: Vec<_> = writes.iter().map(|write| write.payment.id).collect();
            self.erase_beside(&ids).await?;
            let raced = self.write(&writes, &mut tally).await?;
            if raced.is_empty() {
                return Ok(tally);
            }
            payments = self.store.load_all(&raced).await?;
        }
        tally.left = tally.left.saturating_add(count(payments.len()));
        Ok(tally)
    }

    /// Erases the entries of the audit log about these payments. This comes first: once the payer is erased, those
    /// entries can no longer be found.
    async fn erase_beside(&self, payments: &[TransactionId]) -> Result<(), StoreError> {
        let subjects = payments.iter().map(ToString::to_string).collect();
        self.audit.erase(&AuditErasure::ContentOf(subjects)).await.map(|_| ())
    }

    /// Returns the writes to make, and counts the payments that stay as they are.
    fn decide(&self, payments: &[Payment], tally: &mut ErasureTally) -> Vec<Write> {
        let now = self.clock.now();
        let mut writes = Vec::new();
        for payment in payments {
            match payment.erase_payer(now.minus_ms(self.paid_for_ms), now, self.ids.fresh()) {
                Erasure::Erased(erased) => {
                    let expected_revision = payment.revision;
                    writes.push(Write { payment: Arc::new(*erased), expected_revision });
                }
                Erasure::ErasedBefore => tally.erased_before = tally.erased_before.saturating_add(1),
                Erasure::NotFinished => tally.not_finished = tally.not_finished.saturating_add(1),
            }
        }
        writes
    }

    /// Makes the writes, and returns the payments for which another writer was faster.
    async fn write(
        &self,
        writes: &[Write],
        tally: &mut ErasureTally,
    ) -> Result<Vec<TransactionId>, StoreError> {
        let mut raced = Vec::new();
        for (write, outcome) in writes.iter().zip(self.store.commit(writes).await) {
            match outcome {
                Ok(()) => tally.erased = tally.erased.saturating_add(1),
                Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => {
                    raced.push(write.payment.id)
                }
                Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => return Err(error),
            }
        }
        Ok(raced)
    }
}

/// Returns a filter for a person's payments at one merchant.
fn of_payer(merchant: MerchantId, mode: Mode, document: &Document) -> PaymentFilter {
    PaymentFilter { document: Some(document.as_str().to_owned()), ..PaymentFilter::all_of(merchant, mode) }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
