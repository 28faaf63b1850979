//! Payers that are erased: what goes, what stays, and what comes later.

use std::collections::BTreeMap;

use quita_domain::card::{Brand, MaskedCard};
use quita_domain::order::{Item, Utm};
use quita_domain::payment::Erasure;
use quita_domain::record::PaymentRecord;

use super::deliveries::answered;
use crate::*;

const HALF_A_YEAR_MS: u64 = 180 * 24 * 3_600_000;

/// Texts that tell who paid, as the fields of [`of_somebody`] have them.
const TRACES: [&str; 20] = [
    "Zuleika",
    "Quaresma",
    "52998224725",
    "529.982.247-25",
    "zuleika@marca.example",
    "ZULEIKA@MARCA.EXAMPLE",
    "zuleika%40marca.example",
    "11987654321",
    "Rua da Marca",
    "1234-B",
    "Bloco da Marca",
    "Bairro da Marca",
    "Cidade da Marca",
    "\"SP\"",
    "98765432",
    "TITULAR MARCADO",
    "\"4321\"",
    "nota da marca",
    "resposta da marca",
    "outra resposta",
];

/// The payment as if a person who can be known stood in every field that may hold one.
fn of_somebody(mut payment: Payment) -> Payment {
    let text = |text: &str| Some(String::from(text));
    let order = Arc::make_mut(&mut payment.order);
    order.payer.first_name = "Zuleika".into();
    order.payer.last_name = "Quaresma".into();
    order.payer.email = "zuleika@marca.example".into();
    let address = order.payer.address.as_mut().unwrap();
    address.street = "Rua da Marca".into();
    address.number = "1234-B".into();
    address.complement = text("Bloco da Marca");
    address.neighborhood = "Bairro da Marca".into();
    address.city = "Cidade da Marca".into();
    address.zip_code = quita_domain::postal::Cep::parse("98765432").unwrap();
    order.items = vec![Item {
        id: None,
        name: "Curso para zuleika QUARESMA".into(),
        quantity: 1,
        price: Money::from_cents(10_000),
    }];
    order.external_reference = text("cliente 529.982.247-25");
    order.postback_url = text("http://127.0.0.1:1/?de=zuleika%40marca.example&n=52998224725");
    order.metadata = BTreeMap::from([
        ("quem".into(), "nota da marca".into()),
        ("11987654321".into(), "nota da marca".into()),
    ]);
    order.utm = Utm { term: text("de ZULEIKA@MARCA.EXAMPLE"), source: text("busca"), ..Utm::default() };
    if let Terms::CreditCard { card, .. } = &mut order.terms {
        *card = MaskedCard {
            brand: Brand::Visa,
            first_digits: "424242".into(),
            last_digits: "4321".into(),
            holder_name: "TITULAR MARCADO".into(),
        };
    }
    for delivery in &mut payment.outbox {
        delivery.attempts.push(DeliveryAttempt { answer: text("resposta da marca"), ..answered(500, 1) });
    }
    for event in &mut payment.history {
        event.reason = text("recusado para 52998224725");
    }
    let state = Arc::make_mut(&mut payment.state);
    let is_card = payment.order.card().is_some();
    state.status_reason = text(if is_card { "titular marcado" } else { "zuleika quaresma" });
    state.attempts[0].call.refusal = text("pagador Zuleika Quaresma sem conta");
    payment
}

#[track_caller]
fn check_knows_nobody(payment: &Payment) {
    let stored = serde_json::to_string(payment).unwrap();
    let shown = serde_json::to_string(&PaymentRecord::now(payment, "http://q")).unwrap();
    let events = payment.history.iter();
    let told =
        events.map(|event| serde_json::to_string(&PaymentRecord::as_of(payment, event, "http://q")).unwrap());
    for text in [stored, shown].into_iter().chain(told) {
        let text = text.to_lowercase();
        for trace in TRACES {
            assert!(!text.contains(&trace.to_lowercase()), "{trace} is in {text}");
        }
    }
}

fn erased(payment: &Payment, ms: u64) -> Payment {
    let now = START.plus_ms(ms);
    let Erasure::Erased(erased) = payment.erase_payer(now.minus_ms(HALF_A_YEAR_MS), now, Uuid::from_u128(7))
    else {
        panic!("{:?} can't be erased", payment.status())
    };
    *erased
}

#[test]
fn whoever_paid_is_in_no_field_and_amounts_ids_and_times_stay() {
    for (payment, later_ms) in [
        (paid(), HALF_A_YEAR_MS + 10_000),
        (captured(), HALF_A_YEAR_MS + 10_000),
        (declined_card(), 10_000),
        (expired_pix(), 10_000),
    ] {
        let before = of_somebody(payment);
        let text = serde_json::to_string(&before).unwrap();
        let has_card = before.method() == Method::CreditCard;
        let is_there = |trace: &&&str| text.contains(**trace);
        assert!(TRACES.iter().filter(is_there).count() >= if has_card { 15 } else { 13 }, "{text}");
        let after = erased(&before, later_ms);
        check_knows_nobody(&after);
        assert_eq!(after.revision, before.revision + 1);
        assert_eq!(
            (after.id, &after.fingerprint, &after.page_token, after.created_at, after.dice),
            (before.id, &before.fingerprint, &before.page_token, before.created_at, before.dice)
        );
        let order = (&after.order, &before.order);
        assert_eq!((order.0.amount, order.0.method), (order.1.amount, order.1.method));
        assert_eq!(order.0.utm.source.as_deref(), Some("busca"));
        let state = (&after.state, &before.state);
        assert_eq!(state.0.updated_at, state.1.updated_at);
        assert_eq!((state.0.version, state.0.paid_at), (state.1.version, state.1.paid_at));
        assert_eq!(state.0.issued, state.1.issued);
        let told = |payment: &Payment| {
            let events = payment.history.iter();
            events.map(|event| (event.sequence, event.status, event.occurred_at)).collect::<Vec<_>>()
        };
        assert_eq!(told(&after), told(&before));
        assert_eq!((after.due_at(), after.outbox_at()), (before.due_at(), before.outbox_at()));
        assert_eq!(after.rests_since(), None);
        let read: Payment = serde_json::from_str(&serde_json::to_string(&after).unwrap()).unwrap();
        assert_eq!(read, after, "it reads back");
    }
}

fn captured() -> Payment {
    let card = Payment { order: Arc::new(card_order(true)), ..paid() };
    assert_eq!(card.status(), Status::Paid);
    card
}

fn with_status(status: Status, order: Order) -> Payment {
    let mut payment = Payment { order: Arc::new(order), ..pending() };
    Arc::make_mut(&mut payment.state).status = status;
    payment
}

fn declined_card() -> Payment {
    with_status(Status::Declined, card_order(true))
}

fn expired_pix() -> Payment {
    with_status(Status::Expired, pix_order())
}

#[test]
fn only_what_is_finished_is_erased_and_once() {
    let now = START.plus_ms(HALF_A_YEAR_MS * 2);
    let op = Uuid::from_u128(7);
    for status in Status::ALL {
        let payment = with_status(status, pix_order());
        let expected =
            matches!(status, Status::Declined | Status::Refund | Status::Cancelled | Status::Expired);
        let done = payment.erase_payer(now, now, op);
        assert_eq!(matches!(done, Erasure::Erased(_)), expected, "{status}");
        assert!(expected || done == Erasure::NotFinished, "{status}");
        let rests = expected || status == Status::Paid;
        assert_eq!(payment.rests_since(), rests.then_some(payment.state.updated_at), "{status}");
    }
    let paid = paid();
    let paid_at = paid.state.paid_at.unwrap();
    assert_eq!(paid.erase_payer(paid_at.minus_ms(1), now, op), Erasure::NotFinished);
    assert!(matches!(paid.erase_payer(paid_at, now, op), Erasure::Erased(_)));
    let once = erased(&paid, HALF_A_YEAR_MS * 2);
    assert_eq!(once.erase_payer(now, now, op), Erasure::ErasedBefore);
}

#[test]
fn what_a_receiver_answers_to_an_event_that_is_told_again_is_not_kept() {
    let attempt = DeliveryAttempt { answer: Some("outra resposta".into()), ..answered(200, 5) };
    let paid = of_somebody(paid());
    let later_ms = HALF_A_YEAR_MS * 2;
    let erased = erased(&paid, later_ms);
    let again = after(&erased, Command::Redeliver { delivery: DeliveryIndex::FIRST }, later_ms + 1);
    let delivery = DeliveryIndex::at(again.outbox.len() - 1);
    let told = after(&again, Command::DeliveryAnswered { delivery, attempt }, later_ms + 2);
    let kept = told.outbox.last().unwrap().attempts.last().unwrap();
    assert_eq!((kept.status, &kept.answer), (Some(200), &None));
    check_knows_nobody(&told);
}

#[test]
fn what_happens_later_to_a_payment_whose_payer_was_erased_is_learnt_as_before() {
    let later_ms = HALF_A_YEAR_MS * 2;
    let erased = erased(&of_somebody(paid()), later_ms);
    let fact = Fact::ChargedBack { id: "c1".into(), amount: None };
    let disputed = after(&erased, notice(fact), later_ms + 1);
    assert_eq!(disputed.status(), Status::Chargeback);
    assert_eq!(disputed.history.last().unwrap().status, Status::Chargeback);
    let refund =
        OperationRequest { id: operation_id(9), requested: RequestedOperation::Refund(None), key: None };
    let decision = erased.decide(Command::Operate(refund), &at(later_ms + 1)).unwrap();
    assert!(decision.effects.iter().any(|effect| matches!(effect, Effect::Operate(..))), "{decision:?}");
    check_knows_nobody(&decision.next.unwrap());
    check_knows_nobody(&disputed);
}
