//! The archive of the MongoDB store: moves that are interrupted between their steps.

use bson::{Document, doc};
use mongodb::Database;
use quita_domain::figures::FiguresFilter;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::PaymentFilter;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_mongo::MongoStore;
use quita_ports::{ArchiveStore, FiguresStore, PaymentStore, SecretKeyStore};

use crate::listing::everything;
use crate::mongo::Server;
use crate::mongo_faults::{World, faults};
use quita_store_contract::samples::{answered, created_at, insert, paid, pending, replace};

fn by_id(payment: &Payment) -> Document {
    doc! { "_id": bson::Uuid::from_bytes(payment.id.uuid().into_bytes()) }
}

async fn raw(database: &Database, collection: &str, payment: &Payment) -> Option<Document> {
    database.collection::<Document>(collection).find_one(by_id(payment)).await.unwrap()
}

/// Checks that every kind of query finds the payment once and unchanged.
async fn check_is_there_once(store: &MongoStore, payment: &Payment, what: &str) {
    assert_eq!(store.load(&[payment.id]).await, Ok(vec![payment.clone()]), "{what}");
    let at = payment.created_at;
    let filter = PaymentFilter { created_from: Some(at), created_to: Some(at.plus_ms(1)), ..everything() };
    assert_eq!(store.list(&filter, None, 9).await, Ok(vec![Ok(payment.clone())]), "{what}");
    let statuses = vec![payment.status()];
    let of_status = PaymentFilter { statuses, ..filter };
    assert_eq!(store.list(&of_status, None, 1).await, Ok(vec![Ok(payment.clone())]), "{what}");
    let from = at;
    let to = at.plus_ms(1);
    let figures = FiguresFilter { merchant: MerchantId::new("loja"), mode: Mode::Test, from, to };
    let mut counts = Vec::new();
    // It is counted twice at the moment in which the move reaches a majority.
    for _ in 0..200 {
        counts = store.figures(&figures).await.unwrap().iter().map(|figure| figure.count).collect();
        if counts == [1] {
            break;
        }
    }
    assert_eq!(counts, [1], "{what}");
}

#[tokio::test]
async fn a_move_that_fails_at_any_step_loses_nothing_and_is_made_by_the_next() {
    let Some(world) = World::open().await else { return };
    let steps = [("insert", 0), ("find", 0), ("update", 0), ("find", 1), ("update", 1)];
    let mut at = 0;
    // One fault of each kind: the server is away, refuses, does nothing, or succeeds without a majority.
    let kinds = ["hangs up", "NotWritablePrimary", "BadValue", "no majority"];
    for fault in faults().into_iter().filter(|fault| kinds.contains(&fault.name)) {
        // Faults after the command's success do not apply to reads.
        for (command, skipped) in steps.iter().filter(|(command, _)| !fault.is_done || *command != "find") {
            for is_written_meanwhile in [false, true] {
                at += 1_000;
                let what = format!("{} {command} {skipped} {is_written_meanwhile}", fault.name);
                let mut payment = paid(&pending(&created_at(at), at + 1), at + 2);
                assert!(world.witness.commit(&[insert(&payment)]).await[0].is_ok());
                world.point.fail_after(*skipped, &[*command], &fault.how).await;
                let told = world.store.archive(std::slice::from_ref(&payment)).await;
                world.point.heal().await;
                assert!(told.is_err(), "{what}: {told:?}");
                check_is_there_once(&world.witness, &payment, &what).await;
                if is_written_meanwhile {
                    payment = answered(&payment, 0, 200, at + 3);
                    assert_eq!(world.witness.commit(&[replace(&payment)]).await, [Ok(())], "{what}");
                    check_is_there_once(&world.witness, &payment, &what).await;
                }
                world.witness.complete_archiving().await.unwrap();
                check_is_there_once(&world.witness, &payment, &what).await;
                assert!(world.witness.archive(std::slice::from_ref(&payment)).await.is_ok(), "{what}");
                check_is_there_once(&world.witness, &payment, &what).await;
                let stub = raw(&world.database, "payments", &payment).await.unwrap();
                assert!(
                    stub.get_bool("archived").unwrap() && !stub.contains_key("merchant"),
                    "{what}: {stub}"
                );
                let archived = raw(&world.database, "archived_payments", &payment).await.unwrap();
                assert!(!archived.contains_key("moving"), "{what}");
            }
        }
    }
    world.close().await;
}

#[tokio::test]
async fn a_copy_that_was_overtaken_is_emptied_and_nobody_is_found_in_it() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let payment = paid(&pending(&created_at(1_000), 1_001), 1_002);
            assert_eq!(store.commit(&[insert(&payment)]).await, [Ok(())]);
            // The state after a process died following the first step.
            let mut copy = raw(&database, "payments", &payment).await.unwrap();
            copy.insert("moving", true);
            database.collection::<Document>("archived_payments").insert_one(copy).await.unwrap();
            check_is_there_once(&store, &payment, "a copy").await;
            let told = answered(&payment, 0, 200, 1_003);
            assert_eq!(store.commit(&[replace(&told)]).await, [Ok(())]);
            check_is_there_once(&store, &told, "an older copy").await;
            store.forget_replaced().await.unwrap();
            let empty = raw(&database, "archived_payments", &payment).await.unwrap();
            let mut names: Vec<_> = empty.keys().map(String::as_str).filter(|name| *name != "form").collect();
            names.sort_unstable();
            assert_eq!(names, ["_id", "moving", "revision"]);
            check_is_there_once(&store, &told, "an empty copy").await;
            assert_eq!(store.archive(std::slice::from_ref(&told)).await, Ok(1));
            check_is_there_once(&store, &told, "archived").await;
            let until = Timestamp::from_millis(9_000);
            let payee = (MerchantId::new("loja"), Mode::Test);
            assert_eq!(store.unarchived(&payee, until, None, 9).await, Ok(Vec::new()));
        })
        .await;
}

/// A node that was suspended during another node's move does no harm when it continues.
#[tokio::test]
async fn a_mover_that_is_late_changes_nothing() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            let payment = paid(&pending(&created_at(1_000), 1_001), 1_002);
            assert_eq!(store.commit(&[insert(&payment)]).await, [Ok(())]);
            assert_eq!(store.archive(std::slice::from_ref(&payment)).await, Ok(1));
            let told = answered(&payment, 0, 200, 1_003);
            assert_eq!(store.commit(&[replace(&told)]).await, [Ok(())]);
            let before = raw(&database, "archived_payments", &payment).await;
            assert_eq!(store.archive(std::slice::from_ref(&payment)).await, Ok(0));
            assert_eq!(raw(&database, "archived_payments", &payment).await, before);
            check_is_there_once(&store, &told, "late").await;
        })
        .await;
}
