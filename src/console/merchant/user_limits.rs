//! How fast one user may change things and download lists: faster than a person can, slower than a program that fills
//! the store or keeps it busy.

use std::time::Duration;

use quita_domain::identity::MerchantId;
use quita_domain::people::User;

use crate::console::kit::failure::Failure;
use crate::service::limiter::{Limiter, Pace};

/// Changes for the merchant; each leaves a line in the audit log, and a test event is a call to another server.
const CHANGES: Pace = Pace { burst: 120, period: Duration::from_secs(1) };
/// Downloads; each may read all payments of a merchant.
const EXPORTS: Pace = Pace { burst: 10, period: Duration::from_secs(30) };

/// New people of a merchant: that a login is taken tells that somebody has it, perhaps at another merchant.
const PEOPLE: Pace = Pace { burst: 30, period: Duration::from_secs(600) };

/// New titles of the applications of a merchant; each is an entry of the audit log for good.
const RENAMES: Pace = Pace { burst: 10, period: Duration::from_secs(60) };

/// Counts what each user does, on this node.
pub(crate) struct UserLimits {
    people: Limiter<MerchantId>,
    renames: Limiter<MerchantId>,
    changes: Limiter<String>,
    exports: Limiter<String>,
}

impl UserLimits {
    pub(crate) fn new() -> Self {
        Self {
            people: Limiter::new(PEOPLE),
            renames: Limiter::new(RENAMES),
            changes: Limiter::new(CHANGES),
            exports: Limiter::new(EXPORTS),
        }
    }

    /// Counts a change, or refuses it.
    pub(crate) fn count_change(&self, user: &User) -> Result<(), Failure> {
        self.changes.count(&user.login.to_string()).map_err(Failure::TooMany)
    }

    /// Counts a person who is made for the user's merchant, or refuses it.
    pub(crate) fn count_new_person(&self, user: &User) -> Result<(), Failure> {
        self.people.count(&user.merchant).map_err(Failure::TooMany)
    }

    /// Counts a new title of an application of the user's merchant, or refuses it.
    pub(crate) fn count_rename(&self, user: &User) -> Result<(), Failure> {
        self.renames.count(&user.merchant).map_err(Failure::TooMany)
    }

    /// Counts a download, or refuses it.
    pub(crate) fn count_export(&self, user: &User) -> Result<(), Failure> {
        self.exports.count(&user.login.to_string()).map_err(Failure::TooMany)
    }
}
