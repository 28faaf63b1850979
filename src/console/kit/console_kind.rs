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
    /// The address under which its pages are, without a slash at the end.
    pub(crate) const fn root(self) -> &'static str {
        match self {
            Self::Merchant => "/console",
            Self::Operator => "",
        }
    }

    /// The address of its mark.
    pub(crate) const fn logo(self) -> &'static str {
        match self {
            Self::Merchant => "/console/assets/logo.svg",
            Self::Operator => "/console/assets/logo-operator.svg",
        }
    }
}
