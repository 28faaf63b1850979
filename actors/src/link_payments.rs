//! Payments of links: beginning one, and cancelling waiting ones.
//!
//! A use is taken in the link before its payment is stored, under the payment's predetermined id. Whatever happens in
//! between, the use becomes free again if the payment was not stored in time. A stored payment counts by itself.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::identity::{LinkId, OperationId, TransactionId};
use quita_domain::link::{KeyedClosing, Link, NoUse, STORED_WITHIN_MS, UnstoredUses};
use quita_domain::listing::PaymentFilter;
use quita_domain::method::Method;
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::payment::{Payment, Refusal};
use quita_domain::status::Status;
use quita_ports::{Clock, Ids, LinkStore, Listed, place_of};
use tokio::time::{Instant, sleep, timeout};

use crate::denied::Denied;
use crate::payments::Payments;
use crate::transaction::messages::LinkUse;

/// Maximum number of times a write to a link is retried because another one was faster.
const MOST_RACES: usize = 40;

/// Pause before the next attempt, in which others finish theirs.
const RACE_PAUSE: Duration = Duration::from_millis(25);

/// Maximum number of times a payment waits for another one that is about to be stored.
const MOST_WAITS: usize = 40;

/// Longest time for which closing waits for payments that are about to be stored.
const LONGEST_AWAITED: Duration = Duration::from_secs(8);

/// Longest time for cancelling the payments of a link.
const LONGEST_CANCELLING: Duration = Duration::from_secs(20);

/// Pause before payments that could not be cancelled yet are tried again.
const CANCELLING_PAUSE: Duration = Duration::from_millis(250);

/// Number of payments that the page of a link for one payment usually reads.
const NEWEST_ON_PAGE: usize = 20;

/// Statuses of payments that have been paid.
const WERE_PAID: [Status; 3] = [Status::Paid, Status::Refund, Status::Chargeback];

/// Statuses of payments that hold a use but were not paid yet.
const HOLD_THE_USE: [Status; 3] = [Status::Initial, Status::Pending, Status::Approved];

/// Number of payments listed at once for cancellation.
const CANCELLED_AT_ONCE: usize = 100;

/// Reason why a payment of a link was not created.
pub trait CreationFailure {
    /// Returns true if no payment was stored, and none will be.
    fn changed_nothing(&self) -> bool;
}

impl CreationFailure for Denied {
    fn changed_nothing(&self) -> bool {
        match self {
            // The payment may be stored after all, so its use is kept until the payment is seen or the use expires.
            Self::Interrupted
            | Self::StoreUnavailable(_)
            | Self::Defect(_)
            | Self::Refused(Refusal::OutcomeUnknown) => false,
            Self::NotFound
            | Self::Refused(_)
            | Self::KeyReused
            | Self::TokenUsed
            | Self::MethodUnavailable
            | Self::AmountNotAccepted
            | Self::ExpiryNotAccepted
            | Self::NoRoute
            | Self::Overloaded
            | Self::Stopping => true,
        }
    }
}

/// Reason why a requested payment of a link does not exist.
#[derive(Debug)]
pub enum LinkPaymentError<E> {
    /// There is no such link.
    NoLink,
    /// The link allows no payment now.
    NoUse(NoUse),
    /// No use could be taken. Nothing was created.
    NotTaken(Denied),
    /// A use was taken, but the creation failed.
    NotCreated(E),
}

impl<E> From<Denied> for LinkPaymentError<E> {
    fn from(denied: Denied) -> Self {
        Self::NotTaken(denied)
    }
}

/// Reason why a link may not be closed, or may still have open payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotClosed {
    /// There is no such link.
    NoLink,
    /// The link is closed. A payment that began before is not stored yet.
    NotStoredYet,
    /// The link is closed. Payments still wait.
    NotCancelledYet,
    /// Anything else.
    Denied(Denied),
}

impl From<Denied> for NotClosed {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

/// Service that creates and cancels payments of links. Cheap to clone.
#[derive(Clone)]
pub struct LinkPayments {
    payments: Payments,
    links: Arc<dyn LinkStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl LinkPayments {
    /// Works on the links of this store.
    pub fn new(payments: Payments, links: Arc<dyn LinkStore>) -> Self {
        let (clock, ids) = payments.clock_and_ids();
        Self { payments, links, clock, ids }
    }

    /// Begins a payment: takes a use for it, and creates it with that use. The use is released at once if the creation
    /// changed nothing, and later if the payment is not stored.
    ///
    /// # Errors
    /// [`LinkPaymentError`]. Only with [`LinkPaymentError::NotCreated`] may the payment be stored.
    pub async fn begin<T, E: CreationFailure, F: Future<Output = Result<T, E>>>(
        &self,
        link: LinkId,
        payment: TransactionId,
        method: Method,
        create: impl FnOnce(LinkUse) -> F,
    ) -> Result<T, LinkPaymentError<E>> {
        let taken_at = self.take(link, payment, method).await?;
        // A process that is suspended between the two steps must not store the payment afterwards.
        let stored_before = taken_at + Duration::from_millis(STORED_WITHIN_MS);
        let created = create(LinkUse { link, stored_before }).await;
        match &created {
            // From now on the stored payment counts by itself, and the taken use in the link would count it twice.
            Ok(_) => self.change(link, |link| link.settle(payment)).await,
            Err(failure) if failure.changed_nothing() => {
                self.change(link, |link| link.release(payment, method)).await;
            }
            Err(_) => {}
        }
        created.map_err(LinkPaymentError::NotCreated)
    }

    /// Takes a use for a payment, and returns the time at which it started to. Of concurrent callers, on any nodes, no
    /// more succeed than there are uses.
    async fn take<E>(
        &self,
        link: LinkId,
        payment: TransactionId,
        method: Method,
    ) -> Result<Instant, LinkPaymentError<E>> {
        let mut races = 0;
        let mut waits = 0;
        loop {
            // The link is read before its payments, so that a use settled in between is counted as a payment.
            let link = self.read(link).await?.ok_or(LinkPaymentError::NoLink)?;
            let (began_at, now) = (Instant::now(), self.clock.now());
            let mut unstored = UnstoredUses::default();
            for (taken, may_be_boleto) in link.taken_at(now) {
                // Its own earlier taking does not block it: the same form sent twice is one payment.
                if taken != payment && self.payments.read(taken).await?.is_none() {
                    unstored.all = unstored.all.saturating_add(1);
                    unstored.boletos = unstored.boletos.saturating_add(may_be_boleto.into());
                }
            }
            let uses = self.links.link_uses(&link).await.map_err(Denied::from)?;
            match link.take(payment, method, &uses, unstored, now) {
                Ok(taken) => {
                    if self.links.replace_link(&taken).await.map_err(Denied::from)? {
                        return Ok(began_at);
                    }
                    races += 1;
                    if races >= MOST_RACES {
                        return Err(Denied::Overloaded.into());
                    }
                }
                // The faster payment is about to be stored and can then be shown, or it never will be.
                Err(NoUse::AllHeld | NoUse::Crowded) if unstored.all > 0 && waits < MOST_WAITS => waits += 1,
                // A payment that is not stored yet could not be shown.
                Err(NoUse::AllHeld) if unstored.all > 0 => {
                    return Err(LinkPaymentError::NoUse(NoUse::Crowded));
                }
                Err(no_use) => return Err(LinkPaymentError::NoUse(no_use)),
            }
            sleep(RACE_PAUSE).await;
        }
    }

    async fn read(&self, id: LinkId) -> Result<Option<Link>, Denied> {
        Ok(self.links.link(id).await?)
    }

    /// Changes the taken uses of a link. A failure is harmless, because they expire by themselves.
    async fn change(&self, link: LinkId, change: impl Fn(&Link) -> Option<Link>) {
        for _ in 0..MOST_RACES {
            let Ok(Some(link)) = self.read(link).await else { return };
            let Some(changed) = change(&link) else { return };
            match self.links.replace_link(&changed).await {
                Ok(true) | Err(_) => return,
                Ok(false) => sleep(RACE_PAUSE).await,
            }
        }
    }

    /// Closes a link, and waits for the payments that began before. One that is paid, expired or closed stays as it is.
    ///
    /// # Errors
    /// [`NotClosed::NotStoredYet`] if one of those payments is not stored yet; the link is closed nevertheless.
    pub async fn close(&self, mut link: Link) -> Result<Link, NotClosed> {
        for _ in 0..MOST_RACES {
            let uses = self.links.link_uses(&link).await.map_err(Denied::from)?;
            let is_over = match link.close(&uses, self.clock.now()) {
                None => true,
                Some(next) => self.links.replace_link(&next).await.map_err(Denied::from)?,
            };
            if is_over {
                return self.await_taken(link.id).await;
            }
            link = self.read(link.id).await?.ok_or(NotClosed::NoLink)?;
        }
        Err(Denied::Overloaded.into())
    }

    /// Records the key of a closing in its link. Returns true if it was recorded before.
    ///
    /// # Errors
    /// [`Denied::KeyReused`] if it came with another body before.
    pub async fn note_closing(
        &self,
        mut link: Link,
        closing: &KeyedClosing,
    ) -> Result<(Link, bool), NotClosed> {
        for _ in 0..MOST_RACES {
            match link.closing_of(&closing.key) {
                Some(known) if known == closing => return Ok((link, true)),
                Some(_) => return Err(Denied::KeyReused.into()),
                None => {}
            }
            let next = link.with_closing(closing.clone());
            if self.links.replace_link(&next).await.map_err(Denied::from)? {
                return Ok((next, false));
            }
            link = self.read(link.id).await?.ok_or(NotClosed::NoLink)?;
        }
        Err(Denied::Overloaded.into())
    }

    /// Waits until each use taken before the link was closed belongs to a stored payment or is free again.
    async fn await_taken(&self, id: LinkId) -> Result<Link, NotClosed> {
        let deadline = Instant::now() + LONGEST_AWAITED;
        loop {
            let link = self.read(id).await?.ok_or(NotClosed::NoLink)?;
            if !self.has_unstored(&link).await? {
                return Ok(link);
            }
            if Instant::now() >= deadline {
                return Err(NotClosed::NotStoredYet);
            }
            sleep(RACE_PAUSE).await;
        }
    }

    async fn has_unstored(&self, link: &Link) -> Result<bool, Denied> {
        for (taken, _) in link.taken_at(self.clock.now()) {
            if self.payments.read(taken).await?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Cancels the waiting payments of a closed link until none is left.
    ///
    /// # Errors
    /// [`NotClosed::NotCancelledYet`] if that takes too long.
    pub async fn cancel_all(&self, link: &Link) -> Result<(), NotClosed> {
        let cancelling = async {
            // A charge on its way to its acquirer can't be cancelled before the acquirer has answered.
            while !self.cancel_each(link).await? {
                sleep(CANCELLING_PAUSE).await;
            }
            Ok::<_, Denied>(())
        };
        match timeout(LONGEST_CANCELLING, cancelling).await {
            Ok(cancelled) => Ok(cancelled?),
            Err(_) => Err(NotClosed::NotCancelledYet),
        }
    }

    /// Tries to cancel each waiting payment once. Returns true if none is left waiting.
    async fn cancel_each(&self, link: &Link) -> Result<bool, Denied> {
        let waiting = of_link(link, vec![Status::Initial, Status::Pending]);
        let mut after = None;
        let mut are_over = true;
        loop {
            let listed = self.payments.list(&waiting, after, CANCELLED_AT_ONCE).await?;
            let Some(last) = listed.last() else { return Ok(are_over) };
            after = Some(place_of(last));
            for payment in &listed {
                are_over &= match payment {
                    Ok(payment) => match self.give_up(payment).await {
                        Ok(is_over) => is_over,
                        // The others must not wait for it.
                        Err(denied) if denied.is_transient() => false,
                        Err(denied) => return Err(denied),
                    },
                    Err(_) => false,
                };
            }
        }
    }

    /// Cancels a waiting payment of a link. Returns true if it no longer waits.
    ///
    /// # Errors
    /// Fails if the outcome is uncertain.
    pub async fn give_up(&self, payment: &Payment) -> Result<bool, Denied> {
        let requested = RequestedOperation::Cancel;
        let wanted = OperationRequest { id: OperationId::new(self.ids.fresh()), requested, key: None };
        match self.payments.operate(payment.id, payment.owner.clone(), wanted).await {
            Ok(operated) => Ok(!is_waiting(operated.payment.status())),
            // It was paid or ended in between, or its cancellation is under way.
            Err(Denied::Refused(_)) => {
                let payment = self.payments.read(payment.id).await?;
                Ok(payment.is_none_or(|payment| !is_waiting(payment.status())))
            }
            Err(denied) => Err(denied),
        }
    }

    /// Returns the newest payments of a link, newest first.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn newest(&self, link: &Link, limit: usize) -> Result<Vec<Listed>, Denied> {
        self.list(link, &[], limit).await
    }

    /// Returns the payments for the page of a link for one payment: the newest, the newest that was paid, and those
    /// that hold the use. The result may contain others.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn of_page(&self, link: &Link) -> Result<Vec<Listed>, Denied> {
        let mut listed = self.newest(link, NEWEST_ON_PAGE).await?;
        if listed.len() >= NEWEST_ON_PAGE {
            // A payer who changed their mind has begun several, and an earlier one may be paid.
            listed.truncate(1);
            listed.extend(self.list(link, &WERE_PAID, 1).await?);
            listed.extend(self.list(link, &HOLD_THE_USE, NEWEST_ON_PAGE).await?);
        }
        Ok(listed)
    }

    async fn list(&self, link: &Link, statuses: &[Status], limit: usize) -> Result<Vec<Listed>, Denied> {
        self.payments.list(&of_link(link, statuses.to_vec()), None, limit).await
    }
}

fn of_link(link: &Link, statuses: Vec<Status>) -> PaymentFilter {
    let of_merchant = PaymentFilter::all_of(link.owner.merchant.clone(), link.owner.mode);
    PaymentFilter { statuses, link: Some(link.id), ..of_merchant }
}

/// Returns true if a payment in this status waits for its payer.
pub const fn is_waiting(status: Status) -> bool {
    match status {
        Status::Initial | Status::Pending => true,
        Status::Approved
        | Status::Declined
        | Status::Refund
        | Status::Chargeback
        | Status::Expired
        | Status::Paid
        | Status::Cancelled => false,
    }
}
