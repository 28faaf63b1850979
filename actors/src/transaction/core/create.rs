//! Creation of a payment: plans its route, answers locally if its acquirer can, and inserts it.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::ChargeAnswer;
use quita_domain::card::CardData;
use quita_domain::identity::Owner;
use quita_domain::order::{Order, Purchase};
use quita_domain::payment::{Command, Context, Decision, NewPayment, Payment};
use quita_domain::routing::{Considered, NoRoute, Routed};
use quita_ports::{StoreError, WriteError};
use tokio::time::Instant;

use super::numbers::{Allotted, ask_before_first_number};
use super::{Core, first_charge, to_be_stored};
use crate::acquirers::routing::Routes;
use crate::denied::Denied;
use crate::transaction::messages::{CreatePayment, Created};

/// Error while nothing can be routed because the operators' directives have not been read yet.
const NO_DIRECTIVES: &str = "it has not told yet which acquirers may be used";

/// Plan for a new payment, and the time of the decision.
struct Planned {
    considered: Vec<Considered>,
    routed: Routed,
    context: Context,
    decided_at: Instant,
}

impl Core {
    /// Creates the payment; the insert decides whether it existed before.
    // The future of each creation is copied into a block of its own, which is zeroed afterwards. What is rare and larger
    // than the rest is boxed, so that this block stays small.
    pub(in crate::transaction) async fn create(&mut self, new: CreatePayment) -> Result<Created, Denied> {
        if self.memory.payment().is_some() {
            self.forget_if_others_write();
            return Box::pin(self.was_there(new.fingerprint.as_deref(), new.purchase.card)).await;
        }
        // Until the directives are read once, a payment could go to an acquirer that an operator has paused.
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
                link: new.link.map(|taken| taken.link),
                considered,
                routed,
            },
            &context,
        );
        let (allotted, (next, effects), local) = {
            let (mut decision, local) = self.answer_locally(opened);
            let allotted = self.allot(&mut decision).await.map_err(Denied::StoreUnavailable)?;
            (allotted, to_be_stored(decision), local)
        };
        let next = next.ok_or(Denied::Defect("an opened payment is a change"))?;
        // Checked last: the steps before may have taken so long that another payment has the use.
        if new.link.is_some_and(|taken| Instant::now() >= taken.stored_before) {
            Allotted::give_back(allotted).await;
            return Err(Denied::Overloaded);
        }
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
                self.run(&payment, effects, decided_at);
                Ok(Created { payment, is_replay: false })
            }
            // No Pix can have come in for a new payment.
            Err(WriteError::PixTaken) => Err(Denied::Defect("an opened payment has no Pix")),
            Err(WriteError::TokenUsed) => {
                let answer = Box::pin(self.token_used(fingerprint.as_deref(), card)).await;
                self.give_back_unless_stored(allotted).await;
                answer
            }
            Err(WriteError::Conflict) if fingerprint.is_some() => {
                let answer = Box::pin(self.was_there(fingerprint.as_deref(), card)).await;
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
                Allotted::give_back(allotted).await;
                Err(Denied::StoreUnavailable(error))
            }
            // The number of the slip is not given back: the payment that has it may be stored.
            Err(WriteError::Unknown(error)) => {
                self.unsent.remember(context.op);
                Err(Denied::StoreUnavailable(error))
            }
        }
    }

    /// Plans the route of a new payment. Waits, as long as a merchant waits, for the prerequisites of the first
    /// acquirer's call. Nothing is stored yet, and an acquirer that is not ready by then is skipped.
    async fn plan(
        &self,
        routes: &Routes,
        order: &Order,
        owner: &Owner,
        has_card: bool,
    ) -> Result<Planned, NoRoute> {
        let until = Instant::now() + self.system.limits.answer_within;
        let mut prepared = Vec::new();
        let mut unready = Vec::new();
        loop {
            // The call's lease begins here, so that waiting does not use it up.
            let context = self.system.context(has_card);
            let decided_at = Instant::now();
            let left = until.saturating_duration_since(decided_at);
            let (considered, routed) = routes.plan(order, owner, &context, left, &unready)?;
            let first = considered.iter().find(|considered| considered.eligible);
            let first = first.map(|first| &first.acquirer).filter(|first| !prepared.contains(*first));
            let route = first.and_then(|first| routes.find(first, order.method));
            let numbered = route.and_then(|route| Some((route, route.numbers.as_ref()?)));
            let numbered = numbered.filter(|(_, numbers)| !numbers.are_used_up());
            if let Some((_, numbers)) = numbered {
                // If the store does not answer now, it is asked again when the number is needed.
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

    /// Answers a creation whose id is taken: the same request gets the payment, a different one is refused.
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
        let context = self.system.context(card.is_some());
        let decided_at = Instant::now();
        let mut decision = known.decide(Command::ChargeNeverLeft, &context).map_err(Denied::Refused)?;
        self.allot(&mut decision).await.map_err(Denied::StoreUnavailable)?;
        let (next, effects) = to_be_stored(decision);
        let Some(next) = next else {
            return Ok(Created { payment: Arc::clone(known), is_replay: true });
        };
        match self.persist(next, known.revision).await {
            Ok(payment) => {
                self.unsent.forget();
                self.hold_card(card);
                self.count_created(&payment);
                self.run(&payment, effects, decided_at);
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

    /// Returns the payment that took the id. A replica set may refuse a duplicate that a reader can't see yet. Then the
    /// caller must ask again, rather than be told that there is none.
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

    /// Holds the card of a charge that leaves now.
    fn hold_card(&mut self, card: Option<CardData>) {
        self.card.take(card, Instant::now() + self.system.limits.card_held_for);
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

    /// Starts the effects of a charge that was answered locally, now that it is stored. If this is lost, or the
    /// acquirer may be sent nothing, it is asked when it expects news.
    fn begin_local_charge(&self, payment: &Payment, took: Duration) {
        let Some(route) = payment.acquirer().and_then(|acquirer| self.route(payment, acquirer)) else {
            return;
        };
        route.count_local(took, &self.system.meter, self.system.clock.now());
        if let Some(local) = route.factory.local_issue().filter(|_| route.health.sends()) {
            local.stored(&payment.query());
        }
    }

    fn count_created(&self, payment: &Payment) {
        self.system.meter.created.with_label_values(&[payment.method().label()]).inc();
    }
}

/// Answers a repeated creation: the same request gets the payment, a different one is refused.
fn replay(known: &Arc<Payment>, fingerprint: Option<&str>) -> Result<Created, Denied> {
    if fingerprint.is_some() && known.fingerprint.as_deref() == fingerprint {
        Ok(Created { payment: Arc::clone(known), is_replay: true })
    } else {
        Err(Denied::KeyReused)
    }
}
