//! The embedded store: the contract, and tests that only apply to a file.

use std::path::PathBuf;
use std::sync::Arc;

use quita_domain::acquiring::OperationAnswer;
use quita_domain::audit::chain::{ChainHead, ChainedEntry};
use quita_domain::audit::{AuditEntry, AuditErasure, AuditScope};
use quita_domain::payment::DisputeStatus;
use quita_domain::people::{Login, SESSION_MS, Session, SessionOf, SessionOrigin, SessionStage};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_embedded::{EmbeddedStore, SoleWriterError};
use quita_ports::{
    AccessStore, AuditStore, InboxStore, NumberBlock, NumberStore, OperatorStore, PaymentStore, PeopleStore,
    SecretKeyStore, Store, StoreError,
};
use tempfile::TempDir;

use crate::movements::{disputes, refunds};
use crate::numbers::range;
use quita_store_contract::samples::{
    charged_back, created_at, insert, notice, paid, pending, refunded, replace,
};
use quita_stored_form::VERSION;

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("quita.db");
    (folder, path)
}

macro_rules! run {
    ($($module:ident::$case:ident),* $(,)?) => {
        mod contract {
            $(
                #[tokio::test]
                async fn $case() {
                    let (_folder, path) = super::file();
                    let store = super::EmbeddedStore::open_sole_writer(path).unwrap();
                    crate::$module::$case(std::sync::Arc::new(store)).await;
                }
            )*
        }
    };
}
crate::for_each_case!(run);

#[tokio::test]
async fn what_was_written_survives_a_restart() {
    let (_folder, path) = file();
    let opened = created_at(1);
    let waiting = pending(&opened, 2);
    {
        let store = EmbeddedStore::open_sole_writer(&path).unwrap();
        assert_eq!(store.commit(&[insert(&opened)]).await, [Ok(())]);
        assert_eq!(store.commit(&[replace(&waiting)]).await, [Ok(())]);
        store.put_notices(&[notice("a:1", 1)]).await.unwrap();
    }
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(store.load(&[opened.id]).await, Ok(vec![waiting]));
    assert_eq!(store.put_notices(&[notice("a:1", 1)]).await, Ok(vec![false]));
}

#[tokio::test]
async fn numbers_that_were_given_out_are_not_given_out_after_a_restart() {
    let (_folder, path) = file();
    let range = range("bank", 1, 100);
    let taken = EmbeddedStore::open_sole_writer(&path).unwrap().take_numbers(&range, 50).await;
    assert_eq!(taken, Ok(Some(NumberBlock { first: 1, last: 50 })));
    let taken = EmbeddedStore::open_sole_writer(&path).unwrap().take_numbers(&range, 50).await;
    assert_eq!(taken, Ok(Some(NumberBlock { first: 51, last: 100 })));
}

#[tokio::test]
async fn what_a_crash_left_in_the_log_is_in_the_file_once_it_is_served_again() {
    let (folder, path) = file();
    let payment = created_at(1);
    let crashed = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(crashed.commit(&[insert(&payment)]).await, [Ok(())]);
    let left = folder.path().join("quita.db");
    let log = |path: &PathBuf| path.with_extension("db-wal");
    std::fs::copy(&path, &left).unwrap();
    std::fs::copy(log(&path), log(&left)).unwrap();
    assert!(std::fs::metadata(log(&left)).unwrap().len() > 0, "the payment is in the log");
    let again = EmbeddedStore::open_sole_writer(&left).unwrap();
    assert_eq!(std::fs::metadata(log(&left)).unwrap().len(), 0);
    assert_eq!(again.load(&[payment.id]).await, Ok(vec![payment]));
}

#[cfg(unix)]
#[tokio::test]
async fn every_file_is_for_its_owner_alone_and_so_is_a_folder_that_was_made() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (_folder, path) = file();
    let folder = path.parent().unwrap();
    let files = || std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for _ in 0..2 {
        let store = EmbeddedStore::open_sole_writer(&path).unwrap();
        assert_eq!(store.commit(&[insert(&created_at(1))]).await, [Ok(())]);
        let modes: Vec<_> = files().map(|file| (mode(&file), file)).collect();
        assert_eq!(modes.len(), 4, "file, log, its index, lock: {modes:?}");
        assert!(modes.iter().all(|(mode, _)| *mode == 0o600), "{modes:?}");
        assert_eq!(mode(folder), 0o700);
        // Files that an earlier version, a person or a crash left readable become private again.
        for file in files() {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        std::mem::forget(store);
        std::fs::remove_file(path.with_extension("db.lock")).unwrap();
    }
}

#[tokio::test]
async fn one_process_serves_a_file_and_others_may_open_it() {
    let (_folder, path) = file();
    let server = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert!(server.is_sole_writer());
    let refused = EmbeddedStore::open_sole_writer(&path).err().unwrap().to_string();
    assert!(refused.contains("another process serves") && refused.contains("quita.db"), "{refused}");
    let command = EmbeddedStore::open(&path).unwrap();
    assert!(!command.is_sole_writer());
    let payment = created_at(1);
    assert_eq!(command.commit(&[insert(&payment)]).await, [Ok(())]);
    assert_eq!(server.load(&[payment.id]).await, Ok(vec![payment]));
    drop(server);
    assert!(EmbeddedStore::open_sole_writer(&path).is_ok(), "the lock goes with its store");
}

#[tokio::test]
async fn writers_in_two_stores_on_one_file_never_both_win() {
    let (_folder, path) = file();
    let opened = created_at(1);
    let stores = [EmbeddedStore::open(&path).unwrap(), EmbeddedStore::open(&path).unwrap()].map(Arc::new);
    assert_eq!(stores[0].commit(&[insert(&opened)]).await, [Ok(())]);
    let tasks: Vec<_> = (0..40)
        .map(|index| {
            let store = Arc::clone(&stores[index % 2]);
            let write = replace(&pending(&opened, 2));
            tokio::spawn(async move { store.commit(&[write]).await })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        won += usize::from(task.await.unwrap() == [Ok(())]);
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn refunds_and_disputes_of_an_earlier_version_are_listed_once_its_file_is_served() {
    let (_folder, path) = file();
    // More than one step examines.
    let mut payments: Vec<_> = (0..2_300).map(created_at).collect();
    for place in [7, 999, 1_000, 2_299] {
        let paid = paid(&pending(&payments[place], 3_000), 3_001);
        payments[place] = charged_back(&refunded(&paid, 1, OperationAnswer::Done, 3_002), "c-1", 3_003);
    }
    let moved = [2_299, 1_000, 999, 7].map(|place| payments[place].id);
    let listed = async |store: &EmbeddedStore, filter| {
        let listed = store.list_with_movements(&filter, None, 10).await.unwrap();
        listed.into_iter().map(|listed| listed.unwrap().id).collect::<Vec<_>>()
    };
    {
        let store = EmbeddedStore::open_sole_writer(&path).unwrap();
        let batch: Vec<_> = payments.iter().map(insert).collect();
        assert!(store.commit(&batch).await.iter().all(Result::is_ok));
        assert_eq!(listed(&store, refunds(None)).await, moved);
    }
    let meddler = rusqlite::Connection::open(&path).unwrap();
    meddler.execute_batch("DROP TABLE movements; DROP TABLE movements_progress").unwrap();
    {
        let command = EmbeddedStore::open(&path).unwrap();
        assert_eq!(
            listed(&command, refunds(None)).await,
            [],
            "a command beside a service of before leaves it"
        );
    }
    for _ in 0..2 {
        let store = EmbeddedStore::open_sole_writer(&path).unwrap();
        assert_eq!(listed(&store, refunds(None)).await, moved);
        assert_eq!(listed(&store, disputes(Some(DisputeStatus::Open))).await, moved);
        assert_eq!(listed(&store, disputes(Some(DisputeStatus::Won))).await, []);
        // Interrupted after the first step.
        let forget =
            "DELETE FROM movements WHERE created_at > 500; UPDATE movements_progress SET up_to = 500";
        meddler.execute_batch(forget).unwrap();
    }
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(listed(&store, refunds(None)).await, moved);
}

#[tokio::test]
async fn a_file_in_a_newer_form_is_refused_with_the_version_to_install() {
    let (_folder, path) = file();
    let payment = created_at(1);
    assert_eq!(EmbeddedStore::open(&path).unwrap().commit(&[insert(&payment)]).await, [Ok(())]);
    let meddler = rusqlite::Connection::open(&path).unwrap();
    meddler.execute("UPDATE stored_form SET program = '7.0.0'", []).unwrap();
    let newer = VERSION + 1;
    meddler.pragma_update(None, "user_version", newer).unwrap();
    let serving = EmbeddedStore::open_sole_writer(&path).err().unwrap();
    let beside = EmbeddedStore::open(&path).err().unwrap();
    for refused in [serving, beside.into()] {
        let SoleWriterError::Store(StoreError::Unreadable(why)) = refused else { panic!("it is read") };
        for part in ["quita.db: ", &format!("has number {newer},"), "install Quita 7.0.0 or newer"] {
            assert!(why.contains(part), "{why}");
        }
    }
    meddler.pragma_update(None, "user_version", VERSION).unwrap();
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    assert_eq!(store.load(&[payment.id]).await, Ok(vec![payment]), "it stayed as it was");
}

#[tokio::test]
async fn a_store_that_is_there_is_opened_and_none_is_made() {
    let (_folder, path) = file();
    assert!(EmbeddedStore::open_existing(&path).unwrap().is_none());
    let folder = path.parent().unwrap();
    assert!(!path.exists());
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(&path, "").unwrap();
    assert!(EmbeddedStore::open_existing(&path).unwrap().is_none(), "an empty file");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x); DROP TABLE t").unwrap();
    assert!(EmbeddedStore::open_existing(&path).unwrap().is_none(), "a database without tables");
    let payment = created_at(1);
    assert_eq!(EmbeddedStore::open(&path).unwrap().commit(&[insert(&payment)]).await, [Ok(())]);
    let store = EmbeddedStore::open_existing(&path).unwrap().unwrap();
    assert_eq!(store.load(&[payment.id]).await, Ok(vec![payment]));
    assert!(!store.is_sole_writer());
    assert!(matches!(EmbeddedStore::open_existing(folder), Err(StoreError::Unavailable(_))), "a folder");
}

#[tokio::test]
async fn what_is_no_database_is_refused() {
    let (_folder, path) = file();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "not a database, ".repeat(100)).unwrap();
    assert!(matches!(EmbeddedStore::open(&path), Err(StoreError::Unreadable(_))));
    let folder = path.parent().unwrap();
    assert!(matches!(EmbeddedStore::open(folder), Err(StoreError::Unavailable(_))), "a folder");
}

#[tokio::test]
async fn a_document_that_cannot_be_decoded_is_named() {
    let (_folder, path) = file();
    let store = EmbeddedStore::open(&path).unwrap();
    let payment = created_at(1);
    store.commit(&[insert(&payment)]).await;
    let meddler = rusqlite::Connection::open(&path).unwrap();
    meddler.execute("UPDATE payments SET payment = x'0500000000'", []).unwrap();
    let seen = store.load(&[payment.id]).await.unwrap_err();
    assert!(matches!(&seen, StoreError::Unreadable(why) if why.contains(&payment.id.to_string())), "{seen}");
}

#[tokio::test]
async fn one_payment_that_cannot_be_decoded_hides_no_other_of_its_list() {
    let (_folder, path) = file();
    let store = Arc::new(EmbeddedStore::open(&path).unwrap());
    let damage = async |id: quita_domain::identity::TransactionId| {
        let meddler = rusqlite::Connection::open(&path).unwrap();
        let sql = "UPDATE payments SET payment = x'0500000000' WHERE id = ?1";
        assert_eq!(meddler.execute(sql, [id.uuid().as_bytes()]), Ok(1));
    };
    crate::listing::check_that_one_unreadable_hides_no_other(store, damage).await;
}

#[tokio::test]
async fn one_payment_that_cannot_be_decoded_is_counted_by_a_replay() {
    let (_folder, path) = file();
    let store = Arc::new(EmbeddedStore::open(&path).unwrap());
    let damage = async |id: quita_domain::identity::TransactionId| {
        let meddler = rusqlite::Connection::open(&path).unwrap();
        let sql = "UPDATE payments SET payment = x'0500000000' WHERE id = ?1";
        assert_eq!(meddler.execute(sql, [id.uuid().as_bytes()]), Ok(1));
    };
    crate::history::check_that_one_unreadable_is_counted(store, damage).await;
}

#[tokio::test]
async fn finished_notices_are_forgotten_after_a_month() {
    let (_folder, path) = file();
    let store = EmbeddedStore::open(&path).unwrap();
    let now = Timestamp::from_millis(0);
    store.put_notices(&[notice("a:1", 1), notice("a:2", 2)]).await.unwrap();
    store.finish_notices(&[String::from("a:1")], now).await.unwrap();
    store.finish_notices(&[], now.plus_ms(30 * DAY_MS)).await.unwrap();
    assert_eq!(store.put_notices(&[notice("a:1", 1)]).await, Ok(vec![false]), "a month is not over");
    store.finish_notices(&[], now.plus_ms(30 * DAY_MS + 1)).await.unwrap();
    assert_eq!(store.put_notices(&[notice("a:1", 1)]).await, Ok(vec![true]));
    assert_eq!(store.put_notices(&[notice("a:2", 2)]).await, Ok(vec![false]), "it still waits");
}

#[tokio::test]
async fn keys_can_be_made_while_the_service_runs() {
    let (_folder, path) = file();
    let server = EmbeddedStore::open_sole_writer(&path).unwrap();
    let command = EmbeddedStore::open(&path).unwrap();
    assert_eq!(command.revoke_key("k1", Timestamp::default()).await, Ok(false));
    assert_eq!(server.keys().await, Ok(Vec::new()));
}

#[tokio::test]
async fn the_audit_log_can_be_neither_changed_nor_shortened() {
    let (_folder, path) = file();
    let store = EmbeddedStore::open(&path).unwrap();
    let new = crate::audit::new(&crate::audit::entry(1, 1, Some("loja")));
    store.append_audit(&new, &crate::audit::chain_key()).await.unwrap();
    let meddler = rusqlite::Connection::open(&path).unwrap();
    for sql in [
        "UPDATE audit SET at = 7",
        "UPDATE audit SET subject = ''",
        "UPDATE audit_initiators SET who = 'nobody'",
        "UPDATE audit_contents SET before = NULL",
        "DELETE FROM audit",
    ] {
        let refused = meddler.execute(sql, []).unwrap_err().to_string();
        assert!(refused.contains("the audit log is never"), "{sql}: {refused}");
    }
    let replace = "INSERT OR REPLACE INTO audit SELECT sequence, id, 7, merchant, action, subject, \
        initiator, person, content, body, place, hash FROM audit";
    assert_eq!(meddler.execute(replace, []), Ok(0));
    let renumber = replace.replacen("sequence", "2", 1);
    assert_eq!(meddler.execute(&renumber, []), Ok(0));
    let found = store.audit(&AuditScope::Everything, None, 10).await.unwrap();
    assert_eq!(found.iter().map(ChainedEntry::entry).collect::<Vec<_>>(), [new.entry]);
}

#[tokio::test]
async fn what_two_stores_on_one_file_append_at_once_is_one_chain() {
    let (_folder, path) = file();
    let stores = [EmbeddedStore::open(&path).unwrap(), EmbeddedStore::open(&path).unwrap()].map(Arc::new);
    stores[0].begin_audit(&ChainHead::beginning(&crate::audit::chain_key())).await.unwrap();
    crate::audit::check_many_at_once(&stores).await;
}

#[tokio::test]
async fn what_was_erased_of_the_audit_log_is_in_no_file() {
    let (_folder, path) = file();
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    for number in 1..4 {
        let told = format!("told-of-{number}");
        let subject = format!("subject-{number}");
        let entry = AuditEntry { after: Some(told), subject, ..crate::audit::entry(number, 1, None) };
        let new = crate::audit::new(&entry);
        store.append_audit(&new, &crate::audit::chain_key()).await.unwrap();
    }
    let of_second = AuditErasure::ContentOf(vec!["subject-2".into()]);
    store.erase_audit(&of_second, 9, &crate::audit::account(9), &crate::audit::chain_key()).await.unwrap();
    store.forget_replaced().await.unwrap();
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    let holds = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(holds(b"told-of-1") && holds(b"told-of-3"));
    assert!(!holds(b"told-of-2"));
}

#[tokio::test]
async fn sessions_that_ended_and_nodes_that_are_gone_are_forgotten() {
    let (_folder, path) = file();
    let store = EmbeddedStore::open(&path).unwrap();
    let now = Timestamp::from_millis(0);
    let session = |token, now| {
        let of =
            SessionOf::Operator { login: Login::parse("olga@ops.example").unwrap(), password_version: 1 };
        Session::begin(token, of, SessionStage::Whole, SessionOrigin::default(), now)
    };
    let old = session("old", now);
    let new = session("new", now.plus_ms(SESSION_MS));
    store.insert_session(&old).await.unwrap();
    store.insert_session(&new).await.unwrap();
    assert_eq!(store.session(&old.id).await, Ok(None));
    assert_eq!(store.session(&new.id).await, Ok(Some(new)));
    let node = |number, seen_at| crate::operator::node(number, 1, seen_at);
    store.put_node(&node(1, now)).await.unwrap();
    let a_month_later = now.plus_ms(30 * DAY_MS + 1);
    store.put_node(&node(2, a_month_later)).await.unwrap();
    assert_eq!(store.nodes(now).await, Ok(vec![node(2, a_month_later)]));
}

#[tokio::test]
async fn notices_that_cannot_be_decoded_keep_no_others_waiting() {
    let (_folder, path) = file();
    let store = EmbeddedStore::open(&path).unwrap();
    let notices = [1, 2, 3, 4].map(|number| notice(&format!("a:{number}"), number));
    store.put_notices(&notices).await.unwrap();
    let meddler = rusqlite::Connection::open(&path).unwrap();
    meddler.execute("UPDATE inbox SET notice = x'0500000000' WHERE id IN ('a:1', 'a:2')", []).unwrap();
    let due = store.due_notices(Timestamp::from_millis(10), 2).await.unwrap();
    assert_eq!(due.iter().map(|(notice, _)| notice.id.as_str()).collect::<Vec<_>>(), ["a:3", "a:4"]);
    store.finish_notices(&["a:3".into(), "a:4".into()], Timestamp::from_millis(10)).await.unwrap();
    let seen = store.due_notices(Timestamp::from_millis(10), 2).await.unwrap_err();
    assert!(
        matches!(&seen, StoreError::Unreadable(why) if why.contains("a:1") || why.contains("a:2")),
        "{seen}"
    );
}

#[tokio::test]
async fn whoever_was_erased_is_in_no_byte_of_the_files_nor_in_the_planners_samples() {
    use quita_ports::SecretKeyStore;

    use crate::erasure::{TRACES, erased, of_somebody, store_as_it_is};

    let (_folder, path) = file();
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    let payments: Vec<_> = (0..60).map(|number| of_somebody(1_000 * number)).collect();
    for payment in &payments {
        store_as_it_is(&store, payment).await;
        // Longer and shorter than before, so that pages are freed and reused.
        let longer = quita_store_contract::samples::answered(payment, 1, 500, 100_000_000);
        assert_eq!(store.commit(&[replace(&longer)]).await, [Ok(())]);
    }
    let meddler = rusqlite::Connection::open(&path).unwrap();
    meddler.execute_batch("ANALYZE").unwrap();
    let samples = "SELECT count(*) FROM sqlite_stat4 WHERE idx = 'payments_by_email'";
    let count = || meddler.query_row(samples, [], |row| row.get::<_, i64>(0)).unwrap();
    assert!(count() > 0, "the planner has samples of addresses");
    for payment in &payments {
        let stored = store.load(&[payment.id]).await.unwrap().pop().unwrap();
        assert_eq!(store.commit(&[replace(&erased(&stored, 200_000_000))]).await, [Ok(())]);
    }
    assert_eq!(count(), 0);
    drop(meddler);
    store.forget_replaced().await.unwrap();
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = entry.unwrap().path();
        let bytes = std::fs::read(&file).unwrap();
        for trace in TRACES {
            let found = bytes.windows(trace.len()).position(|part| part == trace.as_bytes());
            assert_eq!(found, None, "{trace} is in {}", file.display());
        }
    }
}

/// Counts that take a read of whole indexes: minutes, for a large store that is not in memory.
#[tokio::test]
async fn neither_a_start_nor_an_end_makes_statistics_and_a_start_drops_them() {
    let (_folder, path) = file();
    let statistics = || {
        let meddler = rusqlite::Connection::open(&path).unwrap();
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'";
        meddler.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    for _ in 0..2 {
        let store = EmbeddedStore::open_sole_writer(&path).unwrap();
        for number in 0..20 {
            let payment = crate::erasure::of_somebody(1_000 * number);
            crate::erasure::store_as_it_is(&store, &payment).await;
        }
        drop(store);
        assert_eq!(statistics(), 0);
    }
    rusqlite::Connection::open(&path).unwrap().execute_batch("ANALYZE").unwrap();
    assert_ne!(statistics(), 0);
    drop(EmbeddedStore::open_sole_writer(&path).unwrap());
    assert_eq!(statistics(), 0);
}

/// Creates a file as another program would, and returns its bytes.
fn foreign(path: &PathBuf, statements: &str) -> Vec<u8> {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch(statements).unwrap();
    drop(other);
    std::fs::read(path).unwrap()
}

#[tokio::test]
async fn a_file_of_another_program_is_refused_and_stays_as_it_was() {
    for statements in [
        "CREATE TABLE notes (text)",
        "CREATE TABLE payments (id); PRAGMA user_version = 5",
        "CREATE TABLE notes (text); PRAGMA journal_mode = WAL",
        "CREATE TABLE payments (id); CREATE TABLE inbox (id); CREATE TABLE applications (id); PRAGMA application_id = 7",
    ] {
        let (_folder, path) = file();
        let before = foreign(&path, statements);
        let existing = EmbeddedStore::open_existing(&path);
        let serving = EmbeddedStore::open_sole_writer(&path);
        for refused in [serving.err(), existing.err().map(SoleWriterError::from)] {
            assert!(
                matches!(&refused, Some(SoleWriterError::Store(StoreError::Unreadable(why))) if why.contains("another program")),
                "{statements}: {refused:?}"
            );
        }
        assert_eq!(std::fs::read(&path).unwrap(), before, "{statements}");
    }
}
