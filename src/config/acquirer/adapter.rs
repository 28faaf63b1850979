//! What speaks to an acquirer, with the configuration of its own.

use std::time::Duration;

use quita_domain::identity::Mode;
use quita_domain::method::Method;

use super::sandbox::{SandboxConfig, SandboxDefaults};
use super::table::AcquirerTable;

/// Which adapter speaks to an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// Pretends, in this process.
    Sandbox,
}

impl AdapterKind {
    /// Every adapter.
    pub const ALL: [Self; 1] = [Self::Sandbox];

    /// As the configuration spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
        }
    }

    /// Reads the spelling of the configuration.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Whether it can move real money: then it does so by default, else only test keys ever reach it.
    pub const fn moves_money(self) -> bool {
        match self {
            Self::Sandbox => false,
        }
    }

    /// The mode of an acquirer that states none.
    pub const fn default_mode(self) -> Mode {
        if self.moves_money() { Mode::Live } else { Mode::Test }
    }

    /// Every method that it can take.
    pub const fn methods(self) -> &'static [Method] {
        match self {
            Self::Sandbox => &Method::ALL,
        }
    }

    /// The longest time, in seconds, for which it can keep a PIX payable, if there is a limit.
    pub(super) const fn max_expiry_s(self) -> Option<u64> {
        match self {
            Self::Sandbox => None,
        }
    }

    /// How long after an inquiry a hint may lead to the next one, in milliseconds.
    pub(super) const fn hint_gap_ms(self) -> u64 {
        match self {
            Self::Sandbox => 2_000,
        }
    }

    pub(super) const fn default_time_out(self, sandbox: &SandboxDefaults) -> Duration {
        match self {
            Self::Sandbox => sandbox.time_out,
        }
    }
}

/// What only this adapter needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdapterConfig {
    /// Pretends, in this process.
    Sandbox(SandboxConfig),
}

impl AdapterConfig {
    /// Which adapter it is.
    pub const fn kind(&self) -> AdapterKind {
        match self {
            Self::Sandbox(_) => AdapterKind::Sandbox,
        }
    }

    /// Reads the keys of one adapter. `None` if it can't do with what was refused.
    pub(super) fn read(
        kind: AdapterKind,
        table: &mut AcquirerTable<'_>,
        sandbox: &SandboxDefaults,
    ) -> Option<Self> {
        match kind {
            AdapterKind::Sandbox => Some(Self::Sandbox(SandboxConfig::read(table, sandbox))),
        }
    }
}
