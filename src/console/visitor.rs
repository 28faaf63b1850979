//! Who looks at a page, and who changes something.
//!
//! A handler that changes something takes one of the changes below, so it can't forget the form's token or the role.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::{self, Data};
use actix_web::{FromRequest, HttpRequest};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{ApplicationName, Mode, Owner};
use quita_domain::people::{Permission, User};
use quita_domain::secret::Secret;

use super::Console;
use super::cookies::form_token;
use super::failure::Failure;
use super::form::Form;
use super::frame::{Frame, Person, Section};
use super::place;
use crate::access::DEFAULT_APPLICATION;
use crate::audit::{Deed, Doer};

/// The header in which a proxy tells the client's address; its own entry is the last.
const FORWARDED_FOR: &str = "x-forwarded-for";

type Extracted<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

/// A user who is signed in, and looks.
pub(crate) struct Visitor {
    pub(crate) user: User,
    pub(crate) token: Secret<String>,
    /// The address that the visitor comes from.
    pub(crate) from: IpAddr,
}

impl Visitor {
    /// Refuses what the role does not permit.
    pub(crate) fn must(&self, permission: Permission) -> Result<(), Failure> {
        if self.user.role.permits(permission) { Ok(()) } else { Err(Failure::Forbidden) }
    }

    /// On whose behalf payments are read and changed.
    pub(crate) fn owner(&self, mode: Mode) -> Owner {
        let application = ApplicationName::new(DEFAULT_APPLICATION);
        Owner { merchant: self.user.merchant.clone(), application, mode }
    }

    /// What stands around a page of a section.
    pub(crate) fn frame(&self, mode: Mode, section: Section) -> Frame {
        let place = place::current();
        let (user, role) = (&self.user, self.user.role);
        Frame {
            person: Some(Person { login: user.login.to_string(), merchant: user.merchant.to_string(), role }),
            mode,
            section: Some(section),
            form_token: form_token(&self.token),
            ..Frame::bare(place)
        }
    }

    /// Who does something, for the audit log.
    pub(crate) fn doer(&self) -> Doer {
        Doer { who: self.user.login.to_string(), from: self.from.to_string() }
    }

    /// Something that was done in the matters of the visitor's merchant.
    pub(crate) fn deed(&self, action: AuditAction, subject: impl ToString) -> Deed {
        Deed::of(&self.user.merchant, action, subject)
    }
}

impl FromRequest for Visitor {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { identify(&request).await })
    }
}

async fn identify(request: &HttpRequest) -> Result<Visitor, Failure> {
    let console = console_of(request)?;
    let signed_out = || Failure::signed_out(request);
    let token = console.cookies.session(request).ok_or_else(signed_out)?;
    let user = console.people.user_of(token.expose()).await?.ok_or_else(signed_out)?;
    Ok(Visitor { user, token, from: address_of(request, console.is_behind_proxy) })
}

fn console_of(request: &HttpRequest) -> Result<Data<Console>, Failure> {
    request.app_data::<Data<Console>>().cloned().ok_or_else(|| Failure::Defect("no console".into()))
}

/// Where a request comes from: the peer, or what the proxy in front says.
pub(crate) fn address_of(request: &HttpRequest, is_behind_proxy: bool) -> IpAddr {
    let told = || {
        let header = request.headers().get_all(FORWARDED_FOR).last()?.to_str().ok()?;
        header.rsplit(',').next()?.trim().parse().ok()
    };
    if is_behind_proxy { told().unwrap_or_else(|| peer_of(request)) } else { peer_of(request) }
}

/// Who is connected.
pub(crate) fn peer_of(request: &HttpRequest) -> IpAddr {
    request.peer_addr().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip())
}

async fn change(
    request: HttpRequest,
    payload: web::Payload,
    permission: Permission,
) -> Result<(Visitor, Form), Failure> {
    let visitor = identify(&request).await?;
    let form = Form::read(&request, payload, Some(&visitor.token)).await?;
    visitor.must(permission)?;
    // What is the visitor's own is not counted: whoever has stolen a session must not keep its owner from ending it.
    if permission != Permission::Look {
        console_of(&request)?.user_limits.count_change(&visitor.user)?;
    }
    Ok((visitor, form))
}

/// Declares an extractor for a change: a signed-in user whose role permits it, and a form of that user's session.
macro_rules! change_with {
    ($(#[$doc:meta])* $name:ident, $permission:expr) => {
        $(#[$doc])*
        pub(crate) struct $name {
            pub(crate) visitor: Visitor,
            pub(crate) form: Form,
        }

        impl FromRequest for $name {
            type Error = Failure;
            type Future = Extracted<Self>;

            fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
                let (request, body) = (request.clone(), web::Payload::from_request(request, payload));
                Box::pin(async move {
                    let body = body.await.map_err(|error| Failure::Defect(error.to_string()))?;
                    let (visitor, form) = change(request, body, $permission).await?;
                    Ok(Self { visitor, form })
                })
            }
        }
    };
}

change_with!(
    /// Changes what is the visitor's own: the password, the session.
    OwnChange,
    Permission::Look
);
change_with!(
    /// Changes a payment or its deliveries.
    PaymentChange,
    Permission::ChangePayments
);
change_with!(
    /// Changes applications, keys and secrets.
    ApplicationChange,
    Permission::ManageApplications
);
change_with!(
    /// Changes who may sign in.
    PeopleChange,
    Permission::ManagePeople
);
