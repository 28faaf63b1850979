//! Operator's console: what the actors are doing, and what a person can do when something is wrong.
//!
//! It is served on the operators' listener, for operators and auditors, who sign in like merchants' users. It queries
//! and directs through [`quita_actors::Operators`], and records every change in the audit log.

mod account;
mod acquirers;
mod actors;
mod audit;
mod charges;
mod exceptions;
mod first;
mod frame;
mod jobs;
mod live;
mod mismatches;
mod nodes;
mod operations;
mod overview;
mod people;
mod present;
mod recent;
mod reconciliation;
mod routes;
mod runbook;
mod sign_in;
mod store;
mod texts;
mod transactions;
mod troubles;
mod visitor;
mod words;

use std::sync::Arc;

use actix_web::web::Data;
use quita_actors::{Operators, Payments};
use quita_ports::{Clock, StoreForm, WholeStore};

use super::kit::accounts::{Accounts, AccountsParts};
use super::kit::console_kind::ConsoleKind;
use super::kit::live::Streams;
use crate::acquirers::Link;
use crate::jobs::JobBoard;
use quita_config::Config;
use quita_services::access::EndingKeyCount;
use quita_services::audit::Audit;
use quita_services::people::{People, SetupPassword};
use quita_services::refused_requests::RefusedRequests;

pub(crate) use present::PresentStates;
pub(crate) use routes::configure;
pub(crate) use words::kind as exception_kind;

/// Shared state of the pages of the operator's console.
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
    recent: Arc<recent::RecentSessions>,
    /// True if everyone needs a second factor. An operator without one has to set it up first.
    needs_second_factor: bool,
    /// Password that creates the first operator.
    setup_password: Option<SetupPassword>,
    /// Description of the store, without its password.
    store_name: String,
    /// Links to the providers.
    links: Vec<Arc<Link>>,
    /// Address at which this node serves merchants, as shown in the list of nodes.
    node_address: String,
    ending_keys: Option<EndingKeyCount>,
    jobs: JobBoard,
    open_exceptions: troubles::OpenExceptions,
}

impl OperatorConsole {
    /// Creates the console.
    pub(crate) fn new(
        operators: Operators,
        payments: Payments,
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        config: &Config,
        parts: AccountsParts,
    ) -> Self {
        let recent = Arc::<recent::RecentSessions>::default();
        let people = People::new(store.clone(), Arc::clone(&clock)).with_idle(config.session_idle);
        let people = people.with_memory(recent.clone());
        let audit = parts.audit.clone();
        let accounts =
            Accounts::new(ConsoleKind::Operator, config, people.clone(), parts, Arc::clone(&clock));
        Self {
            operators,
            payments,
            accounts,
            people,
            audit,
            store,
            clock,
            streams: Arc::new(Streams::new()),
            samples: live::Encoded::default(),
            recent,
            needs_second_factor: config.operators_need_second_factor,
            setup_password: config.operator_password.clone().map(SetupPassword::new),
            store_name: config.store.to_string(),
            links: Vec::new(),
            node_address: String::new(),
            ending_keys: None,
            jobs: JobBoard::default(),
            open_exceptions: troubles::OpenExceptions::default(),
        }
    }

    /// Returns the counter of requests refused by this console's pages.
    pub(crate) fn refused_requests(&self) -> Data<RefusedRequests> {
        self.accounts.refused_requests()
    }

    /// Returns the stored form that this node last found in the store.
    pub(crate) fn store_form(&self) -> StoreForm {
        self.store.form()
    }

    /// Adds the state of the links to these providers.
    #[must_use]
    pub(crate) fn with_links(self, links: Vec<Arc<Link>>) -> Self {
        Self { links, ..self }
    }

    /// Adds the background jobs of this node.
    #[must_use]
    pub(crate) fn with_jobs(self, jobs: JobBoard) -> Self {
        Self { jobs, ..self }
    }

    /// Adds this node's address and the number of keys that expire soon.
    #[must_use]
    pub(crate) fn on_node(self, address: String, ending_keys: EndingKeyCount) -> Self {
        Self { node_address: address, ending_keys: Some(ending_keys), ..self }
    }
}
