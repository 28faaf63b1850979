//! `quita users`: who may sign in to the merchants' console.

use std::sync::Arc;

use clap::{Args, Subcommand};
use quita_actors::Strongbox;
use quita_adapters::system::SystemClock;
use quita_domain::audit::AuditAction;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Role, User};
use quita_domain::secret::Secret;
use quita_ports::WholeStore;

use super::audited;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::keys::name;
use super::output;
use crate::config::StoreAccess;
use crate::service::audit::{Audit, AuditDraft};
use crate::service::people::People;
use crate::store::{self, Purpose};

/// What is done with users.
#[derive(Debug, Subcommand)]
pub(super) enum UsersCommand {
    /// Make a user, and print the password alone: it is shown only once
    Create(Create),
    /// List the users of a merchant
    List(List),
    /// Give a user another role
    SetRole(SetRole),
    /// Give a user a new password, and print it alone; the user's sessions end
    ResetPassword(OneUser),
    /// Remove a user, whose sessions end
    Remove(OneUser),
}

/// Whose user, and what for.
#[derive(Debug, Args)]
pub(super) struct Create {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    /// With what the user signs in
    #[arg(long, value_parser = login)]
    email: Login,
    /// owner, developer or viewer
    #[arg(long, default_value = "owner", value_parser = role)]
    role: Role,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Whose users.
#[derive(Debug, Args)]
pub(super) struct List {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Which user, and which role.
#[derive(Debug, Args)]
pub(super) struct SetRole {
    /// With what the user signs in
    #[arg(value_parser = login)]
    email: Login,
    /// owner, developer or viewer
    #[arg(value_parser = role)]
    role: Role,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Which user.
#[derive(Debug, Args)]
pub(super) struct OneUser {
    /// With what the user signs in
    #[arg(value_parser = login)]
    email: Login,
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(command: UsersCommand) -> Result<(), Failure> {
    match command {
        UsersCommand::Create(Create { merchant, email, role, store }) => {
            let office = Office::open(store).await?;
            let merchant = MerchantId::new(merchant);
            let password = office.people.create(merchant.clone(), email.clone(), role).await?;
            let draft = AuditDraft::of(&merchant, AuditAction::UserCreated, &email).after(role.as_str());
            office.note(draft).await;
            show_once(&password)
        }
        UsersCommand::List(List { merchant, store }) => {
            let (people, ..) = beside_service(store).await?;
            let users = people.users(&MerchantId::new(merchant)).await?;
            if users.is_empty() {
                output::note(
                    "There is nobody yet; `quita users create --merchant NAME --email ADDRESS` makes one.",
                );
            }
            users.iter().try_for_each(|user| output::result(&line(user)))
        }
        UsersCommand::SetRole(SetRole { email, role, store }) => {
            let office = Office::open(store).await?;
            let user = office.people.find(&email).await?;
            let before = office.people.set_role(&user.merchant, &email, role).await?;
            let draft = AuditDraft::of(&user.merchant, AuditAction::UserRoleChanged, &email);
            office.note(draft.before(before.as_str()).after(role.as_str())).await;
            output::note(&format!("{email} is {} now.", role.as_str()));
            Ok(())
        }
        UsersCommand::ResetPassword(OneUser { email, store }) => {
            let office = Office::open(store).await?;
            let user = office.people.find(&email).await?;
            let password = office.people.reset_password(&user.merchant, &email).await?;
            office.note(AuditDraft::of(&user.merchant, AuditAction::PasswordChanged, &email)).await;
            show_once(&password)
        }
        UsersCommand::Remove(OneUser { email, store }) => {
            let office = Office::open(store).await?;
            let user = office.people.find(&email).await?;
            office.people.remove(&user.merchant, &email).await?;
            let draft = AuditDraft::of(&user.merchant, AuditAction::UserRemoved, &email);
            office.note(draft.before(user.role.as_str())).await;
            output::note(&format!("{email} is removed."));
            Ok(())
        }
    }
}

/// Where people are managed beside the service.
struct Office {
    people: People,
    audit: Audit,
}

impl Office {
    async fn open(flags: StoreAccessFlags) -> Result<Self, Failure> {
        let (people, store, strongbox) = beside_service(flags).await?;
        let audit = Audit::open(store, &strongbox, Arc::new(SystemClock)).await?;
        Ok(Self { people, audit })
    }

    async fn note(&self, draft: AuditDraft) {
        audited::note(&self.audit, draft).await;
    }
}

/// To look only, which needs no secret key.
async fn beside_service(
    flags: StoreAccessFlags,
) -> Result<(People, Arc<dyn WholeStore>, Strongbox), Failure> {
    let StoreAccess { url, secret_keys } = StoreAccess::from_settings(flags.settings())?;
    let store = store::open(&url, Purpose::Maintenance).await?;
    let strongbox = secret_keys.strongbox(store.clone());
    Ok((People::new(store.clone(), Arc::new(SystemClock)), store, strongbox))
}

fn show_once(password: &Secret<String>) -> Result<(), Failure> {
    output::result(password.expose())?;
    output::note(
        "Keep it now: it is not shown again. It can be changed in the console, under \"Your account\".",
    );
    Ok(())
}

/// One user in columns that tabs separate.
fn line(user: &User) -> String {
    format!("{}\t{}\tmade {}", output::printable(user.login.as_str()), user.role.as_str(), user.created_at)
}

fn login(text: &str) -> Result<Login, String> {
    Login::parse(text).ok_or_else(|| "an e-mail address is allowed, such as ana@example.com".into())
}

fn role(text: &str) -> Result<Role, String> {
    let known = Role::ALL.map(Role::as_str).join(", ");
    Role::parse(text).ok_or_else(|| format!("known roles are {known}"))
}
