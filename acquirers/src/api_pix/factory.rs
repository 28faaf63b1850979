//! Factory of the adapters of one bank, one for each thread. It holds their shared credential with its token.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::CallFailure;
use quita_domain::method::Method;
use quita_domain::order::Order;
use quita_domain::time::Timestamp;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, Clock, ListReader, LocalIssue, NoticeReader, NumberRange,
    Preparation,
};
use tokio::time::Instant;

use super::adapter::ApiPix;
use super::link::{Answer, Credential, Link};
use super::lists::PixList;
use super::notices::ApiPixNotices;
use super::registration::{self, RegistrationOutcome};
use super::settings::ApiPixSettings;
use crate::exchange::ExchangeFactory;

/// Factory of the adapters of one bank that speaks API Pix.
pub struct ApiPixFactory {
    spec: AcquirerSpec,
    clock: Arc<dyn Clock>,
    current: Arc<Current>,
    notices: ApiPixNotices,
    registration: Mutex<Option<RegistrationOutcome>>,
}

/// Credential that new calls use.
pub(super) struct Current(RwLock<Arc<Credential>>);

impl Current {
    pub(super) fn credential(&self) -> Arc<Credential> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ApiPixFactory {
    /// The bank under this name. Nothing is sent before the first call.
    pub fn new(
        spec: AcquirerSpec,
        settings: ApiPixSettings,
        exchange: Arc<dyn ExchangeFactory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let credential = Credential::new(settings, exchange, Arc::clone(&clock), spec.time_out_ms);
        let current = Arc::new(Current(RwLock::new(Arc::new(credential))));
        let notices = ApiPixNotices::new(Arc::clone(&current));
        Self { spec, clock, current, notices, registration: Mutex::default() }
    }

    /// Replaces the settings and the certificate. The token and kept connections are dropped with the old ones, which
    /// calls under way still use until they end.
    pub fn reconfigure(&self, settings: ApiPixSettings, exchange: Arc<dyn ExchangeFactory>) {
        let credential = Credential::new(settings, exchange, Arc::clone(&self.clock), self.spec.time_out_ms);
        // Replaced as a whole: a token is bound to its certificate, and must never leave with another one.
        *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(credential);
    }

    /// Returns the expiry of the token in use; `None` if there is none, or if it never expires.
    pub fn token_until(&self) -> Option<Timestamp> {
        self.current.credential().bearer.tokens.until()
    }

    /// Registers our address for the bank's callbacks, if configured, and keeps the outcome.
    pub async fn register_webhook(&self) -> RegistrationOutcome {
        let outcome = registration::register(&Link::open(self.current.credential())).await;
        *self.registration.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.clone());
        outcome
    }

    /// Returns the outcome of the last registration, if there was any.
    pub fn registration(&self) -> Option<RegistrationOutcome> {
        self.registration.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads a charge that does not exist. If the bank answers that it does not know it, address, certificate and token
    /// are right. Changes nothing.
    ///
    /// # Errors
    /// Why there was no answer of that kind.
    pub async fn ask_something_unknown(&self) -> Result<(), CallFailure> {
        let credential = self.current.credential();
        let txid = credential.fresh_uuid("something unknown").simple();
        match Link::open(credential).get(&format!("/cob/{txid}")).await? {
            Answer::Success(_) | Answer::NotFound(_) => Ok(()),
            Answer::Refused(why) => Err(CallFailure::Unknown(why)),
        }
    }
}

#[async_trait(?Send)]
impl Preparation for ApiPixFactory {
    fn held_for(&self) -> Option<Duration> {
        self.current.credential().bearer.tokens.held_for()
    }

    fn is_ready(&self) -> bool {
        self.current.credential().bearer.tokens.is_there()
    }

    async fn prepare(&self, latest: Instant) -> bool {
        let credential = self.current.credential();
        let exchange = credential.exchanges.open();
        credential.bearer.tokens.prepare(exchange.as_ref(), latest).await
    }
}

impl AcquirerFactory for ApiPixFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn account(&self) -> String {
        let credential = self.current.credential();
        let settings = &credential.settings;
        format!("{} {} {}", settings.base_url, settings.token.client_id(), settings.pix_key)
    }

    fn charge_account(&self) -> Option<String> {
        // A Pix key is of one account, at one provider, whichever client and address reach it.
        Some(self.current.credential().settings.pix_key.clone())
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(ApiPix::new(Arc::clone(&self.current), Arc::clone(&self.clock)))
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        Some(self)
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(&self.notices)
    }

    fn operates_in_turn(&self) -> bool {
        false
    }

    fn charge_name(&self) -> Option<&'static str> {
        None
    }

    fn refund_shows_after_ms(&self, _: Method) -> u64 {
        0
    }

    fn refunds(&self, _: Method) -> bool {
        true
    }

    fn looks_at_paid(&self, _: Method) -> bool {
        !self.current.credential().settings.lists
    }

    fn states_cost(&self) -> bool {
        false
    }

    fn objection(&self, _: &Order) -> Option<&'static str> {
        None
    }

    fn numbers(&self) -> Option<&NumberRange> {
        None
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        let credential = self.current.credential();
        let acquirer = self.spec.name.clone();
        let has_lists = credential.settings.lists;
        has_lists.then(|| -> Rc<dyn ListReader> {
            Rc::new(PixList { link: Rc::new(Link::open(credential)), acquirer })
        })
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        None
    }
}
