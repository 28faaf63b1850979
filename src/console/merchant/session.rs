//! Check that somebody who is watching or downloading is still signed in.

use actix_web::web::Data;
use quita_domain::people::User;
use quita_domain::secret::Secret;

use super::MerchantConsole;
use super::visitor::Visitor;
use crate::console::kit::stream_permits::Watcher;
use quita_services::people::People;

/// Session as it was when its user started to watch or download.
pub(crate) struct StillIn {
    people: People,
    token: Secret<String>,
    user: User,
}

impl StillIn {
    pub(crate) fn of(visitor: &Visitor, console: &Data<MerchantConsole>) -> Self {
        Self { people: console.people.clone(), token: visitor.token.clone(), user: visitor.user.clone() }
    }

    /// Returns the watcher for the stream limits.
    pub(crate) fn watcher(&self) -> Watcher {
        Watcher { merchant: Some(self.user.merchant.clone()), login: self.user.login.to_string() }
    }

    /// Returns true if the user has the same merchant and role as before.
    fn is_same(&self, user: &User) -> bool {
        // A changed password or second factor need not be compared: such a change ends the session if it must.
        user.merchant == self.user.merchant && user.role == self.user.role
    }

    /// Returns true while the session continues, with the same user in the same role. An unavailable store ends no
    /// session.
    pub(crate) async fn is_true(&self) -> bool {
        match self.people.watch::<User>(self.token.expose()).await {
            Ok(signed) => signed.is_some_and(|signed| self.is_same(&signed.person)),
            Err(_) => true,
        }
    }
}
