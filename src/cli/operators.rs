//! `quita users operators`: people who may sign in to the operator's console.

use clap::{Args, Subcommand};
use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, Operator, OperatorRole};

use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::output;
use super::people::{self, MailChange, PeopleAccess, PersonArgs, WebhookChange, login, show_once};
use quita_services::audit::AuditDraft;

/// Subcommands of `quita users operators`.
#[derive(Debug, Subcommand)]
pub(super) enum OperatorsCommand {
    /// Create an operator and print the password: it is shown only once, and changed at the first sign-in
    Create(CreateOperator),
    /// List the operators
    List(ListOperators),
    /// Give an operator another role
    SetRole(SetOperatorRole),
    /// Set a new password and print it; the operator's sessions end
    ResetPassword(PersonArgs),
    /// Reset the second factor of an operator who lost phone and recovery codes
    ResetFactor(PersonArgs),
    /// Turn e-mail notifications to an operator on or off
    Mail(MailChange),
    /// Set the URL for webhook notifications to an operator, and print their signing secret once
    Webhook(WebhookChange),
    /// Remove an operator, whose sessions end; never the last one
    Remove(PersonArgs),
}

/// Arguments of `quita users operators create`.
#[derive(Debug, Args)]
pub(super) struct CreateOperator {
    /// E-mail address for signing in
    #[arg(long, value_parser = login)]
    email: Login,
    /// operator, or auditor with read-only access
    #[arg(long, default_value = "operator", value_parser = role)]
    role: OperatorRole,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Every operator.
#[derive(Debug, Args)]
pub(super) struct ListOperators {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Arguments of `quita users operators set-role`.
#[derive(Debug, Args)]
pub(super) struct SetOperatorRole {
    #[command(flatten)]
    operator: PersonArgs,
    /// operator or auditor
    #[arg(value_parser = role)]
    role: OperatorRole,
}

pub(super) async fn run(command: OperatorsCommand) -> Result<(), Failure> {
    match command {
        OperatorsCommand::Create(CreateOperator { email, role, store }) => {
            let access = PeopleAccess::open(store).await?;
            let password = access.people.create_operator(email.clone(), role).await?;
            let draft = AuditDraft::of_operators(AuditAction::OperatorCreated, &email).after(role.as_str());
            access.note(draft).await;
            show_once(&password)
        }
        OperatorsCommand::List(ListOperators { json, store }) => {
            let operators = CommandStore::open(store).await?.people().operators().await?;
            if operators.is_empty() {
                output::note(
                    "There are no operators yet; `quita users operators create --email ADDRESS` creates one.",
                );
            }
            people::print(&operators, json)
        }
        OperatorsCommand::SetRole(SetOperatorRole { operator: PersonArgs { email, store }, role }) => {
            let access = PeopleAccess::open(store).await?;
            let before = access.people.set_operator_role(&email, role).await?;
            let draft = AuditDraft::of_operators(AuditAction::OperatorRoleChanged, &email);
            access.note(draft.before(before.as_str()).after(role.as_str())).await;
            output::note(&format!("{email} is now {}.", role.as_str()));
            Ok(())
        }
        OperatorsCommand::ResetPassword(PersonArgs { email, store }) => {
            let access = PeopleAccess::open(store).await?;
            let password = access.people.reset_operator_password(&email).await?;
            access.note(AuditDraft::of_operators(AuditAction::PasswordChanged, &email)).await;
            show_once(&password)
        }
        OperatorsCommand::ResetFactor(PersonArgs { email, store }) => {
            let access = PeopleAccess::open(store).await?;
            access.people.remove_factor::<Operator>(&email).await?;
            access.note(AuditDraft::of_operators(AuditAction::SecondFactorRemoved, &email)).await;
            output::note(&format!("The second factor of {email} was reset."));
            Ok(())
        }
        OperatorsCommand::Mail(change) => people::set_mailing::<Operator>(change).await,
        OperatorsCommand::Webhook(change) => people::set_webhook::<Operator>(change).await,
        OperatorsCommand::Remove(PersonArgs { email, store }) => {
            let access = PeopleAccess::open(store).await?;
            access.people.remove_operator(&email).await?;
            access.note(AuditDraft::of_operators(AuditAction::OperatorRemoved, &email)).await;
            output::note(&format!("{email} was removed."));
            Ok(())
        }
    }
}

fn role(text: &str) -> Result<OperatorRole, String> {
    let known = OperatorRole::ALL.map(OperatorRole::as_str).join(", ");
    OperatorRole::parse(text).ok_or_else(|| format!("known roles are {known}"))
}
