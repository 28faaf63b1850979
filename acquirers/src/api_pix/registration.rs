//! Registration of the address for callbacks at the bank: read first, then set. A foreign address is replaced only if
//! configured.

use serde_json::json;
use url::Url;

use quita_domain::acquiring::CallFailure;

use super::lenient::text;
use super::link::{Answer, Link, segment};
use super::settings::CallbackRegistration;

/// Outcome of registering the address for callbacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistrationOutcome {
    /// Nothing was to be registered.
    Off,
    /// The bank had the address.
    Known,
    /// The bank had none, or an older one of ours.
    Registered,
    /// The bank had another one, at this host, which was replaced.
    Replaced(String),
    /// The bank has another one, at this host, which is left alone.
    Foreign(String),
    /// The bank can't be asked or told, and why.
    Failed(String),
}

/// Registers our address at the bank, if configured.
pub(super) async fn register(link: &Link) -> RegistrationOutcome {
    let webhook = &link.settings().webhook;
    let (Some(address), CallbackRegistration::Register | CallbackRegistration::Replace) =
        (&webhook.address, webhook.registration)
    else {
        return RegistrationOutcome::Off;
    };
    let address = address.expose();
    let token = webhook.token.expose();
    let path = format!("/webhook/{}", segment(&link.settings().pix_key));
    let known = match link.get(&path).await {
        Ok(Answer::Success(known)) => text(&known, "webhookUrl").map(str::to_owned),
        Ok(Answer::NotFound(_)) => None,
        Ok(Answer::Refused(why)) => return RegistrationOutcome::Failed(why),
        Err(failure) => return RegistrationOutcome::Failed(said(failure)),
    };
    let outcome = match known {
        None => RegistrationOutcome::Registered,
        Some(known) if is_same(&known, address) => return RegistrationOutcome::Known,
        Some(known) if is_older(&known, address, token) => RegistrationOutcome::Registered,
        Some(known) if webhook.registration == CallbackRegistration::Replace => {
            RegistrationOutcome::Replaced(host(&known))
        }
        // A bank keeps one address for each Pix key: replacing a foreign one would silence another program.
        Some(known) => return RegistrationOutcome::Foreign(host(&known)),
    };
    match link.put_with(&path, &webhook.headers, &json!({ "webhookUrl": address })).await {
        Ok(Answer::Success(_)) => outcome,
        Ok(Answer::NotFound(why) | Answer::Refused(why)) => RegistrationOutcome::Failed(why),
        Err(failure) => RegistrationOutcome::Failed(said(failure)),
    }
}

/// Returns true if the bank already calls this address. It may show a suffix that it appends.
pub(crate) fn is_same(known: &str, address: &str) -> bool {
    let bare = |url: &str| url.strip_suffix("/pix").unwrap_or(url).trim_end_matches('/').to_owned();
    bare(known) == bare(address)
}

/// Returns true if it is this address with another token, which only this acquirer of this service has.
pub(crate) fn is_older(known: &str, address: &str, token: &str) -> bool {
    let Some((before, _)) = address.split_once(token).filter(|_| !token.is_empty()) else { return false };
    known.starts_with(before)
}

/// Returns the host of a foreign address, because the rest of it may be secret.
pub(crate) fn host(address: &str) -> String {
    let host = Url::parse(address).ok().and_then(|url| url.host_str().map(String::from));
    host.unwrap_or_else(|| "an address that can't be read".into())
}

pub(crate) fn said(failure: CallFailure) -> String {
    match failure {
        CallFailure::NotDelivered(why) | CallFailure::Unknown(why) => why,
        CallFailure::Throttled { .. } | CallFailure::Withheld => "the bank wants fewer calls".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_another_token_is_an_older_one_of_ours() {
        let address = "https://q.example/acquirers/bank/notifications/new?ignorar=";
        assert!(is_older("https://q.example/acquirers/bank/notifications/old", address, "new"));
        assert!(!is_older("https://q.example/acquirers/bank2/notifications/old", address, "new"));
        assert!(!is_older("https://other.example/x", address, ""));
        assert!(is_same(&format!("{address}/pix"), address));
        assert_eq!(host("https://other.example/hooks/secret"), "other.example");
    }
}
