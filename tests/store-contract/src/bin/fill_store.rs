//! Fills a store with payments of the merchant `loja`, for `scripts/restart_time` and `scripts/bench`.
//!
//! `fill-store URL COUNT AGE_S [OPEN [routed]]`: the payments have this age, and expire an hour after their creation.
//! OPEN of them are open (all by default), the others are paid. Prints the id of one of them.
//!
//! With `routed` the ages are spread up to AGE_S, and each payment keeps its route: to `norte` or `sul`, in shares of 7
//! and 3, either of which was sometimes failing or paused.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for measurements")]

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use quita_domain::identity::AcquirerName;
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use quita_domain::routing::{
    Approvals, Candidate, Condition, DueDates, RouteInputs, RoutingTable, Standing, plan,
};
use quita_embedded::EmbeddedStore;
use quita_mongo::MongoStore;
use quita_ports::{Store, Write};

use quita_store_contract::samples::{Sample, paid, pending};

const BATCH: usize = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("usage: fill-store URL COUNT AGE_S [OPEN]");
    let url = next();
    let count = next().parse::<usize>().unwrap();
    let age_s = next().parse::<i64>().unwrap();
    let open = arguments.next().map_or(count, |open| open.parse().unwrap());
    let is_routed = arguments.next().is_some_and(|word| word == "routed");
    let store: Arc<dyn Store> = match url.strip_prefix("sqlite:") {
        Some(path) => Arc::new(EmbeddedStore::open(path).unwrap()),
        None => Arc::new(MongoStore::connect(&url).await.unwrap()),
    };
    #[allow(clippy::disallowed_methods, reason = "the age counts from the real time")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let at = i64::try_from(now).unwrap() - age_s * 1_000;
    let write = |number: usize| {
        let later = age_s * 1_000 * i64::try_from(number).unwrap() / i64::try_from(count).unwrap();
        let payment = payment(if is_routed { at + later } else { at }, number < open);
        let payment = if is_routed { routed(payment, number) } else { payment };
        Write { payment: Arc::new(payment), expected_revision: 0 }
    };
    let mut first = None;
    for start in (0..count).step_by(BATCH) {
        let writes: Vec<_> = (start..count.min(start + BATCH)).map(write).collect();
        first.get_or_insert(writes.first().unwrap().payment.id);
        assert!(store.commit(&writes).await.iter().all(Result::is_ok));
    }
    println!("{}", first.expect("at least one"));
}

/// Returns a payment that is open or paid; it was never stored without the code to pay it with.
fn payment(at: i64, is_open: bool) -> Payment {
    let opened = pending(&Sample { at, postback: false, ..Sample::default() }.open(), at);
    if is_open { opened } else { paid(&opened, at) }
}

/// Returns the same payment with a stored route. The acquirer with its charge does not change.
fn routed(payment: Payment, number: usize) -> Payment {
    let names = ["norte", "sul"].map(AcquirerName::new);
    let candidates = names.each_ref().map(|acquirer| {
        let condition = match number % 30 {
            10 if *acquirer == names[1] => Condition::Failing,
            20 if *acquirer == names[1] => Condition::Paused,
            _ => Condition::Healthy,
        };
        let approvals = Approvals { approved: u8::try_from(number % 200).unwrap(), tries: 200 };
        let min_amount = Money::from_cents(1);
        let max_amount = Money::MAX;
        let max_expiry_s = None;
        Candidate {
            acquirer,
            min_amount,
            max_amount,
            max_expiry_s,
            due_dates: DueDates::ALL,
            objection: None,
            condition,
            approvals,
        }
    });
    let standings = names.iter().cloned().zip([7, 3].map(|weight| Standing { priority: 1, weight }));
    let table = RoutingTable { standings: standings.collect(), ..RoutingTable::default() };
    // Far apart, like random ones.
    let dice = u64::try_from(number).unwrap().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let inputs = RouteInputs::of(&payment.order, &payment.owner.merchant, payment.created_at);
    let planned = plan(&inputs, &candidates, &table, dice);
    let considered = planned.considered().into();
    let kept = planned.routed(table.version());
    Payment { considered, routed: Arc::new(kept), dice, ..payment }
}
