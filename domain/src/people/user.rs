//! Users of merchants.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Credentials, Login, Mailing, Role};
use crate::identity::MerchantId;
use crate::time::Timestamp;

/// Somebody of a merchant who may sign in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// With what the user signs in.
    pub login: Login,
    /// Whose user it is.
    pub merchant: MerchantId,
    /// What the user may do.
    pub role: Role,
    /// What the user proves to be with.
    pub credentials: Credentials,
    /// When the user was made.
    pub created_at: Timestamp,
    /// Messages by e-mail, which the owner of a merchant gets.
    #[serde(default, skip_serializing_if = "Mailing::is_untouched")]
    pub mailing: Mailing,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("login", &self.login).field("role", &self.role).finish_non_exhaustive()
    }
}
