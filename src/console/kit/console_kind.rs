//! Which of the two consoles.

use crate::service::refused_sign_ins::Door;

/// One of the two consoles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsoleKind {
    /// The merchants'.
    Merchant,
    /// The operator's.
    Operator,
}

impl Door {
    /// The one that leads to this console.
    pub(super) const fn of(console: ConsoleKind) -> Self {
        match console {
            ConsoleKind::Merchant => Self::Console,
            ConsoleKind::Operator => Self::Operators,
        }
    }
}

impl ConsoleKind {
    /// Below which path of its listener its pages are, without a slash at the end.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Merchant => "/console",
            Self::Operator => "",
        }
    }

    /// Below which path of its listener its mark is.
    pub(super) const fn logo(self) -> &'static str {
        match self {
            Self::Merchant => "/console/assets/logo.svg",
            Self::Operator => "/console/assets/logo-operator.svg",
        }
    }
}
