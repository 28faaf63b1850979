//! A customer who speaks to the bank.

use quita_banks::sicoob::{Config, SicoobBank};
use quita_banks::{Counterparty, Reply, Request};
use serde_json::{Value, json};

/// Noon of 2026-11-23, a Monday, in Brasília.
pub(crate) const NOON_MS: i64 = 1_795_446_000_000;
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

pub(crate) struct Customer {
    pub(crate) bank: SicoobBank,
    pub(crate) now_ms: i64,
    pub(crate) headers: Vec<(String, String)>,
}

impl Customer {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config { fixed_tokens: vec!["t".to_owned()], ..Config::default() };
        change(&mut config);
        let headers = [("authorization", "Bearer t"), ("client_id", "id")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        Self { bank: SicoobBank::new(config), now_ms: NOON_MS, headers }
    }

    pub(crate) fn request(&self, method: &str, target: &str, body: &Value) -> Request {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Request {
            method: method.to_owned(),
            path: format!("/cobranca-bancaria/v3{path}"),
            query: query.to_owned(),
            headers: self.headers.clone(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
            certificate: None,
        }
    }

    pub(crate) fn reply(&mut self, method: &str, target: &str, body: &Value) -> Reply {
        let request = self.request(method, target, body);
        self.bank.handle(&request, self.now_ms)
    }

    pub(crate) fn call(&mut self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        match self.reply(method, target, body) {
            Reply::Answer { response, .. } => {
                (response.status, serde_json::from_slice(&response.body).unwrap_or_default())
            }
            Reply::Reset | Reply::Silence => panic!("no answer"),
        }
    }

    pub(crate) fn get(&mut self, target: &str) -> (u16, Value) {
        self.call("GET", target, &Value::Null)
    }

    pub(crate) fn post(&mut self, target: &str, body: &Value) -> (u16, Value) {
        self.call("POST", target, body)
    }

    /// Registers a title, and returns what the bank made of it.
    pub(crate) fn registered(&mut self, title: &Value) -> Value {
        let (status, body) = self.post("/boletos", title);
        assert_eq!(status, 200, "{body}");
        body["resultado"].clone()
    }

    /// The title as the bank shows it.
    pub(crate) fn read(&mut self, number: u64) -> Value {
        let (status, body) =
            self.get(&format!("/boletos?numeroCliente=25546454&codigoModalidade=1&nossoNumero={number}"));
        assert_eq!(status, 200, "{body}");
        body["resultado"].clone()
    }

    pub(crate) fn control(&mut self, command: Value) -> Value {
        self.bank.control(&command, self.now_ms)
    }

    /// The bodies of what the bank sends by now.
    pub(crate) fn told(&mut self) -> Vec<Value> {
        let notices = self.bank.notices(self.now_ms);
        notices.iter().map(|notice| serde_json::from_slice(&notice.body).unwrap()).collect()
    }
}

/// A title of 100.00 with number 7, due on Saturday 2026-11-28, payable for 30 days more.
pub(crate) fn title() -> Value {
    json!({
        "numeroCliente": 25_546_454, "codigoModalidade": 1, "numeroContaCorrente": 123_456,
        "codigoEspecieDocumento": "DM", "dataEmissao": "2026-11-23", "dataVencimento": "2026-11-28",
        "dataLimitePagamento": "2026-12-30", "seuNumero": "PEDIDO1", "nossoNumero": 7,
        "identificacaoEmissaoBoleto": 2, "identificacaoDistribuicaoBoleto": 2, "valor": 100.0,
        "numeroParcela": 1, "aceite": false, "tipoDesconto": 0, "tipoMulta": 0, "tipoJurosMora": 3,
        "codigoCadastrarPIX": 1,
        "pagador": {
            "numeroCpfCnpj": "11144477735", "nome": "Fulano de Tal", "endereco": "Rua Um 10",
            "bairro": "Centro", "cidade": "Sao Paulo", "cep": "01310100", "uf": "SP",
        },
    })
}

/// The same with some fields otherwise; `null` takes a field away.
pub(crate) fn title_with(changes: Value) -> Value {
    let mut title = title();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            title.as_object_mut().unwrap().remove(name);
        } else {
            title[name] = value.clone();
        }
    }
    title
}
