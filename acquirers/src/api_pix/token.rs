//! The access token: one for all calls on all threads, requested by only one of them at a time.
//!
//! One call renews it shortly before its end, while the others continue with the current one. If there is none, calls
//! wait for the one that requests it, and its result applies to all that waited. If the bank wants fewer requests for
//! tokens, calls wait for as long as their callers do. Waiting does not count towards the call's own time. A token
//! never leaves without its certificate: other settings have another keeper. Nothing here is a call to the API: a call
//! that gets no token never left the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quita_domain::acquiring::CallFailure;
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, call_time};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use url::form_urlencoded;

use super::settings::{TokenForm, TokenSettings};
use super::{lenient, reason};
use crate::exchange::{Exchange, Failure, Request, Response, Verb};
use crate::text;

/// Lifetime in seconds of a token if the bank does not state it: the shortest that is known (Itaú's).
const ASSUMED_S: u64 = 300;
/// Bounds within which a bank's figure is trusted. A shorter one would be used once; a 401 ends a longer one.
const SHORTEST_S: u64 = 2;
const LONGEST_S: u64 = 24 * 3_600;
/// Time before its end at which a token is renewed: a tenth of its time, and no more than this.
const MARGIN: Duration = Duration::from_secs(60);
/// Time for which the old token is used after a failed renewal, before the next attempt.
const RENEWAL_GAP: Duration = Duration::from_secs(5);
/// Milliseconds without a request if the bank answers "too many" without stating a wait.
const THROTTLED_MS: u64 = 2_000;
/// Maximum number of characters of a token, which is sent as a header.
const MAX_CHARACTERS: usize = 16_384;

const LATE: &str = "its address did not answer in time";
const HELD: &str = "its address wants fewer calls";

/// A token, and which one it is.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) value: Secret<String>,
    number: u64,
}

/// Keeps the token of one credential.
pub(crate) struct TokenKeeper {
    settings: TokenSettings,
    clock: Arc<dyn Clock>,
    /// Longest time of one request for a token.
    time_out: Duration,
    kept: Mutex<TokenCache>,
    /// Held by the one that asks.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct TokenCache {
    token: Option<Lasting>,
    /// Number of requests.
    count: u64,
    /// Number of failed requests, and the last failure.
    failures: u64,
    failure: String,
    throttled_until: Option<Instant>,
    /// Token that the bank forbids like the one it replaced: the cause is not the token.
    forbidden: Option<u64>,
}

/// Reasons for having no token.
enum NoToken {
    /// It was refused, or there was no answer that could be used.
    Failed(String),
    /// The bank wants no request for one before that time.
    Held(Instant),
}

/// A token with its time.
#[derive(Clone)]
struct Lasting {
    token: Token,
    renewed_from: Instant,
    ends: Instant,
    /// The same by the wall clock, for people.
    until: Timestamp,
}

impl TokenKeeper {
    pub(crate) fn new(settings: TokenSettings, clock: Arc<dyn Clock>, time_out: Duration) -> Self {
        Self { settings, clock, time_out, kept: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// A token that lasts.
    ///
    /// # Errors
    /// [`CallFailure::NotDelivered`] if none can be had, [`CallFailure::Withheld`] if the call would have to wait for
    /// longer than it may: what needs it did not leave.
    pub(crate) async fn token(&self, exchange: &dyn Exchange) -> Result<Token, CallFailure> {
        let latest = call_time::waits_until();
        // Whoever can't wait is told at once why there is none.
        let token = self.token_until(exchange, latest.unwrap_or_else(Instant::now));
        let refused = match call_time::waiting(token).await {
            Ok(Ok(token)) => return Ok(token),
            Ok(Err(NoToken::Held(_))) if latest.is_some() => return Err(CallFailure::Withheld),
            Err(call_time::WaitedTooLong) => return Err(CallFailure::Withheld),
            Ok(Err(NoToken::Held(_))) => HELD.to_owned(),
            Ok(Err(NoToken::Failed(why))) => why,
        };
        Err(CallFailure::NotDelivered(format!("no access token: {refused}")))
    }

    /// Returns a valid token. If the bank wants fewer requests, waits for one until this time.
    async fn token_until(&self, exchange: &dyn Exchange, latest: Instant) -> Result<Token, NoToken> {
        if let TokenSettings::Static(value) = &self.settings {
            return Ok(Token { value: value.clone(), number: 0 });
        }
        loop {
            let (kept, failures_before) = {
                let kept = self.kept();
                (kept.lasting(Instant::now()), kept.failures)
            };
            let answer = match kept {
                Some(lasting) if Instant::now() < lasting.renewed_from => return Ok(lasting.token),
                Some(lasting) => self.renewed(lasting, exchange).await,
                None => self.waited_for(failures_before, exchange).await,
            };
            let why = match answer {
                Ok(token) => return Ok(token),
                Err(why) => why,
            };
            if let Some(lasting) = self.kept().lasting(Instant::now()) {
                return Ok(lasting.token);
            }
            match why {
                NoToken::Held(until) if until <= latest => sleep_until(until).await,
                NoToken::Held(_) | NoToken::Failed(_) => return Err(why),
            }
        }
    }

    /// Gets a token if there is none, waiting until then. Returns true if a call may be tried.
    pub(crate) async fn prepare(&self, exchange: &dyn Exchange, latest: Instant) -> bool {
        match timeout_at(latest, self.token_until(exchange, latest)).await {
            // The call will get the same refusal, and report it to the payment.
            Ok(Ok(_) | Err(NoToken::Failed(_))) => true,
            Ok(Err(NoToken::Held(_))) | Err(_) => false,
        }
    }

    /// Says whether there is a token that lasts.
    pub(crate) fn is_there(&self) -> bool {
        match &self.settings {
            TokenSettings::Static(_) => true,
            TokenSettings::ClientCredentials { .. } => self.kept().lasting(Instant::now()).is_some(),
        }
    }

    /// Returns the time for which no token can be obtained; `None` if there is one, or it may be requested.
    pub(crate) fn held_for(&self) -> Option<Duration> {
        let kept = self.kept();
        let now = Instant::now();
        let is_missing = kept.lasting(now).is_none();
        let left = kept.throttled_until.map(|until| until.saturating_duration_since(now))?;
        (is_missing && !left.is_zero()).then_some(left)
    }

    /// Discards a token that the bank did not accept (401). Returns true if another one can be obtained.
    pub(crate) fn refused(&self, token: &Token) -> bool {
        let mut kept = self.kept();
        if kept.token.as_ref().is_some_and(|lasting| lasting.token.number == token.number) {
            kept.token = None;
        }
        match &self.settings {
            // A configured token has no successor, so a repetition would send the same one.
            TokenSettings::Static(_) => false,
            TokenSettings::ClientCredentials { .. } => true,
        }
    }

    /// Handles a request that the bank forbids with this token (403), as some do once they have forgotten it. Returns
    /// true if another token can be obtained and may help.
    pub(crate) fn forbidden(&self, token: &Token) -> bool {
        let is_known = self.kept().forbidden == Some(token.number);
        !is_known && self.refused(token)
    }

    /// Records that the bank forbids it with a new token as well. As long as that one lasts, no other is requested
    /// because of a 403.
    pub(crate) fn forbidden_again(&self, token: &Token) {
        self.kept().forbidden = Some(token.number);
    }

    /// Until when the token lasts that is kept.
    pub(crate) fn until(&self) -> Option<Timestamp> {
        self.kept().lasting(Instant::now()).map(|lasting| lasting.until)
    }

    fn kept(&self) -> MutexGuard<'_, TokenCache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews a token that is still valid, unless another call is already doing so.
    async fn renewed(&self, lasting: Lasting, exchange: &dyn Exchange) -> Result<Token, NoToken> {
        // Nobody waits for a renewal while the old token lasts: a slow token endpoint must not slow down payments.
        let Ok(_asking) = self.asking.try_lock() else { return Ok(lasting.token) };
        // Whatever the result of this attempt, the next one comes a little later.
        if let Some(kept) = self.kept().token.as_mut() {
            kept.renewed_from = Instant::now().checked_add(RENEWAL_GAP).unwrap_or(kept.ends);
        }
        self.asked(exchange).await
    }

    /// Waits for a token if there is none; the first call in the queue requests it.
    async fn waited_for(&self, failures_before: u64, exchange: &dyn Exchange) -> Result<Token, NoToken> {
        let _asking = self.asking.lock().await;
        {
            let kept = self.kept();
            if let Some(lasting) = kept.lasting(Instant::now()) {
                return Ok(lasting.token);
            }
            // The one before this call in the queue has failed. Asking
            // again for each waiting call would flood the bank.
            if kept.failures > failures_before {
                let held = kept.throttled_until.filter(|until| *until > Instant::now());
                return Err(held.map_or_else(|| NoToken::Failed(kept.failure.clone()), NoToken::Held));
            }
        }
        self.asked(exchange).await
    }

    /// Asks, unless the bank wants no question now.
    async fn asked(&self, exchange: &dyn Exchange) -> Result<Token, NoToken> {
        let held = |kept: &TokenCache| kept.throttled_until.filter(|until| *until > Instant::now());
        if let Some(until) = held(&self.kept()) {
            return Err(NoToken::Held(until));
        }
        let Some(request) = self.request() else { return Err(NoToken::Failed("it has no address".into())) };
        let answer = match timeout(self.time_out, exchange.send(request)).await {
            Ok(Ok(response)) => self.read(&response),
            Ok(Err(Failure::NotSent(why) | Failure::Unknown(why))) => Err(why),
            Err(_) => Err(LATE.to_owned()),
        };
        answer.map_err(|why| {
            let mut kept = self.kept();
            kept.failures = kept.failures.saturating_add(1);
            kept.failure.clone_from(&why);
            held(&kept).map_or(NoToken::Failed(why), NoToken::Held)
        })
    }

    fn read(&self, response: &Response) -> Result<Token, String> {
        let wait_ms = response.retry_after_ms(self.clock.now());
        let is_throttled = response.status == 429 || (response.status == 503 && wait_ms.is_some());
        if is_throttled {
            let wait = Duration::from_millis(wait_ms.unwrap_or(THROTTLED_MS));
            self.kept().throttled_until = Instant::now().checked_add(wait);
        }
        if !(200..300).contains(&response.status) {
            let why = reason::of_answer(response.status, &response.body, &self.secrets());
            return Err(format!("{} {why}", response.status));
        }
        let unreadable = || "its answer can't be read".to_owned();
        let answer: Value = text::json(&response.body).ok_or_else(unreadable)?;
        let value = lenient::text(&answer, "access_token").ok_or_else(unreadable)?;
        // The token becomes a header, where a blank or line break would end it or begin another one.
        if value.len() > MAX_CHARACTERS || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unreadable());
        }
        Ok(self.keep(value, lenient::whole(&answer, "expires_in")))
    }

    fn keep(&self, value: &str, seconds: Option<u64>) -> Token {
        let seconds = seconds.unwrap_or(ASSUMED_S).clamp(SHORTEST_S, LONGEST_S);
        let now = Instant::now();
        let lasts = Duration::from_secs(seconds);
        let after = |wait: Duration| now.checked_add(wait).unwrap_or(now);
        // A tenth keeps tokens of few seconds usable; a minute is enough for those that last for hours.
        let renewed_after = lasts.saturating_sub((lasts / 10).min(MARGIN));
        let mut kept = self.kept();
        kept.count = kept.count.saturating_add(1);
        let token = Token { value: Secret::new(value.to_owned()), number: kept.count };
        kept.token = Some(Lasting {
            token: token.clone(),
            renewed_from: after(renewed_after),
            ends: after(lasts),
            until: self.clock.now().plus_ms(seconds.saturating_mul(1_000)),
        });
        token
    }

    fn secrets(&self) -> Vec<&str> {
        match &self.settings {
            TokenSettings::ClientCredentials { client_secret: Some(secret), .. } => vec![secret.expose()],
            TokenSettings::ClientCredentials { client_secret: None, .. } | TokenSettings::Static(_) => vec![],
        }
    }

    /// Returns the request for a token, according to OAuth 2.0 (RFC 6749, section 4.4) and the banks' deviations.
    fn request(&self) -> Option<Request> {
        let TokenSettings::ClientCredentials { url, form, client_id, client_secret, scope } = &self.settings
        else {
            return None;
        };
        let secret = client_secret.as_ref().map_or("", |secret| secret.expose().as_str());
        let mut headers = vec![("accept".to_owned(), "application/json".to_owned())];
        let in_header = match form {
            TokenForm::BasicForm | TokenForm::BasicJson => true,
            TokenForm::Form | TokenForm::FormNoSecret => false,
        };
        if in_header {
            let basic = STANDARD.encode(format!("{client_id}:{secret}"));
            headers.push(("authorization".into(), format!("Basic {basic}")));
        }
        let id_and_secret: &[(&str, &str)] = match form {
            TokenForm::BasicForm | TokenForm::BasicJson => &[],
            TokenForm::Form => &[("client_id", client_id), ("client_secret", secret)],
            TokenForm::FormNoSecret => &[("client_id", client_id)],
        };
        let scope = Some(("scope", scope.as_str())).filter(|(_, scope)| !scope.is_empty());
        let body = match form {
            TokenForm::BasicJson => {
                headers.push(("content-type".into(), "application/json".into()));
                let mut body = json!({ "grant_type": "client_credentials" });
                if let (Some((name, scope)), Some(fields)) = (scope, body.as_object_mut()) {
                    fields.insert(name.into(), scope.into());
                }
                body.to_string()
            }
            TokenForm::BasicForm | TokenForm::Form | TokenForm::FormNoSecret => {
                headers.push(("content-type".into(), "application/x-www-form-urlencoded".into()));
                let mut body = form_urlencoded::Serializer::new(String::new());
                body.extend_pairs(id_and_secret).append_pair("grant_type", "client_credentials");
                body.extend_pairs(scope).finish()
            }
        };
        // A token more does no harm.
        let body = body.into_bytes().into();
        let is_repeatable = true;
        Some(Request { verb: Verb::Post, url: url.clone(), headers, body, is_repeatable })
    }
}

impl TokenCache {
    /// The one that is kept, if it still lasts.
    fn lasting(&self, now: Instant) -> Option<Lasting> {
        self.token.as_ref().filter(|lasting| now < lasting.ends).cloned()
    }
}
