//! Differences between the tester's two banks, shared by the banks and their adapters.

/// One of the two banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BankKind {
    /// Knows operations by our ids, so a repeated one is done once. Its notices state what happened, and many refunds
    /// take some seconds.
    WithIds,
    /// Knows operations only by its sums, so a repeated one is done again. Its notices are hints that something may
    /// have changed. Many boletos take some seconds to register.
    SumsOnly,
}

impl BankKind {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::WithIds, Self::SumsOnly];

    /// Returns the bank's name, in the configuration and in paths.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::WithIds => "bank-a",
            Self::SumsOnly => "bank-b",
        }
    }

    /// Returns the bank with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
