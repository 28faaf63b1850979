//! What the commands about users and operators share.

use std::sync::Arc;

use clap::Args;
use quita_domain::people::Login;
use quita_domain::secret::Secret;
use quita_machine::SystemClock;

use super::audited;
use super::beside::Beside;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::output;
use crate::service::audit::{Audit, AuditDraft};
use crate::service::holdings::Keyholders;
use crate::service::people::{People, Someone};

/// About whom a command is.
#[derive(Debug, Args)]
pub(super) struct One {
    /// With what the person signs in
    #[arg(value_parser = login)]
    pub(super) email: Login,
    #[command(flatten)]
    pub(super) store: StoreAccessFlags,
}

/// Where people are managed beside the service.
pub(super) struct Office {
    pub(super) people: People,
    pub(super) keyholders: Keyholders,
    audit: Audit,
}

impl Office {
    pub(super) async fn open(flags: StoreAccessFlags) -> Result<Self, Failure> {
        let beside = Beside::open(flags).await?;
        let keyholders = Keyholders::new(beside.store.clone(), Arc::new(SystemClock));
        Ok(Self { people: beside.people(), keyholders, audit: beside.audit().await? })
    }

    pub(super) async fn note(&self, draft: AuditDraft) {
        audited::note(&self.audit, draft).await;
    }
}

/// Prints a password alone.
pub(super) fn show_once(password: &Secret<String>) -> Result<(), Failure> {
    output::result(password.expose())?;
    output::note("Keep it now: it is not shown again. Who did not make it changes it at the first sign-in.");
    Ok(())
}

/// Somebody in columns that tabs separate.
pub(super) fn line(person: &impl Someone) -> String {
    let login = output::printable(person.login().as_str());
    let has_factor = person.credentials().second_factor.is_some();
    let factor = if has_factor { "second factor" } else { "password only" };
    format!("{login}\t{}\t{factor}\tmade {}", person.role(), person.created_at())
}

pub(super) fn login(text: &str) -> Result<Login, String> {
    Login::parse(text).ok_or_else(|| "an e-mail address is allowed, such as ana@example.com".into())
}
