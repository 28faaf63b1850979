//! Adapters of acquirers, each with its configuration.

use std::time::Duration;

use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::routing::{DueDates, DueTermsTaken};

use super::Surroundings;
use super::api_pix::ApiPixConfig;
use super::cielo::CieloConfig;
use super::pagarme::PagarmeConfig;
use super::sandbox::{SandboxConfig, SandboxDefaults};
use super::sicoob::SicoobConfig;
use super::table::AcquirerTable;
use super::tls::TlsConfig;

/// Adapters for acquirers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// Simulates an acquirer in this process.
    Sandbox,
    /// The Banco Central's standard, in the dialect of a bank.
    ApiPix,
    /// Cielo's E-commerce API.
    Cielo,
    /// Pagar.me's core v5.
    Pagarme,
    /// Boletos registered at Sicoob.
    Sicoob,
}

impl AdapterKind {
    /// Every adapter.
    pub const ALL: [Self; 5] = [Self::Sandbox, Self::ApiPix, Self::Cielo, Self::Pagarme, Self::Sicoob];

    /// Returns the spelling in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::ApiPix => "api_pix",
            Self::Cielo => "cielo",
            Self::Pagarme => "pagarme",
            Self::Sicoob => "sicoob",
        }
    }

    /// Reads the spelling of the configuration.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns true if it can move real money. Then it does so by default; otherwise only test keys ever reach it.
    pub const fn moves_money(self) -> bool {
        match self {
            Self::Sandbox => false,
            Self::ApiPix | Self::Cielo | Self::Pagarme | Self::Sicoob => true,
        }
    }

    /// Returns the mode of an acquirer that states none.
    pub const fn default_mode(self) -> Mode {
        if self.moves_money() { Mode::Live } else { Mode::Test }
    }

    /// Returns all methods that it supports.
    pub const fn methods(self) -> &'static [Method] {
        match self {
            Self::Sandbox | Self::Cielo | Self::Pagarme => &Method::ALL,
            Self::ApiPix => &[Method::Pix],
            Self::Sicoob => &[Method::Boleto],
        }
    }

    /// Returns the minimum time in milliseconds between an inquiry and the next one after a hint.
    pub(super) const fn hint_gap_ms(self) -> u64 {
        match self {
            Self::Sandbox | Self::ApiPix | Self::Pagarme | Self::Sicoob => 2_000,
            Self::Cielo => 5_000,
        }
    }

    pub(super) const fn default_time_out(self, sandbox: &SandboxDefaults) -> Duration {
        match self {
            Self::Sandbox => sandbox.time_out,
            Self::ApiPix => Duration::from_secs(10),
            Self::Cielo | Self::Pagarme | Self::Sicoob => Duration::from_secs(20),
        }
    }
}

/// Settings that only one adapter needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdapterConfig {
    /// Simulates an acquirer in this process.
    Sandbox(SandboxConfig),
    /// The Banco Central's standard, in the dialect of a bank.
    ApiPix(Box<ApiPixConfig>),
    /// Cielo's E-commerce API.
    Cielo(Box<CieloConfig>),
    /// Pagar.me's core v5.
    Pagarme(Box<PagarmeConfig>),
    /// Boletos registered at Sicoob.
    Sicoob(Box<SicoobConfig>),
}

impl AdapterConfig {
    /// Returns Cielo's name of the bank whose boletos it issues.
    pub(crate) fn boleto_provider(&self) -> Option<&str> {
        match self {
            Self::Cielo(config) => config.settings.boleto.as_ref().map(|boleto| boleto.provider.as_str()),
            Self::Sandbox(_) | Self::ApiPix(_) | Self::Pagarme(_) | Self::Sicoob(_) => None,
        }
    }

    /// Returns the charges with a due date that it supports.
    pub(super) const fn due_dates(&self) -> DueDates {
        match self {
            Self::Sandbox(_) => DueDates::ALL,
            Self::ApiPix(config) => DueDates { of_pix: config.cobv, terms: DueTermsTaken::All },
            // Its boletos have their own fine and interest, agreed with the bank.
            Self::Cielo(_) => DueDates::PLAIN,
            Self::Pagarme(_) => DueDates { of_pix: false, terms: DueTermsTaken::WholePercentages },
            Self::Sicoob(_) => DueDates { of_pix: false, terms: DueTermsTaken::All },
        }
    }

    /// Returns the longest time, in seconds, for which it can keep a PIX payable, if there is a limit.
    pub(super) fn max_expiry_s(&self) -> Option<u64> {
        match self {
            Self::Sandbox(_) | Self::ApiPix(_) | Self::Sicoob(_) => None,
            // Maximum that Cielo accepts as `QrCode.Expiration`.
            Self::Cielo(_) => Some(24 * 3_600),
            Self::Pagarme(pagarme) => pagarme.max_expiry.map(|longest| longest.as_secs()),
        }
    }

    /// Returns the adapter's kind.
    pub const fn kind(&self) -> AdapterKind {
        match self {
            Self::Sandbox(_) => AdapterKind::Sandbox,
            Self::ApiPix(_) => AdapterKind::ApiPix,
            Self::Cielo(_) => AdapterKind::Cielo,
            Self::Pagarme(_) => AdapterKind::Pagarme,
            Self::Sicoob(_) => AdapterKind::Sicoob,
        }
    }

    /// Returns the TLS settings of its provider; none if it has no provider.
    pub fn tls(&self) -> Option<&TlsConfig> {
        match self {
            Self::Sandbox(_) => None,
            Self::ApiPix(api_pix) => Some(&api_pix.tls),
            Self::Cielo(cielo) => Some(&cielo.tls),
            Self::Pagarme(pagarme) => Some(&pagarme.tls),
            Self::Sicoob(sicoob) => Some(&sicoob.tls),
        }
    }

    /// Returns the address of its provider; `None` if it has no provider.
    pub fn address(&self) -> Option<&str> {
        match self {
            Self::Sandbox(_) => None,
            Self::ApiPix(api_pix) => Some(&api_pix.base_url),
            Self::Cielo(cielo) => Some(&cielo.settings.base_url),
            Self::Pagarme(pagarme) => Some(&pagarme.settings.base_url),
            Self::Sicoob(sicoob) => Some(&sicoob.base_url),
        }
    }

    /// Returns this configuration with the secrets and certificates of another one, which may change while the service
    /// runs. An adapter of another kind provides none.
    #[must_use]
    pub fn with_secrets_of(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Sandbox(sandbox), Self::Sandbox(other)) => {
                let notification_secret = other.notification_secret.clone();
                Self::Sandbox(SandboxConfig { notification_secret, ..sandbox.clone() })
            }
            (Self::ApiPix(api_pix), Self::ApiPix(other)) => {
                Self::ApiPix(Box::new(api_pix.with_secrets_of(other)))
            }
            (Self::Cielo(cielo), Self::Cielo(other)) => Self::Cielo(Box::new(cielo.with_secrets_of(other))),
            (Self::Pagarme(pagarme), Self::Pagarme(other)) => {
                Self::Pagarme(Box::new(pagarme.with_secrets_of(other)))
            }
            (Self::Sicoob(sicoob), Self::Sicoob(other)) => {
                Self::Sicoob(Box::new(sicoob.with_secrets_of(other)))
            }
            (Self::Sandbox(_) | Self::ApiPix(_) | Self::Cielo(_) | Self::Pagarme(_) | Self::Sicoob(_), _) => {
                self.clone()
            }
        }
    }

    /// Reads the keys of one adapter. Returns `None` if it can't work without a refused key.
    pub(super) fn read(
        kind: AdapterKind,
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        mode: Mode,
        methods: &[Method],
    ) -> Option<Self> {
        match kind {
            AdapterKind::Sandbox => Some(Self::Sandbox(SandboxConfig::read(table, surroundings.sandbox))),
            AdapterKind::ApiPix => {
                ApiPixConfig::read(table, surroundings, mode).map(|api_pix| Self::ApiPix(Box::new(api_pix)))
            }
            AdapterKind::Cielo => {
                let cielo = CieloConfig::read(table, surroundings, mode, methods);
                cielo.map(|cielo| Self::Cielo(Box::new(cielo)))
            }
            AdapterKind::Sicoob => {
                let sicoob = SicoobConfig::read(table, surroundings, mode);
                sicoob.map(|sicoob| Self::Sicoob(Box::new(sicoob)))
            }
            AdapterKind::Pagarme => {
                let pagarme = PagarmeConfig::read(table, surroundings, mode);
                pagarme.map(|pagarme| Self::Pagarme(Box::new(pagarme)))
            }
        }
    }
}
