//! Factory of the adapters of one customer, one for each thread. It holds their shared credential with its token.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::CallFailure;
use quita_domain::method::Method;
use quita_domain::order::Order;
use quita_domain::time::Timestamp;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, Clock, ListReader, LocalIssue, NoticeReader, NumberRange,
    Preparation,
};
use serde_json::Value;
use tokio::time::Instant;

use super::adapter::Sicoob;
use super::link::{Credential, Link};
use super::lists::{Movements, Orders};
use super::notices::SicoobNotices;
use super::registration;
use super::settings::SicoobSettings;
use crate::api_pix::RegistrationOutcome;
use crate::api_pix::lenient::whole;
use crate::bearer::Answer;
use crate::exchange::ExchangeFactory;

/// Factory of the adapters of one customer of Sicoob.
pub struct SicoobFactory {
    spec: AcquirerSpec,
    numbers: NumberRange,
    clock: Arc<dyn Clock>,
    current: Arc<Current>,
    notices: SicoobNotices,
    registration: Mutex<Option<RegistrationOutcome>>,
    orders: Orders,
}

/// The credential with which new calls begin.
pub(super) struct Current(RwLock<Arc<Credential>>);

impl Current {
    pub(super) fn credential(&self) -> Arc<Credential> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Range of numbers, as stated by the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankRange {
    /// First number.
    pub first: u64,
    /// Last number.
    pub last: u64,
    /// True if each number of the range is followed by a check digit that the customer computes.
    pub has_digit: bool,
}

impl SicoobFactory {
    /// Creates the factory of a customer with this configuration, reached through these exchanges. Sends nothing.
    pub fn new(
        spec: AcquirerSpec,
        settings: SicoobSettings,
        exchange: Arc<dyn ExchangeFactory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let SicoobSettings { customer, portfolio, our_numbers: (first, last), .. } = settings;
        let digit = settings.number_digit.clone();
        // Numbers with a digit differ from those without.
        let suffix = if digit.is_some() { " digit" } else { "" };
        // The key contains everything that makes numbers distinct at the bank, so that two counters never give out the
        // same one.
        let key = format!("sicoob {customer} {portfolio} {first}{suffix}");
        let numbers = NumberRange { key, first, last, digit };
        let credential = Credential::new(settings, exchange, Arc::clone(&clock), spec.time_out_ms);
        let current = Arc::new(Current(RwLock::new(Arc::new(credential))));
        let notices = SicoobNotices::new(Arc::clone(&current));
        Self {
            spec,
            numbers,
            clock,
            current,
            notices,
            registration: Mutex::default(),
            orders: Orders::default(),
        }
    }

    /// Uses other secrets and exchanges from the next call on; calls under way keep the old ones.
    pub fn reconfigure(&self, settings: SicoobSettings, exchange: Arc<dyn ExchangeFactory>) {
        let credential = Credential::new(settings, exchange, Arc::clone(&self.clock), self.spec.time_out_ms);
        *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(credential);
    }

    /// Returns the expiry of the token in use; `None` if there is no token, or it does not expire.
    pub fn token_until(&self) -> Option<Timestamp> {
        self.current.credential().bearer.tokens.until()
    }

    /// Registers our address for the bank's callbacks, if configured, and keeps the outcome.
    pub async fn register_webhook(&self) -> RegistrationOutcome {
        let outcome = registration::register(&Link::open(self.current.credential())).await;
        *self.registration.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.clone());
        outcome
    }

    /// Returns the outcome of the last registration, if there was any.
    pub fn registration(&self) -> Option<RegistrationOutcome> {
        self.registration.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the bank for the ranges of numbers that it leaves to the customer. An answer proves that address,
    /// certificate, token and contract are right. Nothing is changed.
    ///
    /// # Errors
    /// The reason why there are none.
    pub async fn ranges(&self) -> Result<Vec<BankRange>, CallFailure> {
        match Link::open(self.current.credential()).ranges().await? {
            Answer::Success(answer) => Ok(read_ranges(&answer)),
            Answer::NotFound(why) | Answer::Refused(why) => Err(CallFailure::Unknown(why)),
        }
    }
}

fn read_ranges(answer: &Value) -> Vec<BankRange> {
    let entries = crate::api_pix::lenient::list(answer, "resultado").iter();
    let read = entries.filter_map(|entry| {
        let digit = "validaDigitoVerificadorNossoNumero";
        Some(BankRange {
            first: whole(entry, "numeroInicial")?,
            last: whole(entry, "numeroFinal")?,
            // A number in the bank's model; a boolean means the same.
            has_digit: whole(entry, digit) == Some(1) || entry.get(digit) == Some(&Value::Bool(true)),
        })
    });
    read.collect()
}

#[async_trait(?Send)]
impl Preparation for SicoobFactory {
    fn held_for(&self) -> Option<Duration> {
        self.current.credential().bearer.tokens.held_for()
    }

    fn is_ready(&self) -> bool {
        self.current.credential().bearer.tokens.is_there()
    }

    async fn prepare(&self, latest: Instant) -> bool {
        let credential = self.current.credential();
        let exchange = credential.exchanges.open();
        credential.bearer.tokens.prepare(exchange.as_ref(), latest).await
    }
}

impl AcquirerFactory for SicoobFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    fn account(&self) -> String {
        let credential = self.current.credential();
        let SicoobSettings { base_url, client_id, customer, account, portfolio, .. } = &credential.settings;
        format!("{base_url} {client_id} {customer} {account} {portfolio}")
    }

    fn charge_account(&self) -> Option<String> {
        let SicoobSettings { customer, account, .. } = &self.current.credential().settings;
        Some(format!("sicoob {customer} {account}"))
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(Sicoob::new(Arc::clone(&self.current)))
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        Some(self)
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(&self.notices)
    }

    fn operates_in_turn(&self) -> bool {
        false
    }

    fn charge_name(&self) -> Option<&'static str> {
        None
    }

    fn refund_shows_after_ms(&self, _: Method) -> u64 {
        0
    }

    fn refunds(&self, _: Method) -> bool {
        // A boleto has no refund at the bank: its money is returned by other means.
        false
    }

    fn looks_at_paid(&self, _: Method) -> bool {
        false
    }

    fn states_cost(&self) -> bool {
        false
    }

    fn objection(&self, _: &Order) -> Option<&'static str> {
        None
    }

    fn numbers(&self) -> Option<&NumberRange> {
        Some(&self.numbers)
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        let credential = self.current.credential();
        let has_lists = credential.settings.lists;
        has_lists.then(|| -> Rc<dyn ListReader> {
            let link = Rc::new(Link::open_for_files(credential));
            let acquirer = self.spec.name.clone();
            Rc::new(Movements { link, acquirer, orders: Arc::clone(&self.orders) })
        })
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_check_digit_is_read_as_a_number_and_as_a_boolean() {
        for (digit, expected) in [
            (json!(1), true),
            (json!(true), true),
            (json!("1"), true),
            (json!(0), false),
            (json!(false), false),
        ] {
            let range = json!({
                "numeroInicial": 1, "numeroFinal": 9, "validaDigitoVerificadorNossoNumero": digit,
            });
            let read = read_ranges(&json!({ "resultado": [range] }));
            assert_eq!(read, [BankRange { first: 1, last: 9, has_digit: expected }], "{digit}");
        }
    }
}
