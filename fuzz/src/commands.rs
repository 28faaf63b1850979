//! Bytes made into what payments are told: small pools of ids and amounts, so that they meet each other.

use chrono::{Days, NaiveDate};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use quita_domain::acquiring::{
    Approval, CallFailure, ChargeAnswer, Fact, Issued, OperationAnswer, Settlement,
};
use quita_domain::delivery::DeliveryAttempt;
use quita_domain::money::Money;
use quita_domain::operation::{OperationRequest, Wish};
use quita_domain::payment::{Command, Context, Payment};
use quita_domain::slip::IssuedBoleto;
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::samples::START;

/// Reads what happens next, as it could happen to this payment.
pub fn command(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Command> {
    Ok(match input.int_in_range(0..=12_u8)? {
        0 | 1 => {
            Command::ChargeAnswered { attempt: attempt(input, payment)?, answer: answer(input, payment)? }
        }
        2 | 3 => Command::Found {
            attempt: attempt(input, payment)?,
            asking_for_ms: input.ratio(3, 4)?.then_some(input.int_in_range(0..=80_000_u64)?),
            answer: answer(input, payment)?,
        },
        4 | 5 => Command::Notified(fact(input, payment)?),
        6 | 7 => Command::Operate(request(input)?),
        8 => operation_answered(input, payment)?,
        9 => Command::DeliveryAnswered { delivery: place(input, payment)?, attempt: delivered(input)? },
        10 => Command::Redeliver { delivery: place(input, payment)? },
        11 => Command::Ask,
        _ => Command::Wake,
    })
}

/// Reads when it happens: mostly a little later, sometimes before, sometimes at the ends of time.
pub fn context(input: &mut Unstructured<'_>, last: Timestamp, op: u128) -> Result<Context> {
    let now = match input.int_in_range(0..=9_u8)? {
        0..=4 => last.plus_ms(input.int_in_range(0..=2_000_u64)?),
        5 => last.plus_ms(input.int_in_range(0..=40_000_u64)?),
        6 => last.plus_ms(input.int_in_range(0..=40 * 86_400_000_u64)?),
        7 => Timestamp::from_millis(START.millis() - i64::from(input.arbitrary::<u32>()?)),
        8 => Timestamp::from_millis(input.arbitrary()?),
        _ => last,
    };
    let op = Uuid::from_u128(op);
    Ok(Context { now, dice: input.arbitrary()?, op, card_at_hand: input.ratio(3, 4)? })
}

fn attempt(input: &mut Unstructured<'_>, payment: &Payment) -> Result<u32> {
    let last = u32::try_from(payment.state.attempts.len()).unwrap_or(u32::MAX);
    if input.ratio(7, 8)? { Ok(last) } else { input.int_in_range(0..=last.saturating_add(1)) }
}

fn answer(input: &mut Unstructured<'_>, payment: &Payment) -> Result<ChargeAnswer> {
    let why = || String::from("why");
    Ok(match input.int_in_range(0..=6_u8)? {
        0..=2 => ChargeAnswer::Known(fact(input, payment)?),
        3 => ChargeAnswer::NotFound,
        4 => ChargeAnswer::Failed(CallFailure::NotDelivered(why())),
        5 => ChargeAnswer::Failed(CallFailure::Withheld),
        _ => ChargeAnswer::Failed(CallFailure::Unknown(why())),
    })
}

/// Reads what an acquirer states.
pub fn fact(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Fact> {
    Ok(match input.int_in_range(0..=9_u8)? {
        0 => Fact::Pending { issued: issued(input)?, news_at: news_at(input)? },
        1 => Fact::Authorized(approval()),
        2 | 3 => Fact::Settled(Settlement {
            id: name(input, "settlement")?,
            amount: amount(input, payment.order.amount)?,
            end_to_end_id: None,
            approval: input.arbitrary::<bool>()?.then(approval),
        }),
        4 => Fact::Declined { code: String::from("insufficient_funds") },
        5 => Fact::Expired,
        6 => Fact::Cancelled,
        7 => {
            Fact::Refunded { refund_id: refund_id(input, payment)?, amount: perhaps_amount(input, payment)? }
        }
        8 => Fact::ChargedBack { id: format!("c{}", input.int_in_range(0..=1_u8)?) },
        _ => Fact::DisputeWon { id: format!("w{}", input.int_in_range(0..=1_u8)?) },
    })
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
    Ok(Issued::Boleto(IssuedBoleto {
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
    }))
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

/// One of the acquirer's own, or one that we asked for.
fn refund_id(input: &mut Unstructured<'_>, payment: &Payment) -> Result<String> {
    let ours = payment.operations.iter().map(|operation| operation.id.to_string());
    let told = payment.state.refunds.iter().map(|refund| refund.id.clone());
    let known: Vec<_> = ours.chain(told).collect();
    if known.is_empty() || input.arbitrary()? { name(input, "refund") } else { input.choose(&known).cloned() }
}

/// Around the whole, around nothing, and anything.
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

fn request(input: &mut Unstructured<'_>) -> Result<OperationRequest> {
    let whole = Money::from_cents(10_000);
    let wish = match input.int_in_range(0..=4_u8)? {
        0 => Wish::Cancel,
        1 => Wish::Capture(None),
        2 => Wish::Capture(Some(amount(input, whole)?)),
        3 => Wish::Refund(None),
        _ => Wish::Refund(Some(amount(input, whole)?)),
    };
    let key = if input.arbitrary()? { Some(name(input, "key")?) } else { None };
    let id = Uuid::from_u128(0x1000 + u128::from(input.arbitrary::<u16>()?));
    Ok(OperationRequest { id, wish, key })
}

fn operation_answered(input: &mut Unstructured<'_>, payment: &Payment) -> Result<Command> {
    let ids: Vec<_> = payment.operations.iter().map(|operation| operation.id).collect();
    let operation = if ids.is_empty() { Uuid::nil() } else { *input.choose(&ids)? };
    let why = || String::from("why");
    let answer = match input.int_in_range(0..=5_u8)? {
        0 | 1 => OperationAnswer::Done,
        2 => OperationAnswer::Refused(why()),
        3 => OperationAnswer::Failed(CallFailure::NotDelivered(why())),
        4 => OperationAnswer::Failed(CallFailure::Withheld),
        _ => OperationAnswer::Failed(CallFailure::Unknown(why())),
    };
    Ok(Command::OperationAnswered { operation, answer })
}

fn place(input: &mut Unstructured<'_>, payment: &Payment) -> Result<u32> {
    let length = u32::try_from(payment.outbox.len()).unwrap_or(u32::MAX);
    if input.ratio(15, 16)? { input.int_in_range(0..=length) } else { input.arbitrary() }
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
