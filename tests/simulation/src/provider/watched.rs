//! Adapter of a node, watched. Its calls must be stored, wanted and allowed. Deliberate mistakes that the adapter would
//! make are made around it.

use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Identified, NoticeContent, OperationAnswer, Reference,
};
use quita_domain::method::Method;
use quita_domain::operation::Operation;
use quita_domain::order::Order;
use quita_domain::time::Timestamp;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, ChargeReader, ListPage, ListPart, ListReader, LocalIssue,
    NoticeHead, NoticeReader, NoticeRefused, NumberRange, PageCursor, Period, Preparation, RawNotice,
    call_time,
};
use tokio::time::Instant;

use super::{Provider, cielo};
use crate::bank::{check_intent, check_reference};
use crate::node::{CallUnderWay, Fuse};
use crate::planted::{self, Mistake};
use crate::world::World;

/// Factory of watched adapters, and the adapters that it builds.
pub(super) struct Watched {
    pub(super) world: Arc<World>,
    pub(super) fuse: Arc<Fuse>,
    pub(super) provider: Arc<Provider>,
    pub(super) adapter: Arc<dyn AcquirerFactory>,
}

impl AcquirerFactory for Watched {
    fn spec(&self) -> &AcquirerSpec {
        self.adapter.spec()
    }

    fn account(&self) -> String {
        self.adapter.account()
    }

    fn charge_account(&self) -> Option<String> {
        // The providers of a world share one configuration, but have separate books.
        let account = self.adapter.charge_account()?;
        Some(format!("{} {account}", self.adapter.spec().name))
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(WatchedAcquirer {
            world: Arc::clone(&self.world),
            fuse: Arc::clone(&self.fuse),
            provider: Arc::clone(&self.provider),
            adapter: self.adapter.build(),
        })
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        self.adapter.preparation()
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        self.adapter.notices().map(|_| self as &dyn NoticeReader)
    }

    fn operates_in_turn(&self) -> bool {
        self.adapter.operates_in_turn()
    }

    fn charge_name(&self) -> Option<&'static str> {
        self.adapter.charge_name()
    }

    fn refund_shows_after_ms(&self, method: Method) -> u64 {
        match (self.adapter.refund_shows_after_ms(method), self.world.mistake) {
            (_, Some(Mistake::RefundShowsAtOnce)) => 0,
            // The monotonic clock runs only for minutes here, so a period of an hour in production is scaled down.
            (real_ms, _) => real_ms.min(cielo::PIX_REFUND_SHOWS_AFTER_MS),
        }
    }

    fn refunds(&self, method: Method) -> bool {
        self.adapter.refunds(method)
    }

    fn looks_at_paid(&self, method: Method) -> bool {
        let forgets = self.world.mistake == Some(Mistake::ForgetWhatComesLater);
        self.adapter.looks_at_paid(method) && !forgets
    }

    fn states_cost(&self) -> bool {
        self.adapter.states_cost()
    }

    fn objection(&self, order: &Order) -> Option<&'static str> {
        self.adapter.objection(order)
    }

    fn numbers(&self) -> Option<&NumberRange> {
        self.adapter.numbers()
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        let world = Arc::clone(&self.world);
        let reader = self.adapter.lists()?;
        Some(Rc::new(WatchedList { world, reader }))
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        self.adapter.local_issue()
    }
}

impl NoticeReader for Watched {
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        self.adapter.notices().ok_or(NoticeRefused::NoSuchAddress)?.admit(head)
    }

    fn read(&self, notice: &RawNotice<'_>, now: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        let Some(reader) = self.adapter.notices() else { return Err(NoticeRefused::NoSuchAddress) };
        planted::contents_heard(&self.world, self.provider.name(), notice, reader.read(notice, now))
    }
}

/// Reader of lists, which may be made to err.
struct WatchedList {
    world: Arc<World>,
    reader: Rc<dyn ListReader>,
}

#[async_trait(?Send)]
impl ListReader for WatchedList {
    fn has_returned(&self) -> bool {
        self.reader.has_returned()
    }

    fn history_months(&self) -> Option<u32> {
        self.reader.history_months()
    }

    fn charges(&self) -> Option<&dyn ChargeReader> {
        self.reader.charges()
    }

    async fn page(
        &self,
        part: ListPart,
        period: Period,
        cursor: &PageCursor,
    ) -> Result<ListPage, CallFailure> {
        if part == ListPart::Returned && self.world.mistake == Some(Mistake::ForgetWhatComesLater) {
            return Ok(ListPage { lines: Vec::new(), entries: 0, total: Some(0), next: None });
        }
        self.reader.page(part, period, cursor).await.map(|page| planted::page_heard(&self.world, page))
    }
}

struct WatchedAcquirer {
    world: Arc<World>,
    fuse: Arc<Fuse>,
    provider: Arc<Provider>,
    adapter: Rc<dyn Acquirer>,
}

impl WatchedAcquirer {
    /// Checks a call that is made: none may go to an acquirer that an operator drained. The wire checks whether the
    /// counterparty wants calls.
    fn check_call(&self, method: Method) -> CallUnderWay {
        let name = self.provider.name();
        let place = self.fuse.place();
        let call = self.fuse.call();
        if self.fuse.is_dead() {
            return call;
        }
        if self.world.drained.is_at(name, method, place) {
            self.world.violation(format!("{name} is used for {method} by node {place}, which drained it"));
        }
        call
    }

    /// Returns the result of a call, or `None` just before the node's time-out.
    async fn in_time<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        let time_out = Duration::from_millis(self.provider.spec().time_out_ms - 1);
        let waits_until = call_time::waits_until().unwrap_or_else(Instant::now);
        call_time::within(time_out, waits_until, call).await.ok()
    }
}

#[async_trait(?Send)]
impl Acquirer for WatchedAcquirer {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        let _under_way = self.check_call(charge.query.method);
        check_intent(&self.world, self.provider.name(), &charge.query);
        self.world.note(|| format!("charge {} to {}", charge.query.id, self.provider.name()));
        let answer = self.in_time(self.adapter.charge(charge)).await;
        let answer = answer.map(|answer| planted::times_heard(&self.world, &self.provider, answer));
        self.world.note(|| format!("charge {}: {answer:?}", charge.query.id));
        match planted::charge_heard(&self.world, answer) {
            Some(answer) => answer,
            None => pending().await,
        }
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        let _under_way = self.check_call(query.method);
        let query = planted::asked(&self.world, query);
        check_reference(&self.world, self.provider.name(), &query);
        self.world.note(|| format!("inquire {} at {}", query.id, self.provider.name()));
        let answer = planted::inquiry_heard(&self.world, self.adapter.inquire(&query).await);
        let answer = planted::times_heard(&self.world, &self.provider, answer);
        self.world.note(|| format!("inquire {}: {answer:?}", query.id));
        answer
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let _under_way = self.check_call(query.method);
        let verb = operation.kind.verb();
        self.world.note(|| format!("{verb} {} at {}", query.id, self.provider.name()));
        let operation = planted::sent(&self.world, operation);
        self.provider.take_failure(query.id);
        let answer = self.in_time(self.adapter.operate(query, &operation)).await;
        let failed = self.provider.take_failure(query.id);
        let answer = planted::failure_heard(&self.world, answer, failed);
        self.world.note(|| format!("{verb} {}: {answer:?}", query.id));
        match planted::operation_heard(&self.world, answer) {
            Some(answer) => answer,
            None => pending().await,
        }
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let _under_way = self.check_call(query.method);
        let verb = operation.kind.verb();
        self.world.note(|| format!("inquire {verb} of {} at {}", query.id, self.provider.name()));
        let answer = self.adapter.inquire_operation(query, operation).await;
        self.world.note(|| format!("inquire {verb} of {}: {answer:?}", query.id));
        answer
    }

    async fn identify(&self, reference: &Reference) -> Identified {
        let answer = self.adapter.identify(reference).await;
        self.world.note(|| format!("identify {reference:?}: {answer:?}"));
        answer
    }
}
