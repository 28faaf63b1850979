//! Golden requests: what is sent in each dialect is what other clients of these banks send, but for a table of
//! differences.
//!
//! `dialects-recorded.json` is what PyPI brbank 0.0.5 (MIT) sent in eight dialects, and Efí's own SDK (PyPI efipay 1.0.7,
//! MIT; `efi-sdk`), to a bank of stubs over mutual TLS on 2026-11-22. Compared are method, path, query, form of the token,
//! names of headers and names of fields of the body.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use quita_acquirers::api_pix::ApiPixFactory;
use quita_acquirers::api_pix::dialect::{Dialect, Fillings};
use quita_acquirers::api_pix::settings::{ApiPixSettings, CallbackRegistration, TokenForm, TokenSettings};
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response, Verb};
use quita_domain::acquiring::Reference;
use quita_domain::money::Money;
use quita_domain::operation::OperationKind;
use quita_domain::secret::Secret;
use quita_ports::AcquirerFactory;
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use crate::bank::E2E;
use crate::world::{charge, clock, operation, query, settings, spec};

const RECORDED: &str = include_str!("dialects-recorded.json");

/// Known differences: the dialect, the request, the difference and the reason.
/// `*` stands for each dialect or request. `-`: only others send it; `+`: only this service does.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    ("*", "POST token", "- scope cobv.read", "charges with a due date are not used"),
    ("*", "POST token", "- scope cobv.write", "charges with a due date are not used"),
    ("*", "PUT cob", "- field infoAdicionais.nome", "the merchant's reference is told in solicitacaoPagador"),
    (
        "*",
        "PUT cob",
        "- field infoAdicionais.valor",
        "the merchant's reference is told in solicitacaoPagador",
    ),
    ("*", "PUT cob", "+ field solicitacaoPagador", "the merchant's reference is told in solicitacaoPagador"),
    ("*", "GET webhook", "+ request", "the address is asked for before it is set: it may be somebody else's"),
    ("efi", "*", "- header x-partner-token", "Efí's own SDKs call it partner-token"),
    ("efi", "*", "+ header partner-token", "Efí's own SDKs call it partner-token"),
    (
        "efi",
        "PUT webhook",
        "+ header x-skip-mtls-checking",
        "the token in the address authenticates callbacks; the SDK sends it too",
    ),
    ("efi-sdk", "*", "- header api-sdk", "the SDK names itself"),
    ("efi-sdk", "*", "+ header partner-token", "its recording had no partner"),
    ("efi-sdk", "PUT cob", "+ field devedor.cpf", "its recording named no payer"),
    ("efi-sdk", "PUT cob", "+ field devedor.nome", "its recording named no payer"),
    ("efi-sdk", "PATCH cob", "+ request", "its recording withdrew nothing"),
    ("santander", "*", "+ header x-application-key", "hyperswitch, in use with Santander, sends it"),
];

#[tokio::test(start_paused = true)]
async fn what_is_sent_in_each_dialect_is_what_others_send_but_for_known_differences() {
    let mut unexplained = Vec::new();
    let mut used = BTreeSet::new();
    for (dialect, recorded) in recorded() {
        let ours = ours(&dialect).await;
        for (request, sign, feature) in differences(&recorded, &ours) {
            let difference = format!("{sign} {feature}");
            let row = DIFFERENCES.iter().position(|(place, at, what, _)| {
                (*place == "*" || *place == dialect) && (*at == "*" || *at == request) && *what == difference
            });
            match row {
                Some(row) => drop(used.insert(row)),
                None => unexplained.push(format!("{dialect}: {request}: {difference}")),
            }
        }
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    let stale: Vec<_> =
        (0..DIFFERENCES.len()).filter(|row| !used.contains(row)).map(|row| DIFFERENCES[row]).collect();
    assert!(stale.is_empty(), "these differ no more: {stale:#?}");
}

#[test]
fn every_dialect_that_was_recorded_is_known_and_the_other_way_round() {
    let recorded: BTreeSet<String> = recorded().into_keys().filter(|name| name != "efi-sdk").collect();
    let known: BTreeSet<String> =
        Dialect::names().filter(|name| *name != "bacen").map(String::from).collect();
    assert_eq!(recorded, known);
}

/// The features of requests, by what they are for.
type Requests = BTreeMap<String, BTreeSet<String>>;

fn recorded() -> BTreeMap<String, Requests> {
    let all: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    let mut by_dialect: BTreeMap<String, Requests> = BTreeMap::new();
    for request in all {
        let text = |name: &str| request[name].as_str().unwrap().to_owned();
        let url = Url::parse(&format!("https://local.example{}", text("path"))).unwrap();
        let headers = request["headers"].as_object().unwrap().iter();
        let headers =
            headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
        let (dialect, name, features) = features(&text("method"), &url, headers, text("body").as_bytes());
        by_dialect.entry(dialect).or_default().insert(name, features);
    }
    by_dialect
}

/// The dialect, what the request is for, and everything that is compared.
fn features(
    method: &str,
    url: &Url,
    headers: Vec<(String, String)>,
    body: &[u8],
) -> (String, String, BTreeSet<String>) {
    let mut segments: Vec<String> = url.path().trim_start_matches('/').split('/').map(String::from).collect();
    let dialect = segments.remove(0);
    let resource =
        ["devolucao", "cob", "webhook"].into_iter().find(|name| segments.iter().any(|each| each == name));
    if let Some("cob" | "devolucao") = resource {
        *segments.last_mut().unwrap() = "{id}".into();
    }
    let resource = resource.unwrap_or("token");
    let mut features = BTreeSet::from([format!("path /{}", segments.join("/"))]);
    features.extend(url.query_pairs().map(|(name, value)| format!("query {name}={value}")));
    let mut is_json = false;
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        features.insert(format!("header {name}"));
        match name.as_str() {
            "authorization" => drop(features.insert(format!("scheme {}", value.split(' ').next().unwrap()))),
            "content-type" => {
                is_json = value == "application/json";
                features.insert(format!("content-type {value}"));
            }
            _ => {}
        }
    }
    if is_json {
        fields("", &serde_json::from_slice(body).unwrap(), &mut features);
    } else {
        for (name, value) in form_urlencoded::parse(body) {
            features.insert(format!("field {name}"));
            if name == "scope" {
                features.extend(value.split(' ').map(|scope| format!("scope {scope}")));
            }
        }
    }
    features.remove("header accept");
    (dialect, format!("{method} {resource}"), features)
}

/// The names of a body's fields.
fn fields(above: &str, value: &Value, features: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(name, value)| fields(&format!("{above}.{name}"), value, features))
        }
        Value::Array(items) => items.iter().for_each(|item| fields(above, item, features)),
        _ => drop(features.insert(format!("field {}", above.trim_start_matches('.')))),
    }
}

/// Returns the features that only one of both has: the request, its sign, the feature.
/// The sign is `-` if only the recording has it, `+` if only this service does.
fn differences(recorded: &Requests, ours: &Requests) -> Vec<(String, char, String)> {
    let mut found = Vec::new();
    for (request, theirs) in recorded {
        let Some(ours) = ours.get(request) else {
            found.push((request.clone(), '-', "request".into()));
            continue;
        };
        found.extend(theirs.difference(ours).map(|feature| (request.clone(), '-', feature.clone())));
        found.extend(ours.difference(theirs).map(|feature| (request.clone(), '+', feature.clone())));
    }
    let alone = ours.keys().filter(|request| !recorded.contains_key(*request));
    found.extend(alone.map(|request| (request.clone(), '+', "request".into())));
    found
}

/// Returns what this service sends in a dialect when it does all that the others did.
async fn ours(dialect: &str) -> Requests {
    let recorder = Arc::new(Recorder::default());
    let factory = ApiPixFactory::new(
        spec(),
        settings_of(dialect),
        Arc::new(RecorderFactory(Arc::clone(&recorder))),
        clock(),
    );
    let adapter = factory.build();
    let mut paid = query(1_000);
    paid.reference = Reference::none().with("endToEndId", E2E);
    adapter.charge(&charge(1_000)).await;
    adapter.inquire(&query(1_000)).await;
    adapter.operate(&query(1_000), &operation(OperationKind::Cancel)).await;
    adapter.operate(&paid, &operation(OperationKind::Refund(Money::from_cents(789)))).await;
    factory.register_webhook().await;
    let sent = recorder.0.lock().unwrap();
    sent.iter()
        .map(|request| {
            let url = Url::parse(&request.url).unwrap();
            let (_, name, features) =
                features(request.verb.as_str(), &url, request.headers.clone(), &request.body);
            (name, features)
        })
        .collect()
}

/// A dialect's settings as the configuration makes them, under `/{dialect}` of one host as the recording was made.
fn settings_of(recorded: &str) -> ApiPixSettings {
    let dialect = Dialect::named(recorded.trim_end_matches("-sdk")).unwrap();
    let moved = |address: &Option<String>| {
        let address = address.as_deref()?.strip_prefix("https://")?.split_once('/')?.1;
        Some(format!("https://local.example/{recorded}/{address}"))
    };
    let fillings = Fillings {
        client_id: Some("id".into()),
        app_key: Some(Secret::new("appkey".into())),
        partner_id: Some(Secret::new("partner".into())),
    };
    let filled = |templates: &BTreeMap<String, String>| {
        let fill = |(name, template): (&String, &String)| (name.clone(), fillings.fill(template).unwrap());
        templates.iter().map(fill).collect()
    };
    let form = match dialect.token_auth.as_deref() {
        Some("basic-form") => TokenForm::BasicForm,
        Some("basic-json") => TokenForm::BasicJson,
        Some("form") => TokenForm::Form,
        Some("form-no-secret") => TokenForm::FormNoSecret,
        other => panic!("{other:?}"),
    };
    let base_url = moved(&dialect.base_url).unwrap();
    let mut settings = settings();
    settings.revision_base_url = moved(&dialect.revision_base_url).unwrap_or_else(|| base_url.clone());
    settings.base_url = base_url;
    settings.token = TokenSettings::ClientCredentials {
        url: moved(&dialect.token_url).unwrap(),
        form,
        client_id: "id".into(),
        client_secret: Some(Secret::new("secret".into())),
        scope: dialect.scope(false),
    };
    settings.headers = filled(&dialect.headers);
    settings.query = filled(&dialect.query);
    settings.code_fields = dialect.code_fields();
    settings.webhook.registration = CallbackRegistration::Register;
    settings.webhook.headers = dialect.webhook_headers.clone().into_iter().collect();
    settings
}

/// Answers as the recording's bank of stubs did, and keeps what it was sent.
#[derive(Default)]
struct Recorder(Mutex<Vec<Request>>);

struct RecorderFactory(Arc<Recorder>);

impl ExchangeFactory for RecorderFactory {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(RecorderExchange(RefCell::new(Arc::clone(&self.0))))
    }
}

struct RecorderExchange(RefCell<Arc<Recorder>>);

#[async_trait(?Send)]
impl Exchange for RecorderExchange {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let url = Url::parse(&request.url).unwrap();
        let id = url.path().rsplit('/').next().unwrap().to_owned();
        let body = if ["oauth", "token"].iter().any(|part| url.path().contains(part)) {
            json!({"access_token": "t", "token_type": "Bearer", "expires_in": 3600})
        } else if url.path().contains("/devolucao/") {
            json!({"id": id, "valor": "7.89", "status": "EM_PROCESSAMENTO"})
        } else if request.verb == Verb::Patch {
            json!({"txid": id, "status": "REMOVIDA_PELO_USUARIO_RECEBEDOR"})
        } else {
            json!({"txid": id, "status": "ATIVA", "pixCopiaECola": "000201"})
        };
        self.0.borrow().0.lock().unwrap().push(request);
        Ok(Response { status: 200, headers: vec![], body: body.to_string().into_bytes() })
    }
}
