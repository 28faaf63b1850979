//! A bank with books of its own behind the exchange. It can be told to answer otherwise, before or after the effect.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response, Verb};
use quita_domain::pix::br_code::DynamicBrCode;
use serde_json::{Value, json};

pub(crate) const KEY: &str = "123e4567-e12b-12d1-a456-426655440000";
pub(crate) const E2E: &str = "E1234567820261121120000000000001";

/// Treatment of a request, in place of an answer of the books.
#[derive(Clone)]
pub(crate) enum Reply {
    /// This is answered, without any effect.
    Answer(u16, Value),
    /// The same, with a header.
    With(u16, &'static str, &'static str, Value),
    /// This text is answered.
    Raw(u16, &'static str),
    /// These bytes are answered.
    Bytes(u16, Vec<u8>),
    /// There is no answer, and no effect.
    Fail(Failure),
    /// The effect is there, the answer is lost.
    Lost,
    /// It takes this long.
    After(Duration),
    /// This is answered after this long.
    Late(Duration, u16, Value),
    /// It goes the usual way.
    Usual,
}

#[derive(Default)]
pub(crate) struct Books {
    pub(crate) log: Vec<Request>,
    pub(crate) cobs: BTreeMap<String, Value>,
    pub(crate) refunds: BTreeMap<String, Value>,
    pub(crate) webhook: Option<String>,
    /// Tokens that are taken, and how many were made.
    pub(crate) tokens: BTreeSet<String>,
    pub(crate) tokens_made: usize,
    /// Of the next tokens.
    pub(crate) expires_in: Option<Value>,
    pub(crate) status_of_refunds: &'static str,
    replies: Vec<(Verb, &'static str, Reply)>,
    pub(crate) opened: usize,
}

#[derive(Default)]
pub(crate) struct Bank(Mutex<Books>);

impl Bank {
    pub(crate) fn open() -> Arc<Self> {
        let bank = Arc::new(Self::default());
        bank.books().expires_in = Some(json!(3600));
        bank.books().status_of_refunds = "EM_PROCESSAMENTO";
        bank
    }

    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap()
    }

    /// The next request of this kind is answered so.
    pub(crate) fn next(&self, verb: Verb, part: &'static str, reply: Reply) -> &Self {
        self.books().replies.push((verb, part, reply));
        self
    }

    /// The next request of this kind is answered so; one that is forbidden is so with a new token too.
    pub(crate) fn insists(&self, verb: Verb, part: &'static str, reply: Reply) -> &Self {
        if matches!(reply, Reply::Answer(403, _)) {
            self.next(verb, part, reply.clone());
        }
        self.next(verb, part, reply)
    }

    /// Returns what was asked, as `GET /cob/…` without the query.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.books()
            .log
            .iter()
            .map(|request| format!("{} {}", request.verb.as_str(), path(request)))
            .collect()
    }

    pub(crate) fn last(&self) -> Request {
        self.books().log.last().unwrap().clone()
    }

    pub(crate) fn change(&self, txid: &str, change: impl FnOnce(&mut Value)) {
        change(self.books().cobs.get_mut(txid).unwrap());
    }
}

pub(crate) fn path(request: &Request) -> String {
    let url = url::Url::parse(&request.url).unwrap();
    url.path().trim_start_matches("/v2").to_owned()
}

pub(crate) fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap_or(Value::Null)
}

pub(crate) fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let found = request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

impl Books {
    fn handle(&mut self, request: &Request) -> Response {
        let path = path(request);
        if path.contains("/oauth/") {
            return self.token();
        }
        let token = header(request, "authorization").unwrap_or_default().trim_start_matches("Bearer ");
        if !self.tokens.contains(token) {
            return answer(401, json!({"title": "Não autorizado"}));
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (request.verb, parts.as_slice()) {
            (Verb::Put, ["cob" | "cobv", txid]) => self.create(txid, &body(request)),
            (Verb::Get, ["cob" | "cobv", txid]) => found(self.cobs.get(*txid), "CobNaoEncontrado"),
            (Verb::Patch, ["cob" | "cobv", txid]) => self.withdraw(txid, &body(request)),
            (Verb::Get, ["pix", id]) => found(self.pix(id).as_ref(), "PixNaoEncontrado"),
            (Verb::Put, ["pix", _, "devolucao", id]) => self.refund(id, &body(request)),
            (Verb::Get, ["pix", _, "devolucao", id]) => {
                found(self.refunds.get(*id), "PixDevolucaoNaoEncontrada")
            }
            (Verb::Get, ["webhook", _]) => {
                let webhook = self.webhook.as_ref().map(|url| json!({"webhookUrl": url, "chave": KEY}));
                found(webhook.as_ref(), "WebhookNaoEncontrado")
            }
            (Verb::Put, ["webhook", _]) => {
                self.webhook = body(request)["webhookUrl"].as_str().map(String::from);
                answer(200, Value::Null)
            }
            _ => answer(405, json!({"title": "no such call"})),
        }
    }

    fn token(&mut self) -> Response {
        self.tokens_made += 1;
        let token = format!("token-number-{}", self.tokens_made);
        self.tokens.insert(token.clone());
        let mut body = json!({"access_token": token, "token_type": "Bearer"});
        if let Some(seconds) = &self.expires_in {
            body["expires_in"] = seconds.clone();
        }
        answer(200, body)
    }

    fn create(&mut self, txid: &str, asked: &Value) -> Response {
        if self.cobs.get(txid).is_some_and(|cob| cob["status"] != "ATIVA") {
            return problem(400, "CobOperacaoInvalida");
        }
        let mut cob = asked.clone();
        let location = format!("pix.example.com/qr/v2/{txid}");
        let code = DynamicBrCode::new(location.clone(), "LOJA".into(), "SAO PAULO".into());
        cob["txid"] = json!(txid);
        cob["status"] = json!("ATIVA");
        cob["revisao"] = json!(0);
        cob["calendario"]["criacao"] = json!("2026-11-21T12:00:00.000Z");
        cob["location"] = json!(location);
        cob["loc"] = json!({"id": 7, "location": location, "tipoCob": "cob"});
        cob["pixCopiaECola"] = json!(code.build().unwrap());
        self.cobs.insert(txid.to_owned(), cob.clone());
        answer(201, cob)
    }

    fn withdraw(&mut self, txid: &str, asked: &Value) -> Response {
        match self.cobs.get_mut(txid) {
            None => problem(404, "CobNaoEncontrado"),
            Some(cob) if cob["status"] == "ATIVA" => {
                cob["status"] = asked["status"].clone();
                answer(200, cob.clone())
            }
            Some(_) => problem(400, "CobOperacaoInvalida"),
        }
    }

    fn refund(&mut self, id: &str, asked: &Value) -> Response {
        if self.refunds.contains_key(id) {
            return problem(400, "PixDevolucaoInvalida");
        }
        let status = self.status_of_refunds;
        let refund = json!({"id": id, "rtrId": "D1", "valor": asked["valor"], "status": status,
            "horario": {"solicitacao": "2026-11-21T13:00:00Z"}});
        self.refunds.insert(id.to_owned(), refund.clone());
        answer(201, refund)
    }

    fn pix(&self, id: &str) -> Option<Value> {
        let mut all = self.cobs.values().flat_map(|cob| cob["pix"].as_array().into_iter().flatten());
        all.find(|pix| pix["endToEndId"] == id).cloned()
    }
}

fn found(value: Option<&Value>, problem_name: &str) -> Response {
    value.map_or_else(|| problem(404, problem_name), |value| answer(200, value.clone()))
}

fn problem(status: u16, name: &str) -> Response {
    let kind = format!("https://pix.bcb.gov.br/api/v2/error/{name}");
    answer(
        status,
        json!({"type": kind, "title": name, "status": status, "detail": format!("detail of {name}")}),
    )
}

fn answer(status: u16, body: Value) -> Response {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    Response { status, headers: vec![("content-type".into(), "application/json".into())], body }
}

/// Opens connections to a bank.
pub(crate) struct Door(pub(crate) Arc<Bank>);

impl ExchangeFactory for Door {
    fn open(&self) -> Rc<dyn Exchange> {
        self.0.books().opened += 1;
        Rc::new(Connection(Arc::clone(&self.0)))
    }
}

struct Connection(Arc<Bank>);

#[async_trait(?Send)]
impl Exchange for Connection {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let reply = {
            let mut books = self.0.books();
            books.log.push(request.clone());
            let is_it =
                |(verb, part, _): &(Verb, &str, Reply)| *verb == request.verb && request.url.contains(part);
            books.replies.iter().position(is_it).map(|place| books.replies.remove(place).2)
        };
        match reply.unwrap_or(Reply::Usual) {
            Reply::Answer(status, body) => Ok(answer(status, body)),
            Reply::With(status, name, value, body) => {
                let mut answer = answer(status, body);
                answer.headers.push((name.into(), value.into()));
                Ok(answer)
            }
            Reply::Late(wait, status, body) => {
                tokio::time::sleep(wait).await;
                Ok(answer(status, body))
            }
            Reply::Raw(status, text) => Ok(Response { status, headers: vec![], body: text.into() }),
            Reply::Bytes(status, body) => Ok(Response { status, headers: vec![], body }),
            Reply::Fail(failure) => Err(failure),
            Reply::Lost => {
                self.0.books().handle(&request);
                Err(Failure::Unknown("the connection broke".into()))
            }
            Reply::After(wait) => {
                tokio::time::sleep(wait).await;
                Ok(self.0.books().handle(&request))
            }
            Reply::Usual => Ok(self.0.books().handle(&request)),
        }
    }
}
