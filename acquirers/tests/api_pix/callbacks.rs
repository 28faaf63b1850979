//! Callbacks: who may have news, and nothing else.

use quita_acquirers::exchange::Verb;
use quita_domain::acquiring::{CallFailure, Identified, NoticeContent, Reference, Subject};
use quita_domain::identity::TransactionId;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, NoticeRefused, RawNotice};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::bank::{E2E, KEY, Reply};
use crate::world::{ID, NOTICE_TOKEN, TXID, World, pix};

fn read(path_tail: &str, body: &[u8]) -> Result<Vec<NoticeContent>, NoticeRefused> {
    let notice = RawNotice { path_tail, headers: &[], body };
    World::open().factory.notices().unwrap().read(&notice, Timestamp::default())
}

fn hints(body: &Value) -> Vec<NoticeContent> {
    read(&format!("/{NOTICE_TOKEN}/pix"), body.to_string().as_bytes()).unwrap()
}

fn payment() -> NoticeContent {
    NoticeContent::Hint(Subject::Payment(TransactionId::new(Uuid::from_u128(ID))))
}

fn reference() -> NoticeContent {
    NoticeContent::Hint(Subject::Reference(Reference::none().with("endToEndId", E2E)))
}

#[tokio::test]
async fn only_the_address_that_the_bank_was_given_is_one() {
    for path in [format!("/{NOTICE_TOKEN}"), format!("/{NOTICE_TOKEN}/pix"), format!("/{NOTICE_TOKEN}/")] {
        assert_eq!(read(&path, b"{}"), Ok(vec![]), "{path}");
    }
    for path in
        [String::new(), "/".into(), "/pix".into(), format!("/{NOTICE_TOKEN}x"), format!("/{NOTICE_TOKEN}/x")]
    {
        assert_eq!(read(&path, b"{}"), Err(NoticeRefused::NoSuchAddress), "{path}");
    }
}

#[tokio::test]
async fn an_object_a_bare_array_and_a_single_pix_are_read() {
    let pix = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    for body in [
        json!({"pix": [pix.clone()]}),
        json!({"pix": pix.clone()}),
        json!([pix.clone()]),
        json!({"devolucoes": [pix.clone()]}),
        pix.clone(),
    ] {
        assert_eq!(hints(&body), [payment()], "{body}");
    }
}

#[tokio::test]
async fn each_charge_is_hinted_at_once_and_a_pix_without_our_txid_by_its_own_name() {
    let known = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    let by_desk = json!({"endToEndId": E2E, "txid": "LOJA1", "valor": "1.00"});
    let body = json!({"pix": [known.clone(), known, by_desk.clone(), by_desk]});
    assert_eq!(hints(&body), [payment(), reference()]);
}

#[tokio::test]
async fn nothing_is_believed_of_another_key_and_nothing_that_could_be_no_name() {
    let mut foreign = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    foreign["chave"] = json!("fulano@example.com");
    let body = json!({"pix": [foreign, {"endToEndId": "../x"}, {"txid": 7}, null, 7, [], "x"]});
    assert_eq!(hints(&body), []);
    assert_eq!(hints(&json!({"evento": "teste_webhook"})), []);
    assert_eq!(hints(&json!("x")), []);
}

#[tokio::test]
async fn a_callback_hints_at_a_thousand_charges_at_most() {
    let many: Vec<Value> =
        (0..3_000u128).map(|n| json!({"txid": Uuid::from_u128(n).simple().to_string()})).collect();
    assert_eq!(hints(&json!({"pix": many})).len(), 1_000);
}

#[tokio::test]
async fn what_is_no_json_can_t_be_read() {
    for body in [&b""[..], b"<xml/>", b"{\"pix\":[", &[0xff, 0xfe]] {
        let read = read(&format!("/{NOTICE_TOKEN}"), body);
        assert!(matches!(read, Err(NoticeRefused::Unreadable(_))), "{body:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_bank_says_whose_a_pix_is() {
    let world = World::paid().await;
    let named = |name: &str, value: &str| Reference::none().with(name, value);
    let ours = Identified::Payment(TransactionId::new(Uuid::from_u128(ID)));
    assert_eq!(world.adapter.identify(&named("endToEndId", E2E)).await, ours);
    let unknown = "E1234567820261121120000000000009";
    assert_eq!(world.adapter.identify(&named("endToEndId", unknown)).await, Identified::Unknown);
    let asked = world.bank.asked().len();
    assert_eq!(world.adapter.identify(&named("endToEndId", "../cob")).await, Identified::Unknown);
    assert_eq!(world.adapter.identify(&Reference::none()).await, Identified::Unknown);
    assert_eq!(world.bank.asked().len(), asked);
    for (changed, is_ours) in [
        (json!({"endToEndId": E2E, "txid": TXID, "chave": KEY}), true),
        (json!({"endToEndId": E2E, "txid": TXID, "chave": "fulano@example.com"}), false),
        (json!({"endToEndId": E2E, "txid": "LOJA1", "chave": KEY}), false),
        (json!({"endToEndId": E2E, "chave": KEY}), false),
    ] {
        world.bank.next(Verb::Get, "/pix/", Reply::Answer(200, changed.clone()));
        let identified = world.adapter.identify(&named("endToEndId", E2E)).await;
        assert_eq!(identified == ours, is_ours, "{changed}");
    }
    world.bank.next(Verb::Get, "/pix/", Reply::Answer(500, json!({})));
    let failed = world.adapter.identify(&named("endToEndId", E2E)).await;
    assert!(matches!(failed, Identified::Failed(CallFailure::Unknown(_))));
}
