//! Opening a payment: the intent, stored before anything leaves the process.

use std::sync::Arc;

use super::draft::Draft;
use super::report::Origin;
use super::{Context, Decision, Payment};
use crate::card::CardFingerprint;
use crate::card::token::UsedToken;
use crate::identity::{LinkId, Owner, TransactionId};
use crate::order::Order;
use crate::routing::{Considered, Routed};
use crate::state::State;

/// Input from which a payment is opened.
#[derive(Debug, Clone)]
pub struct NewPayment {
    /// Its id.
    pub id: TransactionId,
    /// Its owner.
    pub owner: Owner,
    /// The order, as requested.
    pub order: Arc<Order>,
    /// Keyed hash of the request, if it came with an `Idempotency-Key`.
    pub fingerprint: Option<String>,
    /// Fingerprint of the card, if tries per card are counted.
    pub card_fingerprint: Option<CardFingerprint>,
    /// Mark of the card token that this payment uses up.
    pub used_token: Option<UsedToken>,
    /// The unguessable part of its public pages' addresses.
    pub page_token: String,
    /// Payment link through which it was created.
    pub link: Option<LinkId>,
    /// Acquirers that were considered; the eligible ones are in the order in which they are tried.
    pub considered: Vec<Considered>,
    /// Routing rule and table of routes that decided this.
    pub routed: Routed,
}

impl Payment {
    /// Opens a payment as `initial` with its first acquirer chosen, or as `declined` if there is none.
    pub fn open(new: NewPayment, context: &Context) -> Decision {
        let payment = Self {
            id: new.id,
            // `finish` counts this write, so the first stored revision is 1, and the insert expects 0.
            revision: 0,
            last_op: context.op,
            owner: new.owner,
            order: new.order,
            fingerprint: new.fingerprint,
            card_fingerprint: new.card_fingerprint,
            used_token: new.used_token,
            page_token: new.page_token,
            link: new.link,
            created_at: context.now,
            considered: new.considered.into(),
            routed: Arc::new(new.routed),
            dice: context.dice,
            state: Arc::new(State::opened(context.now)),
            check: None,
            inquired_at: None,
            hinted: false,
            hidden: false,
            concluded: false,
            concluded_since: None,
            mismatches: 0,
            others: Vec::new(),
            bound_pix: Vec::new(),
            foreign_pix: Vec::new(),
            second_look: None,
            chargebacks: Vec::new(),
            operations: Vec::new(),
            history: Vec::new(),
            outbox: Vec::new(),
            reports: Vec::new(),
            erased_at: None,
        };
        let mut draft = Draft::new(payment, *context);
        draft.charge_first();
        draft.finish(Origin::CREATION)
    }
}
