//! Differences between the tester's two banks, as the banks and the adapters to them know them.

/// One of the two banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BankKind {
    /// Knows operations by our ids: one that is repeated is done once. Says in its notices what happened, and takes some
    /// seconds for many refunds.
    WithIds,
    /// Knows operations by its sums alone: one that is repeated is done again. Its notices are hints, which say only that
    /// something may have changed; it takes some seconds to register many boletos.
    SumsOnly,
}

impl BankKind {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::WithIds, Self::SumsOnly];

    /// The bank's name, in the configuration and in paths.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::WithIds => "bank-a",
            Self::SumsOnly => "bank-b",
        }
    }

    /// The bank of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
