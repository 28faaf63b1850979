//! Copy of the payment that its actor holds and publishes to readers.

use std::sync::Arc;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;

use crate::store::books::Books;
use crate::transaction::published::{Published, Ticket};

/// Holds the stored payment, or nothing.
pub(super) struct Memory {
    id: TransactionId,
    books: Arc<Books>,
    published: Arc<Published>,
    payment: Option<Arc<Payment>>,
    ticket: Option<Ticket>,
}

impl Memory {
    pub(super) const fn new(id: TransactionId, books: Arc<Books>, published: Arc<Published>) -> Self {
        Self { id, books, published, payment: None, ticket: None }
    }

    pub(super) const fn payment(&self) -> Option<&Arc<Payment>> {
        self.payment.as_ref()
    }

    /// Withdraws the published entry before the store is read or written. Until [`Memory::hold`], readers wait for
    /// their turn.
    pub(super) fn begin(&mut self) {
        // If other processes write, readers ask the store, and nothing is published.
        if self.books.store.is_sole_writer() {
            self.ticket = Some(self.published.take_back(self.id));
        }
    }

    /// Holds and publishes the state that the store has. If a front died during this actor's write, another actor of
    /// the payment may have been started meanwhile. That actor may hold the previous state.
    pub(super) fn hold(&mut self, payment: &Arc<Payment>) {
        self.payment = Some(Arc::clone(payment));
        if let Some(ticket) = self.ticket
            && !self.published.fill(ticket, payment)
        {
            self.books.doubt(self.id);
        }
    }

    /// Drops the copy, because the state in the store is no longer known.
    pub(super) fn forget(&mut self) {
        self.payment = None;
        if let Some(ticket) = self.ticket.take() {
            self.published.give_up(self.id, ticket);
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.forget();
    }
}
