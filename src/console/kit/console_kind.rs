//! Which of the two consoles.

/// One of the two consoles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsoleKind {
    /// The merchants'.
    Merchant,
    /// The operator's.
    Operator,
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
