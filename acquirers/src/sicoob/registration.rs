//! The callback address at the bank: it is read first, then set. An address of another program is only replaced if that
//! was requested.

use quita_domain::acquiring::CallFailure;
use serde_json::{Value, json};

use super::link::Link;
use crate::api_pix::RegistrationOutcome;
use crate::api_pix::lenient::{list, text, whole};
use crate::api_pix::registration::{host, is_older, is_same, said};
use crate::api_pix::settings::CallbackRegistration;
use crate::bearer::Answer;
use crate::exchange::Verb;

/// `codigoTipoMovimento` for payments, `codigoPeriodoMovimento` for the current day.
const PAYMENTS: u8 = 7;
const TODAY: u8 = 1;

/// `codigoSituacao` of an address that the bank has given up.
const INACTIVE: u64 = 3;

/// Address that is registered at the bank.
struct RegisteredAddress {
    id: u64,
    url: String,
    is_active: bool,
}

/// Change of the callback address at the bank.
enum RegistrationChange {
    /// Registers our address as a new one.
    Add,
    /// Replaces this address with ours.
    Change(u64),
    /// Reactivates our address, which the bank switched off because callbacks had failed.
    Revive(u64),
}

/// Registers our address for the bank's callbacks, if configured.
pub(super) async fn register(link: &Link) -> RegistrationOutcome {
    let webhook = &link.settings().webhook;
    let (Some(address), CallbackRegistration::Register | CallbackRegistration::Replace) =
        (&webhook.address, webhook.registration)
    else {
        return RegistrationOutcome::Off;
    };
    let address = address.expose();
    let token = webhook.token.expose();
    let known = match known(link).await {
        Ok(known) => known,
        Err(why) => return RegistrationOutcome::Failed(why),
    };
    let (change, outcome) = match known {
        None => (RegistrationChange::Add, RegistrationOutcome::Registered),
        Some(known) if is_same(&known.url, address) && known.is_active => return RegistrationOutcome::Known,
        Some(known) if is_same(&known.url, address) => {
            (RegistrationChange::Revive(known.id), RegistrationOutcome::Registered)
        }
        Some(known) if is_older(&known.url, address, token) => {
            (RegistrationChange::Change(known.id), RegistrationOutcome::Registered)
        }
        // An address that the bank has given up serves nobody, so replacing it silences no other program.
        Some(known) if !known.is_active || webhook.registration == CallbackRegistration::Replace => {
            (RegistrationChange::Change(known.id), RegistrationOutcome::Replaced(host(&known.url)))
        }
        Some(known) => return RegistrationOutcome::Foreign(host(&known.url)),
    };
    let answer = match change {
        RegistrationChange::Add => {
            let body =
                json!({ "url": address, "codigoTipoMovimento": PAYMENTS, "codigoPeriodoMovimento": TODAY });
            link.send(Verb::Post, "/webhooks", &body).await
        }
        RegistrationChange::Change(id) => {
            link.send(Verb::Patch, &format!("/webhooks/{id}"), &json!({ "url": address })).await
        }
        RegistrationChange::Revive(id) => {
            link.send(Verb::Patch, &format!("/webhooks/{id}/reativar"), &json!({})).await
        }
    };
    match answer {
        Ok(Answer::Success(_)) => outcome,
        Ok(Answer::NotFound(why) | Answer::Refused(why)) => RegistrationOutcome::Failed(why),
        Err(failure) => RegistrationOutcome::Failed(said(failure)),
    }
}

/// Returns the address for payments that is registered at the bank, preferably an active one.
async fn known(link: &Link) -> Result<Option<RegisteredAddress>, String> {
    let answer = match link.get("/webhooks", &[]).await {
        Ok(Answer::Success(answer)) => answer,
        Ok(Answer::NotFound(_)) => return Ok(None),
        Ok(Answer::Refused(why)) => return Err(why),
        Err(failure @ (CallFailure::NotDelivered(_) | CallFailure::Unknown(_))) => return Err(said(failure)),
        Err(failure @ (CallFailure::Throttled { .. } | CallFailure::Withheld)) => return Err(said(failure)),
    };
    let is_of_payments =
        |entry: &&Value| whole(entry, "codigoTipoMovimento").is_none_or(|kind| kind == u64::from(PAYMENTS));
    let entries = list(&answer, "resultado").iter().filter(is_of_payments);
    let read = entries.filter_map(|entry| {
        let is_active = whole(entry, "codigoSituacao") != Some(INACTIVE);
        Some(RegisteredAddress {
            id: whole(entry, "idWebhook")?,
            url: text(entry, "url")?.to_owned(),
            is_active,
        })
    });
    Ok(read.max_by_key(|known| known.is_active))
}
