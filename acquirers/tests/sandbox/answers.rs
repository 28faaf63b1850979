//! Contents of single answers.

use std::sync::Arc;

use quita_acquirers::sandbox::{SandboxAction, manual_notice};
use quita_domain::acquiring::{ChargeAnswer, ChargeQuery, Fact, Issued, Statement};
use quita_domain::boleto::{Barcode, Line};
use quita_domain::method::Method::{self, Boleto, CreditCard, Pix};
use quita_domain::payment::Command;
use quita_domain::pix::br_code::BrCode;
use quita_domain::pix::txid::EndToEndId;
use quita_domain::request::by_hand::PayByHand;
use quita_domain::status::Status;
use quita_ports::{AcquirerFactory, Clock};

use crate::world::{RecordingSink, TestClock, World, factory};

fn issued(world: &World) -> &Issued {
    world.payment.state.issued.as_ref().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_pix_charge_has_a_code_that_reads_back() {
    let mut world = World::open(&["sandbox"], Pix, 10_000, None, true);
    world.run_for(5_000).await;
    let Issued::Pix { txid, code, expires_at } = issued(&world) else { panic!("no PIX") };
    assert_eq!(*txid, world.payment.id.uuid().simple().to_string());
    assert_eq!(expires_at.ms_since(world.payment.created_at), 3_600_000);
    let BrCode::Dynamic(code) = BrCode::parse(code).unwrap() else { panic!("not dynamic") };
    assert_eq!(code.url, format!("pix.sandbox.quita.example/v2/{txid}"));
    assert_eq!((code.merchant_name.as_str(), code.merchant_city.as_str()), ("QUITA SANDBOX", "SAO PAULO"));
    let end_to_end_id = world.payment.state.end_to_end_id.as_ref().unwrap();
    assert!(EndToEndId::parse(end_to_end_id).is_ok());
    assert!(end_to_end_id.starts_with("E99999999202611211200"), "{end_to_end_id}");
}

#[tokio::test(start_paused = true)]
async fn a_boleto_agrees_with_its_bar_code() {
    let mut world = World::open(&["sandbox"], Boleto, 123_456, None, true);
    world.run_for(5_000).await;
    let Issued::Boleto(boleto) = issued(&world) else { panic!("no boleto") };
    let barcode = Barcode::parse(&boleto.barcode).unwrap();
    assert_eq!(Line::parse(&boleto.digitable_line).unwrap(), barcode.line());
    assert_eq!((barcode.bank(), barcode.amount_cents()), ("001", 123_456));
    assert_eq!(barcode.due_date("2026-11-21".parse().unwrap()), Some(boleto.due_date));
    assert_eq!(boleto.our_number.len(), 17);
    assert!(barcode.free_field().contains(&boleto.our_number));
    assert_eq!((boleto.portfolio.as_str(), boleto.bank_code.as_str()), ("17", "001-9"));
}

/// Returns the first fact that a fresh acquirer states, as after a restart.
async fn stated(clock: &Arc<TestClock>, query: &ChargeQuery) -> Fact {
    let answer = factory("sandbox", clock, &RecordingSink::new(clock)).build().inquire(query).await;
    let ChargeAnswer::Known(Statement { mut facts, .. }) = answer else { panic!("{answer:?}") };
    facts.remove(0)
}

#[tokio::test(start_paused = true)]
async fn every_notice_tells_what_a_question_would_be_answered_then() {
    for method in [Pix, Boleto] {
        for cents in [0, 7, 17, 27, 31, 41, 51, 52, 61, 62, 71, 91, 92, 99].map(|cents| 10_000 + cents) {
            let mut world = World::open(&["sandbox", "other"], method, cents, None, true);
            let mut compared = 0;
            for _ in 0..4_000 {
                world.run_for(10).await;
                let last = world.sink.taken.lock().unwrap().last().map(|(_, notice)| notice.fact.clone());
                let known = world.sink.taken.lock().unwrap().len();
                if let Some(fact) = last.filter(|_| known > compared) {
                    let mut query = world.payment.query();
                    // As long as the service did not take the fact, it asks as it did before.
                    if !matches!(fact, Fact::ChargedBack { .. } | Fact::Refunded { .. }) {
                        query.paid_amount = None;
                    }
                    assert_eq!(stated(&world.clock, &query).await, fact, "{method} {cents}");
                    compared = known;
                }
            }
            assert_eq!(compared == 0, cents == 10_027, "{method} {cents}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn money_that_goes_back_is_reported_only_for_what_is_known_to_be_paid() {
    for (cents, back) in [(10_031, "ChargedBack"), (10_041, "Refunded")] {
        let mut world = World::open(&["sandbox"], Pix, cents, None, true);
        world.run_for(10_000).await;
        let paid = world.payment.query();
        let unpaid = ChargeQuery { paid_amount: None, ..paid.clone() };
        let unheard = ChargeQuery { issued: None, ..unpaid.clone() };
        for (query, expected) in [(paid, back), (unpaid, "Settled"), (unheard, "Pending")] {
            let fact = stated(&world.clock, &query).await;
            assert!(format!("{fact:?}").starts_with(expected), "{cents}: {fact:?}, not {expected}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_service_is_told_to_ask_a_second_after_the_first_notice() {
    for (cents, news_ms) in [
        (0, Some(3_000)),
        (7, Some(31_000)),
        (17, Some(1_000)),
        (27, None),
        (62, Some(1_000)),
        (71, Some(3_000)),
    ] {
        let world = World::open(&["sandbox"], Pix, 10_000 + cents, None, true);
        let query = world.payment.query();
        let Fact::Pending { news_at, .. } = stated(&world.clock, &query).await else { panic!("not pending") };
        let news_ms_found = news_at.map(|at| at.ms_since(world.payment.created_at));
        assert_eq!(news_ms_found, news_ms, "{cents}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pix_that_nobody_pays_expires_by_itself() {
    let mut world = World::open(&["sandbox"], Pix, 10_027, None, true);
    world.run_for(1_000).await;
    let query = world.payment.query();
    assert!(matches!(stated(&world.clock, &query).await, Fact::Pending { .. }));
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
    assert_eq!(stated(&world.clock, &query).await, Fact::Expired);
}

#[tokio::test(start_paused = true)]
async fn what_was_withdrawn_or_expired_here_is_not_reported_as_paid_later() {
    let days = std::time::Duration::from_secs(3 * 24 * 3_600);
    for (cents, expired) in
        [(0, "Expired"), (7, "Expired"), (27, "Expired"), (31, "Expired"), (71, "Settled")]
    {
        for method in [Pix, Boleto] {
            let world = moved(method, 10_000 + cents, &[SandboxAction::Expire]).await;
            assert_eq!(world.payment.status(), Status::Expired);
            let over = world.payment.query();
            let created_at = over.created_at;
            let cancelled_at = Some(created_at.plus_ms(500));
            let withdrawn = ChargeQuery { cancelled_at, expired_at: None, ..over.clone() };
            let paid_before = ChargeQuery { expired_at: Some(created_at.plus_ms(3_600_000)), ..over.clone() };
            tokio::time::sleep(days).await;
            let paid = if cents == 27 { "Expired" } else { "Settled" };
            for (query, expected) in [(over, expired), (withdrawn, "Cancelled"), (paid_before, paid)] {
                let fact = stated(&world.clock, &query).await;
                assert!(
                    format!("{fact:?}").starts_with(expected),
                    "{method} {cents}: {fact:?}, not {expected}"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_needs_no_intent_first_is_answered_locally() {
    let clock = TestClock::start();
    let factory = factory("sandbox", &clock, &RecordingSink::new(&clock));
    let is_local = |method, cents| {
        let number = (method == CreditCard).then_some("4242424242424242");
        let query = World::open(&["sandbox"], method, cents, number, true).payment.query();
        factory.local_issue().unwrap().issue(&query).is_some()
    };
    for cents in 10_000..10_100_u64 {
        let needs_intent = [62, 91, 92, 99].contains(&(cents % 100));
        for method in [Pix, Boleto] {
            assert_eq!(is_local(method, cents), !needs_intent, "{method} {cents}");
        }
        assert!(!is_local(CreditCard, cents));
    }
}

#[tokio::test(start_paused = true)]
async fn a_payment_is_moved_by_hand() {
    use SandboxAction::{Chargeback, Expire, Pay, Refund};
    for (method, actions, last) in [
        (Pix, vec![Pay], Status::Paid),
        (Boleto, vec![Pay, Pay], Status::Paid),
        (Pix, vec![Expire], Status::Expired),
        (Pix, vec![Expire, Pay], Status::Paid),
        (Boleto, vec![Pay, Refund], Status::Refund),
        (Pix, vec![Pay, Chargeback], Status::Chargeback),
        (Pix, vec![Pay, Chargeback, Pay], Status::Paid),
    ] {
        let world = moved(method, 10_027, &actions).await;
        assert_eq!(world.payment.status(), last, "{method} {actions:?}");
        assert!(world.discrepancies.is_empty(), "{method} {actions:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_was_paid_by_hand_is_not_paid_again_by_itself() {
    let mut world = moved(Pix, 10_000, &[SandboxAction::Pay]).await;
    world.run_for(10_000).await;
    assert_eq!(world.sink.seen().len(), 1);
    assert_eq!(world.payment.status(), Status::Paid);
    assert!(world.discrepancies.is_empty());
}

async fn moved(method: Method, cents: u64, actions: &[SandboxAction]) -> World {
    let mut world = World::open(&["sandbox"], method, cents, None, true);
    world.run_for(500).await;
    for action in actions {
        let notice = manual_notice(*action, &PayByHand::default(), &world.payment, world.clock.now());
        world.decide(Command::Notified { acquirer: notice.acquirer, fact: notice.fact });
    }
    world
}

#[tokio::test(start_paused = true)]
async fn a_double_click_is_one_notice_and_a_click_after_a_change_another() {
    let before = moved(Pix, 10_027, &[]).await;
    let after = moved(Pix, 10_027, &[SandboxAction::Pay]).await;
    for action in SandboxAction::ALL {
        let id = |world: &World| {
            manual_notice(action, &PayByHand::default(), &world.payment, world.clock.now()).id
        };
        assert_eq!(id(&before), id(&before));
        assert_ne!(id(&before), id(&after));
        assert_eq!(SandboxAction::parse(action.as_str()), Some(action));
    }
}
