//! Points at which a process can die: before and after each call to the store, a bank or a receiver. Each is tried for
//! each method, each course of a payment, and each fault on the way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use quita_domain::money::Money;
use quita_domain::operation::RequestedOperation;
use tokio::time::{Duration, sleep};

use crate::chance::Fault;
use crate::chance::Faults;
use crate::installation::Plan;
use crate::life::{self, Outcome};
use crate::merchant::{Merchant, Step};
use crate::node::Node;
use crate::orders::{Kind, Request};
use crate::party::Make;
use crate::provider::view::View;
use crate::provider::{Trade, api_pix, cielo, pagarme, sicoob};
use crate::routes::Routes;
use crate::world::{Manner, Setting, World};

const CENTS: u64 = 10_000;

/// Course that a payment takes.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    kind: Kind,
    make: Make,
    steps: &'static [Step],
    /// True if its first charge is declined, and there is another bank.
    goes_further: bool,
}

const REMOTE: Manner = Manner {
    issues_locally: false,
    forgets_keys: false,
    authorises_only: false,
    knows_sums_only: false,
    takes_time_for_refunds: false,
    only_hints: false,
    registers_later: false,
    gives_back_disputed: false,
    names_disputes: false,
    says_how_it_ended: true,
    says_if_final: true,
};
const PIX_WAYS: api_pix::Ways = api_pix::Ways {
    takes_time_for_refunds: false,
    gives_location_only: false,
    bends_the_standard: false,
    has_short_tokens: false,
    gives_short_pages: false,
    view: View::PLAIN,
};
const API_PIX: Make = Make::Provider(Trade::ApiPix(PIX_WAYS));
const CIELO: Make = Make::Provider(Trade::Cielo(cielo::Ways {
    lags: false,
    takes_time_for_refunds: false,
    bends_its_manual: false,
    blind_ms: 0,
    refuses_same_order: false,
    never_finishes: false,
}));
const PAGARME: Make = Make::Provider(Trade::Pagarme(pagarme::Ways {
    lags: false,
    takes_time_for_refunds: false,
    bends_its_manual: false,
}));
const SICOOB: Make = Make::Provider(Trade::Sicoob(sicoob::Ways {
    lags: false,
    settles_after_ms: 0,
    repeats_itself: false,
    has_pix: true,
    has_short_tokens: false,
    wants_digits: true,
}));
const HALF: Step = Step::Operate(RequestedOperation::Capture(Some(Money::from_cents(CENTS / 2))));
const PART: Step = Step::Operate(RequestedOperation::Refund(Some(Money::from_cents(CENTS / 4))));
const REST: Step = Step::Operate(RequestedOperation::Refund(None));
const CANCEL: Step = Step::Operate(RequestedOperation::Cancel);
const CAPTURE: Step = Step::Operate(RequestedOperation::Capture(None));
const UNTIL_PAID: Step = Step::Wait(25_000);

const WAYS: &[Way] = &[
    Way {
        name: "pix",
        kind: Kind::Pix,
        make: Make::Drawn(REMOTE),
        steps: &[UNTIL_PAID],
        goes_further: false,
    },
    Way {
        name: "pix, issued locally",
        kind: Kind::Pix,
        make: Make::Drawn(Manner { issues_locally: true, ..REMOTE }),
        steps: &[UNTIL_PAID],
        goes_further: false,
    },
    Way {
        name: "pix, cancelled",
        kind: Kind::Pix,
        make: Make::Drawn(REMOTE),
        steps: &[CANCEL],
        goes_further: false,
    },
    Way {
        name: "pix, refunded in parts",
        kind: Kind::Pix,
        make: Make::Drawn(REMOTE),
        steps: &[UNTIL_PAID, PART, REST],
        goes_further: false,
    },
    Way {
        name: "boleto",
        kind: Kind::Boleto,
        make: Make::Drawn(REMOTE),
        steps: &[UNTIL_PAID],
        goes_further: false,
    },
    Way {
        name: "boleto, cancelled",
        kind: Kind::Boleto,
        make: Make::Drawn(REMOTE),
        steps: &[CANCEL],
        goes_further: false,
    },
    Way { name: "card", kind: Kind::Card, make: Make::Drawn(REMOTE), steps: &[], goes_further: false },
    Way {
        name: "card, a bank that forgets keys",
        kind: Kind::Card,
        make: Make::Drawn(Manner { forgets_keys: true, ..REMOTE }),
        steps: &[REST],
        goes_further: false,
    },
    Way {
        name: "card, captured by a call of its own",
        kind: Kind::Card,
        make: Make::Drawn(Manner { authorises_only: true, ..REMOTE }),
        steps: &[PART],
        goes_further: false,
    },
    Way {
        name: "card, held, captured and refunded at a bank that knows sums only",
        kind: Kind::HeldCard,
        make: Make::Drawn(Manner { knows_sums_only: true, ..REMOTE }),
        steps: &[CAPTURE, PART, REST],
        goes_further: false,
    },
    Way {
        name: "pix, refunded in parts by a bank that takes its time",
        kind: Kind::Pix,
        make: Make::Drawn(Manner { takes_time_for_refunds: true, ..REMOTE }),
        steps: &[UNTIL_PAID, PART, REST],
        goes_further: false,
    },
    Way {
        name: "pix, a bank that only hints",
        kind: Kind::Pix,
        make: Make::Drawn(Manner { only_hints: true, ..REMOTE }),
        steps: &[UNTIL_PAID, PART],
        goes_further: false,
    },
    Way {
        name: "boleto, registered later",
        kind: Kind::Boleto,
        make: Make::Drawn(Manner { registers_later: true, ..REMOTE }),
        steps: &[UNTIL_PAID],
        goes_further: false,
    },
    Way {
        name: "pix, refunds that overlap at a bank that gives back what was taken back",
        kind: Kind::Pix,
        make: Make::Drawn(Manner { takes_time_for_refunds: true, gives_back_disputed: true, ..REMOTE }),
        steps: &[UNTIL_PAID, PART, PART, REST],
        goes_further: false,
    },
    Way {
        name: "card, held and captured",
        kind: Kind::HeldCard,
        make: Make::Drawn(REMOTE),
        steps: &[CAPTURE, REST],
        goes_further: false,
    },
    Way {
        name: "pix over API Pix",
        kind: Kind::Pix,
        make: API_PIX,
        steps: &[UNTIL_PAID, PART, REST],
        goes_further: false,
    },
    Way {
        name: "pix over API Pix, cancelled",
        kind: Kind::Pix,
        make: API_PIX,
        steps: &[CANCEL],
        goes_further: false,
    },
    Way {
        name: "pix over API Pix, refunds that take their time",
        kind: Kind::Pix,
        make: Make::Provider(Trade::ApiPix(api_pix::Ways { takes_time_for_refunds: true, ..PIX_WAYS })),
        steps: &[UNTIL_PAID, PART, REST],
        goes_further: false,
    },
    Way {
        name: "card at Cielo, held, captured in part and refunded",
        kind: Kind::HeldCard,
        make: CIELO,
        steps: &[HALF, PART, REST],
        goes_further: false,
    },
    Way {
        name: "card at Cielo, held and voided",
        kind: Kind::HeldCard,
        make: CIELO,
        steps: &[CANCEL],
        goes_further: false,
    },
    Way {
        name: "card at Cielo, refunded",
        kind: Kind::Card,
        make: CIELO,
        steps: &[PART, PART],
        goes_further: false,
    },
    Way {
        name: "pix at Cielo",
        kind: Kind::Pix,
        make: CIELO,
        steps: &[UNTIL_PAID, PART],
        goes_further: false,
    },
    Way {
        name: "boleto at Cielo",
        kind: Kind::Boleto,
        make: CIELO,
        steps: &[UNTIL_PAID],
        goes_further: false,
    },
    Way {
        name: "pix at Pagar.me, refunded in parts",
        kind: Kind::Pix,
        make: PAGARME,
        steps: &[UNTIL_PAID, PART, REST],
        goes_further: false,
    },
    Way {
        name: "pix at Pagar.me, cancelled",
        kind: Kind::Pix,
        make: PAGARME,
        steps: &[CANCEL],
        goes_further: false,
    },
    Way {
        name: "card at Pagar.me, held, captured in part and refunded",
        kind: Kind::HeldCard,
        make: PAGARME,
        steps: &[HALF, REST],
        goes_further: false,
    },
    Way {
        name: "boleto at Sicoob",
        kind: Kind::Boleto,
        make: SICOOB,
        steps: &[UNTIL_PAID],
        goes_further: false,
    },
    Way {
        name: "boleto at Sicoob, cancelled",
        kind: Kind::Boleto,
        make: SICOOB,
        steps: &[CANCEL],
        goes_further: false,
    },
    Way {
        name: "card, held and voided",
        kind: Kind::HeldCard,
        make: Make::Drawn(REMOTE),
        steps: &[CANCEL],
        goes_further: false,
    },
    Way {
        name: "card, declined and tried further",
        kind: Kind::Card,
        make: Make::Drawn(REMOTE),
        steps: &[PART],
        goes_further: true,
    },
    Way {
        name: "card, held, declined and tried further at banks that forget keys",
        kind: Kind::HeldCard,
        make: Make::Drawn(Manner { forgets_keys: true, ..REMOTE }),
        steps: &[CAPTURE],
        goes_further: true,
    },
];

/// Faults in addition to the death. Each strikes at its first opportunity.
const FAULTS: &[&[Fault]] = &[
    &[],
    &[Fault::StoreUnavailable],
    &[Fault::StoreLostReply],
    &[Fault::StoreLostRequest],
    &[Fault::StoreLate],
    &[Fault::StoreBehind],
    &[Fault::StoreHang],
    &[Fault::BankRefuses],
    &[Fault::BankSilentBefore],
    &[Fault::BankSilentAfter],
    &[Fault::BankLateArrival],
    &[Fault::BankErrorBefore],
    &[Fault::BankErrorAfter],
    &[Fault::BankDeclines],
    &[Fault::BankPanic],
    &[Fault::BankThrottles],
    &[Fault::TokenRefused],
    &[Fault::NoticeForged],
    &[Fault::RefundFails],
    &[Fault::BankSilentAfter, Fault::BankErrorAfter],
    &[Fault::NoticeTwice],
    &[Fault::NoticeLost],
    &[Fault::NoticeLate],
    &[Fault::PayerIsFast],
    &[Fault::PayerIsLate],
    &[Fault::Chargeback],
    &[Fault::Chargeback, Fault::ChargebackAgain],
    &[Fault::CaptureRefused],
    &[Fault::CardIsVeryLate],
    &[Fault::PayerIsInTime],
    &[Fault::DeskRefund],
    &[Fault::ListLeavesOut],
    &[Fault::ListErrs],
    &[Fault::ListHidesRefunds],
    &[Fault::StrangerPays],
    &[Fault::OnlyListed],
    &[Fault::ReceiverFails],
    &[Fault::ReceiverHangs],
    &[Fault::SenderPanic],
];

/// Result of one course with its faults.
struct Tally {
    way: usize,
    points: u64,
    /// Violations, and where each occurred.
    failures: Vec<String>,
}

/// Runs a death at one in this many points of the courses whose name contains this text. Returns true if nothing was
/// lost at any. With `tells_story`, prints everything that happens at each point that fails.
pub(crate) fn run(only: &str, one_in: u64, tells_story: bool, jobs: u64) -> bool {
    let ways: Vec<_> = WAYS.iter().filter(|way| way.name.contains(only)).collect();
    let runs: Vec<_> =
        (0..ways.len()).flat_map(|way| FAULTS.iter().map(move |faults| (way, *faults))).collect();
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut points = vec![0_u64; ways.len()];
    let mut failed = 0_usize;
    let mut awaited = vec![FAULTS.len(); ways.len()];
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let sender = sender.clone();
            let next = &next;
            let runs = &runs;
            let ways = &ways;
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((way, faults)) = runs.get(number) else { break };
                    let step = usize::try_from(one_in).unwrap();
                    let skipped = number % step;
                    if sender
                        .send(die_everywhere(*way, ways[*way], faults, skipped, step, tells_story))
                        .is_err()
                    {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for tally in receiver {
            tally.failures.iter().for_each(|failure| println!("{failure}"));
            failed += tally.failures.len();
            points[tally.way] += tally.points;
            awaited[tally.way] -= 1;
            if awaited[tally.way] == 0 {
                println!("{:>12} crash points: {}", points[tally.way], ways[tally.way].name);
            }
        }
    });
    println!("{:>12} crash points, {failed} failed", points.iter().sum::<u64>());
    failed == 0 && !ways.is_empty()
}

/// Runs one course with its faults once without a death, and once with a death at each selected gate. The first
/// `skipped` gates are left out, and then every `step`-th one is selected.
fn die_everywhere(
    place: usize,
    way: &Way,
    faults: &[Fault],
    skipped: usize,
    step: usize,
    tells_story: bool,
) -> Tally {
    let whole = live(way, faults, None, false);
    let mut tally = Tally { way: place, points: 0, failures: Vec::new() };
    if !whole.violations.is_empty() {
        tally.failures.push(format!("{}, {faults:?}, without a death: {:#?}", way.name, whole.violations));
    }
    for gate in (1..=whole.gates).skip(skipped).step_by(step) {
        tally.points += 1;
        let violations = live(way, faults, Some(gate), false).violations;
        if !violations.is_empty() {
            let story = if tells_story { live(way, faults, Some(gate), true).trace } else { String::new() };
            let name = way.name;
            tally.failures.push(format!("{story}{name}, {faults:?}, dead at gate {gate}: {violations:#?}"));
        }
    }
    tally
}

/// Runs one payment on one node, which dies at a gate and is restarted.
fn live(way: &Way, faults: &[Fault], dies_at: Option<u64>, wants_trace: bool) -> Outcome {
    let declined = if way.goes_further { &[Fault::BankDeclines][..] } else { &[] };
    life::live(async || {
        let setting = Setting {
            nodes: 1,
            is_embedded: false,
            banks: vec![way.make, way.make],
            routes: if way.goes_further { Routes::further() } else { Routes::default() },
            tried_before: Vec::new(),
            changes_keys: false,
            plan: Plan::default(),
            faults: Faults::planned(&[declined, faults].concat()),
            wants_trace,
            mistake: None,
        };
        let world = World::new(7, setting);
        world.put_node(0, Node::start(&world, 0, dies_at));
        drop(actix::spawn(life::tell_news(Arc::clone(&world))));
        let restarts = actix::spawn(restart_once(Arc::clone(&world)));
        let request = Request {
            merchant: 0,
            number: 1,
            kind: way.kind,
            cents: CENTS,
            card: 0,
            has_key: true,
            has_postback: true,
        };
        let merchant = Merchant { world: Arc::clone(&world), request };
        if !merchant.create().await {
            world.violation("the payment was never acknowledged".to_owned());
        }
        merchant.act(way.steps.to_vec()).await;
        life::settle(&world).await;
        restarts.abort();
        life::grow_old(&world).await;
        world
    })
}

async fn restart_once(world: Arc<World>) {
    let Some(node) = world.node(0) else { return };
    node.fuse.death().await;
    sleep(Duration::from_secs(1)).await;
    // Fallen nodes are also restarted as time passes. Of two nodes at one place, the world would see the calls of only
    // one.
    if world.node(0).is_none_or(|node| node.fuse.is_dead()) {
        world.put_node(0, Node::start(&world, 0, None));
    }
}
