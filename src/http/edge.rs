//! What the handlers share.

use std::sync::Arc;

use quita_actors::Payments;
use quita_domain::identity::AcquirerName;
use quita_domain::request::RequestLimits;
use quita_ports::{Clock, PeopleStore};

use super::mount::Mount;
use super::pictures::Pictures;
use super::rate_limit::RateLimit;
use crate::keyring::Keyring;
use crate::service::access::KeyVerifier;
use crate::service::refusal_log::RefusalLog;
use quita_config::Config;
use quita_config::acquirer::{AcquirerConfig, AdapterKind};

/// What the handlers share.
pub struct Edge {
    pub(crate) payments: Payments,
    pub(crate) verifier: KeyVerifier,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rate_limit: RateLimit,
    pub(crate) limits: RequestLimits,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) public_url: String,
    /// Path at which the outside sees the public listener.
    pub(crate) mount: Mount,
    /// Whether what `X-Forwarded-For` says is believed.
    pub(crate) is_behind_proxy: bool,
    /// Source in which payers' pages find what they call a merchant.
    pub(super) people: Arc<dyn PeopleStore>,
    pub(super) pictures: Pictures,
    /// What was refused last.
    pub(crate) refusals: RefusalLog,
    acquirers: Vec<AcquirerConfig>,
}

impl Edge {
    /// Gathers what the handlers need.
    pub(crate) fn new(
        payments: Payments,
        verifier: KeyVerifier,
        clock: Arc<dyn Clock>,
        public_url: String,
        people: Arc<dyn PeopleStore>,
        (config, keyring): (&Config, Arc<Keyring>),
    ) -> Self {
        Self {
            payments,
            verifier,
            clock,
            rate_limit: RateLimit::new(config.rate_limit),
            limits: config.request_limits(),
            keyring,
            mount: Mount::of(&public_url),
            public_url,
            is_behind_proxy: config.behind_proxy,
            people,
            pictures: Pictures::new(),
            refusals: RefusalLog::default(),
            acquirers: config.acquirers.clone(),
        }
    }

    /// Whether this acquirer only pretends, so that people may move what it holds.
    pub(crate) fn is_sandbox(&self, acquirer: &AcquirerName) -> bool {
        let acquirer = self.acquirers.iter().find(|known| known.spec.name == *acquirer);
        acquirer.is_some_and(|acquirer| acquirer.adapter.kind() == AdapterKind::Sandbox)
    }
}
