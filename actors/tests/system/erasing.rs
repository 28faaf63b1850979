//! Erasing payers in steps, while others write the same payments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::TransactionId;
use quita_domain::payment::{NewPayment, Payment};
use quita_domain::routing::{Considered, Routed};
use quita_domain::status::Status;
use quita_memory_store::{Connection, Direct, MemoryStore, NoAuditLog, Records};
use quita_ports::{PaymentStore, StoreError, Write, WriteError};
use quita_services::erasure::{Eraser, ErasureTally};

use crate::chance::{START, TestClock, TestIds};
use crate::orders;

/// Records of which another writer is faster, so many times in a row.
#[derive(Default)]
struct Raced {
    records: Direct,
    races: AtomicUsize,
}

impl Connection for Raced {
    async fn read<T: Send>(
        &self,
        call: &'static str,
        query: impl FnOnce(&Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.records.read(call, query).await
    }

    async fn change<T: Send>(
        &self,
        call: &'static str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        self.records.change(call, change).await
    }

    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let is_raced =
            self.races.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if is_raced.is_ok() {
            let first = batch[0].payment.id;
            let faster = self.records.change("race", move |records| {
                let known = records.payments.get_mut(&first).unwrap();
                Arc::make_mut(known).revision += 1;
                Ok(())
            });
            faster.await.unwrap();
        }
        self.records.commit(batch).await
    }

    fn is_sole_writer(&self) -> bool {
        false
    }
}

fn payment(number: u128, status: Status) -> Payment {
    let new = orders::pix(number);
    let acquirer = quita_domain::identity::AcquirerName::new("bank");
    let context = quita_domain::payment::Context::plain(START, uuid::Uuid::from_u128(number));
    let new = NewPayment {
        id: new.id,
        owner: new.owner,
        order: new.purchase.order,
        fingerprint: None,
        card_fingerprint: None,
        used_token: None,
        page_token: new.page_token,
        link: None,
        considered: vec![Considered { acquirer, eligible: true, reason: "eligible".into() }],
        routed: Routed::default(),
    };
    let mut payment = Payment::open(new, &context).next.unwrap();
    Arc::make_mut(&mut payment.state).status = status;
    payment
}

/// A store with these payments, and what erases in it.
async fn stage(payments: &[Payment], races: usize) -> (Arc<MemoryStore<Raced>>, Eraser) {
    let connection = Arc::new(Raced::default());
    let store = Arc::new(MemoryStore::over(Arc::clone(&connection)));
    for payment in payments {
        let write = Write { payment: Arc::new(payment.clone()), expected_revision: 0 };
        assert_eq!(store.commit(&[write]).await, [Ok(())]);
    }
    connection.races.store(races, Ordering::SeqCst);
    let clock = Arc::new(TestClock::default());
    let ids = Arc::new(TestIds::default());
    let eraser = Eraser::new(store.clone(), Arc::new(NoAuditLog), clock, ids, 0);
    (store, eraser)
}

async fn is_erased(store: &MemoryStore<Raced>, id: TransactionId) -> bool {
    store.load(&[id]).await.unwrap()[0].is_erased()
}

fn tally(erased: u64, not_finished: u64, left: u64) -> ErasureTally {
    ErasureTally { erased, not_finished, left, ..ErasureTally::default() }
}

#[tokio::test(start_paused = true)]
async fn a_payment_that_others_write_is_erased_as_they_left_it() {
    let one = payment(1, Status::Declined);
    let (store, eraser) = stage(std::slice::from_ref(&one), 3).await;
    let (_, done) = eraser.erase(one.id).await.unwrap().unwrap();
    assert_eq!(done, tally(1, 0, 0));
    let stored = store.load(&[one.id]).await.unwrap().pop().unwrap();
    assert_eq!((stored.is_erased(), stored.revision), (true, one.revision + 4));
    let (_, again) = eraser.erase(one.id).await.unwrap().unwrap();
    assert_eq!(again, ErasureTally { erased_before: 1, ..ErasureTally::default() });
    assert_eq!(eraser.erase(orders::id(99)).await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn one_that_others_write_all_the_time_is_left_and_counted_and_keeps_no_other() {
    let one = payment(1, Status::Declined);
    let other = payment(2, Status::Declined);
    let (store, eraser) = stage(&[one.clone(), other.clone()], 1_000).await;
    let document = Document::parse("52998224725", DocumentType::Cpf).unwrap();
    let page = eraser.erase_page_of(&document, None).await.unwrap();
    assert_eq!((page.tally, page.next), (tally(1, 0, 1), None));
    assert!(is_erased(&store, one.id).await != is_erased(&store, other.id).await);
}

#[tokio::test(start_paused = true)]
async fn a_person_is_erased_step_by_step_and_steps_go_on_where_they_ended() {
    let payments: Vec<_> = (0..250)
        .map(|number| payment(number, if number < 240 { Status::Expired } else { Status::Pending }))
        .collect();
    let (store, eraser) = stage(&payments, 0).await;
    let document = Document::parse("52998224725", DocumentType::Cpf).unwrap();
    let counted = eraser.clone().that_only_counts();
    let first = counted.erase_page_of(&document, None).await.unwrap();
    assert_eq!(first.tally.erased + first.tally.not_finished, 100);
    assert!(!is_erased(&store, payments[0].id).await, "it only counted");
    // The process ends after its first step, and another one begins anew.
    let first = eraser.erase_page_of(&document, None).await.unwrap();
    assert!(first.next.is_some());
    let mut place = None;
    let mut sum = first.tally;
    let mut steps = 0;
    loop {
        let page = eraser.erase_page_of(&document, place).await.unwrap();
        (sum, place, steps) = (sum.plus(page.tally), page.next, steps + 1);
        if place.is_none() {
            break;
        }
    }
    assert_eq!((sum.erased, steps), (240, 2), "what was done is not found again");
}
