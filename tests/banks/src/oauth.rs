//! Access tokens: OAuth 2.0 client credentials, bound to the client's certificate (RFC 8705).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chance::mixed;
use crate::query::Query;
use crate::{Request, Response};

/// Form in which a client sends its secret to the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenForm {
    /// HTTP Basic, the rest as a form.
    BasicForm,
    /// HTTP Basic, the rest as JSON.
    BasicJson,
    /// Everything in the form.
    Form,
    /// The id in the form, and no secret.
    FormNoSecret,
}

/// The only client to which a bank issues tokens.
pub(crate) struct Client<'a> {
    pub(crate) id: &'a str,
    pub(crate) secret: &'a str,
    /// Forms in which the secret may be sent; empty for any.
    pub(crate) forms: &'a [TokenForm],
    pub(crate) token_ttl_s: i64,
    /// Tokens that never expire.
    pub(crate) fixed_tokens: &'a [String],
    /// Scopes of a token that was requested without any.
    pub(crate) scopes: &'a str,
    pub(crate) seed: u64,
}

#[derive(Default)]
pub(crate) struct Tokens {
    given: BTreeMap<String, Token>,
    count: u64,
}

struct Token {
    until_ms: i64,
    certificate: Option<String>,
    scopes: Vec<String>,
}

/// Reason why a call is refused.
pub(crate) enum Refusal {
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
    pub(crate) fn give(&mut self, client: &Client<'_>, request: &Request, now_ms: i64) -> Response {
        let refuse = |status, error: &str| Response::json(status, &json!({"error": error}));
        let Some(asked) = Asked::read(request) else { return refuse(400, "invalid_request") };
        let form_is_known = client.forms.is_empty() || client.forms.contains(&asked.form);
        let secret_is_right = match asked.form {
            TokenForm::FormNoSecret => true,
            TokenForm::BasicForm | TokenForm::BasicJson | TokenForm::Form => {
                asked.secret.as_deref() == Some(client.secret)
            }
        };
        if !form_is_known || !secret_is_right || asked.id != client.id {
            return refuse(401, "invalid_client");
        }
        if asked.grant.as_deref() != Some("client_credentials") {
            return refuse(400, "unsupported_grant_type");
        }
        self.given.retain(|_, token| token.until_ms > now_ms);
        self.count = self.count.saturating_add(1);
        let token = format!("token-{}-{:016x}", self.count, mixed(client.seed.wrapping_add(self.count)));
        let scope = asked.scope.filter(|scope| !scope.is_empty()).unwrap_or_else(|| client.scopes.to_owned());
        self.given.insert(
            token.clone(),
            Token {
                until_ms: now_ms.saturating_add(client.token_ttl_s.saturating_mul(1000)),
                certificate: request.certificate.clone(),
                scopes: scope.split_whitespace().map(str::to_owned).collect(),
            },
        );
        let body = json!({
            "access_token": token, "token_type": "Bearer", "expires_in": client.token_ttl_s, "scope": scope,
        });
        Response::json(200, &body)
    }

    /// Checks that this request's token is valid for this scope.
    pub(crate) fn check(
        &self,
        client: &Client<'_>,
        request: &Request,
        scope: &str,
        now_ms: i64,
    ) -> Result<(), Refusal> {
        let shown = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let shown = shown.ok_or(Refusal::Unauthorized)?;
        if client.fixed_tokens.iter().any(|fixed| fixed == shown) {
            return Ok(());
        }
        let token = self.given.get(shown).ok_or(Refusal::Unauthorized)?;
        if token.until_ms <= now_ms || token.certificate != request.certificate {
            return Err(Refusal::Unauthorized);
        }
        if token.scopes.iter().any(|given| given == scope) { Ok(()) } else { Err(Refusal::Forbidden) }
    }

    /// Invalidates all tokens that were issued.
    pub(crate) fn revoke(&mut self) {
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
