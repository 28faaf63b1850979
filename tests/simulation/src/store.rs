//! One simulated store for all nodes: atomic guarded writes, and everything that a real one may do to us.

mod access;
mod judge;
mod operators;
mod port;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use quita_domain::acquiring::Notice;
use quita_domain::control::RouteControl;
use quita_domain::exception::Exception;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{Write, WriteError};

pub(crate) use self::access::{owner, webhook_secret};
pub(crate) use self::port::NodeStore;
use crate::planted::Mistake;
use crate::world::World;

/// A notice, when it is due, how often it was put off, whether it is worked.
pub(crate) struct StoredNotice {
    pub(crate) notice: Notice,
    pub(crate) due_at: Timestamp,
    pub(crate) tried: u32,
    pub(crate) is_done: bool,
}

/// What is durable.
#[derive(Default)]
pub(crate) struct Content {
    pub(crate) payments: BTreeMap<TransactionId, Arc<Payment>>,
    /// What each payment was before its last write, in a world whose reads are stale.
    before: BTreeMap<TransactionId, Arc<Payment>>,
    pub(crate) notices: BTreeMap<String, StoredNotice>,
    pub(crate) exceptions: Vec<Exception>,
    pub(crate) controls: Vec<RouteControl>,
}

/// The store.
pub(crate) struct SimStore {
    content: Mutex<Content>,
    is_embedded: bool,
}

impl SimStore {
    pub(crate) fn new(is_embedded: bool) -> Self {
        Self { content: Mutex::default(), is_embedded }
    }

    pub(crate) const fn is_embedded(&self) -> bool {
        self.is_embedded
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap()
    }

    pub(crate) fn payment(&self, id: TransactionId) -> Option<Arc<Payment>> {
        self.lock().payments.get(&id).cloned()
    }

    pub(crate) fn payments(&self) -> Vec<Arc<Payment>> {
        self.lock().payments.values().cloned().collect()
    }

    /// Makes one guarded write durable.
    pub(crate) fn apply(&self, world: &World, write: &Write) -> Result<(), WriteError> {
        let next = &write.payment;
        let mut content = self.lock();
        let known = content.payments.get(&next.id);
        let is_guarded = world.mistake != Some(Mistake::DropTheGuard);
        if is_guarded && known.map_or(0, |known| known.revision) != write.expected_revision {
            world.note(|| format!("conflict {} at revision {}", next.id, write.expected_revision));
            return Err(WriteError::Conflict);
        }
        for wrong in judge::wrongs(known.map(AsRef::as_ref), next) {
            world.violation(format!("{}: {wrong}", next.id));
        }
        world.note(|| format!("stored {} revision {} {}", next.id, next.revision, next.status()));
        let before = content.payments.insert(next.id, Arc::clone(next));
        if let Some(before) = before.filter(|_| world.mistake == Some(Mistake::StaleRead)) {
            content.before.insert(next.id, before);
        }
        Ok(())
    }

    /// The next moment at which something is due, if anything ever is.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let content = self.lock();
        let payments = content.payments.values();
        let due = payments.flat_map(|payment| payment.due_at().into_iter().chain(payment.outbox_at()));
        let open = content.notices.values().filter(|stored| !stored.is_done);
        due.chain(open.map(|stored| stored.due_at)).min()
    }
}
