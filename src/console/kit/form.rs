//! A form that was sent.

use std::pin::Pin;

use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Payload;
use actix_web::{FromRequest, HttpRequest, dev};
use quita_domain::secret::Secret;
use subtle::ConstantTimeEq;
use tokio::time::timeout;
use url::form_urlencoded;

use super::cookies::form_token;
use super::failure::Failure;
use crate::http::BODY_TIME_OUT;

/// The field that carries the token of the form.
const TOKEN_FIELD: &str = "formToken";
/// The most bytes of a form.
const MAX_BYTES: usize = 64 * 1024;

/// The fields of a form whose token was right.
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a form that must belong to the visitor's cookie, or to one of them.
    ///
    /// # Errors
    /// [`Failure::ForeignForm`] if it does not, and if it is no form at all; [`Failure::TooSlow`] and
    /// [`Failure::TooLarge`] if it does not come in time or is no form of ours.
    pub(crate) async fn read<'a>(
        request: &HttpRequest,
        payload: Payload,
        cookies: impl IntoIterator<Item = &'a Secret<String>>,
    ) -> Result<Self, Failure> {
        // Whoever was shown no form has none to send: nothing is read.
        let cookies: Vec<_> = cookies.into_iter().collect();
        if cookies.is_empty() {
            return Err(Failure::ForeignForm);
        }
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("application/x-www-form-urlencoded") {
            return Err(Failure::ForeignForm);
        }
        let body = timeout(BODY_TIME_OUT, payload.to_bytes_limited(MAX_BYTES)).await;
        let body = body.map_err(|_| Failure::TooSlow)?.map_err(|_| Failure::TooLarge)?;
        let body = body.map_err(|_| Failure::ForeignForm)?;
        let form = Self(form_urlencoded::parse(&body).into_owned().collect());
        let given = form.text(TOKEN_FIELD).as_bytes();
        let belongs_to = |cookie| bool::from(given.ct_eq(form_token(cookie).as_bytes()));
        if cookies.into_iter().any(belongs_to) { Ok(form) } else { Err(Failure::ForeignForm) }
    }

    /// What was entered in a field, without blanks around it; empty if there is no such field.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value.trim())
    }

    /// What was entered or ticked in all fields of a name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.trim())
    }

    /// Every field but the token and this one, to be sent again.
    pub(crate) fn fields_but(&self, left_out: &str) -> Vec<(String, String)> {
        let is_kept = |(name, _): &&(String, String)| name != TOKEN_FIELD && name != left_out;
        self.0.iter().filter(is_kept).cloned().collect()
    }

    /// What was entered in a field that nobody may read, to the letter.
    pub(crate) fn secret(&self, name: &str) -> Secret<String> {
        let given = self.0.iter().find(|(given, _)| given == name);
        Secret::new(given.map(|(_, value)| value.clone()).unwrap_or_default())
    }

    /// A line of a person, if it is printable and of 1 to `most` characters.
    pub(crate) fn words(&self, name: &str, most: usize) -> Option<String> {
        self.lines(name, most).filter(|text| !text.contains('\n'))
    }

    /// The same of several lines, which end with `\n`, however the browser ends them.
    pub(crate) fn lines(&self, name: &str, most: usize) -> Option<String> {
        let text = self.text(name).replace("\r\n", "\n");
        let is_printable = !text.chars().any(|character| character.is_control() && character != '\n');
        (is_printable && (1..=most).contains(&text.chars().count())).then_some(text)
    }
}

/// What an extractor finds out.
pub(crate) type Extracted<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

/// Somebody who is signed in to a console.
pub(crate) trait SignedIn: FromRequest<Error = Failure> + 'static {
    /// The token of the session.
    fn token(&self) -> &Secret<String>;
}

/// A form, and the visitor who sent it within the own session.
pub(crate) struct SignedForm<V> {
    pub(crate) visitor: V,
    pub(crate) form: Form,
}

impl<V: SignedIn> FromRequest for SignedForm<V> {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let (request, body) = (request.clone(), Payload::from_request(request, payload));
        Box::pin(async move {
            let body = body.await.map_err(|error| Failure::Defect(error.to_string()))?;
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

    #[tokio::test(start_paused = true)]
    async fn a_form_that_does_not_come_is_waited_for_no_longer_than_any_body() {
        let kind = (CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = TestRequest::post().insert_header(kind).to_http_request();
        let never = stream::pending::<Result<actix_web::web::Bytes, actix_web::error::PayloadError>>();
        let mut body: dev::Payload = dev::Payload::Stream { payload: Box::pin(never) };
        let payload = Payload::from_request(&request, &mut body).await.unwrap();
        let begun = Instant::now();
        let visit = Secret::new("a visit".to_owned());
        let refused = Form::read(&request, payload, [&visit]).await.err().unwrap();
        assert!(matches!(refused, Failure::TooSlow), "{refused}");
        assert_eq!(begun.elapsed(), BODY_TIME_OUT);
    }

    #[tokio::test(start_paused = true)]
    async fn of_whoever_was_shown_no_form_none_is_read() {
        let kind = (CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = TestRequest::post().insert_header(kind).to_http_request();
        let never = stream::pending::<Result<actix_web::web::Bytes, actix_web::error::PayloadError>>();
        let mut body: dev::Payload = dev::Payload::Stream { payload: Box::pin(never) };
        let payload = Payload::from_request(&request, &mut body).await.unwrap();
        let begun = Instant::now();
        let refused = Form::read(&request, payload, None).await.err().unwrap();
        assert!(matches!(refused, Failure::ForeignForm), "{refused}");
        assert!(begun.elapsed().is_zero());
    }
}
