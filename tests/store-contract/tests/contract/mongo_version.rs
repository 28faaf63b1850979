//! Starts on an existing database, and on a new one.

use std::time::Duration;

use bson::{Document, doc};
use mongodb::{Client, Database};
use quita_domain::time::Timestamp;
use quita_mongo::MongoStore;
use quita_ports::{
    AccessStore, InboxStore, NumberStore, OperatorStore, PaymentStore, Store, StoreError, WriteError,
};
use quita_stored_form::VERSION;

use crate::access::key;
use crate::mongo::{Server, server_uri};
use crate::numbers::range;
use crate::operator::node;
use quita_store_contract::fail_point::{FailPoint, delay};
use quita_store_contract::lent_database::{LentDatabase, with_database};
use quita_store_contract::samples::{created_at, insert, notice, pending, replace};

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

pub async fn connect_again(database: &Database) -> Result<MongoStore, StoreError> {
    let uri = std::env::var("QUITA_TEST_MONGODB_URI").unwrap();
    MongoStore::connect(&with_database(&uri, database.name())).await
}

#[tokio::test]
async fn a_store_that_is_there_is_connected_to_and_none_is_made() {
    let Some(server) = server_uri() else { return };
    let LentDatabase { uri, name, .. } = LentDatabase::alone(&server);
    let database = Client::with_uri_str(&uri).await.unwrap().database(&name);
    assert!(MongoStore::connect_existing(&uri).await.unwrap().is_none());
    assert_eq!(database.list_collection_names().await.unwrap(), [""; 0]);
    drop(MongoStore::connect(&uri).await.unwrap());
    let again = MongoStore::connect_existing(&uri).await;
    database.drop().await.unwrap();
    assert!(again.unwrap().is_some());
}

#[tokio::test]
async fn a_database_in_a_newer_form_is_refused_with_the_version_to_install() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let payment = created_at(1);
            assert_eq!(store.commit(&[insert(&payment)]).await, [Ok(())]);
            let forms = database.collection::<Document>("stored_form");
            let form = forms.find_one(doc! {}).await.unwrap().unwrap();
            let newer = doc! { "$set": { "version": VERSION + 1, "program": "7.0.0" } };
            forms.update_one(doc! {}, newer).await.unwrap();
            let Err(StoreError::Unreadable(why)) = connect_again(&database).await else {
                panic!("a newer form is read")
            };
            for part in [
                format!("has number {}", VERSION + 1),
                format!("up to number {VERSION}: install Quita 7.0.0"),
            ] {
                assert!(why.contains(&part), "{why}");
            }
            forms.drop().await.unwrap();
            let Err(StoreError::Unreadable(why)) = connect_again(&database).await else {
                panic!("a database without a number is read")
            };
            assert!(why.contains("of before the first release"), "{why}");
            forms.insert_one(doc! { "_id": "version", "version": 6_i64 }).await.unwrap();
            let Err(StoreError::Unreadable(why)) = connect_again(&database).await else {
                panic!("a form that was never released is read")
            };
            assert!(why.contains("of before the first release"), "{why}");
            forms.replace_one(doc! {}, form).await.unwrap();
            let again = connect_again(&database).await.unwrap();
            assert_eq!(again.load(&[payment.id]).await, Ok(vec![payment]), "it stayed as it was");
        })
        .await;
}

#[tokio::test]
async fn a_node_that_wakes_up_after_an_upgrade_writes_nothing_more() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|asleep, database| async move {
            let known = created_at(1);
            assert_eq!(asleep.commit(&[insert(&known)]).await, [Ok(())]);
            asleep.put_notices(&[notice("bank:1", 1)]).await.unwrap();
            asleep.insert_key(&key("0123456789abcdef", 1)).await.unwrap();
            asleep.take_numbers(&range("1-1-7", 7, 12), 1).await.unwrap();
            let newer = VERSION + 1;
            let forms = database.collection::<Document>("stored_form");
            let upgraded = doc! { "$set": { "version": newer, "program": "7.0.0", "upgrade": {} } };
            forms.update_one(doc! {}, upgraded).await.unwrap();
            for name in database.list_collection_names().await.unwrap() {
                if name != "stored_form" {
                    let validator = doc! { "form": { "$gte": newer } };
                    database.run_command(doc! { "collMod": name, "validator": validator }).await.unwrap();
                }
            }
            // Parts that the upgrade has reached are also protected from partial changes, not only from whole
            // documents.
            for name in ["inbox", "api_keys"] {
                let all = database.collection::<Document>(name);
                all.update_many(doc! {}, doc! { "$set": { "form": newer } }).await.unwrap();
            }
            let is_refused = |refused: Result<(), StoreError>| {
                let Err(StoreError::Unavailable(why)) = refused else { panic!("it is written: {refused:?}") };
                assert!(why.contains("the stored form of before an upgrade"), "{why}");
            };
            is_refused(asleep.put_notices(&[notice("bank:2", 2)]).await.map(drop));
            is_refused(asleep.finish_notices(&[String::from("bank:1")], Timestamp::from_millis(3)).await);
            is_refused(asleep.revoke_key("0123456789abcdef", Timestamp::from_millis(3)).await.map(drop));
            is_refused(asleep.put_node(&node(1, 1, Timestamp::from_millis(4))).await);
            is_refused(asleep.take_numbers(&range("1-1-7", 7, 12), 4).await.map(drop));
            assert!(!asleep.form().is_too_new(), "it was not looked at yet");
            let outcomes = asleep.commit(&[insert(&created_at(2)), replace(&pending(&known, 2))]).await;
            for outcome in outcomes {
                let Err(WriteError::NotWritten(StoreError::Broken(why))) = outcome else {
                    panic!("it is written: {outcome:?}")
                };
                assert!(why.contains("install Quita 7.0.0"), "{why}");
            }
            assert!(asleep.form().is_too_new());
            assert_eq!(asleep.load(&[known.id]).await, Ok(vec![known]), "it is as it was");
        })
        .await;
}

#[tokio::test]
async fn a_node_that_is_overtaken_while_it_starts_on_a_new_database_starts_too() {
    let Some(server) = server_uri() else { return };
    let Some(point) = FailPoint::take_turn(&server).await else { return };
    for held_up in ["listCollections", "insert", "find"] {
        let LentDatabase { uri, name, .. } = LentDatabase::alone(&server);
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
