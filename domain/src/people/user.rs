//! Users of merchants.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Credentials, Login, Mailing, MessageWebhook, Role};
use crate::identity::MerchantId;
use crate::time::Timestamp;

/// A person of a merchant who may sign in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Login.
    pub login: Login,
    /// Merchant.
    pub merchant: MerchantId,
    /// Role.
    pub role: Role,
    /// Password and second factor.
    pub credentials: Credentials,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Messages by e-mail, which the owner of a merchant gets.
    #[serde(default, skip_serializing_if = "Mailing::is_untouched")]
    pub mailing: Mailing,
    /// Messages by webhook. If absent, there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_webhook: Option<MessageWebhook>,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("login", &self.login).field("role", &self.role).finish_non_exhaustive()
    }
}
