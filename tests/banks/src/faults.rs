//! Faults of calls, independent of the books.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::{Reply, Request, Response};
use crate::chance::mixed;

/// One fault in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is cut before anything was done.
    ResetBefore,
    /// The call was done, and the connection is cut.
    ResetAfter,
    /// Answered with this status before anything was done.
    ErrorBefore(u16),
    /// The call was done, and is answered with this status.
    ErrorAfter(u16),
    /// Nothing was done, and no answer ever comes.
    SilenceBefore,
    /// The call was done, but no answer ever comes.
    SilenceAfter,
    /// 429 with `Retry-After`; nothing was done.
    Throttled {
        /// Seconds.
        retry_after_s: u64,
    },
    /// The call was done, but its answer is not JSON, or only half of it.
    Unreadable,
    /// The call is done at once, and answered after this time.
    Slow {
        /// Milliseconds.
        ms: u64,
    },
    /// 401, although the token was good; nothing was done.
    TokenRefused,
}

/// Decides the fault of a call, if any.
pub type Faults = Box<dyn FnMut(&Request) -> Option<Fault> + Send>;

/// Returns a source without faults.
pub fn none() -> Faults {
    Box::new(|_| None)
}

impl Fault {
    /// Reads `{"fault": "reset-before"}`, `{"fault": "error-after", "status": 503}`,
    /// `{"fault": "throttled", "retryAfter": 2}`, `{"fault": "slow", "ms": 50}` and so on.
    pub fn read(json: &Value) -> Option<Self> {
        let number = |name: &str| json.get(name).and_then(Value::as_u64);
        let status = || number("status").and_then(|status| u16::try_from(status).ok());
        match json.get("fault")?.as_str()? {
            "reset-before" => Some(Self::ResetBefore),
            "reset-after" => Some(Self::ResetAfter),
            "error-before" => status().map(Self::ErrorBefore),
            "error-after" => status().map(Self::ErrorAfter),
            "silence-before" => Some(Self::SilenceBefore),
            "silence-after" => Some(Self::SilenceAfter),
            "throttled" => number("retryAfter").map(|retry_after_s| Self::Throttled { retry_after_s }),
            "unreadable" => Some(Self::Unreadable),
            "slow" => number("ms").map(|ms| Self::Slow { ms }),
            "token-refused" => Some(Self::TokenRefused),
            _ => None,
        }
    }
}

/// Returns the reply to a call with this fault. `serve` performs the call, and returns its answer and delay.
pub(crate) fn struck(
    fault: Option<Fault>,
    error: impl Fn(u16) -> Response,
    serve: impl FnOnce() -> (Response, u64),
) -> Reply {
    let at_once = |response| Reply::Answer { response, after_ms: 0 };
    match fault {
        None => {
            let (response, after_ms) = serve();
            Reply::Answer { response, after_ms }
        }
        Some(Fault::Slow { ms }) => {
            let (response, after_ms) = serve();
            Reply::Answer { response, after_ms: after_ms.saturating_add(ms) }
        }
        Some(Fault::ResetBefore) => Reply::Reset,
        Some(Fault::SilenceBefore) => Reply::Silence,
        Some(Fault::ErrorBefore(status)) => at_once(error(status)),
        Some(Fault::TokenRefused) => at_once(error(401)),
        Some(Fault::Throttled { retry_after_s }) => {
            let mut response = error(429);
            response.headers.push(("retry-after".to_owned(), retry_after_s.to_string()));
            at_once(response)
        }
        Some(Fault::ResetAfter) => {
            serve();
            Reply::Reset
        }
        Some(Fault::SilenceAfter) => {
            serve();
            Reply::Silence
        }
        Some(Fault::ErrorAfter(status)) => {
            serve();
            at_once(error(status))
        }
        Some(Fault::Unreadable) => at_once(halved(serve().0)),
    }
}

/// Cuts an answer to its first half.
fn halved(mut response: Response) -> Response {
    response.body.truncate(response.body.len().div_euclid(2));
    response
}

/// Faults that a control path plans while the counterparty runs.
///
/// `{"do": "faults", "next": [FAULT or null, …]}` strikes the next calls in turn (`null` spares one);
/// `{"do": "faults", "any": [FAULT, …], "permille": 50, "seed": 1}` strikes that share of all calls with one of them;
/// `"always": FAULT` strikes whatever is left (say `slow`, for a provider that answers in 50 ms). With
/// `"path": "/cob/"` only calls whose path has that in it count, with `"method": "PUT"` only those.
/// Each command replaces the plan before it: `{"do": "faults"}` ends all.
#[derive(Clone, Default)]
pub struct Planned(Arc<Mutex<Plan>>);

#[derive(Default)]
struct Plan {
    path: Option<String>,
    method: Option<String>,
    next: VecDeque<Option<Fault>>,
    any: Vec<Fault>,
    permille: u64,
    dice: u64,
    always: Option<Fault>,
}

impl Planned {
    /// Returns the function that a counterparty asks about each call.
    pub fn faults(&self) -> Faults {
        let plan = Arc::clone(&self.0);
        Box::new(move |request| plan.lock().unwrap_or_else(PoisonError::into_inner).strike(request))
    }

    /// Takes a `faults` command.
    pub fn control(&self, command: &Value) -> Value {
        match Plan::read(command) {
            Some(plan) => {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = plan;
                json!({"ok": true})
            }
            None => json!({"error": "no such fault"}),
        }
    }
}

impl Plan {
    fn read(command: &Value) -> Option<Self> {
        let text = |name: &str| command.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| command.get(name).and_then(Value::as_u64).unwrap_or(0);
        let list = |name: &str| command.get(name).and_then(Value::as_array).into_iter().flatten();
        let spared = |json: &Value| if json.is_null() { Some(None) } else { Fault::read(json).map(Some) };
        Some(Self {
            path: text("path"),
            method: text("method"),
            next: list("next").map(spared).collect::<Option<_>>()?,
            any: list("any").map(Fault::read).collect::<Option<_>>()?,
            permille: number("permille"),
            dice: number("seed"),
            always: match command.get("always") {
                None => None,
                Some(json) => spared(json)?,
            },
        })
    }

    fn strike(&mut self, request: &Request) -> Option<Fault> {
        let counts = self.path.as_ref().is_none_or(|part| request.path.contains(part.as_str()))
            && self.method.as_ref().is_none_or(|method| *method == request.method);
        if !counts {
            return None;
        }
        if let Some(next) = self.next.pop_front() {
            return next;
        }
        if self.throw() % 1000 < self.permille {
            let count = u64::try_from(self.any.len()).unwrap_or(u64::MAX);
            let which = self.throw().checked_rem(count).and_then(|which| usize::try_from(which).ok());
            return which.and_then(|which| self.any.get(which)).copied();
        }
        self.always
    }

    /// Draws a number with SplitMix64: the same seed affects the same calls.
    fn throw(&mut self) -> u64 {
        let number = self.dice;
        self.dice = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str) -> Request {
        Request {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: Vec::new(),
            certificate: None,
        }
    }

    #[test]
    fn planned_faults_strike_in_turn_and_only_where_they_were_aimed_at() {
        let planned = Planned::default();
        let mut faults = planned.faults();
        let plan = json!({"path": "/cob/", "next": [{"fault": "reset-before"}, null, {"fault": "error-after", "status": 502}]});
        assert_eq!(planned.control(&plan), json!({"ok": true}));
        assert_eq!(faults(&get("/pix/1")), None);
        let struck: Vec<_> = (0..4).map(|_| faults(&get("/cob/1"))).collect();
        assert_eq!(struck, [Some(Fault::ResetBefore), None, Some(Fault::ErrorAfter(502)), None]);
    }

    #[test]
    fn a_share_of_calls_is_struck_and_the_same_seed_strikes_the_same_ones() {
        let struck = || {
            let planned = Planned::default();
            planned.control(&json!({"any": [{"fault": "unreadable"}], "permille": 250, "seed": 7}));
            let mut faults = planned.faults();
            (0..1000).map(|_| faults(&get("/cob"))).collect::<Vec<_>>()
        };
        let count = struck().iter().flatten().count();
        assert!((200..300).contains(&count), "{count}");
        assert_eq!(struck(), struck());
    }

    #[test]
    fn an_unknown_fault_is_refused_and_the_plan_stays() {
        let planned = Planned::default();
        planned.control(&json!({"always": {"fault": "slow", "ms": 50}}));
        assert!(planned.control(&json!({"next": [{"fault": "sloth"}]})).get("error").is_some());
        assert_eq!(planned.faults()(&get("/cob")), Some(Fault::Slow { ms: 50 }));
    }
}
