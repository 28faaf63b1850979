//! Starts on a database that is there, and on one that is new.

use std::time::Duration;

use bson::{Document, doc};
use mongodb::{Client, Database};
use quita_mongo::MongoStore;
use quita_ports::{PaymentStore, Store, StoreError};
use uuid::Uuid;

use crate::mongo::{Server, with_database};
use quita_store_contract::fail_point::{FailPoint, delay};
use quita_store_contract::samples::{created_at, insert};

#[tokio::test]
async fn a_second_start_finds_its_indexes() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|_, database| async move {
            let again = connect_again(&database).await.unwrap();
            assert_eq!(again.ping().await, Ok(()));
            assert!(!again.is_sole_writer());
        })
        .await;
}

async fn connect_again(database: &Database) -> Result<MongoStore, StoreError> {
    let uri = std::env::var("QUITA_TEST_MONGODB_URI").unwrap();
    MongoStore::connect(&with_database(&uri, database.name())).await
}

#[tokio::test]
async fn a_store_that_is_there_is_connected_to_and_none_is_made() {
    let Ok(server) = std::env::var("QUITA_TEST_MONGODB_URI") else {
        println!("skipped: QUITA_TEST_MONGODB_URI is not set");
        return;
    };
    let name = format!("quita_test_{}", Uuid::now_v7().simple());
    let uri = with_database(&server, &name);
    let database = Client::with_uri_str(&uri).await.unwrap().database(&name);
    assert!(MongoStore::connect_existing(&uri).await.unwrap().is_none());
    assert_eq!(database.list_collection_names().await.unwrap(), [""; 0]);
    drop(MongoStore::connect(&uri).await.unwrap());
    let again = MongoStore::connect_existing(&uri).await;
    database.drop().await.unwrap();
    assert!(again.unwrap().is_some());
}

#[tokio::test]
async fn a_database_in_the_form_of_another_version_is_refused_with_what_to_do() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let payment = created_at(1);
            assert_eq!(store.commit(&[insert(&payment)]).await, [Ok(())]);
            let forms = database.collection::<Document>("stored_form");
            let form = forms.find_one(doc! {}).await.unwrap().unwrap();
            let number = form.get_i64("version").unwrap();
            let refused = async |told: String| {
                let Err(StoreError::Unreadable(why)) = connect_again(&database).await else {
                    panic!("{told}")
                };
                for part in [&told, &format!("only number {number}."), "move it away"] {
                    assert!(why.contains(part), "{why}");
                }
            };
            for other in [1, number - 1, number + 1] {
                forms.update_one(doc! {}, doc! { "$set": { "version": other } }).await.unwrap();
                refused(format!("has number {other},")).await;
            }
            forms.drop().await.unwrap();
            // As a version made it that did not number its form.
            refused(String::from("has no number,")).await;
            forms.insert_one(form).await.unwrap();
            let again = connect_again(&database).await.unwrap();
            assert_eq!(again.load(&[payment.id]).await, Ok(vec![payment]), "it stayed as it was");
        })
        .await;
}

#[tokio::test]
async fn a_node_that_is_overtaken_while_it_starts_on_a_new_database_starts_too() {
    let Ok(server) = std::env::var("QUITA_TEST_MONGODB_URI") else {
        println!("skipped: QUITA_TEST_MONGODB_URI is not set");
        return;
    };
    let Some(point) = FailPoint::take_turn(&server).await else { return };
    for held_up in ["listCollections", "insert", "find"] {
        let name = format!("quita_test_{}", Uuid::now_v7().simple());
        let uri = with_database(&server, &name);
        let before = point.fail(1, &[held_up], &delay(Duration::from_secs(1))).await;
        let marked = point.mark(&uri);
        let slow = tokio::spawn(async move { MongoStore::connect(&marked).await.map(drop) });
        point.wait_for(before + 1, Duration::from_secs(10)).await;
        let fast = MongoStore::connect(&uri).await.map(drop);
        let slow = slow.await.unwrap();
        Client::with_uri_str(&uri).await.unwrap().database(&name).drop().await.unwrap();
        assert_eq!([fast, slow], [Ok(()), Ok(())], "{held_up}");
    }
    point.heal().await;
}
