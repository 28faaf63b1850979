//! Names of merchants and applications on the command line: a misspelt one is not silently another one.

use crate::support::{Finished, TestApp};

/// Checks that a command changed and printed nothing, and said this.
#[track_caller]
fn check_refused(finished: &Finished, said: &str) {
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{finished:?}");
    assert!(finished.stderr.ends_with(&format!("{said}\n")), "{said}: {finished:?}");
}

#[test]
fn a_merchant_that_nobody_made_is_named_with_the_one_that_may_be_meant() {
    let app = TestApp::new();
    app.create_key(&["--merchant", "livraria"]);
    let commands: [&[&str]; 9] = [
        &["users", "list"],
        &["users", "list", "--json"],
        &["applications", "list"],
        &["applications", "set-webhook", "--url", "http://127.0.0.1:8090/"],
        &["applications", "origins"],
        &["merchants", "show"],
        &["merchants", "set-profile", "--contact", "ana@livraria.example"],
        &["secrets", "show"],
        &["secrets", "rotate"],
    ];
    for command in commands {
        let of = |merchant: &str| app.quita(&[command, &["--merchant", merchant]].concat());
        let said = "There is no merchant livaria in this store. Did you mean livraria?";
        check_refused(&of("livaria"), said);
        let said = "There is no merchant padaria-central in this store. `quita keys create --merchant NAME` or \
                    `quita users create` creates one.";
        check_refused(&of("padaria-central"), said);
        let known = of("livraria");
        assert_eq!(known.code, Some(0), "{known:?}");
    }
}

#[test]
fn an_application_that_nobody_made_is_named_with_the_one_that_may_be_meant() {
    let app = TestApp::new();
    app.create_key(&["--merchant", "livraria", "--application", "catalogo"]);
    let commands: [&[&str]; 4] = [
        &["applications", "set-webhook", "--url", "none"],
        &["applications", "origins"],
        &["secrets", "show"],
        &["secrets", "rotate"],
    ];
    for command in commands {
        let of = |application: &str| {
            app.quita(&[command, &["--merchant", "livraria", "--application", application]].concat())
        };
        let said = "Merchant livraria has no application catlogo. Did you mean catalogo?";
        check_refused(&of("catlogo"), said);
        let said = "Merchant livraria has no application site. `quita applications list` shows the \
                    existing ones.";
        check_refused(&of("site"), said);
        assert_eq!(of("catalogo").code, Some(0), "{command:?}");
    }
}

#[test]
fn a_user_who_makes_a_merchant_is_told_so_with_the_one_that_may_be_meant() {
    let app = TestApp::new();
    let create = |merchant: &str, email: &str| {
        let made = app.quita(&["users", "create", "--merchant", merchant, "--email", email]);
        assert_eq!((made.code, made.stdout.lines().count()), (Some(0), 1), "{made:?}");
        made
    };
    let first = create("livraria", "ana@livraria.example");
    assert!(first.stderr.ends_with("Merchant livraria is new: this is its first user.\n"), "{first:?}");
    let known = create("livraria", "bia@livraria.example");
    assert!(!known.stderr.contains("is new"), "{known:?}");
    let typo = create("livaria", "cea@livraria.example");
    let said = "Merchant livaria is new: this is its first user. Did you mean livraria? Then remove this user: \
                quita users remove cea@livraria.example\n";
    assert!(typo.stderr.ends_with(said), "{typo:?}");
    let of_a_user = app.quita(&["keys", "create", "--merchant", "livrarla"]);
    assert!(of_a_user.stderr.contains("Did you mean livraria?"), "users make merchants too: {of_a_user:?}");
}

#[test]
fn a_key_that_makes_an_application_says_so_and_names_the_one_that_may_be_meant() {
    let app = TestApp::new();
    let create = |application: &str| {
        let made = app.quita(&["keys", "create", "--merchant", "livraria", "--application", application]);
        assert_eq!((made.code, made.stdout.lines().count()), (Some(0), 1), "{made:?}");
        made
    };
    let first = create("catalogo");
    assert!(first.stderr.ends_with("Merchant livraria is new: this is its first key.\n"), "{first:?}");
    let known = create("catalogo");
    assert!(!known.stderr.contains("is new"), "{known:?}");
    let typo = create("catlogo");
    let id = typo.stdout.split('_').nth(2).unwrap();
    let said = format!(
        "Application catlogo of merchant livraria is new: this is its first key. Did you mean catalogo? Then \
         revoke this key: quita keys revoke {id}\n"
    );
    assert!(typo.stderr.ends_with(&said), "{typo:?}");
    let other = create("site");
    let said = "Application site of merchant livraria is new: this is its first key.\n";
    assert!(other.stderr.ends_with(said), "{other:?}");
}
