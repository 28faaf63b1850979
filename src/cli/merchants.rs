//! `quita merchants`: the merchant's profile, as payers see it.

use std::fs::File;
use std::io::Read as _;

use clap::{ArgGroup, Args, Subcommand};
use quita_domain::audit::AuditAction;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Logo, MAX_LOGO_BYTES, MerchantProfile};

use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::keys::name;
use super::output;
use super::people::PeopleAccess;
use quita_services::audit::AuditDraft;

/// Commands about a merchant's profile.
#[derive(Debug, Subcommand)]
pub(super) enum MerchantsCommand {
    /// Show the name, the contact and the logo that payers see
    Show(Show),
    /// Change the name, the contact and the logo that payers see on their pages and slips
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
#[command(group(ArgGroup::new("changes").args(["display_name", "contact", "logo"]).required(true).multiple(true)))]
pub(super) struct SetProfile {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    /// Name in place of the merchant's own, up to 60 characters; empty removes it
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// E-mail address, telephone or web address for questions, up to 100 characters; empty removes it
    #[arg(long, value_name = "TEXT")]
    contact: Option<String>,
    /// PNG or JPEG of at most 32 KiB and 1024 pixels a side, for the pages; empty removes it
    #[arg(long, value_name = "FILE")]
    logo: Option<String>,
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(command: MerchantsCommand) -> Result<(), Failure> {
    match command {
        MerchantsCommand::Show(Show { merchant, store }) => {
            let opened = CommandStore::open(store).await?;
            let merchant = MerchantId::new(merchant);
            opened.names().require_merchant(&merchant).await?;
            let profile = opened.people().profile(&merchant).await?;
            output::result(&shown(&profile))
        }
        MerchantsCommand::SetProfile(SetProfile { merchant, display_name, contact, logo, store }) => {
            let logo = logo.map(|path| read_logo(&path)).transpose()?;
            let access = PeopleAccess::open(store).await?;
            let merchant = MerchantId::new(merchant);
            access.names.require_merchant(&merchant).await?;
            let before = access.people.profile(&merchant).await?;
            let mut after = before.clone();
            if let Some(name) = display_name {
                after = after.with_display_name(&name).map_err(Failure::usage)?;
            }
            if let Some(contact) = contact {
                after = after.with_contact(&contact).map_err(Failure::usage)?;
            }
            if let Some(logo) = logo {
                after = after.with_logo(logo);
            }
            access.people.set_profile(&merchant, &after).await?;
            let draft = AuditDraft::of(&merchant, AuditAction::ProfileChanged, &merchant);
            access.note(draft.before(before.to_string()).after(after.to_string())).await;
            output::result(&shown(&after))
        }
    }
}

/// Formats a profile as lines with a name and a value each.
fn shown(profile: &MerchantProfile) -> String {
    let logo = profile.logo().map(Logo::to_string);
    let lines =
        [("display name", profile.display_name()), ("contact", profile.contact()), ("logo", logo.as_deref())];
    let line =
        |(name, value): (&str, Option<&str>)| format!("{name}\t{}", output::printable(value.unwrap_or("–")));
    lines.map(line).join("\n")
}

/// Reads a logo from a file; `None` for an empty path.
fn read_logo(path: &str) -> Result<Option<Logo>, Failure> {
    if path.is_empty() {
        return Ok(None);
    }
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("{path}: {why}"));
    let mut bytes = Vec::new();
    // Reading one byte more than allowed reveals that a logo is too large.
    let limit = u64::try_from(MAX_LOGO_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let file = File::open(path).map_err(|error| unusable(&error))?;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| unusable(&error))?;
    Logo::new(bytes).map(Some).map_err(|error| unusable(&error))
}
