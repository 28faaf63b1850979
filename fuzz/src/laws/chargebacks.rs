//! Chargebacks: each is counted once, and the payment is charged back while one is open.

use quita_domain::acquiring::Issued;
use quita_domain::payment::{Chargeback, Command, Context, Payment};
use quita_domain::status::Status;

pub(super) fn check(before: &Payment, next: &Payment, command: &Command, context: &Context) {
    let is_open = next.open_chargebacks().next().is_some();
    match next.status() {
        Status::Chargeback => assert!(is_open, "charged back, and no chargeback is open"),
        // A refunded payment stays refunded.
        Status::Refund => {}
        Status::Initial
        | Status::Pending
        | Status::Approved
        | Status::Declined
        | Status::Expired
        | Status::Paid
        | Status::Cancelled => assert!(!is_open, "{} with an open chargeback", next.status()),
    }
    let mut ids: Vec<_> = next.chargebacks.iter().map(|one| one.id.as_str()).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "counted twice: {ids:?}");
    let mut won: Vec<_> = next.chargebacks.iter().filter_map(|one| one.won.as_ref()).collect();
    won.sort_unstable_by_key(|won| won.id.as_str());
    assert!(won.windows(2).all(|pair| pair[0].id != pair[1].id), "won twice: {won:?}");
    let terms = |one: &Chargeback| (one.id.clone(), one.amount);
    let known: Vec<_> = before.chargebacks.iter().map(terms).collect();
    assert!(next.chargebacks.iter().map(terms).collect::<Vec<_>>().starts_with(&known), "rewritten");
    for (known, now) in before.chargebacks.iter().zip(&next.chargebacks) {
        assert!(known.is_open() || !now.is_open(), "{now:?} was closed");
    }
    check_expiry(before, next, command, context);
}

/// Checks that a PIX does not expire in the 90 seconds in which a timely payment may still come in.
fn check_expiry(before: &Payment, next: &Payment, command: &Command, context: &Context) {
    assert!(!(before.concluded && next.status() == Status::Expired && before.status() == Status::Pending));
    let has_expired = before.status() == Status::Pending && next.status() == Status::Expired;
    let Some(Issued::Pix { expires_at, .. }) = before.state.issued.as_deref().filter(|_| has_expired) else {
        return;
    };
    let is_in_grace = *expires_at <= context.now && context.now < expires_at.plus_ms(90_000);
    assert!(!is_in_grace, "expired by {command:?}");
}
