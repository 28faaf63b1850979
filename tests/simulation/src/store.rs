//! Simulated store for all nodes: atomic guarded writes, and every fault of a real one.

mod node_store;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner, TransactionId};
use quita_domain::numbering::EventSequence;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::WebhookSecret;
use quita_memory_store::{Records, StoredNotice, judge};
use quita_ports::{StoreError, Write, WriteError};
use tokio::time::Instant;

pub(crate) use self::node_store::NodeStore;
use crate::links;
use crate::planted::{self, Mistake};
use crate::world::World;

/// Returns the owner of the first merchant's payments.
pub(crate) fn owner() -> Owner {
    owner_of(0)
}

/// Returns the owner of a merchant's payments, by the merchant's number.
pub(crate) fn owner_of(merchant: u64) -> Owner {
    let name = if merchant == 0 { "demo".to_owned() } else { format!("merchant{merchant}") };
    let application = if merchant % 3 == 2 { "shop" } else { "default" };
    let merchant = MerchantId::new(name);
    let application = ApplicationName::new(application);
    Owner { merchant, application, mode: Mode::Test }
}

/// Returns the secret that signs the webhooks of this owner.
pub(crate) fn webhook_secret(owner: &Owner) -> WebhookSecret {
    let byte = owner.merchant.as_str().bytes().fold(7, u8::wrapping_add);
    WebhookSecret::from_bytes(vec![byte; WebhookSecret::BYTES])
}

/// Store of a world.
pub(crate) struct SimStore {
    records: Mutex<Records>,
    /// Payments as they were before their last writes, in a world whose reads are stale.
    before: Mutex<BTreeMap<TransactionId, Arc<Payment>>>,
    /// Moment from which the bank's name for the charge of an attempt is known.
    referenced: Mutex<BTreeMap<(TransactionId, usize), Instant>>,
    /// Moment at which each event was stored, by its sequence.
    told_of: Mutex<BTreeMap<(TransactionId, EventSequence), u64>>,
    /// Number of times that the store was restored to an earlier state. Calls sent to the store before that do not
    /// arrive.
    restores: AtomicU64,
    is_embedded: bool,
}

impl SimStore {
    /// Creates an empty store, with the applications of this many merchants.
    pub(crate) fn new(is_embedded: bool, merchants: u64) -> Self {
        let mut records = Records::default();
        for owner in (0..merchants).map(owner_of) {
            records.add_application(&owner, &webhook_secret(&owner));
        }
        Self {
            records: Mutex::new(records),
            before: Mutex::default(),
            referenced: Mutex::default(),
            told_of: Mutex::default(),
            restores: AtomicU64::new(0),
            is_embedded,
        }
    }

    pub(crate) const fn is_embedded(&self) -> bool {
        self.is_embedded
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap()
    }

    pub(crate) fn payment(&self, id: TransactionId) -> Option<Arc<Payment>> {
        self.lock().payments.get(&id).cloned()
    }

    pub(crate) fn payments(&self) -> Vec<Arc<Payment>> {
        self.lock().payments.values().cloned().collect()
    }

    /// Returns the number of times that the store was restored to an earlier state.
    pub(crate) fn restores(&self) -> u64 {
        self.restores.load(Ordering::Relaxed)
    }

    /// Restores the store to a backup. Returns its contents until now.
    pub(crate) fn restore(&self, backup: Records) -> Records {
        self.restores.fetch_add(1, Ordering::Relaxed);
        let now = std::mem::replace(&mut *self.lock(), backup);
        let records = self.lock();
        self.before.lock().unwrap().clear();
        self.referenced.lock().unwrap().retain(|(id, attempt), _| {
            let attempts = records.payments.get(id).map(|payment| &payment.state.attempts);
            attempts.and_then(|all| all.get(*attempt)).is_some_and(|one| !one.reference.is_empty())
        });
        self.told_of.lock().unwrap().retain(|(id, sequence), _| {
            records.payments.get(id).is_some_and(|payment| payment.event(*sequence).is_some())
        });
        now
    }

    /// Adjusts the nodes to skipped time. They keep the age of their last report, as they would have reported
    /// meanwhile.
    pub(crate) fn skip(&self, skipped_ms: u64) {
        self.lock().nodes.values_mut().for_each(|node| node.seen_at = node.seen_at.plus_ms(skipped_ms));
    }

    /// Marks all nodes as seen just now. They report less often here than in production.
    pub(crate) fn see_nodes(&self, now: Timestamp) {
        self.lock().nodes.values_mut().for_each(|node| node.seen_at = now);
    }

    /// Answers a query, as the service of this world understands it.
    fn read<T>(
        &self,
        world: &World,
        call: &str,
        query: impl FnOnce(&Records) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let is_forgetful = world.mistake == Some(Mistake::ForgetDirectives) && call == "route_controls";
        if is_forgetful && world.chance.between(0, 9) == 0 {
            return query(&Records::default());
        }
        if world.mistake == Some(Mistake::ForgetTries) && call == "card_tries" {
            return query(&Records::default());
        }
        if world.mistake == Some(Mistake::ForgetFailedNights) && call == "runs" {
            return query(&planted::nights_known(world, &self.lock()));
        }
        if call == "link_uses" {
            return query(&planted::uses_known(world, &self.lock()));
        }
        query(&self.lock())
    }

    /// Answers a lookup of payments.
    fn load(&self, world: &World, ids: &[TransactionId]) -> Vec<Payment> {
        let records = self.lock();
        let before = self.before.lock().unwrap();
        let shown = |id| {
            let is_stale = world.mistake == Some(Mistake::StaleRead) && world.chance.per_mille(200);
            if is_stale { before.get(id) } else { records.payments.get(id) }
        };
        ids.iter().filter_map(shown).map(|payment| payment.as_ref().clone()).collect()
    }

    /// Makes a change durable, as the service of this world would.
    fn change<T>(
        &self,
        world: &World,
        call: &str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut records = self.lock();
        if world.mistake == Some(Mistake::DropException) && call == "put_exception" {
            return change(&mut Records::default());
        }
        let known = records.exceptions.len();
        let made = change(&mut records);
        if call == "replace_link" {
            planted::links_written(world, &mut records);
            links::note_changed(world, &records);
        }
        for exception in &records.exceptions[known..] {
            world.note(|| format!("exception {} {}", exception.id, exception.detail));
        }
        let is_dropped = |stored: &StoredNotice| match (world.mistake, call) {
            (Some(Mistake::FinishNoticeFirst), "put_notices") => true,
            (Some(Mistake::DropEarlyNotice), "postpone_notice") => stored.tried > 0,
            (Some(Mistake::AskForNothing), "put_notices") => stored.notice.id.contains(":reconciliation "),
            (Some(_) | None, _) => false,
        };
        records.notices.values_mut().for_each(|stored| stored.is_done |= is_dropped(stored));
        made
    }

    /// Makes one guarded write durable.
    pub(crate) fn apply(&self, world: &World, write: &Write) -> Result<(), WriteError> {
        let next = &write.payment;
        let mut records = self.lock();
        let known = records.payments.get(&next.id).cloned();
        let mut write = write.clone();
        let erases = next.is_erased() && known.as_ref().is_some_and(|known| !known.is_erased());
        let is_unguarded = match world.mistake {
            Some(Mistake::DropTheGuard) => true,
            Some(Mistake::EraseUnguarded) => erases,
            Some(_) | None => false,
        };
        if is_unguarded {
            write.expected_revision = known.as_ref().map_or(0, |known| known.revision);
        }
        if let Err(conflict) = records.write(&write) {
            world.note(|| format!("conflict {} at revision {}", next.id, write.expected_revision));
            return Err(conflict);
        }
        for wrong in judge::violations(known.as_deref(), next) {
            world.violation(format!("{}: {wrong}", next.id));
        }
        world.note(|| format!("stored {} revision {} {}", next.id, next.revision, next.status()));
        links::check_stored(world, &records, next, known.is_none());
        if known.is_none() {
            world.installation.configurations.check_followed(world, next);
        }
        if erases {
            world.note(|| format!("the payer of {} is erased", next.id));
            world.installation.erasures.lock().unwrap().note(next.id, world.clock.elapsed_ms());
        }
        for (place, _) in
            next.state.attempts.iter().enumerate().filter(|(_, sent)| !sent.reference.is_empty())
        {
            self.referenced.lock().unwrap().entry((next.id, place)).or_insert_with(Instant::now);
        }
        for event in next.history.iter().skip(known.as_ref().map_or(0, |known| known.history.len())) {
            self.told_of.lock().unwrap().insert((next.id, event.sequence), world.clock.elapsed_ms());
        }
        if let Some(known) = known.filter(|_| world.mistake == Some(Mistake::StaleRead)) {
            self.before.lock().unwrap().insert(next.id, known);
        }
        Ok(())
    }

    /// Returns the moment from which the bank's name for the charge of an attempt is known, if it is.
    pub(crate) fn referenced_since(&self, id: TransactionId, attempt: usize) -> Option<Instant> {
        self.referenced.lock().unwrap().get(&(id, attempt)).copied()
    }

    /// Returns the moment at which an event was stored.
    pub(crate) fn stored_ms(&self, id: TransactionId, sequence: EventSequence) -> Option<u64> {
        self.told_of.lock().unwrap().get(&(id, sequence)).copied()
    }

    /// Returns the next moment at which something is due, leaving out these payments.
    pub(crate) fn next_due_but_for(&self, is_left_out: impl Fn(&Payment) -> bool) -> Option<Timestamp> {
        let records = self.lock();
        let payments = records.payments.values().filter(|payment| !is_left_out(payment));
        let due = payments.flat_map(|payment| payment.due_at().into_iter().chain(payment.outbox_at()));
        let open = records.notices.values().filter(|stored| !stored.is_done);
        due.chain(open.map(|stored| stored.due_at)).min()
    }
}
