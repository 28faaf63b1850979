//! A slow connection to the in-memory store, for tests of the actors in front of a store.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::{Actor, Context};
use prometheus::Registry;
use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner, TransactionId};
use quita_domain::payment::{Context as Circumstances, NewPayment, Payment};
use quita_domain::time::Timestamp;
use quita_memory_store::{Connection, MemoryStore, Records};
use quita_ports::{Clock, PaymentStore, StoreError, Write, WriteError};
use serde_json::{from_value, json};
use tokio::time::sleep;
use uuid::Uuid;

use crate::actor::kind::ActorKind;
use crate::actor::mailbox::{Mailbox, leave_bound_to_mailbox};
use crate::actor::meter::Alive;
use crate::watch::meter::Meter;

/// Duration of every call.
pub(crate) const TAKES: Duration = Duration::from_millis(10);

/// A connection on which every call takes a while, and which records the calls.
#[derive(Default)]
pub(crate) struct SlowConnection {
    pub(crate) records: Mutex<Records>,
    /// The payments of each call.
    pub(crate) calls: Mutex<Vec<Vec<u128>>>,
    pub(crate) is_broken: Mutex<bool>,
}

impl SlowConnection {
    async fn called(&self, ids: impl Iterator<Item = TransactionId>) {
        self.calls.lock().unwrap().push(ids.map(|id| id.uuid().as_u128()).collect());
        sleep(TAKES).await;
    }
}

impl Connection for SlowConnection {
    async fn read<T: Send>(
        &self,
        _: &'static str,
        query: impl FnOnce(&Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        query(&self.records.lock().unwrap())
    }

    async fn change<T: Send>(
        &self,
        _: &'static str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        change(&mut self.records.lock().unwrap())
    }

    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.called(batch.iter().map(|write| write.payment.id)).await;
        if *self.is_broken.lock().unwrap() {
            let broken = WriteError::NotWritten(StoreError::Broken("no sync".into()));
            return vec![Err(broken); batch.len()];
        }
        let mut records = self.records.lock().unwrap();
        batch.iter().map(|write| records.write(write)).collect()
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.called(ids.iter().copied()).await;
        Ok(self.records.lock().unwrap().load(ids))
    }

    fn is_sole_writer(&self) -> bool {
        true
    }
}

/// Returns the store that this connection leads to.
pub(crate) fn store_over(connection: &Arc<SlowConnection>) -> Arc<dyn PaymentStore> {
    Arc::new(MemoryStore::over(Arc::clone(connection)))
}

struct Midnight;

impl Clock for Midnight {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }
}

/// Returns the meter of a system without actors.
pub(crate) fn meter() -> Arc<Meter> {
    let clock: Arc<dyn Clock> = Arc::new(Midnight);
    Meter::new(&Registry::new(), &clock).unwrap()
}

/// Starts one actor alone.
pub(crate) fn start<A: Actor<Context = Context<A>>>(
    meter: &Meter,
    kind: ActorKind,
    actor: impl FnOnce(Alive) -> A,
) -> Mailbox<A> {
    let actor = actor(meter.of(kind).alive());
    let address = A::create(|context| {
        leave_bound_to_mailbox(context);
        actor
    });
    Mailbox::new(address, meter.of(kind), 100)
}

/// Returns the id of the payment with this number.
pub(crate) fn id(number: u128) -> TransactionId {
    TransactionId::new(Uuid::from_u128(number))
}

/// Returns a payment that no acquirer took.
pub(crate) fn payment(number: u128) -> Payment {
    let address = json!({
        "street": "Rua Augusta", "number": "100", "neighborhood": "Centro", "city": "São Paulo", "state": "SP",
        "zipCode": "01304000",
    });
    let payer = json!({
        "firstName": "Maria", "lastName": "Silva", "document": "52998224725", "email": "maria@example.com",
        "phone": "11987654321", "address": address,
    });
    let terms = json!({ "kind": "pix", "expiresInS": 3_600 });
    let order = json!({ "method": "PIX", "amount": 10_000, "payer": payer, "terms": terms });
    let new = NewPayment {
        id: id(number),
        owner: Owner {
            merchant: MerchantId::new("demo"),
            application: ApplicationName::new("default"),
            mode: Mode::Test,
        },
        order: from_value(order).unwrap(),
        fingerprint: None,
        card_fingerprint: None,
        used_token: None,
        page_token: String::new(),
        link: None,
        considered: Vec::new(),
        routed: quita_domain::routing::Routed::default(),
    };
    let circumstances = Circumstances {
        now: Midnight.now(),
        dice: 0,
        op: Uuid::from_u128(number),
        card_at_hand: false,
        operates_in_turn: false,
        charge_name: None,
        refund_shows_after_ms: 0,
        hint_gap_ms: 2_000,
        reads_approved: false,
        looks_at_paid: false,
        card_tries: None,
    };
    Payment::open(new, &circumstances).next.unwrap()
}
