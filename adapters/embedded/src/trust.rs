//! Trust in the store, and the checks before and after each write.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use quita_ports::{StoreError, StoreForm};
use quita_stored_form::form::MetForm;
use rusqlite::{Connection, Transaction};

use super::failure::Failure;
use super::file_mark::FileMark;
use super::form::meet;
use super::kept_log::KeptLog;
use super::same_file::SameFile;
use super::transaction::{self, Failed};

/// Reason why the store can't be trusted any more, if so, and what tells.
#[derive(Debug)]
pub(super) struct Trust {
    broken: OnceLock<String>,
    file: SameFile,
    form: MetForm,
    log: KeptLog,
    /// Only who serves the file keeps its mark.
    mark: Option<FileMark>,
    /// Held while the writer is at work, and its log not as it leaves it.
    at_work: Mutex<()>,
}

impl Trust {
    /// Trusts the files of a store that is open.
    pub(super) fn of(path: &Path, form: StoreForm, writer: &Connection, mark: Option<FileMark>) -> Self {
        Self {
            broken: OnceLock::new(),
            file: SameFile::of(path),
            form: MetForm::of(form),
            log: KeptLog::of(path, writer),
            mark,
            at_work: Mutex::new(()),
        }
    }

    /// Returns the form of the file.
    pub(super) const fn form(&self) -> &MetForm {
        &self.form
    }

    /// Fails once an `fsync` failed: after it the pages count as clean, and the next commit would lie.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.broken.get().map_or(Ok(()), |why| Err(StoreError::Broken(why.clone())))
    }

    /// Fails if the files of the store are no longer where they were, or another program wrote into them, too.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        self.check()?;
        let mark = || self.mark.as_ref().map_or(Ok(()), FileMark::check);
        self.file.check().and_then(|()| mark()).inspect_err(|error| self.lose_if_broken(error))
    }

    /// Runs `work` as one transaction of the writer, unless what it writes would be lost.
    pub(super) fn write<T>(
        &self,
        writer: &mut Connection,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failed> {
        // Before, so that nothing is written into what is no longer the store; after, for what happened meanwhile.
        self.check_files().map_err(Failed::Undone)?;
        let _at_work = self.begin_work();
        let mut mark = None;
        let done = transaction::run(writer, |transaction| {
            self.log.check_before(transaction)?;
            meet(&self.form, transaction)?;
            if let Some(file) = &self.mark {
                mark = file.write(transaction)?;
            }
            work(transaction)
        });
        // What is found after the commit can't be undone, so the outcome is unknown and not "not written".
        let kept = self.log.remember(writer);
        let checked = || kept.and_then(|()| self.check_files()).map_err(Failed::Unknown);
        let done = done.and_then(|done| checked().map(|()| done));
        if let (Ok(_), Some(file), Some(mark)) = (&done, &self.mark, &mark) {
            // Only after the commit: a mark of a transaction that was rolled back would never appear in the file.
            file.committed(mark);
        }
        done.inspect_err(|failed| match failed {
            Failed::Undone(error) | Failed::Unknown(error) => self.lose_if_broken(error),
        })
    }

    /// Runs what alters the log without writing.
    pub(super) fn alter_log<T>(&self, writer: &Connection, work: impl FnOnce(&Connection) -> T) -> T {
        let _at_work = self.begin_work();
        let done = work(writer);
        // The next write finds what is wrong with it.
        drop(self.log.remember(writer));
        done
    }

    /// Tells whether the log is not as the writer left it. While that one is at work it looks at it itself.
    pub(super) fn log_has_changed(&self) -> bool {
        match self.at_work.try_lock() {
            Ok(_idle) => self.log.has_changed(),
            Err(TryLockError::Poisoned(_)) => self.log.has_changed(),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Fails if another program cut or overwrote the log since the writer left it.
    pub(super) fn look_at_log(&self, writer: &mut Connection) -> Result<(), StoreError> {
        match self.write(writer, |_| Ok(())) {
            // Others write for long: that says nothing of the log.
            Ok(()) | Err(Failed::Undone(StoreError::Unavailable(_) | StoreError::Full(_))) => Ok(()),
            Err(failed) => Err(failed.into()),
        }
    }

    fn begin_work(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Trusts the store no more if this error says so.
    fn lose_if_broken(&self, error: &StoreError) {
        if let StoreError::Broken(why) = error {
            // The first cause is kept: later errors are mostly consequences,
            // and the operator needs the one that tells what to do.
            self.broken.get_or_init(|| {
                // Who uses the store says so once, at ERROR.
                tracing::debug!(%error, "the embedded store takes no more writes");
                why.clone()
            });
        }
    }
}
