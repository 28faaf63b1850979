//! Core of a transaction: load, decide, persist, apply.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::{ChargeAnswer, Identified, Reference};
use quita_domain::card::{CardData, CardFingerprint};
use quita_domain::delivery::{Confirmation, DeliveryState};
use quita_domain::identity::{AcquirerName, Mode, Owner, TransactionId};
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::order::{Order, Purchase};
use quita_domain::payment::{
    Command, Context, Decision, Discrepancy, DiscrepancyKind, Effect, NewPayment, Payment, Refusal,
};
use quita_domain::routing::{CardTries, Considered, NoRoute, Routed};
use quita_domain::status::Status;
use quita_domain::time::millis_in;
use quita_ports::{StoreError, WriteError};
use tokio::time::{Instant, timeout};

use super::card_in_hand::CardInHand;
use super::confirmed::Confirmed;
use super::effects;
use super::hold::Hold;
use super::memory::Memory;
use super::messages::{Asker, CreatePayment, Created, Executed};
use super::unsent::Unsent;
use crate::acquirers::call::Identify;
use crate::acquirers::our_numbers::OurNumbers;
use crate::acquirers::routing::{Route, Routes};
use crate::denied::{Denied, warn_unless_away};
use crate::system::parts::SystemParts;

/// Error while nothing is routed, because the operators' directives have not been read yet.
const NO_DIRECTIVES: &str = "it has not told yet which acquirers may be used";

/// Time for the bank's answer before the first number of a process. Without it, answers to charges reveal numbers in use.
const FIRST_NUMBER_WITHIN: Duration = Duration::from_secs(2);

/// Number of times a decision is made again because another writer was faster.
const MAX_CONFLICTS: u32 = 16;

/// Plan for a new payment, and the time of the decision.
struct Planned {
    considered: Vec<Considered>,
    routed: Routed,
    context: Context,
    decided_at: Instant,
}

/// Number that a charge was given before it is stored.
struct Allotted {
    numbers: Arc<OurNumbers>,
    number: u32,
}

impl Allotted {
    /// Gives the number back, which certainly no payment has.
    async fn give_back(self) {
        self.numbers.give_back(self.number).await;
    }
}

/// Asks the acquirer of a route, once, if it knows the first number of this process. Returns true if it was asked now.
async fn ask_before_first_number(route: &Route, numbers: &OurNumbers) -> bool {
    let is_known = async |number: u32| {
        let reference = Reference::none().with(Reference::OUR_NUMBER, &number.to_string());
        match route.slot.mailbox().ask(Identify(reference)).await {
            Ok(Identified::Payment(_) | Identified::Unknown) => true,
            Ok(Identified::NotFound | Identified::Failed(_)) | Err(_) => false,
        }
    };
    let asked = timeout(FIRST_NUMBER_WITHIN, numbers.ask_before_first(is_known)).await;
    asked.map_or(true, |asked| asked.unwrap_or_default())
}

/// One payment as it is stored, and the card that may still have to be charged.
pub(super) struct Core {
    id: TransactionId,
    system: Arc<SystemParts>,
    memory: Memory,
    card: CardInHand,
    /// Fingerprints of that card under other secret keys in use than the payment's.
    other_fingerprints: Vec<CardFingerprint>,
    unsent: Unsent,
    confirmed: Confirmed,
    /// Last inquiry that was made without being stored.
    asked: Option<Instant>,
}

impl Core {
    pub(super) fn new(id: TransactionId, system: Arc<SystemParts>, hold: Hold) -> Self {
        let memory = Memory::new(id, Arc::clone(&system.books), Arc::clone(&system.published));
        let (unsent, confirmed) = (Unsent::new(hold.clone()), Confirmed::new(hold.clone()));
        let card = CardInHand::new(hold);
        Self { id, system, memory, card, other_fingerprints: Vec::new(), unsent, confirmed, asked: None }
    }

    /// Returns the copy in memory, without asking the store.
    pub(super) const fn payment(&self) -> Option<&Arc<Payment>> {
        self.memory.payment()
    }

    /// Drops the copy in memory: the next message reads the store.
    pub(super) fn forget(&mut self) {
        self.memory.forget();
    }

    /// Returns the current payment, from memory or from the store.
    pub(super) async fn current(&mut self) -> Result<Arc<Payment>, Denied> {
        if let Some(payment) = self.memory.payment() {
            return Ok(Arc::clone(payment));
        }
        self.memory.begin();
        let found = self.system.books.load(self.id).await?.ok_or(Denied::NotFound)?;
        self.memory.hold(&found);
        Ok(found)
    }

    /// Creates the payment; the insert decides whether it existed before.
    pub(super) async fn create(&mut self, new: CreatePayment) -> Result<Created, Denied> {
        if self.memory.payment().is_some() {
            self.forget_if_others_write();
            return self.was_there(new.fingerprint.as_deref(), new.purchase.card).await;
        }
        if !self.system.directives.are_known_within(self.system.limits.write_time_out).await {
            return Err(Denied::StoreUnavailable(StoreError::Unavailable(NO_DIRECTIVES.into())));
        }
        let Purchase { order, card } = new.purchase;
        let routes = self.system.routes.get().ok_or(Denied::Stopping)?;
        let planned = self.plan(routes, &order, &new.owner, card.is_some()).await;
        let Planned { considered, routed, context, decided_at } = match planned {
            Ok(planned) => planned,
            Err(no_route) => return self.known_without_route(new.fingerprint, no_route).await,
        };
        let fingerprint = new.fingerprint;
        self.other_fingerprints = new.other_card_fingerprints;
        let opened = Payment::open(
            NewPayment {
                id: self.id,
                owner: new.owner,
                order,
                fingerprint: fingerprint.clone(),
                card_fingerprint: new.card_fingerprint.filter(|_| routes.count_tries()),
                used_token: new.used_token.clone(),
                page_token: new.page_token,
                link: new.link,
                considered,
                routed,
            },
            &context,
        );
        let (mut decision, local) = self.answer_locally(opened);
        let allotted = self.allot(&mut decision).await.map_err(Denied::StoreUnavailable)?;
        let Some(next) = decision.next else { return Err(Denied::Defect("an opened payment is a change")) };
        match self.persist(next, 0).await {
            Ok(payment) => {
                self.unsent.forget();
                self.hold_card(card);
                self.count_created(&payment);
                self.count_events(&payment, 0);
                self.count_tries(None, &payment);
                if let Some(took) = local {
                    self.begin_local_charge(&payment, took);
                }
                self.run(&payment, decision.effects, decided_at);
                Ok(Created { payment, is_replay: false })
            }
            // Nothing came in for a payment that is new.
            Err(WriteError::PixTaken) => Err(Denied::Defect("an opened payment has no Pix")),
            Err(WriteError::TokenUsed) => {
                let answer = self.token_used(fingerprint.as_deref(), card).await;
                self.give_back_unless_stored(allotted).await;
                answer
            }
            Err(WriteError::Conflict) if fingerprint.is_some() => {
                let answer = self.was_there(fingerprint.as_deref(), card).await;
                self.give_back_unless_stored(allotted).await;
                answer
            }
            Err(WriteError::Conflict) => {
                // The id was fresh: the write that seemed to be lost was ours.
                let known = self.taken().await?;
                self.count_created(&known);
                Ok(Created { payment: known, is_replay: false })
            }
            Err(WriteError::NotWritten(error)) => {
                if let Some(allotted) = allotted {
                    allotted.give_back().await;
                }
                Err(Denied::StoreUnavailable(error))
            }
            Err(WriteError::Unknown(error)) => {
                self.unsent.remember(context.op);
                Err(Denied::StoreUnavailable(error))
            }
        }
    }

    /// Plans the route of a new payment. Waits, as long as a merchant waits, for the prerequisites of the first
    /// acquirer's call. Nothing is stored at that time, and an acquirer that is not ready by then is passed over.
    async fn plan(
        &self,
        routes: &Routes,
        order: &Order,
        owner: &Owner,
        has_card: bool,
    ) -> Result<Planned, NoRoute> {
        let until = Instant::now() + self.system.limits.answer_within;
        let (mut prepared, mut unready) = (Vec::new(), Vec::new());
        loop {
            // The call's lease begins with this, so that no waiting uses it up.
            let (context, decided_at) = (self.system.context(has_card), Instant::now());
            let left = until.saturating_duration_since(decided_at);
            let (considered, routed) = routes.plan(order, owner, &context, left, &unready)?;
            let first = considered.iter().find(|considered| considered.eligible);
            let first = first.map(|first| &first.acquirer).filter(|first| !prepared.contains(*first));
            let route = first.and_then(|first| routes.find(first, order.method));
            let numbered = route.and_then(|route| Some((route, route.numbers.as_ref()?)));
            let numbered = numbered.filter(|(_, numbers)| !numbers.are_used_up());
            if let Some((_, numbers)) = numbered {
                // A store that does not answer now is asked again when the number is needed.
                numbers.look().await.ok();
                if numbers.are_used_up() {
                    continue;
                }
            }
            let lacking = route.and_then(|route| route.factory.preparation());
            let lacking = lacking.filter(|lacking| !lacking.is_ready());
            if let Some((route, numbers)) = numbered.filter(|_| lacking.is_none())
                && ask_before_first_number(route, numbers).await
            {
                continue;
            }
            match (first.cloned(), lacking) {
                (Some(first), Some(lacking)) => {
                    let gone_through =
                        if lacking.prepare(until).await { &mut prepared } else { &mut unready };
                    gone_through.push(first);
                }
                (_, None) | (None, _) => return Ok(Planned { considered, routed, context, decided_at }),
            }
        }
    }

    /// Answers a creation whose id is taken: the same request gets the payment, another one is refused.
    async fn was_there(
        &mut self,
        fingerprint: Option<&str>,
        card: Option<CardData>,
    ) -> Result<Created, Denied> {
        let known = self.taken().await?;
        let replayed = replay(&known, fingerprint)?;
        if self.unsent.is(&known) { self.go_on(&known, card).await } else { Ok(replayed) }
    }

    /// Answers a creation whose token another payment has used. That may be this one, if its first write seemed lost.
    async fn token_used(
        &mut self,
        fingerprint: Option<&str>,
        card: Option<CardData>,
    ) -> Result<Created, Denied> {
        match (self.current().await, fingerprint) {
            (Err(Denied::NotFound), _) => Err(Denied::TokenUsed),
            (Err(denied), _) => Err(denied),
            (Ok(_), Some(_)) => self.was_there(fingerprint, card).await,
            (Ok(known), None) => Ok(Created { payment: known, is_replay: false }),
        }
    }

    /// Continues a creation that was stored without this process knowing: its charge leaves now, with the card of this
    /// request. If another writer was faster, the payment has already been continued elsewhere.
    async fn go_on(&mut self, known: &Arc<Payment>, card: Option<CardData>) -> Result<Created, Denied> {
        let (context, decided_at) = (self.system.context(card.is_some()), Instant::now());
        let mut decision = known.decide(Command::ChargeNeverLeft, &context).map_err(Denied::Refused)?;
        self.allot(&mut decision).await.map_err(Denied::StoreUnavailable)?;
        let Some(next) = decision.next else {
            return Ok(Created { payment: Arc::clone(known), is_replay: true });
        };
        match self.persist(next, known.revision).await {
            Ok(payment) => {
                self.unsent.forget();
                self.hold_card(card);
                self.count_created(&payment);
                self.run(&payment, decision.effects, decided_at);
                Ok(Created { payment, is_replay: false })
            }
            Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => {
                self.memory.forget();
                Ok(Created { payment: self.taken().await?, is_replay: true })
            }
            Err(WriteError::NotWritten(error)) => Err(self.store_is_away(error)),
            Err(WriteError::Unknown(error)) => {
                self.unsent.remember(context.op);
                Err(self.store_is_away(error))
            }
        }
    }

    fn store_is_away(&mut self, error: StoreError) -> Denied {
        self.memory.forget();
        Denied::StoreUnavailable(error)
    }

    /// Holds the card of a charge that leaves now.
    fn hold_card(&mut self, card: Option<CardData>) {
        self.card.take(card, Instant::now() + self.system.limits.card_held_for);
    }

    /// Returns the payment that took the id. A replica set may refuse a duplicate that a reader can't see yet. Then the
    /// caller has to ask again, and must not be told that there is none.
    async fn taken(&mut self) -> Result<Arc<Payment>, Denied> {
        match self.current().await {
            Err(Denied::NotFound) => {
                let why = String::from("a payment that is stored can't be read yet");
                Err(Denied::StoreUnavailable(StoreError::Unavailable(why)))
            }
            known => known,
        }
    }

    /// Answers a creation for which there is no route. A payment already created under the key is still a replay.
    async fn known_without_route(
        &mut self,
        fingerprint: Option<String>,
        no_route: NoRoute,
    ) -> Result<Created, Denied> {
        if fingerprint.is_none() {
            return Err(no_route.into());
        }
        match self.current().await {
            Ok(known) => replay(&known, fingerprint.as_deref()),
            Err(Denied::NotFound) => Err(no_route.into()),
            Err(denied) => Err(denied),
        }
    }

    /// Puts an acquirer's answer into the first write, if the acquirer answers without outside effects. Returns how
    /// long the answer took, if there was one.
    fn answer_locally(&self, opened: Decision) -> (Decision, Option<Duration>) {
        let begun = Instant::now();
        let charge = opened.next.as_ref().zip(first_charge(&opened.effects));
        let answered = charge.and_then(|(payment, acquirer)| {
            let query = payment.query();
            let fact = self.route(payment, acquirer)?.factory.local_issue()?.issue(&query)?;
            let answer = ChargeAnswer::known(fact);
            let command = Command::ChargeAnswered { attempt: query.attempt, answer };
            payment.decide(command, &self.system.context(false)).ok()
        });
        match answered.filter(|answered| answered.next.is_some()) {
            Some(answered) => (answered, Some(begun.elapsed())),
            None => (opened, None),
        }
    }

    /// Gives the charge that a decision sends the number of its slip, if its acquirer leaves that to us. It is stored with
    /// the charge, so that a charge of unknown outcome is asked for by it. Without one left, the charge fails there.
    async fn allot(&self, decision: &mut Decision) -> Result<Option<Allotted>, StoreError> {
        self.note_foreign_number(decision).await;
        let Some(acquirer) = first_charge(&decision.effects) else { return Ok(None) };
        let Some(payment) = decision.next.as_mut().filter(|payment| payment.lacks_number()) else {
            return Ok(None);
        };
        let Some(numbers) = self.route(payment, acquirer).and_then(|route| route.numbers.as_ref()) else {
            return Ok(None);
        };
        let Some(number) = numbers.next().await? else { return Ok(None) };
        payment.allot(number);
        Ok(Some(Allotted { numbers: Arc::clone(numbers), number }))
    }

    /// Notes a number that turned out to be somebody else's at the acquirer of the charge.
    async fn note_foreign_number(&self, decision: &Decision) {
        let is_taken = |known: &&Discrepancy| known.kind == DiscrepancyKind::NumberTaken;
        let taken = decision.discrepancies.iter().find(is_taken);
        let number = taken.and_then(|known| known.about.as_deref()?.parse().ok());
        let (Some(number), Some(payment)) = (number, &decision.next) else { return };
        let route = payment.acquirer().and_then(|acquirer| self.route(payment, acquirer));
        if let Some(numbers) = route.and_then(|route| route.numbers.as_ref()) {
            numbers.was_foreign(number).await;
        }
    }

    /// Gives back the number of a creation that another write was faster than, unless the payment that is stored has it:
    /// that is this creation, whose write seemed to be lost.
    async fn give_back_unless_stored(&self, allotted: Option<Allotted>) {
        let (Some(allotted), Some(known)) = (allotted, self.memory.payment()) else { return };
        if known.state.attempts.iter().all(|attempt| attempt.our_number != Some(allotted.number)) {
            allotted.give_back().await;
        }
    }

    /// Starts the effects of a charge that was answered locally, now that it is stored. If this is lost, or nothing may
    /// be sent there, the acquirer is asked when it expects news.
    fn begin_local_charge(&self, payment: &Payment, took: Duration) {
        let Some(route) = payment.acquirer().and_then(|acquirer| self.route(payment, acquirer)) else {
            return;
        };
        route.count_local(took, &self.system.meter, self.system.clock.now());
        if let Some(local) = route.factory.local_issue().filter(|_| route.health.sends()) {
            local.stored(&payment.query());
        }
    }

    fn route(&self, payment: &Payment, acquirer: &AcquirerName) -> Option<&Route> {
        self.system.routes.get()?.find(acquirer, payment.method())
    }

    /// Drops the copy in memory if it may be stale because other nodes write.
    fn forget_if_others_write(&mut self) {
        if self.system.books.may_be_stale(self.id) {
            self.memory.forget();
        }
    }

    /// Returns the payment if its acquirer may be asked about it now because it hinted, without a write before. Whoever
    /// asks has the answer stored before the acquirer is told that its hint was taken.
    pub(super) async fn may_inquire(
        &mut self,
        acquirer: &AcquirerName,
    ) -> Result<Option<Arc<Payment>>, Denied> {
        // The question names what other nodes have learnt of the charge.
        self.forget_if_others_write();
        let payment = self.current().await?;
        let context = self.context_of(&payment, false);
        if !payment.may_be_inquired_about(acquirer, &context) {
            return Ok(None);
        }
        self.asked = Some(Instant::now());
        Ok(Some(payment))
    }

    /// Executes a command. A confirmation may have to wait for the next one.
    pub(super) async fn execute(&mut self, asker: &Asker, command: Command) -> Result<Executed, Denied> {
        match self.keep_for_later(&command) {
            Some(executed) => Ok(executed),
            None => self.change(asker, command).await,
        }
    }

    /// Decides on the stored state, and again if another writer was faster.
    ///
    /// A write detects a stale copy by its guard. A decision that refuses or changes nothing makes no write, so it is
    /// repeated on the state in the store.
    async fn change(&mut self, asker: &Asker, command: Command) -> Result<Executed, Denied> {
        let mut looked_up = Vec::new();
        for _ in 0..MAX_CONFLICTS {
            let was_known = self.memory.payment().is_some();
            let payment = self.current().await?;
            let context = self.context_for(&payment, &command).await;
            let decided_at = Instant::now();
            let decision = match asker.may_see(&payment) {
                true => {
                    let confirmed = self.confirmed.waiting();
                    payment.decide_with(confirmed, command.clone(), &context).map_err(Denied::Refused)
                }
                false => Err(Denied::NotFound),
            };
            if was_known && decision.as_ref().map_or(true, |decision| decision.next.is_none()) {
                self.forget_if_others_write();
                if self.memory.payment().is_none() {
                    continue;
                }
            }
            let mut decision = decision?;
            // Money of another payment is no second payment of this one: giving it back would take it from there.
            decision.stray_pix.retain(|pix| !looked_up.contains(pix));
            looked_up.extend_from_slice(&decision.stray_pix);
            if self.note_taken(payment.owner.mode, std::mem::take(&mut decision.stray_pix)).await? {
                continue;
            }
            if begins_refund(&command, &decision) && !self.refunds(&payment) {
                return Err(Denied::Refused(Refusal::RefundUnsupported));
            }
            self.allot(&mut decision).await.map_err(|error| self.store_is_away(error))?;
            let (unstored, source, operation) = (decision.unstored, command.source(), decision.operation);
            let calls_acquirer = decision.effects.iter().any(calls_acquirer);
            let is_replay = decision.is_replay;
            let is_changed = decision.next.is_some();
            let executed = |payment| Executed {
                payment,
                unstored,
                source,
                operation,
                is_replay,
                is_changed,
                calls_acquirer,
            };
            let Some(next) = decision.next else { return Ok(executed(payment)) };
            let new_pix = next.pix_bound_since(&payment).to_vec();
            match self.persist(next, payment.revision).await {
                Ok(stored) => {
                    self.confirmed.forget();
                    self.count_events(&stored, payment.history.len());
                    self.count_given_up(&stored, &payment);
                    self.count_tries(Some(&payment), &stored);
                    self.run(&stored, decision.effects, decided_at);
                    return Ok(executed(stored));
                }
                Err(WriteError::Conflict | WriteError::TokenUsed) => self.memory.forget(),
                Err(WriteError::PixTaken) => {
                    self.memory.forget();
                    self.note_taken(payment.owner.mode, new_pix).await.map(drop)?;
                }
                Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => {
                    self.memory.forget();
                    return Err(Denied::StoreUnavailable(error));
                }
            }
        }
        Err(Denied::Overloaded)
    }

    /// Notes which of these Pix belong to another payment. One whose payment can't be read yet is tried again. Returns
    /// true if there is one.
    async fn note_taken(&mut self, mode: Mode, new_pix: Vec<String>) -> Result<bool, Denied> {
        let mut is_any_taken = false;
        for pix in new_pix {
            let holder = self.system.books.payment_of_pix(mode, &pix).await;
            let holder = holder.map_err(Denied::StoreUnavailable)?;
            if let Some(other) = holder.filter(|holder| *holder != self.id) {
                let command = Command::PixTaken { pix, other };
                // It binds nothing, so this goes no deeper.
                let executed = Box::pin(self.change(&Asker::Service, command)).await?;
                self.system.exceptions.report_all(&executed);
                is_any_taken = true;
            }
        }
        Ok(is_any_taken)
    }

    /// Keeps a confirmation without further effects, to be stored with the next write.
    fn keep_for_later(&mut self, command: &Command) -> Option<Executed> {
        let Command::DeliveryAnswered { delivery, attempt } = command else { return None };
        if self.system.commands.is_stopping() {
            return None;
        }
        // It is in memory: the claim of this delivery was stored a moment ago.
        let payment = Arc::clone(self.memory.payment()?);
        let new = Confirmation { delivery: *delivery, attempt: attempt.clone() };
        let may_wait = payment.may_wait(self.confirmed.waiting(), &new, self.system.clock.now())?;
        if let Some(lease) = may_wait.then {
            if !self.is_alone() {
                return None;
            }
            effects::deliver_under(&self.system, &payment, lease);
        }
        let long = payment.awaits_payer().then(|| self.system.long_waits.begin()).flatten();
        self.confirmed.keep(new, long);
        Some(Executed::without_change(payment, command.source()))
    }

    /// Returns true if no other process works on the store.
    fn is_alone(&self) -> bool {
        self.system.books.store.is_sole_writer() || self.system.known_nodes.are_none()
    }

    /// Returns the time after which a waiting confirmation must be stored, if there is one.
    pub(super) fn stores_confirmed_after(&self) -> Option<Duration> {
        let payment = self.memory.payment().map(Arc::as_ref);
        self.confirmed.stored_after(payment, self.system.clock.now(), self.is_alone())
    }

    /// Stores confirmations for which no other write came. Returns the number of confirmations that could not be
    /// stored.
    pub(super) async fn store_confirmed(&mut self) -> u64 {
        // One write stores them all. Only if another process has stored the last one does it take a second.
        while let Some(last) = self.confirmed.take_last() {
            let Confirmation { delivery, attempt } = last.clone();
            match self.change(&Asker::Service, Command::DeliveryAnswered { delivery, attempt }).await {
                Ok(executed) => self.system.exceptions.report_all(&executed),
                Err(denied) if self.confirmed.is_too_old() => {
                    let unstored = self.confirmed.waiting().len().saturating_add(1);
                    warn_unless_away!(denied, transaction.id = %self.id, error = %denied, "a confirmation could not be stored; its event is sent again");
                    self.confirmed.forget();
                    return u64::try_from(unstored).unwrap_or(u64::MAX);
                }
                Err(_) => {
                    self.confirmed.put_back(last);
                    return u64::try_from(self.confirmed.waiting().len()).unwrap_or(u64::MAX);
                }
            }
        }
        self.confirmed.forget();
        0
    }

    /// Returns true if the payment's acquirer gives its money back. One that is not configured any more may do so later.
    fn refunds(&self, payment: &Payment) -> bool {
        let route = payment.acquirer().and_then(|acquirer| self.route(payment, acquirer));
        route.is_none_or(|route| route.factory.refunds(payment.method()))
    }

    /// Returns the inputs of a decision, which depend on the acquirer that has the charge, and perhaps on how often its
    /// card was tried.
    async fn context_for(&mut self, payment: &Payment, command: &Command) -> Context {
        let card_at_hand = self.card.get().is_some();
        let card_tries = match payment.card_to_count(command, card_at_hand) {
            Some(card) => self.count_tries_so_far(card).await,
            None => None,
        };
        Context { card_tries, ..self.context_of(payment, card_at_hand) }
    }

    /// Returns the same without counting tries.
    fn context_of(&self, payment: &Payment, card_at_hand: bool) -> Context {
        let fresh = self.system.context(card_at_hand);
        let asked_at = self.asked.map(|asked| fresh.now.minus_ms(millis_in(asked.elapsed())));
        let context = Context { asked_at, ..fresh };
        match payment.acquirer().and_then(|acquirer| self.route(payment, acquirer)) {
            Some(route) => Context {
                operates_in_turn: route.factory.operates_in_turn(),
                charge_name: route.factory.charge_name(),
                refund_shows_after_ms: route.factory.refund_shows_after_ms(payment.method()),
                hint_gap_ms: route.spec().hint_gap_ms,
                // An acquirer inside this process changes nothing by itself.
                reads_approved: route.factory.local_issue().is_none(),
                looks_at_paid: route.factory.looks_at_paid(payment.method()),
                states_cost: route.factory.states_cost(),
                ..context
            },
            // The acquirer is no longer configured, and may identify operations by their amounts alone. Until it is
            // back, they are sent one after the other.
            None => Context { operates_in_turn: true, ..context },
        }
    }

    /// Returns how often a card was tried, under any secret key; `None` if the store does not count it in time.
    async fn count_tries_so_far(&self, card: &CardFingerprint) -> Option<CardTries> {
        let now = self.system.clock.now();
        let mut tries = self.system.books.card_tries(card, now).await?;
        for other in self.other_fingerprints.iter().filter(|other| *other != card) {
            tries = tries.plus(self.system.books.card_tries(other, now).await?);
        }
        Some(tries)
    }

    /// Stores the payment, and only then keeps it as the copy in memory.
    async fn persist(&mut self, next: Payment, expected_revision: u64) -> Result<Arc<Payment>, WriteError> {
        let next = Arc::new(next);
        self.memory.begin();
        self.system.books.commit(Arc::clone(&next), expected_revision).await?;
        self.memory.hold(&next);
        Ok(next)
    }

    fn run(&mut self, payment: &Arc<Payment>, effects: Vec<Effect>, decided_at: Instant) {
        for effect in effects {
            effects::run(&self.system, payment, (effect, decided_at), self.card.get());
        }
        if payment.status() != Status::Initial {
            self.card.release();
        }
    }

    /// Drops a card that was held for too long, whatever the message was.
    pub(super) fn drop_expired_card(&mut self) {
        self.card.get();
    }

    fn count_created(&self, payment: &Payment) {
        self.system.meter.created.with_label_values(&[payment.method().label()]).inc();
    }

    fn count_events(&self, payment: &Payment, known: usize) {
        let acquirer = payment.acquirer().map_or("none", |name| name.as_str());
        for event in payment.history.iter().skip(known).filter(|event| event.refund.is_none()) {
            let labels = [payment.method().label(), acquirer, event.status.as_str()];
            self.system.meter.payments.with_label_values(&labels).inc();
        }
    }

    /// Counts ended charges for each acquirer's approval rate, on the node that asked for them.
    fn count_tries(&self, before: Option<&Payment>, after: &Payment) {
        if let Some(routes) = self.system.routes.get() {
            routes.count_ended(before, after);
        }
    }

    fn count_given_up(&self, payment: &Payment, before: &Payment) {
        let given_up = exhausted(payment).saturating_sub(exhausted(before));
        self.system.meter.webhook_exhausted.inc_by(given_up);
    }
}

/// Deliveries that were given up.
fn exhausted(payment: &Payment) -> u64 {
    let given_up = payment.outbox.iter().filter(|delivery| delivery.state == DeliveryState::Exhausted);
    u64::try_from(given_up.count()).unwrap_or(u64::MAX)
}

/// Returns true if a merchant's refund is begun, and not found under its key.
const fn begins_refund(command: &Command, decision: &Decision) -> bool {
    match command {
        Command::Operate(OperationRequest { requested: RequestedOperation::Refund(_), .. }) => {
            decision.next.is_some() && !decision.is_replay
        }
        Command::Operate(_)
        | Command::ChargeAnswered { .. }
        | Command::Inquired { .. }
        | Command::Notified { .. }
        | Command::Hinted { .. }
        | Command::OperationAnswered { .. }
        | Command::OperationInquired { .. }
        | Command::OperationResolved { .. }
        | Command::ChargeResolved { .. }
        | Command::MismatchEnded
        | Command::DeliveryAnswered { .. }
        | Command::Deliver { .. }
        | Command::Redeliver { .. }
        | Command::Wake
        | Command::InquireNow
        | Command::Reported(_)
        | Command::PixTaken { .. }
        | Command::ChargeNeverLeft => false,
    }
}

const fn calls_acquirer(effect: &Effect) -> bool {
    match effect {
        Effect::Charge(_) | Effect::Inquire(..) | Effect::Operate(..) | Effect::InquireOperation(..) => true,
        Effect::Deliver(_) | Effect::Report => false,
    }
}

fn first_charge(effects: &[Effect]) -> Option<&AcquirerName> {
    effects.iter().find_map(|effect| match effect {
        Effect::Charge(name) => Some(name),
        Effect::Inquire(..)
        | Effect::Operate(..)
        | Effect::InquireOperation(..)
        | Effect::Deliver(_)
        | Effect::Report => None,
    })
}

/// Answers a repeated creation: the same request gets the payment, another one is refused.
fn replay(known: &Arc<Payment>, fingerprint: Option<&str>) -> Result<Created, Denied> {
    if fingerprint.is_some() && known.fingerprint.as_deref() == fingerprint {
        Ok(Created { payment: Arc::clone(known), is_replay: true })
    } else {
        Err(Denied::KeyReused)
    }
}
