//! Every row of the table, played to its end.

use quita_domain::acquiring::Issued;
use quita_domain::method::Method::{self, Boleto, CreditCard, Pix};
use quita_domain::payment::DiscrepancyKind::{self, AmountMismatch, Overpaid};
use quita_domain::status::Status::{
    self, Approved, Chargeback, Declined, Expired, Initial, Paid, Pending, Refund,
};

use crate::world::World;

/// Method, cents, what came when, the statuses, what an operator saw.
type Row = (Method, u64, &'static [(u64, &'static str)], &'static [Status], &'static [DiscrepancyKind]);

const ROWS: &[Row] = &[
    (Pix, 10_000, &[(2_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Boleto, 10_000, &[(2_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Pix, 10_007, &[(30_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Boleto, 10_007, &[(30_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Pix, 10_017, &[(100, "expired")], &[Initial, Pending, Expired], &[]),
    (Boleto, 10_017, &[(100, "expired")], &[Initial, Pending, Expired], &[]),
    (Pix, 10_027, &[], &[Initial, Pending], &[]),
    (Boleto, 10_027, &[], &[Initial, Pending], &[]),
    (Pix, 10_031, &[(2_000, "settled"), (4_000, "charged-back")], &[Initial, Pending, Paid, Chargeback], &[]),
    (
        Boleto,
        10_031,
        &[(2_000, "settled"), (4_000, "charged-back")],
        &[Initial, Pending, Paid, Chargeback],
        &[],
    ),
    (Pix, 10_041, &[(2_000, "settled"), (4_000, "refunded")], &[Initial, Pending, Paid, Refund], &[]),
    (Boleto, 10_041, &[(2_000, "settled"), (4_000, "refunded")], &[Initial, Pending, Paid, Refund], &[]),
    (Pix, 10_051, &[(2_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Boleto, 10_051, &[(2_000, "settled")], &[Initial, Pending], &[AmountMismatch]),
    (Pix, 10_052, &[(2_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Boleto, 10_052, &[(2_000, "settled")], &[Initial, Pending, Paid], &[Overpaid]),
    (
        Pix,
        10_061,
        &[(2_000, "settled"), (2_000, "settled"), (2_000, "settled-again")],
        &[Initial, Pending, Paid],
        &[],
    ),
    (
        Boleto,
        10_061,
        &[(2_000, "settled"), (2_000, "settled"), (2_000, "settled-again")],
        &[Initial, Pending, Paid],
        &[],
    ),
    (Pix, 10_062, &[(0, "settled")], &[Initial, Paid], &[]),
    (Boleto, 10_062, &[(0, "settled")], &[Initial, Paid], &[]),
    (Pix, 10_071, &[(2_000, "expired"), (4_000, "settled")], &[Initial, Pending, Expired, Paid], &[]),
    (Boleto, 10_071, &[(2_000, "expired"), (4_000, "settled")], &[Initial, Pending, Expired, Paid], &[]),
    // Cut after 10 s, asked for a second later; the payer begins after that.
    (Pix, 10_091, &[(14_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Boleto, 10_091, &[(14_000, "settled")], &[Initial, Pending, Paid], &[]),
    // Cut after 10 s, asked for after 1, 3, 8 and 23 s more, and only then sent again.
    (Pix, 10_092, &[(37_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Boleto, 10_092, &[(37_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Pix, 10_099, &[(2_000, "settled")], &[Initial, Pending, Paid], &[]),
    (Boleto, 10_099, &[(2_000, "settled")], &[Initial, Pending, Paid], &[]),
];

#[tokio::test(start_paused = true)]
async fn an_amount_does_what_its_cents_say() {
    for (method, cents, notices, statuses, discrepancies) in ROWS {
        let mut world = World::open(&["sandbox-a", "sandbox-b"], *method, *cents, None, true);
        world.run_for(60_000).await;
        let row = format!("{method} {cents}");
        assert_eq!(world.statuses, *statuses, "{row}");
        assert_eq!(world.discrepancies, *discrepancies, "{row}");
        let seen = world.sink.seen();
        let seen: Vec<(u64, &str)> = seen.iter().map(|(at, event)| (*at, event.as_str())).collect();
        assert_eq!(seen, *notices, "{row}");
        assert!(world.payment.state.issued.is_some(), "{row}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_an_acquirer_that_is_down_is_left_for_the_next_one() {
    for (cents, acquirer, attempts) in [(99, "sandbox-b", 2), (92, "sandbox-a", 2), (91, "sandbox-a", 1)] {
        let mut world = World::open(&["sandbox-a", "sandbox-b"], Pix, 10_000 + cents, None, true);
        world.run_for(60_000).await;
        assert_eq!(world.payment.acquirer().unwrap().as_str(), acquirer, "{cents}");
        assert_eq!(world.payment.state.attempts.len(), attempts, "{cents}");
    }
    let mut world = World::open(&["sandbox-a"], Pix, 10_099, None, true);
    world.run_for(60_000).await;
    assert_eq!(world.payment.state.status_reason.as_deref(), Some("no_acquirer_available"));
}

#[tokio::test(start_paused = true)]
async fn a_card_does_what_its_number_says() {
    let paid: &[Status] = &[Initial, Approved, Paid];
    for (number, statuses, decline) in [
        ("4242424242424242", paid, None),
        ("5555555555554444", paid, None),
        ("378282246310005", paid, None),
        ("6062826786276634", paid, None),
        ("6362970000457013", paid, None),
        ("4111111111111111", paid, None),
        ("4000000000000119", paid, None),
        ("4000000000000259", &[Initial, Approved, Paid, Chargeback], None),
        ("4000000000000341", &[Initial, Approved], None),
        ("4000000000000002", &[Initial, Declined], Some("generic_decline")),
        ("4000000000009995", &[Initial, Declined], Some("insufficient_funds")),
        ("4000000000009987", &[Initial, Declined], Some("lost_card")),
        ("4000000000000069", &[Initial, Declined], Some("expired_card")),
        ("4000000000000127", &[Initial, Declined], Some("incorrect_cvc")),
    ] {
        // The cents mean nothing to a card.
        let mut world = World::open(&["sandbox-a", "sandbox-b"], CreditCard, 10_099, Some(number), true);
        world.run_for(60_000).await;
        assert_eq!(world.statuses, statuses, "{number}");
        assert!(world.discrepancies.is_empty(), "{number}");
        let state = &world.payment.state;
        assert_eq!(state.decline.as_ref().map(|decline| decline.code.as_str()), decline, "{number}");
        let code = state.authorization_code.as_ref();
        assert_eq!(code.map(|code| code.len()), decline.is_none().then_some(6), "{number}");
        let waited = world.payment.history[0].occurred_at.ms_since(world.payment.created_at);
        assert_eq!(waited >= 10_000, number.ends_with("0119"), "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_card_that_is_not_captured_at_once_is_only_approved() {
    for number in ["4242424242424242", "4000000000000119"] {
        let mut world = World::open(&["sandbox"], CreditCard, 10_000, Some(number), false);
        world.run_for(60_000).await;
        assert_eq!(world.statuses, [Initial, Approved], "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_charge_whose_answer_was_lost_gets_the_code_that_was_ordered() {
    for cents in [10_091, 10_092] {
        let mut world = World::open(&["sandbox"], Boleto, cents, None, true);
        world.run_for(60_000).await;
        let Some(Issued::Boleto(boleto)) = world.payment.state.issued.as_deref() else { panic!("no boleto") };
        assert_eq!(boleto.due_date.to_string(), "2026-12-01", "{cents}");
    }
}
