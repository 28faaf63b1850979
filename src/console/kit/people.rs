//! List of the people who may sign in, and the actions on one of them, as far as both consoles share them.

use quita_domain::people::Login;
use quita_domain::time::Timestamp;
use serde::Deserialize;

use super::answer::{Done, path_segment};
use super::form::Form;
use super::page_error::PageError;
use super::texts::SharedTexts;
use quita_services::people::Someone;

/// Action on a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PersonAction {
    /// Sets a new password.
    Reset,
    /// Removes a lost second factor.
    Factor,
    Remove,
    /// Changes the role; its form is in the list itself.
    Role,
}

impl PersonAction {
    /// Returns the name used in addresses.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Factor => "factor",
            Self::Remove => "remove",
            Self::Role => "role",
        }
    }
}

/// Role that a person can have.
pub(crate) struct RoleChoice {
    /// Name used in forms.
    pub(crate) value: &'static str,
    pub(crate) name: &'static str,
    /// Permissions of the role, in words.
    pub(crate) may: &'static str,
}

/// Content of `console/kit/people_part.html` and `console/kit/new_person.html`.
pub(crate) struct PeoplePart {
    pub(crate) people: Vec<PersonRow>,
    pub(crate) roles: Vec<RoleChoice>,
    /// True if the visitor may change something.
    pub(crate) may_change: bool,
}

/// Person in the list.
pub(crate) struct PersonRow {
    pub(crate) login: String,
    pub(crate) role: &'static str,
    pub(crate) has_factor: bool,
    pub(crate) since: Timestamp,
    /// Time of the last sign-in, to the day.
    pub(crate) active_at: Option<Timestamp>,
    /// True if nobody has signed in to the account yet.
    pub(crate) is_never_used: bool,
    /// True if the account was disabled because it was not used.
    pub(crate) is_disabled: bool,
    /// True for the visitor's own row.
    pub(crate) is_own: bool,
    /// Start of the addresses of the actions on this person.
    pub(crate) address: String,
}

impl PersonRow {
    fn of<S: Someone>(person: &S, own: &str, base: &str) -> Self {
        let login = person.login().as_str();
        Self {
            login: login.to_owned(),
            role: person.role(),
            has_factor: person.credentials().second_factor.is_some(),
            since: person.created_at(),
            active_at: person.credentials().active_at,
            is_never_used: person.is_never_used(),
            is_disabled: person.credentials().disabled_at.is_some(),
            is_own: login == own,
            address: address_of(person.login(), base),
        }
    }
}

impl PeoplePart {
    /// Creates the list for the visitor with this login, in the part of the console below `base`.
    pub(crate) fn new<S: Someone>(
        people: &[S],
        roles: Vec<RoleChoice>,
        own: &str,
        base: &str,
        may_change: bool,
    ) -> Self {
        Self {
            people: people.iter().map(|person| PersonRow::of(person, own, base)).collect(),
            roles,
            may_change,
        }
    }

    /// Returns the name of a role.
    pub(crate) fn role_name(&self, value: &str) -> &'static str {
        self.roles.iter().find(|role| role.value == value).map_or("", |role| role.name)
    }

    /// Returns the text that confirms the action just done.
    pub(crate) fn notice(done: &Done) -> Option<&'static str> {
        let texts = &SharedTexts::current().people;
        match done.done.as_str() {
            "removed" => Some(texts.removed),
            "role" => Some(texts.role_changed),
            "factor" => Some(texts.factor_reset),
            _ => None,
        }
    }
}

/// Returns the start of the addresses of the actions on a person.
pub(crate) fn address_of(login: &Login, base: &str) -> String {
    format!("{base}/people/{}", path_segment(login.as_str()))
}

/// Reads the login of a new person.
///
/// # Errors
/// [`PageError::Unreadable`] if it is not an e-mail address, or contains a card number.
pub(crate) fn read_login(form: &Form) -> Result<Login, PageError> {
    form.address("email", Login::parse, SharedTexts::current().people.not_an_email)
}
