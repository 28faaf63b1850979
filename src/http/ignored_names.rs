//! Ignored names of a request, reported to test keys in a response header: `Quita-Ignored`.

use actix_web::dev::ServiceResponse;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest};
use quita_domain::card::holds_card_number;
use quita_domain::identity::Mode;
use quita_domain::nearest::is_same;
use quita_domain::request::UnknownName;

use super::idempotency::HEADER as IDEMPOTENCY_KEY;
use quita_services::access::Caller;

const HEADER: HeaderName = HeaderName::from_static("quita-ignored");

/// Header that a name of a body was meant as.
const KEY_HEADER: &str = "the header Idempotency-Key";

/// Its name in a body, in any spelling.
const KEY_NAME: &str = "idempotencyKey";

/// Maximum number of names in the header.
const MOST: usize = 10;

/// Names of a request that were ignored.
#[derive(Clone)]
pub(super) struct UnknownNames {
    names: Vec<UnknownName>,
    /// Text about them, for people.
    told: String,
    /// The same as a header's value, ready to be sent.
    header: HeaderValue,
}

impl UnknownNames {
    /// Returns the names that the header has.
    pub(super) fn names(&self) -> &[UnknownName] {
        self.names.get(..MOST).unwrap_or(&self.names)
    }

    /// Returns the text about them.
    pub(super) fn told(&self) -> &str {
        &self.told
    }
}

/// Records unknown names in the body of this request, and a header that was meant as `Idempotency-Key`, for test keys
/// only.
pub(super) fn note(request: &HttpRequest, caller: &Caller, unknown: &[UnknownName]) {
    // A working integration with a live key gets no such header.
    if caller.owner.mode != Mode::Test {
        return;
    }
    let has_key = request.headers().contains_key(IDEMPOTENCY_KEY);
    let in_body = unknown.iter().map(|name| if has_key { name.clone() } else { meant_as_header(name) });
    let mut names: Vec<_> = misspelt_key(request).into_iter().chain(in_body).collect();
    // Names that were probably meant as known fields come first, so that they are not cut off.
    names.sort_by_key(|name| name.meant.is_none());
    if names.is_empty() {
        return;
    }
    let Some(told) = told(&names) else { return };
    if let Ok(header) = HeaderValue::from_str(&in_ascii(&told)) {
        request.extensions_mut().insert(UnknownNames { names, told, header });
    }
}

/// Returns the header that was meant as `Idempotency-Key`. Without that key, a repetition creates a second payment.
fn misspelt_key(request: &HttpRequest) -> Option<UnknownName> {
    let headers = request.headers();
    let is_meant = |name: &str| name.contains("idempoten");
    let sent = headers.keys().find(|name| is_meant(name.as_str()))?;
    let meant = (!headers.contains_key(IDEMPOTENCY_KEY)).then(|| "Idempotency-Key".to_owned())?;
    Some(UnknownName { path: sent.to_string(), meant: Some(meant) })
}

/// Returns a name of the body. If it was meant as the header `Idempotency-Key`, that header is noted as meant.
fn meant_as_header(name: &UnknownName) -> UnknownName {
    if is_same(&name.path, KEY_NAME) {
        return UnknownName { meant: Some(KEY_HEADER.to_owned()), ..name.clone() };
    }
    name.clone()
}

/// Encodes characters that a header can't contain: `…` as dots, and others as in an address.
fn in_ascii(told: &str) -> String {
    let mut value = String::with_capacity(told.len());
    for character in told.replace('…', "...").chars() {
        if character.is_ascii() {
            value.push(character);
        } else {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).bytes();
            value.extend(bytes.map(|byte| format!("%{byte:02X}")));
        }
    }
    value
}

/// Returns the text about the names, as in `postback_url; did you mean postbackUrl?, x`. Returns `None` if they would
/// show a card number together.
fn told(unknown: &[UnknownName]) -> Option<String> {
    let told = |name: &UnknownName| match &name.meant {
        Some(meant) if meant == KEY_HEADER => format!("{}; send it as {meant}", name.path),
        Some(meant) => format!("{}; did you mean {meant}?", name.path),
        None => name.path.clone(),
    };
    let mut entries: Vec<String> = unknown.iter().take(MOST).map(told).collect();
    if unknown.len() > MOST {
        entries.push("and more".to_owned());
    }
    let told = entries.join(", ");
    // Adjacent names must not form a card number either.
    let is_safe = !holds_card_number(&told) && !holds_card_number(&entries.join(" "));
    is_safe.then_some(told)
}

/// Adds the header, if any names were recorded.
pub(super) fn add_header(response: &mut ServiceResponse) {
    let noted = response.request().extensions().get::<UnknownNames>().map(|ignored| ignored.header.clone());
    if let Some(value) = noted {
        response.headers_mut().insert(HEADER, value);
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn name(path: &str, meant: Option<&str>) -> UnknownName {
        UnknownName { path: path.to_owned(), meant: meant.map(str::to_owned) }
    }

    #[test]
    fn names_are_told_with_what_was_meant() {
        let unknown = [name("postback_url", Some("postbackUrl")), name("items[0].x", None)];
        assert_eq!(told(&unknown).as_deref(), Some("postback_url; did you mean postbackUrl?, items[0].x"));
    }

    #[test]
    fn a_name_that_cannot_be_shown_is_dots_and_many_are_cut() {
        assert_eq!(in_ascii(&told(&[name("paymentDetails.…", None)]).unwrap()), "paymentDetails....");
        let many: Vec<_> = (0..20).map(|_| name("x", None)).collect();
        assert_eq!(told(&many).unwrap(), format!("{}and more", "x, ".repeat(MOST)));
    }

    #[test]
    fn a_name_with_accents_is_told_and_encoded_in_the_header() {
        let told = told(&[name("descrição", None)]).unwrap();
        assert_eq!((told.as_str(), in_ascii(&told).as_str()), ("descrição", "descri%C3%A7%C3%A3o"));
    }

    #[test]
    fn a_header_that_was_meant_as_the_idempotency_key_is_told() {
        let meant = |headers: &[(&'static str, &'static str)]| {
            let request = headers.iter().fold(TestRequest::default(), |it, header| it.insert_header(*header));
            misspelt_key(&request.to_http_request()).map(|name| name.path)
        };
        assert_eq!(meant(&[("X-Idempotency-Key", "q")]).as_deref(), Some("x-idempotency-key"));
        assert_eq!(meant(&[("Idempotency_Key", "q")]).as_deref(), Some("idempotency_key"));
        assert_eq!(meant(&[("Idempotency-Key", "q")]), None);
        assert_eq!(meant(&[("Idempotency-Key", "q"), ("X-Idempotency-Key", "q")]), None);
        assert_eq!(meant(&[("X-Request-Id", "q")]), None);
    }

    #[test]
    fn a_name_of_the_body_that_was_meant_as_the_idempotency_key_is_told_as_a_header() {
        for path in ["idempotencyKey", "idempotency_key", "Idempotency-Key", "idempotency-key"] {
            let meant = meant_as_header(&name(path, None));
            assert_eq!(told(&[meant]).unwrap(), format!("{path}; send it as the header Idempotency-Key"));
        }
        let other = name("metadata.idempotencyKeys", None);
        assert_eq!(meant_as_header(&other), other);
    }

    #[test]
    fn no_card_number_is_told() {
        assert_eq!(told(&[name("a 4242424242424242", None)]), None);
        assert_eq!(told(&[name("4242 4242", None), name("4242-4242", None)]), None);
    }
}
