//! Upgrades of the kept stores of form 1 to the made-up form 2. `scripts/upgrade` runs them.

use std::sync::Arc;

use bson::{Document, RawDocument, doc};
use quita_domain::payment::Payment;
use quita_embedded::EmbeddedStore;
use quita_ports::{InboxStore, OperatorStore, PaymentStore, StoreError, StoreForm, UpgradeStore};
use quita_stored_form::form::learn_made_up_form;
use rusqlite::Connection;

use crate::golden::{everything, golden, restore_kept};
use crate::mongo::Server;
use crate::mongo_version::connect_again;
use quita_store_contract::samples::{created_at, insert, notice, pending, replace};

/// Returns every payment of a store, by id.
async fn payments(store: &impl PaymentStore, others: &[Payment]) -> Vec<Payment> {
    let ids = everything::payments().into_iter().chain(others.iter().cloned()).map(|payment| payment.id);
    let mut found = store.load(&ids.collect::<Vec<_>>()).await.unwrap();
    found.sort_by_key(|payment| payment.id.uuid());
    found
}

/// Continues an upgrade to its end, and returns the ids of damaged payments.
async fn rest_of(store: &impl UpgradeStore) -> Vec<String> {
    let mut unreadable = Vec::new();
    loop {
        let step = store.upgrade_some(3).await.unwrap();
        unreadable.extend(step.unreadable);
        if step.is_done {
            return unreadable;
        }
    }
}

fn form(number: i64, is_upgrading: bool) -> StoreForm {
    StoreForm { number, known: 2, is_upgrading }
}

/// Returns the numbers of payments in the file, in the first form and in the second.
fn forms_in(file: &Connection) -> (usize, usize) {
    let mut statement = file.prepare("SELECT payment FROM payments").unwrap();
    let documents = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let mut first = 0;
    let mut second = 0;
    for document in documents {
        let document = document.unwrap();
        let document = RawDocument::from_bytes(&document).unwrap();
        first += usize::from(document.get("pageToken").unwrap().is_some());
        second += usize::from(document.get("madeUpToken").unwrap().is_some());
    }
    (first, second)
}

#[tokio::test]
#[ignore = "scripts/upgrade runs it: the made-up form is known to the whole process"]
async fn an_embedded_store_is_upgraded_beside_its_service_and_goes_on_where_it_stopped() {
    learn_made_up_form();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quita.db");
    std::fs::copy(golden(1, "embedded.db"), &path).unwrap();
    let file = Connection::open(&path).unwrap();
    let count = everything::payments().len();

    let service = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(service.form(), form(1, false));
    let known = created_at(1);
    assert_eq!(service.commit(&[insert(&known)]).await, [Ok(())]);
    assert_eq!(forms_in(&file), (count + 1, 0), "the form of before is written until the upgrade");
    let before = payments(&service, std::slice::from_ref(&known)).await;

    let upgrade = EmbeddedStore::open_existing(&path).unwrap().unwrap();
    assert_eq!(upgrade.left_to_upgrade().await.unwrap(), u64::try_from(count).unwrap() + 1);
    upgrade.announce_form().await.unwrap();
    upgrade.refuse_older_forms().await.unwrap();
    let step = upgrade.upgrade_some(3).await.unwrap();
    assert_eq!((step.read, step.rewritten, step.is_done), (3, 3, false));
    drop(upgrade);

    // The service was not notified: it finds the number in its next write.
    let late = created_at(2);
    let changed = pending(&known, 2);
    assert_eq!(service.commit(&[insert(&late), replace(&changed)]).await, [Ok(()), Ok(())]);
    assert_eq!(service.follow_form().await.unwrap(), form(2, true));
    assert!(!service.form().has(2), "not before everything is in it");
    assert_eq!(forms_in(&file), (count - 3, 5));

    let again = EmbeddedStore::open_existing(&path).unwrap().unwrap();
    assert_eq!(again.form(), form(2, true));
    again.announce_form().await.unwrap();
    assert_eq!(again.left_to_upgrade().await.unwrap(), u64::try_from(count).unwrap() - 2);
    assert_eq!(rest_of(&again).await, [""; 0]);
    assert_eq!(service.follow_form().await.unwrap(), form(2, false));
    assert!(service.form().has(2));
    assert_eq!(forms_in(&file), (0, count + 2));
    assert!(again.upgrade_some(3).await.unwrap().is_done, "nothing is left to do");

    let mut after = payments(&service, std::slice::from_ref(&known)).await;
    let place = after.iter().position(|payment| payment.id == known.id).unwrap();
    assert_eq!(after[place], changed);
    after[place] = known;
    assert_eq!(after, before, "nothing else changed");
    everything::check_is_in(Arc::new(service)).await;
}

#[tokio::test]
#[ignore = "scripts/upgrade runs it: the made-up form is known to the whole process"]
async fn a_damaged_payment_in_the_file_is_passed_over_and_named() {
    learn_made_up_form();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quita.db");
    std::fs::copy(golden(1, "embedded.db"), &path).unwrap();
    let damaged = everything::payments().remove(1).id;
    let file = Connection::open(&path).unwrap();
    let damage = "UPDATE payments SET payment = x'00' WHERE id = ?1";
    assert_eq!(file.execute(damage, [damaged.uuid().as_bytes()]), Ok(1));
    let store = EmbeddedStore::open_existing(&path).unwrap().unwrap();
    store.announce_form().await.unwrap();
    assert_eq!(rest_of(&store).await, [damaged.to_string()]);
    assert_eq!(store.follow_form().await.unwrap(), form(2, false));
}

#[tokio::test]
#[ignore = "scripts/upgrade runs it: the made-up form is known to the whole process"]
async fn a_new_store_is_made_in_the_newest_form() {
    learn_made_up_form();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quita.db");
    let store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(store.form(), form(2, false));
    assert_eq!(store.commit(&[insert(&created_at(1))]).await, [Ok(())]);
    assert_eq!(forms_in(&Connection::open(&path).unwrap()), (0, 1));
}

#[tokio::test]
#[ignore = "scripts/upgrade runs it: the made-up form is known to the whole process"]
async fn a_database_is_upgraded_beside_its_nodes_and_goes_on_where_it_stopped() {
    learn_made_up_form();
    let Some(server) = Server::connect().await else { return };
    server
        .run(|_, database| async move {
            restore_kept(&database).await;
            let count = everything::payments().len();
            let in_form = async |number: Option<i64>| {
                let stored = database.collection::<Document>("payments");
                let filter =
                    number.map_or(doc! { "form": { "$exists": false } }, |number| doc! { "form": number });
                usize::try_from(stored.count_documents(filter).await.unwrap()).unwrap()
            };
            let node = connect_again(&database).await.unwrap();
            assert_eq!(node.form(), form(1, false));
            let known = created_at(1);
            assert_eq!(node.commit(&[insert(&known)]).await, [Ok(())]);
            assert_eq!(in_form(None).await, count + 1, "the form of before is written until the upgrade");
            let before = payments(&node, std::slice::from_ref(&known)).await;

            let upgrade = connect_again(&database).await.unwrap();
            upgrade.announce_form().await.unwrap();
            upgrade.refuse_older_forms().await.unwrap();
            let step = upgrade.upgrade_some(3).await.unwrap();
            assert_eq!((step.read, step.rewritten, step.is_done), (3, 3, false));
            drop(upgrade);

            // The node was not notified: payments can still be written, anything else once it has read the form.
            let late = created_at(2);
            let changed = pending(&known, 2);
            let refused = node.put_notices(&[notice("late:1", 1)]).await;
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
            assert_eq!(node.commit(&[insert(&late), replace(&changed)]).await, [Ok(()), Ok(())]);
            assert_eq!(node.form(), form(2, true));
            assert_eq!(node.put_notices(&[notice("late:1", 1)]).await, Ok(vec![true]));
            assert_eq!((in_form(None).await, in_form(Some(2)).await), (count - 3, 5));

            let again = connect_again(&database).await.unwrap();
            again.announce_form().await.unwrap();
            again.refuse_older_forms().await.unwrap();
            assert_eq!(again.left_to_upgrade().await.unwrap(), u64::try_from(count).unwrap() - 1);
            assert_eq!(rest_of(&again).await, [""; 0]);
            assert_eq!(node.follow_form().await.unwrap(), form(2, false));
            assert_eq!((in_form(None).await, in_form(Some(2)).await), (0, count + 2));

            let mut after = payments(&node, std::slice::from_ref(&known)).await;
            let place = after.iter().position(|payment| payment.id == known.id).unwrap();
            assert_eq!(after[place], changed);
            after[place] = known;
            assert_eq!(after, before, "nothing else changed");
            everything::check_is_in(Arc::new(again)).await;
        })
        .await;
}

#[tokio::test]
#[ignore = "scripts/upgrade runs it: the made-up form is known to the whole process"]
async fn a_damaged_payment_in_the_database_is_passed_over_and_named() {
    learn_made_up_form();
    let Some(server) = Server::connect().await else { return };
    server
        .run(|_, database| async move {
            restore_kept(&database).await;
            let payments = everything::payments();
            let without_document = payments[1].id;
            let without_revision = payments[2].id;
            let stored = database.collection::<Document>("payments");
            for (id, field) in [(without_document, "payment"), (without_revision, "revision")] {
                let id = bson::Uuid::from_bytes(*id.uuid().as_bytes());
                let damaged =
                    stored.update_one(doc! { "_id": id }, doc! { "$unset": { field: "" } }).await.unwrap();
                assert_eq!(damaged.modified_count, 1);
            }
            let store = connect_again(&database).await.unwrap();
            store.announce_form().await.unwrap();
            store.refuse_older_forms().await.unwrap();
            let mut named = rest_of(&store).await;
            named.sort();
            let mut damaged = [without_document.to_string(), without_revision.to_string()];
            damaged.sort();
            assert_eq!(named, damaged);
            assert_eq!(store.follow_form().await.unwrap(), form(2, false));
        })
        .await;
}

#[tokio::test]
#[ignore = "scripts/upgrade runs it: the made-up form is known to the whole process"]
async fn an_upgrade_that_another_one_has_ended_has_ended() {
    learn_made_up_form();
    let Some(server) = Server::connect().await else { return };
    server
        .run(|_, database| async move {
            restore_kept(&database).await;
            let store = connect_again(&database).await.unwrap();
            store.announce_form().await.unwrap();
            assert_eq!(rest_of(&store).await, [""; 0]);
            assert!(store.upgrade_some(1).await.unwrap().is_done, "nothing is left to do");
            assert_eq!(store.follow_form().await.unwrap(), form(2, false));
        })
        .await;
}
