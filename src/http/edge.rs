//! State that the handlers share.

use std::sync::Arc;

use quita_actors::{LinkPayments, Payments};
use quita_domain::identity::{AcquirerName, Owner};
use quita_domain::order::Order;
use quita_domain::request::RequestLimits;
use quita_ports::{Clock, LinkStore, OperatorStore, PeopleStore, StoreError, WholeStore};
use quita_stored_form::form::needed_by;

use super::checkout_metrics::CheckoutMetrics;
use super::errors::{ApiError, ErrorCode, wordings};
use super::mount::Mount;
use super::pictures::Pictures;
use super::rate_limit::RateLimit;
use super::tokens::Tokens;
use crate::keyring::Keyring;
use quita_config::acquirer::{AcquirerConfig, AdapterKind};
use quita_config::{CheckoutConfig, Config};
use quita_services::access::{ApplicationReader, KeyVerifier};
use quita_services::refusal_log::RefusalLog;

/// State that the handlers share.
pub struct Edge {
    pub(crate) payments: Payments,
    pub(crate) verifier: KeyVerifier,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rate_limit: RateLimit,
    pub(crate) limits: RequestLimits,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) public_url: String,
    /// Path under which the outside reaches the public listener.
    pub(crate) mount: Mount,
    /// True if `X-Forwarded-For` is trusted.
    pub(crate) is_behind_proxy: bool,
    pub(crate) tokens: Tokens,
    /// Applications, with their endpoints and origins.
    pub(crate) applications: ApplicationReader,
    /// Store in which payers' pages look up a merchant's public name.
    pub(super) people: Arc<dyn PeopleStore>,
    /// Bounds of the pages of payment links.
    pub(super) checkout: CheckoutConfig,
    /// Store whose form determines the available features.
    form: Arc<dyn OperatorStore>,
    /// Store of payment links.
    pub(crate) links: Arc<dyn LinkStore>,
    /// Payments of those links.
    pub(crate) link_payments: LinkPayments,
    pub(super) checkout_metrics: CheckoutMetrics,
    pub(super) pictures: Pictures,
    /// Latest refused requests.
    pub(crate) refusals: RefusalLog,
    acquirers: Vec<AcquirerConfig>,
}

/// Parts of the service used by the handlers.
pub(crate) struct EdgeParts {
    pub(crate) payments: Payments,
    pub(crate) verifier: KeyVerifier,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) public_url: String,
    pub(crate) store: Arc<dyn WholeStore>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) tokens: Tokens,
    pub(crate) checkout_metrics: CheckoutMetrics,
}

impl Edge {
    /// Gathers the state that the handlers need.
    pub(crate) fn new(config: &Config, parts: EdgeParts) -> Self {
        let EdgeParts { payments, verifier, clock, public_url, store, keyring, tokens, checkout_metrics } =
            parts;
        Self {
            link_payments: LinkPayments::new(payments.clone(), store.clone()),
            payments,
            verifier,
            clock,
            rate_limit: RateLimit::new(config.rate_limit),
            limits: config.request_limits(),
            keyring,
            mount: Mount::of(&public_url),
            public_url,
            is_behind_proxy: config.behind_proxy,
            tokens,
            applications: ApplicationReader::new(store.clone()),
            people: store.clone(),
            checkout: config.checkout,
            form: store.clone(),
            links: store,
            checkout_metrics,
            pictures: Pictures::new(),
            refusals: RefusalLog::default(),
            acquirers: config.acquirers.clone(),
        }
    }

    /// Returns the URL that receives the events of a new payment: its own, or else the endpoint of its application.
    ///
    /// # Errors
    /// Fails if the store does not answer. For an order with a URL the store is not asked.
    pub(crate) async fn endpoint(&self, order: &Order, owner: &Owner) -> Result<Option<String>, StoreError> {
        match &order.postback_url {
            Some(url) => Ok(Some(url.clone())),
            None => self.applications.endpoint(owner).await,
        }
    }

    /// Checks that the store has the form that a new payment needs.
    ///
    /// # Errors
    /// [`ErrorCode::StoreForm`] until the store is upgraded.
    pub(crate) fn check_form(&self, order: &Order) -> Result<(), ApiError> {
        let needed = needed_by(order);
        let form = self.form.form();
        if form.has(needed) {
            return Ok(());
        }
        Err(ApiError::new(ErrorCode::StoreForm, wordings::store_form(needed, form.number)))
    }

    /// Returns true if this acquirer is a sandbox, whose payments people may move by hand.
    pub(crate) fn is_sandbox(&self, acquirer: &AcquirerName) -> bool {
        let acquirer = self.acquirers.iter().find(|known| known.spec.name == *acquirer);
        acquirer.is_some_and(|acquirer| acquirer.adapter.kind() == AdapterKind::Sandbox)
    }
}
