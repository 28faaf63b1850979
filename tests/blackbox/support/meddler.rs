//! Changes to the store behind the service's back: here, those that no test can wait for.

use std::sync::Arc;
use std::time::Duration;

use mongodb::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use quita_domain::control::Node;
use quita_domain::identity::{LinkId, TransactionId};
use quita_domain::link::{LinkUses, UnstoredUses};
use quita_domain::method::Method;
use quita_domain::people::Session;
use quita_domain::time::{Timestamp, millis_in};
use quita_embedded::EmbeddedStore;
use quita_machine::SystemClock;
use quita_mongo::MongoStore;
use quita_ports::{Clock, WholeStore, Write};
use uuid::Uuid;

use super::block_on;

/// Copies of a payment that are stored at once.
const COPIES_AT_ONCE: usize = 1_000;

async fn open(store_url: &str) -> Arc<dyn WholeStore> {
    match store_url.strip_prefix("sqlite:") {
        Some(path) => Arc::new(EmbeddedStore::open(path).unwrap()),
        None => Arc::new(MongoStore::connect(store_url).await.unwrap()),
    }
}

/// Lets who it is in a session have been proven so much earlier.
pub(crate) fn proven_earlier(store_url: &str, token: &str, by: Duration) {
    block_on(async {
        let store = open(store_url).await;
        let before = store.session(&Session::id_of(token)).await.unwrap().unwrap();
        let confirmed_at = before.confirmed_at.minus_ms(millis_in(by));
        let after = Session { confirmed_at, ..before.clone() };
        assert!(store.replace_session(&before, &after).await.unwrap());
    });
}

/// Puts so many copies of a payment beside it, each with an id of its own.
pub(crate) fn copy_payment(store_url: &str, id: &str, count: usize) {
    block_on(async {
        let store = open(store_url).await;
        let id = TransactionId::parse(id).unwrap();
        let original = store.load(&[id]).await.unwrap().pop().unwrap();
        let copies: Vec<_> = (0..count)
            .map(|_| {
                let mut copy = original.clone();
                (copy.id, copy.revision) = (TransactionId::new(Uuid::now_v7()), 1);
                // A Pix belongs to one payment.
                copy.bound_pix.clear();
                Write { payment: Arc::new(copy), expected_revision: 0 }
            })
            .collect();
        for batch in copies.chunks(COPIES_AT_ONCE) {
            assert!(store.commit(batch).await.iter().all(Result::is_ok));
        }
    });
}

/// Takes a use of a link for a payment that is not stored, as another node does.
pub(crate) fn take_use(store_url: &str, link: &str) -> TransactionId {
    block_on(async {
        let store = open(store_url).await;
        let link = store.link(LinkId::parse(link).unwrap()).await.unwrap().unwrap();
        let payment = TransactionId::new(Uuid::now_v7());
        let uses = LinkUses::default();
        let unstored = UnstoredUses::default();
        let taken = link.take(payment, Method::Pix, &uses, unstored, SystemClock.now()).unwrap();
        assert!(store.replace_link(&taken).await.unwrap());
        payment
    })
}

/// Releases it.
pub(crate) fn release_use(store_url: &str, link: &str, payment: TransactionId) {
    block_on(async {
        let store = open(store_url).await;
        let link = store.link(LinkId::parse(link).unwrap()).await.unwrap().unwrap();
        assert!(store.replace_link(&link.release(payment, Method::Pix).unwrap()).await.unwrap());
    });
}

/// Lets everything about a payment have happened so much earlier. The service must not run.
pub(crate) fn grown_older(store_url: &str, id: &str, by: Duration) {
    let uuid = Uuid::parse_str(id).unwrap();
    let by = millis_in(by);
    block_on(async {
        let store = open(store_url).await;
        let mut payment = store.load(&[TransactionId::new(uuid)]).await.unwrap().pop().unwrap();
        payment.created_at = payment.created_at.minus_ms(by);
        let state = Arc::make_mut(&mut payment.state);
        state.updated_at = state.updated_at.minus_ms(by);
        state.paid_at = state.paid_at.map(|at| at.minus_ms(by));
        for attempt in payment.outbox.iter_mut().flat_map(|delivery| &mut delivery.attempts) {
            attempt.at = attempt.at.minus_ms(by);
        }
        match store_url.strip_prefix("sqlite:") {
            Some(path) => {
                let file = rusqlite::Connection::open(path).unwrap();
                assert_eq!(file.execute("DELETE FROM payments WHERE id = ?1", [uuid.as_bytes()]), Ok(1));
            }
            None => {
                let client = mongodb::Client::with_uri_str(store_url).await.unwrap();
                let payments = client.default_database().unwrap().collection::<Document>("payments");
                let id =
                    Bson::Binary(Binary { subtype: BinarySubtype::Uuid, bytes: uuid.as_bytes().to_vec() });
                assert_eq!(payments.delete_one(doc! { "_id": id }).await.unwrap().deleted_count, 1);
            }
        }
        let write = Write { payment: Arc::new(payment), expected_revision: 0 };
        assert_eq!(store.commit(&[write]).await, [Ok(())]);
    });
}

/// Lets a payment have been paid, and changed last, so much earlier. The service must not run.
pub(crate) fn paid_earlier(store_url: &str, id: &str, by: Duration) {
    let id = Uuid::parse_str(id).unwrap();
    let by = i64::try_from(by.as_millis()).unwrap();
    match store_url.strip_prefix("sqlite:") {
        Some(path) => in_sqlite(path, id, by),
        None => block_on(in_mongodb(store_url, id, by)),
    }
}

fn in_sqlite(path: &str, id: Uuid, by: i64) {
    let store = rusqlite::Connection::open(path).unwrap();
    let read = "SELECT payment FROM payments WHERE id = ?1";
    let stored: Vec<u8> = store.query_row(read, [id.as_bytes()], |row| row.get(0)).unwrap();
    let mut payment = Document::from_reader(&stored[..]).unwrap();
    let state = payment.get_document_mut("state").unwrap();
    for name in ["paidAt", "updatedAt"] {
        let at = state.get_i64(name).unwrap();
        state.insert(name, at - by);
    }
    let mut changed = Vec::new();
    payment.to_writer(&mut changed).unwrap();
    let write = "UPDATE payments SET payment = ?2, paid_at = paid_at - ?3, rests_since = rests_since - ?3 \
        WHERE id = ?1";
    assert_eq!(store.execute(write, rusqlite::params![id.as_bytes(), changed, by]), Ok(1));
}

async fn in_mongodb(url: &str, id: Uuid, by: i64) {
    let database = mongodb::Client::with_uri_str(url).await.unwrap().default_database().unwrap();
    let id = Bson::Binary(Binary { subtype: BinarySubtype::Uuid, bytes: id.as_bytes().to_vec() });
    let earlier = doc! {
        "$inc": { "payment.state.paidAt": -by, "payment.state.updatedAt": -by, "restsSince": -by },
    };
    let updated = database.collection::<Document>("payments").update_one(doc! { "_id": id }, earlier).await;
    assert_eq!(updated.unwrap().modified_count, 1);
}

/// Adds a node that is dead to a MongoDB store: one heartbeat, written by a clock that is this much ahead.
pub(crate) fn add_node_ahead(store_url: &str, address: &str, ahead: Duration) {
    block_on(async {
        let store = open(store_url).await;
        let node = store.nodes(Timestamp::from_millis(0)).await.unwrap().remove(0);
        let seen_at = SystemClock.now().plus_ms(millis_in(ahead));
        let node = Node { id: Uuid::from_u128(7), address: address.into(), seen_at, ..node };
        store.put_node(&node).await.unwrap();
    });
}

/// Frees every run of reconciliation that a node claimed in MongoDB, so that another need not wait for its lease.
pub(crate) fn give_up_runs(store_url: &str) {
    block_on(async {
        let database = mongodb::Client::with_uri_str(store_url).await.unwrap().default_database().unwrap();
        let runs = database.collection::<Document>("reconciliation_runs");
        assert!(runs.delete_many(doc! {}).await.unwrap().deleted_count > 0);
    });
}

/// Gives the store the number of a form that this program does not know, as an upgrade by this version does, and payments
/// that it can't read.
pub(crate) fn upgrade_to(store_url: &str, form: i64, program: &str) {
    if let Some(path) = store_url.strip_prefix("sqlite:") {
        let file = rusqlite::Connection::open(path).unwrap();
        file.execute("UPDATE stored_form SET program = ?1", [program]).unwrap();
        file.execute("UPDATE payments SET payment = zeroblob(5)", []).unwrap();
        file.pragma_update(None, "user_version", form).unwrap();
        return;
    }
    block_on(async {
        let client = mongodb::Client::with_uri_str(store_url).await.unwrap();
        let database = client.default_database().unwrap();
        let change = doc! { "$set": { "version": form, "program": program } };
        database.collection::<Document>("stored_form").update_one(doc! {}, change).await.unwrap();
        let unreadable = doc! { "$set": { "payment": {}, "form": form } };
        database.collection::<Document>("payments").update_many(doc! {}, unreadable).await.unwrap();
        for name in database.list_collection_names().await.unwrap() {
            if name != "stored_form" {
                let validator = doc! { "form": { "$gte": form } };
                database.run_command(doc! { "collMod": name, "validator": validator }).await.unwrap();
            }
        }
    });
}
