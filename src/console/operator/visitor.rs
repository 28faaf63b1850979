//! Whether it is the operator who looks or directs.
//!
//! A handler that changes something takes an [`OperatorForm`], so it can't forget the form's token.

use std::net::IpAddr;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use quita_domain::people::Session;
use quita_domain::secret::Secret;

use super::OperatorConsole;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::{Extracted, SignedForm, SignedIn};
use crate::console::kit::stream_permits::Watcher;
use crate::http::client_address::peer_of;
use crate::service::audit::Initiator;

/// How the audit log names the operator.
pub(super) const OPERATOR: &str = "operator";

/// The operator, signed in.
pub(super) struct Operator {
    pub(super) token: Secret<String>,
    from: IpAddr,
}

/// A form that the operator sent within the own session.
pub(super) type OperatorForm = SignedForm<Operator>;

impl Operator {
    /// Who causes a change, for the audit log.
    pub(super) fn initiator(&self) -> Initiator {
        Initiator { who: OPERATOR.into(), from: self.from.to_string() }
    }
}

impl SignedIn for Operator {
    fn token(&self) -> &Secret<String> {
        &self.token
    }
}

impl FromRequest for Operator {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let console = request.app_data::<Data<OperatorConsole>>();
            let console = console.ok_or_else(|| Failure::Defect("no console".into()))?;
            let signed_out = || Failure::signed_out(&request);
            let token = console.cookies.session(&request).ok_or_else(signed_out)?;
            let is_operator = is_operator(console, &token).await?;
            is_operator.then(|| Self { token, from: peer_of(&request) }).ok_or_else(signed_out)
        })
    }
}

/// Who watches in a session: operators share one password, so each session counts as a person.
pub(super) fn watcher_of(token: &Secret<String>) -> Watcher {
    Watcher { merchant: None, login: Session::id_of(token.expose()) }
}

/// Whether a session with this token goes on, which is only watched in. As [`is_operator`].
pub(super) async fn is_still_operator(
    console: &OperatorConsole,
    token: &Secret<String>,
) -> Result<bool, Failure> {
    let credential = console.credential.as_ref().ok_or(Failure::Closed)?;
    let asked = console.people.is_still_operator(credential, token.expose());
    Ok(console.recent.confirm(token, asked).await?)
}

/// Whether a session with this token goes on, in which something is done now. While the store is out of reach, what it
/// confirmed here is believed.
pub(super) async fn is_operator(console: &OperatorConsole, token: &Secret<String>) -> Result<bool, Failure> {
    let credential = console.credential.as_ref().ok_or(Failure::Closed)?;
    let asked = console.people.is_operator(credential, token.expose());
    Ok(console.recent.confirm(token, asked).await?)
}
