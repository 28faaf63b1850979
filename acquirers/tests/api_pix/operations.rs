//! Withdrawals and refunds: sent, and asked for.

use quita_acquirers::exchange::{Failure, Verb};
use quita_domain::acquiring::{CallFailure, ChargeQuery, OperationAnswer, Reference};
use quita_domain::identity::AcquirerName;
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind, Surplus};
use serde_json::{Value, json};

use crate::bank::{E2E, Reply, body};
use crate::world::{REFUND_ID, TXID, World, operation, pix, query};

fn cancel() -> Operation {
    operation(OperationKind::Cancel)
}

fn refund() -> Operation {
    operation(OperationKind::Refund(Money::from_cents(500)))
}

/// The query of a paid charge whose Pix is known.
fn paid_query() -> ChargeQuery {
    let mut query = query(1_000);
    query.reference = Reference::none().with("endToEndId", E2E);
    query
}

fn is_unknown(answer: &OperationAnswer) -> bool {
    matches!(answer, OperationAnswer::Failed(CallFailure::Unknown(_)))
}

fn is_not_delivered(answer: &OperationAnswer) -> bool {
    matches!(answer, OperationAnswer::Failed(CallFailure::NotDelivered(_)))
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_withdrawn_by_its_status_alone_under_the_address_for_revisions() {
    let mut settings = crate::world::settings();
    settings.revision_base_url = "https://pix.bank.example/v2/revisions".into();
    let world = World::with(settings);
    world.charge().await;
    world.bank.next(
        Verb::Patch,
        "/revisions/cob/",
        Reply::Answer(201, json!({"txid": TXID, "status": "REMOVIDA_PELO_USUARIO_RECEBEDOR"})),
    );
    assert_eq!(world.adapter.operate(&query(1_000), &cancel()).await, OperationAnswer::Done);
    assert_eq!(body(&world.bank.last()), json!({"status": "REMOVIDA_PELO_USUARIO_RECEBEDOR"}));
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_that_is_repeated_or_meets_money_is_decided_by_the_charge() {
    let world = World::charged().await;
    assert_eq!(world.adapter.operate(&query(1_000), &cancel()).await, OperationAnswer::Done);
    assert_eq!(world.adapter.operate(&query(1_000), &cancel()).await, OperationAnswer::Done);
    let world = World::paid().await;
    let refused = OperationAnswer::Refused("already_paid".into());
    assert_eq!(world.adapter.operate(&query(1_000), &cancel()).await, refused);
    assert_eq!(world.adapter.inquire_operation(&query(1_000), &cancel()).await, refused);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_that_the_bank_refuses_of_a_charge_that_waits_is_refused() {
    let world = World::charged().await;
    world.bank.next(Verb::Patch, "/cob/", Reply::Answer(422, json!({"mensagem": "hoje não"})));
    let answer = world.adapter.operate(&query(1_000), &cancel()).await;
    assert_eq!(answer, OperationAnswer::Refused("hoje não".into()));
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_is_never_done_because_of_an_answer_that_does_not_say_so() {
    for answer in [
        Reply::Raw(200, ""),
        Reply::Raw(200, "{}"),
        Reply::Answer(200, json!({"txid": TXID, "status": "ATIVA"})),
    ] {
        let world = World::charged().await;
        world.bank.next(Verb::Patch, "/cob/", answer.clone());
        assert!(is_unknown(&world.adapter.operate(&query(1_000), &cancel()).await));
        // Nor can it be said that it did not leave, when the bank can't be asked afterwards.
        world.bank.next(Verb::Patch, "/cob/", answer);
        world.bank.next(Verb::Get, "/cob/", Reply::Fail(Failure::NotSent("refused".into())));
        assert!(is_unknown(&world.adapter.operate(&query(1_000), &cancel()).await));
    }
    let world = World::charged().await;
    world.bank.next(Verb::Patch, "/cob/", Reply::Raw(204, ""));
    world.bank.change(TXID, |cob| cob["status"] = json!("REMOVIDA_PELO_USUARIO_RECEBEDOR"));
    assert_eq!(world.adapter.operate(&query(1_000), &cancel()).await, OperationAnswer::Done);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_whose_answer_is_lost_is_asked_for() {
    let world = World::charged().await;
    world.bank.next(Verb::Patch, "/cob/", Reply::Fail(Failure::Unknown("reset".into())));
    assert!(is_unknown(&world.adapter.operate(&query(1_000), &cancel()).await));
    let asked = world.adapter.inquire_operation(&query(1_000), &cancel()).await;
    assert_eq!(asked, OperationAnswer::NotFound);
    world.bank.next(Verb::Patch, "/cob/", Reply::Lost);
    assert!(is_unknown(&world.adapter.operate(&query(1_000), &cancel()).await));
    assert_eq!(world.adapter.inquire_operation(&query(1_000), &cancel()).await, OperationAnswer::Done);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawal_is_not_believed_of_another_charge() {
    let world = World::charged().await;
    world.next_inquiry(json!({"txid": "7978c0c97ea847e78e8849634473c1f1", "status": "REMOVIDA_PELO_PSP"}));
    assert!(is_unknown(&world.adapter.inquire_operation(&query(1_000), &cancel()).await));
}

#[tokio::test(start_paused = true)]
async fn a_refund_is_put_under_its_own_id_at_the_pix_that_paid() {
    let world = World::paid().await;
    assert_eq!(world.adapter.operate(&paid_query(), &refund()).await, OperationAnswer::Accepted);
    let sent = world.bank.last();
    assert_eq!(crate::bank::path(&sent), format!("/pix/{E2E}/devolucao/{REFUND_ID}"));
    assert_eq!(body(&sent), json!({"valor": "5.00"}));
}

#[tokio::test(start_paused = true)]
async fn the_pix_that_paid_is_asked_for_if_its_name_was_lost() {
    let world = World::paid().await;
    assert_eq!(world.adapter.operate(&query(1_000), &refund()).await, OperationAnswer::Accepted);
    assert_eq!(world.adapter.inquire_operation(&query(1_000), &refund()).await, OperationAnswer::Accepted);
    let world = World::charged().await;
    assert!(is_not_delivered(&world.adapter.operate(&query(1_000), &refund()).await));
    assert_eq!(world.adapter.inquire_operation(&query(1_000), &refund()).await, OperationAnswer::NotFound);
    // Nothing of the refund left.
    world.bank.next(Verb::Get, "/cob/", Reply::Fail(Failure::Unknown("reset".into())));
    assert!(is_not_delivered(&world.adapter.operate(&query(1_000), &refund()).await));
}

#[tokio::test(start_paused = true)]
async fn money_of_another_amount_is_given_back_at_the_pix_that_brought_it() {
    let world = World::charged().await;
    world.pay(json!([pix(E2E, "9.99", "2026-11-21T12:01:00Z")]));
    let surplus = Surplus {
        id: E2E.into(),
        acquirer: AcquirerName::new("bank"),
        reference: Reference::none(),
        taken: Money::from_cents(999),
        given_back: Money::ZERO,
    };
    let given_back =
        Operation { surplus: Some(surplus), ..operation(OperationKind::Refund(Money::from_cents(999))) };
    assert_eq!(world.adapter.operate(&query(1_000), &given_back).await, OperationAnswer::Accepted);
    assert_eq!(crate::bank::path(&world.bank.last()), format!("/pix/{E2E}/devolucao/{REFUND_ID}"));
    assert_eq!(world.adapter.inquire_operation(&query(1_000), &given_back).await, OperationAnswer::Accepted);
}

async fn check_state(refund_at_bank: Value, check: impl Fn(&OperationAnswer) -> bool) {
    let world = World::paid().await;
    world.bank.next(Verb::Put, "/devolucao/", Reply::Answer(201, refund_at_bank.clone()));
    let answer = world.adapter.operate(&paid_query(), &refund()).await;
    assert!(check(&answer), "{refund_at_bank}: {answer:?}");
    world.bank.next(Verb::Get, "/devolucao/", Reply::Answer(200, refund_at_bank.clone()));
    let answer = world.adapter.inquire_operation(&paid_query(), &refund()).await;
    assert!(check(&answer), "{refund_at_bank}: {answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refund_has_states_of_its_own() {
    let of = |status: &str| json!({"id": REFUND_ID, "valor": "5.00", "status": status});
    check_state(of("EM_PROCESSAMENTO"), |answer| *answer == OperationAnswer::Accepted).await;
    check_state(of("DEVOLVIDO"), |answer| *answer == OperationAnswer::Done).await;
    let refused =
        |why: &'static str| move |answer: &OperationAnswer| *answer == OperationAnswer::Refused(why.into());
    check_state(of("NAO_REALIZADO"), refused("not_carried_out")).await;
    let mut with_reason = of("NAO_REALIZADO");
    with_reason["motivo"] = json!("sem saldo na conta 12345-6");
    check_state(with_reason, refused("sem saldo na conta ***")).await;
    check_state(of("OUTRO"), is_unknown).await;
    check_state(json!({}), is_unknown).await;
    check_state(json!({"id": "other", "valor": "5.00", "status": "DEVOLVIDO"}), is_unknown).await;
    check_state(json!({"id": REFUND_ID, "valor": "5.01", "status": "DEVOLVIDO"}), is_unknown).await;
}

#[tokio::test(start_paused = true)]
async fn a_refund_that_the_bank_refuses_is_failed_unless_the_bank_knows_it() {
    let world = World::paid().await;
    world.bank.next(Verb::Put, "/devolucao/", Reply::Answer(400, json!({"detail": "saldo insuficiente"})));
    let answer = world.adapter.operate(&paid_query(), &refund()).await;
    assert_eq!(answer, OperationAnswer::Refused("saldo insuficiente".into()));
    // The same id again is refused by the books, because it is there.
    world.bank.next(Verb::Put, "/devolucao/", Reply::Lost);
    assert!(is_unknown(&world.adapter.operate(&paid_query(), &refund()).await));
    assert_eq!(world.adapter.operate(&paid_query(), &refund()).await, OperationAnswer::Accepted);
    assert_eq!(world.bank.books().refunds.len(), 1);
    // Refused, and the bank can't be asked: it may be the repetition that was refused.
    world.bank.next(Verb::Get, "/devolucao/", Reply::Fail(Failure::NotSent("refused".into())));
    assert!(is_unknown(&world.adapter.operate(&paid_query(), &refund()).await));
}

#[tokio::test(start_paused = true)]
async fn a_repetition_that_is_refused_fails_no_refund_that_the_bank_shows_late() {
    let world = World::paid().await;
    let in_use = || Reply::Answer(409, json!({"detail": "id em uso"}));
    world.bank.next(Verb::Put, "/devolucao/", in_use()).next(Verb::Put, "/devolucao/", in_use());
    let sent = |times: u32| Operation { sent: times, ..refund() };
    let refused = OperationAnswer::Refused("id em uso".into());
    assert_eq!(world.adapter.operate(&paid_query(), &sent(1)).await, refused, "nothing was sent before");
    let perhaps = OperationAnswer::RefusedPerhaps("id em uso".into());
    assert_eq!(world.adapter.operate(&paid_query(), &sent(2)).await, perhaps, "the first one may be done");
}

#[tokio::test(start_paused = true)]
async fn a_refund_is_not_failed_by_what_says_nothing_about_it() {
    type Check = fn(&OperationAnswer) -> bool;
    let not_delivered: Check = is_not_delivered;
    for (status, check) in [
        (403, not_delivered),
        (408, is_unknown),
        (500, is_unknown),
        (429, |answer| matches!(answer, OperationAnswer::Failed(CallFailure::Throttled { .. }))),
    ] {
        let world = World::paid().await;
        world.bank.insists(Verb::Put, "/devolucao/", Reply::Answer(status, json!({})));
        let answer = world.adapter.operate(&paid_query(), &refund()).await;
        assert!(check(&answer), "{status}: {answer:?}");
    }
    let world = World::paid().await;
    let answer = world.adapter.inquire_operation(&paid_query(), &refund()).await;
    assert_eq!(answer, OperationAnswer::NotFound);
    world.bank.next(Verb::Get, "/devolucao/", Reply::Raw(200, "<html>"));
    assert!(is_unknown(&world.adapter.inquire_operation(&paid_query(), &refund()).await));
}

#[tokio::test(start_paused = true)]
async fn a_pix_has_nothing_to_capture() {
    let world = World::charged().await;
    let capture = operation(OperationKind::Capture(Money::from_cents(1_000)));
    let refused = OperationAnswer::Refused("nothing_to_capture".into());
    assert_eq!(world.adapter.operate(&query(1_000), &capture).await, refused);
    assert_eq!(world.adapter.inquire_operation(&query(1_000), &capture).await, refused);
}
