//! `quita users`: people who may sign in to the merchants' console.

use clap::{Args, Subcommand};
use quita_domain::audit::AuditAction;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Role, User};

use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::keys::name;
use super::operators::{self, OperatorsCommand};
use super::output;
use super::people::{self, MailChange, PeopleAccess, PersonArgs, WebhookChange, login, show_once};
use quita_services::audit::AuditDraft;
use quita_services::holdings::Holdings;
use quita_services::people::{PeopleError, Someone};

/// Subcommands of `quita users`.
#[derive(Debug, Subcommand)]
pub(super) enum UsersCommand {
    /// Create a user and print the password: it is shown only once
    Create(CreateUser),
    /// List the users of a merchant
    List(ListUsers),
    /// Give a user another role
    SetRole(SetUserRole),
    /// Set a new password and print it; the user's sessions end
    ResetPassword(PersonArgs),
    /// Reset the second factor of a user who lost it; until another is set up, the password is enough
    ResetFactor(PersonArgs),
    /// Turn e-mail notifications to a user on or off; owners are notified of failures
    Mail(MailChange),
    /// Set the URL for webhook notifications to a user, and print their signing secret once
    Webhook(WebhookChange),
    /// Remove a user, whose sessions end; lists the API keys and webhook secrets that the user was shown
    Remove(Removal),
    /// Manage operators, who have their own console
    #[command(subcommand)]
    Operators(OperatorsCommand),
}

/// Arguments of `quita users create`.
#[derive(Debug, Args)]
pub(super) struct CreateUser {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    /// E-mail address for signing in
    #[arg(long, value_parser = login)]
    email: Login,
    /// owner, developer or viewer
    #[arg(long, default_value = "owner", value_parser = role)]
    role: Role,
    /// The account is yours: the password must be changed within a day instead of at the first sign-in
    #[arg(long)]
    own: bool,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Arguments of `quita users list`.
#[derive(Debug, Args)]
pub(super) struct ListUsers {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Arguments of `quita users set-role`.
#[derive(Debug, Args)]
pub(super) struct SetUserRole {
    #[command(flatten)]
    user: PersonArgs,
    /// owner, developer or viewer
    #[arg(value_parser = role)]
    role: Role,
}

/// Arguments of `quita users remove`.
#[derive(Debug, Args)]
pub(super) struct Removal {
    #[command(flatten)]
    user: PersonArgs,
    /// Also revoke the API keys that the user created
    #[arg(long)]
    revoke_keys: bool,
}

pub(super) async fn run(command: UsersCommand) -> Result<(), Failure> {
    match command {
        UsersCommand::Create(CreateUser { merchant, email, role, own, store }) => {
            let access = PeopleAccess::open(store).await?;
            let merchant = MerchantId::new(merchant);
            let news = access.names.new_merchant(&merchant).await?;
            let people = &access.people;
            let login = email.clone();
            let made = match own {
                true => people.create_own(merchant.clone(), login, role).await,
                false => people.create(merchant.clone(), login, role).await,
            };
            let password = match made {
                Ok(password) => password,
                Err(error) => return Err(refused(&access, error).await),
            };
            let draft = AuditDraft::of(&merchant, AuditAction::UserCreated, &email).after(role.as_str());
            access.note(draft).await;
            show_once(&password)?;
            if let Some(news) = news {
                let undo = format!("remove this user: quita users remove {email}");
                output::note(&news.in_words("user", &undo));
            }
            Ok(())
        }
        UsersCommand::List(ListUsers { merchant, json, store }) => {
            let opened = CommandStore::open(store).await?;
            let merchant = MerchantId::new(merchant);
            opened.names().require_merchant(&merchant).await?;
            let users = opened.people().users(&merchant).await?;
            if users.is_empty() {
                output::note(
                    "There are no users yet; `quita users create --merchant NAME --email ADDRESS` creates one.",
                );
            }
            people::print(&users, json)
        }
        UsersCommand::SetRole(SetUserRole { user: PersonArgs { email, store }, role }) => {
            let access = PeopleAccess::open(store).await?;
            let user = access.people.find(&email).await?;
            let before = access.people.set_role(&user.merchant, &email, role).await?;
            let draft = user.draft(AuditAction::UserRoleChanged);
            access.note(draft.before(before.as_str()).after(role.as_str())).await;
            output::note(&format!("{email} is now {}.", role.as_str()));
            Ok(())
        }
        UsersCommand::ResetPassword(PersonArgs { email, store }) => {
            let access = PeopleAccess::open(store).await?;
            let user = access.people.find(&email).await?;
            let password = access.people.reset_password(&user.merchant, &email).await?;
            access.note(user.draft(AuditAction::PasswordChanged)).await;
            show_once(&password)
        }
        UsersCommand::ResetFactor(PersonArgs { email, store }) => {
            let access = PeopleAccess::open(store).await?;
            let user = access.people.find(&email).await?;
            access.people.remove_factor::<User>(&email).await?;
            access.note(user.draft(AuditAction::SecondFactorRemoved)).await;
            output::note(&format!("The second factor of {email} was reset."));
            Ok(())
        }
        UsersCommand::Mail(change) => people::set_mailing::<User>(change).await,
        UsersCommand::Webhook(change) => people::set_webhook::<User>(change).await,
        UsersCommand::Remove(removal) => remove(removal).await,
        UsersCommand::Operators(command) => operators::run(command).await,
    }
}

/// Returns the failure for a user who could not be created.
async fn refused(access: &PeopleAccess, error: PeopleError) -> Failure {
    let PeopleError::Taken(login) = &error else { return error.into() };
    // Another merchant may already have this login. Command-line users are told which merchant, and how to free the
    // login.
    match access.people.find(login).await {
        Ok(user) => Failure::failed(format!(
            "{login} belongs to a user of {}; `quita users remove {login}` frees it",
            output::printable(user.merchant.as_str())
        )),
        Err(_) => error.into(),
    }
}

/// Removes a user, along with their API keys if requested.
async fn remove(Removal { user: PersonArgs { email, store }, revoke_keys }: Removal) -> Result<(), Failure> {
    let access = PeopleAccess::open(store).await?;
    let user = access.people.find(&email).await?;
    let holdings = access.keyholders.holdings(&user.merchant, &email).await?;
    tell(&holdings, revoke_keys)?;
    // Keys are revoked before the user is removed: if a step fails in between, the user can still be removed again.
    if revoke_keys {
        revoke(&access, &user).await?;
    }
    access.people.remove(&user.merchant, &email).await?;
    access.note(user.draft(AuditAction::UserRemoved).before(user.role.as_str())).await;
    if revoke_keys {
        revoke(&access, &user).await?;
    }
    output::note(&format!("{email} was removed."));
    Ok(())
}

/// Lists the keys and secrets that the user was shown, in tab-separated columns, with what can be done about them.
fn tell(holdings: &Holdings, revoke_keys: bool) -> Result<(), Failure> {
    for key in &holdings.keys {
        let (mode, application) =
            (key.owner.mode.as_str(), output::printable(key.owner.application.as_str()));
        output::result(&format!("key\t{}\t{mode}\t{application}", key.id))?;
    }
    for secret in &holdings.secrets {
        let mode = secret.mode.as_str();
        let application = output::printable(secret.application.as_str());
        output::result(&format!("webhook secret\t{mode}\t{application}"))?;
    }
    if !holdings.keys.is_empty() && !revoke_keys {
        output::note(
            "The removed user has seen these keys, which still work: `quita keys revoke KEYID` revokes one.",
        );
    }
    if !holdings.secrets.is_empty() {
        output::note(
            "The removed user has seen these webhook secrets: `quita secrets rotate` replaces them.",
        );
    }
    Ok(())
}

/// Revokes every key that the user created.
async fn revoke(access: &PeopleAccess, user: &User) -> Result<(), Failure> {
    for key in access.keyholders.revoke(&user.merchant, &user.login, |_| false).await? {
        let draft = AuditDraft::of(&user.merchant, AuditAction::KeyRevoked, &key.id);
        access.note(draft.before(format!("made by {}", user.login))).await;
        output::note(&format!("Key {} was revoked.", key.id));
    }
    Ok(())
}

fn role(text: &str) -> Result<Role, String> {
    let known = Role::ALL.map(Role::as_str).join(", ");
    Role::parse(text).ok_or_else(|| format!("known roles are {known}"))
}
