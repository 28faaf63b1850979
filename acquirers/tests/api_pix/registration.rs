//! The registration of the address for callbacks.

use quita_acquirers::api_pix::RegistrationOutcome;
use quita_acquirers::api_pix::settings::CallbackRegistration;
use quita_acquirers::exchange::Verb;
use serde_json::json;

use crate::bank::{KEY, Reply, body, header};
use crate::world::{NOTICE_TOKEN, World, settings};

fn address() -> String {
    format!("https://q.example/acquirers/bank/notifications/{NOTICE_TOKEN}")
}

fn world(registration: CallbackRegistration, known: Option<&str>) -> World {
    let mut settings = settings();
    settings.webhook.registration = registration;
    settings.webhook.headers = vec![("x-skip-mtls-checking".into(), "true".into())];
    let world = World::with(settings);
    world.bank.books().webhook = known.map(String::from);
    world
}

#[tokio::test(start_paused = true)]
async fn an_address_is_registered_where_there_is_none_and_not_again() {
    let world = world(CallbackRegistration::Register, None);
    assert_eq!(world.factory.registration(), None);
    assert_eq!(world.factory.register_webhook().await, RegistrationOutcome::Registered);
    assert_eq!(world.factory.registration(), Some(RegistrationOutcome::Registered));
    let sent = world.bank.last();
    assert_eq!(body(&sent), json!({"webhookUrl": address()}));
    assert_eq!(header(&sent, "x-skip-mtls-checking"), Some("true"));
    assert_eq!(world.factory.register_webhook().await, RegistrationOutcome::Known);
    assert_eq!(world.bank.last().verb, Verb::Get);
    assert_eq!(header(&world.bank.last(), "x-skip-mtls-checking"), None);
}

#[tokio::test(start_paused = true)]
async fn an_address_of_ours_with_an_older_token_is_replaced() {
    let older = "https://q.example/acquirers/bank/notifications/older-token";
    let world = world(CallbackRegistration::Register, Some(older));
    assert_eq!(world.factory.register_webhook().await, RegistrationOutcome::Registered);
    assert_eq!(world.bank.books().webhook, Some(address()));
}

#[tokio::test(start_paused = true)]
async fn an_address_of_somebody_else_is_replaced_only_if_that_is_wanted() {
    let foreign = "https://other.example/hooks/their-secret";
    let world_of = |registration| world(registration, Some(foreign));
    let outcome = RegistrationOutcome::Foreign("other.example".into());
    let world = world_of(CallbackRegistration::Register);
    assert_eq!(world.factory.register_webhook().await, outcome);
    assert_eq!(world.bank.books().webhook.as_deref(), Some(foreign));
    let world = world_of(CallbackRegistration::Replace);
    let outcome = RegistrationOutcome::Replaced("other.example".into());
    assert_eq!(world.factory.register_webhook().await, outcome);
    assert_eq!(world.bank.books().webhook, Some(address()));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_where_nothing_is_registered() {
    let world = world(CallbackRegistration::Off, None);
    assert_eq!(world.factory.register_webhook().await, RegistrationOutcome::Off);
    assert!(world.bank.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_registration_that_fails_says_why() {
    for (verb, reply, why) in [
        (Verb::Get, Reply::Answer(403, json!({"detail": "sem escopo"})), "403 sem escopo"),
        (Verb::Get, Reply::Answer(400, json!({"detail": "não"})), "não"),
        (Verb::Put, Reply::Answer(400, json!({"mensagem": "url inválida"})), "url inválida"),
        (Verb::Put, Reply::Answer(429, json!({})), "the bank wants fewer calls"),
        (Verb::Post, Reply::Answer(500, json!({})), "no access token: 500 HTTP 500"),
    ] {
        let world = world(CallbackRegistration::Register, None);
        let part = if verb == Verb::Post { "/oauth/" } else { "/webhook/" };
        world.bank.insists(verb, part, reply);
        assert_eq!(world.factory.register_webhook().await, RegistrationOutcome::Failed(why.into()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_is_one_segment_of_the_path() {
    let mut settings = settings();
    settings.pix_key = "+5511987654321".into();
    let world = World::with(settings);
    world.factory.register_webhook().await;
    assert!(world.bank.last().url.ends_with("/webhook/%2B5511987654321"));
    assert!(!world.bank.last().url.contains(KEY));
}
