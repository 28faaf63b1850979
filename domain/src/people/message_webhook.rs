//! Messages to a person by webhook.

use serde::{Deserialize, Serialize};

use super::Mailing;
use crate::secret_key::SealedSecret;
use crate::webhook::address::receiver_of;

/// Receiver of a person's messages, run by that person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageWebhook {
    /// URL of the receiver. It may contain a token, so only its host is recorded anywhere else.
    pub url: String,
    /// Secret that signs the messages (`whsec_…`), sealed for this person alone.
    pub secret: SealedSecret,
    /// Language of the messages, and what was reported by them.
    #[serde(default)]
    pub mailing: Mailing,
}

impl MessageWebhook {
    /// Returns the host of the receiver, with its port unless that is the default one.
    pub fn receiver(&self) -> String {
        receiver_of(&self.url)
    }
}
