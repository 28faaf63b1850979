//! The merchants' console: pages for people, under `/console` on the public listener.
//!
//! It reads and changes payments through the same application service as the API ([`quita_actors::Payments`]), keys
//! through the same [`crate::access::Access`] as the command line, and notes every change in the audit log. What it
//! shares with the operator's console (`crate::ops::console`) is what all pages need: [`guard`], [`cookies`],
//! [`form`], [`texts`], [`assets`].

pub(crate) mod answer;
pub(crate) mod assets;
pub(crate) mod attempts;
pub(crate) mod cookies;
pub(crate) mod failure;
pub(crate) mod form;
pub(crate) mod frame;
pub(crate) mod guard;
pub(crate) mod language;
pub(crate) mod numbers;
pub(crate) mod place;
pub(crate) mod sign_in;
pub(crate) mod texts;
pub(crate) mod visitor;

mod account;
mod applications;
mod ask;
pub(crate) mod audit_log;
mod deliveries;
pub(crate) mod live;
mod mode;
mod once;
mod overview;
mod payment;
mod payments;
mod people;
mod routes;
mod session;
mod shown;
pub(crate) mod stream_places;
mod user_limits;

use std::sync::Arc;

use quita_ports::{Clock, WebhookSenderFactory, WholeStore};

use crate::access::Access;
use crate::audit::Audit;
use crate::config::{Config, Environment};
use crate::http::Edge;
use crate::people::People;
use actix_web::web::Data;
use attempts::Attempts;
use cookies::{Cookies, Door};
use live::Streams;
use overview::days::Days;
use user_limits::UserLimits;

pub(crate) use routes::configure;

/// What the pages of the merchants' console share.
pub(crate) struct Console {
    pub(crate) edge: Data<Edge>,
    pub(crate) people: People,
    pub(crate) access: Access,
    pub(crate) audit: Audit,
    pub(crate) store: Arc<dyn WholeStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) cookies: Cookies,
    pub(crate) attempts: Attempts,
    pub(crate) user_limits: UserLimits,
    pub(crate) streams: Arc<Streams>,
    pub(crate) days: Days,
    /// Sends test events, under the same rules as every webhook.
    pub(crate) webhooks: Arc<dyn WebhookSenderFactory>,
    pub(crate) is_behind_proxy: bool,
}

impl Console {
    /// Gathers what the pages need.
    pub(crate) fn new(
        edge: Data<Edge>,
        store: Arc<dyn WholeStore>,
        webhooks: Arc<dyn WebhookSenderFactory>,
        config: &Config,
    ) -> Self {
        let clock = Arc::clone(&edge.clock);
        let is_secure = config.environment == Environment::Production;
        Self {
            edge,
            people: People::new(store.clone(), Arc::clone(&clock)),
            access: Access::new(store.clone(), Arc::clone(&clock)),
            audit: Audit::new(store.clone(), Arc::clone(&clock)),
            store,
            clock,
            cookies: Cookies::new(Door::Merchant, is_secure),
            attempts: Attempts::new(),
            user_limits: UserLimits::new(),
            streams: Arc::new(Streams::new()),
            days: Days::default(),
            webhooks,
            is_behind_proxy: config.behind_proxy,
        }
    }
}
