//! Counterparties that nodes reach through the adapters' own code, over one HTTP exchange.

pub(crate) mod api_pix;
pub(crate) mod cielo;
mod courier;
mod listing;
pub(crate) mod pagarme;
mod payer;
pub(crate) mod sicoob;
mod till;
pub(crate) mod view;
mod watched;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use quita_acquirers::exchange::{Request, Verb};
use quita_banks::Reply;
use quita_domain::acquiring::{OperationAnswer, RemovedBy};
use quita_domain::identity::{AcquirerName, Mode, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::payment::Payment;
use quita_domain::routing::DueDates;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec, Clock};

use self::courier::Letter;
pub(crate) use self::listing::{Received, Returned, Slip};
use self::till::{Act, Till};
use self::view::View;
use self::watched::Watched;
use self::wire::Wire;
use crate::account::Account;
use crate::bank::Holding;
use crate::chance::Fault;
use crate::node::Fuse;
use crate::world::World;

/// Pix key of our merchant.
pub(crate) const OUR_KEY: &str = "123e4567-e12b-12d1-a456-426655440000";
/// Pix key of another merchant at the same bank.
pub(crate) const FOREIGN_KEY: &str = "9f0b7c1e-5a52-4c1f-8f3e-2d6b1a7c9e10";

/// Kind of a counterparty: the adapter that speaks to it, and its behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trade {
    ApiPix(api_pix::Ways),
    Cielo(cielo::Ways),
    Pagarme(pagarme::Ways),
    Sicoob(sicoob::Ways),
}

/// A counterparty and its books.
pub(crate) struct Provider {
    spec: AcquirerSpec,
    trade: Trade,
    till: Mutex<Box<dyn Till>>,
    /// Facts about each payment that only the world knows.
    marks: Mutex<BTreeMap<TransactionId, Marks>>,
    /// Payments whose last void or capture was answered as failed.
    failures: Mutex<BTreeSet<TransactionId>>,
}

/// Facts about a payment that only the world knows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks {
    /// State in the books when it was last looked at.
    holding: Option<Holding>,
    is_odd: bool,
    /// True if the bank's lists alone show the odd money.
    is_listed_alone: bool,
    is_late: bool,
    may_be_contradicted: bool,
    removed_by: Option<RemovedBy>,
    was_captured_at_the_desk: bool,
    sums_moved: bool,
    chargebacks: u32,
    /// True if something happened that the service would never ask about: its notices are not lost.
    must_be_told: bool,
    /// True if all its notices are lost from now on.
    is_untold: bool,
}

impl Provider {
    pub(crate) fn new(place: usize, trade: Trade) -> Self {
        let (spec, till) = match trade {
            Trade::ApiPix(ways) => api_pix::open(place, ways),
            Trade::Cielo(ways) => cielo::open(place, ways),
            Trade::Pagarme(ways) => pagarme::open(place, ways),
            Trade::Sicoob(ways) => sicoob::open(place, ways),
        };
        Self { spec, trade, till: Mutex::new(till), marks: Mutex::default(), failures: Mutex::default() }
    }

    pub(crate) const fn spec(&self) -> &AcquirerSpec {
        &self.spec
    }

    pub(crate) const fn name(&self) -> &AcquirerName {
        &self.spec.name
    }

    /// Returns true if a sale that is sent again is made again.
    pub(crate) const fn forgets_keys(&self) -> bool {
        matches!(self.trade, Trade::Cielo(_))
    }

    /// Returns the adapter of one node.
    pub(crate) fn factory(
        self: &Arc<Self>,
        world: &Arc<World>,
        fuse: &Arc<Fuse>,
        clock: Arc<dyn Clock>,
    ) -> Arc<dyn AcquirerFactory> {
        let world = Arc::clone(world);
        let fuse = Arc::clone(fuse);
        let provider = Arc::clone(self);
        let wire = Wire::new(&world, &fuse, &provider);
        let adapter = match self.trade {
            Trade::ApiPix(_) => api_pix::factory(&self.spec, Arc::new(wire), clock),
            Trade::Cielo(_) => cielo::factory(&self.spec, Arc::new(wire), clock),
            Trade::Pagarme(_) => pagarme::factory(&self.spec, Arc::new(wire), clock),
            Trade::Sicoob(ways) => sicoob::factory(&self.spec, ways, Arc::new(wire), clock),
        };
        Arc::new(Watched { world, fuse, provider, adapter })
    }

    /// Returns the state of a payment now, by its books and the world's marks, if the books have it.
    pub(crate) fn account(&self, world: &World, id: TransactionId) -> Option<Account> {
        let account = self.till.lock().unwrap().account(id, world.clock.now().millis())?;
        let marks = self.marks(id);
        Some(Account {
            is_odd: account.is_odd || marks.is_odd,
            is_listed_alone: marks.is_listed_alone,
            is_late: marks.is_late,
            removed_by: marks.removed_by.or(account.removed_by),
            was_captured_at_the_desk: marks.was_captured_at_the_desk,
            sums_moved: marks.sums_moved,
            may_be_contradicted: account.may_be_contradicted || marks.may_be_contradicted,
            chargebacks: marks.chargebacks,
            ..account
        })
    }

    /// Returns the state of a refund in its books by our id, if it keeps those.
    pub(crate) fn became_of_refund(
        &self,
        world: &World,
        id: TransactionId,
        refund: &Operation,
    ) -> Option<OperationAnswer> {
        self.till.lock().unwrap().became_of_refund(id, refund, world.clock.now().millis())
    }

    /// Returns the payments whose money it has.
    pub(crate) fn paid(&self, world: &World) -> Vec<TransactionId> {
        self.till.lock().unwrap().paid(world.clock.now().millis())
    }

    /// Returns its view of what it has, if it simulates one.
    pub(crate) fn view(&self) -> View {
        match self.trade {
            Trade::ApiPix(ways) => ways.view,
            Trade::Cielo(_) | Trade::Pagarme(_) | Trade::Sicoob(_) => View::default(),
        }
    }

    /// Returns true if incoming money is found although no notice reports it.
    fn finds_what_came_in(&self, id: TransactionId) -> bool {
        self.till.lock().unwrap().lists_truly(id)
    }

    /// Returns true if later changes of paid money are found weeks later without a notice. Lists show them, or cards
    /// are looked at again.
    fn finds_what_comes_later(&self, world: &World, id: TransactionId) -> bool {
        let is_card = world.store.payment(id).is_some_and(|one| one.method() == Method::CreditCard);
        match self.trade {
            Trade::ApiPix(_) => self.finds_what_came_in(id),
            Trade::Cielo(_) | Trade::Pagarme(_) => is_card,
            // A boleto is never given back.
            Trade::Sicoob(_) => false,
        }
    }

    /// Returns all that came in, if it has lists of that.
    pub(crate) fn received(&self, world: &World) -> Option<Vec<Received>> {
        self.till.lock().unwrap().received(world.clock.now().millis())
    }

    fn marks(&self, id: TransactionId) -> Marks {
        self.marks.lock().unwrap().get(&id).copied().unwrap_or_default()
    }

    fn asked(&self, id: TransactionId) -> Money {
        self.till.lock().unwrap().asked(id)
    }

    fn left(&self, world: &World, id: TransactionId) -> Money {
        self.till.lock().unwrap().left(id, world.clock.now().millis())
    }

    fn expires_at(&self, id: TransactionId) -> Timestamp {
        self.till.lock().unwrap().expires_at(id)
    }

    /// Performs an action outside the API. Returns true if it was done.
    fn act(
        self: &Arc<Self>,
        world: &Arc<World>,
        id: TransactionId,
        act: Act,
        mark: impl FnOnce(&mut Marks),
    ) -> bool {
        let is_done = self.till.lock().unwrap().act(id, act, world.clock.now().millis());
        world.note(|| format!("{}: {act:?} of {id}: {is_done}", self.name()));
        if is_done {
            world.note_movement();
            let holding = self.account(world, id).map(|account| account.holding);
            let mut marks = self.marks.lock().unwrap();
            let marks = marks.entry(id).or_default();
            mark(marks);
            marks.sums_moved |= matches!(act, Act::GiveBack { .. } | Act::Void | Act::Capture { .. });
            marks.holding = holding;
        }
        self.send_notices(world);
        is_done
    }

    /// Handles a request that has arrived.
    fn handle(self: &Arc<Self>, world: &Arc<World>, request: &Request) -> Reply {
        let (reply, touched) = {
            let mut till = self.till.lock().unwrap();
            till.prepare(world, request);
            let reply = till.handle(&as_it_comes_in(request), world.clock.now().millis());
            let touched = if request.verb == Verb::Get { None } else { till.touched(request) };
            (reply, touched)
        };
        self.note_failure(request, &reply);
        if let Some(id) = touched {
            self.look_at(world, id);
        }
        self.send_notices(world);
        reply
    }

    /// Handles a card request that arrives after its payment was given up. If the payment was not given up, the request
    /// is lost.
    fn take_very_late(self: &Arc<Self>, world: &Arc<World>, id: TransactionId, request: &Request) {
        use quita_domain::status::Status;
        let is_given_up = world.store.payment(id).is_some_and(|payment| {
            payment.status() == Status::Declined && payment.acquirer() == Some(self.name())
        });
        if !is_given_up || self.account(world, id).is_some() {
            return;
        }
        world.note(|| format!("{} takes {id} very late", self.name()));
        {
            let mut marks = self.marks.lock().unwrap();
            let marks = marks.entry(id).or_default();
            (marks.is_late, marks.must_be_told) = (true, true);
        }
        drop(self.handle(world, request));
    }

    /// Starts the people who act on a charge whose state has changed.
    fn look_at(self: &Arc<Self>, world: &Arc<World>, id: TransactionId) {
        let Some(holding) = self.account(world, id).map(|account| account.holding) else { return };
        let known = self.marks.lock().unwrap().entry(id).or_default().holding.replace(holding);
        if known != Some(holding) {
            world.note(|| format!("{} holds {id} {holding:?}", self.name()));
            payer::after(world, self, id, holding);
            if known.is_none() && world.strikes(Fault::NoticeForged) {
                let forged = self.till.lock().unwrap().forged(world, Some(id));
                courier::deliver(world, self, forged, world.chance.between(1, 20_000));
            }
        }
    }

    /// Sends the notices that are due by now.
    pub(crate) fn send_notices(self: &Arc<Self>, world: &Arc<World>) {
        let letters: Vec<_> = {
            let mut till = self.till.lock().unwrap();
            let notices = till.counterparty().notices(world.clock.now().millis());
            notices.into_iter().map(|notice| till.letter(notice)).collect()
        };
        if !letters.is_empty() {
            world.note_movement();
        }
        for letter in letters {
            let subject = self.till.lock().unwrap().subject(&letter);
            let marks = subject.map(|id| self.marks(id)).unwrap_or_default();
            if marks.is_untold {
                continue;
            }
            let must_be_told = marks.must_be_told;
            let is_listed = subject.is_some_and(|id| self.till.lock().unwrap().lists_truly(id));
            if is_listed && world.strikes(Fault::OnlyListed) {
                continue;
            }
            courier::send(world, self, &letter, must_be_told);
            if world.strikes(Fault::NoticeForged) {
                let forged = self.till.lock().unwrap().forged(world, subject);
                courier::deliver(world, self, forged, world.chance.between(1, 20_000));
            }
        }
    }

    /// Sends a notice that has no cause here.
    pub(crate) fn forge_notice(self: &Arc<Self>, world: &Arc<World>) {
        let forged = self.till.lock().unwrap().forged(world, None);
        courier::deliver(world, self, forged, 20);
    }

    /// Returns true if a notice is about a payment that it has.
    fn knows(&self, letter: &Letter) -> bool {
        self.till.lock().unwrap().subject(letter).is_some()
    }

    fn is_for_a_token(&self, request: &Request) -> bool {
        self.till.lock().unwrap().is_for_a_token(request)
    }

    fn arrives_within_ms(&self, request: &Request) -> Option<u64> {
        self.till.lock().unwrap().arrives_within_ms(request)
    }

    /// Learns which charge of a payment counts for the service, if there are several.
    pub(crate) fn learn_counted(&self, payment: &Payment) {
        let attempts = payment.state.attempts.iter().rev();
        let mut here = attempts.filter(|attempt| attempt.acquirer == *self.name());
        if let Some(name) = here.find_map(|attempt| attempt.reference.get("paymentId")) {
            self.till.lock().unwrap().count(payment.id, name);
        }
    }

    /// Notes a void or capture that was answered as failed.
    fn note_failure(&self, request: &Request, reply: &Reply) {
        let Reply::Answer { response, .. } = reply else { return };
        let body: serde_json::Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let code =
            body.get("ReturnCode").map(|code| code.as_str().map_or_else(|| code.to_string(), String::from));
        let failed = code.is_some_and(|code| !["0", "00", "4", "6", "9"].contains(&code.as_str()));
        let touched = self.till.lock().unwrap().touched(request);
        if let Some(id) = touched.filter(|_| request.verb == Verb::Put && failed) {
            self.failures.lock().unwrap().insert(id);
        }
    }

    /// Returns true, once, if the last void or capture of a payment was answered as failed.
    pub(crate) fn take_failure(&self, id: TransactionId) -> bool {
        self.failures.lock().unwrap().remove(&id)
    }

    fn only_authorises(&self, request: &Request) -> Option<TransactionId> {
        self.till.lock().unwrap().only_authorises(request)
    }
}

fn spec(name: String, methods: Vec<Method>, time_out_ms: u64) -> AcquirerSpec {
    AcquirerSpec {
        name: AcquirerName::new(name),
        mode: Mode::Test,
        methods,
        priority: 1,
        weight: 1,
        min_amount: Money::from_cents(1),
        max_amount: Money::from_cents(100_000_000),
        concurrency: 64,
        time_out_ms,
        rate: None,
        max_expiry_s: None,
        due_dates: DueDates::ALL,
        hint_gap_ms: 2_000,
    }
}

/// Returns a request as its counterparty sees it.
fn as_it_comes_in(request: &Request) -> quita_banks::Request {
    let (path, query) = wire::path(request).split_once('?').unwrap_or((wire::path(request), ""));
    let host = request.url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let headers = request.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    quita_banks::Request {
        method: request.verb.as_str().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers.chain([("host".to_owned(), host.to_owned())]).collect(),
        body: request.body.to_vec(),
        certificate: None,
    }
}
