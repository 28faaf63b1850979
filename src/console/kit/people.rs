//! The list of those who may sign in, and what is done with one of them, as far as both consoles do the same.

use quita_domain::people::Login;
use quita_domain::time::Timestamp;
use serde::Deserialize;

use super::answer::{Done, path_segment};
use super::failure::Failure;
use super::form::Form;
use super::texts::Texts;
use crate::service::people::Someone;

/// What is asked once more, or done, with somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// Gives a new password.
    Reset,
    /// Takes the second factor away from who lost it.
    Factor,
    Remove,
    /// The list itself has the form for it.
    Role,
}

impl Verb {
    /// As addresses spell it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Factor => "factor",
            Self::Remove => "remove",
            Self::Role => "role",
        }
    }
}

/// A role that somebody can have.
pub(crate) struct RoleChoice {
    /// As forms spell it.
    pub(crate) value: &'static str,
    pub(crate) name: &'static str,
    /// What one may do with it.
    pub(crate) may: &'static str,
}

/// What `console/kit/people_part.html` and `console/kit/new_person.html` show.
pub(crate) struct PeoplePart {
    pub(crate) people: Vec<PersonRow>,
    pub(crate) roles: Vec<RoleChoice>,
    /// Whether the visitor may do more than look.
    pub(crate) may_change: bool,
}

/// Somebody in the list.
pub(crate) struct PersonRow {
    pub(crate) login: String,
    pub(crate) role: &'static str,
    pub(crate) has_factor: bool,
    pub(crate) since: Timestamp,
    /// Whether it is the visitor.
    pub(crate) is_own: bool,
    /// What the addresses of what is done with this person begin with.
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
            is_own: login == own,
            address: address_of(person.login(), base),
        }
    }
}

impl PeoplePart {
    /// These people, as the visitor with this login sees them in the part of the console below `base`.
    pub(crate) fn new<S: Someone>(
        people: &[S],
        roles: Vec<RoleChoice>,
        (own, base): (&str, &str),
        may_change: bool,
    ) -> Self {
        Self {
            people: people.iter().map(|person| PersonRow::of(person, own, base)).collect(),
            roles,
            may_change,
        }
    }

    /// What a role is called.
    pub(crate) fn role_name(&self, value: &str) -> &'static str {
        self.roles.iter().find(|role| role.value == value).map_or("", |role| role.name)
    }

    /// What the page says was just done.
    pub(crate) fn notice(done: &Done) -> Option<&'static str> {
        let texts = &Texts::current().people;
        match done.done.as_str() {
            "removed" => Some(texts.removed),
            "role" => Some(texts.role_changed),
            "factor" => Some(texts.factor_reset),
            _ => None,
        }
    }
}

/// What the addresses of what is done with somebody begin with.
pub(crate) fn address_of(login: &Login, base: &str) -> String {
    format!("{base}/people/{}", path_segment(login.as_str()))
}

/// With what somebody who is made is to sign in.
///
/// # Errors
/// [`Failure::Unreadable`] if it is no e-mail address, or holds a card number.
pub(crate) fn read_login(form: &Form) -> Result<Login, Failure> {
    form.address("email", Login::parse, Texts::current().people.not_an_email)
}
