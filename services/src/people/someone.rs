//! Common traits of users and operators: a login, credentials, sessions.

use quita_domain::audit::AuditAction;
use quita_domain::people::{
    Credentials, Login, Mailing, MessageWebhook, Operator, OperatorRole, Role, SessionOf, User,
};
use quita_domain::secret_key::SecretPlace;
use quita_domain::time::Timestamp;
use quita_ports::{PeopleStore, StoreError};

use crate::audit::AuditDraft;

/// Person who signs in.
pub trait Someone: Clone + PartialEq + Send + Sync + Sized + 'static {
    /// Returns the login.
    fn login(&self) -> &Login;

    /// Returns the credentials.
    fn credentials(&self) -> &Credentials;

    /// Returns the credentials, to be changed.
    fn credentials_mut(&mut self) -> &mut Credentials;

    /// Returns the choice about messages by e-mail.
    fn mailing(&self) -> &Mailing;

    /// Returns that choice, to be changed.
    fn mailing_mut(&mut self) -> &mut Mailing;

    /// Returns the receiver of messages by webhook.
    fn message_webhook(&self) -> Option<&MessageWebhook>;

    /// Returns that receiver, to be changed.
    fn message_webhook_mut(&mut self) -> &mut Option<MessageWebhook>;

    /// Returns true if this role may get messages.
    fn gets_messages(&self) -> bool;

    /// Returns the role, as the command line spells it.
    fn role(&self) -> &'static str;

    /// Returns the time at which the account was created.
    fn created_at(&self) -> Timestamp;

    /// Returns true if nobody has signed in to the account since it was created. Its use is recorded from the creation
    /// on, because an account that nobody uses is disabled too.
    fn is_never_used(&self) -> bool {
        let credentials = self.credentials();
        let has_first_password =
            credentials.must_change_password || credentials.made_password_until.is_some();
        // Who changed it has signed in, even if an earlier version did not record that.
        has_first_password && credentials.active_at.is_some_and(|at| at <= self.created_at())
    }

    /// Returns the person's entry in a session.
    fn session_of(&self) -> SessionOf;

    /// Returns the place for which the authenticator's secret is sealed.
    fn factor_place(&self) -> SecretPlace;

    /// Returns the place for which the secret that signs messages to the person is sealed.
    fn messages_place(&self) -> SecretPlace;

    /// Drafts an audit entry about the person.
    fn draft(&self, action: AuditAction) -> AuditDraft;

    /// Returns words that others know about the person, so that a password does not consist of these alone.
    fn known_words(&self) -> Vec<String>;

    /// Finds the person with this login.
    fn find(
        store: &dyn PeopleStore,
        login: &Login,
    ) -> impl Future<Output = Result<Option<Self>, StoreError>> + Send;

    /// Replaces the person if the record is still `before`. Returns false if another writer was faster.
    fn replace(
        store: &dyn PeopleStore,
        before: &Self,
        after: &Self,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// Implements the shared parts of both kinds, with sessions of this variant.
macro_rules! signs_in_as {
    ($kind:ident) => {
        fn login(&self) -> &Login {
            &self.login
        }

        fn credentials(&self) -> &Credentials {
            &self.credentials
        }

        fn credentials_mut(&mut self) -> &mut Credentials {
            &mut self.credentials
        }

        fn mailing(&self) -> &Mailing {
            &self.mailing
        }

        fn mailing_mut(&mut self) -> &mut Mailing {
            &mut self.mailing
        }

        fn message_webhook(&self) -> Option<&MessageWebhook> {
            self.message_webhook.as_ref()
        }

        fn message_webhook_mut(&mut self) -> &mut Option<MessageWebhook> {
            &mut self.message_webhook
        }

        fn role(&self) -> &'static str {
            self.role.as_str()
        }

        fn created_at(&self) -> Timestamp {
            self.created_at
        }

        fn session_of(&self) -> SessionOf {
            let password_version = self.credentials.password_version;
            SessionOf::$kind { login: self.login.clone(), password_version }
        }
    };
}

impl Someone for User {
    signs_in_as!(User);

    fn gets_messages(&self) -> bool {
        self.role == Role::Owner
    }

    fn factor_place(&self) -> SecretPlace {
        SecretPlace::user_factor(&self.login)
    }

    fn messages_place(&self) -> SecretPlace {
        SecretPlace::user_messages(&self.login)
    }

    fn draft(&self, action: AuditAction) -> AuditDraft {
        AuditDraft::of(&self.merchant, action, &self.login)
    }

    fn known_words(&self) -> Vec<String> {
        words_of(&self.login).chain([self.merchant.to_string()]).collect()
    }

    async fn find(store: &dyn PeopleStore, login: &Login) -> Result<Option<Self>, StoreError> {
        store.user(login).await
    }

    async fn replace(store: &dyn PeopleStore, before: &Self, after: &Self) -> Result<bool, StoreError> {
        store.replace_user(before, after).await
    }
}

impl Someone for Operator {
    signs_in_as!(Operator);

    fn gets_messages(&self) -> bool {
        self.role == OperatorRole::Operator
    }

    fn factor_place(&self) -> SecretPlace {
        SecretPlace::operator_factor(&self.login)
    }

    fn messages_place(&self) -> SecretPlace {
        SecretPlace::operator_messages(&self.login)
    }

    fn draft(&self, action: AuditAction) -> AuditDraft {
        AuditDraft::of_operators(action, &self.login)
    }

    fn known_words(&self) -> Vec<String> {
        words_of(&self.login).collect()
    }

    async fn find(store: &dyn PeopleStore, login: &Login) -> Result<Option<Self>, StoreError> {
        store.operator(login).await
    }

    async fn replace(store: &dyn PeopleStore, before: &Self, after: &Self) -> Result<bool, StoreError> {
        store.replace_operator(before, after).await
    }
}

/// Returns the address, and the words that it consists of.
fn words_of(login: &Login) -> impl Iterator<Item = String> {
    let parts = login.as_str().split(|character: char| !character.is_alphanumeric());
    let words = parts.filter(|word| word.len() > 2).map(str::to_owned);
    [login.to_string(), String::from("quita")].into_iter().chain(words)
}
