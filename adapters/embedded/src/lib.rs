//! The embedded store: one SQLite file, for one machine and for trying Quita out.
//!
//! One thread writes, so that a batch of the journal is one transaction; a few threads read. WAL with
//! `synchronous=FULL`: an acknowledged write is on the disk.

mod access;
mod archive;
mod audit;
mod backup;
mod bound_pix;
mod erasure;
mod exceptions;
mod failure;
mod figures;
mod file_mark;
mod form;
mod history;
mod inbox;
mod kept_log;
mod keyring;
mod left_behind;
mod links;
mod listing;
mod movements;
mod numbers;
mod open;
mod operator;
mod page_query;
mod payments;
mod people;
mod reading;
mod reconciliation;
mod same_file;
mod schema;
mod secret_keys;
mod sole_writer;
mod transaction;
mod trust;
mod workers;
mod write_trial;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use quita_domain::time::Timestamp;
use quita_ports::{Backlog, Store, StoreError};
use rusqlite::{Connection, Transaction};

use archive::of_archive;
pub use backup::BackupError;
use failure::Failure;
use file_mark::FileMark;
use open::{READERS, Writer};
use quita_stored_form::turns::{Lister, Turns, waited_too_long};
use quita_stored_form::unsigned;
use sole_writer::SoleWriter;
pub use sole_writer::SoleWriterError;
use trust::Trust;
use workers::Workers;

/// Maximum number of old notices or ended sessions that one call deletes, so that no call takes long.
const MAX_FORGOTTEN_AT_ONCE: i64 = 500;

/// Threads for slow queries: lists and figures. Lookups do not wait for them.
const LISTERS: usize = 3;
/// Lists of one merchant that may be in the queue of these threads at once. One thread is left for the others.
const LISTS_AT_ONCE: usize = LISTERS - 1;
/// Time limit of such a query, including its wait in the queue; then it is aborted.
const LIST_TIME_OUT: Duration = Duration::from_secs(10);
/// Steps of a query between two checks of its time limit: some ten thousand steps take a millisecond.
const STEPS_PER_LOOK: i32 = 10_000;

/// A store in one SQLite file.
///
/// Dropping it waits for pending writes and closes the file.
#[derive(Debug)]
pub struct EmbeddedStore {
    // In the order in which they are dropped: the lock is released last.
    writer: Workers,
    readers: Workers,
    listers: Workers,
    turns: Turns,
    trust: Arc<Trust>,
    sole_writer: Option<SoleWriter>,
    is_new: bool,
}

impl EmbeddedStore {
    /// Opens the file, which other processes may have open too. Creates the file and its folder if they are missing.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it can't be opened. [`StoreError::Unreadable`] if it belongs to another program
    /// or is stored in another form. [`StoreError::Broken`] if the file is missing but its log is left.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        Self::over(open::writer(path)?, path, None)
    }

    /// Opens the file if it contains a store. Otherwise returns `None` and creates nothing.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`].
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Option<Self>, StoreError> {
        let path = path.as_ref();
        let Some(writer) = open::existing_writer(path)? else { return Ok(None) };
        Self::over(Writer { connection: writer, is_new: false }, path, None).map(Some)
    }

    /// Opens the file as the only process that writes payments, for as long as the store lives.
    ///
    /// # Errors
    /// [`SoleWriterError::Served`] if another process serves this file; otherwise as [`EmbeddedStore::open`].
    pub fn open_sole_writer(path: impl AsRef<Path>) -> Result<Self, SoleWriterError> {
        let path = path.as_ref();
        // Checked before even a lock file is created.
        left_behind::refuse(path)?;
        left_behind::refuse_unfit_log(path)?;
        // The lock precedes the first write to the file: two services would each answer from a memory that the other
        // has made stale.
        let lock = SoleWriter::lock(path)?;
        let mut writer = open::writer(path)?;
        let connection = &mut writer.connection;
        let mark = FileMark::begin(path, connection, |connection| open::settle_log(connection, path))?;
        // Payments of earlier versions are indexed before the service answers: a list of refunds must not lack stored
        // ones.
        movements::index_earlier(connection)?;
        Ok(Self::over(writer, path, Some((lock, mark)))?)
    }

    /// Copies the store in the file to a new file while others write. The copy is consistent, readable only by its
    /// owner, checked and synced. Returns its size in bytes.
    ///
    /// # Errors
    /// The reason why there is no copy. No part of it is left then, and an existing file is not touched.
    pub fn back_up(path: impl AsRef<Path>, copy: impl AsRef<Path>) -> Result<u64, BackupError> {
        backup::back_up(path.as_ref(), copy.as_ref())
    }

    /// Returns true if opening created the store: the file was missing or empty.
    pub const fn is_new(&self) -> bool {
        self.is_new
    }

    fn over(
        Writer { connection: writer, is_new }: Writer,
        path: &Path,
        serving: Option<(SoleWriter, FileMark)>,
    ) -> Result<Self, StoreError> {
        let (sole_writer, mark) = serving.unzip();
        let readers = open::readers(path, READERS)?;
        // The form is read after the schema was settled, so it is the current form of the file.
        let form = open::form_of(&writer, path)?;
        let trust = Arc::new(Trust::of(path, form, &writer, mark));
        Ok(Self {
            writer: Workers::start("quita-store-writer", vec![writer])?,
            readers: Workers::start("quita-store-reader", readers)?,
            listers: Workers::start("quita-store-lister", open::readers(path, LISTERS)?)?,
            turns: Turns::new(LISTS_AT_ONCE),
            trust,
            sole_writer,
            is_new,
        })
    }

    /// Runs `work` on the writer's thread as one transaction.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        // Refused before the queue: after a failed sync, every queued write would only find out later that it can't be
        // stored.
        self.trust.check()?;
        let trust = Arc::clone(&self.trust);
        let job = move |connection: &mut Connection| trust.write(connection, work).map_err(StoreError::from);
        self.writer.run(job).await?
    }

    /// Runs `work` on a reader's thread; everything that it reads is from one state.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let job =
            move |connection: &mut Connection| -> Result<T, Failure> { work(&connection.transaction()?) };
        Ok(self.readers.run(job).await??)
    }
}

impl EmbeddedStore {
    /// Runs a slow query apart from others, in its lister's turn, and aborts it at its time limit.
    async fn list<T: Send + 'static>(
        &self,
        lister: Lister,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.list_within(LIST_TIME_OUT, lister, work).await
    }

    async fn list_within<T: Send + 'static>(
        &self,
        time: Duration,
        lister: Lister,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let turn = self.turns.take(lister, time).await?;
        let job = move |connection: &mut Connection| -> Result<T, Failure> {
            let _turn = turn;
            // The wait in the queue counts: nobody waits for a list after its time limit, so it must not occupy a
            // thread.
            if begun.elapsed() >= time {
                return Err(waited_too_long().into());
            }
            connection.progress_handler(STEPS_PER_LOOK, Some(move || begun.elapsed() >= time))?;
            let result = work(&connection.transaction()?);
            // The handler belongs to this query: if it remained, it would abort the next query on this connection.
            connection.progress_handler(0, None::<fn() -> bool>)?;
            result
        };
        Ok(self.listers.run(job).await??)
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn ping(&self) -> Result<(), StoreError> {
        self.trust.check_files()?;
        // Another process may have written, or the log was cut. Only the writer can tell which, under the write lock.
        if self.trust.log_has_changed() {
            let trust = Arc::clone(&self.trust);
            self.writer.run(move |connection| trust.look_at_log(connection)).await??;
        }
        self.read(|transaction| Ok(transaction.query_row("SELECT 1", [], |_| Ok(()))?)).await
    }

    async fn backlog(&self, now: Timestamp, limit: u32) -> Result<Backlog, StoreError> {
        self.read(move |transaction| {
            let limit = i64::from(limit);
            let count = |what: &str, bound: &[i64]| -> Result<u64, Failure> {
                let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {what})");
                let mut statement = transaction.prepare_cached(&sql)?;
                let bound = rusqlite::params_from_iter(bound);
                Ok(unsigned(statement.query_row(bound, |row| row.get(0))?))
            };
            let of_payments = |what: &str, bound: &[i64]| -> Result<u64, Failure> {
                let both = count(what, bound)?.saturating_add(count(&of_archive(what), bound)?);
                Ok(both.min(unsigned(limit)))
            };
            Ok(Backlog {
                webhooks: of_payments("payments WHERE outbox_at IS NOT NULL LIMIT ?1", &[limit])?,
                due: of_payments("payments WHERE due_at <= ?2 LIMIT ?1", &[limit, now.millis()])?,
                inbox: count("inbox WHERE due_at IS NOT NULL LIMIT ?1", &[limit])?,
            })
        })
        .await
    }

    fn is_sole_writer(&self) -> bool {
        self.sole_writer.is_some()
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::access::{Application, Endpoints, Origins, SigningSecrets};
    use quita_domain::identity::{ApplicationName, MerchantId};
    use quita_ports::{AccessStore, PaymentStore};
    use rusqlite::ffi;

    use super::*;

    fn application(name: impl Into<Arc<str>>) -> Application {
        Application {
            merchant: MerchantId::new("loja"),
            name: ApplicationName::new(name),
            secrets: SigningSecrets::default(),
            title: None,
            endpoints: Endpoints::default(),
            origins: Origins::default(),
            created_at: Timestamp::default(),
        }
    }

    async fn allow_pages(store: &EmbeddedStore, count: u32) {
        let job = move |connection: &mut Connection| {
            connection.query_row(&format!("PRAGMA max_page_count = {count}"), [], |row| row.get::<_, i64>(0))
        };
        store.writer.run(job).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_full_store_refuses_goes_on_reading_and_recovers() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path().join("quita.db")).unwrap();
        assert_eq!(store.insert_application(&application("small")).await, Ok(true));
        allow_pages(&store, 1).await;
        let large = application("x".repeat(100_000));
        let refused = store.insert_application(&large).await;
        assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
        let small = application("small");
        assert_eq!(store.application(&small.merchant, &small.name).await, Ok(Some(small)));
        allow_pages(&store, 10_000).await;
        assert_eq!(store.insert_application(&large).await, Ok(true));
    }

    #[tokio::test]
    async fn after_a_failed_fsync_nothing_is_written_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path().join("quita.db")).unwrap();
        let fsync = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR_FSYNC), None);
        let failed: Result<(), _> = store.write(move |_| Err(fsync().into())).await;
        assert!(matches!(failed, Err(StoreError::Broken(_))), "{failed:?}");
        assert!(matches!(store.ping().await, Err(StoreError::Broken(_))));
        let refused = store.insert_application(&application("late")).await;
        assert!(matches!(refused, Err(StoreError::Broken(_))), "{refused:?}");
        let late = application("late");
        assert_eq!(store.application(&late.merchant, &late.name).await, Ok(None));
        assert_eq!(store.load(&[]).await, Ok(Vec::new()));
    }

    /// A query that counts without end.
    const ENDLESS: &str =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";

    #[tokio::test]
    async fn a_list_that_takes_too_long_ends_itself_and_holds_up_no_lookup() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path().join("quita.db")).unwrap();
        let time = Duration::from_secs(2);
        let count = |transaction: &Transaction<'_>| Ok(transaction.query_row(ENDLESS, [], |row| row.get(0))?);
        let endless = (0..4).map(|_| store.list_within::<i64>(time, Lister::Operators, count));
        let endless = futures_util::future::join_all(endless);
        let lookups = async {
            let begun = Instant::now();
            for _ in 0..100 {
                assert_eq!(store.load(&[]).await, Ok(Vec::new()));
                assert_eq!(store.ping().await, Ok(()));
            }
            begun.elapsed()
        };
        let begun = Instant::now();
        let (ended, lookups) = tokio::join!(endless, lookups);
        assert!(ended.iter().all(|ended| matches!(ended, Err(StoreError::Unavailable(_)))), "{ended:?}");
        assert!(lookups < time && begun.elapsed() < time * 3, "{lookups:?} of {:?}", begun.elapsed());
        assert_eq!(seven(&store, Lister::Operators).await, Ok(7));
    }

    async fn seven(store: &EmbeddedStore, lister: Lister) -> Result<i64, StoreError> {
        store.list(lister, |transaction| Ok(transaction.query_row("SELECT 7", [], |row| row.get(0))?)).await
    }

    #[tokio::test]
    async fn lists_of_one_merchant_hold_up_no_list_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path().join("quita.db")).unwrap();
        let merchant = |name: &str| Lister::Merchant(name.into());
        let time = Duration::from_secs(2);
        let count = |transaction: &Transaction<'_>| Ok(transaction.query_row(ENDLESS, [], |row| row.get(0))?);
        let endless = (0..16).map(|_| store.list_within::<i64>(time, merchant("many"), count));
        let endless = futures_util::future::join_all(endless);
        let others = async {
            let begun = Instant::now();
            for _ in 0..20 {
                assert_eq!(seven(&store, merchant("another")).await, Ok(7));
            }
            begun.elapsed()
        };
        let (ended, others) = tokio::join!(endless, others);
        assert!(ended.iter().all(|ended| matches!(ended, Err(StoreError::Unavailable(_)))), "{ended:?}");
        assert!(others < time / 2, "{others:?}");
    }

    #[tokio::test]
    async fn who_hangs_up_has_no_more_lists_under_way_than_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path().join("quita.db")).unwrap();
        let time = Duration::from_secs(2);
        let count = |transaction: &Transaction<'_>| Ok(transaction.query_row(ENDLESS, [], |row| row.get(0))?);
        for _ in 0..16 {
            let list = store.list_within::<i64>(time, Lister::Merchant("many".into()), count);
            assert!(tokio::time::timeout(Duration::from_millis(5), list).await.is_err());
        }
        let begun = Instant::now();
        assert_eq!(seven(&store, Lister::Operators).await, Ok(7));
        assert!(begun.elapsed() < time / 2, "{:?}", begun.elapsed());
    }

    #[tokio::test]
    async fn a_job_that_panics_is_reported_and_the_next_one_runs() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path().join("quita.db")).unwrap();
        let lost: Result<(), _> = store.write(|_| panic!("a defect")).await;
        assert!(matches!(lost, Err(StoreError::Broken(_))), "{lost:?}");
        assert_eq!(store.insert_application(&application("next")).await, Ok(true));
    }
}
