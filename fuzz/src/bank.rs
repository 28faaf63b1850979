//! A bank that answers every call with the same bytes, and the adapter that reads them.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use quita_acquirers::api_pix::ApiPixFactory;
use quita_acquirers::api_pix::settings::{
    ApiPixSettings, CallbackRegistration, TokenSettings, WebhookSettings,
};
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response};
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::routing::DueDates;
use quita_domain::secret::Secret;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{AcquirerFactory, AcquirerSpec, Clock, ListPage, ListPart, PageCursor, Period};

use crate::samples::START;

/// Pix key that receives our money.
pub const KEY: &str = "123e4567-e12b-12d1-a456-426655440000";

/// Token that no text may show.
pub const TOKEN: &str = "token-that-nobody-is-shown";

/// Returns the first page of a day's list, as read from this answer.
pub fn first_page(status: u16, body: &[u8]) -> Result<ListPage, CallFailure> {
    let factory = ApiPixFactory::new(spec(), settings(), Arc::new(Bank(status, body.into())), Arc::new(Noon));
    let list = factory.lists().expect("this bank has lists");
    let cursor = PageCursor::default();
    let day = Period { from: START, until: START.plus_ms(DAY_MS) };
    let page = pin!(list.page(ListPart::All, day, &cursor));
    match page.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(page) => page,
        Poll::Pending => panic!("the bank answers at once"),
    }
}

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        START
    }
}

#[derive(Clone)]
struct Bank(u16, Arc<[u8]>);

impl ExchangeFactory for Bank {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(self.clone())
    }
}

#[async_trait(?Send)]
impl Exchange for Bank {
    async fn send(&self, _: Request) -> Result<Response, Failure> {
        Ok(Response { status: self.0, headers: Vec::new(), body: self.1.to_vec() })
    }
}

fn spec() -> AcquirerSpec {
    AcquirerSpec {
        name: AcquirerName::new("bank"),
        mode: Mode::Live,
        methods: vec![Method::Pix],
        priority: 1,
        weight: 1,
        min_amount: Money::from_cents(1),
        max_amount: Money::MAX,
        concurrency: 8,
        time_out_ms: 10_000,
        rate: None,
        max_expiry_s: None,
        due_dates: DueDates::ALL,
        hint_gap_ms: 2_000,
    }
}

fn settings() -> ApiPixSettings {
    ApiPixSettings {
        base_url: "https://pix.bank.example/v2".into(),
        revision_base_url: "https://pix.bank.example/v2".into(),
        token: TokenSettings::Static(Secret::new(TOKEN.into())),
        pix_key: KEY.into(),
        receiver: None,
        headers: Vec::new(),
        query: Vec::new(),
        code_fields: Vec::new(),
        ignores_txid_of_answer: false,
        webhook: WebhookSettings {
            registration: CallbackRegistration::Off,
            address: None,
            token: Secret::new("no callbacks".into()),
            other_tokens: Vec::new(),
            headers: Vec::new(),
        },
        lists: true,
    }
}
