//! Removal of a person, with the API keys that they created, unless a key is kept. Other secrets that they know are
//! listed.

use actix_web::HttpResponse;
use askama::Template;
use quita_domain::access::ApiKey;
use quita_domain::audit::AuditAction;
use quita_domain::identity::Mode;
use quita_domain::people::User;

use crate::console::kit::answer::html;
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::applications::{address_of, path_segment};
use crate::console::merchant::frame::MerchantFrame;
use crate::console::merchant::visitor::Visitor;
use quita_services::holdings::{Holdings, KnownSecret};

/// Form field with a key that the page listed.
const SHOWN: &str = "shown";
/// Form field with a key whose box is ticked.
const REVOKED: &str = "revoke";

/// Page that asks for confirmation, with the keys and secrets that the person knows.
#[derive(Template)]
#[template(path = "console/merchant/removal.html")]
struct RemovalPage {
    frame: MerchantFrame,
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

    /// Returns the address at which a secret is rotated.
    fn rotation(secret: &KnownSecret) -> String {
        format!("{}/secret/rotate", address_of(secret.mode, &secret.application))
    }
}

/// Shows the person, with the keys and secrets that they know.
pub(super) async fn ask(
    frame: MerchantFrame,
    user: &User,
    console: &MerchantConsole,
) -> Result<HttpResponse, PageError> {
    let holdings = console.keyholders.holdings(&user.merchant, &user.login).await?;
    html(&RemovalPage { frame, user: user.clone(), holdings })
}

/// Removes a person. The keys that they created are revoked, except those that the form listed without a tick. So a key
/// created meanwhile does not outlive its creator.
pub(super) async fn remove(
    visitor: &Visitor,
    user: &User,
    form: &Form,
    console: &MerchantConsole,
) -> Result<(), PageError> {
    let has = |field: &str, key: &ApiKey| form.all(field).any(|id| id == key.id);
    let is_kept = |key: &ApiKey| has(SHOWN, key) && !has(REVOKED, key);
    // Keys are revoked first: if the store fails in between, the person can still be removed again.
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
) -> Result<(), PageError> {
    for key in console.keyholders.revoke(&user.merchant, &user.login, is_kept).await? {
        let draft = visitor.draft(AuditAction::KeyRevoked, &key.id).before(format!("made by {}", user.login));
        console.audit.note(&visitor.initiator(), draft).await;
    }
    Ok(())
}
