//! Payments in which every field is set. No field uses a default here, so a new one must be set too.

use std::sync::Arc;

use quita_domain::acquiring::{Decline, DeclineKind, Issued, Reference};
use quita_domain::card::token::UsedToken;
use quita_domain::card::{Brand, CardFingerprint, CardNumber, MaskedCard};
use quita_domain::delivery::{Delivery, DeliveryAttempt, DeliveryState};
use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::event::{Cause, EndedRefund, Event};
use quita_domain::identity::{AcquirerName, LinkId, Mode, OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::{DeliveryIndex, EventSequence};
use quita_domain::operation::{Operation, OperationKind, Surplus, Verdict};
use quita_domain::order::{Address, Order, Payer, Share, Split, Terms, Utm};
use quita_domain::outbound_call::{OutboundCall, Progress};
use quita_domain::payment::{
    Chargeback, Check, DiscrepancyKind, Payment, Planned, Report, SecondLook, WonDispute,
};
use quita_domain::routing::{
    Approvals, Attempt, ChargeEnd, Condition, Considered, Routed, RoutingTable, Saw,
};
use quita_domain::slip::IssuedBoleto;
use quita_domain::state::{Refund, RefundStatus, State};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use uuid::Uuid;

use quita_store_contract::samples::Sample;

/// Returns payments with each method, each kind of operation, each call of one, and numbers that need all their bits.
pub fn payments() -> Vec<Payment> {
    payments_under(std::array::from_fn(|_| TransactionId::new(Uuid::now_v7())))
}

/// Returns the same payments with these ids.
pub fn payments_under(ids: [TransactionId; 4]) -> Vec<Payment> {
    use OperationKind::{Cancel, Capture, Refund};
    use Progress::{Ready, Sent, Taken, Unknown};
    let variants = [
        Variant {
            id: ids[0],
            dice: u64::MAX,
            planned: Planned::At(at(70)),
            kind: Refund(cents(250)),
            call: Ready,
            terms: card(),
            issued: pix(),
        },
        Variant {
            id: ids[1],
            dice: 1 << 63,
            planned: Planned::Never,
            kind: Capture(cents(9_999_999_999)),
            call: Sent,
            terms: Terms::Boleto(every_term()),
            issued: slip(),
        },
        Variant {
            id: ids[2],
            dice: i64::MAX.cast_unsigned(),
            planned: Planned::At(at(i64::MAX)),
            kind: Cancel,
            call: Unknown,
            terms: card(),
            issued: slip(),
        },
        Variant {
            id: ids[3],
            dice: 1,
            planned: Planned::At(at(-1)),
            kind: Cancel,
            call: Taken,
            terms: Terms::Pix { expires_in_s: 60 },
            issued: pix(),
        },
    ];
    variants.map(payment).into()
}

fn won(names_chargeback: bool) -> WonDispute {
    WonDispute { id: String::from("w-1"), names_chargeback, learnt_at: Some(at(46)) }
}

fn chargeback(id: &str, amount: Option<Money>, won: WonDispute) -> Chargeback {
    Chargeback { id: id.into(), amount, learnt_at: Some(at(45)), won: Some(won) }
}

/// Differences between the payments.
struct Variant {
    id: TransactionId,
    dice: u64,
    planned: Planned,
    kind: OperationKind,
    call: Progress<Verdict>,
    terms: Terms,
    issued: Issued,
}

fn payment(variant: Variant) -> Payment {
    let Variant { id, dice, planned, kind, call, terms, issued } = variant;
    let Payment { last_op, owner, order, page_token, .. } = Sample { id, ..Sample::default() }.open();
    let considered =
        Considered { acquirer: AcquirerName::new("sandbox"), eligible: false, reason: "throttled".into() };
    let state = state(Status::Paid, issued);
    let number = CardNumber::parse("4242424242424242").unwrap();
    Payment {
        id,
        revision: 1,
        last_op,
        owner,
        order: Arc::new(complete_order(&order, terms)),
        fingerprint: Some("f".repeat(64)),
        card_fingerprint: Some(CardFingerprint::of(&number, Mode::Test, b"key")),
        used_token: Some(UsedToken::of(id.uuid().as_bytes(), b"key")),
        page_token,
        link: Some(LinkId::new(uuid::Uuid::from_u128(77))),
        created_at: at(1_000),
        considered: Arc::new([considered]),
        routed: Arc::new(routed()),
        dice,
        check: Some(Check { at: at(60), made: 3, withheld: true, planned: Some(planned), asked: 2 }),
        inquired_at: Some(at(61)),
        hinted: true,
        hidden: true,
        concluded: true,
        concluded_since: Some(Timestamp::from_millis(1_795_262_400_000)),
        mismatches: 2,
        others: vec![Reference::none().with("paymentId", "sale-2")],
        bound_pix: vec![format!("E{}", id.uuid().simple())],
        foreign_pix: vec![String::from("E1234567820261121120000000000009")],
        second_look: Some(SecondLook {
            acquirer: AcquirerName::new("sandbox"),
            at: at(62),
            planned: Some(at(63)),
            made: 1,
        }),
        chargebacks: vec![
            chargeback("c-1", Some(cents(300)), won(true)),
            chargeback("c-2", None, won(false)),
        ],
        operations: vec![operation(kind, call)],
        history: vec![event(1, Some(state.clone())), event(2, None)],
        outbox: vec![delivery(1, DeliveryState::Exhausted), delivery(2, DeliveryState::Pending)],
        reports: vec![report()],
        erased_at: Some(Timestamp::from_millis(28)),
        state: Arc::new(state),
    }
}

fn report() -> Report {
    Report {
        kind: DiscrepancyKind::RefundedAndChargedBack,
        cause: String::from("r-1 c-1"),
        detail: String::from("refund r-1 of 2.50 was done, and chargeback c-1 took 3.00 back"),
        acquirer: Some(AcquirerName::new("sandbox")),
        found_at: at(62),
        due_at: at(122),
    }
}

fn every_term() -> DueTerms {
    let day = |ms: i64| at(ms).sao_paulo_date();
    DueTerms {
        due_date: day(9),
        payable_after_due_days: 180,
        fine: Some(Portion::BasisPoints(200)),
        interest: Some(Interest::AmountPerDay(cents(10))),
        discounts: vec![
            Discount { until: day(7), portion: Portion::Amount(cents(500)) },
            Discount { until: day(8), portion: Portion::BasisPoints(1) },
        ],
        instructions: vec![String::from("não receber após 30 dias")],
    }
}

fn complete_order(order: &Order, terms: Terms) -> Order {
    let text = |text: &str| Some(String::from(text));
    let split = |share| Split { recipient_id: String::from("r-1"), share };
    let address = order.payer.address.clone().map(|address| Address { complement: text("ap. 7"), ..address });
    Order {
        method: match terms {
            Terms::Pix { .. } | Terms::DuePix(_) => Method::Pix,
            Terms::Boleto(_) => Method::Boleto,
            Terms::CreditCard { .. } => Method::CreditCard,
        },
        amount: cents(i64::MAX.cast_unsigned()),
        payer: Payer { address, ..order.payer.clone() },
        items: order.items.clone(),
        shipping_fee: Some(cents(1)),
        splits: vec![split(Share::Amount(cents(7))), split(Share::BasisPoints(1_250))],
        utm: Utm {
            source: text("s"),
            medium: text("m"),
            campaign: text("c"),
            term: text("t"),
            content: text("ç"),
        },
        postback_url: text("https://loja.example/quita"),
        external_reference: text("pedido-1"),
        metadata: order.metadata.clone(),
        terms,
    }
}

fn state(status: Status, issued: Issued) -> State {
    let refund = Refund {
        id: String::from("r-1"),
        amount: cents(250),
        status: RefundStatus::Failed,
        created_at: at(50),
        failure_reason: Some(String::from("conta encerrada")),
    };
    State {
        version: u32::MAX,
        status,
        status_reason: Some(String::from("late_settlement")),
        updated_at: at(55),
        paid_at: Some(at(40)),
        refunded_at: Some(at(41)),
        chargeback_at: Some(at(42)),
        cancelled_at: Some(at(43)),
        expired_at: Some(at(44)),
        issued: Some(Arc::new(issued)),
        captured_amount: Some(cents(10_000)),
        paid_amount: Some(cents(10_233)),
        settlement_id: Some(String::from("s-1")),
        end_to_end_id: Some("E".repeat(32)),
        authorization_code: Some(String::from("A1")),
        decline: Some(decline()),
        refunds: vec![refund],
        attempts: vec![attempt(Progress::Ended(ChargeEnd::NotDelivered)), attempt(Progress::Taken)],
        paid_on: Some(at(40).sao_paulo_date()),
        cost: Some(cents(133)),
    }
}

fn decline() -> Decline {
    Decline {
        code: String::from("insufficient_funds"),
        kind: Some(DeclineKind::Reversible),
        network_code: Some(String::from("51")),
        advice: Some(String::from("03")),
    }
}

fn routed() -> Routed {
    Routed {
        rule: Some("cards".into()),
        version: Some(RoutingTable::default().version()),
        retries_declines: true,
        saw: Saw::of([(Condition::Failing, Approvals { approved: 1, tries: 200 })].into_iter()),
    }
}

fn attempt(progress: Progress<ChargeEnd>) -> Attempt {
    Attempt {
        acquirer: AcquirerName::new("sandbox"),
        at: at(10),
        call: call(progress, "recusado"),
        decline: Some(decline()),
        without_code: true,
        under_review: true,
        // MongoDB's own paths and operators contain dots and dollar signs.
        reference: Reference::none().with("txid", "t-1").with("$payment.id", "a.b"),
        our_number: Some(u32::MAX),
    }
}

fn call<E>(progress: Progress<E>, refusal: &str) -> OutboundCall<E> {
    OutboundCall {
        progress,
        is_over: true,
        inquiries: 2,
        not_found: 1,
        next_at: Some(at(80)),
        refusal: Some(refusal.into()),
    }
}

fn operation(kind: OperationKind, progress: Progress<Verdict>) -> Operation {
    Operation {
        id: OperationId::new(Uuid::from_u128(1)),
        kind,
        key: Some(String::from("k-1")),
        asked_amount: Some(cents(250)),
        requested_at: at(45),
        before: cents(9_999_999_999),
        sent: 4,
        withheld: 2,
        call: call(progress, "sem saldo"),
        resolved_by_operator: true,
        surplus: Some(Surplus {
            id: String::from("sale-1"),
            acquirer: AcquirerName::new("sandbox"),
            reference: Reference::none().with("paymentId", "sale-1"),
            taken: cents(250),
            given_back: cents(50),
        }),
        contradicted: true,
    }
}

fn event(sequence: u32, snapshot: Option<State>) -> Event {
    let refund = EndedRefund {
        refund_id: String::from("r-1"),
        amount: cents(250),
        status: RefundStatus::Failed,
        failure_reason: Some(String::from("conta encerrada")),
    };
    Event {
        sequence: EventSequence::new(sequence),
        status: Status::Paid,
        previous_status: Status::Paid,
        occurred_at: at(50),
        reason: Some(String::from("late_settlement")),
        actor: Cause::Acquirer,
        refund: Some(refund),
        snapshot: snapshot.map(Arc::new),
    }
}

fn delivery(sequence: u32, state: DeliveryState) -> Delivery {
    let attempt = DeliveryAttempt {
        at: at(51),
        duration_ms: i64::MAX.cast_unsigned(),
        status: Some(503),
        error: Some(String::from("timeout")),
        answer: Some(String::from("não")),
        retry_after_ms: Some(1_000),
    };
    Delivery {
        sequence: EventSequence::new(sequence),
        state,
        attempts: vec![attempt],
        next_attempt_at: Some(at(95)),
        delivered_at: Some(at(53)),
        repeats: Some(DeliveryIndex::FIRST),
    }
}

fn card() -> Terms {
    let card = MaskedCard {
        brand: Brand::Elo,
        first_digits: String::from("401178"),
        last_digits: String::from("9995"),
        holder_name: String::from("ANA AVILA"),
    };
    Terms::CreditCard { card, installments: 12, capture: false }
}

fn pix() -> Issued {
    Issued::Pix { txid: "t".repeat(26), code: String::from("000201"), expires_at: at(99) }
}

fn slip() -> Issued {
    let text = String::from;
    Issued::Boleto(Box::new(IssuedBoleto {
        barcode: "1".repeat(44),
        digitable_line: "1".repeat(47),
        due_date: at(9).sao_paulo_date(),
        our_number: text("00000000001"),
        portfolio: text("17"),
        agency_and_account: text("1234-5 / 67890-1"),
        bank_code: text("001-9"),
        bank_name: text("Banco"),
        beneficiary_name: text("Loja"),
        beneficiary_document: text("11.222.333/0001-81"),
        beneficiary_address: text("Rua B"),
        pix_code: None,
    }))
}

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

const fn cents(cents: u64) -> Money {
    Money::from_cents(cents)
}
