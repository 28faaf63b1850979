//! Rate limits on one user's changes and downloads. They allow more than a person needs, but less than a program needs
//! to fill the store or keep it busy.

use std::time::Duration;

use quita_domain::identity::MerchantId;
use quita_domain::people::User;

use crate::console::kit::page_error::PageError;
use quita_services::limiter::{Limiter, Pace};

/// Changes by one user. Each adds an entry to the audit log, and a test event calls another server.
const CHANGES: Pace = Pace { burst: 120, period: Duration::from_secs(1) };
/// Downloads by one user. Each may read all payments of a merchant.
const EXPORTS: Pace = Pace { burst: 10, period: Duration::from_secs(30) };

/// New people of a merchant. Refusing a login that is taken reveals that it exists, perhaps at another merchant.
const PEOPLE: Pace = Pace { burst: 30, period: Duration::from_secs(600) };

/// Renamings of a merchant's applications. Each adds a permanent entry to the audit log.
const RENAMES: Pace = Pace { burst: 10, period: Duration::from_secs(60) };

/// Counters of changes and downloads on this node.
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
    pub(crate) fn count_change(&self, user: &User) -> Result<(), PageError> {
        self.changes.count(&user.login.to_string()).map_err(PageError::TooMany)
    }

    /// Counts a new person of the user's merchant, or refuses it.
    pub(crate) fn count_new_person(&self, user: &User) -> Result<(), PageError> {
        self.people.count(&user.merchant).map_err(PageError::TooMany)
    }

    /// Counts a renaming of an application of the user's merchant, or refuses it.
    pub(crate) fn count_rename(&self, user: &User) -> Result<(), PageError> {
        self.renames.count(&user.merchant).map_err(PageError::TooMany)
    }

    /// Counts a download, or refuses it.
    pub(crate) fn count_export(&self, user: &User) -> Result<(), PageError> {
        self.exports.count(&user.login.to_string()).map_err(PageError::TooMany)
    }
}
