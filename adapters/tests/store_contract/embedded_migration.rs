//! Files that version 1 made.

use std::fs::File;
use std::path::{Path, PathBuf};

use quita_adapters::embedded::EmbeddedStore;
use quita_domain::access::ApiKey;
use quita_domain::exception::Resolution;
use quita_domain::figures::{Figure, FiguresFilter};
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::PaymentFilter;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{
    AccessStore, ExceptionStore, FiguresStore, InboxStore, KeyringStore, OperatorStore, PaymentStore,
    StoreError,
};
use rusqlite::{Connection, named_params};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::access::{application, key};
use crate::exceptions::exception;
use crate::samples::{Sample, created_at, insert, notice, paid, pending, replace};

const VERSION_1: &str = include_str!("../../src/embedded/schema/version_1.sql");

#[test]
fn the_schema_of_version_1_is_never_edited() {
    let digest: String = Sha256::digest(VERSION_1).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        digest, "069a8b07809c1d0d2bdb92407b2f67fac547d6c35d6ea86ca62a7c21fe0b5e5c",
        "files out there were made by it: add a version instead"
    );
}

/// A file as version 1 left it, with these payments.
fn file_of_version_1(payments: &[Payment]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quita.db");
    let mut file = Connection::open(&path).unwrap();
    file.pragma_update(None, "journal_mode", "WAL").unwrap();
    file.execute_batch(VERSION_1).unwrap();
    file.pragma_update(None, "user_version", 1).unwrap();
    let transaction = file.transaction().unwrap();
    for payment in payments {
        put_payment(&transaction, payment);
    }
    transaction.commit().unwrap();
    (folder, path)
}

fn put_payment(file: &Connection, payment: &Payment) {
    let sql = "INSERT INTO payments (id, revision, last_op, merchant, mode, method, document, email, \
        external_reference, created_at, status, due_at, outbox_at, delivery_states, payment) \
        VALUES (:id, :revision, :last_op, :merchant, :mode, :method, :document, :email, \
        :external_reference, :created_at, :status, :due_at, :outbox_at, :delivery_states, :payment)";
    let (id, order) = (payment.id.uuid(), &payment.order);
    let row = named_params! {
        ":id": id.as_bytes(), ":revision": i64::try_from(payment.revision).unwrap(),
        ":last_op": payment.last_op.as_bytes(), ":merchant": payment.owner.merchant.as_str(),
        ":mode": payment.owner.mode.as_str(), ":method": order.method.as_str(),
        ":document": order.payer.document.as_str(), ":email": order.payer.email,
        ":external_reference": order.external_reference, ":created_at": payment.created_at.millis(),
        ":status": payment.status().as_str(), ":due_at": payment.due_at().map(Timestamp::millis),
        ":outbox_at": payment.outbox_at().map(Timestamp::millis),
        ":delivery_states": i64::from(!payment.outbox.is_empty()),
        ":payment": bson::serialize_to_vec(payment).unwrap(),
    };
    file.prepare_cached(sql).unwrap().execute(row).unwrap();
}

fn version(path: &Path) -> i64 {
    let file = Connection::open(path).unwrap();
    file.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// What tables and indexes there are, as they were declared.
fn schema(path: &Path) -> Vec<(String, String)> {
    let file = Connection::open(path).unwrap();
    let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_stat%' ORDER BY name";
    let mut statement = file.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

fn of_amount(cents: u64) -> PaymentFilter {
    PaymentFilter {
        merchant: MerchantId::new("loja"),
        mode: Mode::Test,
        statuses: Vec::new(),
        method: None,
        document: None,
        email: None,
        external_reference: None,
        id: None,
        amount: Some(Money::from_cents(cents)),
        created_from: None,
        created_to: None,
    }
}

fn whole_time() -> FiguresFilter {
    let (from, to) = (Timestamp::from_millis(0), Timestamp::from_millis(1_000_000));
    FiguresFilter { merchant: MerchantId::new("loja"), mode: Mode::Test, from, to }
}

fn ids(payments: &[Payment]) -> Vec<TransactionId> {
    payments.iter().map(|payment| payment.id).collect()
}

#[tokio::test]
async fn payments_of_version_1_are_found_by_amount_and_counted() {
    let dear = Sample { at: 1, amount: 9_999_999_999, ..Sample::default() }.open();
    let [waiting, done] = [pending(&created_at(2), 10), paid(&pending(&created_at(3), 10), 1_004)];
    let all = [dear.clone(), waiting.clone(), done.clone()];
    let (_folder, path) = file_of_version_1(&all);
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    let mut loaded = store.load(&ids(&all)).await.unwrap();
    loaded.sort_by_key(|payment| payment.created_at);
    assert_eq!(loaded, all);
    assert_eq!(store.list(&of_amount(9_999_999_999), None, 10).await, Ok(vec![dear]));
    assert_eq!(store.list(&of_amount(10_000), None, 10).await, Ok(vec![done, waiting.clone()]));
    assert_eq!(store.list(&of_amount(0), None, 10).await, Ok(Vec::new()));
    let figure = |status, paid_within, amount_cents| Figure {
        method: Method::Pix,
        status,
        paid_within,
        count: 1,
        amount_cents,
    };
    let expected = vec![
        figure(Status::Initial, None, 9_999_999_999),
        figure(Status::Paid, Some(1), 10_000),
        figure(Status::Pending, None, 10_000),
    ];
    let mut seen = store.figures(&whole_time()).await.unwrap();
    seen.sort_by_key(|figure| figure.status.as_str());
    assert_eq!(seen, expected);
    let fresh = created_at(4);
    assert_eq!(store.commit(&[replace(&paid(&waiting, 20)), insert(&fresh)]).await, [Ok(()), Ok(())]);
    assert_eq!(store.list(&of_amount(10_000), None, 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn everything_else_of_version_1_is_still_there() {
    let (_folder, path) = file_of_version_1(&[]);
    let (key, application) = (key("k1", 1), application("whsec_a"));
    let (exception, notice) = (exception("e-1", 1), notice("a:1", 1));
    let file = Connection::open(&path).unwrap();
    let put = |sql: &str, document: Vec<u8>| assert_eq!(file.execute(sql, [document]), Ok(1));
    put("INSERT INTO api_keys VALUES ('k1', 1, ?1)", bson::serialize_to_vec(&key).unwrap());
    put(
        "INSERT INTO applications VALUES ('loja', 'default', ?1)",
        bson::serialize_to_vec(&application).unwrap(),
    );
    put("INSERT INTO exceptions VALUES ('e-1', 1, ?1)", bson::serialize_to_vec(&exception).unwrap());
    put("INSERT INTO inbox VALUES ('a:1', 1, 0, NULL, ?1)", bson::serialize_to_vec(&notice).unwrap());
    // As a command does, beside nobody who serves the file.
    let store = EmbeddedStore::open(&path).unwrap();
    let merchant = MerchantId::new("loja");
    assert_eq!(store.applications(&merchant).await, Ok(vec![application]));
    assert_eq!(store.keys_of(&merchant).await, Ok(vec![key.clone()]));
    assert_eq!(store.revoke_key("k1", Timestamp::from_millis(5)).await, Ok(true));
    let revoked = ApiKey { revoked_at: Some(Timestamp::from_millis(5)), ..key };
    assert_eq!(store.keys_of(&merchant).await, Ok(vec![revoked]));
    assert_eq!(store.exceptions(10).await, Ok(vec![exception]));
    let (at, by, note) = (Timestamp::from_millis(7), String::from("operator"), String::from("done"));
    assert_eq!(store.resolve_exception("e-1", &Resolution { at, by, note }).await, Ok(true));
    assert_eq!(store.exceptions(10).await, Ok(Vec::new()));
    assert_eq!(store.due_notices(Timestamp::from_millis(9), 10).await, Ok(vec![(notice, 0)]));
}

#[tokio::test]
async fn a_file_of_version_1_becomes_what_a_new_one_is() {
    let (folder, path) = file_of_version_1(&[created_at(1)]);
    let fresh = folder.path().join("fresh.db");
    for path in [&path, &fresh] {
        drop(EmbeddedStore::open(path).unwrap());
        assert_eq!(version(path), 2);
    }
    assert_eq!(schema(&path), schema(&fresh));
}

#[tokio::test]
async fn more_payments_than_are_looked_at_at_once_are_all_brought_along() {
    let payments: Vec<_> = (0..450).map(created_at).collect();
    let (_folder, path) = file_of_version_1(&payments);
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    let found = store.list(&of_amount(10_000), None, 1_000).await.unwrap();
    assert_eq!(ids(&found), payments.iter().rev().map(|payment| payment.id).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_payment_that_can_not_be_read_keeps_no_others_from_being_brought_along() {
    let (damaged, sound) = (created_at(1), created_at(2));
    let (_folder, path) = file_of_version_1(&[damaged.clone(), sound.clone()]);
    let meddler = Connection::open(&path).unwrap();
    let damage = "UPDATE payments SET payment = x'0500000000' WHERE id = ?1";
    assert_eq!(meddler.execute(damage, [damaged.id.uuid().as_bytes()]), Ok(1));
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(store.list(&of_amount(10_000), None, 10).await, Ok(vec![sound]));
    assert!(matches!(store.load(&[damaged.id]).await, Err(StoreError::Unreadable(_))));
}

#[tokio::test]
async fn an_api_key_that_can_not_be_read_keeps_no_others_from_being_brought_along() {
    let (_folder, path) = file_of_version_1(&[]);
    let meddler = Connection::open(&path).unwrap();
    let damaged = "INSERT INTO api_keys (id, created_at, api_key) VALUES ('damaged', 1, x'0500000000')";
    assert_eq!(meddler.execute(damaged, []), Ok(1));
    let sound = key("k1", 1);
    let row = "INSERT INTO api_keys VALUES ('k1', 1, ?1)";
    assert_eq!(meddler.execute(row, [bson::serialize_to_vec(&sound).unwrap()]), Ok(1));
    let store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(store.keys_of(&sound.owner.merchant).await, Ok(vec![sound]));
}

#[tokio::test]
async fn a_file_is_not_changed_under_the_older_version_that_serves_it() {
    let payment = created_at(1);
    let (_folder, path) = file_of_version_1(std::slice::from_ref(&payment));
    let lock = File::options().create(true).truncate(false).write(true).open(path.with_extension("db.lock"));
    let served = lock.unwrap();
    served.lock().unwrap();
    let refused = EmbeddedStore::open(&path).err().unwrap();
    assert!(matches!(&refused, StoreError::Unavailable(why) if why.contains("stop it first")), "{refused}");
    assert_eq!(version(&path), 1);
    drop(served);
    let store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(store.load(&[payment.id]).await, Ok(vec![payment]));
    assert!(EmbeddedStore::open_sole_writer(&path).is_ok(), "the lock was given back");
}

#[tokio::test]
async fn a_file_that_can_not_be_brought_along_stays_as_it_was() {
    let payment = created_at(1);
    let (_folder, path) = file_of_version_1(std::slice::from_ref(&payment));
    let meddler = Connection::open(&path).unwrap();
    meddler.execute_batch("CREATE TABLE nodes (id TEXT)").unwrap();
    let before = schema(&path);
    assert!(matches!(EmbeddedStore::open_sole_writer(&path), Err(StoreError::Unreadable(_))));
    assert_eq!((version(&path), schema(&path)), (1, before));
    meddler.execute_batch("DROP TABLE nodes").unwrap();
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(store.list(&of_amount(10_000), None, 10).await, Ok(vec![payment]));
}
