//! The operator's console: what the actors do, and what a person can do when something is wrong.
//!
//! On the operators' listener, for operators and auditors who sign in as people do. It asks and directs through
//! [`quita_actors::Operators`], and notes every change in the audit log.

mod account;
mod acquirers;
mod actors;
mod audit;
mod exceptions;
mod first;
mod frame;
mod live;
mod mismatches;
mod operations;
mod people;
mod recent;
mod reconciliation;
mod routes;
mod sign_in;
mod store;
mod texts;
mod transactions;
mod visitor;
mod words;

use std::sync::Arc;

use quita_actors::{Operators, Payments, Strongbox};
use quita_ports::{Clock, WholeStore};

use super::kit::accounts::Accounts;
use super::kit::console_kind::ConsoleKind;
use super::kit::live::Streams;
use crate::acquirers::Link;
use crate::service::audit::Audit;
use crate::service::people::{People, SetupPassword};
use crate::service::refused_sign_ins::RefusedSignIns;
use quita_config::Config;

pub(crate) use routes::configure;

/// What the pages of the operator's console share.
pub(crate) struct OperatorConsole {
    pub(crate) operators: Operators,
    payments: Payments,
    people: People,
    accounts: Accounts,
    audit: Audit,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    streams: Arc<Streams>,
    samples: live::Encoded,
    recent: recent::RecentSessions<visitor::Who>,
    /// What makes the first operator.
    setup_password: Option<SetupPassword>,
    /// What the store is, without its password.
    store_name: String,
    /// The ways to the providers.
    links: Vec<Arc<Link>>,
}

impl OperatorConsole {
    /// Gathers what the pages need.
    pub(crate) fn new(
        operators: Operators,
        payments: Payments,
        (store, clock): (Arc<dyn WholeStore>, Arc<dyn Clock>),
        (config, strongbox): (&Config, Strongbox),
        (audit, refused): (Audit, Arc<RefusedSignIns>),
    ) -> Self {
        let people = People::new(store.clone(), Arc::clone(&clock)).with_idle(config.session_idle);
        let (secured, logs) = ((people.clone(), strongbox), (audit.clone(), refused));
        Self {
            operators,
            payments,
            accounts: Accounts::new(ConsoleKind::Operator, config, secured, logs, Arc::clone(&clock)),
            people,
            audit,
            store,
            clock,
            streams: Arc::new(Streams::new()),
            samples: live::Encoded::default(),
            recent: recent::RecentSessions::default(),
            setup_password: config.operator_password.clone().map(SetupPassword::new),
            store_name: config.store.to_string(),
            links: Vec::new(),
        }
    }

    /// And how the ways to these providers are.
    #[must_use]
    pub(crate) fn with_links(self, links: Vec<Arc<Link>>) -> Self {
        Self { links, ..self }
    }
}
