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

/// Reason why the store can no longer be trusted, if any, and the checks that find it.
#[derive(Debug)]
pub(super) struct Trust {
    broken: OnceLock<String>,
    file: SameFile,
    form: MetForm,
    log: KeptLog,
    /// Mark of the file; only the process that serves the file keeps one.
    mark: Option<FileMark>,
    /// Held while the writer works, when the log is not in the state that it will leave.
    at_work: Mutex<()>,
}

impl Trust {
    /// Trusts the files of an open store.
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

    /// Fails once the store is known to be broken. After a failed `fsync`, its pages count as clean, so the next commit
    /// would succeed without being on the disk.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.broken.get().map_or(Ok(()), |why| Err(StoreError::Broken(why.clone())))
    }

    /// Fails also if the files of the store are no longer in place, or another program wrote into them.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        self.check()?;
        let mark = || self.mark.as_ref().map_or(Ok(()), FileMark::check);
        self.file.check().and_then(|()| mark()).inspect_err(|error| self.lose_if_broken(error))
    }

    /// Runs `work` as one transaction of the writer, unless its writes would be lost.
    pub(super) fn write<T>(
        &self,
        writer: &mut Connection,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failed> {
        // Checked before the write, so that nothing is written into replaced files, and after it, for changes
        // meanwhile.
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
        // A fault found after the commit can't be undone, so the outcome is unknown and not "not written".
        let kept = self.log.remember(writer);
        let checked = || kept.and_then(|()| self.check_files()).map_err(Failed::Unknown);
        let done = done.and_then(|done| checked().map(|()| done));
        if let (Ok(_), Some(file), Some(mark)) = (&done, &self.mark, &mark) {
            // Done only after the commit: the mark of a rolled-back transaction would never appear in the file.
            file.committed(mark);
        }
        done.inspect_err(|failed| match failed {
            Failed::Undone(error) | Failed::Unknown(error) => self.lose_if_broken(error),
        })
    }

    /// Runs work that alters the log without writing payments.
    pub(super) fn alter_log<T>(&self, writer: &Connection, work: impl FnOnce(&Connection) -> T) -> T {
        let _at_work = self.begin_work();
        let done = work(writer);
        // The next write finds any fault of the log.
        drop(self.log.remember(writer));
        done
    }

    /// Returns true if the log is not as the writer left it. While the writer works, it checks the log itself.
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
            // Long writes of others say nothing about the log.
            Ok(()) | Err(Failed::Undone(StoreError::Unavailable(_) | StoreError::Full(_))) => Ok(()),
            Err(failed) => Err(failed.into()),
        }
    }

    fn begin_work(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops trusting the store if this error says that it is broken.
    fn lose_if_broken(&self, error: &StoreError) {
        if let StoreError::Broken(why) = error {
            // The first cause is kept: later errors are mostly consequences, and the operator needs the one that states
            // the remedy.
            self.broken.get_or_init(|| {
                // The user of the store logs this once, at ERROR.
                tracing::debug!(%error, "the embedded store accepts no more writes");
                why.clone()
            });
        }
    }
}
