//! Submitted forms.

use std::pin::Pin;

use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Payload;
use actix_web::{FromRequest, HttpRequest, dev};
use quita_domain::card::holds_card_number;
use quita_domain::secret::Secret;
use subtle::ConstantTimeEq;
use tokio::time::timeout;
use url::form_urlencoded;

use super::cookies::form_token;
use super::page_error::PageError;
use super::texts::SharedTexts;
use crate::http::BODY_TIME_OUT;

/// Form field that carries the form token.
const TOKEN_FIELD: &str = "formToken";
/// Maximum size of a form in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Fields of a form whose token was verified.
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a form that must belong to one of the visitor's cookies.
    ///
    /// # Errors
    /// [`PageError::ForeignForm`] if it does not, or if it is not a form at all. [`PageError::TooSlow`] if it does not
    /// arrive in time. [`PageError::TooLarge`] if it is larger than any form of ours.
    pub(crate) async fn read<'a>(
        request: &HttpRequest,
        payload: Payload,
        cookies: impl IntoIterator<Item = &'a Secret<String>>,
    ) -> Result<Self, PageError> {
        // A client that was shown no form has none to send, so nothing is read.
        let cookies: Vec<_> = cookies.into_iter().collect();
        if cookies.is_empty() {
            return Err(PageError::ForeignForm);
        }
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("application/x-www-form-urlencoded") {
            return Err(PageError::ForeignForm);
        }
        let body = timeout(BODY_TIME_OUT, payload.to_bytes_limited(MAX_BYTES)).await;
        let body = body.map_err(|_| PageError::TooSlow)?.map_err(|_| PageError::TooLarge)?;
        let body = body.map_err(|_| PageError::ForeignForm)?;
        let form = Self(form_urlencoded::parse(&body).into_owned().collect());
        let given = form.text(TOKEN_FIELD).as_bytes();
        let belongs_to = |cookie| bool::from(given.ct_eq(form_token(cookie).as_bytes()));
        if cookies.into_iter().any(belongs_to) { Ok(form) } else { Err(PageError::ForeignForm) }
    }

    /// Returns the trimmed text of a field, or an empty one if the field is missing. It is meant to be parsed or
    /// compared: read text that is stored with [`Form::words`], [`Form::lines`] or [`Form::address`].
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value.trim())
    }

    /// Returns the values of all fields with this name, trimmed.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.trim())
    }

    /// Returns every field except the token and this one, so that they can be resubmitted.
    pub(crate) fn fields_but(&self, left_out: &str) -> Vec<(String, String)> {
        let is_kept = |(name, _): &&(String, String)| name != TOKEN_FIELD && name != left_out;
        self.0.iter().filter(is_kept).cloned().collect()
    }

    /// Returns a secret field exactly as it was entered.
    pub(crate) fn secret(&self, name: &str) -> Secret<String> {
        let given = self.0.iter().find(|(given, _)| given == name);
        Secret::new(given.map(|(_, value)| value.clone()).unwrap_or_default())
    }

    /// Reads a printable line of 1 to `most` characters, without a card number.
    ///
    /// # Errors
    /// [`PageError::Unreadable`] with the text `otherwise`, or with the text about card numbers.
    pub(crate) fn words(
        &self,
        name: &str,
        most: usize,
        otherwise: &'static str,
    ) -> Result<String, PageError> {
        let text = self.lines(name, most, otherwise)?;
        if text.contains('\n') { Err(PageError::Unreadable(otherwise.into())) } else { Ok(text) }
    }

    /// Reads printable text of several lines like [`Form::words`], and ends each with `\n`, whatever line break the
    /// browser uses.
    ///
    /// # Errors
    /// Same as for [`Form::words`].
    pub(crate) fn lines(
        &self,
        name: &str,
        most: usize,
        otherwise: &'static str,
    ) -> Result<String, PageError> {
        let text = self.text(name).replace("\r\n", "\n");
        let is_printable = !text.chars().any(|character| character.is_control() && character != '\n');
        // The length is checked first, because it limits the search for numbers.
        if !is_printable || !(1..=most).contains(&text.chars().count()) {
            return Err(PageError::Unreadable(otherwise.into()));
        }
        without_card_number(&text)?;
        Ok(text)
    }

    /// Reads an address of a person or a server that will be stored. `read` must accept it, and it must not contain a
    /// card number.
    ///
    /// # Errors
    /// Same as for [`Form::words`].
    pub(crate) fn address<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Option<T>,
        otherwise: &'static str,
    ) -> Result<T, PageError> {
        let text = self.text(name);
        let address = read(text).ok_or_else(|| PageError::Unreadable(otherwise.into()))?;
        without_card_number(text)?;
        Ok(address)
    }
}

/// Refuses text that contains a likely card number (PCI DSS 4.0.1, 3.5.1). Such texts are stored, many of them
/// permanently in the audit log.
fn without_card_number(text: &str) -> Result<(), PageError> {
    if holds_card_number(text) {
        return Err(PageError::Unreadable(SharedTexts::current().failures.holds_card_number.into()));
    }
    Ok(())
}

/// Result of an extractor.
pub(crate) type PageFuture<T> = Pin<Box<dyn Future<Output = Result<T, PageError>>>>;

/// Visitor who is signed in to a console.
pub(crate) trait SignedIn: FromRequest<Error = PageError> + 'static {
    /// Returns the token of the session.
    fn token(&self) -> &Secret<String>;
}

/// Form, and the visitor who sent it within their own session.
pub(crate) struct SignedForm<V> {
    pub(crate) visitor: V,
    pub(crate) form: Form,
}

impl<V: SignedIn> FromRequest for SignedForm<V> {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let (request, body) = (request.clone(), Payload::from_request(request, payload));
        Box::pin(async move {
            let body = body.await.map_err(|error| PageError::Defect(error.to_string()))?;
            let visitor = V::extract(&request).await?;
            let form = Form::read(&request, body, Some(visitor.token())).await?;
            Ok(Self { visitor, form })
        })
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use futures_util::stream;
    use tokio::time::Instant;

    use super::*;

    const BAD: &str = "bad";

    fn form(text: &str) -> Form {
        Form(vec![(String::from("note"), text.into())])
    }

    #[test]
    fn no_text_that_is_kept_holds_a_card_number_whichever_way_it_is_read() {
        for number in [
            "Loja 4242 4242 4242 4242",
            "4242424242424242@loja.example",
            "https://a.example/4242424242424242",
        ] {
            let form = form(number);
            let read = [
                form.words("note", 60, BAD),
                form.lines("note", 60, BAD),
                form.address("note", |text| Some(text.to_owned()), BAD),
            ];
            for refused in read {
                let refused = refused.unwrap_err();
                assert_eq!(
                    refused.to_string(),
                    SharedTexts::current().failures.holds_card_number,
                    "{number}"
                );
            }
        }
        for fine in ["Loja 4242", "Pedido 4242 4242 4242 4241", "ana@loja.example"] {
            assert_eq!(form(fine).words("note", 60, BAD).unwrap(), fine);
        }
    }

    #[test]
    fn a_text_that_is_kept_is_printable_and_of_some_length() {
        for bad in ["", " \r\n ", "a\u{0}b", "a\nb", "abcdefg"] {
            assert_eq!(form(bad).words("note", 6, BAD).unwrap_err().to_string(), BAD, "{bad:?}");
        }
        assert_eq!(form("a\r\nb").lines("note", 6, BAD).unwrap(), "a\nb");
        assert_eq!(form("x").address("note", |_| None::<()>, BAD).unwrap_err().to_string(), BAD);
    }

    /// Returns a form whose body never arrives.
    async fn without_its_body() -> (HttpRequest, Payload) {
        let kind = (CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = TestRequest::post().insert_header(kind).to_http_request();
        let never = stream::pending::<Result<actix_web::web::Bytes, actix_web::error::PayloadError>>();
        let mut body: dev::Payload = dev::Payload::Stream { payload: Box::pin(never) };
        let payload = Payload::from_request(&request, &mut body).await.unwrap();
        (request, payload)
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_that_does_not_come_is_waited_for_no_longer_than_any_body() {
        let (request, payload) = without_its_body().await;
        let begun = Instant::now();
        let visit = Secret::new("a visit".to_owned());
        let refused = Form::read(&request, payload, [&visit]).await.err().unwrap();
        assert!(matches!(refused, PageError::TooSlow), "{refused}");
        assert_eq!(begun.elapsed(), BODY_TIME_OUT);
    }

    #[tokio::test(start_paused = true)]
    async fn of_whoever_was_shown_no_form_none_is_read() {
        let (request, payload) = without_its_body().await;
        let begun = Instant::now();
        let refused = Form::read(&request, payload, None).await.err().unwrap();
        assert!(matches!(refused, PageError::ForeignForm), "{refused}");
        assert!(begun.elapsed().is_zero());
    }
}
