//! Whether it is the operator who looks or orders.
//!
//! A handler that orders something takes an [`Order`], so it can't forget the form's token.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::{self, Data};
use actix_web::{FromRequest, HttpRequest};
use quita_domain::secret::Secret;

use super::OperatorConsole;
use crate::audit::Doer;
use crate::console::failure::Failure;
use crate::console::form::Form;
use crate::console::visitor::peer_of;

/// How the audit log names the operator.
pub(super) const OPERATOR: &str = "operator";

type Extracted<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

/// The operator, signed in.
pub(super) struct Operator {
    pub(super) token: Secret<String>,
    from: IpAddr,
}

impl Operator {
    /// Who orders something, for the audit log.
    pub(super) fn doer(&self) -> Doer {
        Doer { who: OPERATOR.into(), from: self.from.to_string() }
    }
}

impl FromRequest for Operator {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { identify(&request).await })
    }
}

async fn identify(request: &HttpRequest) -> Result<Operator, Failure> {
    let console = request.app_data::<Data<OperatorConsole>>();
    let console = console.ok_or_else(|| Failure::Defect("no console".into()))?;
    let token = console.cookies.session(request).ok_or_else(|| Failure::signed_out(request))?;
    if !is_operator(console, &token).await? {
        return Err(Failure::signed_out(request));
    }
    Ok(Operator { token, from: peer_of(request) })
}

/// Whether a session with this token goes on. While the store is out of reach, what it confirmed here is believed.
pub(super) async fn is_operator(console: &OperatorConsole, token: &Secret<String>) -> Result<bool, Failure> {
    let credential = console.credential.as_ref().ok_or(Failure::Closed)?;
    let asked = console.people.is_operator(credential, token.expose());
    Ok(console.recent.confirm(token, asked).await?)
}

/// The operator orders something, by a form of the own session.
pub(super) struct Order {
    pub(super) operator: Operator,
    pub(super) form: Form,
}

impl FromRequest for Order {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, body) = (request.clone(), web::Payload::from_request(request, payload));
        Box::pin(async move {
            let body = body.await.map_err(|error| Failure::Defect(error.to_string()))?;
            let operator = identify(&request).await?;
            let form = Form::read(&request, body, Some(&operator.token)).await?;
            Ok(Self { operator, form })
        })
    }
}
