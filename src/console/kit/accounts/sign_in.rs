//! Sign-in: account and password, then the second factor, then replacing a password that somebody else set.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Payload;
use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, SessionStage};
use quita_domain::secret::Secret;

use super::{AccountHolder, Accounts, Arrival};
use crate::console::kit::addresses::with_next;
use crate::console::kit::answer::{html, see_other, see_other_with, try_again};
use crate::console::kit::devices::Device;
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::kit::proof::{CodePage, GivenPasswordPage, bare_frame};
use crate::console::kit::sign_in::{SignInPage, SignInQuery, origin_of, show_form};
use crate::console::kit::texts::SharedTexts;
use quita_services::people::{Given, NewSession, PeopleError, Someone};
use quita_services::refused_sign_ins::Why;

/// Progress of a sign-in.
enum SignInProgress {
    /// The password was right; the second factor of this account is still due.
    CodeIsDue(Login),
    IsIn,
}

impl Accounts {
    /// Shows the form for account and password.
    pub(crate) fn ask_password(
        &self,
        arrival: &Arrival<'_>,
        wanted: SignInQuery,
    ) -> Result<HttpResponse, PageError> {
        show_form(self.cookies, arrival.request, SignInPage::new(wanted.next), StatusCode::OK)
    }

    /// Checks account and password. An account with a second factor is asked for it next.
    pub(crate) async fn sign_in<S: Someone>(
        &self,
        arrival: &Arrival<'_>,
        payload: Payload,
    ) -> Result<HttpResponse, PageError> {
        let Arrival { request, from } = *arrival;
        let form = Form::read(request, payload, self.cookies.visit(request).as_ref()).await?;
        let email = form.text("email");
        let next = form.text("next");
        // Counted before the password is hashed, because hashing is the work that an attacker would make this node do.
        let line = match self.attempts.count(email, from, self.device_of(arrival, email)) {
            Ok(line) => line,
            Err(wait) => {
                self.note_refused(email, from, Why::TooMany).await;
                return Err(PageError::TooMany(wait));
            }
        };
        let people = self.people.in_line(line);
        let login = Login::parse(email);
        let password = form.secret("password");
        let session = match people.sign_in::<S>(login.as_ref(), &password, origin_of(request, from)).await {
            Err(error @ PeopleError::Disabled) => {
                self.note_refused(email, from, Why::Disabled).await;
                return Err(error.into());
            }
            session => session?,
        };
        let Some(session) = session else {
            tracing::warn!(client.address = %from, door = self.door().as_str(), "a sign-in failed");
            self.note_refused(email, from, Why::Wrong).await;
            // An unknown account and a wrong password look the same, so this page does not reveal which accounts exist.
            let page = SignInPage { has_failed: true, email: email.into(), ..SignInPage::new(next) };
            return show_form(self.cookies, request, page, StatusCode::UNPROCESSABLE_ENTITY);
        };
        match session.stage {
            SessionStage::Half => {
                let code = with_next(&Self::address("/sign-in/code"), &Self::own_address(next));
                // A session before its second factor gives access only to the page for the code.
                Ok(see_other_with(self.cookies.begin(&session.token), code))
            }
            SessionStage::Whole => self.welcome(arrival, &session, "password", next).await,
        }
    }

    /// Asks for the second factor after the password was given.
    pub(crate) async fn ask_code<S: Someone>(
        &self,
        arrival: &Arrival<'_>,
        wanted: SignInQuery,
    ) -> Result<HttpResponse, PageError> {
        let (token, progress) = self.progress::<S>(arrival).await?;
        match progress {
            SignInProgress::CodeIsDue(_) => {
                html(&CodePage { frame: bare_frame(&token), next: wanted.next, failed: None })
            }
            SignInProgress::IsIn => Ok(see_other(Self::own_address(&wanted.next))),
        }
    }

    /// Checks the second factor and completes the sign-in.
    pub(crate) async fn give_code<S: Someone>(
        &self,
        arrival: &Arrival<'_>,
        payload: Payload,
    ) -> Result<HttpResponse, PageError> {
        let Arrival { request, from } = *arrival;
        let (token, progress) = self.progress::<S>(arrival).await?;
        let form = Form::read(request, payload, [&token]).await?;
        let next = form.text("next");
        let SignInProgress::CodeIsDue(login) = progress else {
            return Ok(see_other(Self::own_address(next)));
        };
        self.attempts.count_in_session(&token).map_err(PageError::TooMany)?;
        let code = form.secret("code");
        let texts = &SharedTexts::current().proof;
        let origin = origin_of(request, from);
        let failed = match self.factors.finish_sign_in::<S>(token.expose(), code.expose(), origin).await {
            Ok(Some((session, given))) => {
                self.note_recovery_code(&session.person, from, given).await;
                let by = match given {
                    Given::Code => "password and code",
                    Given::RecoveryCode { .. } => "password and recovery code",
                };
                return self.welcome(arrival, &session, by, next).await;
            }
            Ok(None) => return Err(PageError::SignedOut(None)),
            Err(PeopleError::WrongCode) => texts.code_wrong.to_owned(),
            Err(PeopleError::CodesWait(seconds)) => {
                texts.code_waits.replace("{seconds}", &seconds.to_string())
            }
            Err(error) => return Err(error.into()),
        };
        tracing::warn!(client.address = %from, door = self.door().as_str(), "a wrong second factor was entered");
        self.note_refused(login.as_str(), from, Why::WrongCode).await;
        try_again(&CodePage { frame: bare_frame(&token), next: next.to_owned(), failed: Some(failed) })
    }

    /// Asks for a new password in place of one that somebody else set.
    pub(crate) fn ask_new_password<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        wanted: SignInQuery,
    ) -> Result<HttpResponse, PageError> {
        if !self.people.must_change_password(holder.signed.person.credentials()) {
            return Ok(see_other(Self::own_address(&wanted.next)));
        }
        html(&GivenPasswordPage { frame: bare_frame(&holder.token), next: wanted.next, failed: None })
    }

    /// Replaces a password that somebody else set. Every session of the person ends, and this browser gets a new one.
    pub(crate) async fn choose_password<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        form: &Form,
    ) -> Result<HttpResponse, PageError> {
        let next = form.text("next");
        if !self.people.must_change_password(holder.signed.person.credentials()) {
            return Ok(see_other(Self::own_address(next)));
        }
        self.attempts.count_in_session(&holder.token).map_err(PageError::TooMany)?;
        let session = match self.people.replace_given_password(&holder.signed, &form.secret("new")).await {
            Ok(session) => session,
            Err(error @ (PeopleError::NotAPassword | PeopleError::Weak(_) | PeopleError::SamePassword)) => {
                let frame = bare_frame(&holder.token);
                let failed = Some(PageError::from(error).to_string());
                return try_again(&GivenPasswordPage { frame, next: next.to_owned(), failed });
            }
            Err(error) => return Err(error.into()),
        };
        self.note_own(holder, AuditAction::PasswordChanged).await;
        Ok(see_other_with(self.cookies.begin(&session.token), Self::own_address(next)))
    }

    /// Starts a session in this browser, marks the browser as known, and redirects to the address that the visitor
    /// requested.
    pub(crate) fn admit<S: Someone>(
        &self,
        arrival: &Arrival<'_>,
        session: &NewSession<S>,
        next: &str,
    ) -> Result<HttpResponse, PageError> {
        let account = session.person.login().as_str();
        let mark = self.devices.mark(account, self.device_of(arrival, account), self.clock.now())?;
        let mut answer = see_other_with(self.cookies.begin(&session.token), Self::own_address(next));
        let marked = answer.add_cookie(&self.cookies.mark_device(&mark));
        marked.map_err(|error| PageError::Defect(error.to_string()))?;
        Ok(answer)
    }

    /// Completes a sign-in, and records in the audit log which proofs were given.
    async fn welcome<S: Someone>(
        &self,
        arrival: &Arrival<'_>,
        session: &NewSession<S>,
        by: &str,
        next: &str,
    ) -> Result<HttpResponse, PageError> {
        let person = &session.person;
        self.note(person, arrival.from, person.draft(AuditAction::SignedIn).after(by)).await;
        self.admit(arrival, session, next)
    }

    /// Returns the token of the session, and the progress of its sign-in.
    async fn progress<S: Someone>(
        &self,
        arrival: &Arrival<'_>,
    ) -> Result<(Secret<String>, SignInProgress), PageError> {
        let signed_out = || PageError::signed_out(arrival.request);
        let token = self.cookies.session(arrival.request).ok_or_else(signed_out)?;
        if let Some(half) = self.people.half::<S>(token.expose()).await? {
            return Ok((token, SignInProgress::CodeIsDue(half.person.login().clone())));
        }
        self.people.watch::<S>(token.expose()).await?.ok_or_else(signed_out)?;
        Ok((token, SignInProgress::IsIn))
    }

    /// Returns the browser's device mark if it has signed in to this account before.
    fn device_of(&self, arrival: &Arrival<'_>, account: &str) -> Option<Device> {
        self.devices.known(account, &self.cookies.device(arrival.request)?, self.clock.now())
    }
}
