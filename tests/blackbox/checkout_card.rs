//! Cards on the page of a payment link, as the page's script sends them.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};
use socket2::SockRef;

use crate::checkout::{Payer, between, form, link, make, read};
use crate::support::{Answer, Edit, PATIENCE, TestApp, eventually};

pub(crate) const APPROVED: &str = "4242424242424242";
pub(crate) const DECLINED: &str = "4000000000000002";

impl Payer {
    /// Sends a card, as the script of the page does.
    pub(crate) fn send_card(&self, number: &str, edit: impl Fn(Value) -> Value) -> Answer {
        self.send_card_in(&self.number(), number, edit)
    }

    /// Sends a card in the form with this number.
    pub(crate) fn send_card_in(
        &self,
        form_number: &str,
        number: &str,
        edit: impl Fn(Value) -> Value,
    ) -> Answer {
        self.send_json(&edit(card_form(form_number, number)))
    }

    pub(crate) fn send_json(&self, body: &Value) -> Answer {
        let kind = [("Content-Type", "application/json")];
        self.client.send("POST", &self.path, &kind, body.to_string().as_bytes())
    }
}

fn card_form(form_number: &str, number: &str) -> Value {
    let fields: Map<_, _> = form(form_number, "credit_card")
        .into_iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    Value::Object(fields).with("installments", json!("1")).with(
        "card",
        json!({"number": number, "holderName": "MARIA DA SILVA", "expiry": "12/49", "code": "737"}),
    )
}

pub(crate) fn as_it_is(body: Value) -> Value {
    body
}

fn fields_of(answer: &Answer) -> Vec<String> {
    let mistakes = answer.json()["mistakes"].as_array().cloned().unwrap_or_default();
    mistakes.iter().map(|mistake| mistake["field"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_card_is_offered_with_its_instalments_and_its_fields_wait_for_the_script() {
    let app = TestApp::new();
    let request = link().with("amount", json!(10_000)).with("maxInstallments", json!(3));
    let payer = Payer::at(&app, &make(&app, &request));
    let page = payer.check("open").replace('\u{a0}', " ");
    for part in [
        "value=\"credit_card\"",
        "<select id=\"installments\" name=\"installments\">",
        "<option value=\"1\">1× R$ 100,00 à vista</option>",
        "<option value=\"2\">2× sem juros (2 de R$ 50,00)</option>",
        "<option value=\"3\">3× sem juros (1ª de R$ 33,34, 2 de R$ 33,33)</option>",
        "<noscript><p class=\"quiet\">Para pagar com cartão, ative o JavaScript",
        "Seu endereço (para boleto e cartão)",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for absent in ["cc-number", "cc-exp", "cc-csc"] {
        assert!(!page.contains(absent), "{absent}: {page}");
    }
    let small = link().with("amount", json!(1_400)).with("maxInstallments", json!(12));
    let page = Payer::at(&app, &make(&app, &small)).look();
    assert!(page.contains("value=\"2\"") && !page.contains("value=\"3\""), "5.00 is the least: {page}");
    let without = make(&app, &link().with("methods", json!(["pix"])));
    assert!(!Payer::at(&app, &without).look().contains("checkout-card.js"));
}

#[test]
fn the_least_instalment_and_the_most_of_them_are_configured() {
    let app = TestApp::builder().arg("--min-installment", "2000").arg("--max-installments", "6").start();
    let request = link().with("amount", json!(10_000)).with("maxInstallments", json!(6));
    let page = Payer::at(&app, &make(&app, &request)).look();
    assert!(page.contains("value=\"5\"") && !page.contains("value=\"6\""), "{page}");
    let refused = app.client().post("/pay/links", &request.with("maxInstallments", json!(7)));
    assert_eq!(refused.violations(), [("maxInstallments".into(), "range".into())], "{refused}");
}

#[test]
fn a_payer_pays_by_card_and_nothing_of_the_card_stays() {
    let app = TestApp::new();
    let request =
        link().with("maxInstallments", json!(3)).with("successUrl", json!("https://loja.example.com/"));
    let made = make(&app, &request);
    let payer = Payer::at(&app, &made);
    let secret = "4539578763621486";
    let answer = payer.send_card(secret, |body| body.with("installments", json!("3")));
    let told = answer.expect(200);
    assert_eq!(told, json!({"status": "paid", "location": payer.path}));
    let page = payer.check("paid");
    assert!(page.contains("https://loja.example.com/?linkId="), "{page}");
    let record = app.client().payment(&payer.transaction());
    assert_eq!((&record["linkId"], &record["installments"]), (&made["linkId"], &json!(3)));
    assert_eq!(record["creditCard"]["lastDigits"], "1486");
    assert_eq!(read(&app, &made)["status"], "paid");
    for shown in [answer.text(), page, record.to_string(), app.log()] {
        assert!(!shown.contains(secret) && !shown.contains("5395787636"), "{shown}");
    }
    for (name, bytes) in app.store_bytes() {
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{name}");
    }
    let metrics = app.ops().get("/metrics").text();
    for line in [
        "quita_checkout_payments_total{method=\"credit_card\"} 1",
        "quita_checkout_tries_total{outcome=\"approved\"} 1",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[test]
fn a_declined_card_says_what_its_payer_can_do_and_never_a_code() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let other = "Não autorizado pelo banco; fale com ele ou use outro cartão.";
    let mut number = payer.number();
    for (card, field, words) in [
        ("4000000000009995", "", "Sem limite ou saldo: use outro cartão ou PIX."),
        ("4000000000009987", "", other),
        ("4000000000000002", "", other),
        ("4000000000000069", "cc-exp", "O banco recusou a validade"),
        ("4000000000000127", "cc-csc", "O banco recusou o código de segurança"),
    ] {
        let answer = payer.send_card_in(&number, card, as_it_is);
        let told = answer.expect(200);
        assert_eq!((&told["status"], &told["mistakes"][0]["field"]), (&json!("declined"), &json!(field)));
        assert!(told["mistakes"][0]["words"].as_str().unwrap().starts_with(words), "{told:#}");
        let text = format!("{}{}", answer.text(), payer.look());
        let codes = ["insufficient_funds", "lost_card", "generic_decline", "expired_card", "incorrect_cvc"];
        for code in codes {
            assert!(!text.contains(code), "{code}: {text}");
        }
        assert_ne!(told["form"], json!(number), "another card has a form of its own");
        number = told["form"].as_str().unwrap().to_owned();
    }
    assert_eq!(read(&app, &made)["payments"].as_array().unwrap().len(), 5);
    let page = payer.check("open");
    assert!(page.contains("O banco recusou o código de segurança"), "{page}");
}

#[test]
fn every_mistake_is_told_at_once_and_nothing_is_sent() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let answer = payer.send_card("4242424242424241", |body| {
        body.with("name", json!("Maria"))
            .with("postal-code", json!("20040-002"))
            .with("installments", json!("2"))
            .with("card.expiry", json!("13/30"))
            .with("card.code", json!("12"))
            .with("card.holderName", json!(""))
    });
    assert_eq!(answer.status, 422, "{answer}");
    let expected = ["name", "cc-number", "cc-name", "cc-exp", "cc-csc", "installments", "postal-code"];
    assert_eq!(fields_of(&answer), expected, "{answer}");
    assert!(!answer.text_without_ids().contains("4242"), "{answer}");
    let past = payer.send_card(APPROVED, |body| body.with("card.expiry", json!("01/20")));
    assert_eq!((past.status, fields_of(&past)), (422, vec!["cc-exp".to_owned()]), "{past}");
    assert!(past.text().contains("Este cartão venceu"), "{past}");
    let elsewhere = payer.send_card(APPROVED, |body| body.with("street", json!("4242 4242 4242 4242")));
    assert_eq!(fields_of(&elsewhere), ["street"], "{elsewhere}");
    assert!(!elsewhere.text_without_ids().contains("4242"), "{elsewhere}");
    assert_eq!(read(&app, &made)["payments"], json!([]));
}

#[test]
fn a_body_that_the_page_never_sends_is_refused() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    let number = payer.number();
    let whole = card_form(&number, APPROVED);
    for body in [
        json!([]),
        json!({}),
        whole.clone().with("card", json!(APPROVED)),
        whole.clone().with("form", json!("")),
        whole.clone().with("card.number", json!(4_242)),
    ] {
        let answer = payer.send_json(&body);
        assert_eq!((answer.status, answer.json()["code"].as_str()), (403, Some("refused")), "{answer}");
    }
    let kind = [("Content-Type", "application/json"), ("Origin", "https://evil.example")];
    let answer = payer.client.send("POST", &payer.path, &kind, whole.to_string().as_bytes());
    assert_eq!(answer.status, 403, "{answer}");
    let pix = make(&app, &link().with("methods", json!(["pix"])));
    let refused = Payer::at(&app, &pix).send_card(APPROVED, as_it_is);
    assert_eq!((refused.status, fields_of(&refused)), (422, vec!["method".to_owned()]), "{refused}");
}

#[test]
fn a_body_that_is_too_large_or_compressed_is_named_as_that() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    let large = "x".repeat(300 * 1024);
    let form = payer.post(&[("name", &large)]);
    assert_eq!(form.status, 413, "{form}");
    assert!(form.text().contains("grande demais"), "{form}");
    let script = payer.send_json(&json!({ "name": large }));
    assert_eq!((script.status, script.json()["code"].as_str()), (413, Some("refused")), "{script}");
    let kind = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")];
    let compressed = payer.client.send("POST", &payer.path, &kind, b"{}");
    assert_eq!(
        (compressed.status, compressed.json()["code"].as_str()),
        (415, Some("refused")),
        "{compressed}"
    );
    assert_eq!(compressed.header("x-frame-options"), Some("DENY"), "{compressed}");
}

#[test]
fn a_form_without_the_script_pays_by_no_card() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    let number = payer.number();
    let answer = payer.post(&form(&number, "credit_card"));
    assert_eq!(answer.status, 422, "{answer}");
    assert!(answer.text().contains("ative o JavaScript neste navegador, ou escolha"), "{answer}");
    let mut fields = form(&number, "credit_card");
    fields.push(("cc-number", "4242 4242 4242 4242"));
    let answer = payer.post(&fields);
    assert_eq!(answer.status, 422, "{answer}");
    assert!(!answer.text_without_ids().contains("4242"), "{answer}");
}

#[test]
fn a_card_form_that_is_sent_twice_pays_once() {
    let app = TestApp::new();
    let made = make(&app, &link().with("uses", json!(5)));
    let payer = Payer::at(&app, &made);
    let number = payer.number();
    let answers: Vec<_> = thread::scope(|scope| {
        let payer = &payer;
        let number = &number;
        let sent: Vec<_> =
            (0..4).map(|_| scope.spawn(move || payer.send_card_in(number, APPROVED, as_it_is))).collect();
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let location = answers[0].json()["location"].as_str().unwrap().to_owned();
    assert!(location.starts_with(&format!("{}/", payer.path)), "a page of the payer's own: {location}");
    for answer in &answers {
        assert_eq!(answer.json(), json!({"status": "paid", "location": location}), "{answer}");
    }
    assert_eq!(read(&app, &made)["payments"].as_array().unwrap().len(), 1);
    let changed = payer.send_card_in(&number, "5555555555554444", as_it_is);
    assert_eq!(changed.expect(200)["location"], json!(location), "the payment of the form is what counts");
    let page = payer.client.get(&location).text();
    assert_eq!(between(&page, "data-status=\"", "\""), "paid");
}

#[test]
fn a_card_whose_sender_resets_the_connection_is_counted_as_a_try() {
    let app = TestApp::builder().arg("--sandbox-time-out", "2s").start();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let body = card_form(&payer.number(), "4000000000000119").to_string();
    let path = &payer.path;
    let host = app.address();
    let length = body.len();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    eventually(PATIENCE, "a payment", || {
        (!read(&app, &made)["payments"].as_array().unwrap().is_empty()).then_some(())
    });
    // A reset, not an ordinary end: that one waits for the answer.
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
    // Clear by the time of the answer, or not.
    let counted = |metrics: &str, outcome| {
        metrics.contains(&format!("quita_checkout_tries_total{{outcome=\"{outcome}\"}} 1"))
    };
    eventually(PATIENCE * 2, "the count of the try", || {
        let metrics = app.ops().get("/metrics").text();
        (counted(&metrics, "approved") || counted(&metrics, "unknown")).then_some(())
    });
}

#[test]
fn closing_waits_for_a_card_whose_outcome_is_not_known_yet_and_cancels_what_else_waits() {
    let app = TestApp::builder().arg("--sandbox-time-out", "2s").start();
    let made = make(&app, &link().with("uses", json!(5)));
    let close = format!("/pay/links/{}/close", made["linkId"].as_str().unwrap());
    let [with_pix, with_card] = [(); 2].map(|()| Payer::at(&app, &made));
    assert_eq!(with_pix.begin("pix").status, 303);
    thread::scope(|scope| {
        scope.spawn(|| with_card.send_card("4000000000000119", as_it_is));
        eventually(PATIENCE, "the card's payment", || {
            (read(&app, &made)["payments"].as_array().unwrap().len() == 2).then_some(())
        });
        app.client().post(&close, &json!({"cancelPending": true})).expect(200);
    });
    let statuses = app.client().get("/pay/payments").expect(200)["data"].clone();
    let mut statuses: Vec<_> = statuses.as_array().unwrap().iter().map(|one| one["status"].clone()).collect();
    statuses.sort_by_key(Value::to_string);
    assert_eq!(statuses, ["cancelled", "paid"]);
}

#[test]
fn a_card_of_unknown_outcome_is_checked_and_no_other_method_is_offered_until_then() {
    let app = TestApp::builder().arg("--sandbox-time-out", "10s").start();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let told = payer.send_card("4000000000000119", as_it_is).expect(200);
    assert_eq!(told, json!({"status": "initial", "location": payer.path}));
    let page = payer.check("initial");
    assert!(page.contains("Ninguém deve pagar de novo") && page.contains("data-status-url"), "{page}");
    for absent in ["name=\"method\"", "name=\"give-up\""] {
        assert!(!page.contains(absent), "{absent}: {page}");
    }
    let id = payer.transaction();
    eventually(PATIENCE * 2, "the outcome", || (app.client().payment(&id)["status"] == "paid").then_some(()));
    payer.check("paid");
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_checkout_tries_total{outcome=\"unknown\"} 1"), "{metrics}");
}
