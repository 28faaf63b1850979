//! A bank, a Cielo, perhaps a Pagar.me and a bank for boletos that stand in for real ones, and a service whose live keys
//! reach all.

use std::collections::BTreeSet;

use quita_banks::api_pix::{Config, PixBank};
use quita_banks::cielo::{self, Cielo};
use quita_banks::faults;
use quita_banks::pagarme::{self, Pagarme};
use quita_banks::server::{Options, Served, Tls};
use quita_banks::sicoob::{self, SicoobBank};
use quita_banks::{Counterparty, Notice, Reply, Request};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Client, Finished, PATIENCE, TestApp, TestAppBuilder, eventually};

/// Secret that nobody but the service and the providers may ever see; so are the two below.
pub(crate) const CLIENT_SECRET: &str = "client-secret-e3b7c1d95a20f468";
pub(crate) const MERCHANT_KEY: &str = "MARKEDKEYQXZJVWKHPTRNBDFGLMSCYAEUIOZQXJV";
pub(crate) const NOTIFICATION_SECRET: &str = "notification-secret-4fd29b6e08c7a135";

const SECRETS: [(&str, &str); 3] = [
    ("QUITA_ACQUIRER_BANK_CLIENT_SECRET", CLIENT_SECRET),
    ("QUITA_ACQUIRER_CIELO_MERCHANT_KEY", MERCHANT_KEY),
    ("QUITA_ACQUIRER_CIELO_NOTIFICATION_SECRET", NOTIFICATION_SECRET),
];

/// The same of a Pagar.me. A live key does not begin with `sk_test_`.
const PAGARME_KEY: &str = "sk_4Jb1Qm9Zx7Ky2Wv5";
const PAGARME_SECRETS: [(&str, &str); 2] = [
    ("QUITA_ACQUIRER_PAGARME_SECRET_KEY", PAGARME_KEY),
    ("QUITA_ACQUIRER_PAGARME_NOTIFICATION_PASSWORD", NOTIFICATION_SECRET),
];

/// A bank over mutual TLS and a Cielo over TLS; and a Pagar.me over TLS, which takes half of the cards.
pub(crate) struct Acquirers {
    pub(crate) bank: Served<Watched<PixBank>>,
    pub(crate) cielo: Served<Watched<Cielo>>,
    pub(crate) pagarme: Option<Served<Watched<Pagarme>>>,
    /// A bank that registers boletos, where a test has one.
    pub(crate) sicoob: Option<Served<Watched<SicoobBank>>>,
    files: TempDir,
}

/// Function from a request to another one, which the provider also serves by mistake.
pub(crate) type Again = fn(&Request) -> Option<Request>;

/// A provider whose calls are looked at.
pub(crate) struct Watched<C> {
    pub(crate) provider: C,
    again: Again,
    /// Credentials that callers showed to be let in.
    pub(crate) shown: BTreeSet<String>,
    pub(crate) calls: usize,
    /// Calls whose answer was none, none in time, an error of the provider, or unreadable.
    pub(crate) failed: usize,
}

impl Acquirers {
    /// Both, without a fault.
    pub(crate) fn start() -> Self {
        Self::with_mistakes(|_| None, |_| None)
    }

    /// Both and a Pagar.me, without a fault.
    pub(crate) fn with_pagarme() -> Self {
        let both = Self::start();
        let mut config = pagarme::Config { secret_key: PAGARME_KEY.into(), ..pagarme::Config::default() };
        config.notices.url = Some("https://pay.example/acquirers/pagarme/notifications".into());
        config.notices.password = NOTIFICATION_SECRET.into();
        let tls = Tls::Server(both.files.path().join("pagarme"));
        let pagarme = Watched::new(Pagarme::new(config, faults::none()), |_| None);
        let pagarme = Served::start_with(pagarme, Options { tls, ..Options::default() }).unwrap();
        Self { pagarme: Some(pagarme), ..both }
    }

    /// Both, with mistakes of their own.
    pub(crate) fn with_mistakes(of_bank: Again, of_cielo: Again) -> Self {
        let files = tempfile::tempdir().unwrap();
        let config =
            Config { client_secret: CLIENT_SECRET.into(), refund_after_ms: 500, ..Config::default() };
        let tls = Tls::Mutual(files.path().join("bank"));
        let bank = Watched::new(PixBank::new(config), of_bank);
        let bank = Served::start_with(bank, Options { tls, ..Options::default() }).unwrap();
        let mut config = cielo::Config { merchant_key: MERCHANT_KEY.into(), ..cielo::Config::default() };
        config.notices.url = Some("https://pay.example/acquirers/cielo/notifications".into());
        config.notices.headers = [("x-quita-secret".to_owned(), NOTIFICATION_SECRET.to_owned())].into();
        let tls = Tls::Server(files.path().join("cielo"));
        let cielo = Watched::new(Cielo::new(config, faults::none()), of_cielo);
        let cielo = Served::start_with(cielo, Options { tls, ..Options::default() }).unwrap();
        Self { bank, cielo, pagarme: None, sicoob: None, files }
    }

    /// With a bank that registers boletos in the place of the Cielo.
    pub(crate) fn and_sicoob(self) -> Self {
        let bank = Watched::new(SicoobBank::new(sicoob::Config::default()), |_| None);
        let tls = Tls::Mutual(self.files.path().join("sicoob"));
        let bank = Served::start_with(bank, Options { tls, ..Options::default() }).unwrap();
        Self { sicoob: Some(bank), ..self }
    }

    /// The table of that bank, if there is one.
    fn table_of_sicoob(&self) -> String {
        let Some(sicoob) = &self.sicoob else { return String::new() };
        let url = sicoob.url();
        format!(
            "[[acquirer]]\nname = 'sicoob'\nadapter = 'sicoob'\ntime-out = '2s'\n\
             base-url = '{url}/cobranca-bancaria/v3'\ntoken-url = '{url}/token'\nclient-id = 'id'\n\
             certificate-file = 'sicoob/client.pem'\nprivate-key-file = 'sicoob/client.key'\n\
             ca-file = 'sicoob/ca.pem'\ncustomer = 25546454\naccount = 123456\nour-numbers = '1-1000000'\n\
             boleto = {{ assignor = 'Loja', identification = '11222333000181' }}\n"
        )
    }

    /// A service with a table of both.
    pub(crate) fn builder(&self) -> TestAppBuilder {
        self.builder_by_way_of(&self.bank.url(), &self.cielo.url())
    }

    /// The same, where something lies between.
    pub(crate) fn builder_by_way_of(&self, bank: &str, cielo: &str) -> TestAppBuilder {
        let merchant_id = cielo::Config::default().merchant_id;
        let methods = if self.sicoob.is_some() { "['credit_card']" } else { "['boleto', 'credit_card']" };
        let sicoob = self.table_of_sicoob();
        let table = format!(
            "public-url = 'https://pay.example'\n\
             [[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\ndialect = 'bacen'\ntime-out = '2s'\n\
             base-url = '{bank}'\ntoken-url = '{bank}/oauth/token'\nclient-id = 'id'\n\
             certificate-file = 'bank/client.pem'\nprivate-key-file = 'bank/client.key'\n\
             ca-file = 'bank/ca.pem'\npix-key = '123e4567-e12b-12d1-a456-426655440000'\n\
             receiver-name = 'Loja'\nreceiver-city = 'Sao Paulo'\n\
             [[acquirer]]\nname = 'cielo'\nadapter = 'cielo'\nmethods = {methods}\n\
             time-out = '2s'\nbase-url = '{cielo}'\nca-file = 'cielo/ca.pem'\nmerchant-id = '{merchant_id}'\n\
             boleto = {{ provider = 'Bradesco2', assignor = 'Loja', identification = '11222333000181', \
             instructions = 'Pague em dia' }}\n{sicoob}"
        );
        let of_pagarme = self.pagarme.as_ref().map(|pagarme| {
            let url = pagarme.url();
            format!(
                "[[acquirer]]\nname = 'pagarme'\nadapter = 'pagarme'\nmethods = ['credit_card']\n\
                 time-out = '2s'\nbase-url = '{url}/core/v5'\nca-file = 'pagarme/ca.pem'\n"
            )
        });
        let path = self.files.path().join("quita.toml");
        std::fs::write(&path, table + &of_pagarme.unwrap_or_default()).unwrap();
        let builder = TestApp::builder().arg("--config", path.to_str().unwrap());
        self.secrets().fold(builder, |builder, (name, secret)| builder.env(name, secret))
    }

    fn secrets(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
        let of_pagarme: &[_] = if self.pagarme.is_some() { &PAGARME_SECRETS } else { &[] };
        SECRETS.iter().chain(of_pagarme)
    }

    /// Calls the program with the service's store and these acquirers.
    pub(crate) fn call(&self, app: &TestApp, arguments: &[&str]) -> Finished {
        let config = self.files.path().join("quita.toml");
        let program = app.program(&[arguments, &["--config", config.to_str().unwrap()]].concat());
        self.secrets().fold(program, |program, (name, secret)| program.env(name, secret)).run()
    }

    /// The lines of the private key's file that are the key.
    pub(crate) fn private_key_lines(&self) -> Vec<String> {
        let key = std::fs::read_to_string(self.files.path().join("bank/client.key")).unwrap();
        key.lines().filter(|line| !line.starts_with("-----")).map(str::to_owned).collect()
    }

    /// Sends notices of both to where the service listens now.
    pub(crate) fn send_notices_to(&self, app: &TestApp) {
        let others =
            [self.pagarme.as_ref().map(Served::control_url), self.sicoob.as_ref().map(Served::control_url)];
        for control in [self.bank.control_url(), self.cielo.control_url()]
            .into_iter()
            .chain(others.into_iter().flatten())
        {
            let answer = Client::new(&control, None).post("/forward", &json!({ "to": app.url() }));
            assert_eq!(answer.status, 200, "{answer}");
        }
    }

    /// Waits until the bank knows where to call back.
    #[track_caller]
    pub(crate) fn wait_until_registered(&self) {
        wait_until_registered(&self.bank);
    }

    /// Lets this share of all calls fail, in every way there is.
    pub(crate) fn fail(&self, permille: u64, seed: u64) {
        let any = json!([
            {"fault": "reset-before"}, {"fault": "reset-after"},
            {"fault": "error-before", "status": 503}, {"fault": "error-after", "status": 500},
            {"fault": "error-after", "status": 504}, {"fault": "silence-before"}, {"fault": "silence-after"},
            {"fault": "throttled", "retryAfter": 1}, {"fault": "unreadable"}, {"fault": "slow", "ms": 1500},
            {"fault": "slow", "ms": 2500}, {"fault": "token-refused"},
        ]);
        let plan = json!({"do": "faults", "any": any, "permille": permille, "seed": seed});
        let of_pagarme = self.pagarme.as_ref().map(|pagarme| tell(pagarme, &plan));
        let of_sicoob = self.sicoob.as_ref().map(|sicoob| tell(sicoob, &plan));
        for told in
            [self.tell_bank(&plan), self.tell_cielo(&plan)].into_iter().chain(of_pagarme).chain(of_sicoob)
        {
            assert_eq!(told, json!({"ok": true}));
        }
    }

    /// Does at the bank what its control path can.
    pub(crate) fn tell_bank(&self, command: &Value) -> Value {
        tell(&self.bank, command)
    }

    /// Does at the bank for boletos what its control path can.
    pub(crate) fn tell_sicoob(&self, command: &Value) -> Value {
        tell(self.sicoob.as_ref().unwrap(), command)
    }

    /// Does at the Cielo what its control path can.
    pub(crate) fn tell_cielo(&self, command: &Value) -> Value {
        tell(&self.cielo, command)
    }
}

/// Waits until a bank knows where to call back, which it is told in the background: what is paid before that is found by
/// asking alone, a minute later.
#[track_caller]
pub(crate) fn wait_until_registered<C: Counterparty + 'static>(bank: &Served<C>) {
    eventually(PATIENCE, "the bank knows where to call back", || {
        let calls = tell(bank, &json!({"do": "calls"}));
        calls["PUT /webhook/{chave}"].as_u64().filter(|count| *count > 0)
    });
}

fn tell<C: Counterparty + 'static>(provider: &Served<C>, command: &Value) -> Value {
    let now_ms = provider.now_ms();
    provider.with(|provider| provider.control(command, now_ms))
}

impl<C> Watched<C> {
    fn new(provider: C, again: Again) -> Self {
        Self { provider, again, shown: BTreeSet::new(), calls: 0, failed: 0 }
    }
}

impl<C: Counterparty> Counterparty for Watched<C> {
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply {
        let shown = ["authorization", "merchantkey"].into_iter().filter_map(|name| request.header(name));
        self.shown.extend(shown.map(str::to_owned));
        let reply = self.provider.handle(request, now_ms);
        self.calls += 1;
        self.failed += usize::from(has_failed(&reply));
        if let Some(request) = (self.again)(request) {
            drop(self.provider.handle(&request, now_ms));
        }
        reply
    }

    fn notices(&mut self, now_ms: i64) -> Vec<Notice> {
        self.provider.notices(now_ms)
    }

    fn control(&mut self, command: &Value, now_ms: i64) -> Value {
        self.provider.control(command, now_ms)
    }
}

fn has_failed(reply: &Reply) -> bool {
    match reply {
        Reply::Reset | Reply::Silence => true,
        Reply::Answer { response, after_ms } => {
            let is_readable =
                response.body.is_empty() || serde_json::from_slice::<Value>(&response.body).is_ok();
            *after_ms >= 1_000
                || [401, 429].contains(&response.status)
                || response.status >= 500
                || !is_readable
        }
    }
}
