//! Accounts of a console: signing in, step-up authentication, and changes to one's own account.
//!
//! Both consoles share this module. What differs stays in the consoles: their people ([`Someone`]), their page frames,
//! and the operator's actions while the store is down.

mod factor;
mod own;
mod sign_in;
mod step_up;

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::web::Data;
use quita_domain::audit::AuditAction;
use quita_domain::request::PostbackPolicy;
use quita_domain::secret::Secret;
use quita_ports::Clock;
use quita_services::secret_keys::Strongbox;

use super::addresses::own_address;
use super::attempts::Attempts;
use super::console_kind::ConsoleKind;
use super::cookies::Cookies;
use super::devices::Devices;
use super::page_context::PageContext;
use super::page_error::PageError;
use crate::http::Mount;
use quita_config::{Config, Environment};
use quita_services::audit::{Audit, AuditDraft, Initiator};
use quita_services::people::{MessageWebhooks, People, SecondFactors, Signed, Someone};
use quita_services::refused_requests::RefusedRequests;
use quita_services::refused_sign_ins::{Door, RefusedSignIns, Why};

pub(crate) use own::AccountPart;

/// Account handling of one console.
pub(crate) struct Accounts {
    console: ConsoleKind,
    people: People,
    factors: SecondFactors,
    webhooks: MessageWebhooks,
    /// Policy for the addresses of messages by webhook.
    postback: PostbackPolicy,
    audit: Audit,
    refused: Arc<RefusedSignIns>,
    clock: Arc<dyn Clock>,
    cookies: Cookies,
    attempts: Attempts,
    devices: Devices,
    /// True if this service has a mail server.
    sends_mail: bool,
}

/// Parts of the service that the accounts of both consoles share.
pub(crate) struct AccountsParts {
    pub(crate) strongbox: Strongbox,
    pub(crate) audit: Audit,
    pub(crate) refused: Arc<RefusedSignIns>,
}

/// Request of somebody who is signing in.
pub(crate) struct Arrival<'a> {
    pub(crate) request: &'a HttpRequest,
    /// Address of the client.
    pub(crate) from: IpAddr,
}

/// Signed-in person who acts on their own account.
pub(crate) struct AccountHolder<S> {
    pub(crate) signed: Signed<S>,
    pub(crate) token: Secret<String>,
    /// Address of the client.
    pub(crate) from: IpAddr,
}

/// Returns the mount path of a console's listener, as browsers see it.
fn mount_of(console: ConsoleKind, config: &Config) -> Mount {
    // Only the merchants' console is reachable at the public URL.
    let public_url = config.public_url.as_ref().filter(|_| console == ConsoleKind::Merchant);
    public_url.map_or(Mount::ROOT, |url| Mount::of(url.as_str()))
}

impl Accounts {
    /// Creates the account handling of a console for its people.
    pub(crate) fn new(
        console: ConsoleKind,
        config: &Config,
        people: People,
        parts: AccountsParts,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let AccountsParts { strongbox, audit, refused } = parts;
        Self {
            console,
            factors: SecondFactors::new(people.clone(), strongbox.clone()),
            webhooks: MessageWebhooks::new(people.clone(), strongbox),
            postback: config.environment.postback_policy(),
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

    /// Returns the cookies of this console.
    pub(crate) const fn cookies(&self) -> Cookies {
        self.cookies
    }

    const fn door(&self) -> Door {
        self.console.door()
    }

    /// Returns the address of a page of this console.
    fn address(path: &str) -> String {
        format!("{}{path}", PageContext::current().root())
    }

    /// Returns the requested address if it is a page of this console, else the console's start page.
    fn own_address(wanted: &str) -> String {
        own_address(&PageContext::current().root(), wanted)
    }

    /// Returns the counter of requests refused by this console's pages.
    pub(crate) fn refused_requests(&self) -> Data<RefusedRequests> {
        Data::from(Arc::clone(self.refused.requests()))
    }

    /// Counts an attempt to sign in to something other than a person's account.
    pub(crate) fn count_attempt(&self, at: &str, from: IpAddr) -> Result<(), PageError> {
        self.attempts.count(at, from, None).map(drop).map_err(PageError::TooMany)
    }

    /// Records a refused sign-in in the audit log, with the account as typed.
    pub(crate) async fn note_refused(&self, account: &str, from: IpAddr, why: Why) {
        self.refused.note(account, from, self.door(), why).await;
    }

    /// Records in the audit log what somebody did with their own account.
    async fn note_own<S: Someone>(&self, holder: &AccountHolder<S>, action: AuditAction) {
        let person = &holder.signed.person;
        self.note(person, holder.from, person.draft(action)).await;
    }

    async fn note<S: Someone>(&self, person: &S, from: IpAddr, draft: AuditDraft) {
        let initiator = Initiator { who: person.login().to_string(), from: from.to_string() };
        self.audit.note(&initiator, draft).await;
    }
}
