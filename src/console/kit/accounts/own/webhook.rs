//! Messages by webhook to an address of the visitor's choice.

use actix_web::{HttpRequest, HttpResponse};
use quita_domain::audit::AuditAction;
use quita_domain::people::MailLanguage;

use super::mail::MailChoice;
use crate::console::kit::accounts::{AccountHolder, Accounts};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::kit::proof::MessageSecretPage;
use crate::console::kit::texts::SharedTexts;
use quita_services::people::{ChangedWebhook, Someone, message_webhook_in_words};

/// Content of the form: the address of the person's receiver, empty if there is none, and the languages.
pub(crate) struct WebhookForm {
    pub(crate) url: String,
    pub(crate) languages: [MailChoice; 2],
}

impl WebhookForm {
    /// Creates a person's form.
    pub(super) fn of<S: Someone>(person: &S) -> Self {
        let webhook = person.message_webhook();
        let language = webhook.map_or(person.mailing().language, |webhook| webhook.mailing.language);
        Self {
            url: webhook.map(|webhook| webhook.url.clone()).unwrap_or_default(),
            languages: MailChoice::languages(Some(language)),
        }
    }
}

impl Accounts {
    /// Sends messages by webhook to the address in the form, or none if it is empty. Shows the secret of a new address
    /// once.
    pub(crate) async fn set_webhook<S: Someone>(
        &self,
        request: &HttpRequest,
        holder: &AccountHolder<S>,
        form: &Form,
        base: &str,
    ) -> Result<HttpResponse, PageError> {
        let texts = &SharedTexts::current().proof;
        let login = holder.signed.person.login();
        if form.text("url").is_empty() {
            let (before, after) = self.people.remove_message_webhook::<S>(login).await?;
            self.note_webhook(holder, &before, &after).await;
            return Ok(see_other(format!("{base}/account?done=webhook")));
        }
        let allowed = |url: &str| self.postback.allows(url).then(|| url.to_owned());
        let url = form.address("url", allowed, texts.bad_webhook_url)?;
        let language = MailLanguage::parse(form.text("language"));
        let language = language.ok_or_else(|| PageError::Unreadable(texts.bad_webhook_language.into()))?;
        // News sent to another address would outlast a stolen session.
        self.require_recent_proof(request, holder, form).await?;
        let changed = self.webhooks.set::<S>(login, &url, Some(language)).await?;
        let ChangedWebhook { before, after, secret } = changed;
        self.note_webhook(holder, &before, &after).await;
        match secret {
            Some(secret) => {
                html(&MessageSecretPage::new(&holder.token, secret, format!("{base}/account?done=webhook")))
            }
            None => Ok(see_other(format!("{base}/account?done=webhook"))),
        }
    }

    async fn note_webhook<S: Someone>(&self, holder: &AccountHolder<S>, before: &S, after: &S) {
        let [was, is] = [before, after].map(Someone::message_webhook);
        if was != is {
            let [was, is] = [was, is].map(message_webhook_in_words);
            let draft = after.draft(AuditAction::MessageWebhookChanged).before(was).after(is);
            self.note(&holder.signed.person, holder.from, draft).await;
        }
    }
}
