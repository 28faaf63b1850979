//! Extractors for the visitor of a page and for changes.
//!
//! A handler that changes something takes one of the change types below, so it can't skip the check of the form token
//! or the role.

use std::net::IpAddr;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{ApplicationName, Mode, Owner};
use quita_domain::people::{Permission, Session, User};
use quita_domain::secret::Secret;

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::InMode;
use crate::console::kit::accounts::AccountHolder;
use crate::console::kit::addresses::with_next;
use crate::console::kit::form::{Form, PageFuture, SignedForm, SignedIn};
use crate::console::kit::page_context::PageContext;
use crate::console::kit::page_error::PageError;
use crate::http::client_address::address_of;
use quita_services::access::DEFAULT_APPLICATION;
use quita_services::audit::{AuditDraft, Initiator};
use quita_services::people::{Duty, Signed};

/// Signed-in user who views a page.
pub(super) struct Visitor {
    pub(super) user: User,
    pub(super) session: Session,
    pub(super) token: Secret<String>,
    /// Address of the client.
    pub(super) from: IpAddr,
    /// Number of failing deliveries in the mode of the page.
    failing_deliveries: usize,
}

impl Visitor {
    /// Returns the visitor as the holder of their own account.
    pub(super) fn holder(&self) -> AccountHolder<User> {
        let signed = Signed { person: self.user.clone(), session: self.session.clone() };
        AccountHolder { signed, token: self.token.clone(), from: self.from }
    }

    /// Refuses an action that the role does not permit.
    pub(super) fn must(&self, permission: Permission) -> Result<(), PageError> {
        if self.user.role.permits(permission) { Ok(()) } else { Err(PageError::Forbidden) }
    }

    /// Returns the owner on whose behalf payments are read and changed.
    pub(super) fn owner(&self, mode: Mode) -> Owner {
        let application = ApplicationName::new(DEFAULT_APPLICATION);
        Owner { merchant: self.user.merchant.clone(), application, mode }
    }

    /// Returns the frame around a page of a section.
    pub(super) fn frame(&self, mode: Mode, section: MerchantSection) -> MerchantFrame {
        MerchantFrame::of(&self.user, &self.token, mode, section, self.failing_deliveries)
    }

    /// Returns the initiator of a change, for the audit log.
    pub(super) fn initiator(&self) -> Initiator {
        Initiator { who: self.user.login.to_string(), from: self.from.to_string() }
    }

    /// Creates an audit log entry that concerns the visitor's merchant.
    pub(super) fn draft(&self, action: AuditAction, subject: impl ToString) -> AuditDraft {
        AuditDraft::of(&self.user.merchant, action, subject)
    }
}

impl SignedIn for Visitor {
    fn token(&self) -> &Secret<String> {
        &self.token
    }
}

impl FromRequest for Visitor {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let mut visitor = signed_in(&request, Presence::Acts).await?;
            no_duty(&request, &visitor).await?;
            if let Ok(InMode(mode)) = InMode::extract(&request).await {
                let console = console_of(&request)?;
                let of = (visitor.user.merchant.clone(), mode);
                visitor.failing_deliveries = console.failing_deliveries.count(of, console).await;
            }
            Ok(visitor)
        })
    }
}

/// Signed-in visitor who may still have to fulfil a duty first: see [`Duty`].
pub(super) struct Entrant(pub(super) Visitor);

impl SignedIn for Entrant {
    fn token(&self) -> &Secret<String> {
        &self.0.token
    }
}

impl FromRequest for Entrant {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { signed_in(&request, Presence::Acts).await.map(Self) })
    }
}

/// Signed-in user of a page that updates itself, which does not extend the session.
pub(super) struct Onlooker(pub(super) Visitor);

impl FromRequest for Onlooker {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let visitor = signed_in(&request, Presence::Watches).await?;
            no_duty(&request, &visitor).await?;
            Ok(Self(visitor))
        })
    }
}

/// Presence of the visitor: a person is acting, or a page updates itself.
#[derive(Clone, Copy)]
enum Presence {
    Acts,
    Watches,
}

async fn signed_in(request: &HttpRequest, presence: Presence) -> Result<Visitor, PageError> {
    let console = console_of(request)?;
    let signed_out = || PageError::signed_out(request);
    let token = console.accounts.cookies().session(request).ok_or_else(signed_out)?;
    let signed = match presence {
        Presence::Acts => console.people.visit::<User>(token.expose()).await?,
        // An open page polls every second. If that counted as activity, a session left open would never end.
        Presence::Watches => console.people.watch::<User>(token.expose()).await?,
    };
    let Signed { person: user, session } = signed.ok_or_else(signed_out)?;
    let from = address_of(request, console.is_behind_proxy);
    Ok(Visitor { user, session, token, from, failing_deliveries: 0 })
}

/// Redirects the visitor to a pending duty, and afterwards back.
async fn no_duty(request: &HttpRequest, visitor: &Visitor) -> Result<(), PageError> {
    let Some(duty) = console_of(request)?.people.duty(&visitor.user).await? else { return Ok(()) };
    let page = match duty {
        Duty::SetUpFactor => "/factor",
        Duty::ChangePassword => "/sign-in/password",
    };
    let context = PageContext::current();
    let page = format!("{}{page}", context.root());
    let only_looks = *request.method() == Method::GET;
    Err(PageError::First(if only_looks { with_next(&page, &context.address_of(request)) } else { page }))
}

fn console_of(request: &HttpRequest) -> Result<&Data<MerchantConsole>, PageError> {
    request.app_data().ok_or_else(|| PageError::Defect("no console".into()))
}

/// Refuses a change that the role does not permit, or that exceeds the rate limit.
fn permit(request: &HttpRequest, visitor: &Visitor, permission: Permission) -> Result<(), PageError> {
    visitor.must(permission)?;
    // Changes to one's own account are not counted: a session thief must not be able to keep the owner from ending the
    // session.
    if permission == Permission::Look {
        return Ok(());
    }
    console_of(request)?.user_limits.count_change(&visitor.user)
}

/// Request to show one payer in full. It requires a form of the session, although it changes only the audit log.
pub(super) struct PayerLook(pub(super) Visitor);

impl FromRequest for PayerLook {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, sent) = (request.clone(), SignedForm::<Visitor>::from_request(request, payload));
        Box::pin(async move {
            let visitor = sent.await?.visitor;
            permit(&request, &visitor, Permission::UnmaskPayer)?;
            Ok(Self(visitor))
        })
    }
}

/// Declares an extractor for a change: a signed-in user whose role permits it, and a form of that user's session.
macro_rules! change_with {
    ($(#[$doc:meta])* $name:ident, $permission:expr) => {
        $(#[$doc])*
        pub(super) struct $name {
            pub(super) visitor: Visitor,
            pub(super) form: Form,
        }

        impl FromRequest for $name {
            type Error = PageError;
            type Future = PageFuture<Self>;

            fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
                let (request, sent) = (request.clone(), SignedForm::from_request(request, payload));
                Box::pin(async move {
                    let SignedForm { visitor, form } = sent.await?;
                    permit(&request, &visitor, $permission)?;
                    Ok(Self { visitor, form })
                })
            }
        }
    };
}

change_with!(
    /// Change to the visitor's own account, such as the password or the sessions.
    OwnChange,
    Permission::Look
);
change_with!(
    /// Change to a payment or its deliveries.
    PaymentChange,
    Permission::ChangePayments
);
change_with!(
    /// Change to applications, keys and secrets.
    ApplicationChange,
    Permission::ManageApplications
);

/// Change to the people who may sign in, by a visitor with a recent proof of identity.
pub(super) struct PeopleChange {
    pub(super) visitor: Visitor,
    pub(super) form: Form,
}

impl FromRequest for PeopleChange {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, sent) = (request.clone(), SignedForm::<Visitor>::from_request(request, payload));
        Box::pin(async move {
            let SignedForm { visitor, form } = sent.await?;
            permit(&request, &visitor, Permission::ManagePeople)?;
            let accounts = &console_of(&request)?.accounts;
            accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
            Ok(Self { visitor, form })
        })
    }
}
