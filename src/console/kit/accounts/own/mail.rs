//! Messages by e-mail to the visitor's own address: none, or in which language.

use actix_web::HttpResponse;
use quita_domain::audit::AuditAction;
use quita_domain::people::{MailLanguage, Mailing};

use crate::console::kit::accounts::{AccountHolder, Accounts};
use crate::console::kit::answer::see_other;
use crate::console::kit::form::Form;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::kit::texts::SharedTexts;
use quita_services::people::{Someone, mailing_in_words};

/// Value of the choice for no messages.
const OFF: &str = "off";

/// One choice of the form.
pub(crate) struct MailChoice {
    pub(crate) value: &'static str,
    pub(crate) name: &'static str,
    pub(crate) is_chosen: bool,
}

impl MailChoice {
    /// Returns every choice, with the current one marked.
    pub(super) fn all(mailing: &Mailing) -> Vec<Self> {
        let off = Self { value: OFF, name: SharedTexts::current().proof.mail_off, is_chosen: mailing.is_off };
        let chosen = Some(mailing.language).filter(|_| !mailing.is_off);
        Self::languages(chosen).into_iter().chain([off]).collect()
    }

    /// Returns every language, with the current one marked.
    pub(super) fn languages(chosen: Option<MailLanguage>) -> [Self; 2] {
        MailLanguage::ALL.map(|language| Self {
            value: language.as_str(),
            name: Language::of_mail(language).own_name(),
            is_chosen: chosen == Some(language),
        })
    }
}

impl Accounts {
    /// Changes the messages by e-mail to the visitor's own address.
    pub(crate) async fn set_mailing<S: Someone>(
        &self,
        holder: &AccountHolder<S>,
        form: &Form,
        base: &str,
    ) -> Result<HttpResponse, PageError> {
        let person = &holder.signed.person;
        let chosen = form.text("mail");
        let language = MailLanguage::parse(chosen);
        if language.is_none() && chosen != OFF {
            return Err(PageError::Unreadable(SharedTexts::current().proof.bad_mail_choice.into()));
        }
        let set = self.people.set_mailing::<S>(person.login(), language.is_some(), language).await;
        let (before, after) = set?;
        let [was, is] = [&before, &after].map(|person| mailing_in_words(person.mailing()));
        if was != is {
            let draft = person.draft(AuditAction::MailingChanged).before(was).after(is);
            self.note(person, holder.from, draft).await;
        }
        Ok(see_other(format!("{base}/account?done=mail")))
    }
}
