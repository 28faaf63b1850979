//! Reasons why a page is not shown, rendered as a page.

use actix_web::http::header::{ALLOW, LOCATION, RETRY_AFTER};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use quita_actors::Denied;
use quita_domain::payment::Refusal;
use quita_machine::NoRandomness;
use quita_ports::StoreError;
use thiserror::Error;

use super::addresses::with_next;
use super::confirmation::Confirmation;
use super::frame::Frame;
use super::language::Language;
use super::page_context::PageContext;
use super::texts::SharedTexts;
use crate::http::{ApiError, ErrorCode, request_id};
use quita_services::people::{PasswordError, PeopleError};

/// Seconds after which the sign-ins in progress will have been verified, unless others arrive.
const CROWDED_FOR_SECONDS: u64 = 3;

/// Reason why a page is not shown.
#[derive(Debug, Error)]
pub(crate) enum PageError {
    /// Nobody is signed in; holds the address to return to after signing in.
    #[error("nobody is signed in")]
    SignedOut(Option<String>),
    /// Another step must be done first, at this address of ours.
    #[error("something else is to be done first")]
    First(String),
    /// A proof of identity is required. Its page carries the original request.
    #[error("who it is must be proven once more")]
    Unconfirmed(Box<Confirmation>),
    /// The visitor's role does not permit the request.
    #[error("the role does not permit it")]
    Forbidden,
    /// The form belongs to another session.
    #[error("the form is of another session")]
    ForeignForm,
    /// The form is too large.
    #[error("the form is too large")]
    TooLarge,
    /// The form did not arrive in time.
    #[error("the form did not come in time")]
    TooSlow,
    /// This visitor has nothing at this address.
    #[error("there is nothing here")]
    NotFound,
    /// The address only supports these other methods.
    #[error("the address takes {0}")]
    WrongMethod(&'static str),
    /// The request is not possible in the current state. The text is in the visitor's language.
    #[error("{0}")]
    Refused(String),
    /// The input could not be parsed. The text is in the visitor's language.
    #[error("{0}")]
    Unreadable(String),
    /// The payment does not allow the request.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// There were too many requests; holds the seconds to wait.
    #[error("too many requests")]
    TooMany(u64),
    /// More people are signing in than can be verified in time.
    #[error("too many are signing in")]
    Crowded,
    /// The page is temporarily unavailable: it may work a moment later.
    #[error("{0}")]
    Unavailable(String),
    /// The console is closed because no operator's password is configured.
    #[error("no operator's password is configured")]
    Closed,
    /// A bug in this program.
    #[error("defect: {0}")]
    Defect(String),
}

#[derive(Template)]
#[template(path = "console/kit/failure.html")]
struct FailurePage {
    frame: Frame,
    heading: &'static str,
    sentence: String,
    /// True if the browser may retry by itself once the store is back.
    is_retried: bool,
}

impl PageError {
    /// Returns the failure for a request without a session. After signing in, the requested page is shown.
    pub(crate) fn signed_out(request: &HttpRequest) -> Self {
        // Only a page can be returned to: after signing in, a form would be resubmitted without its person's consent.
        let only_looks = *request.method() == Method::GET;
        Self::SignedOut(only_looks.then(|| PageContext::current().address_of(request)))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::SignedOut(_) | Self::First(_) => StatusCode::SEE_OTHER,
            Self::Unconfirmed(_) | Self::Forbidden | Self::ForeignForm => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Refused(_) | Self::Refusal(_) => StatusCode::CONFLICT,
            Self::Unreadable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Crowded | Self::Unavailable(_) | Self::Closed => StatusCode::SERVICE_UNAVAILABLE,
            Self::Defect(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn page(&self) -> FailurePage {
        let frame = Frame::bare();
        let texts = &frame.texts.failures;
        let (heading, sentence) = match self {
            Self::SignedOut(_) | Self::First(_) | Self::Unconfirmed(_) => (texts.signed_out, String::new()),
            Self::Forbidden => (texts.forbidden, texts.forbidden_sentence.into()),
            Self::ForeignForm => (texts.foreign_form, texts.foreign_form_sentence.into()),
            Self::TooLarge => (texts.unreadable, texts.too_large.into()),
            Self::TooSlow => (texts.too_slow, texts.too_slow_sentence.into()),
            Self::NotFound => (texts.not_found, texts.not_found_sentence.into()),
            Self::WrongMethod(_) => (texts.wrong_method, texts.wrong_method_sentence.into()),
            Self::Refused(words) => (texts.refused, words.clone()),
            Self::Refusal(refusal) => (texts.refused, frame.language().refusal(refusal)),
            Self::Unreadable(words) => (texts.unreadable, words.clone()),
            Self::TooMany(seconds) => {
                (texts.too_many, texts.too_many_sentence.replace("{seconds}", &seconds.to_string()))
            }
            Self::Crowded => (texts.crowded, texts.crowded_sentence.into()),
            Self::Unavailable(_) => match frame.outage_words() {
                Some(words) => (words.heading, words.sentence.into()),
                None => (texts.unavailable, texts.unavailable_sentence.into()),
            },
            Self::Closed => (texts.closed, texts.closed_sentence.into()),
            Self::Defect(_) => (texts.defect, texts.defect_sentence.into()),
        };
        let is_retried = matches!(self, Self::Unavailable(_)) && frame.context.only_looks;
        FailurePage { frame, heading, sentence, is_retried }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        self.status()
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status());
        match self {
            Self::SignedOut(next) => {
                let root = PageContext::current().root();
                let page = format!("{root}/sign-in");
                let address = next.as_ref().map_or_else(|| page.clone(), |next| with_next(&page, next));
                return response.insert_header((LOCATION, address)).finish();
            }
            Self::First(address) => {
                return response.insert_header((LOCATION, address.as_str())).finish();
            }
            Self::Unconfirmed(asked) => {
                let html = asked.page().render().unwrap_or_default();
                return response.content_type("text/html; charset=utf-8").body(html);
            }
            Self::TooMany(seconds) => {
                response.insert_header((RETRY_AFTER, *seconds));
            }
            Self::Crowded => {
                response.insert_header((RETRY_AFTER, CROWDED_FOR_SECONDS));
            }
            Self::WrongMethod(methods) => {
                response.insert_header((ALLOW, *methods));
            }
            Self::Unavailable(why) => {
                tracing::debug!(request.id = request_id::current(), error = %why, "a page needed something that is unavailable");
            }
            Self::Defect(why) => {
                tracing::error!(request.id = request_id::current(), %why, "a page failed because of a defect");
            }
            Self::Forbidden
            | Self::ForeignForm
            | Self::TooLarge
            | Self::TooSlow
            | Self::NotFound
            | Self::Refused(_)
            | Self::Refusal(_)
            | Self::Unreadable(_)
            | Self::Closed => {}
        }
        let html = self.page().render().unwrap_or_default();
        response.content_type("text/html; charset=utf-8").body(html)
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(why) | StoreError::Full(why) | StoreError::Broken(why) => {
                Self::Unavailable(why)
            }
            StoreError::Unreadable(why) => Self::Defect(why),
        }
    }
}

impl From<Denied> for PageError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::NotFound => Self::NotFound,
            Denied::Refused(refusal) => Self::Refusal(refusal),
            Denied::StoreUnavailable(error) => error.into(),
            Denied::KeyReused => Self::Refusal(Refusal::KeyReused),
            Denied::NoRoute | Denied::Overloaded | Denied::Interrupted | Denied::Stopping => {
                Self::Unavailable(denied.to_string())
            }
            Denied::TokenUsed
            | Denied::MethodUnavailable
            | Denied::AmountNotAccepted
            | Denied::ExpiryNotAccepted
            | Denied::Defect(_) => Self::Defect(denied.to_string()),
        }
    }
}

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        let code = error.error_code();
        let status = error.error_code().status();
        if status == StatusCode::NOT_FOUND || code == ErrorCode::UnreadableId {
            Self::NotFound
        } else if code == ErrorCode::IdempotencyKeyReused {
            Self::Refusal(Refusal::KeyReused)
        } else if status == StatusCode::SERVICE_UNAVAILABLE {
            Self::Unavailable(error.to_string())
        } else if status.is_server_error() {
            Self::Defect(error.to_string())
        } else {
            Self::Refused(Language::current().of_wording(error.message()).to_owned())
        }
    }
}

impl From<PeopleError> for PageError {
    fn from(error: PeopleError) -> Self {
        let texts = &SharedTexts::current().failures;
        match error {
            PeopleError::Store(error) => error.into(),
            PeopleError::NoSuchUser(_) => Self::NotFound,
            PeopleError::Taken(_) => Self::Refused(texts.taken.into()),
            PeopleError::NotAPassword => Self::Unreadable(texts.not_a_password.into()),
            PeopleError::WrongPassword => Self::Refused(texts.wrong_password.into()),
            PeopleError::Weak(weakness) => Self::Unreadable(Language::current().weakness(weakness)),
            PeopleError::SamePassword => Self::Unreadable(texts.same_password.into()),
            PeopleError::WrongCode => Self::Refused(texts.wrong_code.into()),
            PeopleError::CodesWait(seconds) => Self::TooMany(seconds),
            PeopleError::SignInOver | PeopleError::SessionOver => Self::SignedOut(None),
            PeopleError::NoFactor => Self::Refused(texts.no_factor.into()),
            PeopleError::NotFirst => Self::Refused(texts.not_first.into()),
            PeopleError::Disabled => Self::Refused(texts.disabled.into()),
            PeopleError::LastOperator => Self::Refused(texts.last_operator.into()),
            PeopleError::Password(PasswordError::Crowded) => Self::Crowded,
            PeopleError::Raced | PeopleError::SecretKey(_) => Self::Unavailable(error.to_string()),
            PeopleError::NoRandomness(_) | PeopleError::Password(PasswordError::Failed) => {
                Self::Defect(error.to_string())
            }
        }
    }
}

impl From<NoRandomness> for PageError {
    fn from(error: NoRandomness) -> Self {
        Self::Defect(error.to_string())
    }
}

impl From<askama::Error> for PageError {
    fn from(error: askama::Error) -> Self {
        Self::Defect(error.to_string())
    }
}
