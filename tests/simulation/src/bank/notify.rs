//! Notices: they arrive once or twice, early or late, in any order, and also for unknown payments.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::{Fact, Notice, OperationAnswer};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::operation::{Operation, OperationKind};
use quita_ports::RawNotice;
use tokio::time::sleep;
use uuid::Uuid;

use super::{Bank, payer};
use crate::chance::Fault;
use crate::planted;
use crate::world::World;

/// Longest delay of a notice, in milliseconds.
const LATE_MS: u64 = 60_000;
/// Header that proves the sender of a hint.
pub(super) const AUTHENTICATED_BY: &str = "x-bank";
/// Time that a bank waits before it resends a notice that was not accepted.
const AGAIN: Duration = Duration::from_secs(2);

/// Sends a notice; one that must be reported is not lost, as nothing else would cause an inquiry.
pub(super) fn notify(
    world: &Arc<World>,
    bank: &Bank,
    id: TransactionId,
    event: &str,
    fact: Fact,
    must_be_told: bool,
) {
    if !must_be_told && (world.is_gone(bank.name()) || world.strikes(Fault::NoticeLost)) {
        return;
    }
    if bank.manner.only_hints {
        hint(world, bank, id);
        return;
    }
    let notice = Notice {
        id: format!("{}:{event}-{id}", bank.name()),
        acquirer: bank.name().clone(),
        transaction_id: id,
        fact,
        received_at: world.clock.now(),
    };
    let copies = if world.strikes(Fault::NoticeTwice) { 2 } else { 1 };
    for _ in 0..copies {
        let wait_ms = if world.strikes(Fault::NoticeLate) { world.chance.between(100, LATE_MS) } else { 20 };
        world.errand_of_notice(bring(Arc::clone(world), notice.clone(), wait_ms));
    }
}

/// Sends a hint, which names its subject by our id or by the bank's.
fn hint(world: &Arc<World>, bank: &Bank, id: TransactionId) {
    let is_ours = world.chance.per_mille(500);
    let body = if is_ours { id.to_string() } else { bank.reference(id).get("id").unwrap().to_owned() };
    let copies = if world.strikes(Fault::NoticeTwice) { 2 } else { 1 };
    for _ in 0..copies {
        let wait_ms = if world.strikes(Fault::NoticeLate) { world.chance.between(100, LATE_MS) } else { 20 };
        let world = Arc::clone(world);
        let name = bank.name().clone();
        let body = body.clone();
        Arc::clone(&world).errand_of_notice(async move {
            sleep(Duration::from_millis(wait_ms)).await;
            bring_hint(&world, &name, &body).await;
        });
    }
}

/// Delivers a hint to any node until one has accepted it.
async fn bring_hint(world: &World, bank: &AcquirerName, body: &str) {
    loop {
        if let Some(node) = world.any_node_with(bank) {
            let headers = [(AUTHENTICATED_BY, bank.as_str())];
            let taken = node.call(|payments| async move {
                let notice = RawNotice { path_tail: "", headers: &headers, body: body.as_bytes() };
                payments.take_notice(bank.as_str(), &notice).await
            });
            if matches!(taken.await, Ok(Ok(()))) || planted::takes_first(world) {
                world.note(|| format!("hint about {body} taken by node {}", node.place));
                return;
            }
        }
        sleep(AGAIN).await;
    }
}

/// Delivers a notice to any node until one has accepted it.
async fn bring(world: Arc<World>, notice: Notice, wait_ms: u64) {
    sleep(Duration::from_millis(wait_ms)).await;
    loop {
        if let Some(node) = world.any_node_with(&notice.acquirer) {
            let sent = planted::taken(&world, notice.clone());
            let taken = node.call(|payments| async move { payments.submit(sent).await }).await;
            if matches!(taken, Ok(Ok(_))) {
                world.note(|| format!("notice {} taken by node {}", notice.id, node.place));
                return;
            }
        }
        sleep(AGAIN).await;
    }
}

/// Sends the notices that follow an operation: a bank reports refunds and captures by notices too.
pub(super) fn after_operation(
    world: &Arc<World>,
    bank: &Arc<Bank>,
    id: TransactionId,
    operation: &Operation,
    answer: &OperationAnswer,
) {
    if *answer != OperationAnswer::Done || operation.sent > 1 {
        return;
    }
    match operation.kind {
        OperationKind::Cancel => notify(world, bank, id, "cancelled", Fact::Cancelled, false),
        OperationKind::Capture(_) => payer::captured(world, bank, id, false),
        OperationKind::Refund(amount) => {
            let refund_id = operation.id.to_string();
            let event = format!("refunded-{refund_id}");
            notify(world, bank, id, &event, Fact::Refunded { refund_id, amount: Some(amount) }, false);
        }
    }
}

/// Sends a notice of a payment that is unknown here.
pub(crate) fn strange_notice(world: &Arc<World>, bank: &Bank) {
    let id = TransactionId::new(Uuid::from_u128(u128::from(world.chance.any())));
    notify(world, bank, id, "strange", Fact::ChargedBack { id: "strange".into(), amount: None }, true);
}
