//! Measures the cost of archived payments for later ones, for `scripts/archive_cost`.
//!
//! `archive-cost FULL EMPTY COUNT [ROUNDS]`: two stores by their URLs, both without payments. The first one is filled
//! with COUNT archived payments, unless it has them from an earlier run. The other one gets a few that are not archived.
//! Then both get the same creations, reads and lists, in turns. Prints medians and 99th percentiles, in microseconds.
//!
//! Ten thousand payments are archived as the service does it. Of these the store then gets copies under other ids: what is
//! stored is the same, in a tenth of the time. MongoDB builds its indexes at the end.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for measurements")]

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use futures_util::TryStreamExt;
use mongodb::bson::{RawDocumentBuf, doc};
use mongodb::options::Hint;
use mongodb::{Client, Database, IndexModel};
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::PaymentFilter;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_embedded::EmbeddedStore;
use quita_mongo::MongoStore;
use quita_ports::{WholeStore, Write};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use tokio::task::JoinSet;
use uuid::Uuid;

use quita_store_contract::samples::{Sample, paid, pending};

const USAGE: &str = "usage: archive-cost FULL EMPTY COUNT [ROUNDS]";
/// Number of payments that are stored and archived at once while the store is filled.
const FILLED_AT_ONCE: u64 = 500;
/// Number of tasks that fill the store: one alone leaves most of a MongoDB server idle.
const FILLERS: usize = 6;
/// Number of payments that the store archives itself, before these are copied.
const ARCHIVED_BEFORE_COPIES: u64 = 10_000;
/// Number of paid payments in the empty store.
const PAID_IN_EMPTY: u64 = 500;
/// Number of rows that the embedded store gets in one transaction.
const COPIED_AT_ONCE: u64 = 100_000;
/// Collections of MongoDB that have a document of each archived payment: the payment, and its stub.
const COPIED: [&str; 2] = ["archived_payments", "payments"];
/// Number of creations in a round, and the size of a batch.
const BATCH: u64 = 50;
const BATCHES: u64 = 40;
const LISTS: usize = 40;
/// Time between two payments, for ten million in a year.
const EVERY_MS: i64 = 3_150;
const PAID_AFTER_MS: i64 = 9;

async fn open(url: &str) -> Arc<dyn WholeStore> {
    match url.strip_prefix("sqlite:") {
        Some(path) => Arc::new(EmbeddedStore::open_sole_writer(path).unwrap()),
        None => Arc::new(MongoStore::connect(url).await.unwrap()),
    }
}

/// Returns an id derived from an `Idempotency-Key`, which may be anywhere among the others.
fn keyed(number: u64) -> TransactionId {
    let mixed = |seed: u64| {
        let mut mixed = number.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    };
    TransactionId::new(Uuid::from_u64_pair(mixed(1), mixed(1 << 40)))
}

fn payment(number: u64, at: i64) -> Payment {
    let opened = Sample { id: keyed(number), at, postback: false, ..Sample::default() }.open();
    pending(&opened, at)
}

fn insert(payment: Payment) -> Write {
    Write { payment: Arc::new(payment), expected_revision: 0 }
}

/// Returns the time at which one of the archived payments was created.
fn created_at(number: u64) -> i64 {
    i64::try_from(number).unwrap() * EVERY_MS
}

fn finished(number: u64) -> Payment {
    let at = created_at(number);
    paid(&payment(number, at), at + PAID_AFTER_MS)
}

async fn fill_and_archive(store: &dyn WholeStore, numbers: Range<u64>) {
    let some: Vec<_> = numbers.map(finished).collect();
    let writes: Vec<_> = some.iter().cloned().map(insert).collect();
    assert!(store.commit(&writes).await.iter().all(Result::is_ok));
    // A busy machine may take longer than a command is allowed to: the next pass continues.
    while let Err(error) = store.archive(&some).await {
        eprintln!("{error}: once more");
    }
}

/// Runs `work` with all ranges of `numbers`, in several tasks that take the next one in turn.
async fn in_turns<W>(numbers: Range<u64>, work: impl Fn(Range<u64>) -> W)
where
    W: Future<Output = ()> + Send + 'static,
{
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    let step = usize::try_from(FILLED_AT_ONCE).unwrap();
    for start in numbers.clone().step_by(step) {
        if start.is_multiple_of(100_000) {
            eprintln!("{start} of {} archived after {} s", numbers.end, begun.elapsed().as_secs());
        }
        if tasks.len() == FILLERS {
            tasks.join_next().await.unwrap().unwrap();
        }
        tasks.spawn(work(start..numbers.end.min(start + FILLED_AT_ONCE)));
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}

/// Fills the store with `count` archived payments.
async fn fill(url: &str, count: u64) {
    let begun = Instant::now();
    let archived = count.min(ARCHIVED_BEFORE_COPIES);
    let store = open(url).await;
    if store.count_archived().await == Ok(count) {
        eprintln!("{count} are archived already");
        return;
    }
    in_turns(0..archived, |numbers| {
        let store = Arc::clone(&store);
        async move { fill_and_archive(&*store, numbers).await }
    })
    .await;
    drop(store);
    if archived < count {
        match url.strip_prefix("sqlite:") {
            Some(path) => copy_rows(&Connection::open(path).unwrap(), archived..count),
            None => {
                let client = Client::with_uri_str(url).await.unwrap();
                copy_documents(&client.default_database().unwrap(), archived..count).await;
            }
        }
    }
    eprintln!("{count} archived in {} s", begun.elapsed().as_secs());
}

/// Bytes of one archived payment, of which copies are made. They differ by what [`own_bytes`] returns alone.
struct Template {
    bytes: Vec<u8>,
    /// Each place of bytes of its own: which of them, and the offset.
    places: Vec<(usize, usize)>,
}

/// Returns what the bytes of a payment alone contain: its id in three forms, and two times.
fn own_bytes(number: u64) -> [Vec<u8>; 5] {
    let id = keyed(number);
    let at = created_at(number);
    [
        id.uuid().as_bytes().to_vec(),
        id.to_string().into_bytes(),
        id.uuid().simple().to_string().into_bytes(),
        at.to_le_bytes().to_vec(),
        (at + PAID_AFTER_MS).to_le_bytes().to_vec(),
    ]
}

impl Template {
    /// Looks for the places in the bytes of the payment of this number.
    fn new(number: u64, bytes: Vec<u8>) -> Self {
        let mut places = Vec::new();
        for (which, own) in own_bytes(number).iter().enumerate() {
            let windows = bytes.windows(own.len()).enumerate();
            places.extend(windows.filter(|(_, window)| window == own).map(|(offset, _)| (which, offset)));
        }
        Self { bytes, places }
    }

    fn copy(&self, own: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for &(which, offset) in &self.places {
            let new = own.get(which).unwrap();
            bytes.get_mut(offset..offset + new.len()).unwrap().copy_from_slice(new);
        }
        bytes
    }
}

/// Column of the row of an archived payment in the embedded store.
enum Column {
    Bytes(Template),
    CreatedAt,
    PaidAt,
    Same(Value),
}

impl Column {
    fn new(number: u64, value: Value) -> Self {
        match value {
            Value::Blob(bytes) => Self::Bytes(Template::new(number, bytes)),
            Value::Integer(time) if time == created_at(number) => Self::CreatedAt,
            Value::Integer(time) if time == created_at(number) + PAID_AFTER_MS => Self::PaidAt,
            same @ (Value::Null | Value::Integer(_) | Value::Real(_) | Value::Text(_)) => Self::Same(same),
        }
    }

    fn copy(&self, number: u64, own: &[Vec<u8>]) -> Value {
        match self {
            Self::Bytes(template) => Value::Blob(template.copy(own)),
            Self::CreatedAt => Value::Integer(created_at(number)),
            Self::PaidAt => Value::Integer(created_at(number) + PAID_AFTER_MS),
            Self::Same(value) => value.clone(),
        }
    }
}

const READ_IDS: &str =
    "SELECT count(*) FROM archived_payments INDEXED BY sqlite_autoindex_archived_payments_1 WHERE id >= x''";

fn copy_rows(file: &Connection, numbers: Range<u64>) {
    let begun = Instant::now();
    // Nobody needs the file if this is interrupted.
    file.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -4000000; PRAGMA temp_store = MEMORY")
        .unwrap();
    let number = ARCHIVED_BEFORE_COPIES - 1;
    let mut template = file.prepare("SELECT * FROM archived_payments WHERE id = ?1").unwrap();
    let width = template.column_count();
    let id = keyed(number).uuid();
    let columns: Vec<_> = template
        .query_row([id.as_bytes()], |row| {
            (0..width).map(|place| Ok(Column::new(number, row.get(place)?))).collect::<Result<_, _>>()
        })
        .unwrap();
    let insert = format!("INSERT INTO archived_payments VALUES (?{})", ", ?".repeat(width - 1));
    for start in numbers.clone().step_by(usize::try_from(COPIED_AT_ONCE).unwrap()) {
        let until = numbers.end.min(start + COPIED_AT_ONCE);
        let transaction = file.unchecked_transaction().unwrap();
        {
            let mut insert = transaction.prepare_cached(&insert).unwrap();
            for number in start..until {
                let own = own_bytes(number);
                insert
                    .execute(params_from_iter(columns.iter().map(|column| column.copy(number, &own))))
                    .unwrap();
            }
        }
        transaction.commit().unwrap();
        eprintln!("{until} of {} archived after {} s", numbers.end, begun.elapsed().as_secs());
    }
    file.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}

async fn read_template(database: &Database, collection: &str, number: u64) -> Template {
    let by_id = doc! { "_id": mongodb::bson::Uuid::from_bytes(*keyed(number).uuid().as_bytes()) };
    let found = database.collection::<RawDocumentBuf>(collection).find_one(by_id).await;
    Template::new(number, found.unwrap().unwrap().into_bytes())
}

async fn copy_documents(database: &Database, numbers: Range<u64>) {
    let [archived, stub] = COPIED.map(|name| read_template(database, name, ARCHIVED_BEFORE_COPIES - 1));
    let templates = Arc::new([archived.await, stub.await]);
    let mut indexes = Vec::new();
    for name in COPIED {
        let collection = database.collection::<RawDocumentBuf>(name);
        let models: Vec<IndexModel> = collection.list_indexes().await.unwrap().try_collect().await.unwrap();
        indexes.push(models);
        // That of `_id` stays.
        collection.drop_indexes().await.unwrap();
    }
    in_turns(numbers, |numbers| {
        let (database, templates) = (database.clone(), Arc::clone(&templates));
        async move {
            let mut copies = COPIED.map(|_| Vec::new());
            for number in numbers {
                let own = own_bytes(number);
                for (all, template) in copies.iter_mut().zip(&*templates) {
                    all.push(RawDocumentBuf::from_bytes(template.copy(&own)).unwrap());
                }
            }
            for (name, documents) in COPIED.into_iter().zip(copies) {
                let collection = database.collection::<RawDocumentBuf>(name);
                collection.insert_many(documents).ordered(false).await.unwrap();
            }
        }
    })
    .await;
    eprintln!("building indexes");
    for (name, models) in COPIED.into_iter().zip(indexes) {
        let collection = database.collection::<RawDocumentBuf>(name);
        collection.create_indexes(models.clone()).await.unwrap();
        // What was written in the course of a year is in memory, and what was just built is not.
        for options in models.into_iter().filter_map(|model| model.options) {
            let all = options.partial_filter_expression.unwrap_or_default();
            collection.count_documents(all).hint(Hint::Name(options.name.unwrap())).await.unwrap();
        }
    }
}

/// Times of one kind of call, on the full store and on the empty one.
#[derive(Default)]
struct Times {
    of: [Vec<u128>; 2],
}

impl Times {
    fn print(mut self, what: &str) {
        let mut figures = self.of.each_mut().map(|times| {
            times.sort_unstable();
            let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
            (at(50), at(99))
        });
        figures.reverse();
        let [(empty, empty_99), (full, full_99)] = figures;
        let percent = full * 100 / empty.max(1);
        println!("| {what} | {empty} | {full} | {percent} % | {empty_99} | {full_99} |");
    }
}

fn filter() -> PaymentFilter {
    PaymentFilter::all_of(MerchantId::new("loja"), Mode::Test)
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect(USAGE);
    let urls = [next(), next()];
    let count = next().parse::<u64>().expect(USAGE);
    let rounds: u64 = arguments.next().map_or(5, |rounds| rounds.parse().expect(USAGE));
    let [full, empty] = urls.each_ref().map(String::as_str);
    fill(full, count).await;
    if let Some(path) = full.strip_prefix("sqlite:") {
        // As on a machine that looks for ids all the time: each creation under an `Idempotency-Key` looks for one.
        let found: i64 = Connection::open(path).unwrap().query_row(READ_IDS, [], |row| row.get(0)).unwrap();
        eprintln!("{found} ids are in memory");
    }
    let stores = [open(full).await, open(empty).await];
    // What is archived in the full store is recent in the empty one, which has to list as many.
    let [_, recent] = &stores;
    let writes: Vec<_> = (count.saturating_sub(PAID_IN_EMPTY)..count).map(finished).map(insert).collect();
    assert!(recent.commit(&writes).await.iter().all(Result::is_ok));
    let now = created_at(count);
    // What an earlier run created in the same store has other numbers.
    let unused = u64::from(std::process::id()) << 32;
    let [mut singles, mut batches, mut reads, mut archived, mut newest, mut waiting, mut settled] =
        [(); 7].map(|()| Times::default());
    // The first round warms up.
    for round in 0..=rounds {
        for (place, store) in stores.iter().enumerate() {
            let time = async |times: &mut Times, call: std::pin::Pin<Box<dyn Future<Output = bool> + '_>>| {
                let begun = Instant::now();
                assert!(call.await);
                if let Some(times) = times.of.get_mut(place).filter(|_| round > 0) {
                    times.push(begun.elapsed().as_micros());
                }
            };
            let first = unused + count + round * 2 * BATCH * BATCHES;
            for batch in 0..BATCHES {
                let from = first + batch * 2 * BATCH;
                let at = |number: u64| now + i64::try_from(number - unused).unwrap();
                let writes: Vec<_> =
                    (from..from + BATCH).map(|number| insert(payment(number, at(number)))).collect();
                let commit = async { store.commit(&writes).await.iter().all(Result::is_ok) };
                time(&mut batches, Box::pin(commit)).await;
                let one = [insert(payment(from + BATCH, at(from + BATCH)))];
                time(&mut singles, Box::pin(async { store.commit(&one).await == [Ok(())] })).await;
                let recent = keyed(from);
                // The empty store has none: a recent one is what to compare with.
                let old = if place == 0 { keyed((from * 7_919) % count) } else { recent };
                for (times, id) in [(&mut reads, [recent]), (&mut archived, [old])] {
                    let read = async { store.load(&id).await.is_ok_and(|found| found.len() == 1) };
                    time(times, Box::pin(read)).await;
                }
            }
            for _ in 0..LISTS {
                for (times, statuses) in [
                    (&mut newest, Vec::new()),
                    (&mut waiting, vec![Status::Pending]),
                    (&mut settled, vec![Status::Paid]),
                ] {
                    let filter = PaymentFilter { statuses, ..filter() };
                    let list = async { store.list(&filter, None, 20).await.is_ok() };
                    time(times, Box::pin(list)).await;
                }
            }
        }
    }
    println!("| {count} archived | empty µs | full µs | full ÷ empty | empty p99 | full p99 |");
    println!("|---|---:|---:|---:|---:|---:|");
    singles.print("a creation");
    batches.print("fifty creations in one batch");
    reads.print("a recent payment by its id");
    archived.print("an archived payment by its id (empty store: a recent one)");
    newest.print("the newest 20");
    waiting.print("the newest 20 that wait");
    settled.print("the newest 20 that are paid, which are archived (empty store: recent ones)");
}
