//! Whether somebody who watches, or downloads, is still signed in.

use actix_web::web::Data;
use quita_domain::people::User;
use quita_domain::secret::Secret;

use super::MerchantConsole;
use super::visitor::Visitor;
use crate::console::kit::stream_permits::Watcher;
use crate::service::people::People;

/// A session as it was when somebody began to watch or download.
pub(crate) struct StillIn {
    people: People,
    token: Secret<String>,
    user: User,
}

impl StillIn {
    pub(crate) fn of(visitor: &Visitor, console: &Data<MerchantConsole>) -> Self {
        Self { people: console.people.clone(), token: visitor.token.clone(), user: visitor.user.clone() }
    }

    /// Who watches.
    pub(crate) fn watcher(&self) -> Watcher {
        Watcher { merchant: Some(self.user.merchant.clone()), login: self.user.login.to_string() }
    }

    /// What the person proves to be with may change meanwhile: the session tells what ends it.
    fn is_same(&self, user: &User) -> bool {
        user.merchant == self.user.merchant && user.role == self.user.role
    }

    /// Whether the session goes on, of the same user in the same role. A store out of reach ends nothing.
    pub(crate) async fn is_true(&self) -> bool {
        match self.people.watch::<User>(self.token.expose()).await {
            Ok(signed) => signed.is_some_and(|signed| self.is_same(&signed.person)),
            Err(_) => true,
        }
    }
}
