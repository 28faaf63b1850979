//! Causes of actors' deaths: the panic's message and its location.
//!
//! A hook records every panic of a thread before it unwinds. During unwinding the actor's guards are dropped and take
//! the record (`tests/actix_facts.rs` asserts that order).

use std::cell::RefCell;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use quita_domain::identity::TransactionId;
use quita_domain::time::Timestamp;
use serde::Serialize;

use crate::limits::CAUSE_LENGTH;

/// Cause of an actor's last death.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrashCause {
    /// Time of the panic.
    pub at: Timestamp,
    /// Message of the panic.
    pub what: String,
    /// Location in the source: `file:line`.
    pub place: String,
    /// Message being handled, if any.
    pub message: Option<&'static str>,
    /// Transaction of the actor, if it was a transaction's.
    pub transaction_id: Option<TransactionId>,
    /// Number of this panic within the process.
    #[serde(skip)]
    number: u64,
}

/// Message and location of a panic, recorded before the thread unwinds.
#[derive(Debug, Clone)]
struct Note {
    number: u64,
    what: String,
    place: String,
}

thread_local! {
    static LAST: RefCell<Option<Note>> = const { RefCell::new(None) };
}

static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Records panics from now on, in the whole process. Hooks installed before still run.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // Runs first, because other hooks may end in any way.
            note(panic);
            others(panic);
        }));
    });
}

fn note(panic: &PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("something that is no text");
    let what = what.chars().take(CAUSE_LENGTH).collect();
    let place =
        panic.location().map_or_else(String::new, |at| format!("{}:{}", inside(at.file()), at.line()));
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    // Fails if the thread is ending.
    LAST.try_with(|last| last.replace(Some(Note { number, what, place }))).ok();
}

/// Returns the path within the package, without the build directory.
fn inside(file: &str) -> &str {
    let package = file.rmatch_indices('/').nth(2).filter(|_| file.starts_with('/'));
    package.and_then(|(before, _)| file.get(before.saturating_add(1)..)).unwrap_or(file)
}

/// Holds the last cause of one kind of actor.
#[derive(Debug, Default)]
pub(crate) struct LastCause(Mutex<Option<Arc<CrashCause>>>);

impl LastCause {
    /// Returns the last cause, if any actor of the kind has died since the start.
    pub(crate) fn get(&self) -> Option<Arc<CrashCause>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the cause of this thread's panic. Details from several guards of the same panic are merged.
    pub(crate) fn keep(
        &self,
        at: Timestamp,
        message: Option<&'static str>,
        transaction_id: Option<TransactionId>,
    ) {
        let Some(Note { number, what, place }) = LAST.try_with(|last| last.borrow().clone()).ok().flatten()
        else {
            return;
        };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.as_ref().filter(|known| known.number == number);
        let message = message.or_else(|| known.and_then(|known| known.message));
        let transaction_id = transaction_id.or_else(|| known.and_then(|known| known.transaction_id));
        *last = Some(Arc::new(CrashCause { at, what, place, message, transaction_id, number }));
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(7);

    struct Guard<'a>(&'a LastCause, Option<&'static str>, Option<TransactionId>);

    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.keep(NOW, self.1, self.2);
        }
    }

    #[test]
    fn what_several_guards_know_of_one_panic_is_one_cause() {
        listen();
        let last = LastCause::default();
        let id = TransactionId::new(Uuid::from_u128(7));
        let dies = |text: &str, id| {
            let _actor = Guard(&last, None, id);
            let _message = Guard(&last, Some("create"), None);
            panic!("{text}");
        };
        assert!(std::panic::catch_unwind(|| dies("oh", Some(id))).is_err());
        let cause = last.get().unwrap();
        assert_eq!(
            (cause.what.as_str(), cause.message, cause.transaction_id),
            ("oh", Some("create"), Some(id))
        );
        assert!(cause.place.starts_with("actors/src/actor/crash_cause.rs:"), "{}", cause.place);
        assert!(std::panic::catch_unwind(|| dies(&"é".repeat(1_000), None)).is_err());
        let cause = last.get().unwrap();
        assert_eq!((cause.what.chars().count(), cause.transaction_id), (CAUSE_LENGTH, None), "another panic");
    }

    #[test]
    fn a_place_tells_the_package_and_not_where_it_was_built() {
        let path = "/home/somebody/registry/src/index/tokio-1.0.0/src/task.rs";
        assert_eq!(inside(path), "tokio-1.0.0/src/task.rs");
        assert_eq!(inside("actors/src/transaction/front.rs"), "actors/src/transaction/front.rs");
        assert_eq!(inside("/a.rs"), "/a.rs");
    }
}
