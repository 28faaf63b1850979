//! Callbacks: who may have news, and nothing else.

use quita_acquirers::exchange::Verb;
use quita_domain::acquiring::{CallFailure, HintSubject, Identified, NoticeContent, Reference};
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
    NoticeContent::Hint(HintSubject::Payment(TransactionId::new(Uuid::from_u128(ID))))
}

fn reference() -> NoticeContent {
    NoticeContent::Hint(HintSubject::Reference(Reference::none().with("endToEndId", E2E)))
}

#[tokio::test]
async fn only_the_address_that_the_bank_was_given_is_one() {
    let none = br#"{"pix":[]}"#;
    for path in [format!("/{NOTICE_TOKEN}"), format!("/{NOTICE_TOKEN}/pix"), format!("/{NOTICE_TOKEN}/")] {
        assert_eq!(read(&path, none), Ok(vec![NoticeContent::Unrelated]), "{path}");
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
async fn each_charge_is_hinted_at_once_and_money_that_went_back_by_its_pix() {
    let known = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    let back = json!({"endToEndId": E2E, "valor": "10.00", "devolucoes": [{"id": "r", "valor": "1.00"}]});
    let body = json!({"pix": [known.clone(), known, back.clone(), back]});
    assert_eq!(hints(&body), [payment(), reference()]);
}

#[tokio::test]
async fn a_transfer_to_the_key_is_nobody_s_and_nobody_is_asked_about_it() {
    let transfer = json!({"endToEndId": E2E, "valor": "1.00", "chave": KEY});
    let of_others = json!({"endToEndId": E2E, "txid": "LOJA1", "valor": "1.00"});
    for entry in [&transfer, &of_others] {
        for body in [json!({"pix": [entry]}), json!([entry]), entry.clone()] {
            assert_eq!(hints(&body), [NoticeContent::Unrelated], "{body}");
        }
    }
    let known = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    let body = json!({"pix": [transfer, known, of_others]});
    assert_eq!(hints(&body), [payment(), NoticeContent::Unrelated, NoticeContent::Unrelated]);
}

#[tokio::test]
async fn a_callback_about_another_key_has_its_charge_asked_for() {
    let mut foreign = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    foreign["chave"] = json!("fulano@example.com");
    assert_eq!(hints(&json!({"pix": [foreign]})), [payment()], "what the bank answers counts");
}

#[tokio::test]
async fn what_names_no_pix_can_t_be_read() {
    for body in [
        json!({}),
        json!(null),
        json!({"pix": {}}),
        json!({"pix": "x"}),
        json!({"pix": [{"endToEndId": "../x"}, {"txid": 7}, null, 7, [], "x"]}),
        json!({"evento": "teste_webhook"}),
        json!("x"),
        json!(7),
    ] {
        let read = read(&format!("/{NOTICE_TOKEN}"), body.to_string().as_bytes());
        assert!(matches!(read, Err(NoticeRefused::Unreadable(_))), "{body}");
    }
}

#[tokio::test]
async fn a_callback_in_another_encoding_is_read() {
    let mut pix = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    pix["infoPagador"] = json!("São João");
    let text = json!({"pix": [pix]}).to_string();
    let latin_1: Vec<u8> = text.chars().map(|each| u8::try_from(each).unwrap()).collect();
    let marked = [&[0xef, 0xbb, 0xbf], text.as_bytes()].concat();
    for body in [latin_1, marked] {
        assert_eq!(read(&format!("/{NOTICE_TOKEN}"), &body), Ok(vec![payment()]));
    }
}

#[tokio::test]
async fn a_callback_hints_at_a_thousand_charges_at_most() {
    let many: Vec<Value> =
        (0..3_000u128).map(|n| json!({"txid": Uuid::from_u128(n).simple().to_string()})).collect();
    assert_eq!(hints(&json!({"pix": many})).len(), 1_000);
}

#[tokio::test]
async fn what_is_no_json_can_t_be_read() {
    let deep = "[".repeat(100_000);
    for body in [&b""[..], b"<xml/>", b"{\"pix\":[", &[0xff, 0xfe], deep.as_bytes()] {
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
        (json!({"endToEndId": E2E, "txid": TXID, "chave": "fulano@example.com"}), true),
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
