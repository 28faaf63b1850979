//! Payers of a counterparty's charges, card holders, and people at its desk. No call reports their actions.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::RemovedBy;
use quita_domain::identity::TransactionId;
use quita_domain::money::Money;
use quita_domain::status::Status;
use quita_domain::time::{DAY_MS, Timestamp};
use tokio::time::sleep;

use super::Provider;
use super::till::Act;
use crate::bank::Holding;
use crate::chance::Fault;
use crate::world::World;

/// Payers in a thousand who never pay.
const NEVER: u64 = 150;
/// Time left when a last-moment payer pays, in milliseconds.
const LAST_MOMENT_MS: u64 = 5_000;
/// Maximum number of days after which money is charged back. A card is looked at 60 days after its payment.
const LATEST_DAYS: u64 = 40;
/// Maximum number of chargebacks of one payment after the first.
const MOST_CHARGEBACKS: u32 = 2;

/// Lets people act on a charge that was created or has changed.
pub(super) fn after(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId, holding: Holding) {
    match holding {
        Holding::Awaited => send_payer(world, provider, id),
        Holding::Authorised => {
            if world.strikes(Fault::DeskRemoval) {
                later(world, provider, id, void);
            } else if world.strikes(Fault::DeskCapture) {
                later(world, provider, id, capture);
            }
        }
        Holding::Captured => money_came(world, provider, id),
        Holding::Declined | Holding::Expired | Holding::Cancelled | Holding::Lapsed => {}
    }
}

fn send_payer(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    if world.strikes(Fault::PayerIsFast) {
        pay(world, provider, id);
        return;
    }
    if world.strikes(Fault::DeskRemoval) {
        later(world, provider, id, withdraw);
        return;
    }
    if world.strikes(Fault::PayerIsInTime) {
        let expires_at = provider.expires_at(id);
        world.appoint(Timestamp::from_millis(expires_at.millis() - i64::try_from(LAST_MOMENT_MS).unwrap()));
        wait_until(world, provider, id, expires_at, LAST_MOMENT_MS, pay);
        return;
    }
    let is_late = world.strikes(Fault::PayerIsLate);
    if !is_late && world.chance.per_mille(NEVER) {
        return;
    }
    if is_late {
        let expires_at = provider.expires_at(id);
        wait_until(world, provider, id, expires_at.plus_ms(1_000), 0, pay);
    } else {
        later(world, provider, id, pay);
    }
}

/// Acts when this much of the time is left, if that moment comes. The clock is moved forward elsewhere.
fn wait_until(
    world: &Arc<World>,
    provider: &Arc<Provider>,
    id: TransactionId,
    end: Timestamp,
    left_ms: u64,
    what: fn(&Arc<World>, &Arc<Provider>, TransactionId),
) {
    let own = Arc::clone(world);
    let provider = Arc::clone(provider);
    world.errand(async move {
        for _ in 0..600 {
            let left = end.ms_since(own.clock.now());
            if left <= left_ms {
                if left > 0 || left_ms == 0 {
                    what(&own, &provider, id);
                }
                return;
            }
            sleep(Duration::from_millis(250)).await;
        }
    });
}

fn later(
    world: &Arc<World>,
    provider: &Arc<Provider>,
    id: TransactionId,
    what: fn(&Arc<World>, &Arc<Provider>, TransactionId),
) {
    let wait_ms = world.chance.between(10, 20_000);
    let own = Arc::clone(world);
    let provider = Arc::clone(provider);
    let until = world.clock.now().plus_ms(LATEST_DAYS * DAY_MS);
    world.errand(async move {
        sleep(Duration::from_millis(wait_ms)).await;
        // In calm the wall clock moves forward by months at once. After three, queries at Cielo no longer find the sale.
        if own.clock.now() <= until {
            what(&own, &provider, id);
        }
    });
}

/// Pays the requested amount or another one, and sometimes twice.
fn pay(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    let Some(account) = provider.account(world, id) else { return };
    let crosses = account.holding == Holding::Cancelled && world.strikes(Fault::PayerCrosses);
    if !(crosses || matches!(account.holding, Holding::Awaited | Holding::Expired)) {
        return;
    }
    let asked = provider.asked(id);
    let errs = world.strikes(Fault::PayerErrs);
    let cent = Money::from_cents(1);
    let amount = match errs {
        true if asked == cent || world.chance.per_mille(500) => asked.plus(cent),
        true => asked.minus(cent),
        false => asked,
    };
    let is_found = provider.finds_what_came_in(id);
    let is_taken = provider.act(world, id, Act::Pay { amount }, |marks| {
        marks.is_odd |= errs;
        marks.may_be_contradicted |= crosses;
        marks.must_be_told |= !is_found;
    });
    if !is_taken {
        return;
    }
    money_came(world, provider, id);
    if world.strikes(Fault::PayerPaysTwice) {
        later(world, provider, id, pay_again);
    }
}

fn pay_again(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    let amount = provider.asked(id);
    // Both payments were under way when we withdrew the charge. The bank books one after the other, and only its lists
    // show both.
    let is_withdrawn = provider.account(world, id).is_some_and(|one| one.holding == Holding::Cancelled);
    provider.act(world, id, Act::Pay { amount }, |marks| {
        marks.is_odd = true;
        marks.is_listed_alone |= is_withdrawn;
    });
}

/// Lets people act on money that came in: it may be charged back, or given back at the desk.
fn money_came(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    if provider.account(world, id).is_some_and(|account| account.is_odd) {
        return;
    }
    if provider.finds_what_comes_later(world, id) && world.strikes(Fault::ComesLater) {
        days_later(world, provider, id);
    } else if world.strikes(Fault::Chargeback) {
        later(world, provider, id, charge_back);
    } else if world.strikes(Fault::DeskRefund) {
        later(world, provider, id, give_back);
    }
}

/// Charges the money back, or gives it back, days after it came in, without any notice.
fn days_later(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    let at = world.clock.now().plus_ms(world.chance.between(2, LATEST_DAYS) * DAY_MS);
    let own = Arc::clone(world);
    let provider = Arc::clone(provider);
    world.errand(async move {
        while own.clock.now() < at {
            // The clock may have been there before, and was set back.
            own.appoint(at);
            sleep(Duration::from_secs(1)).await;
        }
        // A payment that is not paid here, or is disputed, is handled elsewhere.
        let is_paid = own.store.payment(id).is_some_and(|payment| payment.status() == Status::Paid);
        if !is_paid || own.installation.plan.may_forget() {
            return;
        }
        provider.marks.lock().unwrap().entry(id).or_default().is_untold = true;
        if own.chance.per_mille(500) {
            charge_back(&own, &provider, id);
        } else {
            give_back(&own, &provider, id);
        }
    });
}

fn charge_back(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    let Some(account) = provider.account(world, id) else { return };
    if account.holding != Holding::Captured || account.captured == Money::ZERO {
        return;
    }
    let place = account.chargebacks;
    let is_part = world.chance.per_mille(500);
    let left = provider.left(world, id);
    if left == Money::ZERO {
        return;
    }
    let amount = if is_part { Money::from_cents(world.chance.between(1, left.cents())) } else { left };
    let is_taken = provider.act(world, id, Act::ChargeBack { amount }, |marks| {
        marks.chargebacks += 1;
        marks.must_be_told = true;
    });
    if is_taken && place < MOST_CHARGEBACKS && world.strikes(Fault::ChargebackAgain) {
        later(world, provider, id, charge_back);
    }
}

fn give_back(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    let left = provider.left(world, id);
    let Some(account) = provider.account(world, id) else { return };
    if account.is_charged_back || left == Money::ZERO {
        return;
    }
    let amount = Money::from_cents(world.chance.between(1, left.cents()));
    provider.act(world, id, Act::GiveBack { amount }, |marks| marks.must_be_told = true);
}

fn withdraw(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    let by = if world.chance.per_mille(500) { RemovedBy::Acquirer } else { RemovedBy::Receiver };
    provider.act(world, id, Act::Withdraw { by }, |marks| marks.removed_by = Some(by));
}

/// Voids a card that is only authorised. After a capture this would be a refund, which [`give_back`] does.
fn void(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    if provider.account(world, id).is_none_or(|account| account.holding != Holding::Authorised) {
        return;
    }
    provider.act(world, id, Act::Void, |marks| marks.removed_by = Some(RemovedBy::Receiver));
}

fn capture(world: &Arc<World>, provider: &Arc<Provider>, id: TransactionId) {
    let asked = provider.asked(id).cents();
    let cents = if world.chance.per_mille(500) { asked } else { world.chance.between(1, asked) };
    let is_done = provider.act(world, id, Act::Capture { amount: Money::from_cents(cents) }, |marks| {
        (marks.was_captured_at_the_desk, marks.must_be_told) = (true, true);
    });
    if is_done {
        money_came(world, provider, id);
    }
}
