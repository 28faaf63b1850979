//! Store that is restored to an earlier state. The service forgets what happened since, and all others know it.
//!
//! Such a store may forget whole payments, and the outcome of others. No charge is made twice where the bank knows our
//! ids. Nothing counts as paid that no bank has, and no more counts as refunded than went back. Reports about what was
//! forgotten are shown to an operator.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quita_domain::delivery::webhook_id;
use quita_domain::exception::Exception;
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_memory_store::Records;

use super::{Happening, Installation};
use crate::account::Account;
use crate::bank::Holding;
use crate::merchant::Merchant;
use crate::orders::Request;
use crate::world::World;

/// Longest time for which the service is down while its store is restored, in milliseconds.
const AWAY_MS: u64 = 3_600_000;

/// Merchants in a thousand that repeat the request for a forgotten payment.
const ASKED_AGAIN: u64 = 600;

/// Amnesia of a service, and its causes.
#[derive(Default)]
pub(crate) struct Amnesia {
    backup: Option<Records>,
    /// Requests of merchants.
    requests: Vec<Request>,
    /// Payments that were forgotten once, or returned to an earlier state.
    set_back: BTreeSet<TransactionId>,
    /// Payments that were forgotten once. Their charges may be on the way.
    forgotten: BTreeMap<TransactionId, Arc<Payment>>,
    was_restored: bool,
    /// Acquirers that were once removed from the configuration.
    gone: BTreeSet<AcquirerName>,
}

impl Installation {
    /// Keeps a request, as a merchant may repeat it.
    pub(crate) fn remember(&self, request: Request) {
        if self.plan.is_restored {
            self.amnesia.lock().unwrap().requests.push(request);
        }
    }

    /// Returns true if the store ever forgot this payment, or part of it.
    pub(crate) fn was_set_back(&self, id: TransactionId) -> bool {
        self.plan.is_restored && self.amnesia.lock().unwrap().set_back.contains(&id)
    }

    /// Returns a payment that the store once forgot, as it was then.
    pub(crate) fn forgotten(&self, id: TransactionId) -> Option<Arc<Payment>> {
        if !self.plan.is_restored {
            return None;
        }
        self.amnesia.lock().unwrap().forgotten.get(&id).cloned()
    }

    /// Returns true if the store ever forgot anything.
    pub(crate) fn was_restored(&self) -> bool {
        self.plan.is_restored && self.amnesia.lock().unwrap().was_restored
    }

    /// Notes that this acquirer is no longer configured.
    pub(super) fn note_gone(&self, acquirer: &AcquirerName) {
        self.amnesia.lock().unwrap().gone.insert(acquirer.clone());
    }

    /// Returns true if the acquirer of this payment was once removed from the configuration.
    pub(crate) fn was_gone(&self, payment: Option<&Payment>) -> bool {
        let acquirer = payment.and_then(Payment::acquirer);
        acquirer.is_some_and(|acquirer| self.amnesia.lock().unwrap().gone.contains(acquirer))
    }
}

/// Copies the store in the middle of everything. In some worlds, also restores that copy, unless it is stopped first.
pub(crate) async fn run(world: Arc<World>, is_last: bool) {
    if !(world.installation.plan.is_restored && is_last) {
        return;
    }
    world.pass(500, 6_000).await;
    let copy = world.store.lock().clone();
    world.note(|| format!("a backup of {} payments", copy.payments.len()));
    world.installation.amnesia.lock().unwrap().backup = Some(copy);
    if world.chance.per_mille(500) {
        world.pass(1_000, 12_000).await;
        restore(&world);
    }
}

/// Restores the copy after the storm, if that was not done before. Merchants whose payments were forgotten notice.
pub(crate) fn restore_at_last(world: &Arc<World>) {
    restore(world);
    let requests = world.installation.amnesia.lock().unwrap().requests.clone();
    let is_unknown = |request: &Request| world.store.payment(request.id()).is_none();
    for request in requests.into_iter().filter(is_unknown) {
        let is_wanted = request.has_key && world.installation.was_set_back(request.id());
        if is_wanted && world.chance.per_mille(ASKED_AGAIN) {
            world.installation.count(Happening::AskedForOnceMore);
            let merchant = Merchant { world: Arc::clone(world), request };
            world.errand(async move {
                merchant.create().await;
            });
        }
    }
}

/// Stops every node, restores the store, and lets up to an hour pass. Nodes may start afterwards.
fn restore(world: &Arc<World>) {
    let Some(backup) = world.installation.amnesia.lock().unwrap().backup.take() else { return };
    world.disturb();
    for place in 0..world.node_count() {
        if let Some(node) = world.node(place) {
            node.fuse.blow("its store is put back");
        }
    }
    // Notices under way take less than an hour: they arrive first.
    if !world.has_notices_on_the_way() {
        let away_ms = world.chance.between(0, AWAY_MS);
        let skipped_ms = world.clock.put_forward_to(world.clock.now().plus_ms(away_ms));
        world.store.skip(skipped_ms);
    }
    world.note(|| "the store is put back".to_owned());
    world.installation.count(Happening::StoreRestored);
    let forgotten = world.store.restore(backup);
    let records = world.store.lock();
    let payments = records.payments.clone();
    let exceptions = records.exceptions.clone();
    drop(records);
    world.forget_told(&payments);
    world.drained.forget();
    let is_stored = |payment: &Payment, id: &str| {
        payment.history.iter().any(|event| webhook_id(payment.id, event.sequence) == id)
    };
    world.receivers.forget(|id| payments.values().any(|payment| is_stored(payment, id)));
    let is_erased = |id| payments.get(&id).is_some_and(|payment| payment.is_erased());
    world.installation.erasures.lock().unwrap().retain(is_erased);
    let mut amnesia = world.installation.amnesia.lock().unwrap();
    amnesia.was_restored = true;
    for (id, payment) in &forgotten.payments {
        let happening = match payments.get(id) {
            Some(known) if known.revision == payment.revision => continue,
            Some(_) => Happening::PaymentSetBack,
            None => {
                amnesia.forgotten.insert(*id, Arc::clone(payment));
                Happening::PaymentForgotten
            }
        };
        world.installation.count(happening);
        amnesia.set_back.insert(*id);
    }
    // Includes payments that did not change, but whose exceptions, seen by an operator, were lost.
    let is_lost = |exception: &&Exception| !exceptions.contains(exception);
    amnesia
        .set_back
        .extend(forgotten.exceptions.iter().filter(is_lost).filter_map(|exception| exception.transaction_id));
}

/// Checks a payment that was partly forgotten against the banks' books.
pub(crate) fn check_set_back(world: &World, payment: &Payment) {
    let id = payment.id;
    let status = payment.status();
    let accounts: Vec<_> =
        world.banks.iter().filter_map(|bank| Some((bank, bank.account(world, id)?))).collect();
    for (bank, account) in accounts.iter().filter(|(_, account)| account.authorised > 1) {
        if bank.forgets_keys() {
            world.installation.count(Happening::ChargedOnceMore);
        } else {
            let name = bank.name();
            let times = account.authorised;
            world.violation(format!(
                "{id}: the card was charged {times} times at {name}, which knows our ids"
            ));
        }
    }
    if payment.check.is_some() {
        return;
    }
    let captured = |account: &&Account| account.holding == Holding::Captured;
    let has_money = accounts.iter().map(|(_, account)| account).any(|account| captured(&account));
    if matches!(status, Status::Paid | Status::Refund | Status::Chargeback) && !has_money {
        world.violation(format!("{id} is {status} since the store was put back, but no bank has the money"));
    }
    let given_back: Money = accounts.iter().map(|(_, account)| account.given_back).sum();
    let ours = payment.state.refunded_amount();
    let is_counted_twice = accounts.iter().any(|(bank, _)| bank.tells_refunds_twice());
    if ours > given_back && !is_counted_twice {
        world.violation(format!(
            "{id}: {ours} is refunded since the store was put back, {given_back} went back"
        ));
    }
}
