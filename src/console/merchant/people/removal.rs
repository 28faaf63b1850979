//! Removing somebody: with the API keys that they made, unless one is to stay. What they know beside those is shown.

use actix_web::HttpResponse;
use askama::Template;
use quita_domain::access::ApiKey;
use quita_domain::audit::AuditAction;
use quita_domain::identity::Mode;
use quita_domain::people::User;

use crate::console::kit::answer::html;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::Form;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::applications::{address_of, path_segment};
use crate::console::merchant::frame::Frame;
use crate::console::merchant::visitor::Visitor;
use crate::service::holdings::{Holdings, KnownSecret};

/// Names a key that the page showed.
const SHOWN: &str = "shown";
/// Names a key whose box is ticked.
const REVOKED: &str = "revoke";

/// Asks once more, with what the person knows.
#[derive(Template)]
#[template(path = "console/merchant/removal.html")]
struct RemovalPage {
    frame: Frame,
    user: User,
    holdings: Holdings,
}

impl RemovalPage {
    fn question(&self) -> String {
        self.frame.texts.people.remove_question.replace("{login}", self.user.login.as_str())
    }

    fn people(&self) -> String {
        format!("{}/people", self.frame.base)
    }

    fn action(&self) -> String {
        format!("{}/people/{}/remove", self.frame.base, path_segment(self.user.login.as_str()))
    }

    /// Where another secret is made.
    fn rotation(secret: &KnownSecret) -> String {
        format!("{}/secret/rotate", address_of(secret.mode, &secret.application))
    }
}

/// Shows whom it is about, and what that person knows.
pub(super) async fn ask(
    frame: Frame,
    user: &User,
    console: &MerchantConsole,
) -> Result<HttpResponse, Failure> {
    let holdings = console.keyholders.holdings(&user.merchant, &user.login).await?;
    html(&RemovalPage { frame, user: user.clone(), holdings })
}

/// Removes a person. The keys that they made are revoked but for those that the form showed without a tick: one that was
/// made meanwhile does not survive its maker.
pub(super) async fn remove(
    visitor: &Visitor,
    user: &User,
    form: &Form,
    console: &MerchantConsole,
) -> Result<(), Failure> {
    let has = |field: &str, key: &ApiKey| form.all(field).any(|id| id == key.id);
    let is_kept = |key: &ApiKey| has(SHOWN, key) && !has(REVOKED, key);
    // First the keys: if the store goes away in between, the person is still there to be removed again.
    revoke_keys(visitor, user, is_kept, console).await?;
    console.people.remove(&user.merchant, &user.login).await?;
    let draft = visitor.draft(AuditAction::UserRemoved, &user.login).before(user.role.as_str());
    console.audit.note(&visitor.initiator(), draft).await;
    revoke_keys(visitor, user, is_kept, console).await
}

async fn revoke_keys(
    visitor: &Visitor,
    user: &User,
    is_kept: impl Fn(&ApiKey) -> bool,
    console: &MerchantConsole,
) -> Result<(), Failure> {
    for key in console.keyholders.revoke(&user.merchant, &user.login, is_kept).await? {
        let draft = visitor.draft(AuditAction::KeyRevoked, &key.id).before(format!("made by {}", user.login));
        console.audit.note(&visitor.initiator(), draft).await;
    }
    Ok(())
}
