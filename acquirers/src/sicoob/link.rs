//! Calls to the bank: addresses, headers, queries.

use std::rc::Rc;
use std::sync::Arc;

use quita_domain::acquiring::CallFailure;
use quita_domain::time::Timestamp;
use quita_ports::Clock;
use serde::Serialize;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;
use zeroize::Zeroizing;

use super::settings::SicoobSettings;
use crate::api_pix::token::Token;
use crate::bearer::{Answer, Bearer};
use crate::exchange::{Exchange, ExchangeFactory, Request, Verb};

/// One configuration with its token. Another configuration has another credential; calls under way keep theirs.
pub(super) struct Credential {
    pub(super) settings: SicoobSettings,
    pub(super) exchanges: Arc<dyn ExchangeFactory>,
    pub(super) bearer: Bearer,
    clock: Arc<dyn Clock>,
}

impl Credential {
    pub(super) fn new(
        settings: SicoobSettings,
        exchanges: Arc<dyn ExchangeFactory>,
        clock: Arc<dyn Clock>,
        time_out_ms: u64,
    ) -> Self {
        let bearer = Bearer::new(settings.token.clone(), Arc::clone(&clock), time_out_ms);
        Self { settings, exchanges, bearer, clock }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// The link to the bank from one thread.
pub(super) struct Link {
    pub(super) credential: Arc<Credential>,
    exchange: Rc<dyn Exchange>,
}

impl Link {
    /// Opens a link with its own connections.
    pub(super) fn open(credential: Arc<Credential>) -> Self {
        let exchange = credential.exchanges.open();
        Self { credential, exchange }
    }

    /// Opens a link for lists, which are files.
    pub(super) fn open_for_files(credential: Arc<Credential>) -> Self {
        let exchange = credential.exchanges.open_for_files();
        Self { credential, exchange }
    }

    pub(super) fn settings(&self) -> &SicoobSettings {
        &self.credential.settings
    }

    /// Registers a title.
    pub(super) async fn register(&self, body: &impl Serialize) -> Result<Answer, CallFailure> {
        let body = serde_json::to_vec(body);
        let body = body.map_err(|_| CallFailure::NotDelivered("the request can't be written".to_owned()))?;
        self.call(Verb::Post, "/boletos", Zeroizing::new(body)).await
    }

    /// Reads the title with this number.
    pub(super) async fn read(&self, our_number: u64) -> Result<Answer, CallFailure> {
        self.get("/boletos", &[("nossoNumero", &our_number.to_string())]).await
    }

    /// Reads ranges of numbers that the bank leaves to the customer.
    pub(super) async fn ranges(&self) -> Result<Answer, CallFailure> {
        self.get("/boletos/faixas-nosso-numero", &[("quantidade", "1")]).await
    }

    /// Withdraws the title with this number.
    pub(super) async fn withdraw(&self, our_number: u32) -> Result<Answer, CallFailure> {
        let SicoobSettings { customer, portfolio, .. } = self.settings();
        let body = json!({ "numeroCliente": customer, "codigoModalidade": portfolio });
        self.send(Verb::Post, &format!("/boletos/{our_number}/baixar"), &body).await
    }

    /// Sends a request with this body.
    pub(super) async fn send(&self, verb: Verb, path: &str, body: &Value) -> Result<Answer, CallFailure> {
        self.call(verb, path, Zeroizing::new(body.to_string().into_bytes())).await
    }

    /// Reads a resource of the customer's portfolio.
    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Answer, CallFailure> {
        let SicoobSettings { customer, portfolio, .. } = self.settings();
        let mut all = Serializer::new(String::new());
        all.append_pair("numeroCliente", &customer.to_string());
        all.append_pair("codigoModalidade", &portfolio.to_string()).extend_pairs(query);
        self.call(Verb::Get, &format!("{path}?{}", all.finish()), Zeroizing::default()).await
    }

    async fn call(&self, verb: Verb, path: &str, body: Zeroizing<Vec<u8>>) -> Result<Answer, CallFailure> {
        let SicoobSettings { base_url, client_id, .. } = self.settings();
        let url = format!("{base_url}{path}");
        let request = |token: &Token| {
            let mut headers = vec![
                ("accept".to_owned(), "application/json".to_owned()),
                ("authorization".to_owned(), format!("Bearer {}", token.value.expose())),
                ("client_id".to_owned(), client_id.clone()),
            ];
            if !body.is_empty() {
                headers.push(("content-type".to_owned(), "application/json".to_owned()));
            }
            // A completed registration is refused the second time: that answer would be mistaken for the answer to the
            // first request.
            Request { verb, url: url.clone(), headers, body: body.clone(), is_repeatable: verb == Verb::Get }
        };
        self.credential.bearer.call(self.exchange.as_ref(), request, &[client_id]).await
    }
}
