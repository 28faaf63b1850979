//! Calls with an access token: one repetition after a 401 or 403, and the meaning of an answer's status before its body
//! is read.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::CallFailure;
use quita_ports::Clock;
use serde_json::Value;

use crate::api_pix::reason;
use crate::api_pix::settings::TokenSettings;
use crate::api_pix::token::{Token, TokenKeeper};
use crate::exchange::hold::Hold;
use crate::exchange::{Exchange, Failure, Request, Response};
use crate::text;

/// Time for which nothing is sent if the bank answers 429 without stating a wait.
const THROTTLED_MS: u64 = 2_000;

/// Access to the calls of one credential.
pub(crate) struct Bearer {
    pub(crate) tokens: TokenKeeper,
    hold: Hold,
    clock: Arc<dyn Clock>,
}

/// Answer of the bank, classified by its status.
pub(crate) enum Answer {
    /// 2xx, with its body; `null` if it has none.
    Success(Value),
    /// 404.
    NotFound(String),
    /// Another 4xx that is a real answer, with its reason.
    Refused(String),
}

impl Bearer {
    pub(crate) fn new(token: TokenSettings, clock: Arc<dyn Clock>, time_out_ms: u64) -> Self {
        let time_out = Duration::from_millis(time_out_ms.max(1));
        let tokens = TokenKeeper::new(token, Arc::clone(&clock), time_out);
        Self { tokens, hold: Hold::default(), clock }
    }

    /// Makes a call. A token that the bank does not accept is replaced once, because a request answered with 401 or 403
    /// had no effect. Reasons never show the texts in `hidden`.
    pub(crate) async fn call(
        &self,
        exchange: &dyn Exchange,
        request: impl Fn(&Token) -> Request,
        hidden: &[&str],
    ) -> Result<Answer, CallFailure> {
        let tokens = &self.tokens;
        let mut token = tokens.token(exchange).await?;
        let mut response = self.send(exchange, request(&token)).await?;
        let is_replaced = match response.status {
            401 => tokens.refused(&token),
            403 => tokens.forbidden(&token),
            _ => false,
        };
        // Once only: a second refusal is not about the token, and a loop would overload the bank.
        if is_replaced {
            token = tokens.token(exchange).await?;
            response = self.send(exchange, request(&token)).await?;
            if response.status == 403 {
                // Without this record, each forbidden call would discard a valid token that other calls use.
                tokens.forbidden_again(&token);
            }
        }
        let answer = self.judge(&response, &token, hidden);
        if let Err(CallFailure::Throttled { after_ms }) = answer {
            self.hold.put(after_ms);
        }
        answer
    }

    async fn send(&self, exchange: &dyn Exchange, request: Request) -> Result<Response, CallFailure> {
        // Checked before each request, so that a call that waited for its token respects a hold that began meanwhile.
        self.hold.check()?;
        exchange.send(request).await.map_err(|failure| match failure {
            Failure::NotSent(why) => CallFailure::NotDelivered(why),
            Failure::Unknown(why) => CallFailure::Unknown(why),
        })
    }

    /// Returns the meaning of the status. Only an explicit answer counts; the effect of anything else is unknown.
    fn judge(&self, response: &Response, token: &Token, hidden: &[&str]) -> Result<Answer, CallFailure> {
        let status = response.status;
        let hidden: Vec<&str> = hidden.iter().copied().chain([token.value.expose().as_str()]).collect();
        let why = || reason::of_answer(status, &response.body, &hidden);
        let wait_ms = response.retry_after_ms(self.clock.now());
        match (status, wait_ms) {
            (200..=299, _) => read(response),
            // Authorisation is checked before a request is processed, so this one had no effect.
            (401 | 403, _) => Err(CallFailure::NotDelivered(format!("{status} {}", why()))),
            (404, _) => Ok(Answer::NotFound(why())),
            // A 503 counts as throttling only with `Retry-After`. Without it, nothing shows that the request was turned
            // away.
            (429 | 503, Some(after_ms)) => Err(CallFailure::Throttled { after_ms }),
            (429, None) => Err(CallFailure::Throttled { after_ms: THROTTLED_MS }),
            // A server may answer 408 after it has begun to process the request.
            (408, _) => Err(CallFailure::Unknown(format!("408 {}", why()))),
            (400..=499, _) => Ok(Answer::Refused(why())),
            _ => Err(CallFailure::Unknown(format!("{status} {}", why()))),
        }
    }
}

fn read(response: &Response) -> Result<Answer, CallFailure> {
    if response.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Answer::Success(Value::Null));
    }
    text::json(&response.body)
        .map(Answer::Success)
        .ok_or_else(|| CallFailure::Unknown(format!("the answer {} can't be read", response.status)))
}
