//! An exchange that gives the answers of a list.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response};
use serde_json::Value;

type Answer = Result<Response, Failure>;

#[derive(Clone, Default)]
pub(crate) struct Scripted {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    pub(crate) fn with(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), requests: Arc::default() }
    }

    pub(crate) fn factory(&self) -> Arc<dyn ExchangeFactory> {
        Arc::new(self.clone())
    }
}

/// A JSON answer with this status.
pub(crate) fn json(status: u16, body: &Value) -> Answer {
    Ok(Response { status, headers: vec![], body: body.to_string().into_bytes() })
}

impl ExchangeFactory for Scripted {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(self.clone())
    }
}

#[async_trait(?Send)]
impl Exchange for Scripted {
    async fn send(&self, request: Request) -> Answer {
        self.requests.lock().unwrap().push(request);
        self.answers.lock().unwrap().pop_front().unwrap_or_else(|| Err(Failure::NotSent("no answer".into())))
    }
}
