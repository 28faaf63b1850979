//! Past of a world before it begins: cards that were already tried, and declined each time.

use std::sync::Arc;

use quita_domain::acquiring::{ChargeAnswer, Decline, DeclineKind, Fact};
use quita_domain::identity::TransactionId;
use quita_domain::numbering::AttemptNumber;
use quita_domain::payment::{Command, Context, NewPayment, Payment};
use quita_domain::routing::{Considered, Routed};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::orders::{Kind, Request, fingerprint_of};
use crate::world::World;

/// Age of the most recent try, and time between one try and the next, in milliseconds.
const STEP_MS: u64 = 30 * 60_000;

/// Stores this many payments for each card, and enters them among the tries that the banks saw.
pub(crate) fn remember(world: &World, tried: &[u64]) {
    for (card, count) in tried.iter().enumerate() {
        for number in 1..=*count {
            let at = world.clock.now().minus_ms(number * STEP_MS);
            let number = 0xe_0000_0000 + ((card as u128) << 16) + u128::from(number);
            let payment = declined(world, card, number, at);
            let masked = payment.order.card().unwrap();
            world.tries.lock().unwrap().note(masked, payment.id, at);
            world.store.lock().payments.insert(payment.id, Arc::new(payment));
        }
    }
}

fn declined(world: &World, card: usize, number: u128, at: Timestamp) -> Payment {
    let request = Request {
        merchant: 0,
        number,
        kind: Kind::Card,
        cents: 100,
        card,
        has_key: false,
        has_postback: false,
    };
    let new = request.new_payment(at);
    let context = |op| Context::plain(at, Uuid::from_u128(op));
    let acquirer = world.banks[0].name().clone();
    let new = NewPayment {
        id: TransactionId::new(Uuid::from_u128(number)),
        owner: new.owner,
        order: new.purchase.order,
        fingerprint: None,
        card_fingerprint: Some(fingerprint_of(card)),
        used_token: None,
        page_token: new.page_token,
        link: None,
        considered: vec![Considered { acquirer, eligible: true, reason: "eligible".into() }],
        routed: Routed::default(),
    };
    let opening = Context { card_at_hand: true, ..context(number << 1) };
    let opened = Payment::open(new, &opening).next.unwrap();
    let decline = Decline::of_kind("insufficient_funds", DeclineKind::Reversible);
    let answer = ChargeAnswer::known(Fact::Declined(decline));
    let answered = Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer };
    opened.decide(answered, &context((number << 1) + 1)).unwrap().next.unwrap()
}
