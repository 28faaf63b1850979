//! Adapters of one account at Pagar.me. They share the configuration and the pace of reads.

use std::rc::Rc;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use quita_domain::acquiring::CallFailure;
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::order::Order as MerchantOrder;
use quita_domain::text::hex;
use quita_domain::time::DAY_MS;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, Clock, ListPart, ListReader, LocalIssue, NoticeReader,
    NumberRange, PageCursor, Period, Preparation,
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::adapter::Pagarme;
use super::call::Line;
use super::lists::PayableList;
use super::lookup::{self, Missing};
use super::notices::PagarmeNotices;
use super::order::Order;
use super::pace::Pace;
use super::settings::PagarmeSettings;
use super::{CHARGE_ID, code, operation, request, splits};
use crate::exchange::{Exchange, ExchangeFactory};
use crate::field::Unreadable;

/// Factory of the adapters of one account at Pagar.me. They share the configuration and the pace of reads.
pub struct PagarmeFactory {
    spec: AcquirerSpec,
    notices: PagarmeNotices,
    shared: Arc<Shared>,
}

/// Parts that all adapters of one account share.
pub(super) struct Shared {
    /// Time-out of one request.
    time_out: Duration,
    pub(super) clock: Arc<dyn Clock>,
    pace: Arc<Pace>,
    configured: RwLock<Arc<Configured>>,
}

/// Settings and secrets that a reload may replace.
pub(super) struct Configured {
    settings: Arc<PagarmeSettings>,
    pub(super) exchange: Arc<dyn ExchangeFactory>,
}

impl Shared {
    pub(super) fn configured(&self) -> Arc<Configured> {
        Arc::clone(&self.configured.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn line(&self, configured: &Configured, exchange: Rc<dyn Exchange>) -> Line {
        let clock = Arc::clone(&self.clock);
        let pace = Arc::clone(&self.pace);
        let settings = Arc::clone(&configured.settings);
        let time_out = self.time_out;
        Line { settings, exchange, time_out, clock, pace }
    }
}

impl PagarmeFactory {
    /// Creates the factory of an account with this configuration, reached through these exchanges.
    pub fn new(
        spec: AcquirerSpec,
        settings: PagarmeSettings,
        exchange: Arc<dyn ExchangeFactory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let notices = PagarmeNotices::new(&settings);
        let configured = RwLock::new(Arc::new(Configured { settings: Arc::new(settings), exchange }));
        let time_out = Duration::from_millis(spec.time_out_ms);
        let shared = Shared { time_out, clock, pace: Arc::default(), configured };
        Self { spec, notices, shared: Arc::new(shared) }
    }

    /// Uses other secrets and exchanges from the next call on; calls under way keep the old ones.
    pub fn reconfigure(&self, settings: PagarmeSettings, exchange: Arc<dyn ExchangeFactory>) {
        self.notices.reconfigure(&settings);
        let next = Arc::new(Configured { settings: Arc::new(settings), exchange });
        *self.shared.configured.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// Asks about an order that does not exist, and for a page of payables if they are listed. The answers prove that
    /// address and key are right, and nothing is changed.
    ///
    /// # Errors
    /// The answer, if it is not "there is none" or the page.
    pub async fn ask_something_unknown(&self) -> Result<(), CallFailure> {
        let configured = self.shared.configured();
        let line = self.shared.line(&configured, configured.exchange.open());
        let nobodys = code::write(TransactionId::new(Uuid::now_v7()));
        match lookup::body(line.orders_of(&nobodys).await).map(|body| Order::read_list(&body)) {
            Err(Missing::Failed(failure)) => Err(failure),
            Err(Missing::Unknown) => self.list_something().await,
            Ok(Ok(listed)) if listed.is_empty() => self.list_something().await,
            Ok(Ok(_)) => Err(CallFailure::Unknown("Pagar.me lists an order that nobody made".to_owned())),
            Ok(Err(Unreadable(what))) => {
                Err(CallFailure::Unknown(format!("the answer can't be read: {what}")))
            }
        }
    }
}

impl PagarmeFactory {
    /// Requests the first page of today's payables, if they are listed.
    async fn list_something(&self) -> Result<(), CallFailure> {
        let Some(list) = self.lists() else { return Ok(()) };
        let now = self.shared.clock.now();
        let last_day = Period { from: now.minus_ms(DAY_MS), until: now };
        list.page(ListPart::All, last_day, &PageCursor::default()).await.map(drop)
    }
}

impl AcquirerFactory for PagarmeFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn account(&self) -> String {
        let settings = Arc::clone(&self.shared.configured().settings);
        // Only the key identifies an account. Its hash leaves no copy of it in memory, and reveals nothing about such a
        // long random text.
        let key = Sha256::digest(settings.secret_key.expose());
        format!("{} {}", settings.base_url, hex(&key))
    }

    fn charge_account(&self) -> Option<String> {
        Some(self.account())
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(Pagarme::new(&self.shared))
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        None
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(&self.notices)
    }

    fn operates_in_turn(&self) -> bool {
        true
    }

    fn charge_name(&self) -> Option<&'static str> {
        Some(CHARGE_ID)
    }

    fn refund_shows_after_ms(&self, _: Method) -> u64 {
        operation::REFUND_SHOWS_AFTER_MS
    }

    fn refunds(&self, method: Method) -> bool {
        method != Method::Boleto
    }

    fn looks_at_paid(&self, method: Method) -> bool {
        // Only cards have chargebacks, and payables show them.
        method == Method::CreditCard && !self.shared.configured().settings.lists
    }

    fn states_cost(&self) -> bool {
        true
    }

    fn objection(&self, order: &MerchantOrder) -> Option<&'static str> {
        let settings = &self.shared.configured().settings;
        let shares = splits::shares(&order.splits, order.amount, settings);
        let of_splits = shares.and_then(|shares| splits::rules(&shares, order.amount, settings)).err();
        of_splits.or_else(|| request::email_is_too_long(&order.payer))
    }

    fn numbers(&self) -> Option<&NumberRange> {
        None
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        let has_lists = self.shared.configured().settings.lists;
        has_lists.then(|| -> Rc<dyn ListReader> {
            let pagarme = Pagarme::new(&self.shared);
            Rc::new(PayableList { pagarme, acquirer: self.spec.name.clone() })
        })
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        None
    }
}
