//! A merchant's client: a key, JSON, and answers instead of errors.

use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

use super::answer::Answer;

const LARGEST_ANSWER: u64 = 16 * 1024 * 1024;
const TIME_OUT: Duration = Duration::from_secs(60);

/// A client of one address, with or without a key.
#[derive(Clone)]
pub(crate) struct Client {
    base: String,
    key: Option<String>,
    agent: Agent,
}

impl Client {
    pub(crate) fn new(base: &str, key: Option<&str>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .allow_non_standard_methods(true)
            .timeout_global(Some(TIME_OUT));
        let agent = config.build().into();
        Self { base: base.to_owned(), key: key.map(str::to_owned), agent }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, &[], body)
    }

    /// A POST without a body.
    pub(crate) fn post_empty(&self, path: &str) -> Answer {
        self.send("POST", path, &[], b"")
    }

    /// A POST with headers of its own.
    pub(crate) fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut all = vec![("Content-Type", "application/json")];
        all.extend(headers);
        self.send("POST", path, &all, body.to_string().as_bytes())
    }

    /// A POST with an `Idempotency-Key`.
    pub(crate) fn post_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        self.post_with(path, &[("Idempotency-Key", key)], body)
    }

    /// Any request. `Authorization` is added unless it is among the headers or there is no key.
    ///
    /// # Panics
    /// If there is no answer at all.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let sent = self.try_send(method, path, headers, body);
        sent.unwrap_or_else(|error| panic!("{method} {path} had no answer: {error}"))
    }

    /// The same; no answer at all is an error.
    pub(crate) fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.base) };
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let names_key = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if let Some(key) = self.key.as_ref().filter(|_| !names_key) {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let is_bodiless = body.is_empty() && method != "POST";
        let mut response = if is_bodiless {
            self.agent.run(request.body(())?)?
        } else {
            self.agent.run(request.body(body)?)?
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = response.headers().iter();
        Ok(Answer {
            request: format!("{method} {path}"),
            status: response.status().as_u16(),
            headers: headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect(),
            body: response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec()?,
        })
    }

    /// Creates a payment and gives its record.
    #[track_caller]
    pub(crate) fn create(&self, request: &Value) -> Value {
        self.post("/pay/payments", request).expect(201)
    }

    /// The record of a payment.
    #[track_caller]
    pub(crate) fn payment(&self, id: &str) -> Value {
        self.get(&format!("/pay/payments/{id}")).expect(200)
    }

    /// Waits until a payment has a status, and gives its record then.
    #[track_caller]
    pub(crate) fn wait_for_status(&self, id: &str, status: &str) -> Value {
        self.wait_for_status_within(super::PATIENCE, id, status)
    }

    /// The same, for what takes longer.
    #[track_caller]
    pub(crate) fn wait_for_status_within(&self, within: Duration, id: &str, status: &str) -> Value {
        let mut last = Value::Null;
        let end = Instant::now() + within;
        while Instant::now() < end {
            last = self.payment(id);
            if last["status"] == status {
                return last;
            }
            super::pause(Duration::from_millis(20));
        }
        panic!("{id} did not become {status}: {last:#}");
    }

    /// The events of a payment, oldest first.
    #[track_caller]
    pub(crate) fn events(&self, id: &str) -> Vec<Value> {
        let page = self.get(&format!("/pay/payments/{id}/events")).expect(200);
        page["data"].as_array().unwrap().clone()
    }

    /// The statuses that a payment went through.
    #[track_caller]
    pub(crate) fn history(&self, id: &str) -> Vec<String> {
        self.events(id).iter().map(|event| event["status"].as_str().unwrap().to_owned()).collect()
    }

    /// The deliveries of a payment, as listed.
    #[track_caller]
    pub(crate) fn deliveries(&self, id: &str) -> Vec<Value> {
        let path = format!("/pay/webhooks/deliveries?limit=100&transactionId={id}");
        self.get(&path).expect(200)["data"].as_array().unwrap().clone()
    }
}
