//! Erasing payers: of one payment, of one person, or of whatever has rested for long enough.
//!
//! No actor: the service and the command beside it do the same. Each payment is one guarded write, as any other; whoever
//! holds the payment in its memory meets that guard. Bounded steps, each of which may be the last: done again, what is
//! left is done, and what was done is not found any more.

use std::sync::Arc;

use quita_domain::audit::AuditErasure;
use quita_domain::document::Document;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::{Cursor, PaymentFilter};
use quita_domain::payment::{Erasure, Payment};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{
    AuditEraser, Clock, Ids, Listed, RestingPlace, StoreError, WholeStore, Write, WriteError, place_of,
};

/// Payments of one step.
const PAGE: usize = 100;

/// Writers that may be faster in a row before a payment is left to the next call.
const MAX_RACES: usize = 16;

/// What became of some payments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasureTally {
    /// Payments whose payer was erased, or would have been.
    pub erased: u64,
    /// Those of which that was done before.
    pub erased_before: u64,
    /// Those that are not finished, and stay as they are.
    pub not_finished: u64,
    /// Those that can't be read, or that others change all the time.
    pub left: u64,
}

impl ErasureTally {
    /// Both together.
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

/// Where the next step of a search for one person begins: among the payments of one merchant in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPlace {
    payee: (MerchantId, Mode),
    after: Option<Cursor>,
}

/// What one step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedPage<Place> {
    /// Its payments.
    pub tally: ErasureTally,
    /// Whose they are, if they are one merchant's.
    pub merchant: Option<MerchantId>,
    /// Where the next one begins; `None` after the last.
    pub next: Option<Place>,
}

/// Erases payers.
#[derive(Clone)]
pub struct Eraser {
    store: Arc<dyn WholeStore>,
    audit: Arc<dyn AuditEraser>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// A payment that was paid so long ago is finished.
    paid_for_ms: u64,
    changes_nothing: bool,
}

impl Eraser {
    /// Of payments in this store, and of what its audit log says of them. Those are finished that were paid so many
    /// milliseconds ago.
    pub fn new(
        (store, audit): (Arc<dyn WholeStore>, Arc<dyn AuditEraser>),
        (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>),
        paid_for_ms: u64,
    ) -> Self {
        Self { store, audit, clock, ids, paid_for_ms, changes_nothing: false }
    }

    /// The same, that only counts.
    #[must_use]
    pub fn that_only_counts(self) -> Self {
        Self { changes_nothing: true, ..self }
    }

    /// Erases the payer of one payment. `None` if there is no such payment.
    ///
    /// # Errors
    /// [`StoreError`]; it may be done or not, and may be tried again.
    pub async fn erase(&self, id: TransactionId) -> Result<Option<(MerchantId, ErasureTally)>, StoreError> {
        let Some(payment) = self.store.load(&[id]).await?.pop() else { return Ok(None) };
        let merchant = payment.owner.merchant.clone();
        Ok(Some((merchant, self.erase_all(vec![payment]).await?)))
    }

    /// Erases one person from some of the payments with this document: of every merchant, in both modes, one after the
    /// other.
    ///
    /// # Errors
    /// [`StoreError`]; some of them may be done.
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

    /// Erases the payers of some of the payments of this status that have rested for so many milliseconds.
    ///
    /// # Errors
    /// [`StoreError`]; some of them may be done.
    pub async fn erase_page_of_resting(
        &self,
        status: Status,
        rested_for_ms: u64,
        after: Option<RestingPlace>,
    ) -> Result<ErasedPage<RestingPlace>, StoreError> {
        let found = self.store.resting(status, self.rests_until(status, rested_for_ms), after, PAGE).await?;
        let next = found.last().filter(|_| found.len() == PAGE).copied();
        let ids: Vec<_> = found.iter().map(|place| place.id).collect();
        let tally = match self.store.load(&ids).await {
            Ok(payments) => self.erase_all(payments).await?,
            Err(StoreError::Unreadable(_)) => self.erase_readable(&ids).await?,
            Err(error) => return Err(error),
        };
        Ok(ErasedPage { tally, merchant: None, next })
    }

    /// Whether any payment of this status has rested for so many milliseconds.
    ///
    /// # Errors
    /// [`StoreError`], if that can't be told.
    pub async fn has_resting(&self, status: Status, rested_for_ms: u64) -> Result<bool, StoreError> {
        let until = self.rests_until(status, rested_for_ms);
        Ok(!self.store.resting(status, until, None, 1).await?.is_empty())
    }

    /// What payments were before they were erased is taken out of the store's files, as far as the store decides that.
    ///
    /// # Errors
    /// [`StoreError`]; it may be done again.
    pub async fn forget_replaced(&self) -> Result<(), StoreError> {
        if self.changes_nothing { Ok(()) } else { self.store.forget_replaced().await }
    }

    /// Of what was paid nothing is looked at that is not finished anyway.
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

    /// One after the other, so that one that can't be read keeps no others.
    async fn erase_readable(&self, ids: &[TransactionId]) -> Result<ErasureTally, StoreError> {
        let mut tally = ErasureTally::default();
        for id in ids {
            tally = tally.plus(match self.store.load(&[*id]).await {
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

    /// Erases them in one batch; those that others changed meanwhile are read and tried again.
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
            payments = self.store.load(&raced).await?;
        }
        tally.left = tally.left.saturating_add(count(payments.len()));
        Ok(tally)
    }

    /// What is kept of payments outside of their own documents goes first: a payment whose payer was erased is found by
    /// nobody who looks for what is left. That is what entries of the audit log tell of them.
    async fn erase_beside(&self, payments: &[TransactionId]) -> Result<(), StoreError> {
        let subjects = payments.iter().map(ToString::to_string).collect();
        self.audit.erase(&AuditErasure::ContentOf(subjects)).await.map(|_| ())
    }

    /// What is to be written; what stays as it is, is counted.
    fn decide(&self, payments: &[Payment], tally: &mut ErasureTally) -> Vec<Write> {
        let now = self.clock.now();
        let mut writes = Vec::new();
        for payment in payments {
            match payment.erase_payer(now.minus_ms(self.paid_for_ms), (now, self.ids.fresh())) {
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

    /// Makes the writes, and tells for which somebody was faster.
    async fn write(
        &self,
        writes: &[Write],
        tally: &mut ErasureTally,
    ) -> Result<Vec<TransactionId>, StoreError> {
        let mut raced = Vec::new();
        for (write, outcome) in writes.iter().zip(self.store.commit(writes).await) {
            match outcome {
                Ok(()) => tally.erased = tally.erased.saturating_add(1),
                Err(WriteError::Conflict) => raced.push(write.payment.id),
                Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => return Err(error),
            }
        }
        Ok(raced)
    }
}

/// A person's payments at one merchant.
fn of_payer(merchant: MerchantId, mode: Mode, document: &Document) -> PaymentFilter {
    PaymentFilter {
        merchant,
        mode,
        statuses: Vec::new(),
        method: None,
        document: Some(document.as_str().to_owned()),
        email: None,
        external_reference: None,
        id: None,
        amount: None,
        created_from: None,
        created_to: None,
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
