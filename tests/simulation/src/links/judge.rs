//! Uses of links, counted by the judge at every write of a payment: no more are held than there are.

use std::collections::BTreeMap;

use quita_actors::is_waiting;
use quita_domain::identity::{LinkId, TransactionId};
use quita_domain::link::{Link, LinkUses, holds_a_use};
use quita_domain::payment::Payment;
use quita_memory_store::Records;

use crate::chance::Fault;
use crate::installation::Happening;
use crate::world::World;

/// Facts about links that the judge knows beside the store.
#[derive(Default)]
pub(crate) struct Watch {
    links: BTreeMap<LinkId, Known>,
    /// Moment at which a payment was first requested.
    asked_ms: BTreeMap<TransactionId, u64>,
    /// Number of times that the store had been restored when these facts were learnt.
    restores: u64,
}

/// Facts that the judge knows about one link.
#[derive(Default)]
struct Known {
    /// True if its merchant received the answer that it exists.
    is_acknowledged: bool,
    /// Moment from which no use is left.
    sold_out_ms: Option<u64>,
    /// Moment at which it was stored as closed.
    closed_ms: Option<u64>,
    /// True if its merchant received the answer that no further payment begins.
    is_closing_told: bool,
}

impl Watch {
    /// Returns the facts about this link. A restored store has forgotten earlier answers.
    fn known(&mut self, world: &World, link: LinkId) -> &mut Known {
        let restores = world.store.restores();
        if restores != self.restores {
            (self.restores, self.links) = (restores, BTreeMap::new());
        }
        self.links.entry(link).or_default()
    }

    /// Notes that a merchant received the answer that the link exists.
    pub(super) fn acknowledge(&mut self, world: &World, link: LinkId) {
        self.known(world, link).is_acknowledged = true;
    }

    /// Notes that a payer requests a payment.
    pub(super) fn asked(&mut self, world: &World, id: TransactionId) {
        self.asked_ms.entry(id).or_insert_with(|| world.clock.elapsed_ms());
    }

    /// Checks that a link reported to a payer as not found was never acknowledged.
    pub(super) fn not_found(&mut self, world: &World, link: LinkId) {
        if self.known(world, link).is_acknowledged && !world.installation.was_restored() {
            world.violation(format!("link {link} was acknowledged and is not found"));
        }
    }
}

/// Returns the uses of a link, according to its stored payments.
pub(super) fn uses(records: &Records, link: LinkId) -> LinkUses {
    let mut uses = LinkUses::default();
    for payment in of_link(records, link) {
        uses.count(payment.method(), payment.status(), payment.state.paid_at.is_some(), 1);
    }
    uses
}

fn of_link(records: &Records, link: LinkId) -> impl Iterator<Item = &Payment> {
    records.payments.values().map(AsRef::as_ref).filter(move |payment| payment.link == Some(link))
}

/// Returns true if a payment has a use that it never gave back. A payment made after that takes none.
fn has_kept_its_use(payment: &Payment) -> bool {
    let has_ended = payment.history.iter().any(|event| !holds_a_use(event.status));
    !has_ended && holds_a_use(payment.status())
}

/// Returns true if a clock jumped. A use that was taken may then count as free before its payment is stored.
fn may_be_oversold(world: &World) -> bool {
    world.faults.has_struck(Fault::ClockJumps)
}

/// Checks a payment of a link that was stored, perhaps for the first time.
pub(crate) fn check_stored(world: &World, records: &Records, payment: &Payment, is_new: bool) {
    let Some(id) = payment.link else { return };
    let Some(link) = records.links.get(&id) else {
        world.violation(format!("{}: there is no link {id}", payment.id));
        return;
    };
    if payment.owner != link.owner || payment.order.amount != link.offer.amount {
        world.violation(format!("{}: it is not what link {id} offers", payment.id));
    }
    let mut watch = world.links.watch.lock().unwrap();
    let asked_ms = watch.asked_ms.get(&payment.id).copied();
    let known = watch.known(world, id);
    if is_new && !may_be_oversold(world) {
        let is_after = |moment: Option<u64>| moment.is_some_and(|ms| asked_ms.is_none_or(|asked| ms < asked));
        if is_after(known.sold_out_ms) {
            world.violation(format!("{}: link {id} was sold out before it was asked for", payment.id));
        }
        if is_after(known.closed_ms) || known.is_closing_told {
            world.violation(format!("{}: link {id} was closed before", payment.id));
        }
    }
    let kept = of_link(records, id).filter(|payment| has_kept_its_use(payment)).count();
    if kept > link.offer.uses as usize && !may_be_oversold(world) {
        world.violation(format!("link {id} has {} uses, and {kept} payments hold one", link.offer.uses));
    }
    let uses = uses(records, id);
    let is_sold_out = uses.paid + uses.held >= link.offer.uses.into();
    let now_ms = world.clock.elapsed_ms();
    known.sold_out_ms = is_sold_out.then(|| known.sold_out_ms.unwrap_or(now_ms));
}

/// Notes links that were closed.
pub(crate) fn note_changed(world: &World, records: &Records) {
    let now_ms = world.clock.elapsed_ms();
    let mut watch = world.links.watch.lock().unwrap();
    for link in records.links.values().filter(|link| link.closed_at.is_some()) {
        watch.known(world, link.id).closed_ms.get_or_insert(now_ms);
    }
}

/// Checks a payment that was reported to a payer as no longer waiting. Returns true if its use is free again.
pub(super) fn given_up(world: &World, id: TransactionId) -> bool {
    let Some(payment) = world.store.payment(id) else { return false };
    if is_waiting(payment.status()) {
        world.violation(format!("{id} is {} although it was given up", payment.status()));
    }
    let is_free = !holds_a_use(payment.status());
    let happening = if is_free { Happening::UseGivenUp } else { Happening::GivenUpButPaid };
    world.installation.count(happening);
    is_free
}

/// Checks a link that was reported to a merchant as closed, in some cases with nothing of it waiting.
pub(super) fn closed(world: &World, id: LinkId, cancels: bool) {
    world.installation.count(if cancels { Happening::LinkCancelled } else { Happening::LinkClosed });
    let records = world.store.lock();
    let Some(link) = records.links.get(&id) else { return };
    world.links.watch.lock().unwrap().known(world, id).is_closing_told = link.closed_at.is_some();
    let is_over = |link: &Link| link.close(&uses(&records, id), world.clock.now()).is_none();
    let is_in_doubt = may_be_oversold(world) || world.installation.was_restored();
    if !is_over(link) && !is_in_doubt {
        world.violation(format!("link {id} was closed, and is open"));
    }
    let waiting: Vec<_> = of_link(&records, id).filter(|payment| is_waiting(payment.status())).collect();
    if cancels && !is_in_doubt && !waiting.is_empty() {
        let ids: Vec<_> = waiting.iter().map(|payment| payment.id.to_string()).collect();
        world.violation(format!("link {id} was closed with all that waited, and {} wait", ids.join(", ")));
    }
}

/// Checks all invariants of links that must hold whenever all is quiet.
pub(crate) fn check(world: &World) {
    let records = world.store.lock();
    let mut watch = world.links.watch.lock().unwrap();
    if watch.restores != world.store.restores() {
        return;
    }
    for (id, known) in &watch.links {
        let Some(link) = records.links.get(id) else {
            if known.is_acknowledged {
                world.violation(format!("link {id} was acknowledged and is lost"));
            }
            continue;
        };
        if known.is_closing_told && link.closed_at.is_none() {
            world.violation(format!("link {id} was closed, and is so no more"));
        }
    }
    watch.asked_ms.retain(|id, _| !records.payments.contains_key(id));
}
