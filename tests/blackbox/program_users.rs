//! `quita users`, beside a running service and without one.

use crate::support::{Account, Finished, PATIENCE, Program, TestApp, Visitor, eventually};

const CREATE: [&str; 5] = ["users", "create", "--merchant", "shop", "--email"];

#[track_caller]
fn check_refused(finished: &Finished, code: i32, named: &[&str]) {
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(code), ""), "{finished:?}");
    for name in named {
        assert!(finished.stderr.contains(name), "{name}: {finished:?}");
    }
}

#[test]
fn a_new_password_is_printed_alone_and_opens_the_console_at_once() {
    let app = TestApp::new();
    let made = app.quita(&[&CREATE[..], &["ana@shop.example"]].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    let password = made.stdout.trim_end();
    assert_eq!(made.stdout, format!("{password}\n"), "the password, alone");
    assert!(
        password.len() >= 15 && password.chars().all(|character| character.is_ascii_graphic()),
        "{password}"
    );
    assert!(made.stderr.contains("not shown again") && !made.stderr.contains(password), "{made:?}");
    let visitor = Visitor::new(&app);
    assert_eq!(visitor.sign_in(" Ana@Shop.example ", password, "").status, 303, "in any spelling");
    visitor.choose_password("um céu de cada vez, devagar");
    // Who is made without a role is an owner.
    assert_eq!(visitor.get("/console/test/people").status, 200);
    let told = visitor.page("/console/test/audit");
    for part in ["created the user", "ana@shop.example", "command line", "owner"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    for kept in [&app.log(), &app.quita(&["users", "list", "--merchant", "shop"]).said()] {
        assert!(!kept.contains(password), "nobody else is told: {kept}");
    }
}

#[test]
fn users_are_listed_by_merchant_with_their_roles() {
    let app = TestApp::new();
    let nobody = app.quita(&["users", "list", "--merchant", "shop"]);
    assert_eq!((nobody.code, nobody.stdout.as_str()), (Some(0), ""), "{nobody:?}");
    assert!(nobody.stderr.contains("users create"), "{nobody:?}");
    for (merchant, email, role) in [
        ("shop", "vera@shop.example", "viewer"),
        ("shop", "ana@shop.example", "owner"),
        ("rival", "rita@rival.example", "developer"),
    ] {
        Account::create(&app, merchant, email, role);
    }
    let listed = app.quita(&["users", "list", "--merchant", "shop"]).output();
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert_eq!(
        (lines[0][..2].to_vec(), lines[1][..2].to_vec()),
        (vec!["ana@shop.example", "owner"], vec!["vera@shop.example", "viewer"])
    );
    assert!(lines.iter().all(|line| line[2] == "password only"), "{listed}");
}

#[test]
fn who_never_signed_in_is_listed_so_by_the_program_and_both_consoles() {
    let app = TestApp::new();
    let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
    Account::create(&app, "shop", "vera@shop.example", "viewer");
    let operator = Visitor::operator(&app);
    app.quita(&["users", "operators", "create", "--email", "pia@ops.example"]).output();
    let last_column = |arguments: &[&str]| {
        let listed = app.quita(arguments).output();
        let lines = listed.lines().map(|line| line.rsplit('\t').next().unwrap().to_owned());
        lines.collect::<Vec<_>>()
    };
    let users = ["users", "list", "--merchant", "shop"];
    assert_eq!(last_column(&users), ["never", "never"]);
    let operators = last_column(&["users", "operators", "list"]);
    assert!(operators[0].starts_with("20") && operators[1] == "never", "{operators:?}");
    let visitor = Visitor::signed_in(&app, &owner);
    let used = last_column(&users);
    assert!(used[0].starts_with("20") && used[1] == "never", "one signed in: {used:?}");
    let json = app.quita(&[&users[..], &["--json"]].concat()).output();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json[0]["activeAt"].is_string() && json[1]["activeAt"].is_null(), "{json:#}");
    let never = |page: &str| page.matches(">Never</td>").count();
    let page = visitor.page("/console/test/people");
    assert_eq!(never(&page), 1, "{page}");
    let page = operator.page("/people");
    assert_eq!(never(&page), 1, "{page}");
}

#[test]
fn a_login_belongs_to_one_user_of_one_merchant() {
    let app = TestApp::new();
    let first = Account::create(&app, "shop", "ana@shop.example", "owner");
    for merchant in ["shop", "rival"] {
        let again = app.quita(&["users", "create", "--merchant", merchant, "--email", "ANA@shop.example"]);
        check_refused(&again, 1, &["ana@shop.example", "belongs to a user of shop", "quita users remove"]);
    }
    Visitor::signed_in(&app, &first);
}

#[test]
fn changes_of_users_hold_for_a_running_service_and_are_audited() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let hired = Account::create(&app, "shop", "dora@shop.example", "developer");
    let visitor = Visitor::signed_in(&app, &hired);
    let changed = app.quita(&["users", "set-role", "dora@shop.example", "viewer"]);
    assert_eq!((changed.code, changed.stdout.as_str()), (Some(0), ""), "{changed:?}");
    assert_eq!(visitor.post("/console/test/applications", &[("name", "x")]).status, 403);
    let password = app.quita(&["users", "reset-password", "dora@shop.example"]).output();
    assert_eq!(visitor.get("/console/test").status, 303, "the sessions end");
    assert_eq!(visitor.sign_in(&hired.email, &hired.password, "").status, 422);
    assert_eq!(visitor.sign_in(&hired.email, &password, "").status, 303);
    let removed = app.quita(&["users", "remove", "dora@shop.example"]);
    assert_eq!((removed.code, removed.stdout.as_str()), (Some(0), ""), "{removed:?}");
    assert_eq!(visitor.get("/console/test").status, 303);
    assert_eq!(visitor.sign_in(&hired.email, &password, "").status, 422);
    let log = owner.page("/console/test/audit");
    let entries: Vec<_> = log.split("<tr>").filter(|entry| entry.contains("command line")).collect();
    let told = [
        ("removed the user", "viewer"),
        ("changed the password of", ""),
        ("changed the role of", "developer"),
        ("created the user", "developer"),
        ("created the user", "owner"),
    ];
    assert_eq!(entries.len(), told.len() + 1, "{log}");
    for (entry, (action, detail)) in entries.iter().zip(told) {
        assert!(entry.contains(action) && entry.contains(detail), "{action} {detail}: {entry}");
    }
    assert!(entries[5].contains("created the key"), "which the test itself did: {}", entries[5]);
    assert!(!log.contains(&password), "{log}");
}

#[test]
fn who_is_not_there_is_told_and_wrong_usage_exits_with_2() {
    let app = TestApp::new();
    let nobody = "nobody@shop.example";
    for arguments in [
        &["set-role", nobody, "viewer"][..],
        &["reset-password", nobody],
        &["reset-factor", nobody],
        &["remove", nobody],
    ] {
        check_refused(&app.quita(&[&["users"], arguments].concat()), 1, &[nobody]);
    }
    let directory = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &[&str]); 9] = [
        (&["users"], &["create", "list", "remove"]),
        (&["users", "create"], &["--merchant", "--email"]),
        (&["users", "create", "--merchant", "shop", "--email", "ana"], &["ana@example.com"]),
        (&["users", "create", "--merchant", "shop", "--email", "a b@c"], &["a b@c"]),
        (&["users", "create", "--merchant", "", "--email", "a@b.c"], &["--merchant"]),
        (
            &["users", "create", "--merchant", "shop", "--email", "a@b.c", "--role", "admin"],
            &["admin", "owner", "developer", "viewer"],
        ),
        (&["users", "create", "--merchant", "shop", "--email", "a@b.c", "--password", "x"], &["--password"]),
        (&["users", "set-role", "a@b.c"], &["ROLE"]),
        (&["users", "list"], &["--merchant"]),
    ];
    for (arguments, named) in cases {
        check_refused(&Program::new(directory.path(), arguments).run(), 2, named);
    }
    assert!(std::fs::read_dir(directory.path()).unwrap().next().is_none(), "nothing was made");
}

#[test]
fn a_start_makes_no_user_if_there_is_one() {
    let mut app = TestApp::new();
    let create = ["users", "create", "--merchant", "shop", "--email", "ana@shop.example"];
    let password = app.quita(&create).output();
    app.quita(&["users", "remove", "demo@example.com"]).output();
    app.restart();
    assert_eq!(Visitor::new(&app).sign_in("ana@shop.example", &password, "").status, 303);
    assert_eq!(app.printed().matches("sign in as").count(), 1, "the first start's: {}", app.printed());
    let demo = app.quita(&["users", "list", "--merchant", "demo"]);
    assert_eq!((demo.code, demo.stdout.as_str()), (Some(0), ""), "{demo:?}");
}

#[test]
fn the_first_run_prints_how_to_sign_in_once() {
    let mut app = TestApp::new();
    let printed = app.printed();
    let (_, after) =
        printed.split_once("sign in as demo@example.com, password ").expect("it says how to sign in");
    let password = after.split_whitespace().next().unwrap();
    assert!(printed.contains(&format!("{}/console/", app.url())), "{printed}");
    assert_eq!(Visitor::new(&app).sign_in("demo@example.com", password, "").status, 303);
    app.kill();
    app.restart();
    let later = app.printed()[printed.len()..].to_owned();
    assert!(!later.contains("password") && !later.contains("qk_test_"), "never again: {later}");
    for place in [format!("{}/console/", app.url()), format!("{}/docs", app.url()), app.ops_url()] {
        assert!(later.contains(&place), "where {place} is: {later}");
    }
    assert!(later.contains("keys create --merchant demo"), "how to get another key: {later}");
    assert_eq!(Visitor::new(&app).sign_in("demo@example.com", password, "").status, 303);
    assert!(!app.log().contains(password), "nor is it in the log");
}

#[test]
fn the_first_run_promises_no_sandbox_that_is_not_configured_for_pix() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quita.toml");
    for (methods, is_promised) in [("'pix'", true), ("'boleto'", false)] {
        let table = "[[acquirer]]\nname = 'a'\nadapter = 'sandbox'\nsettle-after = '7s'\n";
        std::fs::write(&file, format!("{table}methods = [{methods}]\n")).unwrap();
        let app = TestApp::builder().arg("--config", file.to_str().unwrap()).start();
        let printed = app.printed();
        assert!(printed.contains("Create a PIX payment of R$ 100,00"), "{printed}");
        assert_eq!(printed.contains("; the sandbox pays it after 7 s:"), is_promised, "{methods}: {printed}");
        assert_eq!(printed.contains("the sandbox pays"), is_promised, "{methods}: {printed}");
    }
}

#[test]
fn who_is_removed_by_command_leaves_a_list_of_keys_or_none_at_all() {
    let app = TestApp::new();
    let hired = Account::create(&app, "shop", "dora@shop.example", "developer");
    let visitor = Visitor::signed_in(&app, &hired);
    let make_key = || {
        let fields = [("scope", "payments:read")];
        let page = visitor.post("/console/test/applications/default/keys", &fields).text();
        let (_, after) = page.split_once("id=\"secret\">").unwrap();
        after.split('<').next().unwrap().to_owned()
    };
    let id_of = |key: &str| key.split('_').nth(2).unwrap().to_owned();
    let first = make_key();
    let removed = app.quita(&["users", "remove", &hired.email]);
    assert_eq!(removed.stdout, format!("key\t{}\ttest\tdefault\n", id_of(&first)), "{removed:?}");
    assert!(removed.code == Some(0) && removed.stderr.contains("keys revoke"), "{removed:?}");
    assert_eq!(app.client_with(&first).get("/pay/payments").status, 200, "nobody asked for more");
    let again = Account::create(&app, "shop", &hired.email, "developer");
    let removed = app.quita(&["users", "remove", &again.email, "--revoke-keys"]);
    assert!(removed.code == Some(0) && removed.stderr.contains(&id_of(&first)), "{removed:?}");
    eventually(PATIENCE, "the key stops", || {
        (app.client_with(&first).get("/pay/payments").status == 401).then_some(())
    });
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let log = owner.page("/console/test/audit");
    let mut entries = log.split("<tr>");
    assert!(
        entries.any(|entry| entry.contains("revoked the key") && entry.contains(&id_of(&first))),
        "{log}"
    );
}
