//! What surrounds every page of the operator's console.

use super::texts::Texts;
use super::visitor::{Operator, Who};
use super::words;
use crate::console::kit::cookies::form_token;
use crate::console::kit::frame::{self, Entry};

/// What the addresses of this console begin with.
pub(super) const BASE: &str = "";

/// The sections of the operator's console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Kinds of actors, and single ones.
    Actors,
    /// Routes to acquirers.
    Acquirers,
    /// What needs a person.
    Exceptions,
    /// What acquirers list and banks return, compared with the payments.
    Reconciliation,
    /// Store and nodes.
    Store,
    /// What people changed.
    Audit,
    /// Operators.
    People,
    /// The own account.
    Account,
}

impl Section {
    /// Those that the navigation shows.
    const ALL: [Self; 7] = [
        Self::Actors,
        Self::Acquirers,
        Self::Exceptions,
        Self::Reconciliation,
        Self::Store,
        Self::People,
        Self::Audit,
    ];

    /// Its address.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Actors => "/",
            Self::Acquirers => "/acquirers",
            Self::Exceptions => "/exceptions",
            Self::Reconciliation => "/reconciliation",
            Self::Store => "/store",
            Self::Audit => "/audit",
            Self::People => "/people",
            Self::Account => "/account",
        }
    }

    const fn name(self, texts: &Texts) -> &'static str {
        match self {
            Self::Actors => texts.operators.actors,
            Self::Acquirers => texts.operators.acquirers,
            Self::Exceptions => texts.operators.exceptions,
            Self::Reconciliation => texts.operators.reconciliation,
            Self::Store => texts.operators.store_and_nodes,
            Self::Audit => texts.everywhere.audit,
            Self::People => texts.everywhere.people,
            Self::Account => texts.everywhere.account,
        }
    }
}

/// What surrounds a page.
pub(super) type Frame = frame::Frame<Texts, Who>;

impl Frame {
    /// Whether buttons are shown that direct something.
    pub(super) fn may_direct(&self) -> bool {
        self.bar.role.may_direct()
    }

    /// What the own role is called.
    pub(super) fn role(&self) -> &'static str {
        words::role(self.bar.role, self.texts)
    }

    /// The first two letters of the login, for a little picture.
    pub(super) fn initials(&self) -> String {
        let letters = self.bar.login.as_str().chars().filter(|character| character.is_alphanumeric());
        letters.take(2).flat_map(char::to_uppercase).collect()
    }
}

impl Operator {
    /// What surrounds a page of this section.
    pub(super) fn frame(&self, section: Section) -> Frame {
        let texts = Texts::current();
        let entry = |each: Section| Entry {
            address: each.path().into(),
            name: each.name(texts),
            is_here: each == section,
        };
        let navigation = Section::ALL.into_iter().map(entry).collect();
        Frame { navigation, form_token: form_token(self.token()), ..Frame::new(texts, self.who.clone()) }
    }
}
