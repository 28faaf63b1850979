//! Inquiries about a charge: everything that happened to it, as the bank tells.

use quita_acquirers::exchange::Verb;
use quita_domain::acquiring::{CallFailure, ChargeAnswer, Fact, Issued, Reference, RemovedBy, Settlement};
use quita_domain::money::Money;
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::bank::{E2E, KEY, Reply};
use crate::world::{REFUND_ID, REFUND_UUID, TXID, World, failure, pix, query, stated};

const OTHER: &str = "E1234567820261121120000000000002";

/// Describes each fact in a few words.
fn names(facts: &[Fact]) -> Vec<String> {
    let whole = |amount: &Option<Money>| amount.map_or("all".to_owned(), |amount| amount.to_string());
    facts
        .iter()
        .map(|fact| match fact {
            Fact::Pending { .. } => "pending".into(),
            Fact::Settled(settlement) => format!("settled {} {}", settlement.id, settlement.amount),
            Fact::Concluded => "concluded".into(),
            Fact::PaidToOthers { id } => format!("paid to others {id}"),
            Fact::Removed { by: RemovedBy::Receiver } => "removed by receiver".into(),
            Fact::Removed { by: RemovedBy::Acquirer } => "removed by acquirer".into(),
            Fact::Refunded { amount, .. } => format!("refunded {}", whole(amount)),
            Fact::ChargedBack { amount, .. } => format!("charged back {}", whole(amount)),
            other => panic!("{other:?}"),
        })
        .collect()
}

async fn check(pix: Value, expected: &[&str]) {
    let world = World::charged().await;
    world.pay(pix.clone());
    assert_eq!(names(&world.facts().await), expected, "{pix}");
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_waits_for_its_payer_is_pending_even_when_its_time_is_over() {
    let world = World::charged().await;
    assert_eq!(names(&world.facts().await), ["pending"]);
    tokio::time::advance(std::time::Duration::from_secs(7_200)).await;
    assert_eq!(names(&world.facts().await), ["pending"]);
}

#[tokio::test(start_paused = true)]
async fn a_paid_charge_tells_the_pix_that_paid_it() {
    let world = World::paid().await;
    let statement = stated(world.inquire().await);
    assert_eq!(names(&statement.facts), ["pending".to_owned(), format!("settled {E2E} 10.00")]);
    let settlement = Settlement {
        id: E2E.into(),
        amount: Money::from_cents(1_000),
        paid_on: Some("2026-11-21".parse().unwrap()),
        end_to_end_id: Some(E2E.into()),
        approval: None,
    };
    assert_eq!(statement.facts[1], Fact::Settled(settlement));
    assert_eq!(statement.reference.get("endToEndId"), Some(E2E));
}

#[tokio::test(start_paused = true)]
async fn the_day_of_a_payment_is_brasilia_s() {
    let world = World::charged().await;
    world.pay(json!([pix(E2E, "10.00", "2026-11-22T02:59:59Z")]));
    let facts = world.facts().await;
    assert!(
        matches!(&facts[1], Fact::Settled(settlement) if settlement.paid_on == "2026-11-21".parse().ok())
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_pix_by_its_time_with_the_amount_pays_and_every_other_one_is_told() {
    let early = "2026-11-21T12:01:00Z";
    let late = "2026-11-21T09:02:00-03:00";
    let both = [format!("settled {E2E} 10.00"), format!("settled {OTHER} 10.00")];
    let both = ["pending", both[0].as_str(), both[1].as_str()];
    check(json!([pix(OTHER, "10.00", late), pix(E2E, "10.00", early)]), &both).await;
    check(json!([pix(E2E, "10.00", early), pix(OTHER, "10.00", late)]), &both).await;
    let less = [format!("settled {E2E} 10.00"), format!("settled {OTHER} 9.99")];
    check(json!([pix(OTHER, "9.99", early), pix(E2E, "10.00", late)]), &["pending", &less[0], &less[1]])
        .await;
    // The same one twice is one.
    check(json!([pix(E2E, "10.00", early), pix(E2E, "10.00", early)]), &both[..2]).await;
}

#[tokio::test(start_paused = true)]
async fn the_pix_that_paid_stays_the_one_when_an_earlier_one_appears() {
    let world = World::charged().await;
    world
        .pay(json!([pix(OTHER, "10.00", "2026-11-21T12:01:00Z"), pix(E2E, "10.00", "2026-11-21T12:02:00Z")]));
    let mut query = query(1_000);
    query.reference = Reference::none().with("endToEndId", E2E);
    let statement = stated(world.adapter.inquire(&query).await);
    assert_eq!(statement.reference.get("endToEndId"), Some(E2E));
    assert!(matches!(&statement.facts[1], Fact::Settled(settlement) if settlement.id == E2E));
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_is_concluded_without_the_right_pix_says_so_and_what_came_in() {
    check(json!([]), &["pending", "concluded"]).await;
    let less = format!("settled {E2E} 9.99");
    check(json!([pix(E2E, "9.99", "2026-11-21T12:01:00Z")]), &["pending", &less, "concluded"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_pix_under_a_key_that_is_not_ours_pays_nothing_and_is_told() {
    let mut foreign = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    foreign["chave"] = json!("fulano@example.com");
    let told = format!("paid to others {E2E}");
    check(json!([foreign.clone()]), &["pending", &told, "concluded"]).await;
    let settled = format!("settled {OTHER} 10.00");
    let own = pix(OTHER, "10.00", "2026-11-21T12:02:00Z");
    check(json!([foreign.clone(), own, foreign]), &["pending", &settled, &told]).await;
}

#[tokio::test(start_paused = true)]
async fn a_pix_that_belongs_to_another_payment_pays_nothing() {
    let world = World::paid().await;
    let query = quita_domain::acquiring::ChargeQuery { foreign_pix: vec![E2E.into()], ..query(1_000) };
    let statement = stated(world.adapter.inquire(&query).await);
    assert_eq!(names(&statement.facts), ["pending", "concluded"]);
    assert_eq!(statement.reference.get("endToEndId"), None);
    let first = "2026-11-21T12:01:00Z";
    let later = "2026-11-21T12:02:00Z";
    world.pay(json!([pix(E2E, "10.00", first), pix(OTHER, "10.00", later)]));
    let statement = stated(world.adapter.inquire(&query).await);
    assert_eq!(names(&statement.facts), ["pending".to_owned(), format!("settled {OTHER} 10.00")]);
    assert_eq!(statement.reference.get("endToEndId"), Some(OTHER));
}

#[tokio::test(start_paused = true)]
async fn the_key_of_a_charge_stays_ours_when_another_one_is_configured() {
    let before = World::charged().await;
    let reference = stated(before.inquire().await).reference;
    let mut settings = crate::world::settings();
    settings.pix_key = "new-key@example.com".into();
    let world = World::with(settings);
    let cob = before.bank.books().cobs[TXID].clone();
    world.bank.books().cobs.insert(TXID.into(), cob);
    assert!(matches!(world.inquire().await, ChargeAnswer::Foreign(_)), "nothing is known of it");
    let mut query = query(1_000);
    query.reference = reference;
    assert_eq!(names(&stated(world.adapter.inquire(&query).await).facts), ["pending"]);
    world.pay(json!([pix(E2E, "10.00", "2026-11-21T12:01:00Z")]));
    let statement = stated(world.adapter.inquire(&query).await);
    assert_eq!(names(&statement.facts), ["pending".to_owned(), format!("settled {E2E} 10.00")]);
    let shown: Vec<_> = statement.reference.shown().map(|(name, _)| name).collect();
    assert_eq!(shown, ["endToEndId", "location", "txid"], "the key is nobody's but ours");
    world.bank.change(TXID, |cob| cob["chave"] = json!("fulano@example.com"));
    assert!(matches!(world.adapter.inquire(&query).await, ChargeAnswer::Foreign(_)));
}

#[tokio::test(start_paused = true)]
async fn money_that_a_concluded_charge_does_not_show_is_looked_for_in_the_list() {
    let world = World::charged().await;
    world.pay(json!([]));
    let listed = json!({"parametros": {}, "pix": [pix(E2E, "10.00", "2026-11-21T12:01:00Z")]});
    world.bank.next(Verb::Get, "/pix?", Reply::Answer(200, listed));
    assert_eq!(names(&world.facts().await), ["pending".to_owned(), format!("settled {E2E} 10.00")]);
    let url = world.bank.last().url;
    assert!(
        url.contains(&format!("txid={TXID}")) && url.contains("inicio=") && url.contains("fim="),
        "{url}"
    );
    for reply in [
        Reply::Answer(200, json!({"pix": []})),
        Reply::Answer(200, json!({"pix": [pix(E2E, "10.01", "2026-11-21T12:01:00Z")]})),
        Reply::Answer(400, json!({})),
        Reply::Answer(500, json!({})),
        Reply::Raw(200, "[]"),
        Reply::Lost,
    ] {
        world.bank.next(Verb::Get, "/pix?", reply);
        assert_eq!(names(&world.facts().await), ["pending", "concluded"]);
    }
    // One that shows what came in, or waits, is asked for nowhere else.
    let asked = world.bank.asked().len();
    world.pay(json!([pix(E2E, "9.99", "2026-11-21T12:01:00Z")]));
    world.facts().await;
    assert_eq!(world.bank.asked().len(), asked + 1);
}

#[tokio::test(start_paused = true)]
async fn a_pix_whose_whole_reais_can_only_be_the_charge_s_pays_it() {
    let settled = format!("settled {E2E} 10.00");
    for amount in ["10", "10.0", " 10 "] {
        check(json!([pix(E2E, amount, "2026-11-21T12:01:00Z")]), &["pending", &settled]).await;
    }
    for amount in ["1000", "1", "10,00"] {
        check(json!([pix(E2E, amount, "2026-11-21T12:01:00Z")]), &["pending", "concluded"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_pix_for_another_charge_or_without_a_name_pays_nothing() {
    for (field, value) in [
        ("txid", json!("7978c0c97ea847e78e8849634473c1f1")),
        ("endToEndId", json!(null)),
        ("endToEndId", json!("../../webhook")),
        ("valor", json!(null)),
        ("valor", json!("ten")),
    ] {
        let mut pix = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
        pix[field] = value;
        check(json!([pix]), &["pending", "concluded"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_pix_may_stand_where_a_list_belongs_and_its_time_may_be_missing() {
    let settled = format!("settled {E2E} 10.00");
    check(pix(E2E, "10.00", "?"), &["pending", &settled]).await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_charge_says_by_whom_in_both_spellings() {
    for (status, by) in [
        ("REMOVIDA_PELO_USUARIO_RECEBEDOR", "removed by receiver"),
        ("REMOVIDO_PELO_USUARIO_RECEBEDOR", "removed by receiver"),
        ("REMOVIDA_PELO_PSP", "removed by acquirer"),
        ("REMOVIDO_PELO_PSP", "removed by acquirer"),
    ] {
        let world = World::charged().await;
        world.bank.change(TXID, |cob| cob["status"] = json!(status));
        assert_eq!(names(&world.facts().await), [by]);
    }
}

#[tokio::test(start_paused = true)]
async fn money_for_a_removed_charge_counts_more_than_its_removal() {
    let world = World::paid().await;
    world.bank.change(TXID, |cob| cob["status"] = json!("REMOVIDA_PELO_PSP"));
    assert_eq!(names(&world.facts().await), [format!("settled {E2E} 10.00")]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_concluded_from_a_status_that_nobody_knows() {
    let world = World::charged().await;
    for status in [json!("EM_ANALISE"), json!(7), json!(null)] {
        world.bank.change(TXID, |cob| cob["status"] = status);
        assert_eq!(names(&world.facts().await), ["pending"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_code_that_is_known_needs_not_be_told_again() {
    let world = World::open();
    let issued = Issued::Pix { txid: TXID.into(), code: "known".into(), expires_at: Timestamp::default() };
    let mut query = query(1_000);
    query.issued = Some(issued.clone().into());
    world.next_inquiry(json!({"txid": TXID, "status": "ATIVA", "chave": KEY}));
    let facts = stated(world.adapter.inquire(&query).await).facts;
    assert_eq!(facts, [Fact::Pending { issued, news_at: None }]);
}

#[tokio::test(start_paused = true)]
async fn a_refund_that_we_asked_for_has_our_id_and_one_of_the_desk_always_the_same() {
    let mut paid = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    paid["devolucoes"] = json!([
        {"id": "desk-1", "rtrId": "D1", "valor": "2.50", "status": "DEVOLVIDO",
            "horario": {"solicitacao": "2026-11-21T15:00:00Z", "liquidacao": "2026-11-21T16:00:00Z"}},
        {"id": REFUND_ID, "valor": "5.00", "status": "DEVOLVIDO", "horario": {"liquidacao": "2026-11-21T14:00:00Z"}},
        {"id": "desk-2", "valor": "1.00", "status": "EM_PROCESSAMENTO"},
        {"id": "desk-3", "valor": "1.00", "status": "NAO_REALIZADO"},
    ]);
    let world = World::charged().await;
    world.pay(json!([paid]));
    let facts = world.facts().await;
    let of_facts: Vec<(&str, Option<Money>)> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Refunded { refund_id, amount } => Some((refund_id.as_str(), *amount)),
            _ => None,
        })
        .collect();
    assert_eq!(of_facts[0], (REFUND_UUID, Some(Money::from_cents(500))));
    assert_eq!(of_facts[1].1, Some(Money::from_cents(250)));
    assert!(uuid::Uuid::try_parse(of_facts[1].0).is_ok());
    assert_eq!(of_facts.len(), 2);
    assert_eq!(world.facts().await, facts);
}

#[tokio::test(start_paused = true)]
async fn what_the_banks_take_back_is_a_chargeback_with_its_amount_if_it_is_a_part() {
    for nature in ["MED_FRAUDE", "MED_OPERACIONAL", "MED_PIX_AUTOMATICO"] {
        let mut paid = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
        let med = |id: &str, amount: &str| json!({"id": id, "valor": amount, "status": "DEVOLVIDO", "natureza": nature});
        let settled = format!("settled {E2E} 10.00");
        paid["devolucoes"] = json!([med("a", "4.00")]);
        check(json!([paid]), &["pending", &settled, "charged back 4.00"]).await;
        // An object where a list belongs, as the document's own example has it.
        paid["devolucoes"] = med("a", "10.00");
        check(json!([paid]), &["pending", &settled, "charged back all"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_went_back_of_another_pix_is_no_refund_of_the_payment() {
    let mut twice = pix(OTHER, "10.00", "2026-11-21T12:02:00Z");
    twice["devolucoes"] = json!([{"id": "desk-1", "valor": "10.00", "status": "DEVOLVIDO"}]);
    let both = [format!("settled {E2E} 10.00"), format!("settled {OTHER} 10.00")];
    let paid = pix(E2E, "10.00", "2026-11-21T12:01:00Z");
    check(json!([paid, twice]), &["pending", &both[0], &both[1]]).await;
}

#[tokio::test(start_paused = true)]
async fn only_a_404_says_that_the_bank_has_no_such_charge() {
    let world = World::open();
    assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
    for status in [400, 410, 422, 500, 503] {
        world.bank.next(Verb::Get, "/cob/", Reply::Answer(status, json!({})));
        assert!(matches!(failure(world.inquire().await), CallFailure::Unknown(_)), "{status}");
    }
    world.bank.insists(Verb::Get, "/cob/", Reply::Answer(403, json!({})));
    assert!(matches!(failure(world.inquire().await), CallFailure::NotDelivered(_)));
}
