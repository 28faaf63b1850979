//! Link to one provider: the adapter with its connections, and its state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_acquirers::api_pix::{ApiPixFactory, RegistrationOutcome};
use quita_acquirers::cielo::CieloFactory;
use quita_acquirers::exchange::ExchangeFactory;
use quita_acquirers::exchange::http_client::{HttpClientFactory, HttpClientSettings};
use quita_acquirers::exchange::identity::ClientIdentity;
use quita_acquirers::exchange::watched::{LinkError, LinkStatus, TokenOutcome, Watched};
use quita_acquirers::pagarme::PagarmeFactory;
use quita_acquirers::sandbox::{SandboxFactory, SandboxSettings};
use quita_acquirers::sicoob::{BankRange, SicoobFactory};
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::AcquirerName;
use quita_domain::time::{Timestamp, millis_in};
use quita_ports::{AcquirerFactory, Clock, NumberRange};

use super::Site;
use quita_config::acquirer::{AcquirerConfig, AdapterConfig};

/// Configured acquirer that is ready to be called.
pub(crate) struct Link {
    adapter: Adapter,
    status: Arc<LinkStatus>,
    clock: Arc<dyn Clock>,
    configured: Mutex<AcquirerConfig>,
}

enum Adapter {
    Sandbox(Arc<SandboxFactory>),
    ApiPix(Arc<ApiPixFactory>),
    Cielo(Arc<CieloFactory>),
    Pagarme(Arc<PagarmeFactory>),
    Sicoob(Arc<SicoobFactory>),
}

/// State of the link to a provider, on this node.
#[derive(Debug, Clone)]
pub(crate) struct LinkState {
    pub(crate) acquirer: AcquirerName,
    /// Address of the provider.
    pub(crate) address: String,
    /// Expiry of our certificate, if there is one.
    pub(crate) certificate_until: Option<Timestamp>,
    /// Expiry of the access token, if there is one.
    pub(crate) token_until: Option<Timestamp>,
    pub(crate) last_success: Option<Timestamp>,
    pub(crate) last_error: Option<LinkError>,
    /// Outcome of the registration of our callback address, if this service registers it.
    pub(crate) registration: Option<RegistrationOutcome>,
}

impl Link {
    /// Creates the adapter. Nothing is sent.
    pub(crate) fn open(
        acquirer: &AcquirerConfig,
        site: &Site,
        clock: &Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let status = Arc::new(LinkStatus::of(acquirer.spec.name.clone()));
        let spec = acquirer.spec.clone();
        let own_clock = Arc::clone(clock);
        let adapter = match &acquirer.adapter {
            AdapterConfig::Sandbox(sandbox) => {
                let settle_after_ms = millis_in(sandbox.settle_after);
                let settings = SandboxSettings { settle_after_ms, ..SandboxSettings::default() };
                let secrets = site.keyring.notification_secrets(&spec.name, sandbox);
                Adapter::Sandbox(Arc::new(SandboxFactory::new(spec, settings, secrets, own_clock)))
            }
            AdapterConfig::ApiPix(api_pix) => {
                let settings = api_pix.settings(
                    site.callback_tokens(acquirer, &api_pix.callbacks),
                    &site.notifications(acquirer),
                );
                let exchange = exchange(acquirer, &status, clock)?;
                Adapter::ApiPix(Arc::new(ApiPixFactory::new(spec, settings, exchange, own_clock)))
            }
            AdapterConfig::Cielo(cielo) => {
                let exchange = exchange(acquirer, &status, clock)?;
                Adapter::Cielo(Arc::new(CieloFactory::new(spec, cielo.settings.clone(), exchange, own_clock)))
            }
            AdapterConfig::Pagarme(pagarme) => {
                let exchange = exchange(acquirer, &status, clock)?;
                let settings = pagarme.settings.clone();
                Adapter::Pagarme(Arc::new(PagarmeFactory::new(spec, settings, exchange, own_clock)))
            }
            AdapterConfig::Sicoob(sicoob) => {
                let (exchange, settings) =
                    (exchange(acquirer, &status, clock)?, site.sicoob(acquirer, sicoob));
                Adapter::Sicoob(Arc::new(SicoobFactory::new(spec, settings, exchange, own_clock)))
            }
        };
        Ok(Self { adapter, status, clock: Arc::clone(clock), configured: Mutex::new(acquirer.clone()) })
    }

    pub(crate) fn factory(&self) -> Arc<dyn AcquirerFactory> {
        match &self.adapter {
            Adapter::Sandbox(sandbox) => sandbox.clone(),
            Adapter::ApiPix(api_pix) => api_pix.clone(),
            Adapter::Cielo(cielo) => cielo.clone(),
            Adapter::Pagarme(pagarme) => pagarme.clone(),
            Adapter::Sicoob(sicoob) => sicoob.clone(),
        }
    }

    fn configured(&self) -> MutexGuard<'_, AcquirerConfig> {
        self.configured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the configuration in use.
    pub(crate) fn config(&self) -> AcquirerConfig {
        self.configured().clone()
    }

    /// Returns the state, or `None` if there is no external provider.
    pub(crate) fn state(&self) -> Option<LinkState> {
        let configured = self.configured();
        let address = configured.adapter.address()?.to_owned();
        let identity = configured.adapter.tls().and_then(|tls| tls.identity.as_ref());
        let (token_until, registration) = match &self.adapter {
            Adapter::ApiPix(api_pix) => (api_pix.token_until(), api_pix.registration()),
            Adapter::Sicoob(sicoob) => (sicoob.token_until(), sicoob.registration()),
            Adapter::Sandbox(_) | Adapter::Cielo(_) | Adapter::Pagarme(_) => (None, None),
        };
        let view = self.status.view();
        Some(LinkState {
            acquirer: configured.spec.name.clone(),
            address,
            certificate_until: identity.and_then(|identity| identity.until()),
            token_until,
            last_success: view.last_success,
            last_error: view.last_error,
            registration,
        })
    }

    /// Returns how many token requests had this outcome, or `None` if the link never requests tokens.
    pub(super) fn token_requests(&self, outcome: TokenOutcome) -> Option<u64> {
        token_url(&self.configured().adapter)?;
        Some(self.status.token_requests(outcome))
    }

    /// Registers our callback address at the bank, if that is configured. `None` if no address can be registered there.
    pub(super) async fn register_webhook(&self) -> Option<RegistrationOutcome> {
        match &self.adapter {
            Adapter::ApiPix(api_pix) => Some(api_pix.register_webhook().await),
            Adapter::Sicoob(sicoob) => Some(sicoob.register_webhook().await),
            Adapter::Sandbox(_) | Adapter::Cielo(_) | Adapter::Pagarme(_) => None,
        }
    }

    /// Returns true if the bank disables our address after failed callbacks.
    pub(super) const fn may_lose_webhook(&self) -> bool {
        match &self.adapter {
            Adapter::Sicoob(_) => true,
            Adapter::ApiPix(_) | Adapter::Sandbox(_) | Adapter::Cielo(_) | Adapter::Pagarme(_) => false,
        }
    }

    /// Prepares another configuration of the same acquirer. Changes nothing yet.
    ///
    /// # Errors
    /// Fails if no connections are possible with it, or if its certificate is a different one that has expired.
    pub(super) fn prepare(&self, acquirer: &AcquirerConfig) -> anyhow::Result<Prepared> {
        let identity = |config: &AcquirerConfig| config.adapter.tls().and_then(|tls| tls.identity.clone());
        let wanted = identity(acquirer);
        let until = wanted.as_ref().and_then(ClientIdentity::until);
        // The certificate in use may be valid for longer than its replacement.
        if let Some(until) = until.filter(|until| *until <= self.clock.now())
            && wanted != identity(&self.configured())
        {
            anyhow::bail!("acquirer {}: the new certificate has ended on {until}", acquirer.spec.name);
        }
        let exchange = match &acquirer.adapter {
            AdapterConfig::Sandbox(_) => None,
            AdapterConfig::ApiPix(_)
            | AdapterConfig::Cielo(_)
            | AdapterConfig::Pagarme(_)
            | AdapterConfig::Sicoob(_) => Some(exchange(acquirer, &self.status, &self.clock)?),
        };
        Ok(Prepared { acquirer: acquirer.clone(), exchange })
    }

    /// Uses the prepared configuration from the next call on. Calls in progress end with the one that they began with.
    pub(super) fn take(&self, Prepared { acquirer, exchange }: Prepared, site: &Site) {
        match (&self.adapter, &acquirer.adapter, exchange) {
            (Adapter::Sandbox(factory), AdapterConfig::Sandbox(sandbox), _) => {
                factory.reconfigure(site.keyring.notification_secrets(&acquirer.spec.name, sandbox));
            }
            (Adapter::ApiPix(factory), AdapterConfig::ApiPix(api_pix), Some(exchange)) => {
                let tokens = site.callback_tokens(&acquirer, &api_pix.callbacks);
                factory.reconfigure(api_pix.settings(tokens, &site.notifications(&acquirer)), exchange);
            }
            (Adapter::Cielo(factory), AdapterConfig::Cielo(cielo), Some(exchange)) => {
                factory.reconfigure(cielo.settings.clone(), exchange);
            }
            (Adapter::Pagarme(factory), AdapterConfig::Pagarme(pagarme), Some(exchange)) => {
                factory.reconfigure(pagarme.settings.clone(), exchange);
            }
            (Adapter::Sicoob(factory), AdapterConfig::Sicoob(sicoob), Some(exchange)) => {
                factory.reconfigure(site.sicoob(&acquirer, sicoob), exchange);
            }
            (
                Adapter::Sandbox(_)
                | Adapter::ApiPix(_)
                | Adapter::Cielo(_)
                | Adapter::Pagarme(_)
                | Adapter::Sicoob(_),
                _,
                _,
            ) => return,
        }
        // Recorded after the factory took it, so the state never shows an address or certificate that is not in use.
        *self.configured() = acquirer;
    }

    /// Records another priority and weight, which the routing table uses too.
    pub(super) fn note_standing(&self, priority: u32, weight: u32) {
        let mut configured = self.configured();
        (configured.spec.priority, configured.spec.weight) = (priority, weight);
    }

    /// Asks the provider about something that does not exist. The answer "unknown" proves that address, certificate and
    /// token are right, without changing anything.
    ///
    /// # Errors
    /// Fails with the reason if the answer is a different one or missing.
    pub(crate) async fn ask_something_unknown(&self) -> Result<(), String> {
        match &self.adapter {
            Adapter::Sandbox(_) => Ok(()),
            Adapter::ApiPix(api_pix) => api_pix.ask_something_unknown().await.map_err(told),
            Adapter::Cielo(cielo) => cielo.ask_something_unknown().await.map_err(told),
            Adapter::Pagarme(pagarme) => pagarme.ask_something_unknown().await.map_err(told),
            Adapter::Sicoob(sicoob) => {
                let ranges = sicoob.ranges().await.map_err(told)?;
                match sicoob.numbers() {
                    Some(numbers) => fits(numbers, &ranges),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Prepared configuration, ready to be used.
pub(super) struct Prepared {
    acquirer: AcquirerConfig,
    exchange: Option<Arc<dyn ExchangeFactory>>,
}

fn exchange(
    acquirer: &AcquirerConfig,
    status: &Arc<LinkStatus>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn ExchangeFactory>> {
    let tls = acquirer.adapter.tls().cloned().unwrap_or_default();
    let client = HttpClientFactory::new(HttpClientSettings {
        time_out: Duration::from_millis(acquirer.spec.time_out_ms),
        connections: acquirer.spec.concurrency,
        identity: tls.identity,
        authorities: tls.authorities,
    });
    let client = client.map_err(|why| anyhow::anyhow!("acquirer {}: {why}", acquirer.spec.name))?;
    let token_url = token_url(&acquirer.adapter).map(str::to_owned);
    Ok(Arc::new(Watched::new(Arc::new(client), Arc::clone(status), Arc::clone(clock), token_url)))
}

fn token_url(adapter: &AdapterConfig) -> Option<&str> {
    match adapter {
        AdapterConfig::ApiPix(api_pix) => api_pix.token_url(),
        AdapterConfig::Sicoob(sicoob) => sicoob.token_url(),
        AdapterConfig::Sandbox(_) | AdapterConfig::Cielo(_) | AdapterConfig::Pagarme(_) => None,
    }
}

/// Checks that our numbers are within the bank's ranges for its customer, and have a check digit where the bank wants
/// one. The bank lists free numbers without that digit. Those of our numbers that it has already received come before
/// its ranges.
fn fits(ours: &NumberRange, ranges: &[BankRange]) -> Result<(), String> {
    let first = u64::from(ours.first);
    let last = u64::from(ours.last);
    let mut shared = ranges.iter().filter(|range| range.first <= last && first <= range.last).peekable();
    if shared.peek().is_none() {
        let all: Vec<_> = ranges.iter().map(|range| format!("{}-{}", range.first, range.last)).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        return Err(format!("our-numbers {first}-{last} are not within the bank's ranges: {all}"));
    }
    let is_unlike = |range: &BankRange| range.has_digit != ours.digit.is_some();
    match (shared.any(is_unlike), ours.digit.is_some()) {
        (false, _) => Ok(()),
        (true, false) => {
            Err("the bank wants a check digit after each number: set our-number-digit = true, and \
                              cooperative to the number of your cooperative"
                .into())
        }
        (true, true) => {
            Err("the bank wants no check digit after its numbers: remove our-number-digit and cooperative"
                .into())
        }
    }
}

fn told(failure: CallFailure) -> String {
    match failure {
        CallFailure::NotDelivered(why) | CallFailure::Unknown(why) => why,
        CallFailure::Throttled { after_ms } => {
            format!("it wants no calls for {} s", after_ms.div_ceil(1_000))
        }
        CallFailure::Withheld => "nothing is sent to it".into(),
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::boleto::NumberDigit;

    use super::*;

    #[test]
    fn our_numbers_fit_while_the_bank_has_some_of_them_free_and_wants_the_same_digits() {
        let ours = NumberRange { key: "bank".into(), first: 1_000, last: 1_999, digit: None };
        let digit = NumberDigit::sicoob(4_027, 25_546_454).ok();
        let ours_with_digit = NumberRange { digit, ..ours.clone() };
        let range = |first, last, has_digit| BankRange { first, last, has_digit };
        for (ours, ranges, says) in [
            (&ours, vec![range(1, 9_999, false)], None),
            (&ours, vec![range(1_500, 9_999, false)], None),
            (&ours, vec![range(1, 10, true), range(1_999, 1_999, false)], None),
            (&ours, vec![range(1_500, 9_999, true)], Some("set our-number-digit = true")),
            (&ours, vec![range(2_000, 9_999, false), range(1, 999, false)], Some("ranges: 2000-9999, 1-999")),
            (&ours, vec![], Some("ranges: none")),
            (&ours_with_digit, vec![range(1, 9_999, true)], None),
            (&ours_with_digit, vec![range(1, 9_999, false)], Some("remove our-number-digit")),
        ] {
            match (fits(ours, &ranges), says) {
                (Ok(()), None) => {}
                (Err(why), Some(says)) => assert!(why.contains(says), "{why}"),
                (fits, says) => panic!("{ranges:?}: {fits:?}, and not {says:?}"),
            }
        }
    }
}
