//! `quita keys`, `quita secrets` and `quita doctor`, beside a running service and without one.

use crate::support::{Program, TestApp};

#[test]
fn a_new_key_is_printed_alone_and_works_at_once() {
    let app = TestApp::new();
    let made = app.quita(&["keys", "create", "--merchant", "shop"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let key = made.stdout.trim_end();
    assert_eq!(made.stdout, format!("{key}\n"), "the key, alone");
    let parts: Vec<_> = key.splitn(4, '_').collect();
    assert_eq!(parts[..2], ["qk", "test"]);
    assert!(parts[3].len() >= 43, "256 random bits are 43 characters: {}", parts[3].len());
    assert_eq!(app.client_with(key).get("/pay/payments").status, 200);
}

#[test]
fn a_key_that_makes_a_merchant_says_so_and_names_the_one_that_may_be_meant() {
    let app = TestApp::new();
    let create = |merchant: &str| {
        let made = app.quita(&["keys", "create", "--merchant", merchant]);
        assert_eq!((made.code, made.stdout.lines().count()), (Some(0), 1), "{made:?}");
        made
    };
    create("livraria");
    let known = create("livraria");
    assert!(!known.stderr.contains("is new"), "{known:?}");
    let typo = create("livaria");
    let id = typo.stdout.split('_').nth(2).unwrap();
    let said = format!(
        "Merchant livaria is new: this is its first key. Did you mean livraria? Then revoke this key: quita keys \
         revoke {id}\n"
    );
    assert!(typo.stderr.ends_with(&said), "{typo:?}");
    let other = create("padaria-central");
    assert!(other.stderr.ends_with("Merchant padaria-central is new: this is its first key.\n"), "{other:?}");
}

#[test]
fn a_key_of_a_merchant_without_a_key_in_use_names_the_one_that_may_be_meant() {
    let app = TestApp::new();
    let create = |merchant: &str| {
        let made = app.quita(&["keys", "create", "--merchant", merchant]);
        let id = made.stdout.split('_').nth(2).unwrap().to_owned();
        (made, id)
    };
    create("livraria");
    for typo in ["livaria", "livarria"] {
        let (_, id) = create(typo);
        app.quita(&["keys", "revoke", &id]).output();
    }
    let (again, id) = create("livaria");
    let said = format!(
        "Merchant livaria has no other key in use. Did you mean livraria? Then revoke this key: quita keys revoke {id}\n"
    );
    assert!(again.stderr.ends_with(&said), "{again:?}");
}

#[test]
fn keys_of_one_merchant_are_listed() {
    let app = TestApp::new();
    for merchant in ["livraria", "padaria"] {
        app.create_key(&["--merchant", merchant]);
    }
    let listed = app.quita(&["keys", "list", "--merchant", "padaria"]).output();
    assert!(listed.contains("padaria") && !listed.contains("livraria"), "{listed}");
    let unknown = app.quita(&["keys", "list", "--merchant", "padria"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.stderr.contains("Did you mean padaria?"), "{unknown:?}");
}

#[test]
fn keys_are_listed_with_all_but_their_secret() {
    let app = TestApp::new();
    let key = app.create_key(&[
        "--merchant",
        "livraria",
        "--application",
        "site",
        "--mode",
        "live",
        "--scopes",
        "webhooks",
    ]);
    let (id, secret) = key.trim_start_matches("qk_live_").split_once('_').unwrap();
    let listed = app.quita(&["keys", "list"]).output();
    let line = listed.lines().find(|line| line.contains(id)).unwrap();
    for part in ["livraria", "site", "live", "webhooks"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!listed.contains(secret), "{listed}");
    app.quita(&["keys", "revoke", id]).output();
    let listed = app.quita(&["keys", "list"]).output();
    let line = listed.lines().find(|line| line.contains(id)).unwrap();
    assert!(line.contains("revoked"), "{line}");
}

#[test]
fn an_unknown_key_cannot_be_revoked() {
    let app = TestApp::new();
    let refused = app.quita(&["keys", "revoke", "0123456789abcdef"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.stderr.contains("0123456789abcdef"), "{refused:?}");
}

#[test]
fn a_secret_is_shown_alone_and_rotated_with_the_newest_first() {
    let app = TestApp::new();
    let first = app.secret();
    assert!(first.starts_with("whsec_") && first.lines().count() == 1, "{first}");
    app.quita(&["secrets", "rotate", "--merchant", "shop"]).output();
    let shown = app.secret();
    let secrets: Vec<_> = shown.lines().collect();
    assert_eq!((secrets.len(), secrets[1]), (2, &*first));
    let nobody = app.quita(&["secrets", "show", "--merchant", "nobody"]);
    assert_eq!((nobody.code, nobody.stdout.as_str()), (Some(1), ""), "{nobody:?}");
}

#[test]
fn each_mode_has_secrets_of_its_own() {
    let app = TestApp::new();
    let secrets =
        |verb: &str, mode: &str| app.quita(&["secrets", verb, "--merchant", "shop", "--mode", mode]).output();
    let test = secrets("show", "test");
    let live = secrets("show", "live");
    assert_eq!(test, app.secret(), "test is the default");
    assert!(live.starts_with("whsec_") && live != test, "{live}");
    let rotated = secrets("rotate", "live");
    let rotated: Vec<_> = rotated.lines().collect();
    assert_eq!((rotated.len(), rotated[1]), (2, &*live));
    assert_eq!((secrets("show", "live"), app.secret()), (rotated.join("\n"), test));
    let refused = app.quita(&["secrets", "show", "--merchant", "shop", "--mode", "prod"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
}

#[test]
fn a_rotation_keeps_every_older_secret_and_a_sixth_is_refused() {
    let app = TestApp::new();
    let mut secrets = vec![app.secret()];
    for _ in 0..4 {
        app.quita(&["secrets", "rotate", "--merchant", "shop"]).output();
        let shown = app.secret();
        let shown: Vec<_> = shown.lines().map(str::to_owned).collect();
        assert_eq!(shown[1..], secrets[..]);
        secrets = shown;
    }
    let refused = app.quita(&["secrets", "rotate", "--merchant", "shop"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.stderr.contains('5'), "it says how many there may be: {refused:?}");
    assert_eq!(app.secret().lines().collect::<Vec<_>>(), secrets);
}

#[test]
fn wrong_usage_exits_with_2_and_names_what_is_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &[&str]); 14] = [
        (&["nonsense"], &["nonsense"]),
        (&["serve", "--nonsense"], &["--nonsense"]),
        (&["serve", "--log-format", "xml"], &["xml", "human", "json"]),
        (&["serve", "--log-level", "loud"], &["loud", "error", "debug"]),
        (&["serve", "--environment", "staging"], &["staging", "development", "production"]),
        (&["serve", "--listen", "nowhere"], &["nowhere", "127.0.0.1"]),
        (&["serve", "--store", "postgres://x/y"], &["sqlite:", "mongodb://"]),
        (&["serve", "--rate-limit", "many"], &["many"]),
        (&["keys", "create"], &["--merchant"]),
        (&["keys", "create", "--merchant", "a", "--mode", "prod"], &["prod", "test", "live"]),
        (
            &["keys", "create", "--merchant", "a", "--scopes", "all"],
            &["all", "payments:write", "payments:read", "webhooks"],
        ),
        (&["keys", "create", "--merchant", "a", "--expires-in", "soon"], &["soon", "90d"]),
        (&["sandbox", "steal", "x"], &["steal"]),
        (&["listen", "--answer", "99"], &["99"]),
    ];
    for (arguments, named) in cases {
        let refused = Program::new(directory.path(), arguments).run();
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{arguments:?}: {refused:?}");
        for name in named {
            assert!(refused.stderr.contains(name), "{name} of {arguments:?}: {}", refused.stderr);
        }
    }
    assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none(), "nothing was made");
}

#[test]
fn an_unknown_variable_and_an_unknown_key_of_the_file_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = Program::new(directory.path(), ["serve"]).env("QUITA_LISTEM", "127.0.0.1:0").run();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("QUITA_LISTEM") && refused.stderr.contains("QUITA_LISTEN"),
        "{refused:?}"
    );
    for (text, told) in [
        ("listem = \"127.0.0.1:0\"\n", ["listem", "quita.toml", "did you mean listen?"]),
        ("[acquirer]\nname = \"a\"\n", ["one table", "quita.toml", "[[acquirer]]"]),
        (
            "[[acquirer]]\nname = \"a\"\nadapter = \"sandbox\"\nwieght = 2\n",
            ["wieght", "quita.toml", "did you mean weight?"],
        ),
    ] {
        std::fs::write(directory.path().join("quita.toml"), text).unwrap();
        let refused = Program::new(directory.path(), ["serve", "--config", "quita.toml"]).run();
        assert_eq!(refused.code, Some(2), "{refused:?}");
        for part in told {
            assert!(refused.stderr.contains(part), "{part}: {refused:?}");
        }
    }
}

#[test]
fn variables_of_other_commands_and_of_kubernetes_stop_nothing() {
    let app = TestApp::new();
    let others = [
        ("QUITA_LOAD_RATE", "100"),
        ("QUITA_KEY", "qk_test_x"),
        ("QUITA_RECEIVER_ANSWER", "500"),
        ("QUITA_OPS_SERVICE_HOST", "10.0.0.1"),
        ("QUITA_OPS_SERVICE_PORT_METRICS", "9090"),
        ("QUITA_MONGODB_PORT_27017_TCP", "tcp://10.0.0.2:27017"),
    ];
    for arguments in [&["keys", "list"][..], &["doctor"], &["secrets", "show", "--merchant", "shop"]] {
        let program = app.program(arguments);
        let done = others.iter().fold(program, |program, (name, value)| program.env(name, value)).run();
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    let refused = app.program(&["keys", "list"]).env("QUITA_LOAD_RAET", "1").run();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("did you mean QUITA_LOAD_RATE?"), "{refused:?}");
}

#[test]
fn clients_refuse_a_misspelt_variable_as_the_service_does() {
    let app = TestApp::new();
    std::fs::write(app.directory().join("a.ret"), "").unwrap();
    let clients: [&[&str]; 9] = [
        &["payments", "list"],
        &["refunds", "list"],
        &["disputes", "list"],
        &["trigger", "payment.paid"],
        &["sandbox", "pay", "00000000-0000-7000-8000-000000000000"],
        &["listen"],
        &["logs", "tail"],
        &["load", "--duration", "1s"],
        &["cnab", "read", "a.ret"],
    ];
    let said =
        "the configuration is refused:\n  QUITA_STOR: there is no such variable; did you mean QUITA_STORE?\n";
    for arguments in clients {
        let program = app.program(arguments).env("QUITA_URL", &app.url()).env("QUITA_KEY", app.key());
        let refused = program.env("QUITA_STOR", "sqlite:other.db").run();
        assert_eq!((refused.code, refused.stderr.as_str()), (Some(2), said), "{arguments:?}: {refused:?}");
        assert_eq!(refused.stdout, "", "{arguments:?}");
    }
    let others = [
        ("QUITA_LISTEN", "127.0.0.1:0"),
        ("QUITA_ACQUIRER_BANK_CLIENT_SECRET", "x"),
        ("QUITA_LOAD_RATE", "100"),
        ("QUITA_OPS_SERVICE_HOST", "10.0.0.1"),
        ("QUITA_MONGODB_PORT_27017_TCP", "tcp://10.0.0.2:27017"),
    ];
    let program = app.program(&["payments", "list"]).env("QUITA_URL", &app.url()).env("QUITA_KEY", app.key());
    let done = others.iter().fold(program, |program, (name, value)| program.env(name, value)).run();
    assert_eq!(done.code, Some(0), "{done:?}");
    for arguments in [&["completions", "bash"][..], &["man"]] {
        let done = app.program(arguments).env("QUITA_STOR", "x").run();
        assert_eq!(done.code, Some(0), "what only prints asks nothing: {done:?}");
    }
}

#[test]
fn a_port_alone_is_listened_on_at_loopback() {
    for listen in ["0", ":0", "localhost:0"] {
        let app = TestApp::builder().arg("--listen", listen).start();
        assert!(app.address().starts_with("127.0.0.1:"), "{listen}: {}", app.address());
    }
}

#[test]
fn the_doctor_finds_nothing_wrong_with_a_running_service() {
    let app = TestApp::new();
    let found = app.quita(&["doctor"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    for part in ["configuration", "store", "clock", "acquirer"] {
        assert!(found.stdout.contains(part), "{part}: {found:?}");
    }
}

#[test]
fn the_doctor_says_what_is_wrong_and_fails() {
    let app = TestApp::new();
    let unreachable = "mongodb://127.0.0.1:1/quita?replicaSet=rs&serverSelectionTimeoutMS=500";
    let found = app.program(&["doctor"]).env("QUITA_STORE", unreachable).run();
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.said().contains("127.0.0.1:1"), "{found:?}");
    let found = app.quita(&["doctor", "--environment", "production"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.said().contains("QUITA_SECRET_KEY") && found.said().contains("public-url"), "{found:?}");
}
