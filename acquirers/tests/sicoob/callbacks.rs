//! Callbacks are hints, their address is validated before there is any payment, and the bank is told it.

use quita_acquirers::api_pix::RegistrationOutcome;
use quita_acquirers::api_pix::settings::CallbackRegistration;
use quita_domain::acquiring::{HintSubject, NoticeContent, Reference};
use quita_ports::{AcquirerFactory as _, NoticeRefused, RawNotice};
use serde_json::{Value, json};

use crate::world::{TOKEN, World, created_at};

fn read(tail: &str, body: &Value) -> Result<Vec<NoticeContent>, NoticeRefused> {
    let factory = World::open().factory();
    let body = body.to_string();
    let notice = RawNotice { path_tail: tail, headers: &[], body: body.as_bytes() };
    factory.notices().unwrap().read(&notice, created_at())
}

#[test]
fn a_callback_is_a_hint_whatever_it_says() {
    let tail = format!("/{TOKEN}");
    let hint = NoticeContent::Hint(HintSubject::Reference(Reference::none().with("ourNumber", "4242")));
    for more in [json!({}), json!({ "cancelamentoBaixa": true }), json!({ "valorPagamento": 1.0 })] {
        let mut data = json!({ "nossoNumero": 4_242, "seuNumero": "X", "valorPagamento": 100.1 });
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = json!({ "idWebhook": 1, "tipoMovimento": 7, "dados": data });
        assert_eq!(read(&tail, &body), Ok(vec![hint.clone()]));
        assert_eq!(read("/older-token", &body), Ok(vec![hint.clone()]));
        assert_eq!(read("/another", &body), Err(NoticeRefused::NoSuchAddress));
    }
}

#[test]
fn a_validation_is_taken_and_says_nothing() {
    let body = json!({ "idWebhook": 990, "validacaoWebhook": true });
    assert_eq!(read(&format!("/{TOKEN}"), &body), Ok(Vec::new()));
    for body in [json!({}), json!([]), json!({ "dados": {} }), json!({ "dados": { "nossoNumero": "x" } })] {
        let answer = read(&format!("/{TOKEN}"), &body);
        assert!(matches!(answer, Err(NoticeRefused::Unreadable(_))), "{body}: {answer:?}");
    }
}

#[tokio::test]
async fn the_bank_is_told_our_address_once_and_nobody_elses_is_replaced_without_being_asked() {
    let world = World::open();
    assert_eq!(world.factory().register_webhook().await, RegistrationOutcome::Registered);
    assert_eq!(world.factory().register_webhook().await, RegistrationOutcome::Known);
    let another = |registration| {
        world.factory_with(|settings| {
            let address = "https://other.example/acquirers/sicoob/notifications/another-token".to_owned();
            settings.webhook.address = Some(quita_domain::secret::Secret::new(address));
            settings.webhook.token = quita_domain::secret::Secret::new("another-token".into());
            settings.webhook.registration = registration;
        })
    };
    let foreign = another(CallbackRegistration::Register).register_webhook().await;
    assert_eq!(foreign, RegistrationOutcome::Foreign("q.example".into()));
    let replaced = another(CallbackRegistration::Replace).register_webhook().await;
    assert_eq!(replaced, RegistrationOutcome::Replaced("q.example".into()));
    assert_eq!(another(CallbackRegistration::Register).register_webhook().await, RegistrationOutcome::Known);
    assert_eq!(another(CallbackRegistration::Off).register_webhook().await, RegistrationOutcome::Off);
}

#[tokio::test]
async fn an_address_that_the_bank_switched_off_is_put_back() {
    let world = World::open();
    assert_eq!(world.factory().register_webhook().await, RegistrationOutcome::Registered);
    world.refuse_notices();
    assert_eq!(world.factory().register_webhook().await, RegistrationOutcome::Registered);
    let revived = world.sent().pop().unwrap();
    assert!(revived.starts_with("PATCH /webhooks/") && revived.ends_with("/reativar"), "{revived}");
    assert_eq!(world.factory().register_webhook().await, RegistrationOutcome::Known);
}
