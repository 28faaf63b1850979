//! Frame around every page of the operator's console.

use quita_domain::people::{Login, OperatorRole};

use super::texts::OperatorTexts;
use super::troubles::Counts;
use super::visitor::Operator;
use super::words;
use crate::console::kit::cookies::form_token;
use crate::console::kit::frame::{self, NavigationEntry};

/// Start of this console's addresses.
pub(super) const BASE: &str = "";

/// Section of the operator's console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperatorSection {
    /// Overall state of the service.
    Overview,
    /// Kinds of actors, and individual ones.
    Actors,
    /// Routes to acquirers.
    Acquirers,
    /// Exceptions that need a person.
    Exceptions,
    /// Acquirers' lists and banks' return files, compared with the payments.
    Reconciliation,
    /// Store and nodes.
    Store,
    /// Changes made by people.
    Audit,
    /// Operators.
    People,
    /// The operator's own account.
    Account,
}

impl OperatorSection {
    /// Sections that the navigation shows.
    const ALL: [Self; 8] = [
        Self::Overview,
        Self::Actors,
        Self::Acquirers,
        Self::Exceptions,
        Self::Reconciliation,
        Self::Store,
        Self::People,
        Self::Audit,
    ];

    /// Returns the address of the section.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Overview => "/",
            Self::Actors => "/actors",
            Self::Acquirers => "/acquirers",
            Self::Exceptions => "/exceptions",
            Self::Reconciliation => "/reconciliation",
            Self::Store => "/store",
            Self::Audit => "/audit",
            Self::People => "/people",
            Self::Account => "/account",
        }
    }

    /// Returns the number of problems that the navigation shows for the section.
    const fn troubles(self, counts: &Counts) -> usize {
        match self {
            Self::Acquirers => counts.acquirers,
            Self::Exceptions => counts.exceptions,
            Self::Store => counts.store_and_nodes,
            Self::Overview
            | Self::Actors
            | Self::Reconciliation
            | Self::Audit
            | Self::People
            | Self::Account => 0,
        }
    }

    const fn name(self, texts: &OperatorTexts) -> &'static str {
        match self {
            Self::Overview => texts.everywhere.overview,
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

/// Content of the bar next to the navigation: the signed-in operator, and this node.
pub(super) struct OperatorBar {
    pub(super) login: Login,
    role: OperatorRole,
    pub(super) node: String,
}

/// Frame around a page.
pub(super) type OperatorFrame = frame::Frame<OperatorTexts, OperatorBar>;

impl OperatorFrame {
    /// Returns true if the operator may direct, so buttons are shown.
    pub(super) fn may_direct(&self) -> bool {
        self.bar.role.may_direct()
    }

    /// Returns the name of the operator's role.
    pub(super) fn role(&self) -> &'static str {
        words::role(self.bar.role, self.texts)
    }

    /// Returns the first two letters of the login, for an avatar.
    pub(super) fn initials(&self) -> String {
        let letters = self.bar.login.as_str().chars().filter(|character| character.is_alphanumeric());
        letters.take(2).flat_map(char::to_uppercase).collect()
    }
}

impl Operator {
    /// Returns the frame around a page of this section.
    pub(super) fn frame(&self, section: OperatorSection) -> OperatorFrame {
        let texts = OperatorTexts::current();
        let entry = |each: OperatorSection| NavigationEntry {
            address: each.path().into(),
            name: each.name(texts),
            is_here: each == section,
            troubles: each.troubles(&self.counts),
        };
        let navigation = OperatorSection::ALL.into_iter().map(entry).collect();
        let bar = OperatorBar { login: self.who.login.clone(), role: self.who.role, node: self.node.clone() };
        OperatorFrame { navigation, form_token: form_token(self.token()), ..OperatorFrame::new(texts, bar) }
    }
}
