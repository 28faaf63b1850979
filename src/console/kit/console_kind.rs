//! Kind of console: the merchants' or the operator's.

use quita_services::refused_sign_ins::Door;

/// One of the two consoles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsoleKind {
    /// The merchants'.
    Merchant,
    /// The operator's.
    Operator,
}

impl ConsoleKind {
    /// Returns the door through which people sign in to this console.
    pub(super) const fn door(self) -> Door {
        match self {
            Self::Merchant => Door::Console,
            Self::Operator => Door::Operators,
        }
    }

    /// Returns the path of this console's pages on its listener, without a trailing slash.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Merchant => "/console",
            Self::Operator => "",
        }
    }

    /// Returns the path of this console's logo on its listener.
    pub(super) const fn logo(self) -> &'static str {
        match self {
            Self::Merchant => "/console/assets/logo.svg",
            Self::Operator => "/console/assets/logo-operator.svg",
        }
    }
}
