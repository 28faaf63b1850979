//! Tests of the whole configuration, as flags, variables and a file set it.

use std::ffi::OsString;
use std::io::Write;

use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_ports::trace::TraceShare;

use super::mail::MailProtection;
use super::*;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Loads a configuration from flags, variables and the text of a file.
pub(super) fn load(
    flags: &[(&'static str, &str)],
    variables: &[(&str, &str)],
    file: Option<&str>,
) -> Result<Config, ConfigError> {
    let mut toml = tempfile::Builder::new().prefix("q").suffix(".toml").tempfile().unwrap();
    toml.write_all(file.unwrap_or_default().as_bytes()).unwrap();
    let path = toml.path().to_str().unwrap().to_owned();
    let mut flags: Vec<_> = flags.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    flags.extend(file.map(|_| ("config", path)));
    let variables = variables.iter().map(|(name, text)| (OsString::from(name), OsString::from(text)));
    Config::from_settings(Settings::gather(flags, variables))
}

pub(super) fn refusals(result: Result<Config, ConfigError>) -> Vec<String> {
    result.unwrap_err().0.iter().map(ToString::to_string).collect()
}

fn unsafe_parts(config: &Config) -> Vec<String> {
    let problems = config.refuse_unsafe().err().map_or(Vec::new(), |error| error.0);
    problems.into_iter().map(|problem| problem.option).collect()
}

#[test]
fn nothing_set_is_development_on_loopback_with_two_sandboxes() {
    let config = load(&[], &[], None).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.ops_listen.to_string(), "127.0.0.1:9090");
    assert_eq!(config.public_url_at(config.listen), "http://127.0.0.1:8080");
    assert_eq!(config.store.to_string(), "sqlite:data/quita.db");
    assert_eq!((config.environment, config.rate_limit), (Environment::Development, None));
    let acquirers: Vec<_> = config
        .acquirers
        .iter()
        .map(|acquirer| (acquirer.spec.name.as_str(), acquirer.spec.priority, acquirer.spec.mode))
        .collect();
    assert_eq!(acquirers, [("sandbox", 1, Mode::Test), ("sandbox-backup", 2, Mode::Test)]);
    assert_eq!(unsafe_parts(&config), Vec::<String>::new());
    assert_eq!(config.warnings, Vec::<String>::new());
}

#[test]
fn the_configurations_of_package_and_image_are_understood_and_safe() {
    let cases = [
        (include_str!("../../packaging/quita.toml"), "127.0.0.1:8080", vec![]),
        (include_str!("../../packaging/oci/quita.toml"), "0.0.0.0:8080", vec![("QUITA_SECRET_KEY", SECRET)]),
    ];
    for (file, listen, variables) in cases {
        let config = load(&[], &variables, Some(file)).unwrap();
        assert_eq!(config.listen.to_string(), listen);
        assert_eq!(config.ops_listen.to_string(), "127.0.0.1:9090");
        assert_eq!(config.store.to_string(), "sqlite:/var/lib/quita/quita.db");
        assert_eq!(unsafe_parts(&config), Vec::<String>::new());
    }
    let without_a_key = load(&[], &[], Some(include_str!("../../packaging/oci/quita.toml"))).unwrap();
    assert_ne!(unsafe_parts(&without_a_key), Vec::<String>::new());
}

#[test]
fn flags_win_over_variables_which_win_over_the_file() {
    let file = "listen = '127.0.0.1:1'\nops-listen = '127.0.0.1:2'\nrate_limit = 3\n";
    let variables = [("QUITA_LISTEN", "127.0.0.1:11"), ("QUITA_OPS_LISTEN", "127.0.0.1:12")];
    let config = load(&[("listen", "127.0.0.1:21")], &variables, Some(file)).unwrap();
    assert_eq!(config.listen.port(), 21);
    assert_eq!(config.ops_listen.port(), 12);
    assert_eq!(config.rate_limit, Some(3));
}

#[test]
fn every_option_can_be_set_in_all_three_places() {
    let values = [
        ("listen", "127.0.0.1:1"),
        ("ops-listen", "127.0.0.1:2"),
        ("ops-hosts", "ops.example.com, 10.0.0.1"),
        ("public-url", "https://pay.example.com/base"),
        ("store", "mongodb://h/quita?replicaSet=rs"),
        ("environment", "production"),
        ("rate-limit", "7"),
        ("log-format", "human"),
        ("log-level", "debug"),
        ("log-refusals", "true"),
        ("shutdown-time", "3s"),
        ("idle-after", "30s"),
        ("session-idle", "10m"),
        ("operators-need-second-factor", "false"),
        ("max-installments", "6"),
        ("min-installment", "1000"),
        ("checkout-tries-per-link", "3"),
        ("checkout-tries-per-network", "7"),
        ("sandbox-settle-after", "1h"),
        ("sandbox-time-out", "700ms"),
        ("reconcile-at", "04:30"),
        ("retain-personal-data", "5y"),
        ("archive-after", "1y"),
        ("behind-proxy", "true"),
        ("otlp-endpoint", "http://127.0.0.1:4318"),
        ("otlp-sample", "0.1%"),
        ("mail-server", "smtps://mail.example.com"),
        ("mail-from", "quita@example.com"),
        ("route", "[{ name = \"r\", use = [\"one\"] }]"),
        ("cost", "[{ acquirer = \"one\", fixed = 1 }]"),
        ("routing-prefer", "net"),
        ("routing-sticky", "true"),
        ("acquirer", "[{ name = 'one', adapter = 'sandbox' }]"),
    ];
    let set: Vec<_> = values.iter().map(|(name, _)| *name).collect();
    let rest: Vec<_> =
        option::OPTIONS.iter().map(|option| option.name).filter(|name| !set.contains(name)).collect();
    let secrets = [
        "mail-user",
        "mail-password-file",
        "mail-password",
        "operator-password-file",
        "operator-password",
        "secret-key-file",
        "secret-key",
    ];
    assert_eq!(rest, secrets, "every other option stands above");
    let by_flags = load(&values, &[], None).unwrap();
    let names: Vec<_> = values.iter().map(|(name, _)| option::find(name).unwrap().variable()).collect();
    let variables: Vec<_> =
        names.iter().zip(&values).map(|(name, (_, value))| (name.as_str(), *value)).collect();
    let by_variables = load(&[], &variables, None).unwrap();
    let lines: Vec<_> = values
        .iter()
        .map(|(name, value)| match *name {
            "acquirer" => "[[acquirer]]\nname = 'one'\nadapter = 'sandbox'\n".to_owned(),
            "rate-limit"
            | "max-installments"
            | "min-installment"
            | "checkout-tries-per-link"
            | "checkout-tries-per-network"
            | "behind-proxy"
            | "operators-need-second-factor"
            | "log-refusals" => {
                format!("{name} = {value}\n")
            }
            _ => format!("{name} = '{value}'\n"),
        })
        .collect();
    let by_file = load(&[], &[], Some(&lines.concat())).unwrap();
    assert_eq!(by_flags, by_variables);
    assert_eq!(by_flags, by_file);
    assert_ne!(by_flags, load(&[], &[], None).unwrap());
    assert_eq!(by_flags.acquirers[0].spec.time_out_ms, 700);
    assert_eq!(by_flags.otlp.as_ref().unwrap().share, TraceShare::parse("0.1%").unwrap());
    assert_eq!(by_flags.public_url_at(by_flags.listen), "https://pay.example.com/base");
}

#[test]
fn operators_need_a_second_factor_in_production_unless_that_is_said_which_is_warned_of() {
    let config = |more: &[(&'static str, &str)]| load(more, &[], None).unwrap();
    let told = |config: &Config| {
        let told = |warning: &&String| warning.starts_with("operators-need-second-factor is false");
        config.warnings.iter().filter(told).count()
    };
    let production = ("environment", "production");
    for (config, needs, warnings) in [
        (config(&[]), false, 0),
        (config(&[("operators-need-second-factor", "true")]), true, 0),
        (config(&[production]), true, 0),
        (config(&[production, ("operators-need-second-factor", "false")]), false, 1),
    ] {
        assert_eq!((config.operators_need_second_factor, told(&config)), (needs, warnings));
    }
}

#[test]
fn what_is_wrong_is_reported_all_at_once_with_its_origin_and_what_is_allowed() {
    let messages = refusals(load(
        &[("rate-limit", "many")],
        &[("QUITA_LISTEN", "localhost"), ("QUITA_RATELIMIT", "1")],
        Some("log-level = 'loud'\nlisten-on = 'x'\nshutdown-time = 10\nmax-installments = 13\n"),
    ));
    let told = |parts: &[&str]| {
        assert!(
            messages.iter().any(|message| parts.iter().all(|part| message.contains(part))),
            "{parts:?} not in {messages:#?}"
        );
    };
    told(&["rate-limit: \"many\" is not allowed (flag --rate-limit); allowed: 0 to 1000000"]);
    told(&["listen: \"localhost\"", "(environment QUITA_LISTEN)", "such as 127.0.0.1:8080"]);
    told(&["QUITA_RATELIMIT: there is no such variable; did you mean QUITA_RATE_LIMIT?"]);
    told(&["log-level: \"loud\"", ".toml key log-level)", "off, error, warn, info, debug or trace"]);
    told(&["listen-on: there is no such option (file ", "did you mean listen?"]);
    told(&["shutdown-time: \"10\"", "30s"]);
    told(&["max-installments: \"13\"", "1 to 12"]);
    assert_eq!(messages.len(), 7, "{messages:#?}");
}

#[test]
fn what_is_unsafe_is_told_with_what_is_refused_unless_it_only_follows_from_that() {
    let options = |flags: &[(&'static str, &str)], variables: &[(&str, &str)], file: Option<&str>| {
        let ConfigError(problems) = load(flags, variables, file).unwrap_err();
        problems.into_iter().map(|problem| problem.option).collect::<Vec<_>>()
    };
    let production = ("environment", "production");
    let plain = [production, ("public-url", "http://pay.example.com")];
    let all = options(&plain, &[], Some("behind-prxy = true"));
    assert_eq!(all, ["behind-prxy", "secret-key", "public-url"]);
    for (flags, variables, file, expected) in [
        // Refused itself, or probably meant by an unknown name.
        (vec![production, ("public-url", "x")], vec![], None, vec!["public-url", "secret-key"]),
        (vec![production], vec![("QUITA_PUBLIC_ULR", "x")], None, vec!["QUITA_PUBLIC_ULR", "secret-key"]),
        (plain.to_vec(), vec![("QUITA_SECRET_KEYS", SECRET)], None, vec!["QUITA_SECRET_KEYS", "public-url"]),
        (plain.to_vec(), vec![], Some("secret-key = 'x'"), vec!["secret-key", "public-url"]),
        // These decide which settings are safe.
        (vec![("environment", "prod"), ("listen", "0.0.0.0:1")], vec![], None, vec!["environment"]),
        (vec![("listen", "0.0.0.0:1")], vec![], Some("enviroment = 'production'"), vec!["enviroment"]),
        (vec![production, ("config", "/nowhere.toml")], vec![], None, vec!["config"]),
    ] {
        assert_eq!(options(&flags, &variables, file), expected);
    }
    let missing = [production, ("secret-key-file", "/nowhere"), ("public-url", "https://pay.example.com")];
    let told = options(&missing, &[], None);
    assert!(told.len() == 1 && told[0].starts_with("secret-key"), "{told:?}");
}

#[test]
fn a_log_is_set_up_before_the_rest_is_understood() {
    let log = |flags: &[(&'static str, &str)]| {
        let flags = flags.iter().map(|(name, text)| (*name, (*text).to_owned()));
        LogConfig::from_settings(Settings::gather(flags, []))
    };
    let production = ("environment", "production");
    assert_eq!(log(&[production, ("listen", "nowhere")]).format, LogFormat::Json);
    assert_eq!(log(&[production, ("log-format", "human")]).format, LogFormat::Human);
    assert_eq!(log(&[("log-level", "loud")]), load(&[], &[], None).unwrap().log);
    let whole = load(&[production, ("log-level", "warn")], &[], None).unwrap().log;
    assert_eq!(log(&[production, ("log-level", "warn")]), whole);
}

#[test]
fn variables_of_others_are_left_alone_and_empty_ones_count_as_not_set() {
    let variables = [
        ("QUITA_TEST_MONGODB_URI", "x"),
        ("QUITA_SERVICE_HOST", "10.0.0.1"),
        ("QUITA_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("QUITA_OPS_SERVICE_HOST", "10.0.0.2"),
        ("QUITA_MONGODB_PORT_27017_TCP", "tcp://10.0.0.3:27017"),
        ("QUITA_STORE", ""),
        ("PATH", "/bin"),
    ];
    assert_eq!(load(&[], &variables, None).unwrap(), load(&[], &[], None).unwrap());
}

#[test]
fn variables_of_commands_are_known_and_a_slip_in_one_is_told() {
    let of_commands = ["QUITA_KEY".to_owned(), "QUITA_LOAD_RATE".to_owned()];
    let read = |name: &str| {
        let settings = Settings::gather_among([], [(name.into(), "1".into())], &of_commands);
        Config::from_settings(settings)
    };
    assert!(read("QUITA_KEY").is_ok() && read("QUITA_LOAD_RATE").is_ok());
    let told = refusals(read("QUITA_LOAD_RTE"));
    assert_eq!(told, ["QUITA_LOAD_RTE: there is no such variable; did you mean QUITA_LOAD_RATE?"]);
    assert!(
        refusals(read("QUITA_COLOUR"))[0].contains("known: QUITA_LISTEN, "),
        "and what there is, if none is near"
    );
}

#[test]
fn variables_are_checked_alike_where_no_setting_is_read() {
    let of_commands = ["QUITA_KEY".to_owned()];
    let check = |name: &str| {
        Settings::refuse_unknown_variables([(name.into(), "nonsense".into())], &of_commands)
            .map_err(|error| error.to_string())
    };
    for known in ["QUITA_KEY", "QUITA_LISTEN", "QUITA_CONFIG", "QUITA_ACQUIRER_BANK_CLIENT_SECRET"] {
        assert_eq!(check(known), Ok(()), "{known}");
    }
    for foreign in ["QUITA_TEST_STORE", "QUITA_OPS_SERVICE_HOST", "QUITA_PORT_8080_TCP", "PATH"] {
        assert_eq!(check(foreign), Ok(()), "{foreign}");
    }
    let told = check("QUITA_STOR").unwrap_err();
    assert!(told.ends_with("QUITA_STOR: there is no such variable; did you mean QUITA_STORE?"), "{told}");
}

#[test]
fn one_table_where_an_array_of_them_belongs_is_told_as_what_it_is() {
    for (file, option) in [
        ("[acquirer]\nname = 'one'\nadapter = 'sandbox'\n", "acquirer"),
        ("[acquirer.one]\nadapter = 'sandbox'\n", "acquirer"),
        ("[route]\nname = 'r'\n", "route"),
    ] {
        let messages = refusals(load(&[], &[], Some(file)));
        let [message] = &messages[..] else { panic!("{messages:#?}") };
        assert!(message.starts_with(&format!("{option}: it is one table (file ")), "{message}");
        assert!(
            message.ends_with(&format!("write [[{option}]] above each table, not [{option}]")),
            "{message}"
        );
    }
}

#[test]
fn production_names_everything_that_is_unsafe() {
    let production = [("environment", "production")];
    let config = load(&production, &[], None).unwrap();
    assert_eq!(unsafe_parts(&config), ["secret-key", "public-url"]);
    assert_eq!(config.rate_limit, Some(200));
    let plain = [("QUITA_PUBLIC_URL", "http://pay.example.com"), ("QUITA_SECRET_KEY", "short")];
    let config = load(&production, &plain, None).unwrap();
    assert_eq!(unsafe_parts(&config), ["secret-key", "public-url"]);
    let safe = [("QUITA_PUBLIC_URL", "https://pay.example.com"), ("QUITA_SECRET_KEY", SECRET)];
    let config = load(&production, &safe, None).unwrap();
    assert_eq!(unsafe_parts(&config), Vec::<String>::new());
}

#[test]
fn an_operators_listener_that_others_reach_is_worth_a_warning() {
    let password = [("QUITA_OPERATOR_PASSWORD", "fifteen letters")];
    for (listen, warnings) in [("127.0.0.1:1", 0), ("[::1]:1", 0), ("0.0.0.0:1", 2), ("10.0.0.1:1", 2)] {
        let config = load(&[("ops-listen", listen)], &password, None).unwrap();
        assert_eq!(config.warnings.len(), warnings, "{listen}");
    }
    let named = [("ops-listen", "10.0.0.1:1"), ("ops-hosts", "ops.example.com")];
    assert_eq!(load(&named, &password, None).unwrap().warnings.len(), 1);
}

#[test]
fn development_with_the_key_that_everybody_knows_serves_this_machine_only() {
    for name in ["listen", "ops-listen"] {
        for (address, is_safe) in [
            ("127.0.0.1:1", true),
            ("127.8.8.8:1", true),
            ("[::1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
        ] {
            let config = load(&[(name, address)], &[], None).unwrap();
            let expected: &[&str] = if is_safe { &[] } else { &["secret-key"] };
            assert_eq!(unsafe_parts(&config), expected, "{name} {address}");
            let config = load(&[(name, address)], &[("QUITA_SECRET_KEY", SECRET)], None).unwrap();
            assert_eq!(unsafe_parts(&config), Vec::<String>::new(), "{name} {address}");
        }
    }
}

#[test]
fn names_of_the_operators_pages_are_a_list_or_a_text_without_ports() {
    let expected = ["ops.example.com", "10.0.0.1", "[fd00::1]"];
    let text = [("ops-hosts", "OPS.example.com:9090, 10.0.0.1 ,[fd00::1]:80")];
    assert_eq!(load(&text, &[], None).unwrap().ops_hosts, expected);
    let file = "ops-hosts = ['OPS.example.com', '10.0.0.1:1', '[fd00::1]']";
    assert_eq!(load(&[], &[], Some(file)).unwrap().ops_hosts, expected);
    for wrong in ["", ",", "a,,b", "http://ops.example.com", "a b", "*"] {
        assert!(
            refusals(load(&[("ops-hosts", wrong)], &[], None))[0].contains("with commas between"),
            "{wrong}"
        );
    }
    assert!(refusals(load(&[], &[], Some("ops-hosts = [1]")))[0].contains("key ops-hosts"));
}

#[test]
fn a_password_in_a_flag_is_worth_a_warning_and_is_never_repeated() {
    let url = "mongodb://user:hunter2@host/quita";
    assert_eq!(load(&[("store", url)], &[], None).unwrap().warnings.len(), 1);
    let config = load(&[], &[("QUITA_STORE", url)], None).unwrap();
    assert_eq!(config.warnings.len(), 0);
    assert!(!format!("{config:?}").contains("hunter2"));
    let messages = refusals(load(&[("store", "mongo://user:hunter2@host")], &[], None));
    assert!(messages[0].contains("(flag --store)") && !messages[0].contains("hunter2"), "{messages:?}");
}

#[test]
fn the_secret_key_comes_from_the_environment_or_a_file_of_its_own() {
    let config = load(&[], &[("QUITA_SECRET_KEY", SECRET)], None).unwrap();
    assert_eq!(config.secret_keys.newest().expose(), SECRET.as_bytes());
    assert!(!format!("{config:?}").contains(SECRET));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{SECRET}").unwrap();
    let path = file.path().to_str().unwrap();
    let config = load(&[("secret-key-file", path)], &[], None).unwrap();
    assert_eq!(config.secret_keys.newest().expose(), SECRET.as_bytes());
    let both = load(&[("secret-key-file", path)], &[("QUITA_SECRET_KEY", SECRET)], None);
    assert!(refusals(both)[0].contains("both set"));
    let in_file = refusals(load(&[], &[], Some(&format!("secret-key = '{SECRET}'"))));
    assert!(in_file[0].contains("QUITA_SECRET_KEY") && !in_file[0].contains(SECRET), "{in_file:?}");
    let missing = refusals(load(&[("secret-key-file", "/nowhere/at/all")], &[], None));
    assert!(missing[0].contains("/nowhere/at/all"), "{missing:?}");
}

#[test]
fn several_secret_keys_stand_in_lines_the_newest_first() {
    let keys = |text: &str| load(&[], &[("QUITA_SECRET_KEY", text)], None).unwrap().secret_keys;
    let several = keys(&format!("{SECRET}-new\n\n{SECRET}-mid\r\n{SECRET}\n"));
    let found: Vec<_> = several.each().map(|key| String::from_utf8_lossy(key.expose())).collect();
    assert_eq!(found, [format!("{SECRET}-new"), format!("{SECRET}-mid"), SECRET.to_owned()]);
    assert_eq!(several.newest(), keys(&format!("{SECRET}-new")).newest());
    assert_eq!(several.oldest(), keys(SECRET).newest());
    assert_eq!(keys(SECRET).oldest(), keys(SECRET).newest());
    assert!(keys(&format!("{SECRET}\nshort")).has_short());
    assert!(keys(&format!("{SECRET}\nquita-development-key-known-to-everybody")).has_default());
}

#[test]
fn the_console_of_operators_has_a_known_password_on_loopback_in_development_alone() {
    let password = |flags: &[(&'static str, &str)], set: Option<&str>| {
        let variables: Vec<_> = set.map(|set| ("QUITA_OPERATOR_PASSWORD", set)).into_iter().collect();
        let config = load(flags, &variables, None).unwrap();
        assert!(!format!("{config:?}").contains("-operator-"));
        config.operator_password.map(|password| password.expose().clone())
    };
    let known = operator_password::DEVELOPMENT_PASSWORD;
    assert_eq!(password(&[], None).as_deref(), Some(known));
    assert_eq!(password(&[], Some("fifteen letters")).as_deref(), Some("fifteen letters"));
    for flags in [("environment", "production"), ("ops-listen", "0.0.0.0:9090")] {
        assert_eq!(password(&[flags], None), None, "{flags:?}");
        let public = refusals(load(&[flags], &[("QUITA_OPERATOR_PASSWORD", known)], None));
        assert!(public[0].contains("the public password of development"), "{flags:?}: {public:?}");
        assert_eq!(password(&[flags], Some("fifteen letters")).as_deref(), Some("fifteen letters"));
    }
    let short = load(&[], &[("QUITA_OPERATOR_PASSWORD", "fourteen chars")], None);
    assert!(refusals(short)[0].contains("at least 15"));
}

#[test]
fn an_acquirer_may_state_everything() {
    let file = "[[acquirer]]\nname = 'one'\nadapter = 'sandbox'\nmode = 'test'\nmethods = ['pix', 'boleto']\n\
                priority = 5\nweight = 9\nmin-amount = 100\nmax_amount = 20000\nconcurrency = 3\n\
                time-out = '1s'\n";
    let config = load(&[], &[], Some(file)).unwrap();
    let spec = &config.acquirers[0].spec;
    assert_eq!(spec.methods, [Method::Pix, Method::Boleto]);
    assert_eq!((spec.priority, spec.weight, spec.concurrency, spec.time_out_ms), (5, 9, 3, 1_000));
    assert_eq!((spec.min_amount.cents(), spec.max_amount.cents()), (100, 20_000));
}

#[test]
fn an_acquirer_that_breaks_a_rule_is_refused_with_its_place() {
    for (line, place, allowed) in [
        ("name = 'A b'", "acquirer[0].name", "a–z"),
        ("adapter = 'bank'", "acquirer[0].adapter", "sandbox"),
        ("mode = 'live'", "acquirer[0].mode", "live keys never reach it"),
        ("methods = []", "acquirer[0].methods", "at least one"),
        ("methods = ['cash']", "acquirer[0].methods", "credit_card"),
        ("weight = 0", "acquirer[0].weight", "1 to 1000"),
        ("priority = -1", "acquirer[0].priority", "from 0"),
        ("min-amount = 0", "acquirer[0].min-amount", "1 to 9999999999"),
        ("min-amount = 2\nmax-amount = 1", "acquirer[0].min-amount", "more than max-amount"),
        ("concurrency = 0", "acquirer[0].concurrency", "1 to 10000"),
        ("time-out = '30s'", "acquirer[0].time-out", "less than 30s"),
        ("time-out = '0s'", "acquirer[0].time-out", "less than 30s"),
        ("colour = 'red'", "acquirer[0].colour", "known: name, adapter"),
    ] {
        let rest: Vec<_> = ["name = 'one'", "adapter = 'sandbox'"]
            .into_iter()
            .filter(|other| other.split(' ').next() != line.split(' ').next())
            .collect();
        let messages =
            refusals(load(&[], &[], Some(&format!("[[acquirer]]\n{line}\n{}\n", rest.join("\n")))));
        assert_eq!(messages.len(), 1, "{line}: {messages:?}");
        assert!(messages[0].contains(&format!(".toml key {place})")), "{line}: {messages:?}");
        assert!(messages[0].contains(allowed), "{line}: {messages:?}");
    }
}

#[test]
fn acquirers_need_a_name_an_adapter_and_differ_in_name() {
    let messages = refusals(load(&[("acquirer", "[{}]")], &[], None));
    assert!(messages[0].starts_with("acquirer[0].name: it is missing"), "{messages:?}");
    assert!(messages[1].starts_with("acquirer[0].adapter: it is missing"), "{messages:?}");
    let twice = "[{ name = 'a', adapter = 'sandbox' }, { name = 'a', adapter = 'sandbox' }]";
    let messages = refusals(load(&[("acquirer", twice)], &[], None));
    assert_eq!(messages, ["acquirer[1].name: another acquirer has this name (flag --acquirer)"]);
    for text in ["sandbox", "5", "[5]", "{}"] {
        let messages = refusals(load(&[], &[("QUITA_ACQUIRER", text)], None));
        assert!(messages[0].contains("an array of tables"), "{text}: {messages:?}");
    }
}

#[test]
fn a_public_url_with_more_than_a_place_is_refused() {
    for url in ["pay.example.com", "ftp://x", "https://user@x", "https://x/?a", "https://x/#a"] {
        let messages = refusals(load(&[("public-url", url)], &[], None));
        assert!(messages[0].contains("without user, query or fragment"), "{url}: {messages:?}");
    }
}

#[test]
fn traces_go_nowhere_unless_a_collector_is_named() {
    assert_eq!(load(&[], &[], None).unwrap().otlp, None);
    assert_eq!(load(&[("otlp-sample", "1%")], &[], None).unwrap().otlp, None);
    let config = load(&[("otlp-endpoint", "http://127.0.0.1:4318")], &[], None).unwrap();
    assert_eq!(config.otlp.unwrap().share, TraceShare::ALL);
    for endpoint in ["127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://user:hunter2@host"] {
        let messages = refusals(load(&[("otlp-endpoint", endpoint)], &[], None));
        assert!(messages[0].contains("such as http://127.0.0.1:4318"), "{endpoint}: {messages:?}");
        assert!(!messages[0].contains("hunter2"), "{messages:?}");
    }
    for share in ["1", "0%", "101%", "1.5"] {
        let messages = refusals(load(&[("otlp-sample", share)], &[], None));
        assert!(messages[0].contains("a percentage above 0"), "{share}: {messages:?}");
    }
}

#[test]
fn messages_go_nowhere_unless_a_server_and_a_sender_are_named() {
    assert_eq!(load(&[], &[], None).unwrap().mail, None);
    let server = [("mail-server", "smtp://mail.example.com"), ("mail-from", "quita@example.com")];
    let mail = load(&server, &[], None).unwrap().mail.unwrap();
    assert_eq!((mail.protection, mail.port, mail.credentials), (MailProtection::StartTls, 587, None));
    let password = [("QUITA_MAIL_PASSWORD", "hunter2")];
    let (user, _) = load(&server, &password, None).unwrap().mail.unwrap().credentials.unwrap();
    assert_eq!(user, "quita@example.com", "it is the sender unless another is named");
    let messages = refusals(load(&server[..1], &[], None));
    assert!(messages[0].contains("set mail-from"), "{messages:?}");
    let messages = refusals(load(&server[1..], &[], None));
    assert!(messages[0].contains("no effect without mail-server"), "{messages:?}");
    let messages = refusals(load(&[server[0], server[1], ("mail-user", "quita")], &[], None));
    assert!(messages[0].contains("QUITA_MAIL_PASSWORD"), "{messages:?}");
    let messages =
        refusals(load(&[("mail-server", "smtp://quita:hunter2@mail.example.com"), server[1]], &[], None));
    assert!(messages[0].contains("STARTTLS") && !messages[0].contains("hunter2"), "{messages:?}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let messages = refusals(load(&[], &[("QUITA_CONFIG", "/nowhere.toml")], None));
    assert!(messages[0].starts_with("config: /nowhere.toml: it can't be read"), "{messages:?}");
    assert!(messages[0].contains("environment QUITA_CONFIG"), "{messages:?}");
}

#[test]
fn an_option_set_twice_in_the_file_is_refused() {
    let messages = refusals(load(&[], &[], Some("rate-limit = 1\nrate_limit = 2\n")));
    assert!(messages[0].starts_with("rate-limit: it is set twice"), "{messages:?}");
}

#[test]
fn both_listeners_at_one_address_are_refused_and_both_are_named() {
    for (listen, ops_listen, is_refused) in [
        ("127.0.0.1:7000", "127.0.0.1:7000", true),
        ("0.0.0.0:7000", "127.0.0.1:7000", true),
        ("[::1]:7000", "[::]:7000", true),
        ("127.0.0.1:7000", "127.0.0.2:7000", false),
        ("127.0.0.1:7000", "127.0.0.1:7001", false),
        ("127.0.0.1:0", "127.0.0.1:0", false),
    ] {
        let loaded = load(&[("listen", listen), ("ops-listen", ops_listen)], &[], None);
        assert_eq!(loaded.is_err(), is_refused, "{listen} {ops_listen}");
        if let Err(error) = loaded {
            let text = format!("it is {ops_listen}, and listen is {listen}: they must differ");
            assert!(error.to_string().contains(&text), "{error}");
        }
    }
}
