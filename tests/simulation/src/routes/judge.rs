//! Judge of whether payments followed the requested routes. Uses the wishes, the payments' records and the banks' own
//! books. Knows nothing of how the service plans.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use quita_domain::acquiring::DeclineKind;
use quita_domain::card::{Brand, MaskedCard};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::Payment;
use quita_domain::routing::{Attempt, Condition, Version};
use quita_domain::status::Status;
use quita_domain::time::{DAY_MS, Timestamp};

use super::{Place, Routes, Wish, name_of};
use crate::chance::Fault;
use crate::world::World;

/// Tolerance of the windows in which tries are counted, as a try arrives after the decision.
const TOLERANCE_MS: u64 = 15 * 60_000;

/// Offset of Brasília, which is three hours behind UTC.
const BEHIND_MS: i64 = 3 * 3_600_000;

/// Tries of cards as the banks saw them arrive.
#[derive(Debug, Default)]
pub(crate) struct Tries(Vec<(String, TransactionId, Timestamp)>);

impl Tries {
    pub(crate) fn note(&mut self, card: &MaskedCard, id: TransactionId, at: Timestamp) {
        self.0.push((key(card), id, at));
    }

    /// Returns the moment at which this payment last came to a bank.
    fn last_of(&self, id: TransactionId) -> Option<Timestamp> {
        self.0.iter().filter(|(_, known, _)| *known == id).map(|(_, _, at)| *at).max()
    }

    /// Returns the number of this card's tries after the first moment and not after the second.
    fn count(&self, card: &MaskedCard, after: Timestamp, until: Timestamp) -> usize {
        let card = key(card);
        let counts = |at: Timestamp| at > after && at <= until;
        self.0.iter().filter(|(known, _, at)| *known == card && counts(*at)).count()
    }
}

fn key(card: &MaskedCard) -> String {
    format!("{}{}", card.first_digits, card.last_digits)
}

/// Returns true if the payment went to another bank after a decline.
pub(crate) fn is_tried_further(payment: &Payment) -> bool {
    payment.state.attempts.iter().any(|attempt| attempt.decline.is_some())
}

/// Checks every payment that was routed.
pub(crate) fn check(world: &World) {
    let payments = world.store.payments();
    let routed = || payments.iter().filter(|payment| payment.routed.version.is_some());
    let mut sticky = Vec::new();
    for payment in routed() {
        let fits = |routes: &Routes| considered(payment) == takers(world, routes, payment);
        let Some(routes) = world.installation.configurations.routes_of(payment, fits) else {
            world.violation(format!("{} went by routes that nobody gave", payment.id));
            continue;
        };
        check_rule(world, &routes, payment);
        check_considered(world, &routes, payment);
        check_order(world, &routes, payment);
        // The outcome of an earlier try may have been lost with the store's last hour.
        if !world.installation.was_set_back(payment.id) {
            check_further(world, payment);
        }
        if !world.installation.was_restored() {
            check_limits(world, payment);
        }
        // The payer of an erased payment is no longer known, nor which other payments have the same payer.
        if routes.is_sticky && !routes.prefers_net && !payment.is_erased() {
            sticky.push(payment.as_ref());
        }
    }
    check_sticky(world, sticky.into_iter());
}

/// Returns the acquirers that were considered.
fn considered(payment: &Payment) -> BTreeSet<AcquirerName> {
    payment.considered.iter().map(|one| one.acquirer.clone()).collect()
}

/// Returns the acquirers that are configured and take the method.
fn takers(world: &World, routes: &Routes, payment: &Payment) -> BTreeSet<AcquirerName> {
    let configured = routes.configured(world.banks.len()).map(|bank| &world.banks[bank]);
    configured.filter(|bank| bank.takes(payment.method())).map(|bank| bank.name().clone()).collect()
}

/// Returns the wish that decides about a payment, with its place: the first that matches.
fn wish<'a>(world: &World, routes: &'a Routes, payment: &Payment) -> Option<(usize, &'a Wish)> {
    let method = payment.method();
    let local_ms = payment.created_at.millis() - BEHIND_MS;
    let minute = u16::try_from(local_ms.div_euclid(60_000).rem_euclid(1_440)).unwrap();
    let cents = payment.order.amount.cents();
    let holds = |wish: &Wish| {
        let in_time = wish.minutes.is_none_or(|(from, to)| {
            let length = (1_440 + to - from) % 1_440;
            (1_440 + minute - from) % 1_440 < length
        });
        let is_brand = |brand| payment.order.card().is_some_and(|card| card.brand == brand);
        let takes = |(bank, _): &(Place, u32)| world.banks[*bank].takes(method);
        in_time
            && wish.method.is_none_or(|wanted| wanted == method)
            && wish.brand.is_none_or(is_brand)
            && wish.cents.is_none_or(|(least, most)| least <= cents && cents <= most)
            && (wish.uses.is_empty() || wish.uses.iter().any(takes))
    };
    routes.rules.iter().enumerate().find(|(_, wish)| holds(wish))
}

fn check_rule(world: &World, routes: &Routes, payment: &Payment) {
    let id = payment.id;
    let wished = wish(world, routes, payment);
    let expected = wished.map(|(place, _)| name_of(place));
    if payment.routed.rule != expected {
        world.violation(format!("{id}: {:?} decided, it should be {expected:?}", payment.routed.rule));
    }
    let goes_further = wished.is_some_and(|(_, wish)| wish.goes_further);
    if payment.routed.retries_declines != goes_further {
        world.violation(format!("{id}: that a decline goes further is not as its rule says"));
    }
}

fn share(wish: Option<&Wish>, bank: Place) -> Option<u32> {
    wish?.uses.iter().find(|(known, _)| *known == bank).map(|(_, share)| *share)
}

fn place(world: &World, name: &AcquirerName) -> Place {
    world.banks.iter().position(|bank| bank.name() == name).unwrap()
}

/// Checks that exactly the acquirers that take the method were considered. Where a rule stops, no other acquirer is
/// eligible. No ineligible acquirer was used.
fn check_considered(world: &World, routes: &Routes, payment: &Payment) {
    let id = payment.id;
    let wish = wish(world, routes, payment).map(|(_, wish)| wish);
    let known = considered(payment);
    let expected = takers(world, routes, payment);
    if known != expected || known.len() != payment.considered.len() {
        world.violation(format!("{id}: {known:?} were considered, not {expected:?}"));
    }
    let stops = wish.is_some_and(|wish| wish.stops && !wish.uses.is_empty());
    for one in payment.considered.iter() {
        let is_named = share(wish, place(world, &one.acquirer)).is_some();
        if (stops && !is_named) != (one.reason == "not_in_rule") || (stops && !is_named && one.eligible) {
            world
                .violation(format!("{id}: {} is {} where its rule stops: {stops}", one.acquirer, one.reason));
        }
    }
    for attempt in &payment.state.attempts {
        let mut eligible = payment.considered.iter().filter(|one| one.eligible);
        if eligible.all(|one| one.acquirer != attempt.acquirer) {
            world.violation(format!("{id} went to {}, which may not have it", attempt.acquirer));
        }
    }
}

/// Checks the order of the healthy acquirers. Named ones come first; the others follow by priority or by expected net
/// amount.
fn check_order(world: &World, routes: &Routes, payment: &Payment) {
    let wish = wish(world, routes, payment).map(|(_, wish)| wish);
    let considered = payment.considered.iter().enumerate();
    let well: Vec<_> = considered
        .filter(|(_, one)| one.eligible)
        .filter_map(|(seen, one)| {
            let (condition, approvals) = payment.routed.saw.at(seen)?;
            (condition == Condition::Healthy).then(|| (place(world, &one.acquirer), approvals))
        })
        .collect();
    for pair in well.windows(2) {
        let [(one, ones), (other, others)] = pair else { continue };
        let class = |bank: Place| match share(wish, bank) {
            Some(0) => (0, 1),
            Some(_) => (0, 0),
            None => (1, routes.priorities.get(bank).copied().unwrap_or(1)),
        };
        let brings = |bank: Place, approved: u8, tries: u8| {
            let left = i128::from(payment.order.amount.cents()) - fee(routes, bank, payment);
            ((i128::from(approved) + 1) * left, i128::from(tries) + 2)
        };
        let (more, less) =
            (brings(*one, ones.approved, ones.tries), brings(*other, others.approved, others.tries));
        let is_right = match class(*one).cmp(&class(*other)) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal if routes.prefers_net && class(*one).0 == 1 => more.0 * less.1 >= less.0 * more.1,
            Ordering::Equal => true,
        };
        if !is_right {
            world.violation(format!("{}: bank{one} was to be tried after bank{other}", payment.id));
        }
    }
}

/// Returns the fee of a bank for a payment; half a cent is rounded up.
fn fee(routes: &Routes, bank: Place, payment: &Payment) -> i128 {
    let is_about = |method| method == payment.method();
    let fee = routes.costs.iter().find(|fee| fee.bank == bank && fee.method.is_none_or(is_about));
    let cents = i128::from(payment.order.amount.cents());
    fee.map_or(0, |fee| (cents * i128::from(fee.basis_points) + 5_000) / 10_000 + i128::from(fee.fixed))
}

/// Checks that a decline leads to at most one further bank. The rule must require it, and the decline must not be
/// final.
fn check_further(world: &World, payment: &Payment) {
    let id = payment.id;
    let attempts = &payment.state.attempts;
    let declines = |attempt: &&Attempt| attempt.decline.is_some();
    let Some(first) = attempts.iter().position(|attempt| attempt.decline.is_some()) else {
        check_nobody_after_a_decline(world, payment);
        return;
    };
    let after = &attempts[first + 1..];
    let is_one = after.iter().all(|attempt| attempt.acquirer == after[0].acquirer);
    let is_other =
        attempts[..=first].iter().all(|attempt| after.iter().all(|one| one.acquirer != attempt.acquirer));
    if after.is_empty() || !is_one || !is_other || attempts.iter().filter(declines).count() != 1 {
        world.violation(format!("{id} went further wrongly: {attempts:?}"));
    }
    if !payment.routed.retries_declines {
        world.violation(format!("{id} went further although no rule wants it"));
    }
    let said = attempts[first].decline.as_ref().and_then(|decline| decline.kind);
    let bank = &world.banks[place(world, &attempts[first].acquirer)];
    let held = bank.account(world, id).and_then(|account| account.declined_as);
    if said != Some(DeclineKind::Reversible) || held.is_some_and(|kind| kind != Some(DeclineKind::Reversible))
    {
        world.violation(format!("{id} went further after a decline that is {held:?}, heard as {said:?}"));
    }
    let was_approved = payment.state.authorization_code.is_some();
    if payment.status() == Status::Declined && !was_approved && payment.state.decline.is_none() {
        world.violation(format!("{id} is declined, and nobody knows what the issuer said"));
    }
}

/// Checks that a bank whose issuer declined was the last one.
fn check_nobody_after_a_decline(world: &World, payment: &Payment) {
    let id = payment.id;
    let attempts = &payment.state.attempts;
    let Some((_, earlier)) = attempts.split_last() else { return };
    for attempt in earlier {
        let account = world.banks[place(world, &attempt.acquirer)].account(world, id);
        let is_elsewhere = Some(&attempt.acquirer) != payment.acquirer();
        // The decline of a charge that arrived after all parties gave it up reached no one.
        let was_lost = world.faults.has_struck(Fault::BankLateArrival);
        if is_elsewhere && !was_lost && account.is_some_and(|account| account.declined_as.is_some()) {
            world.violation(format!("{id} went on from {} as if nobody had declined it", attempt.acquirer));
        }
    }
}

/// Returns the number of tries that the brands allow for one card in 24 hours and in 30 days.
fn limits(brand: Brand) -> Option<(usize, usize)> {
    match brand {
        Brand::Visa | Brand::Elo => Some((usize::MAX, 15)),
        Brand::Mastercard | Brand::Hiper => Some((7, 35)),
        Brand::Hipercard | Brand::Amex | Brand::Diners | Brand::Discover | Brand::Jcb | Brand::Aura => None,
    }
}

/// Checks that a card had been tried less often than its brand allows when its payment went further. Counts the tries
/// that the banks had seen before the payment was created, which were certainly stored by then, and its own first try.
/// (A call may arrive much later than it is sent.)
fn check_limits(world: &World, payment: &Payment) {
    // With a clock that is ahead or behind, the windows differ.
    if !is_tried_further(payment) || world.faults.has_struck(Fault::ClockJumps) {
        return;
    }
    let tries = world.tries.lock().unwrap();
    let Some(last) = tries.last_of(payment.id) else { return };
    let Some(card) = payment.order.card() else { return };
    let Some((in_a_day, in_30_days)) = limits(card.brand) else { return };
    for (window_ms, most) in [(DAY_MS, in_a_day), (30 * DAY_MS, in_30_days)] {
        let since = last.minus_ms(window_ms).plus_ms(TOLERANCE_MS);
        let count = tries.count(card, since, payment.created_at) + 1;
        if count >= most {
            let days = window_ms / DAY_MS;
            world.violation(format!("{} went further after {count} tries in {days} days", payment.id));
        }
    }
}

/// Checks that the same payer gets the same bank where all were healthy.
fn check_sticky<'a>(world: &World, payments: impl Iterator<Item = &'a Payment>) {
    let mut ways: BTreeMap<_, Vec<&AcquirerName>> = BTreeMap::new();
    for payment in payments {
        let is_well =
            |seen| payment.routed.saw.at(seen).is_some_and(|(condition, _)| condition == Condition::Healthy);
        if !(0..payment.considered.len()).all(is_well) {
            continue;
        }
        let way: Vec<_> = payment.considered.iter().map(|one| &one.acquirer).collect();
        let payer = payment.order.payer.document.as_str();
        // One version may have several sets of acquirers, if one of them was not configured for a while.
        let those = (payment.routed.version.as_ref().map(Version::as_str), considered(payment));
        let known = ways
            .entry((payment.method().label(), &payment.routed.rule, payer, those))
            .or_insert_with(|| way.clone());
        if *known != way {
            world.violation(format!("{}: its payer met {way:?}, and {known:?} before", payment.id));
        }
    }
}
