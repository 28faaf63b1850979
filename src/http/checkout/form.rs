//! The submitted form: its origin, its fields, and the payer's input.

use actix_web::http::header::{CONTENT_TYPE, ORIGIN};
use actix_web::web::Payload;
use actix_web::{HttpMessage, HttpRequest};
use quita_domain::card::holds_card_number;
use quita_domain::link::{CardInput, PayerInput};
use quita_domain::postal::{Cep, Uf};
use quita_domain::request::card_form::{self, SentCardForm};
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

use super::response::Refused;
use crate::http::body;
use crate::http::edge::Edge;

/// Header in which browsers state the site that sent a request (Fetch Metadata).
const SENT_FROM: &str = "sec-fetch-site";

/// Returns true if another site made the payer's browser send this. A browser that sends no referrer sends the origin
/// `null`, and states the site in another header.
pub(super) fn is_from_elsewhere(edge: &Edge, request: &HttpRequest) -> bool {
    // No browser sends a header twice, and a proxy might use the other one.
    let is_repeated = |name: &str| request.headers().get_all(name).count() > 1;
    if [ORIGIN.as_str(), SENT_FROM].into_iter().any(is_repeated) {
        return true;
    }
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    let sent_from = header(SENT_FROM);
    let ours = Url::parse(&edge.public_url).map(|url| url.origin().ascii_serialization());
    let is_ours = |origin: &str| ours.as_deref() == Ok(origin);
    let origin_is_foreign = match header(ORIGIN.as_str()) {
        None => false,
        // `null` is caused by the page's own `no-referrer` policy, and by itself reveals nothing about the site.
        Some("null") => sent_from.is_none(),
        Some(origin) => !is_ours(origin),
    };
    // `none` is a request that the payer began, such as a reload.
    // `same-site` is another host, which has no form of this page.
    origin_is_foreign || sent_from.is_some_and(|site| !matches!(site, "same-origin" | "none"))
}

/// Fields of a submitted form, by name.
pub(super) type FormFields = Zeroizing<Vec<(String, String)>>;

/// Returns the value of a field; empty if there is none.
pub(super) fn text_of<'f>(fields: &'f FormFields, name: &str) -> &'f str {
    fields.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value.as_str())
}

/// Returns true if the page's script sent this: cards are always sent as JSON.
pub(super) fn is_script(request: &HttpRequest) -> bool {
    request.content_type().eq_ignore_ascii_case("application/json")
}

/// Reads what the page's script sent.
///
/// # Errors
/// [`Refused::foreign`] if the page never sends such a body.
pub(super) async fn read_card_form(
    request: &HttpRequest,
    payload: Payload,
) -> Result<(FormFields, CardInput), Refused> {
    let body = body::read_json_form(request, payload).await?;
    let SentCardForm { fields, card } = card_form::parse(&body).map_err(|_| Refused::foreign())?;
    Ok((Zeroizing::new(fields), card))
}

/// Reads a form.
///
/// # Errors
/// [`Refused::foreign`] if it is not a form.
pub(super) async fn read_form(request: &HttpRequest, payload: Payload) -> Result<FormFields, Refused> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(Refused::foreign());
    }
    let body = body::read_form(request, payload).await?;
    Ok(Zeroizing::new(form_urlencoded::parse(&body).into_owned().collect()))
}

/// Returns the payer's input. A text that contains a card number is left out, so that it is not shown again.
pub(super) fn typed_in(fields: &FormFields) -> PayerInput {
    let clean = |name: &str| {
        let text = text_of(fields, name);
        if holds_card_number(text) { String::new() } else { text.to_owned() }
    };
    PayerInput {
        name: clean("name"),
        document: clean("document"),
        email: clean("email"),
        phone: clean("tel"),
        street: clean("street"),
        number: clean("number"),
        complement: clean("complement"),
        neighborhood: clean("neighborhood"),
        city: clean("city"),
        state: clean("state"),
        zip_code: clean("postal-code"),
        card: None,
    }
}

/// Fields of the form, in its order. Those of the card are made by the page's script.
pub(super) const FIELDS: [&str; 17] = [
    "name",
    "document",
    "email",
    "tel",
    "method",
    "cc-number",
    "cc-name",
    "cc-exp",
    "cc-csc",
    "installments",
    "postal-code",
    "street",
    "number",
    "complement",
    "neighborhood",
    "city",
    "state",
];

/// Returns true unless both are readable and the postal code is another state's.
pub(super) fn has_cep_of_its_state(typed: &PayerInput) -> bool {
    let digits: String = typed.zip_code.chars().filter(char::is_ascii_digit).collect();
    let state = Uf::parse(&typed.state.trim().to_ascii_uppercase());
    match (Cep::parse(&digits), state) {
        (Ok(cep), Ok(state)) => cep.may_be_in(state),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => true,
    }
}
