//! One world from beginning to end: storms, and the quiet after them.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::identity::OperationId;
use quita_domain::method::Method;
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::payment::Payment;
use quita_domain::routing::TRIES_ARE_COUNTED_FOR_MS;
use quita_domain::status::Status;
use tokio::time::sleep;

use crate::bank::LONGEST_TRANSIT_MS;
use crate::chance::{Chance, Fault, Faults};
use crate::installation::{self, Plan};
use crate::invariants;
use crate::links;
use crate::merchant::{Merchant, steps_by_chance};
use crate::node::Node;
use crate::operator;
use crate::orders::{CARDS, Request};
use crate::party::Make;
use crate::planted::Mistake;
use crate::provider::{Trade, api_pix, cielo, pagarme, sicoob};
use crate::reconciling;
use crate::routes::{self, Routes};
use crate::world::{Manner, Setting, World};

/// Maximum number of steps that the nodes may take until all is quiet.
const STEPS: u32 = 4_000;
const STEP: Duration = Duration::from_millis(2_200);

/// Number of inquiries about a charge that is not ours. After these, an operator has its report, and inquiries are
/// hourly.
const REPORTED_LONG_AGO: u32 = 10;

/// Length in bytes of a story in which little happened.
const SHORT_STORY: usize = 1_000;

/// Age in milliseconds at which the fingerprint of a payment's card is gone, plus a clock's error.
const CARD_IS_GONE_AFTER_MS: u64 = TRIES_ARE_COUNTED_FOR_MS + 2 * 3_600_000;

/// Outcome of a world.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) violations: Vec<String>,
    /// Payments that were stored.
    pub(crate) payments: u64,
    pub(crate) events: u64,
    pub(crate) acknowledged: u64,
    /// Payments that went on to another bank after a decline.
    pub(crate) further: u64,
    /// Number of times that each fault struck, in the order of `Fault::ALL`.
    pub(crate) struck: Vec<u64>,
    /// Number of times that each event happened to the installation, in the order of `Happening::ALL`.
    pub(crate) happened: Vec<u64>,
    pub(crate) trace: String,
    /// Gates that the first node passed.
    pub(crate) gates: u64,
}

/// Runs a world in paused time.
pub(crate) fn live(world: impl AsyncFnOnce() -> Arc<World>) -> Outcome {
    let runner = actix::System::with_tokio_rt(|| {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    });
    runner.block_on(async {
        let world = world().await;
        let outcome = Outcome {
            violations: world.violations(),
            payments: world.store.payments().len() as u64,
            events: world.store.payments().iter().map(|payment| payment.history.len() as u64).sum(),
            acknowledged: world.acknowledged().len() as u64,
            further: world.store.payments().iter().filter(|one| routes::is_tried_further(one)).count() as u64,
            struck: world.faults.struck(),
            happened: world.installation.happened(),
            trace: world.trace.text(),
            gates: world.node(0).map_or(0, |node| node.fuse.gates()),
        };
        world.end();
        outcome
    })
}

/// Simulates the world of one seed.
pub(crate) fn seed(seed: u64, wants_trace: bool) -> Outcome {
    seed_with(seed, wants_trace, None)
}

/// Simulates the world of one seed twice, which must tell the same long story to the letter.
pub(crate) fn seed_twice(number: u64) -> Outcome {
    let mut once = seed(number, true);
    let again = seed(number, true);
    if once.trace.len() <= SHORT_STORY {
        once.violations.push("little happened".into());
    }
    if once.trace != again.trace {
        let same =
            once.trace.lines().zip(again.trace.lines()).take_while(|(one, other)| one == other).count();
        let line = once.trace.lines().nth(same).unwrap_or("its end");
        once.violations.push(format!("lived again, the same seed told another story from here on: {line}"));
    }
    once
}

/// Simulates the world of one seed, in which the service makes a mistake.
pub(crate) fn seed_with(seed: u64, wants_trace: bool, mistake: Option<Mistake>) -> Outcome {
    live(async || {
        let chance = Chance::new(!seed);
        let nodes = usize::try_from(chance.between(1, 3)).unwrap();
        let is_embedded = nodes == 1 && chance.per_mille(700);
        let mut banks: Vec<_> = (0..chance.between(1, 3)).map(|_| make(&chance)).collect();
        // Uses a random stream of its own, so that worlds without it do not change.
        let boletos = Chance::new(seed.rotate_left(24));
        if boletos.per_mille(200) {
            banks.push(Make::Provider(Trade::Sicoob(sicoob::Ways::by(&boletos))));
        }
        let gateway = Chance::new(seed.rotate_left(8) ^ 0x9_a669);
        if gateway.per_mille(150) {
            banks.push(Make::Provider(Trade::Pagarme(pagarme::Ways::by(&gateway))));
        }
        let faults = Faults::by(&chance).and_later(&Chance::new(seed.rotate_left(48)));
        let routes = Routes::by(&chance, banks.len());
        let tried_before = tried_before(&chance, &routes);
        // Uses a random stream of its own, so that other worlds do not change.
        let changes_keys = nodes > 1 && Chance::new(seed.rotate_left(32)).per_mille(250);
        let setting = Setting {
            nodes,
            is_embedded,
            banks,
            routes,
            tried_before,
            changes_keys,
            plan: Plan::by(seed, changes_keys),
            faults,
            wants_trace,
            mistake,
        };
        let world = World::new(seed, setting);
        drop(actix::spawn(tell_news(Arc::clone(&world))));
        drop(actix::spawn(installation::erase(Arc::clone(&world))));
        drop(actix::spawn(reconciling::live_nights(Arc::clone(&world))));
        let rounds = chance.between(1, 2);
        for round in 0..rounds {
            let restoring = actix::spawn(installation::restore(Arc::clone(&world), round + 1 == rounds));
            storm(&world, round, 20 / rounds).await;
            restoring.abort();
            if round + 1 == rounds {
                installation::restore_at_last(&world);
            }
            if round + 1 < rounds && world.strikes(Fault::NodesAreDownAtNight) {
                sleep_through(&world).await;
            } else if round + 1 < rounds && world.strikes(Fault::StormAtNight) {
                wait_for_night(&world).await;
            } else {
                settle(&world).await;
            }
        }
        links::take_what_is_left(&world).await;
        grow_old(&world).await;
        world
    })
}

/// Draws the tries that each card already had. In some worlds where tries are counted, few are left.
fn tried_before(chance: &Chance, routes: &Routes) -> Vec<u64> {
    let few_left = [14, 6, 14];
    let tried = |most: u64| if chance.per_mille(400) { chance.between(most - 4, most + 1) } else { 0 };
    if routes.counts_tries() { few_left.map(tried).to_vec() } else { Vec::new() }
}

fn make(chance: &Chance) -> Make {
    match chance.between(0, 3) {
        0 => Make::Provider(Trade::ApiPix(api_pix::Ways::by(chance))),
        1 => Make::Provider(Trade::Cielo(cielo::Ways::by(chance))),
        _ => Make::Drawn(manner(chance)),
    }
}

fn manner(chance: &Chance) -> Manner {
    Manner {
        issues_locally: chance.per_mille(300),
        forgets_keys: chance.per_mille(300),
        authorises_only: chance.per_mille(300),
        knows_sums_only: chance.per_mille(300),
        takes_time_for_refunds: chance.per_mille(300),
        only_hints: chance.per_mille(400),
        registers_later: chance.per_mille(300),
        gives_back_disputed: chance.per_mille(300),
        names_disputes: chance.per_mille(500),
        says_how_it_ended: chance.per_mille(400),
        says_if_final: chance.per_mille(800),
    }
}

/// Makes the banks report what happened without a request.
pub(crate) async fn tell_news(world: Arc<World>) {
    loop {
        sleep(Duration::from_secs(5)).await;
        world.banks.iter().for_each(|bank| bank.tell_news(&world));
    }
}

/// Runs everything at once.
async fn storm(world: &Arc<World>, round: u64, payments: u64) {
    world.faults.set_storm(true);
    for place in 0..world.node_count() {
        if world.node(place).is_none() {
            start_mortal(world, place);
        }
    }
    let deaths = actix::spawn(kill_and_restart(Arc::clone(world)));
    let operator = actix::spawn(operator::meddle(Arc::clone(world)));
    let comparisons = actix::spawn(reconciling::meddle(Arc::clone(world)));
    let operation = actix::spawn(installation::operate(Arc::clone(world)));
    let mut programs = Vec::new();
    // Payments by links are added, so fewer others are made: worlds stay as large as they were.
    let payments = if world.installation.plan.has_links { payments * 7 / 10 } else { payments };
    for number in 0..payments {
        let world = Arc::clone(world);
        let number = u128::from(round * 1_000 + number + 1);
        programs.push(actix::spawn(async move { merchant(world, number).await }));
    }
    let links = actix::spawn(links::live(Arc::clone(world)));
    for program in programs {
        program.await.unwrap();
    }
    links.await.unwrap();
    deaths.abort();
    operator.abort();
    comparisons.abort();
    operation.abort();
}

/// Runs a merchant's programs for one payment.
async fn merchant(world: Arc<World>, number: u128) {
    world.pass(0, 10_000).await;
    let chance = &world.chance;
    let others = world.installation.plan.other_merchants;
    let request = Request {
        merchant: if others > 0 { chance.between(0, others) } else { 0 },
        number: number << 64 | u128::from(chance.any()),
        kind: chance.pick(&world.kinds()),
        cents: chance.between(1, 10_000),
        card: usize::try_from(chance.between(0, CARDS.len() as u64 - 1)).unwrap(),
        has_key: chance.per_mille(750),
        has_postback: chance.per_mille(850),
    };
    world.installation.remember(request);
    let merchant = Merchant { world: Arc::clone(&world), request };
    let twin = merchant.clone();
    let twins = request.has_key && chance.per_mille(200);
    let twin = actix::spawn(async move { twins && twin.create().await });
    merchant.create().await;
    twin.await.unwrap();
    let mut programs = Vec::new();
    for _ in 0..chance.between(0, 3) {
        let merchant = merchant.clone();
        let steps = steps_by_chance(&world, request.cents);
        programs.push(actix::spawn(async move { merchant.act(steps).await }));
    }
    for program in programs {
        program.await.unwrap();
    }
    if world.strikes(Fault::NoticeUnknown) {
        chance.pick(&world.banks).strange_notice(&world);
    }
}

/// Starts a node that may die in the middle of something.
fn start_mortal(world: &Arc<World>, place: usize) {
    let dies = world.chance.per_mille(world.faults.rate(Fault::NodeDies) / 2);
    let gate = dies.then(|| world.chance.between(1, 400));
    world.put_node(place, Node::start(world, place, gate));
}

/// Kills nodes at any time and restarts them, and makes their clocks jump.
async fn kill_and_restart(world: Arc<World>) {
    let mut down_since = vec![0_u32; world.node_count()];
    let broken_since = Rc::new(std::cell::Cell::new(0_u32));
    loop {
        world.pass(200, 1_500).await;
        for (place, down) in down_since.iter_mut().enumerate() {
            let Some(node) = world.node(place) else {
                *down += 1;
                if *down > 2 || world.chance.per_mille(400) {
                    *down = 0;
                    start_mortal(&world, place);
                }
                continue;
            };
            if node.fuse.is_broken() {
                broken_since.set(broken_since.get() + 1);
            }
            let is_given_up = node.fuse.is_broken() && broken_since.get() > 4;
            if is_given_up || (world.chance.per_mille(100) && world.strikes(Fault::NodeDies)) {
                broken_since.set(0);
                node.fuse.blow("killed");
            }
            if world.chance.per_mille(100) && world.strikes(Fault::ClockJumps) {
                let jump_ms = i64::try_from(world.chance.between(0, 7_200_000)).unwrap() - 3_600_000;
                world.skews[place].set_ms(jump_ms);
            }
        }
    }
}

/// Stops all nodes for a night or two. Their unfinished work is left for later.
async fn sleep_through(world: &Arc<World>) {
    world.note(|| "nobody is up".to_owned());
    for place in 0..world.node_count() {
        if let Some(node) = world.node(place) {
            node.fuse.blow("stopped for the night");
        }
    }
    // By then, whatever was under way to a bank or a client has arrived, or never will.
    sleep(Duration::from_secs(120)).await;
    // A payer's transfer that left meanwhile takes seconds, and not the night.
    for _ in 0..=LONGEST_TRANSIT_MS / 1_000 {
        if !world.has_notices_on_the_way() {
            break;
        }
        sleep(Duration::from_secs(1)).await;
    }
    let until = world.clock.now().plus_ms(world.chance.between(22, 46) * 3_600_000);
    world.store.skip(world.clock.put_forward_to(until));
}

/// Lets time pass until just before the night of the last day on which money moved. The next storm comes in it.
async fn wait_for_night(world: &Arc<World>) {
    calm_down(world).await;
    let Some(turn) = reconciling::last_turn(world) else { return };
    let before = turn.minus_ms(5_000);
    for _ in 0..STEPS {
        if world.clock.now() >= before {
            return;
        }
        world.appoint(before);
        step(world).await;
    }
}

async fn calm_down(world: &Arc<World>) {
    world.faults.set_storm(false);
    world.disturb();
    world.note(|| "the storm is over".to_owned());
    world.skews.iter().for_each(|skew| skew.set_ms(0));
    operator::open_all(world);
    restart_fallen(world);
    installation::live_without(world).await;
    // After that, whatever a dead node had sent late has arrived.
    sleep(Duration::from_secs(30)).await;
    installation::stop_in_calm(world).await;
}

/// Ends all faults, and lets time pass until nothing is left to do.
pub(crate) async fn settle(world: &Arc<World>) {
    calm_down(world).await;
    for _ in 0..STEPS {
        if invariants::is_quiet(world) {
            sleep(STEP * 4).await;
            let is_night = invariants::is_quiet(world) && has_last_night_come(world);
            let is_compared = is_night && reconciling::end_nights(world).await;
            if is_compared && invariants::is_quiet(world) {
                invariants::check(world).await;
                return;
            }
        }
        step(world).await;
    }
    world.violation(format!("never quiet: {}", invariants::unrests(world)));
}

/// Returns true if the nights of all days on which money moved have come. Otherwise, time continues to that point, step
/// by step.
fn has_last_night_come(world: &World) -> bool {
    let Some(turn) = reconciling::last_turn(world) else { return true };
    if world.clock.now() < turn {
        world.appoint(turn);
    }
    turn <= world.clock.now()
}

/// Restarts nodes that died or cannot continue; some nodes die of damage from the storm.
pub(crate) fn restart_fallen(world: &Arc<World>) {
    for place in 0..world.node_count() {
        let Some(node) = world.node(place) else {
            world.put_node(place, Node::start(world, place, None));
            continue;
        };
        if node.fuse.is_broken() {
            node.fuse.blow("restarted");
            world.put_node(place, Node::start(world, place, None));
        }
    }
}

/// Lets time pass, up to the next due moment if nothing is due now. Notices and calls under way arrive first, as none
/// takes hours.
pub(crate) async fn step(world: &Arc<World>) {
    restart_fallen(world);
    operator::end_what_is_stuck(world).await;
    // A charge that is not ours is asked about every hour without end: weeks would be thousands of steps.
    let is_reported = |payment: &Payment| {
        let inquiries = payment.state.attempts.last().map_or(0, |last| last.call.inquiries);
        inquiries > REPORTED_LONG_AGO && invariants::is_foreign(world, payment)
    };
    let next = world.store.next_due_but_for(is_reported).into_iter().chain(world.next_appointment()).min();
    let is_awaited = world.has_notices_on_the_way() || world.has_calls_under_way();
    if let Some(next) = next.filter(|_| !is_awaited) {
        // A process is never up for only a moment in months: each looks for nights before more time passes.
        let until = next.plus_ms(1).min(reconciling::looked_until(world));
        world.store.skip(world.clock.put_forward_to(until));
    }
    sleep(if invariants::is_a_refund_unknown(world) { STEP * 4 } else { STEP }).await;
}

/// Lets some merchants withdraw boletos that expired.
async fn withdraw_expired(world: &Arc<World>) {
    for payment in world.store.payments() {
        let has_expired = payment.status() == Status::Expired && payment.method() == Method::Boleto;
        if has_expired && payment.operations.is_empty() && world.chance.per_mille(200) {
            let id = payment.id;
            let requested = RequestedOperation::Cancel;
            let request = OperationRequest { id: OperationId::new(world.fresh_id()), requested, key: None };
            let Some(node) = world.any_node() else { return };
            let owner = payment.owner.clone();
            drop(node.call(|payments| async move { payments.operate(id, owner, request).await }).await);
        }
    }
}

/// Lets time pass until nothing more is due: what waits for a payer is paid, or has expired. Charges that are not ours
/// are asked about without end.
pub(crate) async fn grow_old(world: &Arc<World>) {
    let is_foreign = |payment: &Payment| invariants::is_foreign(world, payment);
    for _ in 0..STEPS {
        if world.store.next_due_but_for(is_foreign).is_none() && !world.has_errands() {
            break;
        }
        withdraw_expired(world).await;
        step(world).await;
    }
    settle(world).await;
    installation::check_kept(world).await;
    for payment in world.store.payments() {
        let waits = payment.waits_for_a_person() || invariants::is_foreign(world, &payment);
        if !waits && (payment.status().allows(Status::Expired) || payment.history.is_empty()) {
            world.violation(format!("{} is {} for ever", payment.id, payment.status()));
        }
        // Where a charge that is not ours is asked about without end, less time passes than that.
        if payment.card_fingerprint.is_some()
            && world.clock.now() > payment.created_at.plus_ms(CARD_IS_GONE_AFTER_MS)
        {
            world.violation(format!("{}: its card is kept for ever", payment.id));
        }
    }
}
