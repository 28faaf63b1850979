//! A charge is made: what is sent, and what is made of each kind of answer.

use quita_acquirers::exchange::{Failure, Verb};
use quita_domain::acquiring::{CallFailure, ChargeAnswer, Fact, Issued};
use quita_domain::due_terms::DueTerms;
use quita_domain::order::Terms;
use quita_domain::pix::br_code::{BrCode, DynamicBrCode};
use quita_domain::time::Timestamp;
use quita_ports::AcquirerFactory;
use serde_json::{Value, json};

use crate::bank::{KEY, Reply, body, header};
use crate::world::{TXID, World, charge, failure, settings, stated};

/// The code that is stated as waiting for its payer, with the end of its time.
fn pending(answer: ChargeAnswer) -> (String, String) {
    match stated(answer).facts.as_slice() {
        [Fact::Pending { issued: Issued::Pix { code, expires_at, txid }, news_at: None }] => {
            assert_eq!(txid, TXID);
            (code.clone(), expires_at.to_string())
        }
        other => panic!("{other:?}"),
    }
}

fn location_of(code: &str) -> String {
    match BrCode::parse(code) {
        Ok(BrCode::Dynamic(code)) => code.url,
        other => panic!("{other:?}"),
    }
}

fn cob(changed: &Value) -> Value {
    let mut cob = json!({"txid": TXID, "status": "ATIVA", "chave": KEY, "valor": {"original": "10.00"},
        "calendario": {"criacao": "2026-11-21T12:00:00Z", "expiracao": 3600}});
    for (name, value) in changed.as_object().unwrap() {
        cob[name] = value.clone();
    }
    cob
}

fn code_for(location: &str) -> String {
    DynamicBrCode::new(location.into(), "BANCO".into(), "BRASILIA".into()).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_put_under_its_own_id_and_its_code_is_handed_out() {
    let world = World::open();
    let (code, expires_at) = pending(world.charge().await);
    assert_eq!(location_of(&code), format!("pix.example.com/qr/v2/{TXID}"));
    assert_eq!(expires_at, "2026-11-21T13:00:00.000Z");
    assert_eq!(world.bank.asked(), ["POST /oauth/token".to_owned(), format!("PUT /cob/{TXID}")]);
    let sent = world.bank.last();
    assert_eq!(
        body(&sent),
        json!({"calendario": {"expiracao": 3600}, "devedor": {"cpf": "11144477735", "nome": "Fulano de Tal"},
            "valor": {"original": "10.00"}, "chave": KEY, "solicitacaoPagador": "pedido 42"})
    );
    assert_eq!(header(&sent, "authorization"), Some("Bearer token-number-1"));
    assert_eq!(header(&sent, "content-type"), Some("application/json"));
}

#[tokio::test(start_paused = true)]
async fn the_bank_s_names_of_a_charge_are_kept() {
    let world = World::open();
    let reference = stated(world.charge().await).reference;
    assert_eq!(reference.get("txid"), Some(TXID));
    assert_eq!(reference.get("location"), Some(format!("pix.example.com/qr/v2/{TXID}").as_str()));
    assert_eq!(reference.get("endToEndId"), None);
}

#[tokio::test(start_paused = true)]
async fn a_long_reference_of_the_merchant_is_cut_between_characters() {
    let world = World::open();
    let mut charge = charge(1_000);
    let mut order = (*charge.order).clone();
    order.external_reference = Some(format!("a\n{}", "é".repeat(300)));
    charge.order = order.into();
    world.adapter.charge(&charge).await;
    let message = body(&world.bank.last())["solicitacaoPagador"].as_str().unwrap().to_owned();
    assert_eq!(message.chars().count(), 140);
    assert!(message.starts_with("a é"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_is_sent_again_is_the_same_charge() {
    let world = World::open();
    world.bank.next(Verb::Put, "/cob/", Reply::Lost);
    assert!(matches!(failure(world.charge().await), CallFailure::Unknown(_)));
    pending(world.charge().await);
    assert_eq!(world.bank.books().cobs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_code_under_a_dialect_s_own_name_is_found() {
    let mut settings = settings();
    settings.code_fields.push("textoImagemQRcode".into());
    let world = World::with(settings);
    let code = code_for("bb.example/qr/1");
    let answer = cob(&json!({"textoImagemQRcode": code, "location": "https://bb.example/qr/1"}));
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(200, answer));
    assert_eq!(pending(world.charge().await).0, code);
}

#[tokio::test(start_paused = true)]
async fn a_code_that_is_not_of_this_charge_is_never_handed_out() {
    let with_amount = |amount: &str| {
        let code = code_for("a.example/1");
        let open = code.replacen("5802BR", &format!("54{:02}{amount}5802BR", amount.len()), 1);
        let (front, _) = open.split_at(open.len() - 4);
        format!("{front}{}", quita_domain::pix::crc16::checksum_text(front))
    };
    let of_a_key = format!(
        "00020126580014br.gov.bcb.pix0136{KEY}5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***6304"
    );
    let of_a_key = format!("{of_a_key}{}", quita_domain::pix::crc16::checksum_text(&of_a_key));
    for wrong in ["000201".into(), code_for("b.example/2"), with_amount("10.01"), of_a_key] {
        let world = World::open();
        let answer = cob(&json!({"pixCopiaECola": wrong, "location": "a.example/1"}));
        world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
        let (code, _) = pending(world.charge().await);
        assert_ne!(code, wrong);
        assert_eq!(location_of(&code), "a.example/1");
        let Ok(BrCode::Dynamic(read)) = BrCode::parse(&code) else { panic!("{code}") };
        assert_eq!((read.merchant_name.as_str(), read.merchant_city.as_str()), ("LOJA EXEMPLO", "SAO PAULO"));
    }
    let world = World::open();
    let right = with_amount("10.00");
    let answer = cob(&json!({"pixCopiaECola": right, "location": "a.example/1"}));
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
    assert_eq!(pending(world.charge().await).0, right);
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_code_and_location_says_so() {
    let world = World::open();
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, cob(&json!({"pixCopiaECola": "000201"}))));
    assert!(
        matches!(world.charge().await, ChargeAnswer::WithoutCode(reference) if reference.get("txid") == Some(TXID))
    );
}

#[tokio::test(start_paused = true)]
async fn a_location_alone_is_not_enough_where_nobody_says_whom_a_code_names() {
    let world = World::with({
        let mut settings = settings();
        settings.receiver = None;
        settings
    });
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, cob(&json!({"location": "a.example/1"}))));
    assert!(matches!(world.charge().await, ChargeAnswer::WithoutCode(_)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_about_something_else_is_told_from_an_answer() {
    type Check = fn(&ChargeAnswer) -> bool;
    let mismatched: Check = |answer| matches!(answer, ChargeAnswer::Mismatched(_));
    let foreign: Check = |answer| matches!(answer, ChargeAnswer::Foreign(_));
    let unclear: Check = |answer| matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_)));
    for (changed, check) in [
        (json!({"txid": "7978c0c97ea847e78e8849634473c1f1"}), mismatched),
        (json!({"txid": "x"}), mismatched),
        (json!({"valor": {"original": "10.01"}}), mismatched),
        (json!({"valor": {"original": "1000"}}), unclear),
        (json!({"chave": "fulano@example.com"}), foreign),
    ] {
        let world = World::open();
        world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, cob(&changed)));
        let answer = world.charge().await;
        assert!(check(&answer), "{changed}: {answer:?}");
        world.next_inquiry(cob(&changed));
        let answer = world.inquire().await;
        assert!(check(&answer), "{changed}: {answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_txid_of_a_sandbox_that_makes_its_own_is_passed_over() {
    let mut settings = settings();
    settings.ignores_txid_of_answer = true;
    let world = World::with(settings);
    let answer = cob(&json!({"txid": "7978c0c97ea847e78e8849634473c1f1", "location": "a.example/1"}));
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
    pending(world.charge().await);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_say_when_it_was_made_begins_now() {
    let world = World::open();
    for calendar in [json!({}), json!(null), json!({"criacao": "yesterday", "expiracao": "soon"})] {
        let answer = cob(&json!({"calendario": calendar, "location": "a.example/1"}));
        world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
        assert_eq!(pending(world.charge().await).1, "2026-11-21T13:00:00.000Z");
    }
    for seconds in
        [json!(9e15), json!(9_000_000_000_000_000_u64), json!(2_147_483_648_u64), json!(u64::MAX), json!(0)]
    {
        let calendar = json!({"criacao": "2026-11-21T12:00:00Z", "expiracao": seconds});
        let answer = cob(&json!({"calendario": calendar, "location": "a.example/1"}));
        world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
        assert_eq!(pending(world.charge().await).1, "2026-11-21T13:00:00.000Z", "{seconds}");
    }
    let answer = cob(
        &json!({"calendario": {"criacao": "2026-11-21T09:00:05-03:00", "expiracao": "60"}, "location": "a.example/1"}),
    );
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
    assert_eq!(pending(world.charge().await).1, "2026-11-21T12:01:05.000Z");
}

#[tokio::test(start_paused = true)]
async fn each_status_is_refused_not_delivered_throttled_or_unknown() {
    for (status, expected) in [
        (400, "refused"),
        (404, "refused"),
        (405, "refused"),
        (409, "refused"),
        (412, "refused"),
        (422, "refused"),
        (403, "not delivered"),
        (408, "unknown"),
        (500, "unknown"),
        (502, "unknown"),
        (503, "unknown"),
        (504, "unknown"),
        (302, "unknown"),
        (199, "unknown"),
        (429, "throttled"),
    ] {
        let world = World::open();
        world.bank.insists(Verb::Put, "/cob/", Reply::Answer(status, json!({"detail": "porque sim"})));
        let kind = match world.charge().await {
            ChargeAnswer::Refused(why) => {
                assert_eq!(why, "porque sim");
                "refused"
            }
            ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => "not delivered",
            ChargeAnswer::Failed(CallFailure::Unknown(_)) => "unknown",
            ChargeAnswer::Failed(CallFailure::Throttled { .. }) => "throttled",
            other => panic!("{other:?}"),
        };
        assert_eq!(kind, expected, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn how_long_the_bank_wants_to_be_left_alone_is_told_up_to_five_minutes() {
    for (status, value, after_ms) in [
        (429, "7", 7_000),
        (503, "7", 7_000),
        (429, "86400", 300_000),
        (503, "Sat, 21 Nov 2026 12:01:30 GMT", 90_000),
        (429, "soon", 2_000),
    ] {
        let world = World::open();
        world.bank.next(Verb::Put, "/cob/", Reply::With(status, "retry-after", value, json!({})));
        assert_eq!(failure(world.charge().await), CallFailure::Throttled { after_ms }, "{status} {value}");
        let again = world.charge().await;
        assert_eq!(failure(again), CallFailure::Throttled { after_ms }, "nothing leaves meanwhile");
        tokio::time::advance(std::time::Duration::from_millis(after_ms)).await;
        assert!(matches!(world.charge().await, ChargeAnswer::Known(_)), "{status} {value}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_did_not_leave_is_told_from_what_may_have_arrived() {
    let world = World::open();
    world.bank.next(Verb::Put, "/cob/", Reply::Fail(Failure::NotSent("refused".into())));
    assert_eq!(failure(world.charge().await), CallFailure::NotDelivered("refused".into()));
    world.bank.next(Verb::Put, "/cob/", Reply::Fail(Failure::Unknown("reset".into())));
    assert_eq!(failure(world.charge().await), CallFailure::Unknown("reset".into()));
    for text in ["<html>", "[", "", "[]", "{}", "null", "7", "{\"loc\":{}}"] {
        world.bank.next(Verb::Put, "/cob/", Reply::Raw(200, text));
        assert!(matches!(failure(world.charge().await), CallFailure::Unknown(_)), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_shows_neither_secrets_nor_personal_data() {
    let world = World::open();
    let text = format!("token-number-1 very {KEY} 111.444.777-35 fulano@example.com");
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(400, json!({"detail": text})));
    assert!(matches!(world.charge().await, ChargeAnswer::Refused(why) if why == "*** very *** *** ***"));
}

#[tokio::test(start_paused = true)]
async fn configured_headers_and_parameters_go_with_every_call_and_uuids_are_fresh() {
    use quita_domain::secret::Secret;
    let mut settings = settings();
    settings.headers = vec![("x-correlationID".into(), Secret::new("{uuid}".into()))];
    settings.query = vec![("gw-dev-app-key".into(), Secret::new("a key&=".into()))];
    let world = World::with(settings);
    world.charge().await;
    world.inquire().await;
    let log = world.bank.books().log.clone();
    assert!(!log[0].url.contains("gw-dev-app-key"), "the token's address has its own query");
    let ids: Vec<&str> = log[1..].iter().map(|request| header(request, "x-correlationid").unwrap()).collect();
    assert_ne!(ids[0], ids[1]);
    assert!(ids.iter().all(|id| uuid::Uuid::try_parse(id).is_ok()));
    assert!(log[1].url.ends_with(&format!("/cob/{TXID}?gw-dev-app-key=a+key%26%3D")));
}

#[tokio::test(start_paused = true)]
async fn only_pix_is_charged() {
    let world = World::open();
    let mut charge = charge(1_000);
    charge.query.terms = Terms::Boleto(DueTerms::plain(Timestamp::default().sao_paulo_date()));
    assert!(matches!(failure(world.adapter.charge(&charge).await), CallFailure::NotDelivered(_)));
    assert!(world.bank.asked().is_empty());
    assert!(!world.factory.operates_in_turn());
    assert!(world.factory.local_issue().is_none());
}

/// End of the payer's time, if the bank says that it made the charge then: asked for at noon, for an hour.
async fn ends(criacao: Value) -> [String; 2] {
    let calendar = json!({"criacao": criacao, "expiracao": 3600});
    let answer = cob(&json!({"calendario": calendar, "location": "a.example/1"}));
    let world = World::open();
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer.clone()));
    let (_, at_creation) = pending(world.charge().await);
    let (_, later) = pending(world.next_inquiry(answer).inquire().await);
    [at_creation, later]
}

#[tokio::test(start_paused = true)]
async fn the_payer_gets_the_time_that_was_asked_for_whatever_the_bank_s_clock_says() {
    for (criacao, end) in [
        // Brasília's time as if it were UTC, and the other way round.
        (json!("2026-11-21T09:00:00Z"), "13:00:00"),
        (json!("2026-11-21T15:00:00Z"), "13:00:00"),
        (json!("2026-11-21T11:49:59Z"), "13:00:00"),
        (json!("2026-11-21T12:10:01Z"), "13:00:00"),
        (json!("1970-01-01T00:00:00Z"), "13:00:00"),
        (json!("2026-11-21T12:00:00"), "13:00:00"),
        (json!(null), "13:00:00"),
        // What is off by minutes is more exact than when it was asked for.
        (json!("2026-11-21T12:00:02Z"), "13:00:02"),
        (json!("2026-11-21T09:00:02-03:00"), "13:00:02"),
        (json!("2026-11-21T11:50:00Z"), "12:50:00"),
        (json!("2026-11-21T12:10:00Z"), "13:10:00"),
    ] {
        let end = format!("2026-11-21T{end}.000Z");
        assert_eq!(ends(criacao.clone()).await, [end.clone(), end], "{criacao}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_was_sent_late_begins_when_it_was_sent() {
    let world = World::open();
    let mut query = charge(1_000).query;
    query.sent_at = query.created_at.plus_ms(2 * 3_600_000);
    let calendar = json!({"criacao": "2026-11-21T11:00:00Z", "expiracao": 3600});
    world.next_inquiry(cob(&json!({"calendario": calendar, "location": "a.example/1"})));
    let (_, end) = pending(world.adapter.inquire(&query).await);
    assert_eq!(end, "2026-11-21T15:00:00.000Z");
}

#[tokio::test(start_paused = true)]
async fn a_code_that_the_payer_s_bank_reads_is_handed_out_as_it_is() {
    let location = "a.example/1";
    let with = |name: &str, length: usize, amount: &str, small: bool| {
        let account = format!("0014br.gov.bcb.pix25{:02}{location}", location.len());
        let stated = if amount.is_empty() { String::new() } else { format!("54{:02}{amount}", amount.len()) };
        let open = format!(
            "00020101021226{:02}{account}520400005303986{stated}5802BR59{length:02}{name}6009SAO PAULO62070503***6304",
            account.len()
        );
        let checksum = quita_domain::pix::crc16::checksum_text(&open);
        format!("{open}{}", if small { checksum.to_lowercase() } else { checksum })
    };
    for code in [
        with("LOJA", 4, "", true),
        with("LOJA", 4, "10", false),
        with("LOJA", 4, "10.0", false),
        with("LOJA", 4, "0.00", false),
        with("PADARIA DO JOSÉ", "PADARIA DO JOSÉ".len(), "10.00", false),
        with("PADARIA DO JOSÉ", 15, "10", true),
    ] {
        let world = World::open();
        let answer = cob(&json!({"pixCopiaECola": code, "location": location}));
        world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
        assert_eq!(pending(world.charge().await).0, code);
    }
    for other in [with("LOJA", 4, "1000", false), with("LOJA", 4, "10,00", false), with("LOJA", 5, "", false)]
    {
        let world = World::open();
        let answer = cob(&json!({"pixCopiaECola": other, "location": location}));
        world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
        assert_ne!(pending(world.charge().await).0, other);
    }
}

#[tokio::test(start_paused = true)]
async fn an_amount_that_can_only_be_the_charge_s_is_read_and_any_other_one_is_not() {
    for (amount, is_read) in [
        (json!("10"), true),
        (json!(10), true),
        (json!("10.0"), true),
        (json!("1000"), false),
        (json!("1"), false),
    ] {
        let world = World::open();
        let answer = cob(&json!({"valor": {"original": amount.clone()}, "location": "a.example/1"}));
        world.bank.next(Verb::Put, "/cob/", Reply::Answer(201, answer));
        let is_known = matches!(world.charge().await, ChargeAnswer::Known(_));
        assert_eq!(is_known, is_read, "{amount}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_another_encoding_is_read() {
    let answer = cob(&json!({"location": "a.example/1", "devedor": {"nome": "José"}})).to_string();
    let latin_1: Vec<u8> = answer.chars().map(|each| u8::try_from(each).unwrap()).collect();
    let marked = [&[0xef, 0xbb, 0xbf], answer.as_bytes()].concat();
    for body in [latin_1, marked] {
        let world = World::open();
        world.bank.next(Verb::Put, "/cob/", Reply::Bytes(201, body));
        assert_eq!(location_of(&pending(world.charge().await).0), "a.example/1");
    }
}
