//! Files of the embedded store that another program deletes, replaces, cuts or overwrites while they are served.
#![cfg(unix)]

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use quita_embedded::EmbeddedStore;
use quita_ports::{InboxStore, PaymentStore, SecretKeyStore, Store, StoreError};
use tempfile::TempDir;

use quita_store_contract::samples::{created_at, insert, notice};

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("quita 1%.db");
    (folder, path)
}

fn log_of(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

/// Returns a store in this file that has written, with all data in the database file.
async fn served(path: &Path) -> EmbeddedStore {
    let store = EmbeddedStore::open_sole_writer(path).unwrap();
    assert_eq!(store.commit(&[insert(&created_at(0))]).await, [Ok(())]);
    assert_eq!(store.ping().await, Ok(()));
    store
}

/// Checks that nothing is acknowledged any more, and that the reason names the file.
async fn check_refuses(store: &EmbeddedStore, name: &str) {
    let late = store.commit(&[insert(&created_at(2))]).await;
    assert!(matches!(late[..], [Err(_)]), "{late:?}");
    let Err(StoreError::Broken(why)) = store.ping().await else { panic!("the store is trusted") };
    assert!(
        why.contains(name) && why.contains("another program") || why.contains("deleted or replaced"),
        "{why}"
    );
    assert!(matches!(store.put_notices(&[notice("a:1", 1)]).await, Err(StoreError::Broken(_))));
}

/// Overwrites a file in place, as `cp` does.
fn overwrite(path: &Path, with: &[u8]) {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
    file.write_all(with).unwrap();
}

async fn nothing_is_acknowledged_after(meddle: impl FnOnce(&Path)) {
    let (_folder, path) = file();
    let store = served(&path).await;
    let known = created_at(1);
    assert_eq!(store.commit(&[insert(&known)]).await, [Ok(())]);
    meddle(&path);
    check_refuses(&store, "quita 1%.db").await;
    assert_eq!(store.load(&[known.id]).await, Ok(vec![known]), "what is known can be read");
}

#[tokio::test]
async fn into_a_file_that_was_deleted_nothing_is_acknowledged() {
    nothing_is_acknowledged_after(|path| fs::remove_file(path).unwrap()).await;
}

#[tokio::test]
async fn without_its_write_ahead_log_nothing_is_acknowledged() {
    nothing_is_acknowledged_after(|path| fs::remove_file(log_of(path)).unwrap()).await;
}

#[tokio::test]
async fn into_a_file_that_was_replaced_nothing_is_acknowledged() {
    nothing_is_acknowledged_after(|path| {
        let copy = path.with_extension("copy");
        fs::copy(path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_store_whose_file_is_gone_is_known_to_be_broken_without_a_write() {
    let (_folder, path) = file();
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(store.ping().await, Err(StoreError::Broken(_))));
}

#[tokio::test]
async fn behind_a_write_ahead_log_that_was_cut_nothing_is_acknowledged() {
    for left in [0, 31, 32, 100] {
        let (_folder, path) = file();
        let store = served(&path).await;
        assert!(fs::metadata(log_of(&path)).unwrap().len() > left);
        OpenOptions::new().write(true).open(log_of(&path)).unwrap().set_len(left).unwrap();
        check_refuses(&store, "quita 1%.db-wal").await;
    }
}

#[tokio::test]
async fn a_cut_write_ahead_log_is_known_without_a_write() {
    let (_folder, path) = file();
    let store = served(&path).await;
    overwrite(&log_of(&path), b"");
    assert!(matches!(store.ping().await, Err(StoreError::Broken(_))));
}

#[tokio::test]
async fn into_a_write_ahead_log_of_another_store_nothing_is_acknowledged() {
    let (_other_folder, other) = file();
    let another = served(&other).await;
    let log = fs::read(log_of(&other)).unwrap();
    drop(another);
    let (_folder, path) = file();
    let store = served(&path).await;
    overwrite(&log_of(&path), &log);
    check_refuses(&store, "quita 1%.db-wal").await;
}

#[tokio::test]
async fn into_a_file_that_was_overwritten_nothing_is_acknowledged() {
    let (_other_folder, other) = file();
    drop(served(&other).await);
    let other_store = fs::read(&other).unwrap();
    let size = other_store.len();
    for with in [other_store, Vec::new(), vec![0; size], b"another format, and text besides".repeat(1_000)] {
        let (_folder, path) = file();
        let store = served(&path).await;
        overwrite(&path, &with);
        check_refuses(&store, "quita 1%.db").await;
    }
}

#[tokio::test]
async fn an_overwritten_file_is_known_without_a_write() {
    let (_folder, path) = file();
    let store = served(&path).await;
    overwrite(&path, b"");
    assert!(matches!(store.ping().await, Err(StoreError::Broken(_))));
}

#[tokio::test]
async fn a_file_that_a_copy_of_an_earlier_state_was_put_over_takes_no_more_writes() {
    let (folder, path) = file();
    let backup = folder.path().join("backup.db");
    let store = served(&path).await;
    let raw = fs::read(&path).unwrap();
    EmbeddedStore::back_up(&path, &backup).unwrap();
    // A checkpoint, and a later write.
    store.forget_replaced().await.unwrap();
    assert_eq!(store.commit(&[insert(&created_at(3))]).await, [Ok(())]);
    store.forget_replaced().await.unwrap();
    assert_eq!(store.ping().await, Ok(()));
    let now = fs::read(&path).unwrap();
    overwrite(&path, &raw);
    assert!(matches!(store.ping().await, Err(StoreError::Broken(_))), "a raw copy");
    overwrite(&path, &now);
    drop(store);

    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(store.ping().await, Ok(()), "what was put back as it was can be served");
    overwrite(&path, &fs::read(&backup).unwrap());
    check_refuses(&store, "quita 1%.db").await;
}

/// SQLite's own changes of its files, here and in another process, are no meddling.
#[tokio::test]
async fn checkpoints_of_all_and_writes_of_others_are_no_meddling() {
    let (_folder, path) = file();
    let store = served(&path).await;
    let other = EmbeddedStore::open(&path).unwrap();
    let by_hand = rusqlite::Connection::open(&path).unwrap();
    let passive = |connection: &rusqlite::Connection| {
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    };
    for round in 0..6_i64 {
        let number = 10 + round * 10;
        let writes: Vec<_> = (0..5).map(|payment| insert(&created_at(number + payment))).collect();
        assert!(store.commit(&writes).await.iter().all(Result::is_ok), "round {round}");
        assert_eq!(store.ping().await, Ok(()));
        match round % 3 {
            0 => passive(&by_hand),
            1 => other.forget_replaced().await.unwrap(),
            _ => store.forget_replaced().await.unwrap(),
        }
        assert_eq!(store.ping().await, Ok(()), "round {round}");
        assert_eq!(other.commit(&[insert(&created_at(number + 6))]).await, [Ok(())]);
        assert_eq!(other.ping().await, Ok(()));
        assert_eq!(store.ping().await, Ok(()), "round {round}");
    }
    by_hand.execute_batch("VACUUM").unwrap();
    passive(&by_hand);
    assert_eq!(store.ping().await, Ok(()));
    assert_eq!(store.commit(&[insert(&created_at(90))]).await, [Ok(())]);
}

/// A command that runs beside the service was killed between writing its pages and the end of its commit.
#[tokio::test]
async fn a_write_that_another_process_did_not_finish_is_no_meddling() {
    let (_folder, path) = file();
    let store = served(&path).await;
    let mut log = OpenOptions::new().append(true).open(log_of(&path)).unwrap();
    log.write_all(&[7; 3 * 4_120]).unwrap();
    assert_eq!(store.ping().await, Ok(()));
    let known = created_at(1);
    assert_eq!(store.commit(&[insert(&known)]).await, [Ok(())]);
    drop(store);
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(store.load(&[known.id]).await, Ok(vec![known]));
}

#[tokio::test]
async fn a_write_ahead_log_whose_header_was_wiped_takes_no_more_writes() {
    let (_folder, path) = file();
    let store = served(&path).await;
    let mut log = OpenOptions::new().write(true).open(log_of(&path)).unwrap();
    log.seek(SeekFrom::Start(0)).unwrap();
    log.write_all(&[0; 32]).unwrap();
    check_refuses(&store, "quita 1%.db-wal").await;
}
