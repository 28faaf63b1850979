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
use super::operators::{self, OperatorsCommand};
use super::output;
use crate::config::StoreAccess;
use crate::service::audit::{Audit, AuditDraft};
use crate::service::holdings::{Holdings, Keyholders};
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
    /// Take the second factor away from a user who lost it: the password is enough then, until another is set up
    ResetFactor(OneUser),
    /// Remove a user, whose sessions end; lists the API keys and webhook secrets that the user was shown
    Remove(Removal),
    /// Operators, who have a console of their own
    #[command(subcommand)]
    Operators(OperatorsCommand),
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
    /// You are that user: the password need not be changed at the first sign-in
    #[arg(long)]
    own: bool,
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

/// Whom to remove, and with what.
#[derive(Debug, Args)]
pub(super) struct Removal {
    /// With what the user signs in
    #[arg(value_parser = login)]
    email: Login,
    /// Revoke the API keys that the user made, too
    #[arg(long)]
    revoke_keys: bool,
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(command: UsersCommand) -> Result<(), Failure> {
    match command {
        UsersCommand::Create(Create { merchant, email, role, own, store }) => {
            let office = Office::open(store).await?;
            let merchant = MerchantId::new(merchant);
            let (people, login) = (&office.people, email.clone());
            let password = match own {
                true => people.create_own(merchant.clone(), login, role).await?,
                false => people.create(merchant.clone(), login, role).await?,
            };
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
        UsersCommand::ResetFactor(OneUser { email, store }) => {
            let office = Office::open(store).await?;
            let user = office.people.find(&email).await?;
            office.people.remove_factor::<User>(&email).await?;
            office.note(AuditDraft::of(&user.merchant, AuditAction::SecondFactorRemoved, &email)).await;
            output::note(&format!("{email} has no second factor any more."));
            Ok(())
        }
        UsersCommand::Remove(removal) => remove(removal).await,
        UsersCommand::Operators(command) => operators::run(command).await,
    }
}

/// The keys are revoked first: if something fails in between, the user is still there to be removed again.
async fn remove(Removal { email, revoke_keys, store }: Removal) -> Result<(), Failure> {
    let office = Office::open(store).await?;
    let user = office.people.find(&email).await?;
    let holdings = office.keyholders.holdings(&user.merchant, &email).await?;
    tell(&holdings, revoke_keys)?;
    if revoke_keys {
        office.revoke_keys(&user).await?;
    }
    office.people.remove(&user.merchant, &email).await?;
    let draft = AuditDraft::of(&user.merchant, AuditAction::UserRemoved, &email);
    office.note(draft.before(user.role.as_str())).await;
    if revoke_keys {
        office.revoke_keys(&user).await?;
    }
    output::note(&format!("{email} is removed."));
    Ok(())
}

/// Lists what the user was shown, in columns that tabs separate, and what can be done about it.
fn tell(holdings: &Holdings, revoke_keys: bool) -> Result<(), Failure> {
    for key in &holdings.keys {
        let (mode, application) =
            (key.owner.mode.as_str(), output::printable(key.owner.application.as_str()));
        output::result(&format!("key\t{}\t{mode}\t{application}", key.id))?;
    }
    for secret in &holdings.secrets {
        let (mode, application) = (secret.mode.as_str(), output::printable(secret.application.as_str()));
        output::result(&format!("webhook secret\t{mode}\t{application}"))?;
    }
    if !holdings.keys.is_empty() && !revoke_keys {
        output::note(
            "These keys were shown to who is removed, and still work: `quita keys revoke KEYID` ends one.",
        );
    }
    if !holdings.secrets.is_empty() {
        output::note(
            "These webhook secrets were shown to who is removed: `quita secrets rotate` makes others.",
        );
    }
    Ok(())
}

/// Where people are managed beside the service.
pub(super) struct Office {
    pub(super) people: People,
    keyholders: Keyholders,
    audit: Audit,
}

impl Office {
    pub(super) async fn open(flags: StoreAccessFlags) -> Result<Self, Failure> {
        let (people, store, strongbox) = beside_service(flags).await?;
        let clock = Arc::new(SystemClock);
        let keyholders = Keyholders::new(store.clone(), clock.clone());
        let audit = Audit::open(store, &strongbox, clock).await?;
        Ok(Self { people, keyholders, audit })
    }

    async fn revoke_keys(&self, user: &User) -> Result<(), Failure> {
        for key in self.keyholders.revoke(&user.merchant, &user.login, |_| false).await? {
            let draft = AuditDraft::of(&user.merchant, AuditAction::KeyRevoked, &key.id);
            self.note(draft.before(format!("made by {}", user.login))).await;
            output::note(&format!("Key {} is revoked.", key.id));
        }
        Ok(())
    }

    pub(super) async fn note(&self, draft: AuditDraft) {
        audited::note(&self.audit, draft).await;
    }
}

/// To look only, which needs no secret key.
pub(super) async fn beside_service(
    flags: StoreAccessFlags,
) -> Result<(People, Arc<dyn WholeStore>, Strongbox), Failure> {
    let StoreAccess { url, secret_keys } = StoreAccess::from_settings(flags.settings())?;
    let store = store::open(&url, Purpose::Maintenance).await?;
    let strongbox = secret_keys.strongbox(store.clone());
    Ok((People::new(store.clone(), Arc::new(SystemClock)), store, strongbox))
}

pub(super) fn show_once(password: &Secret<String>) -> Result<(), Failure> {
    output::result(password.expose())?;
    output::note("Keep it now: it is not shown again. Who did not make it changes it at the first sign-in.");
    Ok(())
}

/// One user in columns that tabs separate.
fn line(user: &User) -> String {
    let login = output::printable(user.login.as_str());
    let factor = if user.credentials.second_factor.is_some() { "second factor" } else { "password only" };
    format!("{login}\t{}\t{factor}\tmade {}", user.role.as_str(), user.created_at)
}

pub(super) fn login(text: &str) -> Result<Login, String> {
    Login::parse(text).ok_or_else(|| "an e-mail address is allowed, such as ana@example.com".into())
}

fn role(text: &str) -> Result<Role, String> {
    let known = Role::ALL.map(Role::as_str).join(", ");
    Role::parse(text).ok_or_else(|| format!("known roles are {known}"))
}
