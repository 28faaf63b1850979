//! Test events: one is sent at once to an address, and the exchange is shown.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_domain::audit::AuditAction;
use quita_domain::delivery::{DeliveryAttempt, webhook_id};
use quita_domain::identity::{ApplicationName, Mode};
use quita_domain::webhook::body::test_body;
use quita_domain::webhook::signature::{WebhookSecret, sign};
use quita_ports::WebhookRequest;

use super::one::{own, render};
use super::sample::paid_payment;
use crate::console::kit::failure::Failure;
use crate::console::kit::language::Language;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::deliveries::{outcome_of, tone_of_attempt};
use crate::console::merchant::mode::InMode;
use crate::console::merchant::texts::Texts;
use crate::console::merchant::visitor::{ApplicationChange, Visitor};
use quita_services::audit::audited_address;

/// Request of a test event, and its outcome.
pub(crate) struct Exchange {
    pub(crate) url: String,
    /// Request as it was sent, head and body, for reading.
    pub(crate) request: String,
    pub(crate) attempt: DeliveryAttempt,
}

impl Exchange {
    /// Returns the colour class of the outcome.
    pub(crate) fn tone(&self) -> &'static str {
        tone_of_attempt(&self.attempt)
    }

    /// Returns the status, or the reason why there is none.
    pub(crate) fn outcome(&self) -> String {
        outcome_of(&self.attempt, Language::current())
    }
}

/// Handles `POST /console/{mode}/applications/{name}/test-event`.
pub(crate) async fn send(
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let ApplicationChange { visitor, form } = change;
    let application = own(&visitor, &path.1, &console).await?;
    let allowed = |url: &str| console.edge.limits.postback.allows(url).then(|| url.to_owned());
    let url = form.address("url", allowed, Texts::current().applications.bad_url)?;
    let request = request(&visitor, &application.name, mode, &console, url.clone()).await?;
    let shown = shown(&request);
    let attempt = console.webhooks.build().send(request).await;
    let draft = visitor.draft(AuditAction::TestEventSent, &application.name).after(audited_address(&url));
    console.audit.note(&visitor.initiator(), draft).await;
    let exchange = Exchange { url, request: shown, attempt };
    render(&visitor, mode, &console, application, Some(exchange), None).await
}

async fn request(
    visitor: &Visitor,
    application: &ApplicationName,
    mode: Mode,
    console: &MerchantConsole,
    url: String,
) -> Result<WebhookRequest, Failure> {
    let (merchant, now) = (&visitor.user.merchant, console.clock.now());
    let defect = |what: &str| Failure::Defect(what.into());
    let payment = paid_payment(merchant, application, mode, &console.edge.limits, now)
        .ok_or_else(|| defect("a made-up payment was refused"))?;
    let event = payment.history.last().ok_or_else(|| defect("a paid payment has events"))?;
    let body =
        test_body(&payment, event, &console.edge.public_url).map_err(|error| defect(&error.to_string()))?;
    let secrets = console.access.secrets(merchant, application, mode).await?;
    let secrets: Vec<_> = secrets.iter().filter_map(|secret| WebhookSecret::parse(secret)).collect();
    let id = webhook_id(payment.id, event.sequence);
    let timestamp_s = now.millis().div_euclid(1_000);
    let signature = sign(&secrets, &id, timestamp_s, body.as_bytes());
    Ok(WebhookRequest { url, id, timestamp_s, signature, body })
}

fn shown(request: &WebhookRequest) -> String {
    let body = serde_json::from_str::<serde_json::Value>(&request.body);
    let body = body.and_then(|body| serde_json::to_string_pretty(&body));
    format!(
        "POST {}\ncontent-type: application/json\nwebhook-id: {}\nwebhook-timestamp: {}\nwebhook-signature: {}\n\n{}",
        request.url,
        request.id,
        request.timestamp_s,
        request.signature,
        body.unwrap_or_else(|_| request.body.clone()),
    )
}
