//! Account page, as far as both consoles share it: second factor, sessions, password.

mod mail;
mod webhook;

use actix_web::HttpResponse;
use quita_domain::audit::AuditAction;
use quita_domain::people::Session;
use quita_domain::time::Timestamp;

use super::{AccountHolder, Accounts};
use crate::console::kit::addresses::with_next;
use crate::console::kit::answer::{Done, see_other, see_other_with};
use crate::console::kit::browser_name::browser_name;
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::kit::texts::SharedTexts;
use mail::MailChoice;
use quita_services::people::Someone;
use webhook::WebhookForm;

/// Content of `console/kit/account_part.html`.
pub(crate) struct AccountPart {
    /// Time at which the second factor was set up, and the number of recovery codes left, in words.
    pub(crate) factor: Option<(Timestamp, String)>,
    /// True if the second factor may not be removed.
    pub(crate) is_factor_required: bool,
    /// Address of the page that sets up a second factor and leads back to the account.
    pub(crate) set_up_address: String,
    /// Sessions: the current one first, then by last use, newest first.
    pub(crate) sessions: Vec<SessionRow>,
    /// Choices about messages by e-mail, if this service sends the person any.
    pub(crate) mail_choices: Option<Vec<MailChoice>>,
    /// Receiver of messages by webhook, if the person may have one.
    pub(crate) webhook: Option<WebhookForm>,
}

/// Session as the page shows it.
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) browser: Option<String>,
    /// Complete `User-Agent` header of the browser.
    pub(crate) said: String,
    pub(crate) address: String,
    pub(crate) began: Timestamp,
    pub(crate) last_seen: Timestamp,
    /// True for the session in which the page is viewed.
    pub(crate) is_this: bool,
}

impl SessionRow {
    fn of(session: Session, this: &Session) -> Self {
        Self {
            id: session.public_id(),
            browser: browser_name(&session.origin.browser),
            is_this: session.id == this.id,
            said: session.origin.browser,
            address: session.origin.address,
            began: session.created_at,
            last_seen: session.last_seen_at,
        }
    }
}

impl AccountPart {
    /// Returns the text that confirms the action just done.
    pub(crate) fn notice(done: &Done) -> Option<&'static str> {
        let texts = &SharedTexts::current().proof;
        match done.done.as_str() {
            "password" => Some(texts.password_changed),
            "factor-removed" => Some(texts.factor_removed),
            "session-ended" => Some(texts.session_ended),
            "others-ended" => Some(texts.others_ended),
            "mail" => Some(texts.mail_changed),
            "webhook" => Some(texts.webhook_changed),
            _ => None,
        }
    }
}

impl Accounts {
    /// Returns the account part of the page, with addresses below `base`.
    pub(crate) async fn part<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        base: &str,
        is_factor_required: bool,
    ) -> Result<AccountPart, PageError> {
        let person = &holder.signed.person;
        let this = &holder.signed.session;
        let factor = person.credentials().second_factor.as_ref().map(|factor| {
            let left = factor.recovery_codes.len().to_string();
            (factor.since, SharedTexts::current().proof.recovery_codes_left.replace("{left}", &left))
        });
        let sessions = self.people.sessions(person).await?;
        let mut sessions: Vec<_> =
            sessions.into_iter().map(|session| SessionRow::of(session, this)).collect();
        sessions.sort_by_key(|row| !row.is_this);
        Ok(AccountPart {
            factor,
            is_factor_required,
            set_up_address: with_next(&Self::address("/factor"), &format!("{base}/account")),
            sessions,
            mail_choices: (self.sends_mail && person.gets_messages())
                .then(|| MailChoice::all(person.mailing())),
            webhook: person.gets_messages().then(|| WebhookForm::of(person)),
        })
    }

    /// Changes the person's own password. Every session of the person ends, and this browser gets a new one.
    pub(crate) async fn change_password<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        form: &Form,
        base: &str,
    ) -> Result<HttpResponse, PageError> {
        self.count_proof(holder).await?;
        let current = form.secret("current");
        let new = form.secret("new");
        let session = match self.people.change_password(&holder.signed, &current, &new).await {
            Ok(session) => session,
            Err(error) => {
                self.note_refused_proof(holder, &error).await;
                return Err(error.into());
            }
        };
        self.note_own(holder, AuditAction::PasswordChanged).await;
        let address = format!("{base}/account?done=password");
        Ok(see_other_with(self.cookies.begin(&session.token), address))
    }

    /// Ends one of the person's sessions, by its public id.
    pub(crate) async fn end_session<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        public_id: &str,
        base: &str,
    ) -> Result<HttpResponse, PageError> {
        if !self.people.end_session(&holder.signed.person, public_id).await? {
            return Err(PageError::NotFound);
        }
        self.note_ended(holder, 1).await;
        Ok(see_other(format!("{base}/account?done=session-ended")))
    }

    /// Ends every session of the person except the current one.
    pub(crate) async fn end_other_sessions<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        base: &str,
    ) -> Result<HttpResponse, PageError> {
        let ended = self.people.end_other_sessions(&holder.signed).await?;
        self.note_ended(holder, ended).await;
        Ok(see_other(format!("{base}/account?done=others-ended")))
    }

    async fn note_ended<S: Someone>(&self, holder: &AccountHolder<S>, ended: usize) {
        let person = &holder.signed.person;
        self.note(person, holder.from, person.draft(AuditAction::SessionsEnded).after(ended)).await;
    }
}
