//! Every call to the bank: address, headers, and the token of its credential.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quita_domain::acquiring::{CallFailure, ChargeQuery, Reference};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::Clock;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::form_urlencoded;
use uuid::Uuid;

use super::reason;
use super::settings::ApiPixSettings;
use super::token::Token;
pub(super) use crate::bearer::Answer;
use crate::bearer::Bearer;
use crate::exchange::{Exchange, ExchangeFactory, Request, Verb};

/// One configuration with everything that belongs to its credential. Another configuration has another one of these;
/// calls under way keep theirs until they end.
pub(super) struct Credential {
    pub(super) settings: ApiPixSettings,
    pub(super) exchanges: Arc<dyn ExchangeFactory>,
    pub(super) bearer: Bearer,
    clock: Arc<dyn Clock>,
    /// Number of calls so far.
    calls: AtomicU64,
}

impl Credential {
    pub(super) fn new(
        settings: ApiPixSettings,
        exchanges: Arc<dyn ExchangeFactory>,
        clock: Arc<dyn Clock>,
        time_out_ms: u64,
    ) -> Self {
        let bearer = Bearer::new(settings.token.clone(), Arc::clone(&clock), time_out_ms);
        Self { settings, exchanges, bearer, clock, calls: AtomicU64::new(0) }
    }

    /// Returns a UUID that is unique in this service, derived from the time, the number of the call and its purpose.
    pub(super) fn fresh_uuid(&self, what: &str) -> Uuid {
        let mut hash = Sha256::new_with_prefix("quita call 1");
        hash.update(self.clock.now().millis().to_be_bytes());
        hash.update(self.calls.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        hash.update(what);
        super::uuid_of(hash)
    }

    /// Returns true if a key that the bank names is the one that receives our money.
    pub(super) fn is_our_key(&self, key: &str) -> bool {
        key.trim().eq_ignore_ascii_case(&self.settings.pix_key)
    }

    /// Returns true if a key receives the money of this charge: ours, or the one that was ours when the charge was
    /// created.
    pub(super) fn receives(&self, key: &str, query: &ChargeQuery) -> bool {
        let before = query.reference.get(Reference::KEY);
        self.is_our_key(key) || before.is_some_and(|before| before.eq_ignore_ascii_case(key.trim()))
    }

    /// The time of the wall clock.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// The way to the bank from one thread.
pub(super) struct Link {
    pub(super) credential: Arc<Credential>,
    exchange: Rc<dyn Exchange>,
}

/// Under which of the bank's addresses a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Calls,
    Revisions,
}

impl Link {
    /// Opens the link, with its own connections.
    pub(super) fn open(credential: Arc<Credential>) -> Self {
        let exchange = credential.exchanges.open();
        Self { credential, exchange }
    }

    pub(super) fn settings(&self) -> &ApiPixSettings {
        &self.credential.settings
    }

    /// A text of the bank that may be shown.
    pub(super) fn scrubbed(&self, text: &str) -> String {
        reason::scrubbed(text, &self.secrets())
    }

    /// Reads.
    pub(super) async fn get(&self, path: &str) -> Result<Answer, CallFailure> {
        self.call(Verb::Get, Base::Calls, path, &[], None).await
    }

    /// Creates under a name of ours.
    pub(super) async fn put(&self, path: &str, body: &Value) -> Result<Answer, CallFailure> {
        self.call(Verb::Put, Base::Calls, path, &[], Some(body)).await
    }

    /// The same, with headers that only this call has.
    pub(super) async fn put_with(
        &self,
        path: &str,
        headers: &[(String, String)],
        body: &Value,
    ) -> Result<Answer, CallFailure> {
        self.call(Verb::Put, Base::Calls, path, headers, Some(body)).await
    }

    /// Changes.
    pub(super) async fn patch(&self, path: &str, body: &Value) -> Result<Answer, CallFailure> {
        self.call(Verb::Patch, Base::Revisions, path, &[], Some(body)).await
    }

    async fn call(
        &self,
        verb: Verb,
        base: Base,
        path: &str,
        headers: &[(String, String)],
        body: Option<&Value>,
    ) -> Result<Answer, CallFailure> {
        let url = self.url(base, path);
        let request = |token: &Token| self.request(verb, &url, headers, body, token);
        self.credential.bearer.call(self.exchange.as_ref(), request, &self.secrets()).await
    }

    fn request(
        &self,
        verb: Verb,
        url: &str,
        headers: &[(String, String)],
        body: Option<&Value>,
        token: &Token,
    ) -> Request {
        let own = [
            ("accept".to_owned(), "application/json".to_owned()),
            ("authorization".to_owned(), format!("Bearer {}", token.value.expose())),
        ];
        let content_type = body.map(|_| ("content-type".to_owned(), "application/json".to_owned()));
        let configured = self.settings().headers.iter();
        let configured = configured.map(|(name, value)| (name.clone(), self.filled(value, url)));
        Request {
            verb,
            url: url.to_owned(),
            headers: own.into_iter().chain(content_type).chain(configured).chain(headers.to_vec()).collect(),
            body: body.map(|body| body.to_string().into_bytes()).unwrap_or_default().into(),
            // A `PUT` that was already executed is refused: that answer to a silent repetition would count as the
            // answer to the first.
            is_repeatable: verb == Verb::Get,
        }
    }

    fn url(&self, base: Base, path: &str) -> String {
        let settings = self.settings();
        let base = match base {
            Base::Calls => &settings.base_url,
            Base::Revisions => &settings.revision_base_url,
        };
        let address = format!("{base}{path}");
        if settings.query.is_empty() {
            return address;
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &settings.query {
            query.append_pair(name, &self.filled(value, &address));
        }
        let mark = if path.contains('?') { '&' } else { '?' };
        format!("{address}{mark}{}", query.finish())
    }

    fn filled(&self, template: &Secret<String>, what: &str) -> String {
        let template = template.expose();
        if template.contains("{uuid}") {
            return template.replace("{uuid}", &self.credential.fresh_uuid(what).to_string());
        }
        template.clone()
    }

    /// Returns the secrets that no shown text of the bank may contain.
    fn secrets(&self) -> Vec<&str> {
        let settings = self.settings();
        let filled = settings.headers.iter().chain(&settings.query).map(|(_, value)| value.expose().as_str());
        let shown = filled.filter(|value| !value.contains("{uuid}"));
        shown.chain([settings.pix_key.as_str()]).collect()
    }
}

/// Encodes a text as one segment of a path (RFC 3986, section 2.3: unreserved characters stay unchanged).
pub(super) fn segment(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut path, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_becomes_one_segment_of_a_path() {
        assert_eq!(segment("+5511987654321"), "%2B5511987654321");
        assert_eq!(segment("a/b?c@d.e"), "a%2Fb%3Fc%40d.e");
        assert_eq!(segment("é"), "%C3%A9");
    }
}
