//! What live payments are, for those who only read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;

/// Parts, each with a lock of its own, so that readers on several threads rarely meet.
const PARTS: usize = 64;

/// Holds what the actors of payments made known. Only of use where nobody else writes the store.
///
/// An actor takes its payment's place back before it writes and fills it again once the write is durable: meanwhile
/// readers ask the actor and wait for their turn, so nobody reads what a list has shown to be over.
pub(crate) struct Published {
    parts: Vec<Mutex<HashMap<TransactionId, Place>>>,
    tickets: AtomicU64,
}

/// What there is to be read of a payment.
#[derive(Debug)]
pub(crate) enum Seen {
    /// What its actor made known last.
    Known(Arc<Payment>),
    /// Its actor asks or changes the store: only it can tell.
    AtWork,
    /// It does not live here: the store tells.
    NotLive,
}

/// Entitles to fill a place: who took the place back later holds another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

struct Place {
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
    fn part(&self, id: TransactionId) -> Option<MutexGuard<'_, HashMap<TransactionId, Place>>> {
        // The last bytes of every kind of id are random.
        let [.., low] = *id.uuid().as_bytes();
        let part = self.parts.get(usize::from(low) % PARTS)?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What there is to be read of a payment.
    pub(crate) fn look(&self, id: TransactionId) -> Seen {
        let mut part = self.part(id);
        let Some(place) = part.as_mut().and_then(|part| part.get_mut(&id)) else { return Seen::NotLive };
        place.was_read = true;
        place.payment.clone().map_or(Seen::AtWork, Seen::Known)
    }

    /// Whether anybody looked since this was asked last.
    pub(crate) fn was_read(&self, id: TransactionId) -> bool {
        let mut part = self.part(id);
        let place = part.as_mut().and_then(|part| part.get_mut(&id));
        place.is_some_and(|place| std::mem::take(&mut place.was_read))
    }

    /// Takes the place of a payment back; nobody reads there until it is filled.
    pub(crate) fn take_back(&self, id: TransactionId) -> Ticket {
        let ticket = Ticket(self.tickets.fetch_add(1, Ordering::Relaxed));
        if let Some(mut part) = self.part(id) {
            part.insert(id, Place { ticket, payment: None, was_read: false });
        }
        ticket
    }

    /// Makes known what a payment is. `false` if somebody else has taken its place meanwhile.
    pub(crate) fn fill(&self, ticket: Ticket, payment: &Arc<Payment>) -> bool {
        let mut part = self.part(payment.id);
        let place = part.as_mut().and_then(|part| part.get_mut(&payment.id));
        let Some(place) = place.filter(|place| place.ticket == ticket) else { return false };
        place.payment = Some(Arc::clone(payment));
        true
    }

    /// Gives the place up.
    pub(crate) fn give_up(&self, id: TransactionId, ticket: Ticket) {
        let Some(mut part) = self.part(id) else { return };
        if part.get(&id).is_some_and(|place| place.ticket == ticket) {
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
    fn nothing_is_read_at_a_place_that_is_taken_back() {
        let published = Published::default();
        published.take_back(id());
        assert!(matches!(published.look(id()), Seen::AtWork));
        assert!(published.was_read(id()) && !published.was_read(id()), "whoever looked counts once");
    }

    #[test]
    fn a_place_is_given_up_by_its_last_holder_only() {
        let published = Published::default();
        let (earlier, later) = (published.take_back(id()), published.take_back(id()));
        published.give_up(id(), earlier);
        assert!(matches!(published.look(id()), Seen::AtWork), "it is still there");
        published.give_up(id(), later);
        assert!(matches!(published.look(id()), Seen::NotLive));
    }
}
