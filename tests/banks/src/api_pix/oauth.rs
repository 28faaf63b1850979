//! Tokens of access: OAuth 2.0 client credentials, bound to the client's certificate (RFC 8705).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::config::{Config, TokenForm};
use super::problem::answer;
use super::query::Query;
use crate::{Request, Response};

const SCOPES: &str = "cob.read cob.write pix.read pix.write webhook.read webhook.write";

#[derive(Default)]
pub(super) struct Tokens {
    given: BTreeMap<String, Token>,
    count: u64,
}

struct Token {
    until_ms: i64,
    certificate: Option<String>,
    scopes: Vec<String>,
}

/// Why a call may not be made.
pub(super) enum Refusal {
    Unauthorized,
    Forbidden,
}

struct Asked {
    form: TokenForm,
    id: String,
    secret: Option<String>,
    grant: Option<String>,
    scope: Option<String>,
}

impl Tokens {
    /// Answers `POST …/token`.
    pub(super) fn give(&mut self, config: &Config, request: &Request, now_ms: i64) -> Response {
        let refuse = |status, error: &str| answer(status, "application/json", &json!({"error": error}));
        let Some(asked) = Asked::read(request) else { return refuse(400, "invalid_request") };
        let form_is_known = config.token_forms.is_empty() || config.token_forms.contains(&asked.form);
        let secret_is_right = match asked.form {
            TokenForm::FormNoSecret => true,
            TokenForm::BasicForm | TokenForm::BasicJson | TokenForm::Form => {
                asked.secret.as_deref() == Some(&config.client_secret)
            }
        };
        if !form_is_known || !secret_is_right || asked.id != config.client_id {
            return refuse(401, "invalid_client");
        }
        if asked.grant.as_deref() != Some("client_credentials") {
            return refuse(400, "unsupported_grant_type");
        }
        self.given.retain(|_, token| token.until_ms > now_ms);
        self.count = self.count.saturating_add(1);
        let token =
            format!("token-{}-{:016x}", self.count, super::mixed(config.seed.wrapping_add(self.count)));
        let scope = asked.scope.filter(|scope| !scope.is_empty()).unwrap_or_else(|| SCOPES.to_owned());
        self.given.insert(
            token.clone(),
            Token {
                until_ms: now_ms.saturating_add(config.token_ttl_s.saturating_mul(1000)),
                certificate: request.certificate.clone(),
                scopes: scope.split_whitespace().map(str::to_owned).collect(),
            },
        );
        let body = json!({
            "access_token": token, "token_type": "Bearer", "expires_in": config.token_ttl_s, "scope": scope,
        });
        answer(200, "application/json", &body)
    }

    /// Whether this request's token is good for this scope.
    pub(super) fn check(
        &self,
        config: &Config,
        request: &Request,
        scope: &str,
        now_ms: i64,
    ) -> Result<(), Refusal> {
        let shown = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let shown = shown.ok_or(Refusal::Unauthorized)?;
        if config.fixed_tokens.iter().any(|fixed| fixed == shown) {
            return Ok(());
        }
        let token = self.given.get(shown).ok_or(Refusal::Unauthorized)?;
        if token.until_ms <= now_ms || token.certificate != request.certificate {
            return Err(Refusal::Unauthorized);
        }
        if token.scopes.iter().any(|given| given == scope) { Ok(()) } else { Err(Refusal::Forbidden) }
    }

    /// From now on no token that was given is good.
    pub(super) fn revoke(&mut self) {
        self.given.clear();
    }
}

impl Asked {
    fn read(request: &Request) -> Option<Self> {
        let media = request.header("content-type").unwrap_or_default();
        let is_json = media.starts_with("application/json");
        let fields = if is_json {
            let body: BTreeMap<String, Value> = serde_json::from_slice(&request.body).ok()?;
            let texts = body.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
            texts.collect()
        } else {
            Query::read(std::str::from_utf8(&request.body).ok()?)
        };
        let field = |name: &str| fields.get(name).map(str::to_owned);
        let in_query = Query::read(&request.query);
        let (form, id, secret) = match basic(request) {
            Some((id, secret)) => {
                (if is_json { TokenForm::BasicJson } else { TokenForm::BasicForm }, id, Some(secret))
            }
            None => match field("client_secret") {
                Some(secret) => (TokenForm::Form, field("client_id")?, Some(secret)),
                None => (TokenForm::FormNoSecret, field("client_id")?, None),
            },
        };
        let grant = field("grant_type").or_else(|| in_query.get("grant_type").map(str::to_owned));
        Some(Self { form, id, secret, grant, scope: field("scope") })
    }
}

fn basic(request: &Request) -> Option<(String, String)> {
    let shown = request.header("authorization")?.strip_prefix("Basic ")?;
    let pair = String::from_utf8(STANDARD.decode(shown).ok()?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    Some((id.to_owned(), secret.to_owned()))
}
