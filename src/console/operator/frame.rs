//! What surrounds every page of the operator's console.

use super::texts::Texts;
use super::visitor::Operator;
use crate::console::kit::cookies::form_token;
use crate::console::kit::frame::{self, Entry};

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
}

impl Section {
    const ALL: [Self; 6] =
        [Self::Actors, Self::Acquirers, Self::Exceptions, Self::Reconciliation, Self::Store, Self::Audit];

    /// Its address.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Actors => "/",
            Self::Acquirers => "/acquirers",
            Self::Exceptions => "/exceptions",
            Self::Reconciliation => "/reconciliation",
            Self::Store => "/store",
            Self::Audit => "/audit",
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
        }
    }
}

/// What surrounds a page.
pub(super) type Frame = frame::Frame<Texts>;

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
        Frame { navigation, form_token: form_token(&self.token), ..Frame::new(texts, ()) }
    }
}
