//! Operators, who run the service.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Credentials, Login, Mailing, MessageWebhook};
use crate::time::Timestamp;

/// Role of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorRole {
    /// May do everything.
    Operator,
    /// Sees everything, and may change only their own account.
    Auditor,
}

impl OperatorRole {
    /// Every role.
    pub const ALL: [Self; 2] = [Self::Operator, Self::Auditor];

    /// Returns the spelling of the command line and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Auditor => "auditor",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Returns true if this role may change more than its own account.
    pub const fn may_direct(self) -> bool {
        match self {
            Self::Operator => true,
            Self::Auditor => false,
        }
    }
}

/// A person who may sign in to the operators' console.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    /// Login.
    pub login: Login,
    /// Role.
    pub role: OperatorRole,
    /// Password and second factor.
    pub credentials: Credentials,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Messages by e-mail.
    #[serde(default, skip_serializing_if = "Mailing::is_untouched")]
    pub mailing: Mailing,
    /// Messages by webhook. If absent, there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_webhook: Option<MessageWebhook>,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Operator");
        shown.field("login", &self.login).field("role", &self.role).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_auditor_only_looks() {
        assert_eq!(OperatorRole::ALL.map(OperatorRole::may_direct), [true, false]);
        let read = OperatorRole::ALL.map(|role| OperatorRole::parse(role.as_str()));
        assert_eq!(read, OperatorRole::ALL.map(Some));
    }
}
