//! A counterparty of one kind, as its world and the judge see it.

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

/// Action of people outside of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// A payer pays this much.
    Pay { amount: Money },
    /// The money is taken back, or a part of it.
    ChargeBack { amount: Money },
    /// Given back at the desk.
    GiveBack { amount: Money },
    /// An unpaid charge is withdrawn at the desk, or by the counterparty itself.
    Withdraw { by: RemovedBy },
    /// A card's limit is set free at the desk.
    Void,
    /// A card is charged at the desk.
    Capture { amount: Money },
}

/// A counterparty of one kind.
pub(super) trait Till: Send {
    /// Returns the counterparty behind the wire.
    fn counterparty(&mut self) -> &mut dyn Counterparty;

    /// Returns true if a request is for an access token.
    fn is_for_a_token(&self, request: &Request) -> bool;

    /// Before a request is handled: what its counterparty will decide by itself.
    fn prepare(&mut self, world: &World, request: &Request);

    /// Handles a request.
    fn handle(&mut self, request: &quita_banks::Request, now_ms: i64) -> Reply {
        self.counterparty().handle(request, now_ms)
    }

    /// All that came in, if there are lists of it.
    fn received(&mut self, _now_ms: i64) -> Option<Vec<Received>> {
        None
    }

    /// Returns true if everything that happens to a payment can be read in a list.
    fn lists_truly(&self, _id: TransactionId) -> bool {
        false
    }

    /// The payment that a request changes something of, once it was handled.
    fn touched(&mut self, request: &Request) -> Option<TransactionId>;

    /// The latest that a request may arrive after its sender gave it up, in milliseconds, if that is later than others.
    fn arrives_within_ms(&self, _request: &Request) -> Option<u64> {
        None
    }

    /// The charge of a payment that counts for the service, by the counterparty's own name.
    fn count(&mut self, _id: TransactionId, _name: &str) {}

    /// The payment whose card a request authorises and does not capture.
    fn only_authorises(&self, request: &Request) -> Option<TransactionId>;

    /// Returns what its books say of a payment, without what only the world knows.
    fn account(&mut self, id: TransactionId, now_ms: i64) -> Option<Account>;

    /// Returns what its books say of a refund by our id of it, if it keeps those.
    fn became_of_refund(&mut self, _: TransactionId, _: &Operation, _now_ms: i64) -> Option<OperationAnswer> {
        None
    }

    /// The payments whose money it has.
    fn paid(&mut self, now_ms: i64) -> Vec<TransactionId>;

    /// Returns the amount that was asked for.
    fn asked(&self, id: TransactionId) -> Money;

    /// Returns the amount that can still be given back.
    fn left(&mut self, id: TransactionId, now_ms: i64) -> Money;

    /// Returns the end of the time to pay.
    fn expires_at(&self, id: TransactionId) -> Timestamp;

    /// Says whether it was done.
    fn act(&mut self, id: TransactionId, act: Act, now_ms: i64) -> bool;

    /// A notice as it is sent here.
    fn letter(&self, notice: quita_banks::Notice) -> Letter;

    /// The payment that a notice is about, if that is known.
    fn subject(&self, letter: &Letter) -> Option<TransactionId>;

    /// A notice that somebody else made up, about this payment or none.
    fn forged(&self, world: &World, about: Option<TransactionId>) -> Letter;
}
