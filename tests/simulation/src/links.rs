//! Payment links. Merchants create and close them; payers compete for their uses, give up and try another method.
//!
//! All random numbers here come from a stream of their own, so that worlds without links do not change.

mod judge;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use quita_actors::{CreatePayment, Denied, LinkPaymentError, LinkPayments, NotClosed};
use quita_domain::card::CardFingerprint;
use quita_domain::identity::{LinkId, TransactionId};
use quita_domain::link::{Link, LinkStatus, LinkTerms, LinkUses, NoUse, Offer, PayerInput};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Utm;
use quita_domain::payment::Payment;
use quita_domain::request::{PostbackPolicy, RequestLimits, parse_of_link};
use quita_domain::time::Timestamp;
use tokio::time::sleep;
use uuid::Uuid;

pub(crate) use self::judge::{check, check_stored, note_changed};

use self::judge::Watch;
use crate::chance::{Chance, Fault};
use crate::installation::Happening;
use crate::life;
use crate::node::{Node, Untold};
use crate::orders::{CARDS, PERSONS, fingerprint_of};
use crate::store::owner_of;
use crate::world::World;

/// Worlds in a thousand in which merchants create links.
pub(crate) const WORLDS: u64 = 200;

/// Number of times that a payer's or merchant's request is sent until it is answered.
const TRIES: u32 = 12;

/// Time for which a payment that was never stored may hold a use, including the rest of its second.
const NOTES_LAST: Duration = Duration::from_secs(121);

/// Time within which a node that died is restarted.
const RESTARTED_WITHIN: Duration = Duration::from_secs(1);

/// Limits that the page of a link applies.
const LIMITS: RequestLimits =
    RequestLimits { max_installments: 12, postback: PostbackPolicy::HttpsPublicOnly };

/// Links of a world.
pub(crate) struct Links {
    chance: Chance,
    watch: Mutex<Watch>,
}

impl Links {
    /// Returns a world's links before there are any.
    pub(crate) fn new(seed: u64) -> Self {
        Self { chance: Chance::new(seed.rotate_left(40) ^ 0x1_1513), watch: Mutex::default() }
    }

    async fn pass(&self, least_ms: u64, most_ms: u64) {
        sleep(Duration::from_millis(self.chance.between(least_ms, most_ms))).await;
    }
}

/// Completed form of a link's page. Sent again, it is the same payment.
#[derive(Debug, Clone, Copy)]
struct Form {
    link: LinkId,
    number: u128,
    method: Method,
    person: usize,
    card: usize,
}

/// Result of a submitted form.
#[derive(Debug)]
enum Submitted {
    Begun(Arc<Payment>),
    /// The link accepts no payment now.
    NoUse(NoUse),
    /// The payer stopped asking without an answer.
    Untold,
}

/// Lets merchants create links and payers use them, until each has reached a result or given up.
pub(crate) async fn live(world: Arc<World>) {
    if !world.installation.plan.has_links {
        return;
    }
    let mut programs = Vec::new();
    for _ in 0..world.links.chance.between(1, 2) {
        let world = Arc::clone(&world);
        programs.push(actix::spawn(async move { offer(&world).await }));
    }
    for program in programs {
        program.await.unwrap();
    }
}

/// Runs one link from its creation on.
async fn offer(world: &Arc<World>) {
    let chance = &world.links.chance;
    world.links.pass(0, 4_000).await;
    let link = link_by_chance(world);
    if !make(world, &link).await {
        return;
    }
    let mut programs = Vec::new();
    let payers = u64::from(link.offer.uses) + chance.between(1, 3);
    for _ in 0..payers {
        let world = Arc::clone(world);
        let link = link.clone();
        programs.push(actix::spawn(async move { pay(&world, &link).await }));
    }
    if chance.per_mille(350) {
        let world = Arc::clone(world);
        let link = link.clone();
        programs.push(actix::spawn(async move {
            world.links.pass(2_000, 20_000).await;
            close(&world, &link).await;
        }));
    }
    for program in programs {
        program.await.unwrap();
    }
}

fn link_by_chance(world: &World) -> Link {
    let chance = &world.links.chance;
    let possible: Vec<_> = Method::ALL
        .into_iter()
        .filter(|method| world.kinds().iter().any(|kind| kind.method() == *method))
        .collect();
    let mut methods: Vec<_> = possible.iter().copied().filter(|_| chance.per_mille(700)).collect();
    if methods.is_empty() {
        methods = possible;
    }
    let others = world.installation.plan.other_merchants;
    let owner = owner_of(if others > 0 { chance.between(0, others) } else { 0 });
    let now = world.clock.now();
    let lasts_ms = if chance.per_mille(200) { chance.between(70, 90) * 1_000 } else { 30 * 86_400_000 };
    let postback = format!("https://shop{}.example/hook", chance.between(0, 2));
    Link {
        id: LinkId::new(Uuid::from_u128(0xd_0000_0000 << 64 | u128::from(chance.any()))),
        revision: 1,
        owner,
        fingerprint: None,
        offer: Offer {
            title: "Pedido".into(),
            description: None,
            amount: Money::from_cents(chance.between(1_000, 10_000)),
            methods,
            max_installments: 1,
            uses: u32::try_from(chance.pick(&[1, 1, 1, 2, 3])).unwrap(),
            customer: None,
            success_url: None,
            due: None,
            terms: LinkTerms::default(),
            items: Vec::new(),
            shipping_fee: None,
            splits: Vec::new(),
            utm: Utm::default(),
            postback_url: chance.per_mille(700).then_some(postback),
            external_reference: None,
            metadata: std::collections::BTreeMap::new(),
        },
        created_at: now,
        expires_at: now.plus_ms(lasts_ms),
        closed_at: None,
        closings: Vec::new(),
        taken: Vec::new(),
    }
}

/// Stores a link, with retries. Returns true if that was acknowledged.
async fn make(world: &Arc<World>, link: &Link) -> bool {
    for _ in 0..TRIES {
        if let Some(node) = world.any_node() {
            let made = link.clone();
            let stored = node.parts().0;
            let inserted = node.serve(async move { stored.insert_link(&made).await }).await;
            world.note(|| format!("link {} at node {}: {inserted:?}", link.id, node.place));
            // A link that is there already was stored by a request whose reply was lost.
            if let Ok(Ok(_)) = inserted {
                world.installation.count(Happening::LinkMade);
                world.links.watch.lock().unwrap().acknowledge(world, link.id);
                return true;
            }
        }
        world.links.pass(100, 1_500).await;
    }
    false
}

/// Runs a payer who pays by one method, or gives up and tries another one.
async fn pay(world: &Arc<World>, link: &Link) {
    let chance = &world.links.chance;
    world.links.pass(0, 12_000).await;
    for _ in 0..chance.between(1, 3) {
        let form = form_by_chance(world, link);
        let twin = chance.per_mille(200).then(|| {
            let other = chance.per_mille(300).then(|| chance.pick(&link.offer.methods));
            let world = Arc::clone(world);
            let link = link.clone();
            let form = Form { method: other.unwrap_or(form.method), ..form };
            actix::spawn(async move { submit(&world, &link, form).await })
        });
        let submitted = submit(world, link, form).await;
        if let Some(twin) = twin {
            twin.await.unwrap();
        }
        match submitted {
            Submitted::Begun(payment) => {
                let has_card = payment.method() == Method::CreditCard;
                if has_card || chance.per_mille(400) {
                    return;
                }
                world.links.pass(500, 9_000).await;
                if !give_up(world, payment.id).await {
                    return;
                }
            }
            Submitted::NoUse(NoUse::Over(_)) => return,
            Submitted::NoUse(NoUse::AllHeld | NoUse::BoletosHeld | NoUse::Crowded) => {
                world.links.pass(1_000, 6_000).await;
            }
            Submitted::Untold => {}
        }
    }
}

fn form_by_chance(world: &World, link: &Link) -> Form {
    let chance = &world.links.chance;
    let pick = |count: usize| usize::try_from(chance.between(0, count as u64 - 1)).unwrap();
    Form {
        link: link.id,
        number: 0xc_0000_0000 << 64 | u128::from(chance.any()),
        method: chance.pick(&link.offer.methods),
        person: pick(PERSONS.len()),
        card: pick(CARDS.len()),
    }
}

impl Form {
    const fn id(&self) -> TransactionId {
        TransactionId::new(Uuid::from_u128(self.number))
    }

    fn typed(&self) -> PayerInput {
        let has_card = self.method == Method::CreditCard;
        PERSONS[self.person].types(has_card.then_some(self.card))
    }

    fn card_fingerprint(&self) -> Option<CardFingerprint> {
        (self.method == Method::CreditCard).then(|| fingerprint_of(self.card))
    }

    /// Returns the payment as the page requests it.
    fn new_payment(&self, link: &Link, now: Timestamp) -> CreatePayment {
        let body = link.creation_body(self.method, &self.typed(), now);
        let parsed = parse_of_link(&body, now, &LIMITS).unwrap();
        CreatePayment {
            id: self.id(),
            owner: link.owner.clone(),
            purchase: parsed.into_purchase().unwrap(),
            fingerprint: Some(format!("{:?} {}", self.method, link.id)),
            card_fingerprint: self.card_fingerprint(),
            other_card_fingerprints: Vec::new(),
            used_token: None,
            page_token: format!("token-{}", self.number),
            link: None,
        }
    }
}

/// Sends a form until it is answered.
async fn submit(world: &Arc<World>, link: &Link, form: Form) -> Submitted {
    let id = form.id();
    for _ in 0..TRIES {
        let Some(node) = world.any_node() else {
            world.links.pass(200, 1_000).await;
            continue;
        };
        world.links.watch.lock().unwrap().asked(world, id);
        let answer = begin(&node, form).await;
        world.note(|| {
            format!("link {} {} {id} at node {}: {}", link.id, form.method, node.place, brief(&answer))
        });
        match answer {
            Ok(Ok(payment)) => {
                world.tell(id, payment.state.version);
                world.installation.count(Happening::LinkPaymentBegun);
                return Submitted::Begun(payment);
            }
            Ok(Err(LinkPaymentError::NoUse(no_use))) => {
                world.installation.count(Happening::NoUseLeft);
                return Submitted::NoUse(no_use);
            }
            Ok(Err(LinkPaymentError::NoLink)) => {
                world.links.watch.lock().unwrap().not_found(world, link.id);
                return Submitted::Untold;
            }
            Ok(Err(LinkPaymentError::NotTaken(denied) | LinkPaymentError::NotCreated(denied)))
                if !denied.is_transient() =>
            {
                world.violation(format!("{id}: a good form of link {} was denied: {denied}", link.id));
                return Submitted::Untold;
            }
            Ok(Err(LinkPaymentError::NotTaken(_) | LinkPaymentError::NotCreated(_))) | Err(Untold) => {}
        }
        world.links.pass(50, 2_000).await;
    }
    Submitted::Untold
}

type Begun = Result<Arc<Payment>, LinkPaymentError<Denied>>;

/// Submits a form at one node, as the page processes it.
async fn begin(node: &Node, form: Form) -> Result<Begun, Untold> {
    let (store, clock, payments) = node.parts();
    let id = form.id();
    let method = form.method;
    let serve = async move {
        let Some(link) = store.link(form.link).await.map_err(Denied::from)? else {
            return Err(LinkPaymentError::NoLink);
        };
        if let Some(known) = payments.read(id).await? {
            return Ok(known);
        }
        let new = form.new_payment(&link, clock.now());
        let links = LinkPayments::new(payments.clone(), store);
        let create = |taken| payments.create(CreatePayment { link: Some(taken), ..new });
        match links.begin(form.link, id, method, create).await {
            Ok(created) => Ok(created.payment),
            // The same form was sent at the same time, possibly with another method.
            Err(not_begun) => match (payments.read(id).await?, &not_begun) {
                (
                    Some(known),
                    LinkPaymentError::NotCreated(Denied::KeyReused) | LinkPaymentError::NoUse(_),
                ) => Ok(known),
                (Some(_) | None, _) => Err(not_begun),
            },
        }
    };
    node.serve(serve).await
}

fn brief(answer: &Result<Begun, Untold>) -> String {
    match answer {
        Ok(Ok(payment)) => format!("{} version {}", payment.status(), payment.state.version),
        Ok(Err(not_begun)) => format!("{not_begun:?}"),
        Err(Untold) => "untold".to_owned(),
    }
}

/// Gives up a waiting payment, with retries. Returns true if it no longer waits and was not paid.
async fn give_up(world: &Arc<World>, id: TransactionId) -> bool {
    for _ in 0..TRIES {
        if let Some(node) = world.any_node() {
            let (store, _, payments) = node.parts();
            let serve = async move {
                let Some(payment) = payments.read(id).await? else { return Err(Denied::NotFound) };
                LinkPayments::new(payments, store).give_up(&payment).await
            };
            let given_up = node.serve(serve).await;
            world.note(|| format!("give up {id} at node {}: {given_up:?}", node.place));
            if let Ok(Ok(true)) = given_up {
                return judge::given_up(world, id);
            }
        }
        world.links.pass(200, 3_000).await;
    }
    false
}

/// Closes a link, with retries, and in some cases has all waiting payments cancelled.
async fn close(world: &Arc<World>, link: &Link) {
    let cancels = world.links.chance.per_mille(500);
    for _ in 0..TRIES {
        if let Some(node) = world.any_node() {
            let (store, _, payments) = node.parts();
            let id = link.id;
            let serve = async move {
                let links = LinkPayments::new(payments, Arc::<dyn quita_ports::WholeStore>::clone(&store));
                let link = store.link(id).await.map_err(Denied::from)?.ok_or(NotClosed::NoLink)?;
                let closed = links.close(link).await?;
                if cancels {
                    links.cancel_all(&closed).await?;
                }
                Ok::<_, NotClosed>(())
            };
            let closed = node.serve(serve).await;
            world
                .note(|| format!("close link {id} at node {}, cancelling {cancels}: {closed:?}", node.place));
            if let Ok(Ok(())) = closed {
                return judge::closed(world, id, cancels);
            }
        }
        world.links.pass(200, 3_000).await;
    }
}

/// Checks in calm conditions that every use left can be taken, and that no other is granted. Meanwhile, nodes that die
/// of damage from the storm are restarted.
pub(crate) async fn take_what_is_left(world: &Arc<World>) {
    let watcher = actix::spawn({
        let world = Arc::clone(world);
        async move {
            loop {
                life::restart_fallen(&world);
                sleep(RESTARTED_WITHIN).await;
            }
        }
    });
    take_all(world).await;
    watcher.abort();
}

async fn take_all(world: &Arc<World>) {
    let links: Vec<_> = world.store.lock().links.values().cloned().collect();
    for link in links {
        if !link.taken_at(world.clock.now()).is_empty() {
            sleep(NOTES_LAST).await;
        }
        let (status, left) = {
            let records = world.store.lock();
            let uses = judge::uses(&records, link.id);
            (link.status(&uses, world.clock.now()), left_of(&link, &uses))
        };
        let waits_for_days = |form: &Form| form.method == Method::Boleto;
        let forms: Vec<_> = (0..2).map(|_| form_by_chance(world, &link)).collect();
        let racers = forms.iter().copied().map(|form| {
            let world = Arc::clone(world);
            let link = link.clone();
            actix::spawn(async move { submit(&world, &link, form).await })
        });
        let racers: Vec<_> = racers.collect();
        let mut begun = 0;
        for racer in racers {
            begun += u64::from(matches!(racer.await.unwrap(), Submitted::Begun(_)));
        }
        // Boletos may take only half of what is left, and another one may have come before.
        let is_free = status == LinkStatus::Open
            && !forms.iter().any(waits_for_days)
            && !is_noted_for_long(world, &link);
        if is_free && begun < left.min(2) {
            world.violation(format!("link {} has {left} uses left, and gave {begun}", link.id));
        }
        if (status != LinkStatus::Open || left == 0) && begun > 0 {
            world
                .violation(format!("link {} is {status:?} with {left} uses left, and gave {begun}", link.id));
        }
    }
}

/// Returns true if a use counts as taken until a time that came from a clock that was ahead.
fn is_noted_for_long(world: &World, link: &Link) -> bool {
    world.faults.has_struck(Fault::ClockJumps) && !link.taken_at(world.clock.now()).is_empty()
}

fn left_of(link: &Link, uses: &LinkUses) -> u64 {
    u64::from(link.offer.uses).saturating_sub(uses.paid + uses.held)
}
