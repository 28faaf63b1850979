//! Databases that the version before the consoles made.

use bson::{Document, doc};
use mongodb::options::IndexOptions;
use mongodb::{Database, IndexModel};
use quita_adapters::mongo::MongoStore;
use quita_domain::identity::MerchantId;
use quita_domain::listing::PaymentFilter;
use quita_domain::payment::Payment;
use quita_ports::{ExceptionStore, FiguresStore, KeyringStore, PaymentStore};
use serde::Serialize;
use uuid::Uuid;

use crate::mongo::{Server, with_database};
use crate::samples::{created_at, paid, pending};

#[tokio::test]
async fn what_the_version_before_stored_is_found_and_its_indexes_go() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let payment = paid(&pending(&created_at(1), 2), 1_003);
            put_as_before(&database, &payment).await;
            let amount = Some(payment.order.amount);
            let filter = PaymentFilter { amount, ..crate::listing::everything() };
            assert_eq!(store.list(&filter, None, 10).await, Ok(vec![payment.clone()]));
            let figures = store.figures(&crate::mongo::of_all_time(MerchantId::new("loja"))).await.unwrap();
            assert_eq!(figures.len(), 1);
            assert_eq!((figures[0].paid_within, figures[0].amount_cents), (Some(1), 10_000));
            let merchant = MerchantId::new("loja");
            assert_eq!(store.keys_of(&merchant).await, Ok(vec![crate::access::key("k1", 1)]));
            assert_eq!(store.exceptions(10).await, Ok(vec![crate::exceptions::exception("e-1", 1)]));
            let payments = database.collection::<Document>("payments");
            let options = IndexOptions::builder().name(String::from("by_status")).build();
            let keys = doc! { "merchant": 1, "mode": 1, "status": 1, "createdAt": -1, "_id": -1 };
            let superseded = IndexModel::builder().keys(keys).options(options).build();
            payments.create_index(superseded).await.unwrap();
            let exceptions = database.collection::<Document>("exceptions");
            let options = IndexOptions::builder().name(String::from("newest")).build();
            let superseded = IndexModel::builder().keys(doc! { "reportedAt": -1 }).options(options).build();
            exceptions.create_index(superseded).await.unwrap();
            let before = payments.list_index_names().await.unwrap();
            let uri = std::env::var("QUITA_TEST_MONGODB_URI").unwrap();
            MongoStore::connect(&with_database(&uri, database.name())).await.unwrap();
            let mut after = payments.list_index_names().await.unwrap();
            assert!(!after.iter().any(|name| name == "by_status"), "{after:?}");
            after.push(String::from("by_status"));
            assert_eq!(after, before, "and no others");
            let exceptions = exceptions.list_index_names().await.unwrap();
            assert!(!exceptions.iter().any(|name| name == "newest"), "{exceptions:?}");
        })
        .await;
}

/// A payment, a key and an exception as the version before the consoles stored them.
async fn put_as_before(database: &Database, payment: &Payment) {
    let id = |id: Uuid| bson::Uuid::from_bytes(id.into_bytes());
    let payments = doc! {
        "_id": id(payment.id.uuid()), "revision": 3_i64, "lastOp": id(payment.last_op), "merchant": "loja",
        "mode": "test", "method": "PIX", "document": "52998224725", "email": "ana@example.com",
        "createdAt": payment.created_at.millis(), "status": "paid", "deliveryStates": ["pending"],
        "payment": stored(payment),
    };
    let key = crate::access::key("k1", 1);
    let key = doc! { "_id": "k1", "createdAt": 1_i64, "apiKey": stored(&key) };
    let exception = stored(&crate::exceptions::exception("e-1", 1));
    let exception = doc! { "_id": "e-1", "reportedAt": 1_i64, "exception": exception };
    for (collection, document) in [("payments", payments), ("api_keys", key), ("exceptions", exception)] {
        database.collection::<Document>(collection).insert_one(document).await.unwrap();
    }
}

/// As the stores write it.
fn stored(value: &impl Serialize) -> Document {
    bson::deserialize_from_slice(&bson::serialize_to_vec(value).unwrap()).unwrap()
}
