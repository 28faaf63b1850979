//! Core of a transaction: load, decide, persist, apply.

mod create;
mod numbers;

use std::sync::Arc;
use std::time::Duration;

use quita_domain::card::CardFingerprint;
use quita_domain::delivery::{Confirmation, DeliveryState};
use quita_domain::identity::{AcquirerName, Mode, TransactionId};
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::payment::{Command, Context, Decision, Effect, Payment, Refusal};
use quita_domain::routing::CardTries;
use quita_domain::status::Status;
use quita_domain::time::millis_in;
use quita_ports::{StoreError, WriteError};
use tokio::time::Instant;

use super::card_in_hand::CardInHand;
use super::confirmed::Confirmed;
use super::effects;
use super::hold::Hold;
use super::memory::Memory;
use super::messages::{Asker, Executed};
use super::unsent::Unsent;
use crate::acquirers::routing::Route;
use crate::denied::{Denied, warn_unless_away};
use crate::system::parts::SystemParts;

/// Maximum number of times a decision is repeated because another writer was faster.
const MAX_CONFLICTS: u32 = 16;

/// One payment as it is stored, and the card that may still have to be charged.
pub(super) struct Core {
    id: TransactionId,
    system: Arc<SystemParts>,
    memory: Memory,
    card: CardInHand,
    /// Fingerprints of that card under secret keys in use other than the payment's.
    other_fingerprints: Vec<CardFingerprint>,
    unsent: Unsent,
    confirmed: Confirmed,
    /// Time of the last inquiry that was made without being stored.
    asked: Option<Instant>,
}

impl Core {
    pub(super) fn new(id: TransactionId, system: Arc<SystemParts>, hold: Hold) -> Self {
        let memory = Memory::new(id, Arc::clone(&system.books), Arc::clone(&system.published));
        let unsent = Unsent::new(hold.clone());
        let confirmed = Confirmed::new(hold.clone());
        let card = CardInHand::new(hold);
        Self { id, system, memory, card, other_fingerprints: Vec::new(), unsent, confirmed, asked: None }
    }

    /// Returns the copy in memory, without asking the store.
    pub(super) const fn payment(&self) -> Option<&Arc<Payment>> {
        self.memory.payment()
    }

    /// Drops the copy in memory: the next message reads the store.
    pub(super) fn forget(&mut self) {
        self.memory.forget();
    }

    /// Returns the current payment, from memory or from the store.
    pub(super) async fn current(&mut self) -> Result<Arc<Payment>, Denied> {
        if let Some(payment) = self.memory.payment() {
            return Ok(Arc::clone(payment));
        }
        self.memory.begin();
        let found = self.system.books.load(self.id).await?.ok_or(Denied::NotFound)?;
        self.memory.hold(&found);
        Ok(found)
    }

    fn store_is_away(&mut self, error: StoreError) -> Denied {
        self.memory.forget();
        Denied::StoreUnavailable(error)
    }

    fn route(&self, payment: &Payment, acquirer: &AcquirerName) -> Option<&Route> {
        self.system.routes.get()?.find(acquirer, payment.method())
    }

    /// Drops the copy in memory if it may be stale because other nodes write.
    fn forget_if_others_write(&mut self) {
        if self.system.books.may_be_stale(self.id) {
            self.memory.forget();
        }
    }

    /// Returns the payment if its acquirer may be asked about it now because of a hint, without a prior write. The
    /// caller must store the answer before it confirms the hint to the acquirer.
    pub(super) async fn may_inquire(
        &mut self,
        acquirer: &AcquirerName,
    ) -> Result<Option<Arc<Payment>>, Denied> {
        // The inquiry contains what other nodes have learnt about the charge.
        self.forget_if_others_write();
        let payment = self.current().await?;
        let context = self.context_of(&payment, false);
        if !payment.may_be_inquired_about(acquirer, &context) {
            return Ok(None);
        }
        self.asked = Some(Instant::now());
        Ok(Some(payment))
    }

    /// Executes a command. A confirmation may be kept for the next one.
    pub(super) async fn execute(&mut self, asker: &Asker, command: Command) -> Result<Executed, Denied> {
        match self.keep_for_later(&command) {
            Some(executed) => Ok(executed),
            None => self.change(asker, command).await,
        }
    }

    /// Decides on the stored state, and again if another writer was faster.
    ///
    /// The guard of a write detects a stale copy. A decision that refuses or changes nothing makes no write, so it is
    /// repeated on the state in the store.
    async fn change(&mut self, asker: &Asker, command: Command) -> Result<Executed, Denied> {
        let mut looked_up = Vec::new();
        for _ in 0..MAX_CONFLICTS {
            let was_known = self.memory.payment().is_some();
            let payment = self.current().await?;
            let context = self.context_for(&payment, &command).await;
            // The lease of a call counts from here, so that a slow write can only shorten it.
            let decided_at = Instant::now();
            let mut decision = {
                let decision = match asker.may_see(&payment) {
                    true => {
                        let confirmed = self.confirmed.waiting();
                        payment.decide_with(confirmed, command.clone(), &context).map_err(Denied::Refused)
                    }
                    false => Err(Denied::NotFound),
                };
                if was_known && decision.as_ref().map_or(true, |decision| decision.next.is_none()) {
                    self.forget_if_others_write();
                    if self.memory.payment().is_none() {
                        continue;
                    }
                }
                decision?
            };
            // Money of another payment is not a second payment of this one: giving it back would take it from the
            // other.
            decision.stray_pix.retain(|pix| !looked_up.contains(pix));
            looked_up.extend_from_slice(&decision.stray_pix);
            if self.note_taken(payment.owner.mode, std::mem::take(&mut decision.stray_pix)).await? {
                continue;
            }
            // Checked after the decision, so that a repeated key is a replay and not a refusal.
            if begins_refund(&command, &decision) && !self.refunds(&payment) {
                return Err(Denied::Refused(Refusal::RefundUnsupported));
            }
            self.allot(&mut decision).await.map_err(|error| self.store_is_away(error))?;
            let unstored = std::mem::take(&mut decision.unstored);
            let source = command.source();
            let operation = decision.operation;
            let calls_acquirer = decision.effects.iter().any(calls_acquirer);
            let is_replay = decision.is_replay;
            let is_changed = decision.next.is_some();
            let executed = |payment| Executed {
                payment,
                unstored,
                source,
                operation,
                is_replay,
                is_changed,
                calls_acquirer,
            };
            let (next, effects) = to_be_stored(decision);
            let Some(next) = next else { return Ok(executed(payment)) };
            let new_pix = next.pix_bound_since(&payment).to_vec();
            match self.persist(next, payment.revision).await {
                Ok(stored) => {
                    // This write has stored them too.
                    self.confirmed.forget();
                    self.count_events(&stored, payment.history.len());
                    self.count_given_up(&stored, &payment);
                    self.count_tries(Some(&payment), &stored);
                    // Intent first: nothing leaves before the write that records it is confirmed.
                    self.run(&stored, effects, decided_at);
                    return Ok(executed(stored));
                }
                Err(WriteError::Conflict | WriteError::TokenUsed) => self.memory.forget(),
                Err(WriteError::PixTaken) => {
                    self.memory.forget();
                    self.note_taken(payment.owner.mode, new_pix).await.map(drop)?;
                }
                Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => {
                    self.memory.forget();
                    return Err(Denied::StoreUnavailable(error));
                }
            }
        }
        Err(Denied::Overloaded)
    }

    /// Records which of these Pix belong to another payment. Returns true if the payment of one can't be read yet, so
    /// that it must be tried again.
    async fn note_taken(&mut self, mode: Mode, new_pix: Vec<String>) -> Result<bool, Denied> {
        let mut is_any_taken = false;
        for pix in new_pix {
            let holder = self.system.books.payment_of_pix(mode, &pix).await;
            let holder = holder.map_err(Denied::StoreUnavailable)?;
            if let Some(other) = holder.filter(|holder| *holder != self.id) {
                let command = Command::PixTaken { pix, other };
                // It binds nothing, so this goes no deeper.
                let executed = Box::pin(self.change(&Asker::Service, command)).await?;
                self.system.exceptions.report_all(&executed);
                is_any_taken = true;
            }
        }
        Ok(is_any_taken)
    }

    /// Keeps a confirmation that has no further effects, to be stored with the next write.
    fn keep_for_later(&mut self, command: &Command) -> Option<Executed> {
        let Command::DeliveryAnswered { delivery, attempt } = command else { return None };
        // A confirmation in memory would be lost when the process stops, and its event sent again.
        if self.system.commands.is_stopping() {
            return None;
        }
        // It is in memory: the claim of this delivery was stored a moment ago.
        let payment = Arc::clone(self.memory.payment()?);
        let new = Confirmation { delivery: *delivery, attempt: attempt.clone() };
        let may_wait = payment.may_wait(self.confirmed.waiting(), &new, self.system.clock.now())?;
        if let Some(lease) = may_wait.then {
            // Another node may have stored the next event, which must not be sent before this confirmation is stored
            // (decision 32).
            if !self.is_alone() {
                return None;
            }
            effects::deliver_under(&self.system, &payment, lease);
        }
        let long = payment.awaits_payer().then(|| self.system.long_waits.begin()).flatten();
        self.confirmed.keep(new, long);
        Some(Executed::without_change(payment, command.source()))
    }

    /// Returns true if no other process works on the store.
    fn is_alone(&self) -> bool {
        self.system.books.store.is_sole_writer() || self.system.known_nodes.are_none()
    }

    /// Returns the time after which a waiting confirmation must be stored, if there is one.
    pub(super) fn stores_confirmed_after(&self) -> Option<Duration> {
        let payment = self.memory.payment().map(Arc::as_ref);
        self.confirmed.stored_after(payment, self.system.clock.now(), self.is_alone())
    }

    /// Stores confirmations that no other write has included. Returns the number of confirmations that could not be
    /// stored.
    pub(super) async fn store_confirmed(&mut self) -> u64 {
        // One write stores them all. A second is needed only if another process has stored the last one.
        while let Some(last) = self.confirmed.take_last() {
            let Confirmation { delivery, attempt } = last.clone();
            match self.change(&Asker::Service, Command::DeliveryAnswered { delivery, attempt }).await {
                Ok(executed) => self.system.exceptions.report_all(&executed),
                Err(denied) if self.confirmed.is_too_old() => {
                    let unstored = self.confirmed.waiting().len().saturating_add(1);
                    warn_unless_away!(denied, transaction.id = %self.id, error = %denied, "a confirmation could not be stored; its event will be sent again");
                    self.confirmed.forget();
                    return u64::try_from(unstored).unwrap_or(u64::MAX);
                }
                Err(_) => {
                    self.confirmed.put_back(last);
                    return u64::try_from(self.confirmed.waiting().len()).unwrap_or(u64::MAX);
                }
            }
        }
        self.confirmed.forget();
        0
    }

    /// Returns true if the payment's acquirer supports refunds. One that is no longer configured may do so later.
    fn refunds(&self, payment: &Payment) -> bool {
        let route = payment.acquirer().and_then(|acquirer| self.route(payment, acquirer));
        route.is_none_or(|route| route.factory.refunds(payment.method()))
    }

    /// Returns the inputs of a decision. They depend on the acquirer that has the charge, and perhaps on how often its
    /// card was tried.
    async fn context_for(&mut self, payment: &Payment, command: &Command) -> Context {
        let card_at_hand = self.card.get().is_some();
        let card_tries = match payment.card_to_count(command, card_at_hand) {
            Some(card) => self.count_tries_so_far(card).await,
            None => None,
        };
        let there = command.told_by(payment);
        let charge_name_there =
            there.and_then(|there| self.route(payment, there)).and_then(|route| route.factory.charge_name());
        let is_one_account = there.is_some_and(|there| self.is_one_account(payment, there));
        let context = self.context_of(payment, card_at_hand);
        Context { card_tries, charge_name_there, is_one_account, ..context }
    }

    /// Returns true if this acquirer is not the payment's, but shows the charges of the same account.
    fn is_one_account(&self, payment: &Payment, there: &AcquirerName) -> bool {
        let Some(here) = payment.acquirer().filter(|here| *here != there) else { return false };
        let account = |acquirer| self.route(payment, acquirer)?.factory.charge_account();
        account(here).is_some_and(|known| account(there) == Some(known))
    }

    /// Returns the same without counting tries.
    fn context_of(&self, payment: &Payment, card_at_hand: bool) -> Context {
        let fresh = self.system.context(card_at_hand);
        let asked_at = self.asked.map(|asked| fresh.now.minus_ms(millis_in(asked.elapsed())));
        let context = Context { asked_at, ..fresh };
        match payment.acquirer().and_then(|acquirer| self.route(payment, acquirer)) {
            Some(route) => Context {
                operates_in_turn: route.factory.operates_in_turn(),
                charge_name: route.factory.charge_name(),
                refund_shows_after_ms: self.refund_shows_after_ms(payment),
                hint_gap_ms: route.spec().hint_gap_ms,
                // An acquirer inside this process changes nothing by itself.
                reads_approved: route.factory.local_issue().is_none(),
                looks_at_paid: route.factory.looks_at_paid(payment.method()),
                states_cost: route.factory.states_cost(),
                ..context
            },
            // The acquirer is no longer configured, and may identify operations only by their amounts. Until it is
            // back, they are sent one after the other. A card that a notice approves meanwhile must be inquired about
            // then: nothing else would start that schedule.
            None => Context { operates_in_turn: true, reads_approved: true, ..context },
        }
    }

    /// Returns the longest time before any of its acquirers shows a refund: money held by an earlier one is given back
    /// too.
    fn refund_shows_after_ms(&self, payment: &Payment) -> u64 {
        let routes =
            payment.state.attempts.iter().filter_map(|attempt| self.route(payment, &attempt.acquirer));
        routes.map(|route| route.factory.refund_shows_after_ms(payment.method())).max().unwrap_or_default()
    }

    /// Returns how often a card was tried, under any secret key; `None` if the store does not count it in time.
    async fn count_tries_so_far(&self, card: &CardFingerprint) -> Option<CardTries> {
        let now = self.system.clock.now();
        let mut tries = self.system.books.card_tries(card, now).await?;
        for other in self.other_fingerprints.iter().filter(|other| *other != card) {
            tries = tries.plus(self.system.books.card_tries(other, now).await?);
        }
        Some(tries)
    }

    /// Stores the payment, and only then keeps it as the copy in memory.
    async fn persist(
        &mut self,
        next: Arc<Payment>,
        expected_revision: u64,
    ) -> Result<Arc<Payment>, WriteError> {
        // Readers get no answer from memory during the write, because a list may already show the new state.
        self.memory.begin();
        self.system.books.commit(Arc::clone(&next), expected_revision).await?;
        self.memory.hold(&next);
        Ok(next)
    }

    fn run(&mut self, payment: &Arc<Payment>, effects: Vec<Effect>, decided_at: Instant) {
        for effect in effects {
            effects::run(&self.system, payment, effect, decided_at, self.card.get());
        }
        // The number is held only as long as a charge may still need it.
        if payment.status() != Status::Initial {
            self.card.release();
        }
    }

    /// Drops a card that was held for too long, whatever the message was.
    pub(super) fn drop_expired_card(&mut self) {
        self.card.get();
    }

    fn count_events(&self, payment: &Payment, known: usize) {
        let acquirer = payment.acquirer().map_or("none", |name| name.as_str());
        for event in payment.history.iter().skip(known).filter(|event| event.refund.is_none()) {
            let labels = [payment.method().label(), acquirer, event.status.as_str()];
            self.system.meter.payments.with_label_values(&labels).inc();
        }
    }

    /// Counts ended charges for each acquirer's approval rate, on the node that requested them.
    fn count_tries(&self, before: Option<&Payment>, after: &Payment) {
        if let Some(routes) = self.system.routes.get() {
            routes.count_ended(before, after);
        }
    }

    fn count_given_up(&self, payment: &Payment, before: &Payment) {
        let given_up = exhausted(payment).saturating_sub(exhausted(before));
        self.system.meter.webhook_exhausted.inc_by(given_up);
    }
}

/// Takes a decision apart: the payment to be stored, and the effects once it is.
// A decision would take 700 bytes of the future for as long as any of its parts does.
fn to_be_stored(decision: Decision) -> (Option<Arc<Payment>>, Vec<Effect>) {
    (decision.next.map(Arc::new), decision.effects)
}

/// Returns the number of deliveries that were given up.
fn exhausted(payment: &Payment) -> u64 {
    let given_up = payment.outbox.iter().filter(|delivery| delivery.state == DeliveryState::Exhausted);
    u64::try_from(given_up.count()).unwrap_or(u64::MAX)
}

/// Returns true if a merchant's refund is newly begun, rather than found under its key.
const fn begins_refund(command: &Command, decision: &Decision) -> bool {
    match command {
        Command::Operate(OperationRequest { requested: RequestedOperation::Refund(_), .. }) => {
            decision.next.is_some() && !decision.is_replay
        }
        Command::Operate(_)
        | Command::ChargeAnswered { .. }
        | Command::Inquired { .. }
        | Command::Notified { .. }
        | Command::Hinted { .. }
        | Command::OperationAnswered { .. }
        | Command::OperationInquired { .. }
        | Command::OperationResolved { .. }
        | Command::ChargeResolved { .. }
        | Command::MismatchEnded
        | Command::DeliveryAnswered { .. }
        | Command::Deliver { .. }
        | Command::Redeliver { .. }
        | Command::Wake
        | Command::InquireNow
        | Command::Reported(_)
        | Command::PixTaken { .. }
        | Command::ChargeNeverLeft => false,
    }
}

const fn calls_acquirer(effect: &Effect) -> bool {
    match effect {
        Effect::Charge(_) | Effect::Inquire(..) | Effect::Operate(..) | Effect::InquireOperation(..) => true,
        Effect::Deliver(_) | Effect::Report => false,
    }
}

fn first_charge(effects: &[Effect]) -> Option<&AcquirerName> {
    effects.iter().find_map(|effect| match effect {
        Effect::Charge(name) => Some(name),
        Effect::Inquire(..)
        | Effect::Operate(..)
        | Effect::InquireOperation(..)
        | Effect::Deliver(_)
        | Effect::Report => None,
    })
}
