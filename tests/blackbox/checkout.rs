//! The page of a payment link, as a payer without JavaScript uses it.

use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::Days;
use serde_json::{Value, json};
use sha2::{Digest, Sha384};

use crate::support::{
    Acquirers, Answer, Client, Edit, PATIENCE, TestApp, TestReceiver, Visitor, eventually, release_use,
    take_use, today,
};

/// A page and what a payer does on it.
pub(crate) struct Payer {
    pub(crate) client: Client,
    pub(crate) path: String,
}

impl Payer {
    pub(crate) fn at(app: &TestApp, link: &Value) -> Self {
        let path = link["url"].as_str().unwrap().strip_prefix(&app.url()).unwrap().to_owned();
        Self { client: app.client_without_key(), path }
    }

    pub(crate) fn look(&self) -> String {
        let page = self.client.get(&self.path);
        assert_eq!(page.status, 200, "{page}");
        page.text()
    }

    pub(crate) fn number(&self) -> String {
        between(&self.look(), "name=\"form\" value=\"", "\"").to_owned()
    }

    pub(crate) fn post(&self, fields: &[(&str, &str)]) -> Answer {
        self.post_with(&[], fields)
    }

    fn post_with(&self, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> Answer {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        self.client.send("POST", &self.path, &[&kind, headers].concat(), body.finish().as_bytes())
    }

    /// Fills in the form and sends it.
    pub(crate) fn begin(&self, method: &str) -> Answer {
        let number = self.number();
        self.post(&form(&number, method))
    }

    #[track_caller]
    pub(crate) fn begin_and_go(&mut self, method: &str) {
        let answer = self.begin(method);
        assert_eq!(answer.status, 303, "{answer}");
        answer.header("location").unwrap().clone_into(&mut self.path);
    }

    #[track_caller]
    pub(crate) fn give_up(&self) {
        let page = self.look();
        let number = between(&page, "name=\"form\" value=\"", "\"");
        let payment = between(&page, "name=\"payment\" value=\"", "\"");
        let answer = self.post(&[("form", number), ("payment", payment), ("give-up", "1")]);
        assert_eq!(answer.status, 303, "{answer}");
    }

    #[track_caller]
    pub(crate) fn check(&self, status: &str) -> String {
        let page = self.look();
        assert!(page.contains(&format!("data-status=\"{status}\"")), "{status}: {page}");
        page
    }

    #[track_caller]
    pub(crate) fn transaction(&self) -> String {
        between(&self.look(), "data-transaction-id=\"", "\"").to_owned()
    }
}

pub(crate) fn form<'a>(number: &'a str, method: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("form", number),
        ("name", "Maria da Silva"),
        ("document", "529.982.247-25"),
        ("email", "maria@example.com"),
        ("tel", "(11) 98765-4321"),
        ("method", method),
        ("postal-code", "01304-000"),
        ("street", "Rua Augusta"),
        ("number", "100"),
        ("neighborhood", "Consolação"),
        ("city", "São Paulo"),
        ("state", "sp"),
    ]
}

#[track_caller]
pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{before} is missing in {text}")).1;
    rest.split_once(after).unwrap().0
}

pub(crate) fn link() -> Value {
    json!({"amount": 10_027, "currency": "BRL", "title": "Aula de violão"})
}

pub(crate) fn make(app: &TestApp, request: &Value) -> Value {
    app.client().post("/pay/links", request).expect(201)
}

pub(crate) fn read(app: &TestApp, link: &Value) -> Value {
    app.client().get(&format!("/pay/links/{}", link["linkId"].as_str().unwrap())).expect(200)
}

fn pay(app: &TestApp, transaction: &str) {
    app.client().post_empty(&format!("/sandbox/payments/{transaction}/pay")).expect(200);
}

#[test]
fn a_payer_whose_bank_could_not_be_reached_is_told_so_and_not_of_mistakes() {
    let one = "[{ name = \"only\", adapter = \"sandbox\" }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", one).start();
    // Cents 99: the sandbox can't be reached.
    let made = make(&app, &link().with("amount", json!(10_099)));
    let payer = Payer::at(&app, &made);
    assert_eq!(payer.begin("pix").status, 303);
    let page = eventually(PATIENCE, "the payment is declined", || {
        let page = payer.look();
        page.contains("id=\"mistakes\"").then_some(page)
    });
    let told = "Não conseguimos contato com o banco. Nada foi cobrado. Tente de novo mais tarde.";
    let summary = between(&page, "id=\"mistakes\"", "</div>");
    assert!(summary.contains(told) && summary.contains("<h2>Atenção</h2>"), "{page}");
    assert!(!page.contains("<h2>Confira estes campos</h2>"), "{page}");
    let wrong = payer.post(&[("form", &*payer.number()), ("method", "pix")]);
    assert!(wrong.text().contains("<h2>Confira estes campos</h2>"), "{wrong}");
}

#[test]
fn a_payer_begins_a_pix_and_the_page_says_that_it_is_paid() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let request = link()
        .with("postbackUrl", json!(receiver.url()))
        .with("externalReference", json!("p-1"))
        .with("metadata", json!({"turma": "a"}))
        .with("successUrl", json!("https://loja.example.com/ok?a=1&linkId=x#fim"));
    let made = make(&app, &request);
    let mut payer = Payer::at(&app, &made);
    let page = payer.check("open");
    for part in ["Aula de violão", "R$\u{a0}100,27", "lang=\"pt-BR\"", "value=\"pix\"", "value=\"boleto\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    payer.begin_and_go("pix");
    let page = payer.check("pending");
    let id = payer.transaction();
    let record = app.client().payment(&id);
    assert_eq!(record["linkId"], made["linkId"]);
    assert_eq!((&record["externalReference"], &record["metadata"]["turma"]), (&json!("p-1"), &json!("a")));
    assert!(page.contains(record["pix"]["code"].as_str().unwrap()), "{page}");
    for typed in ["maria@example.com", "52998224725", "Maria"] {
        assert!(!page.contains(typed), "{typed}: {page}");
    }
    assert_eq!((&read(&app, &made)["payments"], &read(&app, &made)["paidCount"]), (&json!([id]), &json!(0)));
    pay(&app, &id);
    let page = payer.check("paid");
    let success = between(&page, "rel=\"noreferrer\" href=\"", "\"").replace("&#38;", "&");
    let link_id = made["linkId"].as_str().unwrap();
    let expected = format!("https://loja.example.com/ok?a=1&linkId={link_id}&transactionId={id}#fim");
    assert_eq!(success, expected);
    let now = read(&app, &made);
    assert_eq!((&now["status"], &now["paidCount"]), (&json!("paid"), &json!(1)));
    let listed = app.client().get(&format!("/pay/payments?linkId={link_id}")).expect(200);
    assert_eq!(listed["data"][0]["transactionId"], json!(id));
    let event = eventually(PATIENCE, "the event", || {
        receiver.received().iter().map(|one| one.json()).find(|body| body["event"] == "payment.paid")
    });
    assert_eq!(event["data"]["linkId"], made["linkId"]);
}

#[test]
fn a_boleto_waits_on_the_page_is_given_up_and_makes_room_for_a_pix() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    assert_eq!(payer.begin("boleto").status, 303);
    let page = payer.check("pending");
    let first = payer.transaction();
    assert!(page.contains("/boletos/") && page.contains("id=\"line\""), "{page}");
    // Another form of the same link finds what waits, and begins nothing.
    assert!(!page.contains("name=\"method\""), "{page}");
    payer.give_up();
    payer.check("open");
    assert_eq!(app.client().payment(&first)["status"], "cancelled");
    assert_eq!(payer.begin("pix").status, 303);
    payer.check("pending");
    assert_ne!(payer.transaction(), first);
}

#[test]
fn a_method_that_no_acquirer_takes_with_the_amount_is_not_offered() {
    let acquirers = "[{ name = \"a\", adapter = \"sandbox\", methods = [\"pix\"] }, \
                      { name = \"b\", adapter = \"sandbox\", methods = [\"boleto\"], max-amount = 10026 }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", acquirers).start();
    let page = Payer::at(&app, &make(&app, &link())).check("open");
    assert!(page.contains("value=\"pix\"") && !page.contains("value=\"boleto\""), "{page}");
    let page = Payer::at(&app, &make(&app, &link().with("amount", json!(10_026)))).check("open");
    assert!(page.contains("value=\"boleto\""), "{page}");
}

#[test]
fn a_payer_of_a_link_that_nobody_takes_any_more_is_sent_to_the_shop() {
    let acquirers = |most: u64| format!("[{{ name = \"a\", adapter = \"sandbox\", max-amount = {most} }}]");
    let mut app = TestApp::builder().env("QUITA_ACQUIRER", &acquirers(20_000)).start();
    let mut path = Payer::at(&app, &make(&app, &link())).path;
    app.restart_with("QUITA_ACQUIRER", &acquirers(10_000));
    path.insert_str(0, &app.url());
    let payer = Payer::at(&app, &json!({ "url": path }));
    for (language, sentence) in [("pt-BR", "Peça outro à loja"), ("en", "Ask the shop for another one")] {
        let page = payer.client.send("GET", &payer.path, &[("Accept-Language", language)], b"");
        assert_eq!(page.status, 422, "{page}");
        assert!(page.text().contains(sentence) && !page.text().contains("minutos"), "{page}");
    }
    check_log(&app, &["amount_not_accepted", "none of the acquirers", "from 1 to 10000 cents"]);
}

#[test]
fn a_payer_comes_back_in_minutes_if_every_acquirer_is_paused() {
    let one = "[{ name = \"a\", adapter = \"sandbox\", methods = [\"pix\"] }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", one).start();
    let payer = Payer::at(&app, &make(&app, &link()));
    let operator = Visitor::operator(&app);
    assert_eq!(operator.post("/acquirers/a/pix/paused", &[]).status, 303);
    let page = payer.client.get(&payer.path);
    assert_eq!(page.status, 503, "{page}");
    assert!(page.text().contains("Volte em alguns minutos"), "{page}");
    check_log(
        &app,
        &["no_acquirer_available", "no acquirer accepts this payment at the moment; try again later"],
    );
    make(&app, &link());
}

/// Expects these parts in the line about a page that was refused.
#[track_caller]
fn check_log(app: &TestApp, parts: &[&str]) {
    let log = app.log();
    let told = log.lines().find(|line| line.contains("a request was refused") && line.contains("/checkout"));
    let told = told.expect("the refusal is logged");
    for part in parts {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_method_that_no_acquirer_takes_with_the_terms_is_not_offered() {
    let acquirers = Acquirers::start();
    let app = acquirers.builder().start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    let day = |days| json!((today() + Days::new(days)).to_string());
    let due = link().with("methods", json!(["pix", "boleto"])).with("dueDate", day(10));
    let discounted = due.clone().with("discounts", json!([{ "until": day(2), "amount": 100 }]));
    for (request, offers_boleto) in [(due, true), (discounted, false)] {
        let made = client.post("/pay/links", &request).expect(201);
        let path = made["url"].as_str().unwrap().strip_prefix("https://pay.example").unwrap().to_owned();
        let page = Payer { client: app.client_without_key(), path }.check("open");
        assert!(page.contains("value=\"pix\""), "{page}");
        assert_eq!(page.contains("value=\"boleto\""), offers_boleto, "Cielo has no discounts: {page}");
    }
}

#[test]
fn a_form_gives_up_the_payment_that_it_showed_and_no_later_one() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    assert_eq!(payer.begin("boleto").status, 303);
    let number = payer.number();
    let first = payer.transaction();
    payer.give_up();
    assert_eq!(payer.begin("pix").status, 303);
    let second = payer.transaction();
    for payment in [first.as_str(), ""] {
        let answer = payer.post(&[("form", &number), ("payment", payment), ("give-up", "1")]);
        assert_eq!(answer.status, 303, "{answer}");
    }
    let card = [("form", number.as_str()), ("payment", &second), ("give-up", "4242 4242 4242 4242")];
    assert_eq!(payer.post(&card).status, 422);
    assert_eq!(app.client().payment(&second)["status"], "pending");
}

#[test]
fn boletos_hold_half_of_the_uses_also_when_many_begin_at_once() {
    let app = TestApp::new();
    for (due, method, words) in [(false, "boleto", "Escolha PIX"), (true, "pix", "ainda esperam")] {
        let request = link().with("uses", json!(4));
        let made = make(&app, &if due { request.with("dueInDays", json!(5)) } else { request });
        let payer = Payer::at(&app, &made);
        let numbers: Vec<_> = (0..4).map(|_| payer.number()).collect();
        let answers: Vec<_> = thread::scope(|scope| {
            let payer = &payer;
            let sent: Vec<_> =
                numbers.iter().map(|number| scope.spawn(move || payer.post(&form(number, method)))).collect();
            sent.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(read(&app, &made)["payments"].as_array().unwrap().len(), 2);
        let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 409).collect();
        assert_eq!(refused.len(), 2, "{answers:?}");
        for answer in refused {
            assert!(answer.header("retry-after").is_some(), "{answer}");
            let page = answer.text();
            assert!(page.contains(words) && page.contains("value=\"Maria da Silva\""), "{page}");
        }
    }
}

#[test]
fn a_form_without_a_method_shows_its_other_mistakes_too() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    let number = payer.number();
    let answer = payer.post(&[("form", &number), ("name", "Maria da Silva"), ("email", "x")]);
    assert_eq!(answer.status, 422, "{answer}");
    let page = answer.text();
    for field in ["method", "document", "email", "tel"] {
        assert!(page.contains(&format!("<a href=\"#{field}\">")), "{field}: {page}");
    }
}

#[test]
fn a_name_that_the_shop_knows_in_part_is_asked_for() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link().with("customer", json!({"firstName": "Ana"}))));
    assert!(payer.check("open").contains("name=\"name\""));
    assert_eq!(payer.begin("pix").status, 303);
    assert_eq!(app.client().payment(&payer.transaction())["customer"]["name"], "Maria da Silva");
}

#[test]
fn every_page_has_exactly_its_headers_and_the_hash_of_its_script() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    for path in [payer.path.clone(), "/checkout/nothing".into()] {
        let page = payer.client.get(&path);
        for (name, expected) in [
            (
                "content-security-policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                 connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            ),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("x-robots-tag", "noindex"),
            ("permissions-policy", "payment=(), camera=(), microphone=(), geolocation=()"),
            ("cross-origin-opener-policy", "same-origin"),
            ("vary", "accept-language"),
        ] {
            assert_eq!(page.header(name), Some(expected), "{name}: {page}");
        }
        let html = page.text();
        let script = between(&html, "<script src=\"", "\"");
        let served = payer.client.get(script);
        assert_eq!(served.status, 200, "{served}");
        let hash = STANDARD.encode(Sha384::digest(&served.body));
        assert_eq!(between(&html, &format!("{script}\" integrity=\"sha384-"), "\""), hash);
        assert!(!html.contains(" style=") && !html.contains(" onclick="), "{html}");
    }
}

#[test]
fn mistakes_are_told_at_their_fields_and_nothing_typed_is_lost() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    let number = payer.number();
    let mut fields = form(&number, "boleto");
    for (name, value) in &mut fields {
        match *name {
            "name" => *value = "Maria",
            "document" => *value = "529.982.247-26",
            "tel" => *value = "123",
            "postal-code" => *value = "20040-002",
            _ => {}
        }
    }
    let answer = payer.post(&fields);
    assert_eq!(answer.status, 422, "{answer}");
    let page = answer.text();
    for (field, words) in [
        ("name", "Escreva nome e sobrenome."),
        ("document", "Escreva um CPF ou CNPJ válido: confira os números."),
        ("tel", "Escreva um telefone com DDD, como (11) 98765-4321."),
        ("postal-code", "Este CEP não é deste estado."),
    ] {
        assert!(page.contains(&format!("<a href=\"#{field}\">{words}</a>")), "{field}: {page}");
        assert!(page.contains(&format!("aria-describedby=\"{field}-mistake\"")), "{field}: {page}");
    }
    for typed in ["value=\"Maria\"", "value=\"529.982.247-26\"", "value=\"Rua Augusta\""] {
        assert!(page.contains(typed), "{typed}: {page}");
    }
    assert_eq!(read(&app, &make(&app, &link()))["payments"], json!([]));
    payer.check("open");
}

#[test]
fn a_card_number_in_any_field_is_refused_and_never_shown_again() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    for name in ["street", "cc-number", "email"] {
        let number = payer.number();
        let mut fields: Vec<_> =
            form(&number, "pix").into_iter().filter(|(known, _)| *known != name).collect();
        fields.push((name, "4242 4242 4242 4242"));
        let answer = payer.post(&fields);
        assert_eq!(answer.status, 422, "{answer}");
        assert!(!answer.text_without_ids().contains("4242"), "{name}: {answer}");
    }
    assert!(!app.log().contains("4242 4242"));
}

#[test]
fn the_same_form_sent_twice_begins_one_payment() {
    let app = TestApp::new();
    let made = make(&app, &link().with("uses", json!(5)));
    let payer = Payer::at(&app, &made);
    let number = payer.number();
    let answers = thread::scope(|scope| {
        let sent: Vec<_> = (0..4).map(|_| scope.spawn(|| payer.post(&form(&number, "pix")))).collect();
        sent.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    let places: Vec<_> = answers.iter().map(|answer| (answer.status, answer.header("location"))).collect();
    assert!(places.iter().all(|place| *place == places[0] && place.0 == 303), "{places:?}");
    assert_eq!(read(&app, &made)["payments"].as_array().unwrap().len(), 1);
}

#[test]
fn of_many_who_want_the_last_use_one_begins() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let numbers: Vec<_> = (0..6).map(|_| payer.number()).collect();
    thread::scope(|scope| {
        let sent: Vec<_> =
            numbers.iter().map(|number| scope.spawn(|| payer.post(&form(number, "pix")).status)).collect();
        for one in sent {
            assert_eq!(one.join().unwrap(), 303);
        }
    });
    assert_eq!(read(&app, &made)["payments"].as_array().unwrap().len(), 1);
    payer.check("pending");
}

#[test]
fn a_link_for_several_gives_each_payer_a_page_and_is_sold_out_at_last() {
    let app = TestApp::new();
    let made = make(&app, &link().with("uses", json!(2)));
    let mut first = Payer::at(&app, &made);
    let mut second = Payer::at(&app, &made);
    first.begin_and_go("pix");
    second.check("open");
    second.begin_and_go("pix");
    assert_ne!(first.path, second.path);
    assert_ne!(first.transaction(), second.transaction());
    let door = Payer::at(&app, &made);
    assert!(!door.check("sold_out").contains("data-transaction-id"));
    pay(&app, &first.transaction());
    first.check("paid");
    second.give_up();
    second.check("cancelled");
    assert_eq!(read(&app, &made)["status"], "open");
    let mut third = Payer::at(&app, &made);
    third.begin_and_go("pix");
    pay(&app, &third.transaction());
    let now = read(&app, &made);
    assert_eq!((&now["status"], &now["paidCount"]), (&json!("paid"), &json!(2)));
    door.check("paid");
}

#[test]
fn a_closed_link_begins_nothing_and_what_waits_is_cancelled_if_asked() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let number = payer.number();
    assert_eq!(payer.begin("pix").status, 303);
    let id = payer.transaction();
    let close = format!("/pay/links/{}/close", made["linkId"].as_str().unwrap());
    app.client().post_empty(&close).expect(200);
    payer.check("pending");
    assert_eq!(app.client().payment(&id)["status"], "pending");
    let closed = app.client().post(&close, &json!({"cancelPending": true})).expect(200);
    assert_eq!(closed["status"], "closed");
    assert_eq!(app.client().payment(&id)["status"], "cancelled");
    payer.check("closed");
    assert_eq!(payer.post(&form(&number, "pix")).status, 303);
    assert_eq!(read(&app, &made)["payments"], json!([id]));
}

#[test]
fn closing_waits_for_a_payment_that_began_before() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let id = made["linkId"].as_str().unwrap();
    let taken = take_use(app.store_url(), id);
    thread::scope(|scope| {
        let closing = scope.spawn(|| app.client().post_empty(&format!("/pay/links/{id}/close")));
        eventually(PATIENCE, "the link is closed", || {
            (read(&app, &made)["status"] == "closed").then_some(())
        });
        assert!(!closing.is_finished());
        release_use(app.store_url(), id, taken);
        assert_eq!(closing.join().unwrap().expect(200)["status"], "closed");
    });
}

#[test]
fn a_post_from_another_site_or_without_a_form_of_ours_is_refused() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let number = payer.number();
    let body =
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form(&number, "pix")).finish();
    let ours = app.url();
    for (headers, status) in [
        (vec![("Origin", "https://evil.example")], 403),
        (vec![("Sec-Fetch-Site", "cross-site"), ("Origin", "null")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Origin", ours.as_str()), ("Origin", "https://evil.example")], 403),
        (vec![("Sec-Fetch-Site", "same-site")], 403),
        (vec![("Origin", ours.as_str()), ("Sec-Fetch-Site", "same-origin")], 303),
    ] {
        let mut all = vec![("Content-Type", "application/x-www-form-urlencoded")];
        all.extend(headers);
        let answer = payer.client.send("POST", &payer.path, &all, body.as_bytes());
        assert_eq!(answer.status, status, "{all:?}: {answer}");
    }
    let other = Payer::at(&app, &make(&app, &link()));
    assert_eq!(other.post(&form(&number, "pix")).status, 403);
    assert_eq!(other.post(&form("", "pix")).status, 403);
}

#[test]
fn what_the_shop_knows_is_shown_masked_and_not_asked_for() {
    let app = TestApp::new();
    let customer = json!({
        "firstName": "Ana", "lastName": "Lima", "document": "52998224725", "documentType": "CPF",
        "email": "ana@example.com", "phoneNumber": "11987654321",
    });
    let payer = Payer::at(&app, &make(&app, &link().with("customer", customer)));
    let page = payer.check("open");
    for hidden in ["52998224725", "529.982.247", "ana@example.com", "11987654321"] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    for shown in ["Ana Lima", ".982.247-", "a*@example.com", "informado pela loja"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let number = payer.number();
    assert_eq!(payer.post(&[("form", &number), ("method", "pix")]).status, 303);
    let record = app.client().payment(&payer.transaction());
    assert_eq!(
        (&record["customer"]["name"], &record["customer"]["email"]),
        (&json!("Ana Lima"), &json!("ana@example.com"))
    );
}

#[test]
fn the_page_speaks_english_to_whoever_asks_for_it() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link().with("amount", json!(123_427))));
    let page = payer.client.send("GET", &payer.path, &[("Accept-Language", "en-GB,pt;q=0.5")], b"");
    let html = page.text();
    for part in ["lang=\"en\"", "R$1,234.27", "Choose how to pay", "Continue"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let missing = payer.client.send("GET", "/checkout/x", &[("Accept-Language", "en")], b"");
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("Nothing found"), "{missing}");
}

#[test]
fn one_network_begins_ten_payments_of_a_link_within_an_hour() {
    let app = TestApp::new();
    let made = make(&app, &link().with("uses", json!(100)));
    let boletos = make(&app, &link().with("methods", json!(["boleto"])).with("uses", json!(2)));
    let held = Payer::at(&app, &boletos);
    assert_eq!(held.begin("boleto").status, 303);
    for number in 0..12 {
        assert_eq!(held.begin("boleto").status, 409, "{number}");
    }
    for number in 0..11 {
        let answer = Payer::at(&app, &made).begin("pix");
        let expected = if number < 10 { 303 } else { 429 };
        assert_eq!(answer.status, expected, "{number}: {answer}");
        if expected == 429 {
            let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((3_000..=3_601).contains(&wait), "{wait}");
            let page = answer.text();
            assert!(
                page.contains("a partir da sua rede") && page.contains("value=\"Maria da Silva\""),
                "{page}"
            );
        }
    }
}

#[test]
fn what_waits_beside_a_payment_that_was_paid_late_is_seen_and_can_be_given_up() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let mut payer = Payer::at(&app, &made);
    payer.begin_and_go("pix");
    let first = payer.transaction();
    payer.give_up();
    payer.begin_and_go("pix");
    let second = payer.transaction();
    assert!(!payer.look().contains("Não pague o outro código"));
    // The payer pays the code that was given up.
    pay(&app, &first);
    let page = payer.check("paid");
    assert_eq!(payer.transaction(), first);
    assert!(page.contains("Não pague o outro código") && page.contains(&second), "{page}");
    payer.give_up();
    app.client().wait_for_status(&second, "cancelled");
    let page = payer.check("paid");
    assert!(!page.contains("Não pague o outro código"), "{page}");
    assert_eq!(read(&app, &made)["paidCount"], 1);
}

#[test]
fn a_payment_that_was_paid_late_is_shown_however_many_were_begun_after_it() {
    let app = TestApp::builder().arg("--behind-proxy", "true").start();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let begin_from = |network: usize| {
        // A network of its own, however large networks are counted.
        let from = format!("100.{network}.0.1");
        let answer = payer.post_with(&[("X-Forwarded-For", &from)], &form(&payer.number(), "pix"));
        assert_eq!(answer.status, 303, "{answer}");
        payer.transaction()
    };
    let first = begin_from(1);
    for network in 2..=21 {
        payer.give_up();
        begin_from(network);
    }
    payer.give_up();
    let last = begin_from(22);
    pay(&app, &first);
    let page = payer.check("paid");
    assert_eq!(payer.transaction(), first);
    assert!(page.contains("Não pague o outro código") && page.contains(&last), "{page}");
    payer.give_up();
    app.client().wait_for_status(&last, "cancelled");
    assert_eq!(read(&app, &made)["paidCount"], 1);
}

#[test]
fn a_network_over_its_limit_takes_no_use_meanwhile() {
    let app = TestApp::new();
    let made = make(&app, &link().with("uses", json!(10)));
    let late = Payer::at(&app, &made);
    let form_number = late.number();
    for number in 0..10 {
        assert_eq!(Payer::at(&app, &made).begin("pix").status, 303, "{number}");
    }
    // All uses are held: the limit is what answers, before the uses are looked at.
    let answer = late.post(&form(&form_number, "pix"));
    assert_eq!(answer.status, 429, "{answer}");
}

#[test]
fn a_payer_that_a_paid_link_names_is_erased_before_its_time_has_passed() {
    let app = TestApp::new();
    let customer = json!({"firstName": "Ana", "document": "52998224725"});
    let made = make(&app, &link().with("customer", customer));
    let payer = Payer::at(&app, &made);
    assert_eq!(payer.begin("pix").status, 303);
    let erase = || app.quita(&["privacy", "erase", "--document", "529.982.247-25"]).stdout;
    erase();
    assert_eq!(read(&app, &made)["customer"]["firstName"], "Ana", "its payment can still be given up");
    pay(&app, &payer.transaction());
    erase();
    let now = read(&app, &made);
    assert_eq!((&now["status"], &now["customer"]), (&json!("paid"), &Value::Null));
}
