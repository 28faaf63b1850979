//! Tests of `[[acquirer]]` tables, and of the reader with an adapter that has more keys than the sandbox.

use std::ffi::OsString;
use std::path::Path;

use quita_domain::webhook::signature::WebhookSecret;

use super::*;
use crate::problem::ConfigError;
use crate::store_url::StoreUrl;
use crate::tests::{load, refusals};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// An adapter such as a future one may be.
#[derive(Debug, PartialEq, Eq)]
struct Bank {
    base_url: String,
    scopes: Option<Vec<String>>,
    client_secret: String,
}

impl Bank {
    fn read(table: &mut AcquirerTable<'_>) -> Option<Self> {
        let text = |text: &str| Some(text.to_owned());
        let base_url = table.required("base-url", "an https URL", text);
        let scopes = table.list("scopes", "scopes", text);
        let client_secret = table.required_secret("client-secret", "any text", text);
        Some(Self { base_url: base_url?, scopes, client_secret: client_secret? })
    }
}

/// Reads a table of the acquirer `my-bank` from `quita.toml` in this folder.
fn bank(folder: &Path, table: &str, variables: &[(&str, &str)]) -> Result<Bank, Vec<String>> {
    let variables = variables.iter().map(|(name, text)| (OsString::from(name), OsString::from(text)));
    let mut settings = Settings::gather([], variables);
    let origin = Origin::File { path: folder.join("quita.toml"), key: OPTION.into() };
    let mut table = AcquirerTable::new(&mut settings, &origin, OPTION, 0, table.parse().unwrap());
    table.set_name("my-bank");
    let bank = Bank::read(&mut table);
    table.refuse_unknown();
    let told = |error: ConfigError| error.0.iter().map(ToString::to_string).collect();
    settings.finish().map_err(told).map(|()| bank.unwrap())
}

fn bank_refusals(table: &str, variables: &[(&str, &str)]) -> Vec<String> {
    bank(Path::new("/etc/quita"), table, variables).unwrap_err()
}

fn sandboxes(config: &crate::Config) -> Vec<&SandboxConfig> {
    let sandboxes = config.acquirers.iter().map(|acquirer| match &acquirer.adapter {
        AdapterConfig::Sandbox(sandbox) => sandbox,
        AdapterConfig::ApiPix(_)
        | AdapterConfig::Cielo(_)
        | AdapterConfig::Pagarme(_)
        | AdapterConfig::Sicoob(_) => {
            panic!("{acquirer:?}")
        }
    });
    sandboxes.collect()
}

#[test]
fn a_sandbox_has_what_the_sandbox_options_say_unless_its_table_says_otherwise() {
    let file = "sandbox-settle-after = '5s'\nsandbox-time-out = '700ms'\n\
                [[acquirer]]\nname = 'plain'\nadapter = 'sandbox'\n\
                [[acquirer]]\nname = 'slow'\nadapter = 'sandbox'\nsettle_after = '1m'\ntime-out = '9s'\nrate = 7\n";
    let config = load(&[], &[], Some(file)).unwrap();
    let settle_after =
        sandboxes(&config).iter().map(|sandbox| sandbox.settle_after.as_secs()).collect::<Vec<_>>();
    assert_eq!(settle_after, [5, 60]);
    let told =
        |acquirer: &AcquirerConfig| (acquirer.spec.time_out_ms, acquirer.spec.rate.map(|rate| rate.get()));
    assert_eq!(config.acquirers.iter().map(told).collect::<Vec<_>>(), [(700, None), (9_000, Some(7))]);
}

#[test]
fn the_mistakes_of_all_tables_are_reported_at_once_with_acquirer_key_and_origin() {
    let file = "[[acquirer]]\nname = 'one'\nadapter = 'sandbox'\nrate = 0\nsettle-after = 3\ncolour = 'red'\n\
                [[acquirer]]\nadapter = 'bank'\nweight = 0\n\
                [[acquirer]]\nname = 'two'\nadapter = 'sandbox'\nmethods = ['cash']\nmode = 'live'\n";
    let messages = refusals(load(&[], &[], Some(file)));
    let places = [
        ("acquirer[one].rate: \"0\" is not allowed; allowed: a whole", "key acquirer[0].rate)"),
        ("acquirer[one].settle-after: \"3\" is not allowed", "key acquirer[0].settle-after)"),
        ("acquirer[one].colour: there is no such key; known: name, adapter, ", "key acquirer[0].colour)"),
        ("acquirer[1].name: it is missing", "key acquirer[1].name)"),
        (
            "acquirer[1].adapter: \"bank\" is not allowed; allowed: sandbox or api_pix or cielo",
            "key acquirer[1].adapter)",
        ),
        ("acquirer[1].weight: \"0\"", "key acquirer[1].weight)"),
        ("acquirer[two].mode: a sandbox moves no money", "key acquirer[2].mode)"),
        ("acquirer[two].methods: allowed: an array of pix, boleto, credit_card", "key acquirer[2].methods)"),
    ];
    assert_eq!(messages.len(), places.len(), "{messages:#?}");
    for (message, (start, end)) in messages.iter().zip(places) {
        assert!(message.starts_with(start) && message.ends_with(end), "{message}");
    }
}

#[test]
fn a_misspelt_key_is_named_where_its_absence_is_told() {
    let file = "[[acquirer]]\nname = 'a'\nadaptr = 'sandbox'\n[[acquirer]]\nname = 'b'\ncolour = 'red'\n";
    let messages = refusals(load(&[], &[], Some(file)));
    let starts = [
        "acquirer[a].adapter: it is missing; there is adaptr instead: did you mean adapter? Allowed: sandbox or ",
        "acquirer[b].adapter: it is missing; allowed: sandbox or ",
    ];
    assert_eq!(messages.len(), starts.len(), "{messages:#?}");
    for (message, start) in messages.iter().zip(starts) {
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn a_key_that_is_known_to_another_adapter_alone_is_refused() {
    let messages = bank_refusals(
        "base-url = 'x'\nsettle-after = '1s'",
        &[("QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET", "s")],
    );
    let known = "known: base-url, scopes, client-secret-file";
    let expected = format!(
        "acquirer[my-bank].settle-after: there is no such key; {known} \
         (file /etc/quita/quita.toml key acquirer[0].settle-after)"
    );
    assert_eq!(messages, [expected]);
}

#[test]
fn a_key_that_is_set_twice_is_refused() {
    let variables = [("QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET", "s")];
    let messages = bank_refusals("base-url = 'x'\nbase_url = 'y'", &variables);
    assert!(messages.len() == 1 && messages[0].contains("set twice"), "{messages:?}");
}

#[test]
fn a_secret_comes_from_its_variable_or_from_a_file_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let by_variable = bank(
        folder.path(),
        "base-url = 'https://bank.example'\nscopes = ['a', 'b']",
        &[("QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET", "hunter2\n")],
    );
    let expected = Bank {
        base_url: "https://bank.example".into(),
        scopes: Some(vec!["a".into(), "b".into()]),
        client_secret: "hunter2\n".into(),
    };
    assert_eq!(by_variable, Ok(expected));
    let absolute = folder.path().join("secret");
    for path in ["secret", "./secret", absolute.to_str().unwrap()] {
        // One line end belongs to the file; everything else belongs to the secret.
        for (content, secret) in [
            ("hunter2", "hunter2"),
            ("hunter2\n", "hunter2"),
            ("hunter2\r\n", "hunter2"),
            (" h \n\n", " h \n"),
        ] {
            std::fs::write(&absolute, content).unwrap();
            let table = format!("base-url = 'x'\nclient_secret_file = '{path}'");
            assert_eq!(
                bank(folder.path(), &table, &[]).unwrap().client_secret,
                secret,
                "{path}: {content:?}"
            );
        }
    }
}

#[test]
fn a_secret_that_is_missing_is_refused_with_both_places_for_it() {
    let expected = "acquirer[my-bank].client-secret: it is missing; set QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET, or set \
                    client-secret-file to a file that holds nothing else \
                    (file /etc/quita/quita.toml key acquirer[0].client-secret)";
    assert_eq!(bank_refusals("base-url = 'x'", &[]), [expected]);
    assert_eq!(bank_refusals("base-url = 'x'", &[("QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET", "")]), [expected]);
}

#[test]
fn a_secret_in_the_table_is_refused_and_never_repeated() {
    for table in ["client-secret = 'hunter2'", "client_secret = ['hunter2']"] {
        let messages = bank_refusals(&format!("base-url = 'x'\n{table}"), &[]);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(
            messages[0]
                .contains("set QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET, or set client-secret-file to a file"),
            "{messages:?}"
        );
        assert!(!messages[0].contains("hunter2"), "{messages:?}");
    }
}

#[test]
fn a_file_that_holds_no_secret_is_refused_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (name, content) in [("empty", &b""[..]), ("line", b"\n"), ("binary", b"hunter2\xff")] {
        std::fs::write(path(name), content).unwrap();
    }
    for (name, why) in [
        ("empty", "is empty"),
        ("line", "is empty"),
        ("binary", "can't be read"),
        ("absent", "can't be read: No such file"),
        (".", "can't be read"),
    ] {
        let table = format!("base-url = 'x'\nclient-secret-file = '{name}'");
        let messages = bank(folder.path(), &table, &[]).unwrap_err();
        assert_eq!(messages.len(), 1, "{messages:?}");
        let start = format!("acquirer[my-bank].client-secret-file: {} {why}", path(name));
        assert!(messages[0].starts_with(&start), "{messages:?}");
        assert!(!messages[0].contains("hunter2"), "{messages:?}");
    }
}

#[test]
fn a_file_and_a_variable_at_once_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "hunter2").unwrap();
    let table = "base-url = 'x'\nclient-secret-file = 'secret'";
    let variables = [("QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET", "hunter2")];
    let messages = bank(folder.path(), table, &variables).unwrap_err();
    assert_eq!(messages.len(), 1, "{messages:?}");
    let both = "client-secret-file: environment QUITA_ACQUIRER_MY_BANK_CLIENT_SECRET is set too; remove one";
    assert!(messages[0].contains(both) && !messages[0].contains("hunter2"), "{messages:?}");
}

#[test]
fn a_sandbox_may_have_a_notification_secret_which_never_shows() {
    let variable = "QUITA_ACQUIRER_SANDBOX_BACKUP_NOTIFICATION_SECRET";
    let config = load(&[], &[(variable, SECRET)], None).unwrap();
    let secrets: Vec<_> =
        sandboxes(&config).iter().map(|sandbox| sandbox.notification_secret.clone()).collect();
    assert_eq!(secrets, [None, WebhookSecret::parse(SECRET)], "of the default acquirers");
    assert!(!format!("{config:?}").contains("MfKQ"));
    let messages = refusals(load(&[], &[(variable, "hunter2")], None));
    let expected = format!("(environment {variable})");
    assert!(messages[0].contains("whsec_") && messages[0].ends_with(&expected), "{messages:?}");
    assert!(!messages[0].contains("hunter2"), "{messages:?}");
}

#[test]
fn a_path_in_the_file_is_relative_to_its_folder_and_any_other_to_where_the_program_runs() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    let acquirer = format!("[{{ name = 'a', adapter = 'sandbox', notification-secret-file = '{name}/s' }}]");
    let in_flag = refusals(load(&[("acquirer", &acquirer)], &[], None));
    assert!(in_flag[0].contains(&format!("notification-secret-file: {name}/s can't be read")), "{in_flag:?}");
    // The file of `load` is beside this folder.
    std::fs::write(folder.path().join("s"), SECRET).unwrap();
    let config = load(&[], &[], Some(&format!("acquirer = {acquirer}"))).unwrap();
    assert_eq!(sandboxes(&config)[0].notification_secret, WebhookSecret::parse(SECRET));
}

#[test]
fn names_that_become_the_same_variable_are_refused() {
    let twice = "[{ name = 'a-b', adapter = 'sandbox' }, { name = 'a_b', adapter = 'sandbox', weight = 0 }]";
    let messages = refusals(load(&[("acquirer", twice)], &[], None));
    let expected = "acquirer[1].name: a_b and a-b both become QUITA_ACQUIRER_A_B_… in the environment; \
                    rename one of the two (flag --acquirer)";
    assert_eq!(messages[0], expected);
    assert!(messages[1].starts_with("acquirer[1].weight"), "{messages:?}");
    assert_eq!(messages.len(), 2, "{messages:?}");
}

#[test]
fn a_variable_that_no_acquirer_reads_is_refused_with_those_that_are_read() {
    let variable = "QUITA_ACQUIRER_SANDBOX_CLIENT_SECRET";
    let messages = refusals(load(&[], &[(variable, "hunter2")], None));
    let expected = format!(
        "{variable}: no acquirer has such a secret; variables of the configured ones: \
         QUITA_ACQUIRER_SANDBOX_BACKUP_NOTIFICATION_SECRET, QUITA_ACQUIRER_SANDBOX_NOTIFICATION_SECRET"
    );
    assert_eq!(messages, [expected]);
    let messages = refusals(load(&[("acquirer", "[]")], &[(variable, "hunter2")], None));
    assert!(messages.len() == 1 && messages[0].ends_with(": none"), "{messages:?}");
    // The variables that the acquirer of an unknown adapter would read are not known.
    let unknown = "[{ name = 'sandbox', adapter = 'bank' }]";
    let messages = refusals(load(&[("acquirer", unknown)], &[(variable, "hunter2")], None));
    assert!(messages.len() == 1 && messages[0].contains("adapter"), "{messages:?}");
}

#[test]
fn commands_that_only_need_the_store_leave_the_secrets_of_acquirers_alone() {
    let variable = (OsString::from("QUITA_ACQUIRER_BANK_CLIENT_SECRET"), OsString::from("hunter2"));
    let settings = Settings::gather([], [variable]);
    assert!(!format!("{settings:?}").contains("hunter2"));
    assert_eq!(StoreUrl::from_settings(settings), Ok(StoreUrl::default()));
}
