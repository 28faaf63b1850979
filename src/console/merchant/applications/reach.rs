//! Addresses of an application: the endpoint of its webhooks, and the origins of its pages.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::access::{BadOrigins, Origins};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{Mode, Owner};
use quita_domain::request::PostbackPolicy;

use super::one::own;
use super::see;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::mode::InMode;
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::ApplicationChange;
use quita_services::access::{origins_in_words, until_read_everywhere, url_in_words};

/// Handles `POST /console/{mode}/applications/{name}/endpoint`. An empty address removes the endpoint.
pub(crate) async fn set_endpoint(
    request: HttpRequest,
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let application = own(&visitor, &path.1, &console).await?;
    let url = if form.text("url").is_empty() {
        None
    } else {
        let allowed = |url: &str| console.edge.limits.postback.allows(url).then(|| url.to_owned());
        Some(form.address("url", allowed, MerchantTexts::current().applications.bad_url)?)
    };
    if mode == Mode::Live {
        // Events sent to another address would outlast a stolen session.
        console.accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
    }
    let name = application.name.clone();
    let owner = Owner { merchant: application.merchant, application: application.name, mode };
    let before = console.access.set_endpoint(&owner, url.clone()).await?;
    if before != url {
        let [was, is] =
            [&before, &url].map(|url| format!("{} {}", mode.as_str(), url_in_words(url.as_deref())));
        let draft = visitor.draft(AuditAction::EndpointChanged, &name).before(was).after(is);
        console.audit.note(&visitor.initiator(), draft).await;
        until_read_everywhere().await;
    }
    Ok(see(mode, &name, "endpoint"))
}

/// Handles `POST /console/{mode}/applications/{name}/origins`. The form has one origin per line; an empty one removes
/// all.
pub(crate) async fn set_origins(
    request: HttpRequest,
    change: ApplicationChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let ApplicationChange { visitor, form } = change;
    let application = own(&visitor, &path.1, &console).await?;
    let allows_http = console.edge.limits.postback == PostbackPolicy::AllowAnything;
    let origins = Origins::parse(form.text("origins").split_whitespace(), allows_http);
    let origins = origins.map_err(|bad| PageError::Unreadable(in_words(&bad)))?;
    if mode == Mode::Live {
        console.accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
    }
    let before = console.access.set_origins(&application.merchant, &application.name, &origins).await?;
    if before != origins {
        let [was, is] = [&before, &origins].map(origins_in_words);
        let draft = visitor.draft(AuditAction::OriginsChanged, &application.name).before(was).after(is);
        console.audit.note(&visitor.initiator(), draft).await;
        until_read_everywhere().await;
    }
    Ok(see(mode, &application.name, "origins"))
}

/// Returns what is wrong with a list of origins, in the visitor's language.
fn in_words(bad: &BadOrigins) -> String {
    let texts = &MerchantTexts::current().applications;
    match bad {
        BadOrigins::NoOrigin(text) => texts.no_origin.replace("{text}", text),
        BadOrigins::OtherForm { given, meant } => {
            texts.other_origin.replace("{text}", given).replace("{meant}", meant)
        }
        BadOrigins::NoHttps(text) => texts.no_https_origin.replace("{text}", text),
        BadOrigins::Repeated(text) => texts.repeated_origin.replace("{text}", text),
        BadOrigins::TooMany => texts.too_many_origins.into(),
    }
}
