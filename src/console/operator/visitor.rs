//! Which operator looks or directs.
//!
//! A handler that changes something takes a [`DirectorForm`], or an [`OwnForm`] for what is the operator's own; so it can
//! forget neither the form's token, nor the role, nor the proof of who it is. Only who looks is believed while the store
//! is out of reach: see [`Operator`] and [`Confirmed`].

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
use crate::console::kit::failure::Failure;
use crate::console::kit::form::{Extracted, Form, SignedForm, SignedIn};
use crate::console::kit::stream_permits::Watcher;
use crate::http::client_address::peer_of;
use crate::service::audit::Initiator;
use crate::service::people::{Duty, PeopleError, Signed};

/// Longest time for the store to confirm who changes something.
const STORE_TIME_OUT: Duration = Duration::from_secs(5);

/// Who an operator is, as far as pages need to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) login: Login,
    pub(super) role: OperatorRole,
    /// Duties before anything else.
    pub(super) duty: Option<Duty>,
}

/// An operator who looks. While the store is out of reach, what it confirmed on this node is believed.
pub(super) struct Operator {
    pub(super) who: Who,
    /// Trouble at this moment, and on which node, for the frame of a page.
    pub(super) counts: Counts,
    pub(super) node: String,
    token: Secret<String>,
    from: IpAddr,
}

/// An operator whom the store has confirmed for this very request: whoever changes or takes away something.
pub(super) struct Confirmed {
    pub(super) operator: Operator,
    signed: Signed<people::Operator>,
}

/// A form of the operator's own: sessions, the password, the second factor.
pub(super) type OwnForm = SignedForm<Settled>;

/// A form that may be sent before a second factor was set up.
pub(super) type EnrollingForm = SignedForm<Enrolling>;

/// A form that may be sent before the password was changed.
pub(super) type EntrantForm = SignedForm<Entrant>;

/// A form that directs something, sent by an operator whose role permits it, and who has just proven who it is.
pub(super) struct DirectorForm {
    pub(super) visitor: Operator,
    pub(super) form: Form,
}

impl Operator {
    async fn of(console: &OperatorConsole, who: Who, token: Secret<String>, request: &HttpRequest) -> Self {
        let (counts, node) = (console.troubles().await.counts(), console.node_address.clone());
        Self { who, counts, node, token, from: peer_of(request) }
    }

    /// Refuses who only looks.
    pub(super) fn must_direct(&self) -> Result<(), Failure> {
        if self.who.role.may_direct() { Ok(()) } else { Err(Failure::Forbidden) }
    }

    /// The token of the session.
    pub(super) const fn token(&self) -> &Secret<String> {
        &self.token
    }

    /// Who causes a change, for the audit log.
    pub(super) fn initiator(&self) -> Initiator {
        Initiator { who: self.who.login.to_string(), from: self.from.to_string() }
    }
}

impl Confirmed {
    /// The operator, as far as the own account is concerned.
    pub(super) fn holder(&self) -> AccountHolder<people::Operator> {
        let Operator { token, from, .. } = &self.operator;
        AccountHolder { signed: self.signed.clone(), token: token.clone(), from: *from }
    }

    /// Takes the store's word alone.
    async fn find(request: &HttpRequest) -> Result<Self, Failure> {
        let console = console_of(request)?;
        let signed_out = || Failure::signed_out(request);
        let token = console.accounts.cookies().session(request).ok_or_else(signed_out)?;
        let asked = timeout(STORE_TIME_OUT, console.people.visit::<people::Operator>(token.expose()));
        let silent = || Failure::Unavailable("the store does not say whose session it is".into());
        let signed = asked.await.map_err(|_| silent())??.ok_or_else(signed_out)?;
        let operator = Operator::of(console, console.who(&signed.person), token, request).await;
        Ok(Self { operator, signed })
    }
}

impl Who {
    /// Sends to what is to be done first, unless it is one of these.
    fn must_have_done(&self, request: &HttpRequest, but: &[Duty]) -> Result<(), Failure> {
        let Some(duty) = self.duty.filter(|duty| !but.contains(duty)) else { return Ok(()) };
        let only_looks = *request.method() == Method::GET;
        let next = request.uri().path_and_query().filter(|_| only_looks);
        Err(Failure::First(match (duty, next) {
            (Duty::ChangePassword, _) => "/sign-in/password".into(),
            (Duty::SetUpFactor, None) => "/factor".into(),
            (Duty::SetUpFactor, Some(next)) => with_next("/factor", next.as_str()),
        }))
    }
}

impl OperatorConsole {
    fn who(&self, operator: &people::Operator) -> Who {
        let duty = self.people.duty_of_operator(operator, self.needs_second_factor);
        Who { login: operator.login.clone(), role: operator.role, duty }
    }
}

fn console_of(request: &HttpRequest) -> Result<&Data<OperatorConsole>, Failure> {
    request.app_data().ok_or_else(|| Failure::Defect("no console".into()))
}

impl FromRequest for Operator {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let (console, signed_out) = (console_of(&request)?, || Failure::signed_out(&request));
            let token = console.accounts.cookies().session(&request).ok_or_else(signed_out)?;
            let who = who_is(console, &token, Looks::ByHand).await?.ok_or_else(signed_out)?;
            who.must_have_done(&request, &[])?;
            Ok(Self::of(console, who, token, &request).await)
        })
    }
}

/// Declares an extractor for who is confirmed by the store, and may still have to do these first.
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
            type Error = Failure;
            type Future = Extracted<Self>;

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
    /// An operator who has nothing to do before anything else.
    Settled,
    []
);
confirmed!(
    /// An operator who may still have to set up a second factor. Only what leads there takes it.
    Enrolling,
    [Duty::SetUpFactor]
);
confirmed!(
    /// An operator who may still have to change the password first. Only what leads out of that takes it.
    Entrant,
    [Duty::SetUpFactor, Duty::ChangePassword]
);

impl FromRequest for DirectorForm {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, sent) = (request.clone(), OwnForm::from_request(request, payload));
        Box::pin(async move {
            let SignedForm { visitor: Settled(visitor), form } = sent.await?;
            visitor.operator.must_direct()?;
            let accounts = &console_of(&request)?.accounts;
            accounts.require_recent_proof(&request, &visitor.holder(), &form).await?;
            Ok(Self { visitor: visitor.operator, form })
        })
    }
}

/// An operator who watches a page, or downloads.
#[derive(Clone)]
pub(super) struct Watching {
    pub(super) who: Who,
    token: Secret<String>,
}

impl Watching {
    pub(super) fn of(operator: Operator) -> Self {
        Self { who: operator.who, token: operator.token }
    }

    /// Whose live pages are counted.
    pub(super) fn watcher(&self) -> Watcher {
        Watcher { merchant: None, login: self.who.login.to_string() }
    }

    /// Whether the session goes on, of the same operator in the same role. A store out of reach ends nothing: that is when
    /// an operator looks.
    pub(super) async fn goes_on(&self, console: &OperatorConsole) -> bool {
        match who_is(console, &self.token, Looks::ByItself).await {
            Ok(who) => who.is_some_and(|who| who == self.who),
            Err(_) => true,
        }
    }
}

/// Whether a person looks, which keeps the session alive, or a page that stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    ByHand,
    ByItself,
}

/// The person signed in with this token. While the store is out of reach, what it confirmed here is believed: nothing
/// may be changed on that.
async fn who_is(
    console: &OperatorConsole,
    token: &Secret<String>,
    looks: Looks,
) -> Result<Option<Who>, PeopleError> {
    let asked = async {
        let signed = match looks {
            Looks::ByHand => console.people.visit::<people::Operator>(token.expose()).await?,
            Looks::ByItself => console.people.watch::<people::Operator>(token.expose()).await?,
        };
        Ok(signed.map(|signed| console.who(&signed.person)))
    };
    console.recent.confirm(token, asked).await
}
