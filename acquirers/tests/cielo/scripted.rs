//! An exchange that answers what it is told, and keeps what it was sent.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response};
use serde_json::Value;

type Answer = Result<Response, Failure>;

#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Answer>>,
    pub(crate) requests: Mutex<Vec<Request>>,
    pub(crate) opened: Mutex<u32>,
}

impl Scripted {
    /// Gives these answers, in this order.
    pub(crate) fn with(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() })
    }

    pub(crate) fn factory(self: &Arc<Self>) -> Arc<dyn ExchangeFactory> {
        Arc::new(Opener(Arc::clone(self)))
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| format!("{} {}", request.verb.as_str(), request.url)).collect()
    }

    pub(crate) fn body(&self, place: usize) -> Value {
        serde_json::from_slice(&self.requests.lock().unwrap()[place].body).unwrap()
    }
}

struct Opener(Arc<Scripted>);

impl ExchangeFactory for Opener {
    fn open(&self) -> Rc<dyn Exchange> {
        *self.0.opened.lock().unwrap() += 1;
        Rc::new(Opener(Arc::clone(&self.0)))
    }
}

#[async_trait(?Send)]
impl Exchange for Opener {
    async fn send(&self, request: Request) -> Answer {
        self.0.requests.lock().unwrap().push(request);
        let next = self.0.answers.lock().unwrap().pop_front();
        next.unwrap_or_else(|| Err(Failure::Unknown("nothing more is scripted".into())))
    }
}

pub(crate) fn json(status: u16, body: &Value) -> Answer {
    raw(status, body.to_string().as_bytes())
}

pub(crate) fn raw(status: u16, body: &[u8]) -> Answer {
    Ok(Response { status, headers: Vec::new(), body: body.to_vec() })
}

pub(crate) fn with_header(status: u16, name: &str, value: &str) -> Answer {
    Ok(Response { status, headers: vec![(name.into(), value.into())], body: Vec::new() })
}
