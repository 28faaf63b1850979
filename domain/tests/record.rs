//! The payment record and the webhook's body, to the letter.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_domain::acquiring::{Decline, DeclineKind, Issued, Reference};
use quita_domain::due_terms::DueTerms;
use quita_domain::event::{Cause, EndedRefund, Event};
use quita_domain::identity::{AcquirerName, ApplicationName, MerchantId, Mode, Owner, TransactionId};
use quita_domain::money::Money;
use quita_domain::numbering::EventSequence;
use quita_domain::order::{Order, Terms};
use quita_domain::outbound_call::{OutboundCall, Progress};
use quita_domain::payment::Payment;
use quita_domain::record::{PaymentRecord, RefundRecord};
use quita_domain::request::{PostbackPolicy, RequestLimits, parse};
use quita_domain::routing::{Attempt, ChargeEnd, Considered, Routed};
use quita_domain::slip::IssuedBoleto;
use quita_domain::state::{Refund, RefundStatus, State};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_domain::webhook::body::body;
use uuid::Uuid;

const URL: &str = "https://pay.example.com";

fn at(seconds: u64) -> Timestamp {
    Timestamp::parse("2026-07-10T15:00:00.000Z").unwrap().plus_ms(seconds * 1000)
}

fn order(method_part: &str) -> Order {
    let text = format!(
        r#"{{{method_part},"amount":10000,"currency":"BRL","paymentDetails":{{"firstName":"Maria","lastName":"da Silva",
        "document":"11144477735","documentType":"CPF","email":"maria@example.com","phoneNumber":"5511987654321",
        "address":{{"street":"Av. Paulista","number":"1000","neighborhood":"Bela Vista","city":"São Paulo",
        "state":"SP","zipCode":"01310100"}}}}}}"#
    );
    let limits = RequestLimits { max_installments: 12, postback: PostbackPolicy::HttpsPublicOnly };
    Order::clone(&parse(text.as_bytes(), at(0), &limits).unwrap().purchase.order)
}

fn payment(order: Order) -> Payment {
    let sandbox = AcquirerName::new("sandbox");
    let mut state = State::opened(at(0));
    state.attempts.push(Attempt {
        acquirer: sandbox.clone(),
        at: at(0),
        call: OutboundCall { progress: Progress::Ended(ChargeEnd::Known), ..OutboundCall::ready() },
        decline: None,
        without_code: false,
        under_review: false,
        reference: Reference::none(),
        our_number: None,
    });
    Payment {
        id: TransactionId::new(Uuid::from_u128(0x018f_3b1a_7c00_7000_8000_0000_0000_0007)),
        revision: 3,
        last_op: Uuid::nil(),
        owner: Owner {
            merchant: MerchantId::new("demo"),
            application: ApplicationName::new("default"),
            mode: Mode::Test,
        },
        order: Arc::new(order),
        fingerprint: Some("fingerprint".into()),
        card_fingerprint: None,
        used_token: None,
        page_token: "t0ken".into(),
        link: None,
        created_at: at(0),
        considered: [Considered { acquirer: sandbox, eligible: true, reason: "preferred".into() }].into(),
        routed: Arc::default(),
        state: Arc::new(state),
        dice: 7,
        check: None,
        inquired_at: None,
        hinted: false,
        hidden: false,
        concluded: false,
        concluded_since: None,
        mismatches: 0,
        chargebacks: Vec::new(),
        others: Vec::new(),
        bound_pix: Vec::new(),
        foreign_pix: Vec::new(),
        second_look: None,
        operations: Vec::new(),
        history: Vec::new(),
        outbox: Vec::new(),
        reports: Vec::new(),
        erased_at: None,
    }
}

fn pix() -> Payment {
    let mut payment = payment(order(r#""paymentMethod":"pix""#));
    let state = Arc::make_mut(&mut payment.state);
    state.version = 2;
    state.status = Status::Pending;
    state.updated_at = at(1);
    state.issued = Some(Arc::new(Issued::Pix {
        txid: "018f3b1a7c0070008000000000000007".into(),
        code: "000201".into(),
        expires_at: at(3600),
    }));
    payment
}

fn text(record: &PaymentRecord<'_>) -> String {
    serde_json::to_string(record).unwrap()
}

/// The least record: what is not known yet is `null` or empty, never missing.
const INITIAL: &str = concat!(
    r#"{"transactionId":"018f3b1a-7c00-7000-8000-000000000007","mode":"test","status":"initial","amount":"100.00","#,
    r#""currency":"BRL","paymentMethod":"PIX","customer":{"name":"Maria da Silva","email":"maria@example.com","#,
    r#""document":"11144477735","phone":"5511987654321"},"pix":null,"boleto":null,"products":[],"#,
    r#""utm":{"source":null,"medium":null,"campaign":null,"term":null,"content":null},"#,
    r#""createdAt":"2026-07-10T15:00:00.000Z","paidAt":null,"refundedAt":null,"chargebackAt":null,"#,
    r#""creditCard":null,"capturedAmount":null,"shipping":null,"splits":[],"refunds":[],"#,
    r#""refundedAmount":"0.00","cost":null,"installments":null,"terms":null,"externalReference":null,"metadata":{},"postbackUrl":null,"linkId":null,"#,
    r#""statusReason":null,"acquirer":"sandbox","acquirerReference":null,"routing":{"rule":null,"version":null,"#,
    r#""considered":[{"acquirer":"sandbox","#,
    r#""eligible":true,"reason":"preferred"}],"attempts":[{"acquirer":"sandbox","outcome":"accepted","#,
    r#""at":"2026-07-10T15:00:00.000Z"}]},"cancelledAt":null,"expiredAt":null,"#,
    r#""updatedAt":"2026-07-10T15:00:00.000Z","version":0}"#,
);

#[test]
fn what_is_not_known_yet_is_null_or_empty() {
    let payment = payment(order(r#""paymentMethod":"pix""#));
    assert_eq!(text(&PaymentRecord::now(&payment, URL)), INITIAL);
}

#[test]
fn a_payment_without_an_acquirer_names_none() {
    let mut payment = payment(order(r#""paymentMethod":"pix""#));
    Arc::make_mut(&mut payment.state).attempts.clear();
    assert!(text(&PaymentRecord::now(&payment, URL)).contains(r#""acquirer":null,"#));
}

/// A card payment with everything that a record can show.
fn full() -> Payment {
    let order = order(
        r#""paymentMethod":"credit_card","installments":3,"creditCard":{"number":"5555555555554444","holderName":
        "MARIA DA SILVA","expirationMonth":12,"expirationYear":2030,"cvv":"739"},"shipping":{"fee":500},
        "items":[{"id":"018f3b1a-7c00-7000-8000-000000000001","name":"Camiseta \"G\"","quantity":2,"price":5000},
        {"name":"Brinde","quantity":1,"price":0}],"UTMSource":"news","UTMContent":"",
        "splits":[{"recipientId":"r1","percentage":12.5},{"recipientId":"r2","percentage":33.33}],
        "externalReference":"order-7","metadata":{"size":"M","color":"azul"}"#,
    );
    let mut payment = payment(order);
    let version = serde_json::from_str(r#""00c0ffee0000""#).unwrap();
    payment.routed =
        Arc::new(Routed { rule: Some("cards".into()), version: Some(version), ..Routed::default() });
    let state = Arc::make_mut(&mut payment.state);
    state.version = 9;
    state.status = Status::Refund;
    state.status_reason = Some("refunded".into());
    state.updated_at = at(9);
    state.paid_at = Some(at(2));
    state.chargeback_at = Some(at(3));
    state.refunded_at = Some(at(9));
    state.cancelled_at = Some(at(4));
    state.expired_at = Some(at(5));
    state.captured_amount = Some(Money::from_cents(9_999));
    state.cost = Some(Money::from_cents(133));
    state.authorization_code = Some("A1B2C3".into());
    state.decline = Some(Decline {
        network_code: Some("41".into()),
        ..Decline::of_kind("lost_card", DeclineKind::Irreversible)
    });
    let refund = |id: &str, cents, status| Refund {
        id: id.into(),
        amount: Money::from_cents(cents),
        status,
        created_at: at(8),
        failure_reason: (status == RefundStatus::Failed).then(|| "no balance".into()),
    };
    state.refunds = vec![refund("f1", 9_998, RefundStatus::Succeeded), refund("f2", 1, RefundStatus::Failed)];
    state.attempts[0].reference = Reference::none().with("paymentId", "p1").with("tid", "t1");
    payment
}

const FULL: &str = concat!(
    r#"{"transactionId":"018f3b1a-7c00-7000-8000-000000000007","mode":"test","status":"refund","amount":"100.00","#,
    r#""currency":"BRL","paymentMethod":"CREDIT_CARD","customer":{"name":"Maria da Silva","#,
    r#""email":"maria@example.com","document":"11144477735","phone":"5511987654321"},"pix":null,"#,
    r#""boleto":null,"products":[{"id":"018f3b1a-7c00-7000-8000-000000000001","name":"Camiseta \"G\"","#,
    r#""quantity":2,"price":"50.00","total":100.00},{"id":"3e4ab3b3-b181-8f64-a5fc-20f54d121ec2","name":"Brinde","quantity":1,"#,
    r#""price":"0.00","total":0.00}],"utm":{"source":"news","medium":null,"campaign":null,"term":null,"#,
    r#""content":""},"createdAt":"2026-07-10T15:00:00.000Z","paidAt":"2026-07-10T15:00:02.000Z","#,
    r#""refundedAt":"2026-07-10T15:00:09.000Z","chargebackAt":"2026-07-10T15:00:03.000Z","#,
    r#""creditCard":{"brand":"mastercard","firstDigits":"555555","lastDigits":"4444","#,
    r#""holderName":"MARIA DA SILVA","installments":3,"authorizationCode":"A1B2C3","#,
    r#""declineCode":"lost_card","declineKind":"irreversible","networkDeclineCode":"41"},"capturedAmount":"99.99","shipping":{"fee":"5.00"},"#,
    r#""splits":[{"recipientId":"r1","percentage":12.5,"acquirerReference":null},"#,
    r#"{"recipientId":"r2","percentage":33.33,"acquirerReference":null}],"#,
    r#""refunds":[{"refundId":"f1","amount":"99.98","status":"succeeded","#,
    r#""createdAt":"2026-07-10T15:00:08.000Z","failureReason":null},{"refundId":"f2","amount":"0.01","#,
    r#""status":"failed","createdAt":"2026-07-10T15:00:08.000Z","failureReason":"no balance"}],"refundedAmount":"99.98","cost":"1.33","installments":3,"terms":null,"#,
    r#""externalReference":"order-7","metadata":{"color":"azul","size":"M"},"postbackUrl":null,"linkId":null,"statusReason":"refunded","#,
    r#""acquirer":"sandbox","acquirerReference":{"paymentId":"p1","tid":"t1"},"#,
    r#""routing":{"rule":"cards","version":"00c0ffee0000","considered":[{"acquirer":"sandbox","eligible":true,"#,
    r#""reason":"preferred"}],"attempts":[{"acquirer":"sandbox","outcome":"accepted","#,
    r#""at":"2026-07-10T15:00:00.000Z"}]},"cancelledAt":"2026-07-10T15:00:04.000Z","#,
    r#""expiredAt":"2026-07-10T15:00:05.000Z","updatedAt":"2026-07-10T15:00:09.000Z","version":9}"#,
);

#[test]
fn a_full_record_reads_to_the_letter() {
    assert_eq!(text(&PaymentRecord::now(&full(), URL)), FULL);
}

#[test]
fn shares_by_amount_are_decimal_texts() {
    let order = order(r#""paymentMethod":"pix","splits":[{"recipientId":"r1","amount":1234}]"#);
    let payment = payment(order);
    let record = text(&PaymentRecord::now(&payment, URL));
    assert!(
        record.contains(r#""splits":[{"recipientId":"r1","amount":"12.34","acquirerReference":null}]"#),
        "{record}"
    );
}

#[test]
fn a_pix_shows_its_code_and_a_picture_of_it() {
    let expected = concat!(
        r#""pix":{"qrCode":"https://pay.example.com/pix/t0ken.png","code":"000201","#,
        r#""txid":"018f3b1a7c0070008000000000000007","expiresAt":"2026-07-10T16:00:00.000Z","#,
        r#""dueDate":null,"paidAmount":null,"paidOn":null,"endToEndId":null},"boleto":null"#,
    );
    let mut payment = pix();
    for url in [URL, "https://pay.example.com/"] {
        let record = text(&PaymentRecord::now(&payment, url));
        assert!(record.contains(expected), "{record}");
    }
    Arc::make_mut(&mut payment.state).end_to_end_id = Some("E123".into());
    assert!(text(&PaymentRecord::now(&payment, URL)).contains(r#""endToEndId":"E123""#));
}

#[test]
fn a_boleto_shows_its_codes_and_its_page() {
    let mut payment = payment(order(r#""paymentMethod":"boleto","dueDate":"2026-07-15""#));
    let Terms::Boleto(DueTerms { due_date, .. }) = payment.order.terms else { panic!("no boleto") };
    let text_of = |what: &str| what.to_owned();
    let boleto = Issued::Boleto(Box::new(IssuedBoleto {
        barcode: "1".repeat(44),
        digitable_line: "2".repeat(47),
        due_date,
        our_number: text_of("7"),
        portfolio: text_of("17"),
        agency_and_account: text_of("1/2"),
        bank_code: text_of("001-9"),
        bank_name: text_of("Banco"),
        beneficiary_name: text_of("Loja"),
        beneficiary_document: text_of("11.222.333/0001-81"),
        beneficiary_address: text_of("Rua"),
        pix_code: None,
    }));
    Arc::make_mut(&mut payment.state).issued = Some(Arc::new(boleto));
    let record = text(&PaymentRecord::now(&payment, URL));
    let expected = format!(
        r#""pix":null,"boleto":{{"code":"{}","url":"https://pay.example.com/boletos/t0ken","digitableLine":"{}","dueDate":"2026-07-15","payableUntil":"2026-07-15","pixCode":null,"pixQrCode":null,"paidAmount":null,"paidOn":null,"endToEndId":null}}"#,
        "1".repeat(44),
        "2".repeat(47),
    );
    assert!(record.contains(&expected), "{record}");
}

#[test]
fn a_refund_is_shown_alone_as_in_the_record() {
    let payment = full();
    let alone = serde_json::to_string(&RefundRecord::of(&payment.state.refunds[0])).unwrap();
    let expected = r#"{"refundId":"f1","amount":"99.98","status":"succeeded","createdAt":"2026-07-10T15:00:08.000Z","failureReason":null}"#;
    assert_eq!(alone, expected);
}

/// A PIX that was paid, and the event of its becoming pending.
fn paid_pix() -> (Payment, Event) {
    let mut payment = pix();
    let event = Event {
        sequence: EventSequence::FIRST,
        status: Status::Pending,
        previous_status: Status::Initial,
        occurred_at: at(1),
        reason: None,
        actor: Cause::Acquirer,
        refund: None,
        snapshot: Some(Arc::clone(&payment.state)),
    };
    let state = Arc::make_mut(&mut payment.state);
    state.version = 3;
    state.status = Status::Paid;
    state.paid_at = Some(at(60));
    Arc::make_mut(&mut payment.order).metadata = BTreeMap::from([("k".into(), "v".into())]);
    (payment, event)
}

#[test]
fn a_webhook_shows_the_payment_as_of_its_event_however_late_it_is_sent() {
    let (payment, event) = paid_pix();
    let told = body(&payment, &event, URL).unwrap();
    let record = text(&PaymentRecord::as_of(&payment, &event, URL));
    let head = concat!(
        r#"{"transactionId":"018f3b1a-7c00-7000-8000-000000000007","status":"pending","previousStatus":"initial","#,
        r#""event":"payment.pending","sequence":1,"occurredAt":"2026-07-10T15:00:01.000Z","reason":null,"mode":"test","data":"#,
    );
    assert_eq!(told, format!("{head}{record}}}"));
    assert!(record.contains(r#""status":"pending""#) && record.contains(r#""paidAt":null"#), "{record}");
    assert!(record.contains(r#""version":2}"#), "{record}");
    assert_eq!(body(&payment, &event, URL).unwrap(), told);
}

#[test]
fn a_webhook_tells_the_reason_of_its_event() {
    let (payment, event) = paid_pix();
    let late = Event { status: Status::Paid, reason: Some("late_settlement".into()), ..event };
    let told = body(&payment, &late, URL).unwrap();
    assert!(
        told.contains(r#""event":"payment.paid""#) && told.contains(r#""reason":"late_settlement""#),
        "{told}"
    );
}

#[test]
fn a_webhook_of_a_refund_that_ended_says_which_and_why_it_failed() {
    let (payment, event) = paid_pix();
    let refund = EndedRefund {
        refund_id: "f1".into(),
        amount: Money::from_cents(9_998),
        status: RefundStatus::Failed,
        failure_reason: Some("no balance".into()),
    };
    let failed = Event { status: Status::Paid, previous_status: Status::Paid, refund: Some(refund), ..event };
    let told = body(&payment, &failed, URL).unwrap();
    let expected = concat!(
        r#""status":"paid","previousStatus":"paid","event":"payment.refund_failed","sequence":1,"#,
        r#""occurredAt":"2026-07-10T15:00:01.000Z","reason":null,"mode":"test","#,
        r#""refund":{"refundId":"f1","amount":"99.98","status":"failed","failureReason":"no balance"},"data":{"#,
    );
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_list_of_records_keeps_their_decimals() {
    let payment = full();
    let page = BTreeMap::from([("data", vec![PaymentRecord::now(&payment, URL)])]);
    assert_eq!(serde_json::to_string(&page).unwrap(), format!(r#"{{"data":[{FULL}]}}"#));
}

#[test]
fn every_product_has_an_id_that_stays_as_it_is() {
    let ids = |payment: &Payment| {
        let record: serde_json::Value =
            serde_json::from_str(&text(&PaymentRecord::now(payment, URL))).unwrap();
        let products = record["products"].as_array().unwrap().clone();
        products.iter().map(|product| product["id"].as_str().unwrap().parse().unwrap()).collect::<Vec<Uuid>>()
    };
    let mut payment = full();
    let gift = payment.order.items[1].clone();
    let items = vec![payment.order.items[0].clone(), gift.clone(), gift.clone(), gift];
    Arc::make_mut(&mut payment.order).items = items;
    let first = ids(&payment);
    assert_eq!(first[0].to_string(), "018f3b1a-7c00-7000-8000-000000000001", "its own");
    let distinct: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), 4, "one for each place: {first:?}");
    assert!(first.iter().all(|id| id.get_variant() == uuid::Variant::RFC4122), "{first:?}");
    let read_again: Payment = serde_json::from_str(&serde_json::to_string(&payment).unwrap()).unwrap();
    assert_eq!(ids(&read_again), first);
    payment.id = TransactionId::new(Uuid::from_u128(9));
    assert!(ids(&payment)[1..].iter().all(|id| !first.contains(id)), "another payment's are others");
}
