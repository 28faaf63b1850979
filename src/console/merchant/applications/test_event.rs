//! Test events: one is sent immediately to an address, and the exchange is shown.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_domain::audit::AuditAction;
use quita_domain::delivery::{DeliveryAttempt, webhook_id};
use quita_domain::identity::{ApplicationName, Mode};
use quita_domain::webhook::body::test_body;
use quita_domain::webhook::signature::{WebhookSecret, sign};
use quita_ports::{FailureDetail, SentWebhook, WebhookRequest};

use super::one::{own, render};
use super::sample::paid_payment;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::deliveries::tone_of_attempt;
use crate::console::merchant::delivery_attempts::{detail_in_words, outcome_of};
use crate::console::merchant::mode::InMode;
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{ApplicationChange, Visitor};
use quita_services::audit::audited_address;

/// Request of a test event, and its outcome.
pub(crate) struct Exchange {
    pub(crate) url: String,
    /// Request as sent, head and body, for people to read.
    pub(crate) request: String,
    pub(crate) attempt: DeliveryAttempt,
    /// Detail of a missing answer, which is shown here but never stored.
    pub(crate) detail: Option<FailureDetail>,
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

    /// Returns the beginning of the answer, or the detail of a missing one.
    pub(crate) fn answer(&self) -> String {
        let texts = &MerchantTexts::current().applications;
        let Self { attempt, detail, .. } = self;
        if let Some(answer) = attempt.answer.as_ref().filter(|answer| !answer.is_empty()) {
            return answer.clone();
        }
        if attempt.status.is_some() {
            return texts.empty_answer.to_owned();
        }
        let detail = detail.as_ref().map(|detail| detail_in_words(detail, Language::current()));
        detail.unwrap_or_else(|| texts.no_answer.to_owned())
    }
}

/// Handles `POST /console/{mode}/applications/{name}/test-event`.
pub(crate) async fn send(
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let application = own(&visitor, &path.1, &console).await?;
    let allowed = |url: &str| console.edge.limits.postback.allows(url).then(|| url.to_owned());
    let url = form.address("url", allowed, MerchantTexts::current().applications.bad_url)?;
    let request = request(&visitor, &application.name, mode, &console, url.clone()).await?;
    let shown = shown(&request);
    let SentWebhook { attempt, detail } = console.webhooks.build().send(request).await;
    let draft = visitor.draft(AuditAction::TestEventSent, &application.name).after(audited_address(&url));
    console.audit.note(&visitor.initiator(), draft).await;
    let exchange = Exchange { url, request: shown, attempt, detail };
    render(&visitor, mode, &console, application, Some(exchange), None).await
}

async fn request(
    visitor: &Visitor,
    application: &ApplicationName,
    mode: Mode,
    console: &MerchantConsole,
    url: String,
) -> Result<WebhookRequest, PageError> {
    let merchant = &visitor.user.merchant;
    let now = console.clock.now();
    let defect = |what: &str| PageError::Defect(what.into());
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
    let headers: String =
        request.headers().iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("POST {}\n{headers}\n{}", request.url, body.unwrap_or_else(|_| request.body.clone()))
}
