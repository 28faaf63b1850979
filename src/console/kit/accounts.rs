//! The accounts of a console: how people sign in, prove once more who they are, and change what is their own.
//!
//! Both consoles do it alike. What differs is who the people are ([`Someone`]), what surrounds their pages, and where an
//! operator is believed while the store is out of reach: that stays in the consoles.

mod factor;
mod own;
mod sign_in;
mod step_up;

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::web::Data;
use quita_actors::Strongbox;
use quita_domain::audit::AuditAction;
use quita_domain::secret::Secret;
use quita_ports::Clock;

use super::addresses::own_address;
use super::attempts::Attempts;
use super::console_kind::ConsoleKind;
use super::cookies::Cookies;
use super::devices::Devices;
use super::failure::Failure;
use super::page_context::PageContext;
use crate::http::Mount;
use crate::service::audit::{Audit, AuditDraft, Initiator};
use crate::service::people::{People, SecondFactors, Signed, Someone};
use crate::service::refused_requests::RefusedRequests;
use crate::service::refused_sign_ins::{Door, RefusedSignIns, Why};
use quita_config::{Config, Environment};

pub(crate) use own::AccountPart;

/// What the accounts of one console need.
pub(crate) struct Accounts {
    console: ConsoleKind,
    people: People,
    factors: SecondFactors,
    audit: Audit,
    refused: Arc<RefusedSignIns>,
    clock: Arc<dyn Clock>,
    cookies: Cookies,
    attempts: Attempts,
    devices: Devices,
    /// True if this service has a mail server.
    sends_mail: bool,
}

/// Somebody who comes to sign in.
pub(crate) struct Arrival<'a> {
    pub(crate) request: &'a HttpRequest,
    /// The address of the client.
    pub(crate) from: IpAddr,
}

/// Somebody who is signed in, and does something with the own account.
pub(crate) struct AccountHolder<S> {
    pub(crate) signed: Signed<S>,
    pub(crate) token: Secret<String>,
    /// The address of the client.
    pub(crate) from: IpAddr,
}

/// Returns where browsers see the listener of a console. A public address is that of the merchants' alone.
fn mount_of(console: ConsoleKind, config: &Config) -> Mount {
    let public_url = config.public_url.as_ref().filter(|_| console == ConsoleKind::Merchant);
    public_url.map_or(Mount::ROOT, |url| Mount::of(url.as_str()))
}

impl Accounts {
    /// Of this console's people.
    pub(crate) fn new(
        console: ConsoleKind,
        config: &Config,
        (people, strongbox): (People, Strongbox),
        (audit, refused): (Audit, Arc<RefusedSignIns>),
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            console,
            factors: SecondFactors::new(people.clone(), strongbox),
            people,
            audit,
            refused,
            clock,
            cookies: Cookies::new(
                console,
                config.environment == Environment::Production,
                mount_of(console, config),
            ),
            attempts: Attempts::new(),
            devices: Devices::new(console, &config.secret_keys),
            sends_mail: config.mail.is_some(),
        }
    }

    /// The cookies of this console.
    pub(crate) const fn cookies(&self) -> Cookies {
        self.cookies
    }

    const fn door(&self) -> Door {
        Door::of(self.console)
    }

    /// A page of this console.
    fn address(path: &str) -> String {
        format!("{}{path}", PageContext::current().root())
    }

    /// Where somebody wants to go, if that is a page of this console; else its start.
    fn own_address(wanted: &str) -> String {
        own_address(&PageContext::current().root(), wanted)
    }

    /// Counter of what the pages of this console refuse.
    pub(crate) fn refused_requests(&self) -> Data<RefusedRequests> {
        Data::from(Arc::clone(self.refused.requests()))
    }

    /// Counts an attempt at what is no account of a person.
    pub(crate) fn count_attempt(&self, at: &str, from: IpAddr) -> Result<(), Failure> {
        self.attempts.count(at, from, None).map(drop).map_err(Failure::TooMany)
    }

    /// Notes that somebody was not let in. The account is as it was typed.
    pub(crate) async fn note_refused(&self, account: &str, from: IpAddr, why: Why) {
        self.refused.note(account, from, self.door(), why).await;
    }

    /// Notes what somebody did with the own account.
    async fn note_own<S: Someone>(&self, holder: &AccountHolder<S>, action: AuditAction) {
        let person = &holder.signed.person;
        self.note(person, holder.from, person.draft(action)).await;
    }

    async fn note<S: Someone>(&self, person: &S, from: IpAddr, draft: AuditDraft) {
        let initiator = Initiator { who: person.login().to_string(), from: from.to_string() };
        self.audit.note(&initiator, draft).await;
    }
}
