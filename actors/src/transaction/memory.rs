//! What an actor knows of its payment, and makes known to readers.

use std::sync::Arc;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;

use crate::store::books::Books;
use crate::transaction::published::{Published, Ticket};

/// Holds the payment as it is stored, or nothing.
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

    /// The store is about to be asked or changed: until [`Memory::hold`], readers wait for their turn.
    pub(super) fn begin(&mut self) {
        if self.books.store.is_sole_writer() {
            self.ticket = Some(self.published.take_back(self.id));
        }
    }

    /// This is what the store has. If another actor of the payment has come to life meanwhile, which happens when a
    /// front died over this one's write, that one may hold what was there before.
    pub(super) fn hold(&mut self, payment: &Arc<Payment>) {
        self.payment = Some(Arc::clone(payment));
        if let Some(ticket) = self.ticket
            && !self.published.fill(ticket, payment)
        {
            self.books.doubt(self.id);
        }
    }

    /// What the store has is not known any more.
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
