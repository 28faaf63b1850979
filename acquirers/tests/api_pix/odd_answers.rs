//! Whatever a bank answers, and whatever comes to its address: nothing panics, and nothing becomes money by itself.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use quita_acquirers::exchange::Verb;
use quita_domain::acquiring::{ChargeAnswer, Fact, OperationAnswer, Reference};
use quita_domain::money::Money;
use quita_domain::operation::OperationKind;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, RawNotice};
use serde_json::{Value, json};

use crate::bank::{E2E, KEY, Reply};
use crate::world::{NOTICE_TOKEN, REFUND_ID, TXID, World, charge, operation, query};

/// Texts that answers have, and others.
fn texts() -> impl Strategy<Value = String> {
    let known = [
        TXID,
        KEY,
        E2E,
        REFUND_ID,
        "10.00",
        "9.99",
        "ATIVA",
        "CONCLUIDA",
        "REMOVIDA_PELO_PSP",
        "DEVOLVIDO",
        "EM_PROCESSAMENTO",
        "NAO_REALIZADO",
        "MED_FRAUDE",
        "2026-11-21T12:00:00Z",
        "pix.example.com/v2/1",
        "+275760-12-31T00:00:00Z",
        "000201",
        "",
    ];
    prop_oneof![4 => proptest::sample::select(known.to_vec()).prop_map(String::from), 1 => ".{0,40}"]
}

fn names() -> impl Strategy<Value = String> {
    let known = [
        "txid",
        "status",
        "chave",
        "valor",
        "original",
        "calendario",
        "criacao",
        "expiracao",
        "pix",
        "devolucoes",
        "endToEndId",
        "horario",
        "liquidacao",
        "natureza",
        "id",
        "rtrId",
        "location",
        "loc",
        "pixCopiaECola",
        "motivo",
        "detail",
        "erros",
        "mensagem",
        "access_token",
        "webhookUrl",
    ];
    prop_oneof![9 => proptest::sample::select(known.to_vec()).prop_map(String::from), 1 => ".{0,10}"]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        6 => texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => btree_map(names(), inner, 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// The runtime on which a bank answers at once.
fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_answer_about_a_charge_is_read(answer in any_json(), status in prop_oneof![Just(200u16), Just(201), 100u16..600]) {
        run(async {
            let world = World::open();
            world.bank.next(Verb::Put, "/cob/", Reply::Answer(status, answer.clone()));
            world.adapter.charge(&charge(1_000)).await;
            world.bank.next(Verb::Get, "/cob/", Reply::Answer(status, answer.clone()));
            if let ChargeAnswer::Known(statement) = world.adapter.inquire(&query(1_000)).await {
                assert!(!statement.facts.is_empty());
                for fact in &statement.facts {
                    // What settles the payment has the amount, or is told for what it is; nothing without a name does.
                    if let Fact::Settled(settlement) = fact {
                        assert!(answer.to_string().contains(&settlement.id));
                    }
                }
            }
            let mut query = query(1_000);
            query.reference = Reference::none().with("endToEndId", E2E);
            for kind in [OperationKind::Cancel, OperationKind::Refund(Money::from_cents(500))] {
                for verb in [Verb::Get, Verb::Put, Verb::Patch] {
                    world.bank.next(verb, "/v2/", Reply::Answer(status, answer.clone()));
                }
                let done = world.adapter.operate(&query, &operation(kind)).await == OperationAnswer::Done;
                // A 401 or 403 is followed by another try, which the books answer.
                assert!(!done || [401, 403].contains(&status) || answer.to_string().contains("DEVOLVIDO") || answer.to_string().contains("REMOVIDA"));
            }
        });
    }

    #[test]
    fn an_answer_of_our_charge_with_anything_in_it_is_read(pix in any_json(), calendar in any_json(), refunds in any_json()) {
        let mut paid = json!({"endToEndId": E2E, "valor": "10.00", "devolucoes": refunds});
        paid["horario"] = pix.clone();
        let cob = json!({"txid": TXID, "status": "CONCLUIDA", "chave": KEY, "valor": {"original": "10.00"},
            "calendario": calendar, "pix": [pix, paid]});
        run(async {
            let world = World::open();
            world.next_inquiry(cob);
            assert!(matches!(world.inquire().await, ChargeAnswer::Known(_)));
        });
    }

    #[test]
    fn any_callback_is_read(body in any_json(), bytes in vec(any::<u8>(), 0..200)) {
        let world = run(async { World::open() });
        let reader = world.factory.notices().unwrap();
        let path = format!("/{NOTICE_TOKEN}/pix");
        for body in [body.to_string().into_bytes(), bytes] {
            let notice = RawNotice { path_tail: &path, headers: &[], body: &body };
            drop(reader.read(&notice, Timestamp::default()));
        }
    }

    #[test]
    fn any_answer_with_a_token_is_read(answer in any_json(), status in 100u16..600) {
        run(async {
            let world = World::open();
            world.bank.next(Verb::Post, "/oauth/", Reply::Answer(status, answer));
            world.adapter.inquire(&query(1_000)).await;
        });
    }
}
