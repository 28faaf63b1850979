//! States of live payments, for readers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;

/// Parts, each with its own lock, so that readers on several threads rarely contend.
const PARTS: usize = 64;

/// Published states of live payments. Useful only if no other process writes to the store.
///
/// An actor withdraws its payment's entry before it writes, and fills it again once the write is durable. In between,
/// readers ask the actor and wait for their turn. So no reader sees a state older than one that a list has shown.
pub(crate) struct Published {
    parts: Vec<Mutex<HashMap<TransactionId, Entry>>>,
    tickets: AtomicU64,
}

/// Published state of a payment.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Last state that its actor published.
    Known(Arc<Payment>),
    /// Its actor is reading or writing the store: only the actor can answer.
    AtWork,
    /// It is not in memory here: read the store.
    NotLive,
}

/// Ticket that entitles its holder to fill an entry. An entry that is withdrawn later has another ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

struct Entry {
    ticket: Ticket,
    payment: Option<Arc<Payment>>,
    was_read: bool,
}

impl Default for Published {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| Mutex::default()).collect(), tickets: AtomicU64::new(0) }
    }
}

impl Published {
    fn part(&self, id: TransactionId) -> Option<MutexGuard<'_, HashMap<TransactionId, Entry>>> {
        // The last bytes of every kind of id are random.
        let [.., low] = *id.uuid().as_bytes();
        let part = self.parts.get(usize::from(low) % PARTS)?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the published state of a payment.
    pub(crate) fn look(&self, id: TransactionId) -> Seen {
        let mut part = self.part(id);
        let Some(entry) = part.as_mut().and_then(|part| part.get_mut(&id)) else { return Seen::NotLive };
        entry.was_read = true;
        entry.payment.clone().map_or(Seen::AtWork, Seen::Known)
    }

    /// Returns true if the entry was read since the last call.
    pub(crate) fn was_read(&self, id: TransactionId) -> bool {
        let mut part = self.part(id);
        let entry = part.as_mut().and_then(|part| part.get_mut(&id));
        entry.is_some_and(|entry| std::mem::take(&mut entry.was_read))
    }

    /// Withdraws the entry of a payment. It can't be read until it is filled again.
    pub(crate) fn take_back(&self, id: TransactionId) -> Ticket {
        let ticket = Ticket(self.tickets.fetch_add(1, Ordering::Relaxed));
        if let Some(mut part) = self.part(id) {
            // Kept across the write: a payment that readers ask about stays in memory longer.
            let was_read = part.get(&id).is_some_and(|entry| entry.was_read);
            part.insert(id, Entry { ticket, payment: None, was_read });
        }
        ticket
    }

    /// Publishes the state of a payment. Returns false if another actor has withdrawn the entry in the meantime.
    pub(crate) fn fill(&self, ticket: Ticket, payment: &Arc<Payment>) -> bool {
        let mut part = self.part(payment.id);
        let entry = part.as_mut().and_then(|part| part.get_mut(&payment.id));
        let Some(entry) = entry.filter(|entry| entry.ticket == ticket) else { return false };
        entry.payment = Some(Arc::clone(payment));
        true
    }

    /// Removes the entry.
    pub(crate) fn give_up(&self, id: TransactionId, ticket: Ticket) {
        let Some(mut part) = self.part(id) else { return };
        // The entry of a later actor stays.
        if part.get(&id).is_some_and(|entry| entry.ticket == ticket) {
            part.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::TransactionId;
    use uuid::Uuid;

    use super::*;

    fn id() -> TransactionId {
        TransactionId::new(Uuid::from_u128(7))
    }

    #[test]
    fn nothing_is_read_of_an_entry_that_is_taken_back() {
        let published = Published::default();
        published.take_back(id());
        assert!(matches!(published.look(id()), Seen::AtWork));
        assert!(published.was_read(id()) && !published.was_read(id()), "a look counts once");
    }

    #[test]
    fn an_entry_is_given_up_by_its_last_holder_only() {
        let published = Published::default();
        let earlier = published.take_back(id());
        let later = published.take_back(id());
        published.give_up(id(), earlier);
        assert!(matches!(published.look(id()), Seen::AtWork), "it is still there");
        published.give_up(id(), later);
        assert!(matches!(published.look(id()), Seen::NotLive));
    }
}
