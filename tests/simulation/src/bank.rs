//! Banks: they hold books of what they really did, whatever their answers say.

mod entry;
mod notify;
mod payer;
mod teller;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use quita_domain::acquiring::Charge;
use quita_domain::identity::{AcquirerName, Mode, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_ports::AcquirerSpec;

pub(crate) use self::entry::{Entry, Holding};
pub(crate) use self::notify::strange_notice;
pub(crate) use self::teller::NodeBank;
use crate::world::{Manner, World};

/// How long a bank may take for an answer.
pub(crate) const TIME_OUT_MS: u64 = 5_000;

/// One bank and its books.
pub(crate) struct Bank {
    spec: AcquirerSpec,
    manner: Manner,
    books: Mutex<BTreeMap<TransactionId, Entry>>,
    /// Charges that a service which errs would send again.
    sent: Mutex<BTreeMap<TransactionId, Charge>>,
}

impl Bank {
    pub(crate) fn new(place: usize, manner: Manner) -> Self {
        let spec = AcquirerSpec {
            name: AcquirerName::new(format!("bank{place}")),
            mode: Mode::Test,
            methods: vec![Method::Pix, Method::Boleto, Method::CreditCard],
            priority: 1,
            weight: 1,
            min_amount: Money::from_cents(1),
            max_amount: Money::from_cents(100_000_000),
            concurrency: 64,
            time_out_ms: TIME_OUT_MS,
        };
        Self { spec, manner, books: Mutex::default(), sent: Mutex::default() }
    }

    pub(crate) const fn name(&self) -> &AcquirerName {
        &self.spec.name
    }

    /// The books.
    pub(crate) fn books(&self) -> MutexGuard<'_, BTreeMap<TransactionId, Entry>> {
        self.books.lock().unwrap()
    }

    /// A request for a charge has left: its intent must be durable by now.
    pub(crate) fn check_intent(&self, world: &World, charge: &Charge) {
        let id = charge.query.id;
        let intended = world.store.payment(id).is_some_and(|payment| {
            let attempt = usize::try_from(charge.query.attempt).unwrap() - 1;
            payment.state.attempts.get(attempt).is_some_and(|attempt| attempt.acquirer == *self.name())
        });
        if !intended {
            world.violation(format!("{id}: a charge left for {} before it was stored", self.name()));
        }
    }
}
