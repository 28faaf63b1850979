//! Which operator looks or directs.
//!
//! A handler that changes something takes a [`DirectorForm`], or an [`OwnForm`] for what is the operator's own; so it can
//! forget neither the form's token nor the role.

use std::net::IpAddr;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use quita_domain::people::{self, Login, OperatorRole};
use quita_domain::secret::Secret;

use super::OperatorConsole;
use crate::console::kit::accounts::AccountHolder;
use crate::console::kit::failure::Failure;
use crate::console::kit::form::{Extracted, Form, SignedForm, SignedIn};
use crate::console::kit::stream_permits::Watcher;
use crate::http::client_address::peer_of;
use crate::service::audit::Initiator;

/// Who an operator is, as far as pages need to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) login: Login,
    pub(super) role: OperatorRole,
    /// Whether somebody else made the password: it is changed before anything else is done.
    pub(super) must_change_password: bool,
}

impl Who {
    fn of(operator: &people::Operator) -> Self {
        let must_change_password = operator.credentials.must_change_password;
        Self { login: operator.login.clone(), role: operator.role, must_change_password }
    }
}

/// An operator, signed in.
pub(super) struct Operator {
    pub(super) who: Who,
    pub(super) token: Secret<String>,
    pub(super) from: IpAddr,
}

/// An operator who may still have to change the password first. Only what leads out of that takes it.
pub(super) struct Entrant(pub(super) Operator);

/// A form of the operator's own: sessions, the password, the second factor.
pub(super) type OwnForm = SignedForm<Operator>;

/// A form that may be sent before the password was changed.
pub(super) type EntrantForm = SignedForm<Entrant>;

/// A form that directs something, sent by an operator whose role permits it.
pub(super) struct DirectorForm {
    pub(super) visitor: Operator,
    pub(super) form: Form,
}

impl Operator {
    async fn find(request: &HttpRequest) -> Result<Self, Failure> {
        let console = request.app_data::<Data<OperatorConsole>>();
        let console = console.ok_or_else(|| Failure::Defect("no console".into()))?;
        let signed_out = || Failure::signed_out(request);
        let token = console.accounts.cookies().session(request).ok_or_else(signed_out)?;
        let who = who_is(console, &token, Looks::ByHand).await?.ok_or_else(signed_out)?;
        Ok(Self { who, token, from: peer_of(request) })
    }

    /// The operator, as far as the own account is concerned. Unlike looking, this needs the store.
    pub(super) async fn holder(
        &self,
        console: &OperatorConsole,
    ) -> Result<AccountHolder<people::Operator>, Failure> {
        let signed = console.people.visit::<people::Operator>(self.token.expose()).await?;
        let signed = signed.ok_or(Failure::SignedOut(None))?;
        Ok(AccountHolder { signed, token: self.token.clone(), from: self.from })
    }

    /// Refuses who only looks.
    pub(super) fn must_direct(&self) -> Result<(), Failure> {
        if self.who.role.may_direct() { Ok(()) } else { Err(Failure::Forbidden) }
    }

    /// Who causes a change, for the audit log.
    pub(super) fn initiator(&self) -> Initiator {
        Initiator { who: self.who.login.to_string(), from: self.from.to_string() }
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
            let operator = Self::find(&request).await?;
            match operator.who.must_change_password {
                true => Err(Failure::First("/sign-in/password".into())),
                false => Ok(operator),
            }
        })
    }
}

impl SignedIn for Entrant {
    fn token(&self) -> &Secret<String> {
        &self.0.token
    }
}

impl FromRequest for Entrant {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { Operator::find(&request).await.map(Self) })
    }
}

impl FromRequest for DirectorForm {
    type Error = Failure;
    type Future = Extracted<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let sent = OwnForm::from_request(request, payload);
        Box::pin(async move {
            let SignedForm { visitor, form } = sent.await?;
            visitor.must_direct()?;
            Ok(Self { visitor, form })
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

/// Who is signed in with this token. While the store is out of reach, what it confirmed here is believed.
async fn who_is(
    console: &OperatorConsole,
    token: &Secret<String>,
    looks: Looks,
) -> Result<Option<Who>, Failure> {
    let asked = async {
        let signed = match looks {
            Looks::ByHand => console.people.visit::<people::Operator>(token.expose()).await?,
            Looks::ByItself => console.people.watch::<people::Operator>(token.expose()).await?,
        };
        Ok::<_, Failure>(signed.map(|signed| Who::of(&signed.person)))
    };
    console.recent.confirm(token, asked).await
}
