//! Fuzz input as commands to payments: small pools of ids and amounts, so that they collide.

use chrono::{Days, NaiveDate};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use quita_domain::acquiring::{
    Approval, CallFailure, ChargeAnswer, Decline, DeclineKind, Fact, Issued, OperationAnswer, Reference,
    RemovedBy, Settlement, Statement,
};
use quita_domain::delivery::{DeliveryAttempt, Lease};
use quita_domain::identity::{AcquirerName, OperationId};
use quita_domain::money::Money;
use quita_domain::numbering::{AttemptNumber, DeliveryIndex};
use quita_domain::operation::{Operation, OperationKind, OperationRequest, RequestedOperation, Verdict};
use quita_domain::payment::{Command, Context, Inquiring, Payment, Report};
use quita_domain::routing::CardTries;
use quita_domain::slip::IssuedBoleto;
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::samples::{Choice, START};

/// Reads the next command, as it could happen to this payment.
pub fn command(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Command> {
    Ok(match input.int_in_range(0..=15_u8)? {
        0 | 1 => {
            Command::ChargeAnswered { attempt: attempt(input, payment)?, answer: answer(input, payment)? }
        }
        2 | 3 => Command::Inquired {
            attempt: attempt(input, payment)?,
            asked_at: asked_at(input, payment)?,
            inquiring: inquiring(input)?,
            answer: answer(input, payment)?,
        },
        4 | 5 => Command::Notified { fact: fact(input, payment)?, acquirer: acquirer(input, payment)? },
        6 | 7 => Command::Operate(request(input, payment)?),
        8 => operation_answered(input, payment)?,
        9 => Command::DeliveryAnswered { delivery: place(input, payment)?, attempt: delivered(input)? },
        10 if input.arbitrary()? => Command::Deliver { held: held(input, payment)? },
        10 => Command::Redeliver { delivery: place(input, payment)? },
        11 => Command::InquireNow,
        13 if !payment.operations.is_empty() => operation_resolved(input, payment)?,
        12 if !payment.reports.is_empty() && input.arbitrary()? => {
            Command::Reported(payment.reports.iter().take(1).map(Report::key).collect())
        }
        12 if payment.waits_for_a_person() => Command::MismatchEnded,
        12 | 13 => Command::Wake,
        14 => operation_inquired(input, payment)?,
        _ => Command::Hinted { acquirer: acquirer(input, payment)?, charge: Reference::none() },
    })
}

/// Reads the context of a command. Its time is mostly a little later, sometimes earlier, sometimes at the limits of
/// time.
pub fn context(
    input: &mut Unstructured<'_>,
    choice: Choice,
    payment: &Payment,
    command: &Command,
    op: u128,
) -> Result<Context> {
    let last = payment.state.updated_at;
    let now = match input.int_in_range(0..=9_u8)? {
        0..=4 => last.plus_ms(input.int_in_range(0..=2_000_u64)?),
        5 => last.plus_ms(input.int_in_range(0..=40_000_u64)?),
        6 => last.plus_ms(input.int_in_range(0..=40 * 86_400_000_u64)?),
        7 => Timestamp::from_millis(START.millis() - i64::from(input.arbitrary::<u32>()?)),
        8 => Timestamp::from_millis(input.arbitrary()?),
        _ => last,
    };
    let dice = input.arbitrary()?;
    let card_at_hand = input.ratio(3, 4)?;
    let tries = CardTries { in_a_day: input.int_in_range(0..=8)?, in_30_days: input.int_in_range(0..=40)? };
    let card_tries = input.ratio(3, 4)?.then_some(tries);
    let is_told_elsewhere =
        command.told_by(payment).is_some_and(|acquirer| Some(acquirer) != payment.acquirer());
    Ok(Context {
        now,
        dice,
        op: Uuid::from_u128(op),
        card_at_hand,
        operates_in_turn: choice.in_turn,
        charge_name: choice.charge_name(),
        charge_name_there: choice.charge_name().filter(|_| command.told_by(payment).is_some()),
        is_one_account: choice.one_account && is_told_elsewhere,
        // The value lies within the range that `inquiring` draws.
        refund_shows_after_ms: if choice.in_turn { 60_000 } else { 0 },
        hint_gap_ms: 2_000,
        asked_at: None,
        reads_approved: choice.in_turn,
        looks_at_paid: choice.in_turn,
        states_cost: choice.in_turn,
        card_tries,
    })
}

/// Reads an acquirer. It is mostly the one with the charge, otherwise any other in the routing, or an unknown one.
fn acquirer(input: &mut Unstructured<'_>, payment: &Payment) -> Result<AcquirerName> {
    let number = input.int_in_range(0..=15_u8)?;
    let present = payment.acquirer().filter(|_| number > 3).cloned();
    Ok(present.unwrap_or_else(|| AcquirerName::new(format!("acquirer-{}", number % 4))))
}

/// Reads an inquiry: mostly the newest one, otherwise an older one, or none.
fn asked_at(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Option<Timestamp>> {
    Ok(match input.int_in_range(0..=7_u8)? {
        0 => None,
        1 => Some(START.plus_ms(input.int_in_range(0..=100_000_u64)?)),
        _ => payment.inquired_at,
    })
}

/// Reads the time for which inquiries have been made: around the accepted minimum, or none at all.
fn inquiring(input: &mut Unstructured<'_>) -> Result<Option<Inquiring>> {
    if !input.ratio(3, 4)? {
        return Ok(None);
    }
    Ok(Some(Inquiring { call_is_over: input.ratio(3, 4)?, for_ms: input.int_in_range(0..=80_000)? }))
}

fn attempt(input: &mut Unstructured<'_>, payment: &Payment) -> Result<AttemptNumber> {
    let last = payment.last_attempt();
    if input.ratio(7, 8)? {
        return Ok(last);
    }
    Ok(AttemptNumber::new(input.int_in_range(0..=last.get().saturating_add(1))?))
}

fn answer(input: &mut Unstructured<'_>, payment: &Payment) -> Result<ChargeAnswer> {
    Ok(match input.int_in_range(0..=13_u8)? {
        0..=2 => ChargeAnswer::known(fact(input, payment)?),
        3 => {
            let facts = (0..input.int_in_range(1..=4_u8)?).map(|_| fact(input, payment));
            let facts = facts.collect::<Result<_>>()?;
            ChargeAnswer::Known(Statement { facts, reference: reference(input)? })
        }
        // Uses no input, so that inputs of earlier runs keep their meaning.
        4 if payment.revision.is_multiple_of(2) => ChargeAnswer::UnderReview(reference(input)?),
        4 => ChargeAnswer::Accepted(reference(input)?),
        5 => ChargeAnswer::Refused(why()),
        6 => ChargeAnswer::NotFound,
        7 => ChargeAnswer::WithoutCode(reference(input)?),
        8 => ChargeAnswer::Foreign(why()),
        9 => ChargeAnswer::Mismatched(why()),
        10 => ChargeAnswer::NumberTaken(why()),
        _ => ChargeAnswer::Failed(failure(input)?),
    })
}

/// Reads any failure of a call.
fn failure(input: &mut Unstructured<'_>) -> Result<CallFailure> {
    Ok(match input.int_in_range(0..=3_u8)? {
        0 => CallFailure::NotDelivered(why()),
        1 => CallFailure::Unknown(why()),
        2 => CallFailure::Throttled { after_ms: input.arbitrary()? },
        _ => CallFailure::Withheld,
    })
}

fn why() -> String {
    String::from("why")
}

fn reference(input: &mut Unstructured<'_>) -> Result<Reference> {
    Ok(Reference::none().with(&name(input, "name")?, &name(input, "value")?))
}

/// Reads a fact that an acquirer states.
pub fn fact(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Fact> {
    Ok(match input.int_in_range(0..=12_u8)? {
        0 => Fact::Pending { issued: issued(input)?, news_at: news_at(input)? },
        1 => Fact::Authorized(approval()),
        2 | 3 => Fact::Settled(Settlement {
            id: name(input, "settlement")?,
            amount: amount(input, payment.order.amount)?,
            paid_on: input.arbitrary::<bool>()?.then(|| START.plus_ms(10 * 86_400_000).sao_paulo_date()),
            end_to_end_id: None,
            approval: input.arbitrary::<bool>()?.then(approval),
        }),
        4 => Fact::Declined(Decline {
            network_code: input.arbitrary::<bool>()?.then(|| String::from("51")),
            advice: input.ratio(1, 4)?.then(|| String::from("03")),
            kind: match input.int_in_range(0..=3_u8)? {
                0 => None,
                1 => Some(DeclineKind::Irreversible),
                _ => Some(DeclineKind::Reversible),
            },
            ..Decline::of("insufficient_funds")
        }),
        5 => Fact::Expired,
        6 => Fact::Cancelled,
        7 => {
            Fact::Refunded { refund_id: refund_id(input, payment)?, amount: perhaps_amount(input, payment)? }
        }
        8 => Fact::Removed { by: *input.choose(&[RemovedBy::Receiver, RemovedBy::Acquirer])? },
        9 => Fact::Concluded,
        12 => Fact::RefundedInTotal {
            refund_id: refund_id(input, payment)?,
            total: amount(input, payment.order.amount)?,
        },
        10 => Fact::ChargedBack { id: chargeback_id(input)?, amount: perhaps_amount(input, payment)? },
        _ => Fact::DisputeWon {
            id: format!("w{}", input.int_in_range(0..=2_u8)?),
            chargeback_id: if input.arbitrary()? { Some(chargeback_id(input)?) } else { None },
        },
    })
}

fn chargeback_id(input: &mut Unstructured<'_>) -> Result<String> {
    Ok(format!("c{}", input.int_in_range(0..=2_u8)?))
}

fn approval() -> Approval {
    Approval { authorization_code: String::from("123456") }
}

fn issued(input: &mut Unstructured<'_>) -> Result<Issued> {
    if input.arbitrary()? {
        let expires_at = START.plus_ms(input.int_in_range(0..=7_200_000_u64)?);
        return Ok(Issued::Pix { txid: "t".repeat(32), code: String::from("code"), expires_at });
    }
    let days = Days::new(if input.ratio(7, 8)? { input.int_in_range(0..=60)? } else { input.arbitrary()? });
    let start = START.sao_paulo_date();
    let text = || String::from("1");
    Ok(Issued::Boleto(Box::new(IssuedBoleto {
        barcode: text(),
        digitable_line: text(),
        due_date: start.checked_add_days(days).unwrap_or(NaiveDate::MAX),
        our_number: text(),
        portfolio: text(),
        agency_and_account: text(),
        bank_code: text(),
        bank_name: text(),
        beneficiary_name: text(),
        beneficiary_document: text(),
        beneficiary_address: text(),
        pix_code: None,
    })))
}

fn news_at(input: &mut Unstructured<'_>) -> Result<Option<Timestamp>> {
    Ok(match input.int_in_range(0..=2_u8)? {
        0 => None,
        1 => Some(START.plus_ms(input.int_in_range(0..=100_000_u64)?)),
        _ => Some(Timestamp::from_millis(input.arbitrary()?)),
    })
}

fn name(input: &mut Unstructured<'_>, what: &str) -> Result<String> {
    Ok(format!("{what}-{}", input.int_in_range(0..=2_u8)?))
}

/// Reads the id of a refund: one of the acquirer's own, or one that we requested.
fn refund_id(input: &mut Unstructured<'_>, payment: &Payment) -> Result<String> {
    let ours = payment.operations.iter().map(|operation| operation.id.to_string());
    let told = payment.state.refunds.iter().map(|refund| refund.id.clone());
    let known: Vec<_> = ours.chain(told).collect();
    if known.is_empty() || input.arbitrary()? { name(input, "refund") } else { input.choose(&known).cloned() }
}

/// Reads an amount: near the whole, near zero, or any other.
fn amount(input: &mut Unstructured<'_>, whole: Money) -> Result<Money> {
    let whole = whole.cents();
    let cents = match input.int_in_range(0..=9_u8)? {
        0..=4 => whole,
        5 => whole.saturating_add(1),
        6 => whole.saturating_sub(1),
        7 => whole / 2,
        8 => input.int_in_range(0..=3_u64)?,
        _ => input.arbitrary()?,
    };
    Ok(Money::from_cents(cents))
}

fn perhaps_amount(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Option<Money>> {
    if input.arbitrary()? { amount(input, payment.order.amount).map(Some) } else { Ok(None) }
}

/// Reads a request: a new one, or a repeated one. An id belongs to one request.
fn request(input: &mut Unstructured<'_>, payment: &Payment) -> Result<OperationRequest> {
    let whole = Money::from_cents(10_000);
    let requested = match input.int_in_range(0..=4_u8)? {
        0 => RequestedOperation::Cancel,
        1 => RequestedOperation::Capture(None),
        2 => RequestedOperation::Capture(Some(amount(input, whole)?)),
        3 => RequestedOperation::Refund(None),
        _ => RequestedOperation::Refund(Some(amount(input, whole)?)),
    };
    let key = if input.arbitrary()? { Some(name(input, "key")?) } else { None };
    let id = OperationId::new(Uuid::from_u128(0x1000 + u128::from(input.arbitrary::<u16>()?)));
    let known = payment.operations.iter().find(|operation| operation.id == id);
    Ok(known.map_or(OperationRequest { id, requested, key }, request_of))
}

fn request_of(operation: &Operation) -> OperationRequest {
    let requested = match operation.kind {
        OperationKind::Cancel => RequestedOperation::Cancel,
        OperationKind::Capture(_) => RequestedOperation::Capture(operation.asked_amount),
        OperationKind::Refund(_) => RequestedOperation::Refund(operation.asked_amount),
    };
    OperationRequest { id: operation.id, requested, key: operation.key.clone() }
}

fn operation_answered(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Command> {
    let (operation, sending) = sending(input, payment)?;
    Ok(Command::OperationAnswered { operation, sending, answer: operation_answer(input)? })
}

fn operation_inquired(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Command> {
    let (operation, sending) = sending(input, payment)?;
    let inquiring = inquiring(input)?;
    let answer = operation_answer(input)?;
    Ok(Command::OperationInquired { operation, sending, inquiring, answer })
}

/// Picks an operation and one of its requests: the last one, an earlier one, or one that never was.
fn sending(input: &mut Unstructured<'_>, payment: &Payment) -> Result<(OperationId, u32)> {
    let operation = operation(input, payment)?;
    let known = payment.operations.iter().find(|known| known.id == operation);
    let last = known.map_or(0, Operation::sending);
    let sending = if input.ratio(7, 8)? { last } else { input.int_in_range(0..=last.saturating_add(1))? };
    Ok((operation, sending))
}

fn operation_resolved(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Command> {
    let verdict = *input.choose(&Verdict::ALL)?;
    Ok(Command::OperationResolved { operation: operation(input, payment)?, verdict })
}

fn operation(input: &mut Unstructured<'_>, payment: &Payment) -> Result<OperationId> {
    let ids: Vec<_> = payment.operations.iter().map(|operation| operation.id).collect();
    if ids.is_empty() { Ok(OperationId::new(Uuid::nil())) } else { input.choose(&ids).copied() }
}

fn operation_answer(input: &mut Unstructured<'_>) -> Result<OperationAnswer> {
    Ok(match input.int_in_range(0..=8_u8)? {
        0 | 1 => OperationAnswer::Done,
        2 => OperationAnswer::Accepted,
        3 => OperationAnswer::Refused(why()),
        4 | 5 => OperationAnswer::NotFound,
        6 => OperationAnswer::Contradicted(why()),
        _ => OperationAnswer::Failed(failure(input)?),
    })
}

fn place(input: &mut Unstructured<'_>, payment: &Payment) -> Result<DeliveryIndex> {
    let after_last = DeliveryIndex::at(payment.outbox.len()).get();
    let index = if input.ratio(15, 16)? { input.int_in_range(0..=after_last)? } else { input.arbitrary()? };
    Ok(DeliveryIndex::new(index))
}

/// Reads leases that are held, and others.
fn held(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Vec<Lease>> {
    let lease = |input: &mut Unstructured<'_>| {
        let delivery = place(input, payment)?;
        let known = payment.delivery(delivery);
        let ends_at =
            known.and_then(|delivery| delivery.next_attempt_at).filter(|_| input.ratio(3, 4) == Ok(true));
        Ok(Lease { delivery, ends_at: ends_at.unwrap_or(START) })
    };
    (0..input.int_in_range(0..=2_u8)?).map(|_| lease(input)).collect()
}

fn delivered(input: &mut Unstructured<'_>) -> Result<DeliveryAttempt> {
    let status = match input.int_in_range(0..=4_u8)? {
        0 | 1 => Some(200),
        2 => Some(410),
        3 => Some(503),
        _ => None,
    };
    let at = START.plus_ms(input.int_in_range(0..=100_000_u64)?);
    let error = status.is_none().then(|| String::from("timeout"));
    let retry_after_ms = if input.arbitrary()? { Some(input.arbitrary()?) } else { None };
    Ok(DeliveryAttempt { at, duration_ms: 5, status, error, answer: None, retry_after_ms })
}
