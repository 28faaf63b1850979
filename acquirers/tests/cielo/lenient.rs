//! Whatever Cielo answers, nothing panics, and nothing but a status makes money.

use proptest::prelude::*;
use quita_domain::acquiring::{ChargeAnswer, Fact, OperationAnswer};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_ports::{AcquirerFactory, RawNotice};
use serde_json::{Map, Value, json};

use crate::payment::*;
use crate::scripted::{Scripted, raw};

const NAMES: [&str; 24] = [
    "MerchantOrderId",
    "Payment",
    "Payments",
    "PaymentId",
    "Paymentid",
    "Status",
    "Amount",
    "CapturedAmount",
    "VoidedAmount",
    "ReturnCode",
    "ReturnMessage",
    "QrCodeString",
    "BarCodeNumber",
    "DigitableLine",
    "Chargebacks",
    "CaseNumber",
    "CapturedDate",
    "ExpirationDate",
    "Type",
    "Currency",
    "Code",
    "Message",
    "ChangeType",
    "Tid",
];

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            json!(SALE),
            json!(ORDER),
            json!(BOLETO_ORDER),
            json!(0),
            json!(1),
            json!("2"),
            json!(3),
            json!(10),
            json!(11),
            json!(12),
            json!("13"),
            json!(10_000),
            json!("10000"),
            json!("2026-12-01"),
            json!(br_code(None)),
            json!("Received"),
            json!("É2026-12-0"),
        ]),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 10, |inner| {
        let named = prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..10);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            named.prop_map(|fields| {
                Value::Object(
                    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>(),
                )
            }),
        ]
    })
}

/// A sale whose fields may be anything.
fn any_sale() -> impl Strategy<Value = Value> {
    let fields = prop::collection::vec((prop::sample::select(NAMES.to_vec()), any_json()), 0..8);
    (prop::sample::select(vec![ORDER, BOLETO_ORDER]), fields).prop_map(|(order, fields)| {
        let mut payment = json!({"PaymentId": SALE, "Amount": 10000, "Status": 2});
        for (name, value) in fields {
            payment[name] = value;
        }
        json!({"MerchantOrderId": order, "Payment": payment})
    })
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

async fn everything(status: u16, body: &[u8]) -> (Vec<ChargeAnswer>, Vec<OperationAnswer>) {
    let mut charges = Vec::new();
    let mut operations = Vec::new();
    for method in Method::ALL {
        let exchange = Scripted::with((0..16).map(|_| raw(status, body)));
        let cielo = adapter(exchange.factory());
        let named = named(query(method, 10_000), SALE);
        charges.push(cielo.charge(&charge(method, 10_000)).await);
        charges.push(cielo.inquire(&query(method, 10_000)).await);
        charges.push(cielo.inquire(&named).await);
        cielo.identify(&named.reference).await;
        operations.push(cielo.operate(&named, &capture(10_000)).await);
        operations.push(cielo.operate(&named, &refund(10_000)).await);
        operations.push(cielo.inquire_operation(&named, &refund(10_000)).await);
    }
    (charges, operations)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_answer_makes_it_panic(
        body in prop_oneof![any_json(), any_sale()],
        status in prop::sample::select(vec![200_u16, 201, 400, 404, 500]),
    ) {
        let (charges, operations) = run(everything(status, body.to_string().as_bytes()));
        if status >= 400 {
            let states = |answer: &ChargeAnswer| matches!(answer, ChargeAnswer::Known(_));
            prop_assert!(!charges.iter().any(states), "{:?}", charges);
            prop_assert!(!operations.contains(&OperationAnswer::Done), "{:?}", operations);
        }
    }

    #[test]
    fn no_bytes_make_it_panic_or_state_anything(body in any::<Vec<u8>>()) {
        let (charges, _) = run(everything(200, &body));
        prop_assert!(charges.iter().all(|answer| !matches!(answer, ChargeAnswer::Known(_))));
    }

    #[test]
    fn only_a_sale_of_this_order_and_amount_states_money(sale in any_sale()) {
        let (charges, _) = run(everything(200, sale.to_string().as_bytes()));
        let takes = |fact: &Fact| matches!(fact, Fact::Settled(_) | Fact::Authorized(_));
        for answer in charges {
            if let ChargeAnswer::Known(statement) = answer && statement.facts.iter().any(takes) {
                let amount = &sale["Payment"]["Amount"];
                prop_assert!(*amount == json!(10_000) || *amount == json!("10000"), "{}", sale);
                prop_assert!(["1", "2", "10", "11", "12"].iter().any(|known| {
                    sale["Payment"]["Status"].to_string().trim_matches('"') == *known
                }), "{}", sale);
            }
        }
    }

    #[test]
    fn no_notification_makes_it_panic(body in any_json(), tail in "[/a-z]{0,4}") {
        let factory = factory(settings(), Mode::Live, Scripted::with([]).factory());
        let body = body.to_string();
        let notice = RawNotice {
            path_tail: &tail, headers: &[("x-quita-secret", "unguessable")], body: body.as_bytes(),
        };
        let read = factory.notices().unwrap().read(&notice, created_at());
        prop_assert!(tail.is_empty() || read.is_err());
    }
}
