//! The access token: one for all, asked for by one, renewed in time, replaced once when the bank does not take it.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::api_pix::settings::{TokenForm, TokenSettings};
use quita_acquirers::exchange::{Failure, Verb};
use quita_domain::acquiring::{CallFailure, ChargeAnswer};
use quita_domain::secret::Secret;
use quita_ports::{Acquirer, AcquirerFactory, call_time};
use serde_json::json;
use tokio::task::LocalSet;
use tokio::time::advance;

use crate::bank::{Bank, Door, Reply, header};
use crate::world::{TXID, World, charge, failure, query, settings};

fn tokens_asked_for(world: &World) -> usize {
    world.bank.asked().iter().filter(|asked| *asked == "POST /oauth/token").count()
}

/// This many adapters, each as on a thread of its own, inquire at the same time.
async fn inquire_at_once(world: &World, count: usize) -> Vec<ChargeAnswer> {
    let threads = LocalSet::new();
    let calls: Vec<_> = (0..count)
        .map(|_| {
            let adapter: Rc<dyn Acquirer> = world.factory.build();
            threads.spawn_local(async move { adapter.inquire(&query(1_000)).await })
        })
        .collect();
    threads.await;
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers
}

#[tokio::test(start_paused = true)]
async fn one_token_serves_all_calls_on_all_threads() {
    let world = World::open();
    world.bank.next(Verb::Post, "/oauth/", Reply::After(Duration::from_secs(1)));
    let answers = inquire_at_once(&world, 20).await;
    assert!(answers.iter().all(|answer| *answer == ChargeAnswer::NotFound));
    inquire_at_once(&world, 20).await;
    assert_eq!(tokens_asked_for(&world), 1);
    assert_eq!(world.bank.books().opened, 40);
}

#[tokio::test(start_paused = true)]
async fn what_the_one_that_asks_is_told_holds_for_all_that_waited_and_for_no_one_after() {
    let world = World::open();
    let refusal = Reply::Late(Duration::from_secs(1), 400, json!({"error": "invalid_client"}));
    world.bank.next(Verb::Post, "/oauth/", refusal);
    for answer in inquire_at_once(&world, 20).await {
        let why = "no access token: 400 invalid_client".to_owned();
        assert_eq!(failure(answer), CallFailure::NotDelivered(why));
    }
    assert_eq!(tokens_asked_for(&world), 1);
    assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_a_little_before_its_end_by_one_call() {
    let world = World::open();
    world.inquire().await;
    advance(Duration::from_secs(3_539)).await;
    world.inquire().await;
    assert_eq!(tokens_asked_for(&world), 1);
    advance(Duration::from_secs(2)).await;
    world.bank.next(Verb::Post, "/oauth/", Reply::After(Duration::from_secs(3)));
    inquire_at_once(&world, 20).await;
    assert_eq!(tokens_asked_for(&world), 2);
    let used: Vec<String> = {
        let log = &world.bank.books().log;
        let calls = log.iter().rev().take(20).filter(|request| request.verb == Verb::Get);
        calls.map(|request| header(request, "authorization").unwrap().to_owned()).collect()
    };
    assert!(used.iter().filter(|token| *token == "Bearer token-number-1").count() >= 18, "{used:?}");
    world.inquire().await;
    assert_eq!(header(&world.bank.last(), "authorization"), Some("Bearer token-number-2"));
}

#[tokio::test(start_paused = true)]
async fn while_a_token_lasts_its_renewal_may_fail() {
    let world = World::open();
    world.inquire().await;
    advance(Duration::from_secs(3_545)).await;
    for _ in 0..3 {
        world.bank.next(Verb::Post, "/oauth/", Reply::Answer(500, json!({})));
        assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
    }
    // It is not tried again with every call.
    assert_eq!(tokens_asked_for(&world), 2);
    advance(Duration::from_secs(60)).await;
    assert!(matches!(failure(world.inquire().await), CallFailure::NotDelivered(_)));
}

#[tokio::test(start_paused = true)]
async fn a_time_that_is_missing_tiny_or_huge_does_no_harm() {
    for (expires_in, lasts_s) in [
        (None, 250),
        (Some(json!(null)), 250),
        (Some(json!(-1)), 250),
        (Some(json!("soon")), 250),
        (Some(json!("60")), 50),
        (Some(json!(0)), 1),
        (Some(json!(u64::MAX)), 86_000),
    ] {
        let world = World::open();
        world.bank.books().expires_in = expires_in.clone();
        world.inquire().await;
        advance(Duration::from_secs(lasts_s)).await;
        assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
        assert_eq!(tokens_asked_for(&world), 1, "{expires_in:?}");
        advance(Duration::from_secs(400)).await;
        assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
        assert_eq!(tokens_asked_for(&world), 2, "{expires_in:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_the_bank_does_not_take_is_replaced_once_and_the_call_repeated() {
    let world = World::charged().await;
    world.bank.books().tokens.clear();
    assert!(matches!(world.inquire().await, ChargeAnswer::Known(_)));
    assert_eq!(tokens_asked_for(&world), 2);
    // Many calls that are refused at the same time need one new token.
    world.bank.books().tokens.clear();
    inquire_at_once(&world, 20).await;
    assert_eq!(tokens_asked_for(&world), 3);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_a_bank_has_forgotten_and_calls_forbidden_is_replaced_once() {
    let world = World::charged().await;
    world.bank.next(Verb::Get, "/cob/", Reply::Answer(403, json!({"title": "Acesso negado"})));
    assert!(matches!(world.inquire().await, ChargeAnswer::Known(_)));
    assert_eq!(tokens_asked_for(&world), 2);
    let used = world.bank.last();
    assert_eq!(header(&used, "authorization"), Some("Bearer token-number-2"));
}

#[tokio::test(start_paused = true)]
async fn what_is_forbidden_with_a_new_token_too_costs_no_token_each_time() {
    let world = World::open();
    for calls in 1..=5 {
        let reply = Reply::Answer(403, json!({"title": "Acesso negado"}));
        if calls == 1 {
            world.bank.insists(Verb::Put, "/cob/", reply);
        } else {
            world.bank.next(Verb::Put, "/cob/", reply);
        }
        let failure = failure(world.charge().await);
        assert_eq!(failure, CallFailure::NotDelivered("403 Acesso negado".into()));
    }
    assert_eq!(tokens_asked_for(&world), 2);
    assert!(world.bank.books().cobs.is_empty());
    advance(Duration::from_secs(3_700)).await;
    world.bank.next(Verb::Get, "/cob/", Reply::Answer(403, json!({})));
    assert_eq!(world.inquire().await, ChargeAnswer::NotFound, "the next token gets its chance");
}

/// Makes a call as its actor does: with this much time of its own, and waiting that ends then.
async fn timed<T>(seconds: u64, waits_s: u64, call: impl Future<Output = T>) -> T {
    let waits_until = tokio::time::Instant::now() + Duration::from_secs(waits_s);
    call_time::within(Duration::from_secs(seconds), waits_until, call).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_token_has_all_of_its_time_afterwards() {
    let world = World::open();
    world.bank.next(Verb::Post, "/oauth/", Reply::After(Duration::from_secs(6)));
    world.bank.next(Verb::Put, "/cob/", Reply::After(Duration::from_millis(1_900)));
    assert!(matches!(timed(2, 8, world.charge()).await, ChargeAnswer::Known(_)));
    world.bank.books().tokens.clear();
    world.bank.next(Verb::Post, "/oauth/", Reply::After(Duration::from_secs(6)));
    world.bank.next(Verb::Get, "/cob/", Reply::Usual);
    world.bank.next(Verb::Get, "/cob/", Reply::After(Duration::from_millis(1_900)));
    assert!(matches!(timed(2, 8, world.inquire()).await, ChargeAnswer::Known(_)), "after a 401 too");
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_a_bank_that_wants_fewer_requests_for_tokens_as_long_as_its_caller_does() {
    let world = World::open();
    world.bank.next(Verb::Post, "/oauth/", Reply::With(429, "retry-after", "3", json!({})));
    world.bank.next(Verb::Post, "/oauth/", Reply::Answer(429, json!({})));
    let begun = tokio::time::Instant::now();
    assert!(matches!(timed(2, 8, world.charge()).await, ChargeAnswer::Known(_)));
    assert_eq!((begun.elapsed(), tokens_asked_for(&world)), (Duration::from_secs(5), 3));
    world.bank.books().tokens.clear();
    world.bank.next(Verb::Post, "/oauth/", Reply::With(429, "retry-after", "60", json!({})));
    let begun = tokio::time::Instant::now();
    assert_eq!(failure(timed(2, 8, world.inquire()).await), CallFailure::Withheld);
    assert_eq!(begun.elapsed(), Duration::ZERO, "it would be in vain");
    assert_eq!(world.preparation().held_for(), Some(Duration::from_secs(60)));
    advance(Duration::from_secs(60)).await;
    assert_eq!(world.preparation().held_for(), None);
    assert!(matches!(timed(2, 8, world.inquire()).await, ChargeAnswer::Known(_)));
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_token_does_not_come_in_time_never_left() {
    let world = World::open();
    world.bank.next(Verb::Post, "/oauth/", Reply::After(Duration::from_secs(9)));
    assert_eq!(failure(timed(2, 8, world.charge()).await), CallFailure::Withheld);
    assert_eq!(world.bank.asked(), ["POST /oauth/token"]);
}

#[tokio::test(start_paused = true)]
async fn before_a_payment_is_stored_its_token_is_there_or_it_is_known_that_it_is_not() {
    let in_s = |seconds| tokio::time::Instant::now() + Duration::from_secs(seconds);
    let world = World::open();
    assert!(!world.preparation().is_ready());
    world.bank.next(Verb::Post, "/oauth/", Reply::With(429, "retry-after", "5", json!({})));
    assert!(!world.preparation().prepare(in_s(4)).await, "it comes too late");
    assert!(world.preparation().prepare(in_s(5)).await && world.preparation().is_ready());
    let many: Vec<_> = (0..30).map(|_| world.preparation().prepare(in_s(8))).collect();
    assert!(futures_util::future::join_all(many).await.into_iter().all(|is_ready| is_ready));
    assert_eq!(tokens_asked_for(&world), 2);
    let refusing = World::open();
    refusing.bank.next(Verb::Post, "/oauth/", Reply::Answer(401, json!({})));
    assert!(refusing.preparation().prepare(in_s(8)).await, "the call is told so");
    assert!(!refusing.preparation().is_ready());
    let silent = World::open();
    silent.bank.next(Verb::Post, "/oauth/", Reply::After(Duration::from_secs(9)));
    assert!(!silent.preparation().prepare(in_s(8)).await);
}

#[tokio::test(start_paused = true)]
async fn a_bank_that_takes_no_token_at_all_got_nothing() {
    let world = World::open();
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(401, json!({"title": "não"})));
    world.bank.next(Verb::Put, "/cob/", Reply::Answer(401, json!({"title": "não"})));
    assert_eq!(failure(world.charge().await), CallFailure::NotDelivered("401 não".into()));
    let put = format!("PUT /cob/{TXID}");
    assert_eq!(world.bank.asked(), ["POST /oauth/token", &put, "POST /oauth/token", &put]);
    assert!(world.bank.books().cobs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_a_token_nothing_left() {
    for reply in [
        Reply::Answer(401, json!({})),
        Reply::Answer(500, json!({})),
        Reply::Raw(200, "<html>"),
        Reply::Raw(200, "{}"),
        Reply::Answer(200, json!({"access_token": ""})),
        Reply::Answer(200, json!({"access_token": "a\r\nb"})),
        Reply::Answer(200, json!({"access_token": "a".repeat(20_000)})),
        Reply::Fail(Failure::NotSent("refused".into())),
        Reply::Fail(Failure::Unknown("reset".into())),
        Reply::After(Duration::from_secs(11)),
    ] {
        let world = World::open();
        world.bank.next(Verb::Post, "/oauth/", reply);
        assert!(matches!(failure(world.charge().await), CallFailure::NotDelivered(_)));
        assert_eq!(world.bank.asked(), ["POST /oauth/token"]);
        assert_eq!(world.factory.token_until(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_of_tokens_that_wants_fewer_calls_holds_tokens_alone() {
    let world = World::open();
    world.inquire().await;
    advance(Duration::from_secs(3_545)).await;
    world.bank.next(Verb::Post, "/oauth/", Reply::With(429, "retry-after", "30", json!({})));
    for _ in 0..10 {
        advance(Duration::from_secs(1)).await;
        assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
    }
    assert_eq!(tokens_asked_for(&world), 2);
    world.bank.books().tokens.clear();
    let held = CallFailure::NotDelivered("no access token: its address wants fewer calls".into());
    assert_eq!(failure(world.inquire().await), held);
    advance(Duration::from_secs(30)).await;
    assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_while_it_asks_leaves_the_next_one_to_ask() {
    let world = World::open();
    world.bank.next(Verb::Post, "/oauth/", Reply::After(Duration::from_secs(4)));
    let given_up = tokio::time::timeout(Duration::from_secs(1), world.adapter.charge(&charge(1_000))).await;
    assert!(given_up.is_err());
    assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_fixed_token_is_never_asked_for_nor_replaced() {
    let mut settings = settings();
    settings.token = TokenSettings::Static(Secret::new("fixed-token".into()));
    let world = World::with(settings);
    assert!(matches!(failure(world.inquire().await), CallFailure::NotDelivered(_)));
    assert_eq!(world.bank.asked(), [format!("GET /cob/{TXID}")]);
    world.bank.books().tokens.insert("fixed-token".into());
    assert_eq!(world.inquire().await, ChargeAnswer::NotFound);
    assert_eq!(world.factory.token_until(), None);
}

#[tokio::test(start_paused = true)]
async fn each_form_of_asking_is_as_its_banks_want_it() {
    let basic = Some("Basic cXVpdGEtY2xpZW50OnZlcnktc2VjcmV0LXNlY3JldA==");
    let form_type = "application/x-www-form-urlencoded";
    let scope = "&scope=cob.write+cob.read";
    for (form, authorization, content_type, body) in [
        (TokenForm::BasicForm, basic, form_type, format!("grant_type=client_credentials{scope}")),
        (
            TokenForm::BasicJson,
            basic,
            "application/json",
            r#"{"grant_type":"client_credentials","scope":"cob.write cob.read"}"#.to_owned(),
        ),
        (
            TokenForm::Form,
            None,
            form_type,
            format!(
                "client_id=quita-client&client_secret=very-secret-secret&grant_type=client_credentials{scope}"
            ),
        ),
        (
            TokenForm::FormNoSecret,
            None,
            form_type,
            format!("client_id=quita-client&grant_type=client_credentials{scope}"),
        ),
    ] {
        let mut settings = settings();
        if let TokenSettings::ClientCredentials { form: configured, .. } = &mut settings.token {
            *configured = form;
        }
        let world = World::with(settings);
        world.inquire().await;
        let asked = world.bank.books().log[0].clone();
        assert_eq!(header(&asked, "authorization"), authorization, "{form:?}");
        assert_eq!(header(&asked, "content-type"), Some(content_type), "{form:?}");
        assert_eq!(String::from_utf8(asked.body.to_vec()).unwrap(), body, "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_token_is_known() {
    let world = World::open();
    assert_eq!(world.factory.token_until(), None);
    world.inquire().await;
    let until = world.factory.token_until().unwrap();
    assert_eq!(until.to_string(), "2026-11-21T13:00:00.000Z");
    advance(Duration::from_secs(3_601)).await;
    assert_eq!(world.factory.token_until(), None);
}

#[tokio::test(start_paused = true)]
async fn other_settings_drop_the_token_and_lose_no_call_under_way() {
    let world = World::open();
    world.charge().await;
    let old = Arc::clone(&world.bank);
    let new = Bank::open();
    old.next(Verb::Get, "/cob/", Reply::After(Duration::from_secs(2)));
    let threads = LocalSet::new();
    let adapter = Rc::clone(&world.adapter);
    let under_way = threads.spawn_local(async move { adapter.inquire(&query(1_000)).await });
    threads.run_until(tokio::time::sleep(Duration::from_secs(1))).await;
    world.factory.reconfigure(settings(), Arc::new(Door(Arc::clone(&new))));
    assert_eq!(world.factory.token_until(), None);
    assert_eq!(threads.run_until(world.adapter.inquire(&query(1_000))).await, ChargeAnswer::NotFound);
    threads.await;
    assert!(matches!(under_way.await.unwrap(), ChargeAnswer::Known(_)));
    assert_eq!(new.asked().len(), 2);
    assert_eq!(old.asked().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn no_secret_is_printed_or_said() {
    let world = World::open();
    let said = json!({"error_description": "very-secret-secret of quita-client is wrong"});
    world.bank.next(Verb::Post, "/oauth/", Reply::Answer(400, said));
    let answer = world.charge().await;
    assert_eq!(
        failure(answer),
        CallFailure::NotDelivered("no access token: 400 *** of quita-client is wrong".into())
    );
    world.charge().await;
    let printed = format!("{:?} {:?}", settings(), world.bank.last());
    for secret in ["very-secret-secret", "token-number", "11144477735"] {
        assert!(!printed.contains(secret), "{secret}");
    }
}

#[tokio::test(start_paused = true)]
async fn something_unknown_is_asked_for_to_see_whether_the_bank_can_be_reached() {
    let world = World::open();
    assert_eq!(world.factory.ask_something_unknown().await, Ok(()));
    world.bank.insists(Verb::Get, "/cob/", Reply::Answer(403, json!({})));
    assert!(world.factory.ask_something_unknown().await.is_err());
    world.bank.next(Verb::Get, "/cob/", Reply::Answer(400, json!({})));
    assert!(world.factory.ask_something_unknown().await.is_err());
}
