//! Banks: they keep books of what they really did, whatever they answer.

mod entry;
mod notify;
mod payer;
mod teller;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use quita_domain::acquiring::{Charge, ChargeQuery, OperationAnswer, Reference};
use quita_domain::identity::{AcquirerName, Mode, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::routing::DueDates;
use quita_ports::AcquirerSpec;

pub(crate) use self::entry::{Entry, Holding};
pub(crate) use self::notify::strange_notice;
pub(crate) use self::payer::LONGEST_TRANSIT_MS;
pub(crate) use self::teller::NodeBank;
use crate::world::{Manner, World};

/// Longest time for an answer of a bank, in milliseconds.
pub(crate) const TIME_OUT_MS: u64 = 5_000;
/// Longest time for which an inquiry may wait to be sent.
const QUESTION_WAITS: Duration = Duration::from_secs(15);

/// Bank of a world, and its books.
pub(crate) struct Bank {
    spec: AcquirerSpec,
    manner: Manner,
    books: Mutex<BTreeMap<TransactionId, Entry>>,
    /// Charges that a faulty service would send again.
    sent: Mutex<BTreeMap<TransactionId, Charge>>,
}

impl Bank {
    /// Returns the state of a refund in the books by our id, if the bank keeps those.
    pub(crate) fn became_of_refund(
        &self,
        world: &World,
        id: TransactionId,
        refund: &Operation,
    ) -> Option<OperationAnswer> {
        if self.manner.knows_sums_only {
            return None;
        }
        let mut books = self.books();
        let entry = books.get_mut(&id)?;
        entry.pass_to(world.clock.now());
        Some(entry.became_by_id(refund))
    }

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
            rate: None,
            max_expiry_s: None,
            due_dates: DueDates::ALL,
            hint_gap_ms: 2_000,
        };
        Self { spec, manner, books: Mutex::default(), sent: Mutex::default() }
    }

    pub(crate) const fn name(&self) -> &AcquirerName {
        &self.spec.name
    }

    /// Returns true if a card that is sent twice is charged twice.
    pub(crate) const fn forgets_keys(&self) -> bool {
        self.manner.forgets_keys
    }

    /// Returns true if answers have only sums, while notices name each refund.
    pub(crate) const fn tells_refunds_twice(&self) -> bool {
        self.manner.knows_sums_only
    }

    /// Returns the books.
    pub(crate) fn books(&self) -> MutexGuard<'_, BTreeMap<TransactionId, Entry>> {
        self.books.lock().unwrap()
    }

    /// Returns the bank's reference for a charge: a name of its own.
    pub(crate) fn reference(&self, id: TransactionId) -> Reference {
        Reference::none().with("id", &format!("{}-{}", self.name(), id.uuid().simple()))
    }

    /// Returns a charge as it is entered in the books.
    pub(crate) fn entry(&self, query: &ChargeQuery, holding: Holding) -> Entry {
        let mut entry = Entry::new(query, holding, self.reference(query.id));
        entry.gives_back_disputed = self.manner.gives_back_disputed;
        entry.says_how_it_ended = self.manner.says_how_it_ended;
        entry
    }

    /// Returns the payment whose charge has this reference.
    pub(crate) fn identify(&self, reference: &Reference) -> Option<TransactionId> {
        self.books().keys().copied().find(|id| self.reference(*id) == *reference)
    }
}

/// Checks that an inquiry about a charge uses the name that the bank gave it. A name learnt while the inquiry waited
/// may be missing.
pub(crate) fn check_reference(world: &World, bank: &AcquirerName, query: &ChargeQuery) {
    if world.installation.was_set_back(query.id) {
        return;
    }
    let place = query.attempt.index().unwrap();
    let known = world.store.referenced_since(query.id, place).is_some_and(|at| at.elapsed() > QUESTION_WAITS);
    if known && query.reference.is_empty() {
        world.violation(format!("{}: {bank} did not get its reference back", query.id));
    }
}

/// Checks that a request for a charge that has left has a durable intent.
pub(crate) fn check_intent(world: &World, bank: &AcquirerName, query: &ChargeQuery) {
    let id = query.id;
    if world.installation.was_set_back(id) {
        return;
    }
    let intended = world.store.payment(id).is_some_and(|payment| {
        payment.attempt(query.attempt).is_some_and(|attempt| attempt.acquirer == *bank)
    });
    if !intended {
        world.violation(format!("{id}: a charge left for {bank} before it was stored"));
    }
}
