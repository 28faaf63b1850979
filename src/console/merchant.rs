//! Merchants' console, under `/console` on the public listener.
//!
//! It reads and changes payments through the same application service as the API ([`quita_actors::Payments`]). It
//! manages keys through the same [`Access`] as the command line, and records every change in the audit log.

mod account;
mod applications;
mod ask;
mod audit_log;
mod deliveries;
pub(crate) mod delivery_attempts;
mod failing;
mod frame;
mod links;
mod mode;
mod movements;
mod once;
mod overview;
mod payment;
mod payments;
mod people;
mod reasons;
mod requests;
mod routes;
mod session;
mod sign_in;
mod texts;
mod user_limits;
mod visitor;
mod words;

use std::sync::Arc;

use actix_web::web::Data;
use quita_ports::{Clock, WebhookSenderFactory, WholeStore};

use super::kit::accounts::{Accounts, AccountsParts};
use super::kit::console_kind::ConsoleKind;
use super::kit::live::Streams;
use crate::http::Edge;
use failing::FailingDeliveries;
use overview::days::Days;
use quita_config::Config;
use quita_services::access::Access;
use quita_services::audit::Audit;
use quita_services::holdings::Keyholders;
use quita_services::people::People;
use quita_services::refused_requests::RefusedRequests;
use user_limits::UserLimits;

pub(crate) use routes::configure;

/// Shared state of the pages of the merchants' console.
pub(crate) struct MerchantConsole {
    edge: Data<Edge>,
    people: People,
    accounts: Accounts,
    access: Access,
    keyholders: Keyholders,
    audit: Audit,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    user_limits: UserLimits,
    pub(crate) streams: Arc<Streams>,
    days: Days,
    failing_deliveries: FailingDeliveries,
    /// Factory of the senders for test events, which obey the same rules as all webhooks.
    webhooks: Arc<dyn WebhookSenderFactory>,
    is_behind_proxy: bool,
}

impl MerchantConsole {
    /// Returns the counter of requests refused by this console's pages.
    fn refused_requests(&self) -> Data<RefusedRequests> {
        self.accounts.refused_requests()
    }

    /// Creates the console.
    pub(crate) fn new(
        edge: Data<Edge>,
        store: Arc<dyn WholeStore>,
        webhooks: Arc<dyn WebhookSenderFactory>,
        config: &Config,
        parts: AccountsParts,
    ) -> Self {
        let clock = Arc::clone(&edge.clock);
        let people = People::new(store.clone(), Arc::clone(&clock)).with_idle(config.session_idle);
        let audit = parts.audit.clone();
        let access = Access::new(store.clone(), parts.strongbox.clone(), Arc::clone(&clock));
        let accounts =
            Accounts::new(ConsoleKind::Merchant, config, people.clone(), parts, Arc::clone(&clock));
        Self {
            edge,
            accounts,
            people,
            access,
            audit,
            keyholders: Keyholders::new(store.clone(), Arc::clone(&clock)),
            store,
            clock,
            user_limits: UserLimits::new(),
            streams: Arc::new(Streams::new()),
            days: Days::default(),
            failing_deliveries: FailingDeliveries::default(),
            webhooks,
            is_behind_proxy: config.behind_proxy,
        }
    }
}
