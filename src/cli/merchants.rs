//! `quita merchants`: what a merchant's payers read of it.

use clap::{Args, Subcommand};
use quita_domain::audit::AuditAction;
use quita_domain::identity::MerchantId;
use quita_domain::people::MerchantProfile;

use super::beside::Beside;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::keys::name;
use super::output;
use super::people::Office;
use crate::service::audit::AuditDraft;

/// Commands about a merchant's profile.
#[derive(Debug, Subcommand)]
pub(super) enum MerchantsCommand {
    /// Show the name and the contact that payers read
    Show(Show),
    /// Change the name and the contact that payers read on their pages and slips
    SetProfile(SetProfile),
}

/// Merchant of the profile.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Merchant of the profile, and what changes of it.
#[derive(Debug, Args)]
pub(super) struct SetProfile {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    /// Name in place of the merchant's own, up to 60 characters; empty takes it away
    #[arg(long, value_name = "TEXT", required_unless_present = "contact")]
    display_name: Option<String>,
    /// E-mail address, telephone or web address for questions, up to 100 characters; empty takes it away
    #[arg(long, value_name = "TEXT")]
    contact: Option<String>,
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(command: MerchantsCommand) -> Result<(), Failure> {
    match command {
        MerchantsCommand::Show(Show { merchant, store }) => {
            let profile = Beside::open(store).await?.people().profile(&MerchantId::new(merchant)).await?;
            output::result(&shown(&profile))
        }
        MerchantsCommand::SetProfile(SetProfile { merchant, display_name, contact, store }) => {
            let office = Office::open(store).await?;
            let merchant = MerchantId::new(merchant);
            let before = office.people.profile(&merchant).await?;
            let mut after = before.clone();
            if let Some(name) = display_name {
                after = after.with_display_name(&name).map_err(Failure::usage)?;
            }
            if let Some(contact) = contact {
                after = after.with_contact(&contact).map_err(Failure::usage)?;
            }
            office.people.set_profile(&merchant, &after).await?;
            let draft = AuditDraft::of(&merchant, AuditAction::ProfileChanged, &merchant);
            office.note(draft.before(before.to_string()).after(after.to_string())).await;
            output::result(&shown(&after))
        }
    }
}

/// A profile in lines of a name and a value.
fn shown(profile: &MerchantProfile) -> String {
    let line = |name, value: Option<&str>| format!("{name}\t{}", output::printable(value.unwrap_or("–")));
    format!("{}\n{}", line("display name", profile.display_name()), line("contact", profile.contact()))
}
