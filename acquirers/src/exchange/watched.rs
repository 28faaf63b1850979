//! Status of the connection to a provider, recorded as it is used, for operators.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use quita_domain::identity::AcquirerName;
use quita_domain::time::Timestamp;
use quita_ports::Clock;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Exchange, ExchangeFactory, Failure, Request, Response};

/// Status of the connection to one provider, on this node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkView {
    /// Time of the provider's last readable answer, whatever it said about the payment.
    pub last_success: Option<Timestamp>,
    /// Last failure.
    pub last_error: Option<LinkError>,
}

/// Failure of a call: a request without an answer, or an answer that can't be read, or that concerns the connection and
/// not the payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkError {
    /// Time of the failure.
    pub at: Timestamp,
    /// Description without secrets, addresses or personal data.
    pub what: String,
}

/// Records the status of the connection to one provider. It is shared with those who show it, and survives a reload.
#[derive(Debug, Default)]
pub struct LinkStatus {
    /// Owner, for the log.
    acquirer: Option<AcquirerName>,
    /// True if the last request for a token failed to get one.
    has_no_token: AtomicBool,
    view: Mutex<LinkView>,
    token_requests: [AtomicU64; TokenOutcome::ALL.len()],
}

/// Outcomes of a request for an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenOutcome {
    /// With a token.
    Granted,
    /// The provider refuses to grant one.
    Refused,
    /// There was no answer, or one that decides nothing.
    Failed,
}

impl TokenOutcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Granted, Self::Refused, Self::Failed];

    /// Returns the spelling in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }

    fn of(outcome: &Result<Response, Failure>) -> Self {
        match outcome {
            // Without a token it is a page of an intermediary, such as one about maintenance.
            Ok(answer @ Response { status: 200..=299, .. }) => match AnswerForm::Token.objection(answer) {
                None => Self::Granted,
                Some(_) => Self::Failed,
            },
            // Neither is a decision about the credentials, although both are 4xx.
            Ok(Response { status: 408 | 429, .. }) => Self::Failed,
            Ok(Response { status: 400..=499, .. }) => Self::Refused,
            Ok(_) | Err(_) => Self::Failed,
        }
    }

    const fn index(self) -> usize {
        match self {
            Self::Granted => 0,
            Self::Refused => 1,
            Self::Failed => 2,
        }
    }
}

impl LinkStatus {
    /// Creates the status for this acquirer.
    pub fn of(acquirer: AcquirerName) -> Self {
        Self { acquirer: Some(acquirer), ..Self::default() }
    }

    /// Returns the current status.
    pub fn view(&self) -> LinkView {
        self.lock().clone()
    }

    /// Returns the number of token requests with this outcome.
    pub fn token_requests(&self, outcome: TokenOutcome) -> u64 {
        self.token_requests.get(outcome.index()).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, LinkView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, what: &str, outcome: &Result<Response, Failure>, form: AnswerForm, at: Timestamp) {
        let wrong = match outcome {
            Ok(answer) => {
                let is_wrong = is_about_the_way(answer.status) || form.objection(answer).is_some();
                is_wrong.then(|| form.in_words(answer))
            }
            Err(failure) => Some(failure.to_string()),
        };
        let mut view = self.lock();
        match wrong {
            None => view.last_success = Some(at),
            Some(wrong) => view.last_error = Some(LinkError { at, what: format!("{what}: {wrong}") }),
        }
    }

    fn note_token(&self, outcome: &Result<Response, Failure>, at: Timestamp) {
        self.note("token", outcome, AnswerForm::Token, at);
        let token = TokenOutcome::of(outcome);
        if let Some(count) = self.token_requests.get(token.index()) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.tell_token(token, outcome);
    }

    /// Logs the first of consecutive failed requests for a token, and the first one that succeeds again.
    fn tell_token(&self, token: TokenOutcome, outcome: &Result<Response, Failure>) {
        let has_none = token != TokenOutcome::Granted;
        // Every call requests a token while there is none, so only the change is logged.
        if self.has_no_token.swap(has_none, Ordering::Relaxed) == has_none {
            return;
        }
        let acquirer = self.acquirer.as_ref().map(AcquirerName::as_str);
        let why = match outcome {
            Ok(answer) => AnswerForm::Token.in_words(answer),
            Err(failure) => failure.to_string(),
        };
        if has_none {
            tracing::warn!(
                acquirer,
                outcome = token.as_str(),
                error = why,
                "an acquirer grants no access token: nothing can be sent to it without a valid one"
            );
        } else {
            tracing::info!(acquirer, "an acquirer grants access tokens again");
        }
    }
}

/// Returns true if an answer holds an access token (RFC 6749, section 5.1).
fn holds_token(answer: &Response) -> bool {
    let Ok(answer) = serde_json::from_slice::<Value>(&answer.body) else { return false };
    answer.get("access_token").and_then(Value::as_str).is_some_and(|token| !token.trim().is_empty())
}

/// Returns true if an answer means that we may not or should not call, or that the provider can't answer.
const fn is_about_the_way(status: u16) -> bool {
    matches!(status, 100..=199 | 300..=399 | 401 | 403 | 407 | 408 | 429) || status >= 500
}

/// Format of the answers of an exchange.
#[derive(Debug, Clone, Copy)]
enum AnswerForm {
    /// JSON, or an empty body.
    Json,
    /// JSON with an access token.
    Token,
    /// Files of any format.
    File,
}

impl AnswerForm {
    /// Returns the objection to a successful answer in another format. A refusal may come from an intermediary with a
    /// page of its own; only its status counts.
    fn objection(self, answer: &Response) -> Option<&'static str> {
        if !matches!(answer.status, 200..=299) {
            return None;
        }
        match self {
            Self::File => None,
            Self::Token => (!holds_token(answer)).then_some("the answer holds no access token"),
            Self::Json => {
                let is_readable = answer.body.trim_ascii().is_empty()
                    || serde_json::from_slice::<IgnoredAny>(&answer.body).is_ok();
                (!is_readable).then_some("the answer can't be read")
            }
        }
    }

    /// Returns the status of an answer, with the objection to its format.
    fn in_words(self, answer: &Response) -> String {
        match self.objection(answer) {
            None => format!("HTTP {}", answer.status),
            Some(objection) => format!("HTTP {}, and {objection}", answer.status),
        }
    }
}

/// Exchanges whose outcomes are recorded.
pub struct Watched {
    inner: Arc<dyn ExchangeFactory>,
    status: Arc<LinkStatus>,
    clock: Arc<dyn Clock>,
    token_url: Option<String>,
}

impl Watched {
    /// Records the outcomes of exchanges in this status. Requests to this address are token requests.
    pub fn new(
        inner: Arc<dyn ExchangeFactory>,
        status: Arc<LinkStatus>,
        clock: Arc<dyn Clock>,
        token_url: Option<String>,
    ) -> Self {
        Self { inner, status, clock, token_url }
    }
}

impl ExchangeFactory for Watched {
    fn open(&self) -> Rc<dyn Exchange> {
        self.over(self.inner.open(), AnswerForm::Json)
    }

    fn open_for_files(&self) -> Rc<dyn Exchange> {
        self.over(self.inner.open_for_files(), AnswerForm::File)
    }
}

impl Watched {
    fn over(&self, inner: Rc<dyn Exchange>, form: AnswerForm) -> Rc<dyn Exchange> {
        Rc::new(WatchedExchange {
            inner,
            form,
            status: Arc::clone(&self.status),
            clock: Arc::clone(&self.clock),
            token_url: self.token_url.clone(),
        })
    }
}

struct WatchedExchange {
    inner: Rc<dyn Exchange>,
    form: AnswerForm,
    status: Arc<LinkStatus>,
    clock: Arc<dyn Clock>,
    token_url: Option<String>,
}

#[async_trait(?Send)]
impl Exchange for WatchedExchange {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        // Some forms of token request add to the query of the address.
        let is_for_token =
            self.token_url.as_ref().is_some_and(|token_url| request.url.starts_with(token_url));
        let what = request.verb.as_str();
        let outcome = self.inner.send(request).await;
        let at = self.clock.now();
        if is_for_token {
            self.status.note_token(&outcome, at);
        } else {
            self.status.note(what, &outcome, self.form, at);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::Verb;
    use super::*;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(43_200_000)
        }
    }

    /// Returns the answer that it was given, once.
    struct Told(RefCell<Option<Result<Response, Failure>>>);

    #[async_trait(?Send)]
    impl Exchange for Told {
        async fn send(&self, _: Request) -> Result<Response, Failure> {
            self.0.borrow_mut().take().unwrap()
        }
    }

    struct Once(Result<Response, Failure>);

    impl ExchangeFactory for Once {
        fn open(&self) -> Rc<dyn Exchange> {
            Rc::new(Told(RefCell::new(Some(self.0.clone()))))
        }
    }

    async fn ended(url: &str, outcome: Result<Response, Failure>) -> Arc<LinkStatus> {
        let status = Arc::new(LinkStatus::default());
        let token_url = Some("https://bank.example/token".to_owned());
        let watched = Watched::new(Arc::new(Once(outcome)), Arc::clone(&status), Arc::new(Noon), token_url);
        watched.open().send(request(url)).await.ok();
        status
    }

    fn request(url: &str) -> Request {
        Request {
            verb: Verb::Put,
            url: url.into(),
            headers: Vec::new(),
            body: b"hunter2".to_vec().into(),
            is_repeatable: false,
        }
    }

    fn answered(status: u16) -> Result<Response, Failure> {
        answered_with(status, b"{\"key\":\"hunter2\"}")
    }

    fn answered_with(status: u16, body: &[u8]) -> Result<Response, Failure> {
        Ok(Response { status, headers: Vec::new(), body: body.to_vec() })
    }

    const CHARGE: &str = "https://bank.example/cob/1?key=hunter2";
    const TOKEN: &str = "https://bank.example/token?grant_type=client_credentials";

    #[tokio::test]
    async fn an_answer_about_the_payment_is_a_success_of_the_way() {
        for status in [200, 201, 204, 400, 404, 409, 422] {
            let view = ended(CHARGE, answered(status)).await.view();
            assert_eq!((view.last_success, view.last_error), (Some(Noon.now()), None), "{status}");
        }
    }

    #[tokio::test]
    async fn what_is_about_the_way_is_told_without_what_was_sent() {
        let down = Err(Failure::NotSent("no connection: connection refused".into()));
        for (outcome, what) in [
            (answered(401), "PUT: HTTP 401"),
            (answered(403), "PUT: HTTP 403"),
            (answered(429), "PUT: HTTP 429"),
            (answered(302), "PUT: HTTP 302"),
            (answered(503), "PUT: HTTP 503"),
            (down, "PUT: no connection: connection refused"),
        ] {
            let view = ended(CHARGE, outcome).await.view();
            let error = LinkError { at: Noon.now(), what: what.into() };
            assert_eq!((view.last_success, view.last_error), (None, Some(error)));
        }
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_read_is_no_success() {
        for (body, is_success) in [
            (&b"<html>hunter2</html>"[..], false),
            (b"{\"status\":\"ATI", false),
            (b"\xff\xfe", false),
            (b"", true),
            (b" \r\n", true),
            (b"[]", true),
        ] {
            let view = ended(CHARGE, answered_with(200, body)).await.view();
            let what = "PUT: HTTP 200, and the answer can't be read";
            let error = (!is_success).then(|| LinkError { at: Noon.now(), what: what.into() });
            assert_eq!(
                (view.last_success, view.last_error),
                (is_success.then(|| Noon.now()), error),
                "{body:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_file_may_have_any_form() {
        let status = Arc::new(LinkStatus::default());
        let inner = Arc::new(Once(answered_with(200, b"%PDF-1.7")));
        let watched = Watched::new(inner, Arc::clone(&status), Arc::new(Noon), None);
        watched.open_for_files().send(request(CHARGE)).await.unwrap();
        assert_eq!(status.view().last_success, Some(Noon.now()));
    }

    #[tokio::test]
    async fn requests_for_a_token_are_counted_by_their_end() {
        let unclear = Err(Failure::Unknown("no answer".into()));
        for (outcome, counts) in [
            (answered_with(200, b"{\"access_token\":\"hunter2\"}"), [1, 0, 0]),
            (answered_with(200, b"<html>maintenance</html>"), [0, 0, 1]),
            (answered_with(200, b"{\"error\":\"hunter2\"}"), [0, 0, 1]),
            (answered(401), [0, 1, 0]),
            (answered(400), [0, 1, 0]),
            (answered(429), [0, 0, 1]),
            (answered(500), [0, 0, 1]),
            (unclear, [0, 0, 1]),
        ] {
            let status = ended(TOKEN, outcome).await;
            assert_eq!(TokenOutcome::ALL.map(|outcome| status.token_requests(outcome)), counts);
            // A refusal about the request, such as 400, is an answer all the same.
            if counts != [0, 1, 0] {
                assert_eq!(status.view().last_success.is_some(), counts == [1, 0, 0]);
            }
        }
        let status = ended(CHARGE, answered(200)).await;
        assert_eq!(TokenOutcome::ALL.map(|outcome| status.token_requests(outcome)), [0; 3]);
    }
}
