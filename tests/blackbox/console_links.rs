//! Payment links in the merchants' console: making one, finding it, its page, and closing it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::checkout::Payer;
use crate::support::{Account, Answer, TestApp, Visitor};

const NEW: &str = "/console/test/links/new";

/// Somebody of the shop in this role, signed in.
fn visitor(app: &TestApp, role: &str) -> Visitor {
    Visitor::signed_in(app, &Account::create(app, "shop", &format!("{role}@shop.example"), role))
}

#[track_caller]
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{before} is missing in {text}")).1;
    rest.split_once(after).unwrap().0
}

/// The number of a form that was never sent.
fn key(visitor: &Visitor) -> String {
    between(&visitor.page(NEW), "name=\"key\" value=\"", "\"").to_owned()
}

/// Sends the form for a link of R$ 100,27.
fn send(visitor: &Visitor, key: &str, others: &[(&str, &str)]) -> Answer {
    let fields = [("key", key), ("title", "Aula de violão"), ("amount", "100.27")];
    visitor.post(NEW, &[&fields, others].concat())
}

/// Address to which a form that was taken leads, without what the page confirms.
#[track_caller]
fn page_of(answer: &Answer) -> String {
    assert_eq!(answer.status, 303, "{answer}");
    answer.header("location").unwrap().split('?').next().unwrap().to_owned()
}

fn record(app: &TestApp, page: &str) -> Value {
    app.client().get(&format!("/pay/links/{}", page.rsplit('/').next().unwrap())).expect(200)
}

fn make(app: &TestApp, request: &Value) -> Value {
    app.client().post("/pay/links", request).expect(201)
}

fn link() -> Value {
    json!({"amount": 10_027, "currency": "BRL", "title": "Aula de violão"})
}

#[test]
fn a_link_that_no_acquirer_takes_is_a_mistake_in_its_form() {
    let limited = "[{ name = 'one', adapter = 'sandbox', max-amount = 5000 }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", limited).start();
    let developer = visitor(&app, "developer");
    let again = send(&developer, &key(&developer), &[("method", "pix")]);
    assert_eq!(again.status, 422, "{again}");
    assert!(again.text().contains("send from 1 to 5000 cents"), "{again}");
    assert!(developer.page("/console/test/links").contains("No links"));
}

#[test]
fn a_developer_makes_a_link_whose_page_shows_address_and_code() {
    let app = TestApp::new();
    let developer = visitor(&app, "developer");
    assert!(developer.page("/console/test/links").contains("No links"));
    let others = [
        ("description", "Uma hora"),
        ("method", "pix"),
        ("uses", "3"),
        ("days", "2"),
        ("externalReference", "turma-7"),
    ];
    let key = key(&developer);
    let made = send(&developer, &key, &others);
    let page = page_of(&made);
    let again = send(&developer, &key, &others);
    assert_eq!(page_of(&again), page, "the same form makes one link");
    let record = record(&app, &page);
    for (name, expected) in [
        ("title", json!("Aula de violão")),
        ("description", json!("Uma hora")),
        ("amount", json!("100.27")),
        ("methods", json!(["pix"])),
        ("uses", json!(3)),
        ("externalReference", json!("turma-7")),
        ("status", json!("open")),
    ] {
        assert_eq!(record[name], expected, "{name}: {record:#}");
    }
    let expires_at = record["expiresAt"].as_str().unwrap();
    assert!(expires_at.ends_with("T02:59:59.999Z"), "the end of a day in Brasília: {expires_at}");
    let url = record["url"].as_str().unwrap();
    let shown = developer.page(&format!("{page}?done=made"));
    for part in ["Link created.", "turma-7", "Uma hora", "0 of 3", "R$\u{a0}100.27", "Nobody has paid yet"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains(&format!("id=\"link-address\">{url}<")), "{shown}");
    let code = STANDARD.decode(between(&shown, "src=\"data:image/svg+xml;base64,", "\"")).unwrap();
    assert!(code.starts_with(b"<svg"), "{shown}");
    let list = developer.page("/console/test/links");
    assert_eq!(list.matches("data-key=\"").count(), 1, "{list}");
    assert!(list.contains(&format!("href=\"{page}\"")) && list.contains("turma-7"), "{list}");
    assert!(developer.page("/console/live/links").contains("No links"), "it is of one mode");
    let log = visitor(&app, "owner").page("/console/test/audit");
    assert_eq!(log.matches("created the payment link").count(), 1, "{log}");
}

#[test]
fn a_link_for_cards_has_the_instalments_of_the_form() {
    let app = TestApp::new();
    let developer = visitor(&app, "developer");
    let form = developer.page(NEW);
    assert!(form.contains("id=\"maxInstallments\"") && form.contains("Card instalments"), "{form}");
    let with = |methods: &[&'static str], most: &'static str| {
        let mut fields: Vec<_> = methods.iter().map(|method| ("method", *method)).collect();
        fields.push(("maxInstallments", most));
        send(&developer, &key(&developer), &fields)
    };
    let page = page_of(&with(&["pix", "credit_card"], "6"));
    assert_eq!(record(&app, &page)["maxInstallments"], json!(6));
    assert!(developer.page(&page).contains("<dt>Card instalments</dt><dd>6</dd>"), "the page of the link");
    for most in ["", "1"] {
        let page = page_of(&with(&["credit_card"], most));
        assert_eq!(record(&app, &page)["maxInstallments"], json!(1), "{most}");
    }
    let without_cards = page_of(&with(&["pix"], "6"));
    assert_eq!(record(&app, &without_cards)["maxInstallments"], json!(1));
    for most in ["0", "13", "many"] {
        let refused = with(&["credit_card"], most);
        let text = refused.text();
        assert!(refused.status == 422 && text.contains("<li>Card instalments: "), "{most}: {text}");
        assert!(text.contains(&format!("value=\"{most}\" aria-invalid=\"true\"")), "{most}: {text}");
    }
}

#[test]
fn links_are_found_by_their_reference() {
    let app = TestApp::new();
    let viewer = visitor(&app, "viewer");
    for (reference, count) in [("turma 7/2&3", 21), ("turma-8", 1)] {
        for _ in 0..count {
            let mut request = link();
            request["externalReference"] = json!(reference);
            make(&app, &request);
        }
    }
    let rows = |page: &str| page.matches("data-key=\"").count();
    let found = viewer.page("/console/test/links?q=turma-8");
    assert_eq!((rows(&found), found.contains("value=\"turma-8\"")), (1, true), "{found}");
    assert_eq!(rows(&viewer.page("/console/test/links?q=turma")), 0, "the whole reference");
    assert_eq!(rows(&viewer.page("/console/test/links?q=turma-8&status=closed")), 0);
    let first = viewer.page("/console/test/links?q=+turma+7%2F2%263+");
    let tabs = first.matches("q=turma+7%2F2%263").count();
    assert!(rows(&first) == 20 && tabs > 4, "tabs and pages keep the search: {first}");
    let before = first.split("rel=\"next\"").next().unwrap();
    let next = before.rsplit("href=\"").next().unwrap().split('"').next().unwrap().replace("&#38;", "&");
    assert_eq!(rows(&viewer.page(&next)), 1, "{next}");
    assert_eq!(rows(&viewer.page("/console/test/links")), 20);
}

#[test]
fn mistakes_of_the_form_are_all_named_and_nothing_typed_is_lost_but_a_card_number() {
    let app = TestApp::new();
    let owner = visitor(&app, "owner");
    let key = key(&owner);
    let number = "4242 4242 4242 4242";
    let fields = [
        ("key", key.as_str()),
        ("title", number),
        ("amount", "lots"),
        ("description", "Uma hora"),
        ("method", "pix"),
        ("uses", "0"),
        ("days", "366"),
    ];
    let refused = owner.post(NEW, &fields);
    let page = refused.text();
    assert_eq!(refused.status, 422, "{refused}");
    for part in [
        "Title: must not contain a card number",
        "Amount: could not be read",
        "Payments: must be from 1 to 10000",
        "Valid for (days): must be a whole number from 1 to 365",
        "value=\"Uma hora\"",
        "value=\"lots\" aria-invalid=\"true\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(number), "{page}");
    let unavailable = send(&owner, &key, &[("method", "pix"), ("method", "cash")]);
    assert!(unavailable.status == 422 && unavailable.text().contains("<li>Methods: "), "{unavailable}");
    assert!(owner.page("/console/test/links").contains("No links"), "nothing was made");
    // The same form, once it is right.
    page_of(&send(&owner, &key, &[("method", "pix")]));
    let other = send(&owner, &key, &[("method", "boleto")]);
    assert_eq!(other.status, 409, "a form that was taken makes no other link: {other}");
}

#[test]
fn links_are_listed_newest_first_by_status_and_page() {
    let app = TestApp::new();
    let viewer = visitor(&app, "viewer");
    let made: Vec<_> = (0..25).map(|_| make(&app, &link())["linkId"].as_str().unwrap().to_owned()).collect();
    for id in &made[..22] {
        app.client().post_empty(&format!("/pay/links/{id}/close")).expect(200);
    }
    let newest_first: Vec<_> = made.iter().rev().collect();
    let closed = &newest_first[3..];
    for (query, expected) in [
        ("", &newest_first[..]),
        ("?status=closed", closed),
        ("?status=open", &newest_first[..3]),
        ("?status=paid", &[]),
    ] {
        let mut listed = Vec::new();
        let mut next = Some(format!("/console/test/links{query}"));
        while let Some(address) = next {
            let page = viewer.page(&address);
            let rows =
                page.split("data-key=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
            let before = listed.len();
            listed.extend(rows);
            assert!(listed.len() - before <= 20, "{page}");
            next = page.split_once("rel=\"next\"").map(|(before, _)| {
                let link = before.rsplit("href=\"").next().unwrap();
                link.split('"').next().unwrap().replace("&#38;", "&")
            });
        }
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let odd = viewer.page("/console/test/links?status=odd&cursor=x");
    assert!(
        odd.contains("Ignored, because it could not be read:") && odd.matches("data-key=\"").count() == 20,
        "{odd}"
    );
}

#[test]
fn a_link_is_closed_with_what_waits() {
    let app = TestApp::new();
    let developer = visitor(&app, "developer");
    let made = make(&app, &link());
    let page = format!("/console/test/links/{}", made["linkId"].as_str().unwrap());
    let payer = Payer::at(&app, &made);
    assert_eq!(payer.begin("pix").status, 303);
    let payment = payer.transaction();
    let shown = developer.page(&page);
    assert!(shown.contains(&format!("href=\"/console/test/payments/{payment}\"")), "{shown}");
    assert!(shown.contains(&format!("href=\"{page}/close\"")), "{shown}");
    let asked = developer.page(&format!("{page}/close"));
    assert!(asked.contains("Close “Aula de violão”?") && asked.contains("name=\"cancelPending\""), "{asked}");
    let closed = developer.post(&format!("{page}/close"), &[]);
    assert_eq!(closed.header("location"), Some(&*format!("{page}?done=closed")), "{closed}");
    let record = || record(&app, &page);
    assert_eq!(record()["status"], "closed");
    assert_eq!(app.client().payment(&payment)["status"], "pending", "it may still be paid");
    let shown = developer.page(&page);
    assert!(
        shown.contains("badge-cancelled\">Closed<") && !shown.contains(&format!("{page}/close")),
        "{shown}"
    );
    let cancelled = developer.post(&format!("{page}/close"), &[("cancelPending", "true")]);
    assert_eq!(cancelled.header("location"), Some(&*format!("{page}?done=cancelled")), "{cancelled}");
    assert_eq!(app.client().payment(&payment)["status"], "cancelled");
    let log = visitor(&app, "owner").page("/console/test/audit");
    assert_eq!(log.matches("closed the payment link").count(), 2, "{log}");
    assert!(log.contains("closed, no payment waits"), "{log}");
}

#[test]
fn a_paid_link_stays_paid_when_it_is_closed() {
    let app = TestApp::new();
    let developer = visitor(&app, "developer");
    let made = make(&app, &link());
    let page = format!("/console/test/links/{}", made["linkId"].as_str().unwrap());
    let payer = Payer::at(&app, &made);
    assert_eq!(payer.begin("pix").status, 303);
    app.client().post_empty(&format!("/sandbox/payments/{}/pay", payer.transaction())).expect(200);
    let closed = developer.post(&format!("{page}/close"), &[]);
    assert_eq!(closed.header("location"), Some(&*format!("{page}?done=unchanged")), "{closed}");
    let shown = developer.page(&format!("{page}?done=unchanged"));
    assert!(shown.contains("Nothing changed") && shown.contains("badge-paid\">Paid<"), "{shown}");
    assert!(shown.contains("1 of 1"), "{shown}");
    let log = visitor(&app, "owner").page("/console/test/audit");
    assert!(!log.contains("closed the payment link"), "nothing was changed: {log}");
}

#[test]
fn a_viewer_sees_links_without_the_payer_and_changes_none() {
    let app = TestApp::new();
    let viewer = visitor(&app, "viewer");
    let owner = visitor(&app, "owner");
    let mut request = link();
    request["customer"] =
        json!({"firstName": "Teodolinda", "document": "52998224725", "email": "teo@example.com"});
    let made = make(&app, &request);
    let page = format!("/console/test/links/{}", made["linkId"].as_str().unwrap());
    let seen = viewer.page(&page);
    let whole = owner.page(&page);
    assert!(seen.contains(made["url"].as_str().unwrap()), "{seen}");
    for part in ["Teodolinda", "529.982.247-25", "teo@example.com"] {
        assert!(whole.contains(part), "{part}: {whole}");
        assert!(!seen.contains(part), "{part}: {seen}");
    }
    let list = viewer.page("/console/test/links");
    assert!(list.contains("Aula de violão") && !list.contains(NEW) && !seen.contains("/close"), "{list}");
    assert_eq!(viewer.get(NEW).status, 403);
    assert_eq!(viewer.get(&format!("{page}/close")).status, 403);
    let key = "01980000-0000-7000-8000-000000000001";
    assert_eq!(send(&viewer, key, &[("method", "pix")]).status, 403);
    assert_eq!(viewer.post(&format!("{page}/close"), &[]).status, 403);
    assert_eq!(record(&app, &page)["status"], "open");
    assert_eq!(owner.page("/console/test/links").matches("data-key=\"").count(), 1, "nothing was made");
}
