//! Payers. They pay in time, late, after a withdrawal, wrongly or never, and some charge their money back.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::{ChargeQuery, Fact, RemovedBy};
use quita_domain::identity::TransactionId;
use quita_domain::money::Money;
use quita_domain::time::Timestamp;
use tokio::time::sleep;

use super::{Bank, Holding, notify};
use crate::chance::Fault;
use crate::world::World;

/// Payers in a thousand who never pay.
const NEVER: u64 = 150;

/// Time left when a last-moment payer pays, in milliseconds.
const LAST_MOMENT_MS: u64 = 5_000;

/// Longest time that money paid in time is under way, in milliseconds.
pub(crate) const LONGEST_TRANSIT_MS: u64 = 80_000;

/// Maximum number of chargebacks of one payment after the first.
const MOST_CHARGEBACKS: u32 = 2;

/// Lets people act on a charge that was made: the payer may pay from now on.
pub(super) fn after_charge(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    let holding = bank.books()[&id].holding;
    match holding {
        Holding::Awaited => {
            send_payer(world, bank, id);
            if world.strikes(Fault::DeskRemoval) {
                later(world, bank, id, remove_at_the_desk);
            }
        }
        Holding::Captured => captured(world, bank, id, false),
        Holding::Authorised => {
            if world.strikes(Fault::DeskRemoval) {
                later(world, bank, id, remove_at_the_desk);
            } else if world.strikes(Fault::DeskCapture) {
                later(world, bank, id, capture_at_the_desk);
            }
            let fact = bank.books().get_mut(&id).unwrap().fact(id.uuid(), world.clock.now());
            notify::notify(world, bank, id, "authorised", fact, false);
        }
        Holding::Declined | Holding::Expired | Holding::Cancelled | Holding::Lapsed => {}
    }
}

/// Enters a charge that was issued without the bank. The bank knows it from when its payment was stored.
pub(super) fn issued_locally(world: &Arc<World>, bank: &Arc<Bank>, query: &ChargeQuery) {
    if bank.books().contains_key(&query.id) {
        return;
    }
    bank.books().insert(query.id, bank.entry(query, Holding::Awaited));
    send_payer(world, bank, query.id);
}

fn send_payer(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    if bank.books()[&id].has_no_code {
        return;
    }
    let is_registered = bank.books()[&id].registered_at <= world.clock.now();
    if is_registered && world.strikes(Fault::PayerIsFast) {
        pay(world, bank, id);
        return;
    }
    if is_registered && world.strikes(Fault::PayerIsInTime) {
        let expires_at = bank.books()[&id].expires_at();
        let last_moment = i64::try_from(LAST_MOMENT_MS).unwrap();
        world.appoint(Timestamp::from_millis(expires_at.millis() - last_moment));
        let world = Arc::clone(world);
        let bank = Arc::clone(bank);
        Arc::clone(&world).errand(async move { pay_in_the_last_moment(&world, &bank, id).await });
        return;
    }
    let is_late = world.strikes(Fault::PayerIsLate);
    if !is_late && world.chance.per_mille(NEVER) {
        return;
    }
    let unregistered_ms = bank.books()[&id].registered_at.ms_since(world.clock.now());
    let wait_ms = unregistered_ms + world.chance.between(100, 20_000);
    let world = Arc::clone(world);
    let bank = Arc::clone(bank);
    let errand = Arc::clone(&world);
    errand.errand(async move {
        sleep(Duration::from_millis(wait_ms)).await;
        if is_late {
            expire(&world, &bank, id).await;
        }
        pay(&world, &bank, id);
    });
}

/// Pays before the time to pay is over; the payer's bank reports it to this one with a delay.
async fn pay_in_the_last_moment(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    let expires_at = bank.books()[&id].expires_at();
    for _ in 0..600 {
        let left_ms = expires_at.ms_since(world.clock.now());
        if left_ms == 0 {
            return;
        }
        if left_ms <= LAST_MOMENT_MS {
            bank.books().get_mut(&id).unwrap().is_in_transit = true;
            let transit_ms = world.chance.between(1, LONGEST_TRANSIT_MS);
            let own = Arc::clone(world);
            let bank = Arc::clone(bank);
            world.errand_of_notice(async move {
                sleep(Duration::from_millis(transit_ms)).await;
                pay(&own, &bank, id);
            });
            return;
        }
        sleep(Duration::from_millis(250)).await;
    }
}

/// Waits until the time to pay is over and the bank knows it.
async fn expire(world: &World, bank: &Bank, id: TransactionId) {
    let expires_at = bank.books()[&id].expires_at();
    // The clock is moved forward elsewhere. A payer who never sees that day does not delay the world.
    for _ in 0..200 {
        if world.clock.now() > expires_at {
            bank.books().get_mut(&id).unwrap().fact(id.uuid(), world.clock.now());
            return;
        }
        sleep(Duration::from_millis(250)).await;
    }
}

fn pay(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    let mut books = bank.books();
    let entry = books.get_mut(&id).unwrap();
    entry.fact(id.uuid(), world.clock.now());
    let crosses = entry.holding == Holding::Cancelled && world.strikes(Fault::PayerCrosses);
    let is_late = matches!(entry.holding, Holding::Expired) || crosses;
    if entry.holding != Holding::Awaited && !is_late {
        return;
    }
    entry.came_after_its_time = entry.is_in_transit && world.clock.now() > entry.expires_at();
    entry.holding = Holding::Captured;
    entry.is_crossed = crosses;
    let asked = match world.store.payment(id) {
        Some(payment) => payment.order.amount,
        // The bank knows the amount although the store forgot it.
        None if world.installation.was_set_back(id) => entry.asked,
        None => Money::ZERO,
    };
    entry.is_odd = asked != Money::ZERO && world.strikes(Fault::PayerErrs);
    let now = world.clock.now();
    let cent = Money::from_cents(1);
    let costs_interest = entry.costs_interest(now);
    entry.paid_on = Some(now.sao_paulo_date());
    entry.captured = match entry.is_odd {
        true if !costs_interest && world.chance.per_mille(500) => asked.plus(cent),
        true => asked.minus(cent),
        false => asked,
    };
    let pays_interest = costs_interest && !entry.is_odd && world.chance.per_mille(700);
    entry.interest =
        if pays_interest { Money::from_cents(world.chance.between(1, 500)) } else { Money::ZERO };
    let is_odd = entry.is_odd;
    drop(books);
    world.note(|| format!("{} is paid {id}", bank.name()));
    captured(world, bank, id, is_late || is_odd);
}

/// Reports money that has come in; chargebacks or refunds may follow.
pub(super) fn captured(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId, must_be_told: bool) {
    let fact = bank.books().get_mut(&id).unwrap().fact(id.uuid(), world.clock.now());
    let is_odd = bank.books()[&id].is_odd;
    notify::notify(world, bank, id, "settled", fact, must_be_told);
    if is_odd {
        return;
    }
    if world.strikes(Fault::Chargeback) {
        later(world, bank, id, charge_back);
    } else if !bank.manner.knows_sums_only && world.strikes(Fault::DeskRefund) {
        later(world, bank, id, refund_at_the_desk);
    }
}

fn later(
    world: &Arc<World>,
    bank: &Arc<Bank>,
    id: TransactionId,
    what: fn(&Arc<World>, &Arc<Bank>, TransactionId),
) {
    let wait_ms = world.chance.between(10, 15_000);
    let world = Arc::clone(world);
    let bank = Arc::clone(bank);
    let errand = Arc::clone(&world);
    errand.errand(async move {
        sleep(Duration::from_millis(wait_ms)).await;
        what(&world, &bank, id);
    });
}

/// Charges money back: all of it, or the first part, with the others later.
fn charge_back(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    let mut books = bank.books();
    let entry = books.get_mut(&id).unwrap();
    entry.pass_to(world.clock.now());
    let place = entry.chargebacks;
    entry.chargebacks += 1;
    let chargeback = format!("chargeback-{place}-{id}");
    let is_part = world.chance.per_mille(500);
    let amount = is_part.then(|| Money::from_cents(world.chance.between(1, entry.captured.cents())));
    let fact = entry.charge_back(&chargeback, amount);
    drop(books);
    notify::notify(world, bank, id, &chargeback, fact, true);
    if place < MOST_CHARGEBACKS && world.strikes(Fault::ChargebackAgain) {
        later(world, bank, id, charge_back);
    }
    if world.chance.per_mille(500) {
        let own = Arc::clone(world);
        let own_bank = Arc::clone(bank);
        let wait_ms = world.chance.between(10, 15_000);
        world.errand(async move {
            sleep(Duration::from_millis(wait_ms)).await;
            win_dispute(&own, &own_bank, id, &chargeback);
        });
    }
}

fn win_dispute(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId, chargeback: &str) {
    let won = format!("won-{chargeback}");
    let is_named = bank.manner.names_disputes;
    let fact = bank.books().get_mut(&id).unwrap().win(won.clone(), chargeback, is_named);
    notify::notify(world, bank, id, &won, fact, true);
}

fn refund_at_the_desk(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    let mut books = bank.books();
    let entry = books.get_mut(&id).unwrap();
    let left = entry.left();
    if entry.is_charged_back() || left == Money::ZERO {
        return;
    }
    let amount = Money::from_cents(world.chance.between(1, left.cents()));
    entry.give_back_at_the_desk(&format!("desk-{id}"), amount);
    drop(books);
    let fact = Fact::Refunded { refund_id: format!("desk-{id}"), amount: Some(amount) };
    notify::notify(world, bank, id, "desk-refund", fact, true);
}

/// Withdraws a waiting charge, or voids a card, at the desk. The bank itself may also withdraw a charge.
fn remove_at_the_desk(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    let mut books = bank.books();
    let entry = books.get_mut(&id).unwrap();
    entry.pass_to(world.clock.now());
    if !matches!(entry.holding, Holding::Awaited | Holding::Authorised) || entry.is_in_transit {
        return;
    }
    let is_banks = entry.holding == Holding::Awaited && world.chance.per_mille(300);
    let fact = entry.remove(if is_banks { RemovedBy::Acquirer } else { RemovedBy::Receiver });
    drop(books);
    world.note(|| format!("{} removes {id}", bank.name()));
    notify::notify(world, bank, id, "removed", fact, true);
}

/// Captures a card whose limit is held, in whole or in part, at the desk.
fn capture_at_the_desk(world: &Arc<World>, bank: &Arc<Bank>, id: TransactionId) {
    let asked = world.store.payment(id).map_or(Money::ZERO, |payment| payment.order.amount);
    let mut books = bank.books();
    let entry = books.get_mut(&id).unwrap();
    entry.pass_to(world.clock.now());
    if entry.holding != Holding::Authorised || entry.is_late || asked == Money::ZERO {
        return;
    }
    let is_part = world.chance.per_mille(500);
    let amount = if is_part { world.chance.between(1, asked.cents()) } else { asked.cents() };
    entry.capture_at_the_desk(Money::from_cents(amount));
    drop(books);
    world.note(|| format!("{} captures {id} at its desk", bank.name()));
    captured(world, bank, id, true);
}
