//! Charges with a due date: fine, interest and discounts, both codes of a boleto, and PIX that are due.

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use crate::checkout::{Payer, between, link, make};
use crate::support::{Client, Edit, PATIENCE, TestApp, TestReceiver, boleto, eventually, pix, today};

/// After today's due date on whatever day of the week, and beyond every row of holidays.
fn late_day() -> NaiveDate {
    today() + Days::new(6)
}

/// Terms of a fixed fine and a fixed amount a day, which leave nothing to be rounded.
fn with_surcharges(request: Value) -> Value {
    let due = request.with("dueDate", json!(today().to_string()));
    due.with("fine", json!({ "amount": 150 })).with("interest", json!({ "amountPerDay": 10 }))
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

fn pay(client: &Client, id: &str, how: &Value) -> Value {
    client.post(&format!("/sandbox/payments/{id}/pay"), how).expect(200)
}

/// Waits until operators see these exceptions of a payment: they are stored behind its answer.
fn wait_for_exceptions(app: &TestApp, id: &str, kinds: &[&str]) {
    eventually(3 * PATIENCE, "its exceptions", || (kinds_of_exceptions(app, id) == kinds).then_some(()));
}

fn kinds_of_exceptions(app: &TestApp, id: &str) -> Vec<String> {
    let all = app.ops().get("/ops/exceptions").expect(200);
    let of_payment = |entry: &&Value| entry["transactionId"] == id;
    let entries = all["data"].as_array().unwrap().iter().filter(of_payment);
    entries.map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_boleto_that_is_paid_late_costs_fine_and_interest_which_are_never_refunded() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let request = with_surcharges(boleto(10_027)).with("postbackUrl", json!(receiver.url()));
    let record = client.create(&request);
    let id = id_of(&record);
    assert_eq!(record["terms"]["payableAfterDueDays"], 30);
    assert_eq!(record["terms"]["fine"], json!({ "amount": "1.50" }));
    assert_eq!(record["terms"]["interest"], json!({ "amountPerDay": "0.10" }));
    assert_eq!(record["terms"]["payableUntil"], record["boleto"]["payableUntil"]);
    let paid = pay(&client, &id, &json!({ "on": late_day().to_string() }));
    // 1.50 and six days of 0.10 from the due date itself.
    assert_eq!(paid["boleto"]["paidAmount"], "102.37");
    assert_eq!([&paid["capturedAmount"], &paid["amount"]], ["100.27", "100.27"]);
    assert_eq!(paid["boleto"]["paidOn"], late_day().to_string());
    assert!(paid["paidAt"].as_str() < Some(late_day().to_string().as_str()), "heard of today");
    assert_eq!(kinds_of_exceptions(&app, &id), [""; 0]);
    let event = &receiver.wait_for_events(&id, 2, PATIENCE)[1];
    assert_eq!(event.json()["data"]["boleto"]["paidAmount"], "102.37");
    let refund = client.post_empty(&format!("/pay/payments/{id}/refunds")).expect(201);
    assert_eq!(refund["amount"], "100.27");
    client.wait_for_status(&id, "refund");
}

#[test]
fn a_pix_with_a_due_date_is_paid_late_and_all_of_it_can_be_refunded() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&with_surcharges(pix(10_027)));
    let id = id_of(&record);
    assert_eq!(record["pix"]["dueDate"], today().to_string());
    let until: NaiveDate = record["terms"]["payableUntil"].as_str().unwrap().parse().unwrap();
    let expires_at = format!("{}T03:00:00.000Z", until + Days::new(1));
    assert_eq!(record["pix"]["expiresAt"], expires_at);
    let paid = pay(&client, &id, &json!({ "on": late_day().to_string(), "amount": 10_300 }));
    assert_eq!([&paid["pix"]["paidAmount"], &paid["status"]], ["103.00", "paid"]);
    wait_for_exceptions(&app, &id, &["overpaid"]);
    let refund = client.post_empty(&format!("/pay/payments/{id}/refunds")).expect(201);
    assert_eq!(refund["amount"], "103.00");
}

#[test]
fn less_than_is_owed_on_the_day_leaves_it_waiting_with_an_exception() {
    let app = TestApp::new();
    let client = app.client();
    let id = id_of(&client.create(&with_surcharges(boleto(10_027))));
    let how = json!({ "on": late_day().to_string(), "amount": 10_027 });
    assert_eq!(pay(&client, &id, &how)["status"], "pending");
    wait_for_exceptions(&app, &id, &["amount_mismatch"]);
}

#[test]
fn with_a_discount_the_payer_pays_less_and_it_is_paid() {
    let app = TestApp::new();
    let client = app.client();
    let request = boleto(10_000)
        .with("dueDate", json!((today() + Days::new(10)).to_string()))
        .with("discounts", json!([{ "until": (today() + Days::new(2)).to_string(), "percentage": 12.5 }]));
    let id = id_of(&client.create(&request));
    let record = client.wait_for_status(&id, "paid");
    assert_eq!([&record["boleto"]["paidAmount"], &record["capturedAmount"]], ["87.50", "87.50"]);
    let refused = client.post(&format!("/pay/payments/{id}/refunds"), &json!({ "amount": 8_751 }));
    refused.expect_error(422, "refund_exceeds_paid");
    assert_eq!(kinds_of_exceptions(&app, &id), [""; 0]);
}

#[test]
fn a_boleto_that_is_paid_by_both_codes_is_paid_once_and_an_operator_sees_the_second() {
    let app = TestApp::new();
    let client = app.client();
    for (first, second) in [("pix", "barcode"), ("barcode", "pix")] {
        let id = id_of(&client.create(&boleto(10_027)));
        let paid = pay(&client, &id, &json!({ "by": first }));
        assert_eq!(paid["boleto"]["endToEndId"].is_string(), first == "pix", "{paid:#}");
        let again = pay(&client, &id, &json!({ "by": second }));
        assert_eq!([&again["status"], &again["version"]], [&json!("paid"), &paid["version"]]);
        wait_for_exceptions(&app, &id, &["paid_twice"]);
        let same = client.post(&format!("/sandbox/payments/{id}/pay"), &json!({ "by": first }));
        same.expect_error(409, "status_conflict");
    }
}

#[test]
fn a_day_outside_the_charges_time_and_what_another_method_has_are_refused() {
    let app = TestApp::new();
    let client = app.client();
    let boleto = id_of(&client.create(&boleto(10_027)));
    let pix = id_of(&client.create(&pix(10_027)));
    let yesterday = (today() - Days::new(1)).to_string();
    for (id, how, field, code) in [
        (&boleto, json!({ "on": yesterday }), "on", "range"),
        (&boleto, json!({ "on": (today() + Days::new(40)).to_string() }), "on", "range"),
        (&boleto, json!({ "on": "tomorrow" }), "on", "format"),
        (&boleto, json!({ "by": "cash" }), "by", "unknown_value"),
        (&boleto, json!({ "amount": 0 }), "amount", "range"),
        (&pix, json!({ "by": "pix" }), "by", "not_applicable"),
        (&pix, json!({ "on": today().to_string() }), "on", "not_applicable"),
    ] {
        let refused = client.post(&format!("/sandbox/payments/{id}/pay"), &how);
        let error = refused.expect_error(422, "validation_failed");
        assert_eq!([&error["details"][0]["field"], &error["details"][0]["code"]], [field, code], "{how}");
    }
}

#[test]
fn page_and_slip_say_what_is_owed_and_until_when() {
    let app = TestApp::new();
    let request = with_surcharges(boleto(10_027)).with("instructions", json!(["Não receber em cheque"]));
    let record = app.client().create(&request);
    let url = record["boleto"]["url"].as_str().unwrap();
    let until: NaiveDate = record["terms"]["payableUntil"].as_str().unwrap().parse().unwrap();
    let page = app.client_without_key().get(url).text();
    let pix_code = record["boleto"]["pixCode"].as_str().unwrap();
    for part in ["multa de R$ 1,50 e juros de R$ 0,10 por dia", "Não receber em cheque", pix_code] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    assert!(page.contains(&until.format("%d/%m/%Y").to_string()), "{page}");
    let picture = app.client_without_key().get(record["boleto"]["pixQrCode"].as_str().unwrap());
    assert_eq!(picture.header("content-type"), Some("image/png"));
    let id = id_of(&record);
    pay(&app.client(), &id, &json!({ "on": late_day().to_string() }));
    let page = app.client_without_key().get(url).text();
    assert!(page.contains("R$&nbsp;102,37"), "once it is paid, the page shows what came: {page}");
    let due = app.client().create(&with_surcharges(pix(10_027)));
    let page = due["pix"]["qrCode"].as_str().unwrap().trim_end_matches(".png");
    let page = app.client_without_key().get(page).text();
    assert!(page.contains("multa de R$ 1,50") && page.contains("Pagável até"), "{page}");
}

/// Checks the page of a link as its payer and the operator's program see it. Returns its amount, and the page.
#[track_caller]
fn page_of(app: &TestApp, payer: &Payer, language: &str) -> (String, String) {
    let page = payer.client.send("GET", &payer.path, &[("Accept-Language", language)], b"");
    assert_eq!(page.status, 200, "{page}");
    let html = page.text();
    assert!(html.len() < 60 * 1_024 && !html.contains("style=\""), "{html}");
    let verified = app.program(&["checkout", "verify", &format!("{}{}", app.url(), payer.path)]).run();
    assert_eq!(verified.code, Some(0), "{}", verified.said());
    let amount = between(&html, "<p class=\"amount\">", "</p>").replace('\u{a0}', " ");
    (amount, html.replace('\u{a0}', " "))
}

#[test]
fn the_page_of_a_link_asks_for_what_is_owed_with_its_discount_and_says_so() {
    let app = TestApp::new();
    let request = link()
        .with("methods", json!(["pix", "boleto"]))
        .with("dueDate", json!(today().to_string()))
        .with("discounts", json!([{ "until": today().to_string(), "amount": 9_999 }]));
    for method in ["pix", "boleto"] {
        let mut payer = Payer::at(&app, &make(&app, &request));
        let check_open = |payer: &Payer| {
            let (amount, page) = page_of(&app, payer, "pt-BR");
            assert_eq!(amount, "R$ 0,28");
            let day = today().format("%d/%m/%Y");
            for part in [
                format!("Valor para pagamento em {day}; valor original R$ 100,27"),
                format!("Vencimento {day}"),
                ", desconto de R$ 99,99.".to_owned(),
            ] {
                assert!(page.contains(&part), "{part}: {page}");
            }
            let (amount, page) = page_of(&app, payer, "en");
            assert_eq!(amount, "R$0.28");
            let day = today().format("%b %-d, %Y");
            for part in [
                format!("Amount to pay on {day}; original amount R$100.27"),
                format!("Due {day}"),
                ", a discount of R$99.99.".to_owned(),
            ] {
                assert!(page.contains(&part), "{part}: {page}");
            }
        };
        check_open(&payer);
        payer.begin_and_go(method);
        payer.check("pending");
        check_open(&payer);
        pay(&app.client(), &payer.transaction(), &json!({}));
        payer.check("paid");
        let (amount, page) = page_of(&app, &payer, "pt-BR");
        assert_eq!(amount, "R$ 0,28");
        assert!(page.contains("Valor pago; valor original R$ 100,27"), "{page}");
        assert!(!page.contains("desconto") && !page.contains("Vencimento"), "nothing is owed: {page}");
    }
}

#[test]
fn the_page_of_a_link_says_what_fine_and_interest_are() {
    let app = TestApp::new();
    let request = link()
        .with("methods", json!(["pix", "boleto"]))
        .with("dueInDays", json!(0))
        .with("fine", json!({ "percentage": 20 }))
        .with("interest", json!({ "percentagePerMonth": 20 }));
    let mut payer = Payer::at(&app, &make(&app, &request));
    let check_open = |payer: &Payer| {
        for (language, original, terms) in [
            ("pt-BR", "R$ 100,27", "multa de 20% (R$ 20,05) e juros de 20% ao mês."),
            ("en", "R$100.27", "a fine of 20% (R$20.05) and interest of 20% a month."),
        ] {
            let (amount, page) = page_of(&app, payer, language);
            assert_eq!(amount, original);
            assert!(page.contains(terms), "{terms}: {page}");
        }
    };
    check_open(&payer);
    payer.begin_and_go("boleto");
    payer.check("pending");
    check_open(&payer);
    payer.give_up();
    payer.check("open");
    check_open(&payer);
    payer.begin_and_go("pix");
    pay(&app.client(), &payer.transaction(), &json!({ "on": late_day().to_string(), "amount": 12_500 }));
    payer.check("paid");
    assert_eq!(page_of(&app, &payer, "pt-BR").0, "R$ 125,00");
}

#[test]
fn terms_beside_a_card_name_the_methods_that_have_them() {
    let app = TestApp::new();
    let discount = json!([{ "until": today().to_string(), "amount": 9_999 }]);
    let due = link().with("dueDate", json!(today().to_string())).with("discounts", discount);
    for (methods, heading) in [
        (json!(["pix", "boleto", "credit_card"]), "Por PIX ou boleto:"),
        (json!(["pix", "credit_card"]), "Por PIX:"),
    ] {
        let payer = Payer::at(&app, &make(&app, &due.clone().with("methods", methods)));
        let (amount, page) = page_of(&app, &payer, "pt-BR");
        assert_eq!(amount, "R$ 100,27", "a card has no discount");
        let of_today = format!("Valor para pagamento em {}: R$ 0,28", today().format("%d/%m/%Y"));
        for part in [heading, &of_today, ", desconto de R$ 99,99."] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
    let (amount, page) = page_of(&app, &Payer::at(&app, &make(&app, &link())), "pt-BR");
    assert_eq!(amount, "R$ 100,27");
    assert!(!page.contains("Vencimento"), "{page}");
}

#[test]
fn payments_are_listed_by_their_due_date() {
    let app = TestApp::new();
    let client = app.client();
    let due = |request: Value, days| {
        id_of(&client.create(&request.with("dueDate", json!((today() + Days::new(days)).to_string()))))
    };
    let early = due(boleto(10_027), 1);
    let late = due(pix(10_027), 20);
    client.create(&pix(10_027));
    let listed = |query: &str| -> Vec<String> {
        let page = client.get(&format!("/pay/payments?{query}")).expect(200);
        page["data"].as_array().unwrap().iter().map(id_of).collect()
    };
    let day = |days| (today() + Days::new(days)).to_string();
    assert_eq!(listed(&format!("dueFrom={}", day(0))), [late.clone(), early.clone()]);
    assert_eq!(listed(&format!("dueTo={}", day(19))), [early]);
    assert_eq!(listed(&format!("dueFrom={}&paymentMethod=pix", day(2))), [late]);
    client.get("/pay/payments?dueFrom=tomorrow").expect_error(400, "malformed_request");
}

#[test]
fn more_and_less_than_a_plain_boleto_asks_for_are_told_apart() {
    let app = TestApp::new();
    let client = app.client();
    let over = id_of(&client.create(&boleto(10_052)));
    let record = client.wait_for_status(&over, "paid");
    assert_eq!([&record["boleto"]["paidAmount"], &record["capturedAmount"]], ["100.53", "100.52"]);
    let short = id_of(&client.create(&boleto(10_051)));
    eventually(PATIENCE, "the operator sees both", || {
        let seen = |id: &str| kinds_of_exceptions(&app, id);
        (seen(&over) == ["overpaid"] && seen(&short) == ["amount_mismatch"]).then_some(())
    });
    assert_eq!(client.payment(&short)["status"], "pending");
}
