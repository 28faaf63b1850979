//! Counterparty of one kind, as its world and the judge see it.

use quita_acquirers::exchange::Request;
use quita_banks::{Counterparty, Reply};
use quita_domain::acquiring::{OperationAnswer, RemovedBy};
use quita_domain::identity::TransactionId;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::time::Timestamp;

use super::courier::Letter;
use super::listing::Received;
use crate::account::Account;
use crate::world::World;

/// Action of people outside the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// A payer pays this amount.
    Pay { amount: Money },
    /// The money is charged back, in whole or in part.
    ChargeBack { amount: Money },
    /// Money is given back at the desk.
    GiveBack { amount: Money },
    /// An unpaid charge is withdrawn at the desk, or by the counterparty.
    Withdraw { by: RemovedBy },
    /// The held limit of a card is released at the desk.
    Void,
    /// A card is captured at the desk.
    Capture { amount: Money },
}

/// Counterparty of one kind.
pub(super) trait Till: Send {
    /// Returns the counterparty behind the wire.
    fn counterparty(&mut self) -> &mut dyn Counterparty;

    /// Returns true if a request is for an access token.
    fn is_for_a_token(&self, request: &Request) -> bool;

    /// Prepares what the counterparty will decide on its own, before a request is handled.
    fn prepare(&mut self, world: &World, request: &Request);

    /// Handles a request.
    fn handle(&mut self, request: &quita_banks::Request, now_ms: i64) -> Reply {
        self.counterparty().handle(request, now_ms)
    }

    /// Returns all that came in, if there are lists of it.
    fn received(&mut self, _now_ms: i64) -> Option<Vec<Received>> {
        None
    }

    /// Returns true if everything that happens to a payment appears in a list.
    fn lists_truly(&self, _id: TransactionId) -> bool {
        false
    }

    /// Returns the payment that a request changes, once it was handled.
    fn touched(&mut self, request: &Request) -> Option<TransactionId>;

    /// Returns the longest delay of a request in milliseconds, if longer than usual. It counts from when the sender
    /// stopped waiting.
    fn arrives_within_ms(&self, _request: &Request) -> Option<u64> {
        None
    }

    /// Notes the charge of a payment that counts for the service, by the counterparty's own name.
    fn count(&mut self, _id: TransactionId, _name: &str) {}

    /// Returns the payment whose card a request authorises without capturing it.
    fn only_authorises(&self, request: &Request) -> Option<TransactionId>;

    /// Returns the state of a payment in its books, without what only the world knows.
    fn account(&mut self, id: TransactionId, now_ms: i64) -> Option<Account>;

    /// Returns the state of a refund in its books by our id, if it keeps those.
    fn became_of_refund(&mut self, _: TransactionId, _: &Operation, _now_ms: i64) -> Option<OperationAnswer> {
        None
    }

    /// Returns the payments whose money it has.
    fn paid(&mut self, now_ms: i64) -> Vec<TransactionId>;

    /// Returns the amount that was asked for.
    fn asked(&self, id: TransactionId) -> Money;

    /// Returns the amount that can still be given back.
    fn left(&mut self, id: TransactionId, now_ms: i64) -> Money;

    /// Returns the end of the time to pay.
    fn expires_at(&self, id: TransactionId) -> Timestamp;

    /// Performs an action. Returns true if it was done.
    fn act(&mut self, id: TransactionId, act: Act, now_ms: i64) -> bool;

    /// Returns a notice as it is sent to the service.
    fn letter(&self, notice: quita_banks::Notice) -> Letter;

    /// Returns the payment that a notice is about, if that is known.
    fn subject(&self, letter: &Letter) -> Option<TransactionId>;

    /// Returns a notice forged by a third party, about this payment or none.
    fn forged(&self, world: &World, about: Option<TransactionId>) -> Letter;
}
