//! The operator's console: what the actors do, and what a person can do when something is wrong.
//!
//! On the operators' listener, behind one password of the configuration. It asks and orders through
//! [`quita_actors::Operators`], shares its manner with the merchants' console ([`crate::console`]), and notes every
//! order in the audit log.

mod acquirers;
mod actors;
mod audit;
mod exceptions;
mod frame;
mod live;
mod recent;
mod routes;
mod sign_in;
mod store;
mod transactions;
mod visitor;
mod words;

use std::sync::Arc;

use quita_actors::{Operators, Payments};
use quita_ports::{Clock, WholeStore};

use crate::audit::Audit;
use crate::config::{Config, Environment};
use crate::console::attempts::Attempts;
use crate::console::cookies::{Cookies, Door};
use crate::console::live::Streams;
use crate::people::{OperatorCredential, People};

pub(super) use routes::configure;

/// What the pages of the operator's console share.
pub(crate) struct OperatorConsole {
    pub(super) operators: Operators,
    payments: Payments,
    people: People,
    audit: Audit,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    cookies: Cookies,
    attempts: Attempts,
    streams: Arc<Streams>,
    samples: live::Encoded,
    recent: recent::RecentSessions,
    /// What opens the console; closed when absent.
    credential: Option<OperatorCredential>,
    /// What the store is, without its password.
    store_name: String,
}

impl OperatorConsole {
    /// Gathers what the pages need.
    pub(crate) fn new(
        operators: Operators,
        payments: Payments,
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        config: &Config,
    ) -> Self {
        let is_secure = config.environment == Environment::Production;
        let password = config.operator_password.clone();
        Self {
            operators,
            payments,
            people: People::new(store.clone(), Arc::clone(&clock)),
            audit: Audit::new(store.clone(), Arc::clone(&clock)),
            store,
            clock,
            cookies: Cookies::new(Door::Operator, is_secure),
            attempts: Attempts::new(),
            streams: Arc::new(Streams::new()),
            samples: live::Encoded::default(),
            recent: recent::RecentSessions::default(),
            credential: password
                .map(|password| OperatorCredential::new(password, config.secret_key.expose())),
            store_name: config.store.to_string(),
        }
    }
}
