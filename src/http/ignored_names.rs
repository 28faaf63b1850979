//! Ignored names of a body, reported to test keys in a response header: `Quita-Ignored`.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest};
use quita_domain::card::holds_card_number;
use quita_domain::identity::Mode;
use quita_domain::request::UnknownName;

use quita_services::access::Caller;

const HEADER: HeaderName = HeaderName::from_static("quita-ignored");

/// Maximum number of names in the header.
const MOST: usize = 10;

/// Value of the header, ready to be sent.
struct Ignored(HeaderValue);

/// Notes unknown names in the body of this request, for test keys only.
pub(super) fn note(request: &HttpRequest, caller: &Caller, unknown: &[UnknownName]) {
    // An integration that works with a live key is left in peace.
    if caller.owner.mode != Mode::Test || unknown.is_empty() {
        return;
    }
    if let Some(value) = header_value(unknown) {
        request.extensions_mut().insert(Ignored(value));
    }
}

/// Returns the header's value, as in `postback_url; did you mean postbackUrl?, x`. Returns `None` if the names
/// together would show a card number.
fn header_value(unknown: &[UnknownName]) -> Option<HeaderValue> {
    let told = |name: &UnknownName| match &name.meant {
        Some(meant) => format!("{}; did you mean {meant}?", name.path),
        None => name.path.clone(),
    };
    let mut entries: Vec<String> = unknown.iter().take(MOST).map(told).collect();
    if unknown.len() > MOST {
        entries.push("and more".to_owned());
    }
    // A header is ASCII. A path writes `…` for a name that it can't show.
    let value = entries.join(", ").replace('…', "...");
    // Adjacent names must not form a card number either.
    let is_safe = value.is_ascii() && !holds_card_number(&value) && !holds_card_number(&entries.join(" "));
    if is_safe { HeaderValue::from_str(&value).ok() } else { None }
}

/// Adds the header, if something was noted.
pub(crate) async fn with_ignored_names<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let mut response = next.call(request).await?;
    let noted = response.request().extensions_mut().remove::<Ignored>();
    if let Some(Ignored(value)) = noted {
        response.headers_mut().insert(HEADER, value);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(path: &str, meant: Option<&str>) -> UnknownName {
        UnknownName { path: path.to_owned(), meant: meant.map(str::to_owned) }
    }

    fn told(unknown: &[UnknownName]) -> Option<String> {
        header_value(unknown).map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn names_are_told_with_what_was_meant() {
        let unknown = [name("postback_url", Some("postbackUrl")), name("items[0].x", None)];
        assert_eq!(told(&unknown).as_deref(), Some("postback_url; did you mean postbackUrl?, items[0].x"));
    }

    #[test]
    fn a_name_that_cannot_be_shown_is_dots_and_many_are_cut() {
        assert_eq!(told(&[name("paymentDetails.…", None)]).as_deref(), Some("paymentDetails...."));
        let many: Vec<_> = (0..20).map(|_| name("x", None)).collect();
        assert_eq!(told(&many).unwrap(), format!("{}and more", "x, ".repeat(MOST)));
    }

    #[test]
    fn no_card_number_is_told() {
        assert_eq!(told(&[name("a 4242424242424242", None)]), None);
        assert_eq!(told(&[name("4242 4242", None), name("4242-4242", None)]), None);
    }
}
