//! Card tokens, for a merchant's own pages.

use std::sync::Arc;

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use prometheus::{IntCounterVec, Opts, Registry};
use quita_actors::Denied;
use quita_domain::access::{KeyKind, Origins, Scope};
use quita_domain::audit::AuditAction;
use quita_domain::card::Brand;
use quita_domain::card::token::{TOKEN_LIFE_MS, TokenContents};
use quita_domain::identity::Owner;
use quita_domain::request::token::{self, CardToTokenize};
use quita_ports::{EventLimit, KeyringStore, WholeStore};
use serde::Serialize;

use super::body::read_json_card;
use super::client_address::address_of;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::{auth, cors, ignored_names};
use quita_services::access::{Caller, KnownOrigins, origins_in_words};
use quita_services::audit::{Audit, AuditDraft, Initiator};
use quita_services::network::networks_of;

/// Number of tokens that one network may request from pages of one application within a minute. A payer needs one or
/// two; a card tester needs thousands.
const PER_NETWORK: u32 = 60;

/// The same for the pages of all applications.
const PER_NETWORK_AT_ALL: u32 = 300;

/// Length of that period.
const MINUTE_MS: u64 = 60_000;

/// Outcome of a request that concerns a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenOutcome {
    /// A token was created.
    Made,
    /// The request for one was refused.
    Refused,
    /// Too many requests came from one network.
    Limited,
    /// A payment used a token up.
    Used,
    /// A creation had a token that is unknown, expired or already used.
    Unusable,
}

impl TokenOutcome {
    const ALL: [Self; 5] = [Self::Made, Self::Refused, Self::Limited, Self::Used, Self::Unusable];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Refused => "refused",
            Self::Limited => "limited",
            Self::Used => "used",
            Self::Unusable => "unusable",
        }
    }
}

/// State behind `/pay/tokens`.
pub struct Tokens {
    pub(super) origins: KnownOrigins,
    keys: Arc<dyn KeyringStore>,
    audit: Audit,
    counted: IntCounterVec,
}

impl Tokens {
    /// Gathers the state and registers its metric.
    ///
    /// # Errors
    /// Fails if another metric has the name.
    pub fn new(
        store: Arc<dyn WholeStore>,
        audit: Audit,
        registry: &Registry,
    ) -> Result<Self, prometheus::Error> {
        let options = Opts::new("quita_tokens_total", "Card tokens, by outcome");
        let counted = IntCounterVec::new(options, &["outcome"])?;
        registry.register(Box::new(counted.clone()))?;
        for outcome in TokenOutcome::ALL {
            counted.with_label_values(&[outcome.as_str()]);
        }
        Ok(Self { origins: KnownOrigins::new(store.clone()), keys: store, audit, counted })
    }

    /// Counts an outcome.
    pub(super) fn count(&self, outcome: TokenOutcome) {
        self.counted.with_label_values(&[outcome.as_str()]).inc();
    }
}

/// Answer of `POST /pay/tokens`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TokenAnswer<'a> {
    token: &'a str,
    brand: Brand,
    first_digits: &'a str,
    last_digits: &'a str,
    expires_at: String,
}

/// `POST /pay/tokens`
pub(super) async fn create(
    edge: Data<Edge>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let made = make(&edge, &request, payload).await;
    edge.tokens.count(match &made {
        Ok(_) => TokenOutcome::Made,
        Err(error) if error.error_code() == ErrorCode::TooManyCardTries => TokenOutcome::Limited,
        Err(_) => TokenOutcome::Refused,
    });
    made
}

async fn make(edge: &Edge, request: &HttpRequest, payload: Payload) -> Result<HttpResponse, ApiError> {
    let caller = auth::identify(request).await?;
    match caller.kind {
        KeyKind::Secret => permit_program(edge, request, &caller).await?,
        KeyKind::Publishable => permit_page(edge, request, &caller).await?,
    }
    super::query::refuse_unread(request)?;
    let body = read_json_card(request, payload).await?;
    let now = edge.clock.now();
    let parsed = token::parse(&body, now);
    let unknown = parsed.as_ref().map_or_else(|rejection| &rejection.unknown, |parsed| &parsed.unknown);
    ignored_names::note(request, &caller, unknown);
    let CardToTokenize { card, .. } = parsed?;
    // A body without a card is not a try: a phone in a shared network must not use up the tries of others with it.
    if caller.kind == KeyKind::Publishable {
        count_try(edge, request, &caller.owner).await?;
    }
    let masked = card.masked();
    let contents = TokenContents { card, expires_at: now.plus_ms(TOKEN_LIFE_MS) };
    if !edge.keyring.has_key_of_now() {
        return Err(ApiError::secret_key_missing());
    }
    // Sealed for one merchant and mode, and stored nowhere, so that a stolen store contains no card.
    let token = edge.keyring.seal_card(&caller.owner, &contents);
    let token = token.ok_or_else(|| ApiError::defect("a card could not be sealed"))?;
    Ok(HttpResponse::Created().json(TokenAnswer {
        token: &token,
        brand: masked.brand,
        first_digits: &masked.first_digits,
        last_digits: &masked.last_digits,
        expires_at: contents.expires_at.to_string(),
    }))
}

/// Permits a program with a secret key. Such a key must not come from a browser: anyone who opens the page can read it
/// there.
async fn permit_program(edge: &Edge, request: &HttpRequest, caller: &Caller) -> Result<(), ApiError> {
    if let Some(origin) = cors::origin_of(request.headers()) {
        // The developer of the page can read the reason there, if the page belongs to the application.
        let application = edge.applications.of(&caller.owner).await.ok().flatten();
        cors::note(request, application.is_some_and(|application| application.origins.contains(origin)));
        note_exposed(edge, request, caller, origin).await;
        return Err(ApiError::new(ErrorCode::SecretKeyInBrowser, wordings::secret_key_in_browser()));
    }
    edge.rate_limit.count(&caller.key_id)?;
    auth::require(edge, caller, Scope::PaymentsWrite)
}

/// Permits a page with a publishable key: from an origin of its application, or from an app, which states no origin.
async fn permit_page(edge: &Edge, request: &HttpRequest, caller: &Caller) -> Result<(), ApiError> {
    if let Some(origin) = cors::origin_of(request.headers()) {
        let application = edge.applications.of(&caller.owner).await;
        let application = application.map_err(Denied::StoreUnavailable)?;
        let is_allowed = application.is_some_and(|application| application.origins.contains(origin));
        cors::note(request, is_allowed);
        if !is_allowed {
            return Err(ApiError::new(ErrorCode::OriginNotAllowed, wordings::origin_not_allowed()));
        }
    }
    Ok(())
}

/// Counts a card from a page: for its network at this application, and for the network overall.
async fn count_try(edge: &Edge, request: &HttpRequest, owner: &Owner) -> Result<(), ApiError> {
    let networks = networks_of(address_of(request, edge.is_behind_proxy));
    // As at the payers' pages: 24 bits of IPv4, 56 of IPv6.
    let network = networks.site.unwrap_or(networks.large).to_string();
    let limit = |what: &str, most| EventLimit {
        name: edge.keyring.event_name(what, &network),
        most,
        within_ms: MINUTE_MS,
    };
    let of_application =
        format!("card token {} {} {}", owner.merchant, owner.mode.as_str(), owner.application);
    let now = edge.clock.now();
    for limit in [limit(&of_application, PER_NETWORK), limit("card token", PER_NETWORK_AT_ALL)] {
        if let Some(until) = edge.links.count_event(&limit, now).await.map_err(Denied::StoreUnavailable)? {
            return Err(ApiError::too_many_card_tries((until.ms_since(now) / 1_000).saturating_add(1)));
        }
    }
    Ok(())
}

/// Records that a secret key came from a browser, once for each key, in the audit log and for the console.
async fn note_exposed(edge: &Edge, request: &HttpRequest, caller: &Caller, origin: &str) {
    let first = edge.tokens.keys.expose_key(&caller.key_id, edge.clock.now()).await;
    match first {
        Ok(true) => {
            let from = address_of(request, edge.is_behind_proxy).to_string();
            let initiator = Initiator { from, ..Initiator::service("") };
            let draft = AuditDraft::of(&caller.owner.merchant, AuditAction::KeyExposed, &caller.key_id);
            // The header may contain anything; the log keeps only a valid origin.
            let origin = Origins::parse([origin], true);
            let origin = origin.map_or_else(|_| "unknown origin".into(), |origin| origins_in_words(&origin));
            edge.tokens.audit.note(&initiator, draft.after(origin)).await;
            tracing::warn!(key.id = caller.key_id, "a browser sent a secret key: revoke it");
        }
        Ok(false) => {}
        Err(error) => {
            tracing::warn!(%error, key.id = caller.key_id, "a browser sent a secret key, but this could not be recorded");
        }
    }
}
