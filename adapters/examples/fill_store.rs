//! Fills a store with payments of the merchant `loja`, for `scripts/restart_time` and `scripts/bench`.
//!
//! `fill_store URL COUNT AGE_S [OPEN]`: the payments are so old, and expire an hour after they were made. So many of
//! them are open (all, if not said), the others are paid. Prints the id of one of them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for measurements")]

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use quita_adapters::embedded::EmbeddedStore;
use quita_adapters::mongo::MongoStore;
use quita_ports::{Store, Write};

#[path = "../tests/store_contract/samples.rs"]
#[allow(unreachable_pub, dead_code, missing_docs, reason = "the tests' samples")]
mod samples;

use samples::{Sample, paid, pending};

const BATCH: usize = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("usage: fill_store URL COUNT AGE_S [OPEN]");
    let (url, count, age_s) = (next(), next().parse::<usize>().unwrap(), next().parse::<i64>().unwrap());
    let open = arguments.next().map_or(count, |open| open.parse().unwrap());
    let store: Arc<dyn Store> = match url.strip_prefix("sqlite:") {
        Some(path) => Arc::new(EmbeddedStore::open(path).unwrap()),
        None => Arc::new(MongoStore::connect(&url).await.unwrap()),
    };
    #[allow(clippy::disallowed_methods, reason = "the age counts from the real time")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let at = i64::try_from(now).unwrap() - age_s * 1_000;
    let mut first = None;
    for start in (0..count).step_by(BATCH) {
        let writes: Vec<_> =
            (start..count.min(start + BATCH)).map(|number| payment(at, number < open)).collect();
        first.get_or_insert(writes.first().unwrap().payment.id);
        assert!(store.commit(&writes).await.iter().all(Result::is_ok));
    }
    println!("{}", first.expect("at least one"));
}

/// One that waits for its payer, or whose payer has paid; it was never seen without the code to pay it with.
fn payment(at: i64, is_open: bool) -> Write {
    let opened = pending(&Sample { at, postback: false, ..Sample::default() }.open(), at);
    let payment = if is_open { opened } else { paid(&opened, at) };
    Write { payment: Arc::new(payment), expected_revision: 0 }
}
