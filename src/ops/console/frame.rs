//! What stands around every page of the operator's console.

use crate::console::cookies::form_token;
use crate::console::frame::Frame;
use crate::console::place;
use crate::console::texts::Texts;

use super::visitor::Operator;

/// The parts of the operator's console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Kinds of actors, and single ones.
    Actors,
    /// Routes to acquirers.
    Acquirers,
    /// What needs a person.
    Exceptions,
    /// Store and nodes.
    Store,
    /// What people changed.
    Audit,
}

impl Part {
    const ALL: [Self; 5] = [Self::Actors, Self::Acquirers, Self::Exceptions, Self::Store, Self::Audit];

    /// Its address.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Actors => "/",
            Self::Acquirers => "/acquirers",
            Self::Exceptions => "/exceptions",
            Self::Store => "/store",
            Self::Audit => "/audit",
        }
    }

    const fn name(self, texts: &Texts) -> &'static str {
        match self {
            Self::Actors => texts.operators.actors,
            Self::Acquirers => texts.operators.acquirers,
            Self::Exceptions => texts.operators.exceptions,
            Self::Store => texts.operators.store_and_nodes,
            Self::Audit => texts.everywhere.audit,
        }
    }
}

/// An entry of the navigation.
pub(super) struct Entry {
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    pub(super) is_here: bool,
}

/// Every entry of the navigation.
pub(super) fn navigation(here: Part, texts: &Texts) -> Vec<Entry> {
    let entry = |part: Part| Entry { path: part.path(), name: part.name(texts), is_here: part == here };
    Part::ALL.into_iter().map(entry).collect()
}

impl Operator {
    /// What stands around a page.
    pub(super) fn frame(&self) -> Frame {
        Frame { form_token: form_token(&self.token), ..Frame::bare(place::current()) }
    }
}
