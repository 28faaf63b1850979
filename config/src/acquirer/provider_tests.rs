//! Tests of `[[acquirer]]` tables of real providers.

use std::path::Path;

use quita_acquirers::api_pix::settings::{CallbackRegistration, TokenForm, TokenSettings};
use quita_domain::secret::Secret;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use tempfile::TempDir;

use super::*;
use crate::Config;
use crate::acquirer::CallbackTokens;
use crate::tests::{load, refusals};

const BANK: &str = "[[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\nclient-id = 'quita'\n\
                    pix-key = '123e4567-e12b-12d1-a456-426655440000'\n\
                    receiver-name = 'Loja São João Comércio de Exemplos'\nreceiver-city = 'São Paulo'\n";

const ADDRESSES: &str =
    "base-url = 'https://pix.bank.example/v2/'\ntoken-url = 'https://pix.bank.example/oauth/token'\n";

const BANK_SECRET: (&str, &str) = ("QUITA_ACQUIRER_BANK_CLIENT_SECRET", "hunter2");

const CIELO: &str = "[[acquirer]]\nname = 'cielo'\nadapter = 'cielo'\n\
                     merchant-id = '7f0ee5a0-45f1-4a9d-a8b3-5d9c35e04f71'\n\
                     boleto = { provider = 'Bradesco2', assignor = 'Loja', identification = '12345678000195', \
                     instructions = 'Pague em dia' }\n";

const CIELO_SECRETS: [(&str, &str); 2] = [
    ("QUITA_ACQUIRER_CIELO_MERCHANT_KEY", "hunter2hunter2hunter2hunter2hunter2hunt"),
    ("QUITA_ACQUIRER_CIELO_NOTIFICATION_SECRET", "hunter3"),
];

fn bank(config: &Config) -> ApiPixConfig {
    let AdapterConfig::ApiPix(bank) = &config.acquirers[0].adapter else { panic!("{config:?}") };
    bank.as_ref().clone()
}

fn cielo(config: &Config) -> CieloConfig {
    let AdapterConfig::Cielo(cielo) = &config.acquirers[0].adapter else { panic!("{config:?}") };
    cielo.as_ref().clone()
}

fn settings(bank: &ApiPixConfig) -> quita_acquirers::api_pix::settings::ApiPixSettings {
    let tokens = CallbackTokens { now: Secret::new("token".into()), others: Vec::new() };
    bank.settings(tokens, "https://pay.example/acquirers/bank/notifications")
}

fn told(values: &[(String, Secret<String>)]) -> Vec<(&str, &str)> {
    values.iter().map(|(name, value)| (name.as_str(), value.expose().as_str())).collect()
}

/// Returns the messages about a bank with these keys.
fn refused_bank(keys: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let messages = refusals(load(&[], variables, Some(&format!("{BANK}{keys}"))));
    assert!(messages.iter().all(|message| !message.contains("hunter2")), "{messages:?}");
    messages
}

/// Asserts that there is one message, which begins like this.
fn refuses(messages: &[String], start: &str) {
    assert!(messages.len() == 1 && messages[0].starts_with(start), "{start}: {messages:#?}");
}

#[test]
fn a_bank_of_the_standard_needs_addresses_a_client_a_key_and_a_receiver() {
    let config = load(&[], &[BANK_SECRET], Some(&format!("{BANK}{ADDRESSES}"))).unwrap();
    let spec = &config.acquirers[0].spec;
    assert_eq!(
        (spec.mode, spec.methods.as_slice(), spec.time_out_ms),
        (Mode::Live, &[Method::Pix][..], 10_000)
    );
    let settings = settings(&bank(&config));
    assert_eq!(settings.base_url, "https://pix.bank.example/v2");
    assert_eq!(settings.revision_base_url, settings.base_url);
    let receiver = settings.receiver.unwrap();
    assert_eq!((receiver.name.as_str(), receiver.city.as_str()), ("Loja Sao Joao Comercio de", "Sao Paulo"));
    let TokenSettings::ClientCredentials { form, scope, client_secret, .. } = settings.token else {
        panic!()
    };
    assert_eq!((form, client_secret), (TokenForm::BasicForm, Some(Secret::new("hunter2".into()))));
    assert!(scope.starts_with("cob.write cob.read"), "{scope}");
    assert_eq!((settings.webhook.registration, settings.webhook.address), (CallbackRegistration::Off, None));
    assert!(settings.lists);
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn what_a_bank_needs_and_has_not_is_refused_all_at_once() {
    let nothing = "[[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\n";
    let messages = refusals(load(&[], &[], Some(nothing)));
    let keys =
        ["base-url", "token-url", "client-id", "client-secret", "pix-key", "receiver-name", "receiver-city"];
    assert_eq!(messages.len(), keys.len(), "{messages:#?}");
    for (message, key) in messages.iter().zip(keys) {
        assert!(message.starts_with(&format!("acquirer[bank].{key}: it is missing")), "{message}");
    }
}

#[test]
fn a_dialect_names_the_addresses_of_mode_live_alone() {
    let secrets = [BANK_SECRET, ("QUITA_ACQUIRER_BANK_APP_KEY", "key")];
    let live = bank(&load(&[], &secrets, Some(&format!("{BANK}dialect = 'bb'\n"))).unwrap());
    let live = settings(&live);
    assert_eq!(live.base_url, "https://api-pix.bb.com.br/pix/v2");
    assert_eq!(told(&live.query), [("gw-dev-app-key", "key")]);
    assert!(told(&live.headers).is_empty(), "no partner");
    let test = refused_bank("dialect = 'bb'\nmode = 'test'\n", &secrets);
    assert!(test[0].starts_with("acquirer[bank].base-url: it is missing"), "{test:?}");
    assert!(test[1].starts_with("acquirer[bank].token-url: it is missing"), "{test:?}");
    assert_eq!(test.len(), 2, "{test:?}");
    refuses(&refused_bank("dialect = 'bb'\n", &[BANK_SECRET]), "acquirer[bank].app-key: it is missing");
}

#[test]
fn the_address_of_revisions_follows_an_own_address() {
    let of = |keys: &str| {
        settings(&bank(
            &load(&[], &[BANK_SECRET], Some(&format!("{BANK}dialect = 'santander'\n{keys}"))).unwrap(),
        ))
        .revision_base_url
    };
    assert_eq!(of(""), "https://trust-pix.santander.com.br/api/v2");
    assert_eq!(of("base-url = 'https://a.example/api/v1'\n"), "https://a.example/api/v1");
    assert_eq!(
        of("base-url = 'https://a.example/api/v1'\nrevision-base-url = 'https://a.example/api/v2'\n"),
        "https://a.example/api/v2"
    );
}

#[test]
fn headers_and_parameters_are_filled_in_and_added_to_those_of_the_dialect() {
    let keys = "dialect = 'santander'\nheaders = { x-app = '{app-key}', x-call = '{uuid}' }\nquery = { c = '{client-id}' }\n";
    let secrets = [BANK_SECRET, ("QUITA_ACQUIRER_BANK_APP_KEY", "key")];
    let settings_of =
        |keys: &str| settings(&bank(&load(&[], &secrets, Some(&format!("{BANK}{keys}"))).unwrap()));
    let own = settings_of(keys);
    assert_eq!(told(&own.headers), [("X-Application-Key", "quita"), ("x-app", "key"), ("x-call", "{uuid}")]);
    assert_eq!(told(&own.query), [("c", "quita")]);
    let without = settings_of("dialect = 'santander'\nheaders = { x-application-key = '' }\n");
    assert!(told(&without.headers).is_empty());
    let missing = format!("{ADDRESSES}headers = {{ x = '{{partner-id}}' }}\n");
    refuses(
        &refused_bank(&missing, &[BANK_SECRET]),
        "acquirer[bank].headers.x: it needs partner-id, which is not",
    );
    for header in ["authorization = 'x'", "'a b' = 'x'", "host = 'x'"] {
        let messages = refused_bank(&format!("{ADDRESSES}headers = {{ {header} }}\n"), &[BANK_SECRET]);
        assert!(
            messages.len() == 1 && messages[0].contains("this header may not be added to calls"),
            "{messages:?}"
        );
    }
    refuses(
        &refused_bank(&format!("{ADDRESSES}headers = ['x']\n"), &[BANK_SECRET]),
        "acquirer[bank].headers: allowed",
    );
}

#[test]
fn each_form_of_token_needs_its_own_secret_and_no_other() {
    let with = |form: &str, addresses: &str| format!("{addresses}token-auth = '{form}'\n");
    let fixed = ("QUITA_ACQUIRER_BANK_STATIC_TOKEN", "hunter2");
    let base = "base-url = 'https://pix.bank.example/v2'\n";
    let read = |keys: &str, secrets: &[(&str, &str)]| load(&[], secrets, Some(&format!("{BANK}{keys}")));
    let token = bank(&read(&with("static", base), &[fixed]).unwrap());
    assert_eq!(settings(&token).token, TokenSettings::Static(Secret::new("hunter2".into())));
    assert_eq!(token.token_url(), None);
    assert!(read(&with("form-no-secret", ADDRESSES), &[]).is_ok());
    refuses(&refused_bank(&with("static", base), &[]), "acquirer[bank].static-token: it is missing");
    refuses(&refused_bank(&with("form", ADDRESSES), &[]), "acquirer[bank].client-secret: it is missing");
    refuses(
        &refused_bank(&with("form-no-secret", ADDRESSES), &[BANK_SECRET]),
        "QUITA_ACQUIRER_BANK_CLIENT_SECRET: no",
    );
    refuses(
        &refused_bank(&with("magic", ADDRESSES), &[BANK_SECRET]),
        "acquirer[bank].token-auth: \"magic\" is not",
    );
}

#[test]
fn a_provider_is_reached_by_https_but_on_loopback_during_development() {
    let with = |url: &str| format!("base-url = '{url}'\ntoken-url = 'https://pix.bank.example/token'\n");
    for (environment, url, is_taken) in [
        ("development", "http://127.0.0.1:8443/v2", true),
        ("development", "http://localhost/v2", true),
        ("development", "http://pix.bank.example/v2", false),
        ("production", "http://127.0.0.1:8443/v2", false),
        ("production", "https://127.0.0.1:8443/v2", true),
        ("development", "https://user:hunter2@pix.bank.example", false),
        ("development", "https://pix.bank.example/v2?a=b", false),
        ("development", "pix.bank.example", false),
    ] {
        let file = format!("environment = '{environment}'\n{BANK}{}", with(url));
        let read = load(&[], &[BANK_SECRET], Some(&file));
        assert_eq!(read.is_ok(), is_taken, "{environment} {url}: {read:?}");
        if !is_taken {
            let messages = refusals(read);
            assert!(messages[0].starts_with("acquirer[bank].base-url: "), "{messages:?}");
            assert!(!messages[0].contains("hunter2"), "{messages:?}");
        }
    }
}

#[test]
fn a_bank_is_told_where_to_call_back_if_that_is_reached_by_https() {
    let callbacks = |public_url: &str, keys: &str| {
        let file = format!("public-url = '{public_url}'\n{BANK}{ADDRESSES}{keys}");
        load(&[], &[BANK_SECRET], Some(&file)).map(|config| settings(&bank(&config)).webhook)
    };
    let default = callbacks("https://pay.example", "").unwrap();
    assert_eq!(default.registration, CallbackRegistration::Register);
    let address = "https://pay.example/acquirers/bank/notifications/token";
    assert_eq!(default.address, Some(Secret::new(address.into())));
    assert_eq!(callbacks("http://pay.example", "").unwrap().registration, CallbackRegistration::Off);
    assert_eq!(callbacks("https://pay.example", "webhook = 'off'\n").unwrap().address, None);
    let of_efi = callbacks("https://pay.example", "webhook = 'replace'\ndialect = 'efi'\n").unwrap();
    assert_eq!(of_efi.address, Some(Secret::new(format!("{address}?ignorar="))));
    assert_eq!(of_efi.headers, [("x-skip-mtls-checking".to_owned(), "true".to_owned())]);
    for keys in ["webhook = 'register'\n", "webhook = 'replace'\n"] {
        let messages = refusals(load(
            &[],
            &[BANK_SECRET],
            Some(&format!("public-url = 'http://pay.example'\n{BANK}{ADDRESSES}{keys}")),
        ));
        refuses(&messages, "acquirer[bank].webhook: a bank calls back only over https");
    }
}

pub(crate) fn write_pair(folder: &Path, name: &str, until: i32) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["quita".into()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(until, 1, 1));
    std::fs::write(folder.join(format!("{name}.pem")), params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
}

fn pairs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_pair(folder.path(), "good", 2099);
    write_pair(folder.path(), "over", 2021);
    folder
}

fn with_pair(folder: &TempDir, certificate: &str, key: &str) -> String {
    let path = |name: &str| folder.path().join(name).display().to_string();
    format!("{ADDRESSES}certificate-file = '{}'\nprivate-key-file = '{}'\n", path(certificate), path(key))
}

#[test]
fn a_certificate_needs_its_own_key() {
    let folder = pairs();
    let good =
        load(&[], &[BANK_SECRET], Some(&format!("{BANK}{}", with_pair(&folder, "good.pem", "good.key"))));
    let good = good.unwrap();
    let until = bank(&good).tls.identity.unwrap().until().unwrap().to_string();
    assert!(until.starts_with("2099-01-01"), "{until}");
    assert!(!good.warnings.iter().any(|warning| warning.contains("certificate")), "{:?}", good.warnings);
    for (certificate, key, start) in [
        ("good.pem", "over.key", "acquirer[bank].private-key-file: it is not the key of the certificate"),
        ("good.key", "good.key", "acquirer[bank].certificate-file: it holds no certificate"),
        ("good.pem", "good.pem", "acquirer[bank].private-key-file: it holds no private key"),
        ("none.pem", "good.key", "acquirer[bank].certificate-file: "),
    ] {
        let messages = refused_bank(&with_pair(&folder, certificate, key), &[BANK_SECRET]);
        refuses(&messages, start);
    }
    let alone = format!("{ADDRESSES}certificate-file = '{}'\n", folder.path().join("good.pem").display());
    refuses(
        &refused_bank(&alone, &[BANK_SECRET]),
        "acquirer[bank].private-key-file: it is missing; a certificate",
    );
    let ca = format!("{ADDRESSES}ca-file = '{}'\n", folder.path().join("good.key").display());
    refuses(&refused_bank(&ca, &[BANK_SECRET]), "acquirer[bank].ca-file: it holds no certificate");
}

#[test]
fn a_certificate_that_is_over_is_worth_a_word() {
    let folder = pairs();
    let over = format!("{BANK}{}", with_pair(&folder, "over.pem", "over.key"));
    let config = load(&[], &[BANK_SECRET], Some(&over)).unwrap();
    let start = "acquirer[bank].certificate-file: its certificate expired at 2021-01-01";
    assert!(config.warnings.iter().any(|warning| warning.starts_with(start)), "{:?}", config.warnings);
}

#[test]
fn cielo_has_addresses_of_its_own_by_mode() {
    let read =
        |keys: &str| cielo(&load(&[], &CIELO_SECRETS, Some(&format!("{CIELO}{keys}"))).unwrap()).settings;
    let addresses = |keys: &str| {
        let settings = read(keys);
        (settings.base_url, settings.query_base_url)
    };
    let [live, query] =
        ["https://api.", "https://apiquery."].map(|host| format!("{host}cieloecommerce.cielo.com.br"));
    assert_eq!(addresses(""), (live, query));
    assert!(addresses("mode = 'test'\n").1.contains("apiquerysandbox"));
    let own = "https://cielo.example".to_owned();
    assert_eq!(addresses("base-url = 'https://cielo.example/'\n"), (own.clone(), own));
    let settings =
        read("notification-header = 'X-Secret'\nsoft-descriptor = 'LOJAEXEMPLO'\npix-provider = 'Cielo2'\n");
    assert_eq!(settings.notification_header, "x-secret");
    assert_eq!(settings.boleto.unwrap().provider, "Bradesco2");
    let config = load(&[], &CIELO_SECRETS, Some(CIELO)).unwrap();
    let spec = &config.acquirers[0].spec;
    assert_eq!((spec.methods.len(), spec.time_out_ms, spec.max_expiry_s), (3, 20_000, Some(86_400)));
    assert!(!format!("{config:?}").contains("hunter"));
}

#[test]
fn a_provider_of_boletos_that_cielo_has_no_more_is_worth_a_warning() {
    let warned = |provider: &str| {
        let config = load(&[], &CIELO_SECRETS, Some(&CIELO.replace("Bradesco2", provider))).unwrap();
        config.warnings.iter().any(|warning| warning.starts_with("acquirer[cielo].boleto.provider: "))
    };
    assert_eq!(["BancoDoBrasil2", "BancoDoBrasil3", "Bradesco2"].map(warned), [true, false, false]);
}

#[test]
fn a_bank_takes_charges_with_a_due_date_unless_that_is_switched_off() {
    for (keys, takes, scope) in [
        ("", true, "cob.write cob.read pix.write pix.read webhook.write webhook.read cobv.write cobv.read"),
        ("cobv = false\n", false, "cob.write cob.read pix.write pix.read webhook.write webhook.read"),
        ("scope = 'cob.write'\n", true, "cob.write"),
    ] {
        let table = format!("{BANK}{ADDRESSES}{keys}");
        let config = load(&[], &[BANK_SECRET], Some(&table)).unwrap();
        assert_eq!(config.acquirers[0].spec.due_dates.of_pix, takes, "{keys}");
        let TokenSettings::ClientCredentials { scope: asked, .. } = settings(&bank(&config)).token else {
            panic!("no token is asked for")
        };
        assert_eq!(asked, scope);
    }
}

#[test]
fn what_cielo_needs_and_has_not_is_refused_all_at_once() {
    let messages = refusals(load(&[], &[], Some("[[acquirer]]\nname = 'cielo'\nadapter = 'cielo'\n")));
    let keys = ["merchant-id", "merchant-key", "notification-secret", "boleto"];
    assert_eq!(messages.len(), keys.len(), "{messages:#?}");
    for (message, key) in messages.iter().zip(keys) {
        assert!(message.starts_with(&format!("acquirer[cielo].{key}: it is missing")), "{message}");
    }
}

#[test]
fn what_cielo_does_not_know_is_refused_with_its_key() {
    let read = |table: &str| refusals(load(&[], &CIELO_SECRETS, Some(table)));
    for (keys, start) in [
        ("merchant-key = 'hunter2'\n", "acquirer[cielo].merchant-key: a secret does not belong here"),
        ("base-url = 'https://cielo.example/1'\n", "acquirer[cielo].base-url: each call adds /1"),
        ("soft-descriptor = 'LOJA EXEMPLO'\n", "acquirer[cielo].soft-descriptor: "),
        ("pix-key = 'x'\n", "acquirer[cielo].pix-key: there is no such key"),
    ] {
        refuses(&read(&format!("{CIELO}{keys}")), start);
    }
    let without = |key: &str| CIELO.replace(key, "colour");
    let messages = read(&without("assignor"));
    assert!(messages[0].starts_with("acquirer[cielo].boleto.assignor: it is missing"), "{messages:?}");
    assert!(messages[1].starts_with("acquirer[cielo].boleto.colour: there is no such key"), "{messages:?}");
    let card = CIELO.replace("boleto = ", "methods = ['credit_card']\n#");
    assert!(load(&[], &CIELO_SECRETS, Some(&card)).is_ok());
}

#[test]
fn secrets_and_certificates_may_change_and_nothing_else() {
    let folder = pairs();
    let read = |keys: &str, secret: &str| {
        let variables = [(BANK_SECRET.0, secret), ("QUITA_ACQUIRER_BANK_APP_KEY", secret)];
        bank(
            &load(&[], &variables, Some(&format!("{BANK}{keys}headers = {{ x = '{{app-key}}' }}\n")))
                .unwrap(),
        )
    };
    let running = read(ADDRESSES, "one");
    let wanted = read(&format!("{}lists = false\n", with_pair(&folder, "good.pem", "good.key")), "two");
    let taken = running.with_secrets_of(&wanted);
    let running = settings(&running);
    let taken_settings = settings(&taken);
    assert_eq!(told(&taken_settings.headers), [("x", "two")]);
    assert_ne!(taken_settings.token, running.token);
    assert!(taken_settings.lists, "that wants a restart");
    assert_eq!(taken.tls, wanted.tls);
    assert_ne!(taken, wanted);
}

const PAGARME: &str = "[[acquirer]]\nname = 'pagarme'\nadapter = 'pagarme'\nmode = 'test'\n";

const PAGARME_SECRETS: [(&str, &str); 2] = [
    ("QUITA_ACQUIRER_PAGARME_SECRET_KEY", "sk_test_hunter2"),
    ("QUITA_ACQUIRER_PAGARME_NOTIFICATION_PASSWORD", "hunter3"),
];

#[test]
fn pagarme_has_one_address_and_takes_whole_percentages() {
    let keys = "recipient = 're_own'\nrecipients = { loja-a = 're_a' }\nmax-expiry = '1h'\nantifraud = false\n\
                soft-descriptor = 'LOJA EXEMPLO'\nboleto = { bank = '197', instructions = 'Pague' }\n";
    let config = load(&[], &PAGARME_SECRETS, Some(&format!("{PAGARME}{keys}"))).unwrap();
    let acquirer = &config.acquirers[0];
    let AdapterConfig::Pagarme(pagarme) = &acquirer.adapter else { panic!("{config:?}") };
    assert_eq!(pagarme.settings.base_url, "https://api.pagar.me/core/v5");
    assert_eq!(pagarme.settings.notification_user, "quita");
    assert_eq!(pagarme.settings.recipients["loja-a"], "re_a");
    assert_eq!((pagarme.settings.antifraud, acquirer.spec.max_expiry_s), (Some(false), Some(3_600)));
    let whole = quita_domain::routing::DueTermsTaken::WholePercentages;
    assert_eq!((acquirer.spec.due_dates.of_pix, acquirer.spec.due_dates.terms), (false, whole));
}

#[test]
fn what_pagarme_needs_and_has_not_is_refused_all_at_once() {
    let messages = refusals(load(&[], &[], Some(PAGARME)));
    for (message, key) in messages.iter().zip(["secret-key", "notification-password"]) {
        assert!(message.starts_with(&format!("acquirer[pagarme].{key}: it is missing")), "{message}");
    }
    assert_eq!(messages.len(), 2, "{messages:?}");
}

#[test]
fn what_pagarme_does_not_know_is_refused_with_its_key() {
    for (keys, beginning) in [
        ("recipients = { a = 're_a' }\n", "acquirer[pagarme].recipient: it is missing"),
        (
            "recipient = 're_a'\nrecipients = { a = 'loja' }\n",
            "acquirer[pagarme].recipients: loja is not a recipient id",
        ),
        ("soft-descriptor = 'LOJA EXEMPLO COM NOME LONGO'\n", "acquirer[pagarme].soft-descriptor: "),
        ("notification-user = 'a:b'\n", "acquirer[pagarme].notification-user: "),
        ("boleto = { bank = 'Stone' }\n", "acquirer[pagarme].boleto.bank: "),
        ("antifraud = 'maybe'\n", "acquirer[pagarme].antifraud: "),
        ("pix-key = 'x'\n", "acquirer[pagarme].pix-key: there is no such key"),
    ] {
        let messages = refusals(load(&[], &PAGARME_SECRETS, Some(&format!("{PAGARME}{keys}"))));
        assert!(messages.len() == 1 && messages[0].starts_with(beginning), "{keys}: {messages:?}");
    }
}

#[test]
fn a_key_of_the_other_mode_refuses_the_start() {
    for (mode, key, fits) in [
        ("test", "sk_test_hunter2", true),
        ("test", "sk_hunter2", false),
        ("live", "sk_hunter2", true),
        ("live", "sk_test_hunter2", false),
    ] {
        let table = PAGARME.replace("mode = 'test'", &format!("mode = '{mode}'"));
        let secrets = [("QUITA_ACQUIRER_PAGARME_SECRET_KEY", key), PAGARME_SECRETS[1]];
        let loaded = load(&[], &secrets, Some(&table));
        assert_eq!(loaded.is_ok(), fits, "{mode} {key}");
        if !fits {
            let messages = refusals(loaded);
            assert!(
                messages[0].contains("is for mode test") && !messages[0].contains("hunter2"),
                "{messages:?}"
            );
        }
    }
}

const SICOOB: &str = "[[acquirer]]\nname = 'sicoob'\nadapter = 'sicoob'\nmode = 'test'\ntoken-auth = 'static'\n\
                      client-id = 'c'\ncustomer = 25546454\naccount = 123456\nour-numbers = '1-1000'\n";

const SICOOB_SECRET: [(&str, &str); 1] = [("QUITA_ACQUIRER_SICOOB_STATIC_TOKEN", "hunter2")];

#[test]
fn sicoob_takes_boletos_with_every_term_and_has_its_addresses_by_mode() {
    let config = load(&[], &SICOOB_SECRET, Some(SICOOB)).unwrap();
    let acquirer = &config.acquirers[0];
    let AdapterConfig::Sicoob(sicoob) = &acquirer.adapter else { panic!("{config:?}") };
    assert_eq!(acquirer.spec.methods, [quita_domain::method::Method::Boleto]);
    let terms = (acquirer.spec.due_dates.of_pix, acquirer.spec.due_dates.terms);
    assert_eq!(terms, (false, quita_domain::routing::DueTermsTaken::All));
    assert!(sicoob.base_url.starts_with("https://sandbox.sicoob.com.br/"));
    assert_eq!((sicoob.token_url(), sicoob.our_numbers, sicoob.portfolio), (None, (1, 1_000), 1));
    let live =
        SICOOB.replace("mode = 'test'\ntoken-auth = 'static'\n", "base-url = 'https://bank.example'\n");
    let config = load(&[], &[], Some(&live)).unwrap();
    let AdapterConfig::Sicoob(sicoob) = &config.acquirers[0].adapter else { panic!("{config:?}") };
    assert!(sicoob.token_url().unwrap().starts_with("https://auth.sicoob.com.br/"));
}

#[test]
fn what_sicoob_needs_and_has_not_is_refused_all_at_once() {
    let table = "[[acquirer]]\nname = 'sicoob'\nadapter = 'sicoob'\n";
    let messages = refusals(load(&[], &[], Some(table)));
    for (message, key) in
        messages.iter().zip(["client-id", "customer", "account", "our-numbers", "certificate-file"])
    {
        assert!(message.starts_with(&format!("acquirer[sicoob].{key}: it is missing")), "{message}");
    }
    assert_eq!(messages.len(), 5, "{messages:?}");
}

#[test]
fn what_sicoob_does_not_know_is_refused_with_its_key() {
    for (keys, beginning) in [
        ("document-kind = '2'\n", "acquirer[sicoob].document-kind: "),
        ("protest = 'days'\n", "acquirer[sicoob].protest: "),
        ("our-number-digit = true\n", "acquirer[sicoob].cooperative: it is missing"),
        ("our-number-digit = true\ncooperative = 10000\n", "acquirer[sicoob].cooperative: "),
        ("cooperative = 4027\n", "acquirer[sicoob].cooperative: it is needed only with our-number-digit"),
        ("pix = 'perhaps'\n", "acquirer[sicoob].pix: "),
        ("boleto = { identification = '1' }\n", "acquirer[sicoob].boleto.identification: "),
        ("webhook = 'register'\n", "acquirer[sicoob].webhook: a bank calls back only over https"),
        ("pix-key = 'x'\n", "acquirer[sicoob].pix-key: there is no such key"),
    ] {
        let messages = refusals(load(&[], &SICOOB_SECRET, Some(&format!("{SICOOB}{keys}"))));
        assert!(messages.len() == 1 && messages[0].starts_with(beginning), "{keys}: {messages:?}");
    }
    for range in ["", "1", "0-9", "9-1", "1-2147483648", "a-b", "-1-9"] {
        let table = SICOOB.replace("1-1000", range);
        let messages = refusals(load(&[], &SICOOB_SECRET, Some(&table)));
        assert!(messages[0].starts_with("acquirer[sicoob].our-numbers: "), "{range}: {messages:?}");
    }
    let live = SICOOB.replace("mode = 'test'\n", "base-url = 'https://bank.example'\n");
    let messages = refusals(load(&[], &SICOOB_SECRET, Some(&live)));
    assert!(messages[0].starts_with("acquirer[sicoob].token-auth: a static token"), "{messages:?}");
}

#[test]
fn numbers_with_a_check_digit_need_the_cooperative_and_have_seven_digits_before_it() {
    let digit = "our-number-digit = true\ncooperative = 4027\n";
    assert!(load(&[], &SICOOB_SECRET, Some(&format!("{SICOOB}{digit}"))).is_ok());
    for (from, to, beginning) in [
        ("1-1000", "1-10000000", "acquirer[sicoob].our-numbers: numbers before a check digit"),
        ("25546454", "25546454123", "acquirer[sicoob].customer: with our-number-digit"),
    ] {
        let table = format!("{SICOOB}{digit}").replace(from, to);
        let messages = refusals(load(&[], &SICOOB_SECRET, Some(&table)));
        assert!(messages.len() == 1 && messages[0].starts_with(beginning), "{to}: {messages:?}");
    }
}

#[test]
fn a_number_with_its_digit_is_no_number_of_another_table() {
    let secrets = [SICOOB_SECRET[0], ("QUITA_ACQUIRER_OTHER_STATIC_TOKEN", "hunter3")];
    for (range, fits) in [("1-9", true), ("1-19", false), ("10000-20000", false), ("10010-20000", true)] {
        let other = SICOOB.replace("name = 'sicoob'", "name = 'other'").replace("1-1000", range);
        let with_digit = format!("{SICOOB}our-number-digit = true\ncooperative = 4027\n{other}");
        assert_eq!(load(&[], &secrets, Some(&with_digit)).is_ok(), fits, "{range}");
    }
}

#[test]
fn two_tables_never_give_out_one_number() {
    let secrets = [SICOOB_SECRET[0], ("QUITA_ACQUIRER_OTHER_STATIC_TOKEN", "hunter3")];
    for (range, portfolio, fits) in [
        ("1001-2000", 1, true),
        ("1000-2000", 1, false),
        ("1-1", 1, false),
        ("500-600", 1, false),
        ("1000-2000", 3, true),
    ] {
        let other = SICOOB.replace("name = 'sicoob'", "name = 'other'").replace("1-1000", range);
        let loaded = load(&[], &secrets, Some(&format!("{SICOOB}{other}portfolio = {portfolio}\n")));
        assert_eq!(loaded.is_ok(), fits, "{range} {portfolio}");
        if !fits {
            let messages = refusals(loaded);
            assert!(messages[0].starts_with("acquirer[other].our-numbers: another acquirer"), "{messages:?}");
        }
    }
}
