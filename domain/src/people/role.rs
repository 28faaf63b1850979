//! Roles and permissions of a merchant's users.

use serde::{Deserialize, Serialize};

/// Role of a merchant's user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May do everything, people and audit log included.
    Owner,
    /// Manages applications, keys and secrets, payments and deliveries.
    Developer,
    /// Sees everything with payers masked, and may change nothing but their own password.
    Viewer,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Owner, Self::Developer, Self::Viewer];

    /// Returns the spelling of the command line and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Developer => "developer",
            Self::Viewer => "viewer",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Returns true if this role has the permission.
    ///
    /// A developer can create a key that refunds, so that role gets the buttons for refunds too.
    pub const fn permits(self, permission: Permission) -> bool {
        match (self, permission) {
            (Self::Owner, _) | (_, Permission::Look | Permission::UnmaskPayer) => true,
            (
                Self::Developer,
                Permission::SeePayers | Permission::ChangePayments | Permission::ManageApplications,
            ) => true,
            (Self::Developer, Permission::ManagePeople)
            | (
                Self::Viewer,
                Permission::SeePayers
                | Permission::ChangePayments
                | Permission::ManageApplications
                | Permission::ManagePeople,
            ) => false,
        }
    }
}

/// Permission in the merchant's console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// See payments, deliveries, applications and keys without their secrets.
    Look,
    /// Reveal one payer in full, which is logged.
    UnmaskPayer,
    /// See payers in full, and export payments.
    SeePayers,
    /// Cancel, capture, refund, redeliver.
    ChangePayments,
    /// Applications, keys, webhook secrets, test events.
    ManageApplications,
    /// Users, and the audit log.
    ManagePeople,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_it_is_for() {
        use Permission::{ChangePayments, Look, ManageApplications, ManagePeople, SeePayers, UnmaskPayer};
        let permitted = |role: Role| {
            [Look, UnmaskPayer, SeePayers, ChangePayments, ManageApplications, ManagePeople]
                .map(|wanted| role.permits(wanted))
        };
        assert_eq!(permitted(Role::Owner), [true; 6]);
        assert_eq!(permitted(Role::Developer), [true, true, true, true, true, false]);
        assert_eq!(permitted(Role::Viewer), [true, true, false, false, false, false]);
        assert_eq!(Role::ALL.map(|role| Role::parse(role.as_str())), Role::ALL.map(Some));
    }
}
