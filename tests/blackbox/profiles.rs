//! Name, contact and logo of a merchant, as its payers see them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::support::{Account, TestApp, Visitor, boleto, pix};

/// A PNG of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The page on which a payment is paid.
fn page_of(app: &TestApp, record: &Value) -> String {
    app.client_without_key().get(&path_of(app, record)).text()
}

fn path_of(app: &TestApp, record: &Value) -> String {
    let url = if record["pix"].is_object() { &record["pix"]["qrCode"] } else { &record["boleto"]["url"] };
    url.as_str().unwrap().strip_prefix(&app.url()).unwrap().trim_end_matches(".png").to_owned()
}

#[test]
fn payers_read_the_display_name_and_the_contact_that_the_command_line_set() {
    let app = TestApp::new();
    let records = [app.client().create(&pix(10_027)), app.client().create(&boleto(10_027))];
    let [pix, boleto] = &records;
    assert!(page_of(&app, pix).contains("</span> shop</h1>"), "the technical name, while there is no other");
    assert!(page_of(&app, boleto).contains("Referente a shop."));
    let shown = app.quita(&["merchants", "show", "--merchant", "shop"]).output();
    assert_eq!(shown, "display name\t–\ncontact\t–\nlogo\t–");
    let set = ["merchants", "set-profile", "--merchant", "shop"];
    let both = ["--display-name", "Padaria <Estrela>", "--contact", "ajuda@loja.com.br"];
    app.quita(&[&set[..], &both].concat()).output();
    let shown = app.quita(&["merchants", "show", "--merchant", "shop"]).output();
    assert_eq!(shown, "display name\tPadaria <Estrela>\ncontact\tajuda@loja.com.br\nlogo\t–");
    for (record, name) in
        [(pix, "</span> Padaria &#60;Estrela&#62;</h1>"), (boleto, "Referente a Padaria &#60;Estrela&#62;.")]
    {
        let page = page_of(&app, record);
        assert!(page.contains(name) && page.contains("ajuda@loja.com.br"), "{page}");
    }
    // What is not named stays; what is empty is taken away.
    app.quita(&[&set[..], &["--contact", ""]].concat()).output();
    let page = page_of(&app, pix);
    assert!(page.contains("Padaria") && !page.contains("ajuda@loja.com.br"), "{page}");
    let other = app.create_key(&["--merchant", "rival"]);
    let record = app.client_with(&other).create(&crate::support::pix(10_027));
    assert!(page_of(&app, &record).contains("</span> rival</h1>"), "it is one merchant's");
}

#[test]
fn what_payers_could_not_read_is_refused_with_what_is_allowed() {
    let app = TestApp::new();
    let long = "x".repeat(61);
    for (change, allowed) in [
        (&["--display-name", long.as_str()][..], "at most 60 printable characters"),
        (&["--contact", "a\u{202e}b"], "at most 100 printable characters"),
        (&[], "--display-name"),
    ] {
        let refused = app.quita(&[&["merchants", "set-profile", "--merchant", "shop"], change].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.stderr.contains(allowed), "{refused:?}");
    }
}

#[test]
fn an_owner_changes_it_in_the_console_and_the_audit_log_says_so() {
    let app = TestApp::new();
    let record = app.client().create(&pix(10_027));
    let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &owner);
    let fields = [("displayName", " Padaria Estrela "), ("contact", "(11) 98765-4321")];
    assert_eq!(owner.post("/console/test/people/profile", &fields).status, 303);
    let page = page_of(&app, &record);
    assert!(page.contains("</span> Padaria Estrela</h1>") && page.contains("(11) 98765-4321"), "{page}");
    let people = owner.page("/console/live/people");
    assert!(people.contains("value=\"Padaria Estrela\""), "it holds in both modes: {people}");
    let told = owner.page("/console/test/audit");
    for part in ["changed the public profile of", "Padaria Estrela", "ana@shop.example"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let long = "x".repeat(61);
    assert_eq!(owner.post("/console/test/people/profile", &[("displayName", &long)]).status, 422);
    assert!(page_of(&app, &record).contains("Padaria Estrela"), "it stays as it was");
    let developer = Account::create(&app, "shop", "davi@shop.example", "developer");
    let developer = Visitor::signed_in(&app, &developer);
    assert_eq!(developer.post("/console/test/people/profile", &fields).status, 403);
}

#[test]
fn payers_see_the_logo_that_the_command_line_or_an_owner_set() {
    let app = TestApp::new();
    let records = [app.client().create(&pix(10_027)), app.client().create(&boleto(10_027))];
    let [pix, _] = &records;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("logo.png");
    std::fs::write(&file, STANDARD.decode(PIXEL).unwrap()).unwrap();
    let set = ["merchants", "set-profile", "--merchant", "shop", "--logo"];
    let shown = app.quita(&[&set[..], &[file.to_str().unwrap()]].concat()).output();
    assert!(shown.ends_with("logo\timage/png, 70 bytes"), "{shown}");
    for record in &records {
        let path = path_of(&app, record);
        assert!(page_of(&app, record).contains(&format!("src=\"{path}.logo\"")), "{path}");
        let logo = app.client_without_key().get(&format!("{path}.logo"));
        assert_eq!((logo.status, logo.header("content-type")), (200, Some("image/png")));
        assert_eq!(logo.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(logo.body, STANDARD.decode(PIXEL).unwrap());
    }
    std::fs::write(&file, "<svg xmlns='http://www.w3.org/2000/svg'/>").unwrap();
    let refused = app.quita(&[&set[..], &[file.to_str().unwrap()]].concat());
    assert!(refused.code == Some(2) && refused.stderr.contains("PNG or a JPEG"), "{refused:?}");
    let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &owner);
    let post = |fields: &[(&str, &str)]| owner.post("/console/test/people/profile", fields).status;
    assert_eq!(post(&[("displayName", "Padaria Estrela")]), 303);
    assert!(page_of(&app, pix).contains(".logo"), "a form without a new logo leaves it as it is");
    assert_eq!(post(&[("removeLogo", "yes")]), 303);
    assert!(!page_of(&app, pix).contains(".logo"));
    assert_eq!(app.client_without_key().get(&format!("{}.logo", path_of(&app, pix))).status, 404);
    assert_eq!(post(&[("logo", PIXEL)]), 303);
    assert!(page_of(&app, pix).contains(".logo"));
    assert_eq!(post(&[("logo", "bm8gcGljdHVyZQ==")]), 422);
    let told = owner.page("/console/test/audit");
    assert!(told.contains("image/png, 70 bytes") && !told.contains(PIXEL), "{told}");
}
