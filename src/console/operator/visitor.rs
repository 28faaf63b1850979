//! Extractors for operators who view or direct.
//!
//! A handler that changes something takes a [`DirectorForm`], or an [`OwnForm`] for the operator's own account. So it
//! can't skip the check of the form token, the role, or the proof of identity. While the store is unavailable, only
//! viewing is permitted: see [`Operator`] and [`Confirmed`].

use std::net::IpAddr;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use quita_domain::people::{self, Login, OperatorRole};
use quita_domain::secret::Secret;
use tokio::time::timeout;

use super::OperatorConsole;
use super::troubles::Counts;
use crate::console::kit::accounts::AccountHolder;
use crate::console::kit::addresses::with_next;
use crate::console::kit::form::{Form, PageFuture, SignedForm, SignedIn};
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::Watcher;
use crate::http::client_address::peer_of;
use quita_services::audit::Initiator;
use quita_services::people::{Duty, PeopleError, Signed};

/// Time limit for the store to confirm an operator who changes something.
const STORE_TIME_OUT: Duration = Duration::from_secs(5);

/// Identity of an operator, as far as pages need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OperatorIdentity {
    pub(super) login: Login,
    pub(super) role: OperatorRole,
    /// Duty to be fulfilled before anything else.
    pub(super) duty: Option<Duty>,
}

/// Operator who views pages. While the store is unavailable, a session that it confirmed to this node is accepted.
pub(super) struct Operator {
    pub(super) who: OperatorIdentity,
    /// Counts of current problems, for the frame of a page.
    pub(super) counts: Counts,
    pub(super) node: String,
    token: Secret<String>,
    from: IpAddr,
}

/// Operator whom the store has confirmed for this particular request, as every change and export requires.
pub(super) struct Confirmed {
    pub(super) operator: Operator,
    signed: Signed<people::Operator>,
}

/// Form for the operator's own account: sessions, the password, the second factor.
pub(super) type OwnForm = SignedForm<Settled>;

/// Form that may be sent before a second factor is set up.
pub(super) type EnrollingForm = SignedForm<Enrolling>;

/// Form that may be sent before the password is changed.
pub(super) type EntrantForm = SignedForm<Entrant>;

/// Form for a directive, sent by an operator whose role permits it and who has given a recent proof of identity.
pub(super) struct DirectorForm {
    pub(super) visitor: Operator,
    pub(super) form: Form,
}

impl Operator {
    async fn of(
        console: &OperatorConsole,
        who: OperatorIdentity,
        token: Secret<String>,
        request: &HttpRequest,
    ) -> Self {
        let counts = console.troubles().await.counts();
        let node = console.node_address.clone();
        Self { who, counts, node, token, from: peer_of(request) }
    }

    /// Refuses an operator who may only view.
    pub(super) fn must_direct(&self) -> Result<(), PageError> {
        if self.who.role.may_direct() { Ok(()) } else { Err(PageError::Forbidden) }
    }

    /// Returns the token of the session.
    pub(super) const fn token(&self) -> &Secret<String> {
        &self.token
    }

    /// Returns the initiator of a change, for the audit log.
    pub(super) fn initiator(&self) -> Initiator {
        Initiator { who: self.who.login.to_string(), from: self.from.to_string() }
    }
}

impl Confirmed {
    /// Returns the operator as the holder of their own account.
    pub(super) fn holder(&self) -> AccountHolder<people::Operator> {
        let Operator { token, from, .. } = &self.operator;
        AccountHolder { signed: self.signed.clone(), token: token.clone(), from: *from }
    }

    /// Identifies the operator by the store's answer alone.
    async fn find(request: &HttpRequest) -> Result<Self, PageError> {
        let console = console_of(request)?;
        let signed_out = || PageError::signed_out(request);
        let token = console.accounts.cookies().session(request).ok_or_else(signed_out)?;
        // This node's cache is not used here: remembered sessions are only valid for viewing (decision 37).
        let asked = timeout(STORE_TIME_OUT, console.people.visit::<people::Operator>(token.expose()));
        let silent = || PageError::Unavailable("the store does not say whose session it is".into());
        let signed = asked.await.map_err(|_| silent())??.ok_or_else(signed_out)?;
        let operator = Operator::of(console, console.who(&signed.person), token, request).await;
        Ok(Self { operator, signed })
    }
}

impl OperatorIdentity {
    /// Redirects to a pending duty, unless it is one of `but`.
    fn must_have_done(&self, request: &HttpRequest, but: &[Duty]) -> Result<(), PageError> {
        let Some(duty) = self.duty.filter(|duty| !but.contains(duty)) else { return Ok(()) };
        let only_looks = *request.method() == Method::GET;
        let next = request.uri().path_and_query().filter(|_| only_looks);
        Err(PageError::First(match (duty, next) {
            (Duty::ChangePassword, _) => "/sign-in/password".into(),
            (Duty::SetUpFactor, None) => "/factor".into(),
            (Duty::SetUpFactor, Some(next)) => with_next("/factor", next.as_str()),
        }))
    }
}

impl OperatorConsole {
    fn who(&self, operator: &people::Operator) -> OperatorIdentity {
        let duty = self.people.duty_of_operator(operator, self.needs_second_factor);
        OperatorIdentity { login: operator.login.clone(), role: operator.role, duty }
    }
}

fn console_of(request: &HttpRequest) -> Result<&Data<OperatorConsole>, PageError> {
    request.app_data().ok_or_else(|| PageError::Defect("no console".into()))
}

impl FromRequest for Operator {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let console = console_of(&request)?;
            let signed_out = || PageError::signed_out(&request);
            let token = console.accounts.cookies().session(&request).ok_or_else(signed_out)?;
            let asked = timeout(STORE_TIME_OUT, who_is(console, &token, VisitCause::ByHand));
            let silent = || PageError::Unavailable("the store does not say whose session it is".into());
            let who = asked.await.map_err(|_| silent())??.ok_or_else(signed_out)?;
            who.must_have_done(&request, &[])?;
            Ok(Self::of(console, who, token, &request).await)
        })
    }
}

/// Declares an extractor for an operator whom the store confirmed, and who may still have these duties.
macro_rules! confirmed {
    ($(#[$doc:meta])* $name:ident, $may_be_due:expr) => {
        $(#[$doc])*
        pub(super) struct $name(pub(super) Confirmed);

        impl SignedIn for $name {
            fn token(&self) -> &Secret<String> {
                &self.0.operator.token
            }
        }

        impl FromRequest for $name {
            type Error = PageError;
            type Future = PageFuture<Self>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                let request = request.clone();
                Box::pin(async move {
                    let confirmed = Confirmed::find(&request).await?;
                    confirmed.operator.who.must_have_done(&request, &$may_be_due)?;
                    Ok(Self(confirmed))
                })
            }
        }
    };
}

confirmed!(
    /// Operator without pending duties.
    Settled,
    []
);
confirmed!(
    /// Operator who may still have to set up a second factor. Only the pages for that step accept it.
    Enrolling,
    [Duty::SetUpFactor]
);
confirmed!(
    /// Operator who may still have to change the password first. Only the pages for that step accept it.
    Entrant,
    [Duty::SetUpFactor, Duty::ChangePassword]
);

impl FromRequest for DirectorForm {
    type Error = PageError;
    type Future = PageFuture<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, sent) = (request.clone(), OwnForm::from_request(request, payload));
        Box::pin(async move {
            let SignedForm { visitor: Settled(visitor), form } = sent.await?;
            // The role is checked before a proof is requested: operators who may not direct would give it for nothing.
            visitor.operator.must_direct()?;
            let accounts = &console_of(&request)?.accounts;
            accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
            Ok(Self { visitor: visitor.operator, form })
        })
    }
}

/// Operator who is watching a page or downloading.
#[derive(Clone)]
pub(super) struct WatchingOperator {
    pub(super) who: OperatorIdentity,
    token: Secret<String>,
}

impl WatchingOperator {
    pub(super) fn of(operator: Operator) -> Self {
        Self { who: operator.who, token: operator.token }
    }

    /// Returns the watcher for the stream limits.
    pub(super) fn watcher(&self) -> Watcher {
        Watcher { merchant: None, login: self.who.login.to_string() }
    }

    /// Returns true while the session continues, with the same operator in the same role. An unavailable store ends no
    /// session: that is when operators need to watch most.
    pub(super) async fn goes_on(&self, console: &OperatorConsole) -> bool {
        match who_is(console, &self.token, VisitCause::ByItself).await {
            Ok(who) => who.is_some_and(|who| who == self.who),
            Err(_) => true,
        }
    }
}

/// Cause of a request: a person, which keeps the session alive, or a page that is left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VisitCause {
    ByHand,
    ByItself,
}

/// Returns the operator of this token. While the store is unavailable, a session that it confirmed to this node is
/// accepted for viewing only.
async fn who_is(
    console: &OperatorConsole,
    token: &Secret<String>,
    cause: VisitCause,
) -> Result<Option<OperatorIdentity>, PeopleError> {
    let asked = async {
        let signed = match cause {
            VisitCause::ByHand => console.people.visit::<people::Operator>(token.expose()).await?,
            VisitCause::ByItself => console.people.watch::<people::Operator>(token.expose()).await?,
        };
        Ok(signed.map(|signed| console.who(&signed.person)))
    };
    console.recent.confirm(token, asked).await
}
