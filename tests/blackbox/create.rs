//! `POST /pay/payments` and the record that it gives back, field by field.

use serde_json::{Value, json};

use crate::support::{Edit, TestApp, boleto, card, pix};

const RECORD: [&str; 36] = [
    "acquirer",
    "acquirerReference",
    "amount",
    "boleto",
    "cancelledAt",
    "capturedAmount",
    "chargebackAt",
    "cost",
    "createdAt",
    "creditCard",
    "currency",
    "customer",
    "expiredAt",
    "externalReference",
    "installments",
    "linkId",
    "metadata",
    "mode",
    "paidAt",
    "paymentMethod",
    "pix",
    "postbackUrl",
    "products",
    "refundedAmount",
    "refundedAt",
    "refunds",
    "routing",
    "shipping",
    "splits",
    "status",
    "statusReason",
    "terms",
    "transactionId",
    "updatedAt",
    "utm",
    "version",
];

fn names(object: &Value) -> Vec<String> {
    let mut names: Vec<_> = object.as_object().unwrap().keys().cloned().collect();
    names.sort();
    names
}

fn is_time(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

#[track_caller]
fn check_record_names(record: &Value) {
    assert_eq!(names(record), RECORD, "{record:#}");
    assert_eq!(names(&record["customer"]), ["document", "email", "name", "phone"]);
    assert_eq!(names(&record["utm"]), ["campaign", "content", "medium", "source", "term"]);
    assert_eq!(names(&record["routing"]), ["attempts", "considered", "rule", "version"]);
}

#[test]
fn a_pix_is_created_pending_with_a_code_to_pay() {
    let app = TestApp::new();
    let answer = app.client().post("/pay/payments", &pix(10_027));
    let record = answer.expect(201);
    check_record_names(&record);
    let id = record["transactionId"].as_str().unwrap();
    assert_eq!(uuid::Uuid::parse_str(id).unwrap().to_string(), id);
    let location = answer.header("location").unwrap();
    assert!(location.ends_with(&format!("/pay/payments/{id}")), "{location}");
    assert_eq!(app.client().get(location.trim_start_matches(&app.url())).expect(200), record);

    assert_eq!((&record["status"], &record["amount"]), (&json!("pending"), &json!("100.27")));
    assert_eq!((&record["currency"], &record["paymentMethod"]), (&json!("BRL"), &json!("PIX")));
    let customer = json!({
        "name": "Maria da Silva", "email": "maria.silva@example.com", "document": "52998224725", "phone": "11987654321"
    });
    assert_eq!(record["customer"], customer);
    let pix = &record["pix"];
    assert_eq!(
        names(pix),
        ["code", "dueDate", "endToEndId", "expiresAt", "paidAmount", "paidOn", "qrCode", "txid"]
    );
    assert!(pix["code"].as_str().unwrap().starts_with("000201"), "{pix}");
    assert!((26..=35).contains(&pix["txid"].as_str().unwrap().len()), "{pix}");
    assert!(pix["qrCode"].as_str().unwrap().starts_with(&format!("{}/pix/", app.url())), "{pix}");
    assert!(is_time(&pix["expiresAt"]) && pix["endToEndId"].is_null(), "{pix}");
    assert!(is_time(&record["createdAt"]) && is_time(&record["updatedAt"]), "{record}");
    for name in
        ["boleto", "cost", "creditCard", "capturedAmount", "shipping", "installments", "externalReference"]
    {
        assert!(record[name].is_null(), "{name}: {record:#}");
    }
    assert!(record["acquirerReference"].is_null(), "a sandbox names nothing: {record:#}");
    for name in
        ["paidAt", "refundedAt", "chargebackAt", "cancelledAt", "expiredAt", "statusReason", "postbackUrl"]
    {
        assert!(record[name].is_null(), "{name}: {record:#}");
    }
    for name in ["products", "splits", "refunds"] {
        assert_eq!(record[name], json!([]), "{name}");
    }
    assert_eq!((&record["metadata"], &record["refundedAmount"]), (&json!({}), &json!("0.00")));
    let utm = json!({"source": null, "medium": null, "campaign": null, "term": null, "content": null});
    assert_eq!(record["utm"], utm);
    assert!(record["version"].as_u64().is_some_and(|version| version >= 1), "{record:#}");
}

#[test]
fn a_pix_expires_when_it_was_asked_to() {
    let app = TestApp::new();
    let seconds = |record: &Value| {
        let time = |value: &Value| chrono::DateTime::parse_from_rfc3339(value.as_str().unwrap()).unwrap();
        (time(&record["pix"]["expiresAt"]) - time(&record["createdAt"])).num_seconds()
    };
    let client = app.client();
    assert_eq!(seconds(&client.create(&pix(10_027))), 3600);
    for expires_in in [60, 2_592_000] {
        let record = client.create(&pix(10_027).with("expiresIn", json!(expires_in)));
        assert!((expires_in - 1..=expires_in).contains(&seconds(&record)), "{record:#}");
    }
}

#[test]
fn a_boleto_is_created_pending_with_bar_code_line_and_page() {
    let app = TestApp::new();
    let record = app.client().create(&boleto(12_327));
    check_record_names(&record);
    let boleto = &record["boleto"];
    let expected = ["code", "digitableLine", "dueDate", "endToEndId", "paidAmount", "paidOn", "payableUntil"];
    assert_eq!(names(boleto), [&expected[..], &["pixCode", "pixQrCode", "url"]].concat());
    let digits = |value: &Value, count| {
        value
            .as_str()
            .is_some_and(|text| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    assert!(digits(&boleto["code"], 44) && digits(&boleto["digitableLine"], 47), "{boleto}");
    assert_eq!(&boleto["code"].as_str().unwrap()[9..19], "0000012327", "the amount is in the code");
    assert!(boleto["url"].as_str().unwrap().starts_with(&format!("{}/boletos/", app.url())), "{boleto}");
    assert!(record["pix"].is_null() && record["creditCard"].is_null(), "{record:#}");
    assert_eq!((&record["paymentMethod"], &record["status"]), (&json!("BOLETO"), &json!("pending")));

    let created_at = chrono::DateTime::parse_from_rfc3339(record["createdAt"].as_str().unwrap()).unwrap();
    let sao_paulo = chrono::FixedOffset::west_opt(3 * 3600).unwrap();
    let due =
        |days| (created_at.with_timezone(&sao_paulo).date_naive() + chrono::Days::new(days)).to_string();
    assert_eq!(boleto["dueDate"], due(3), "{boleto}");
    let asked = app.client().create(&self::boleto(12_327).with("dueDate", json!(due(20))));
    assert_eq!(asked["boleto"]["dueDate"], due(20));
}

#[test]
fn a_card_that_is_captured_at_once_is_paid() {
    let app = TestApp::new();
    let request = card("4242424242424242", 10_000).with("installments", json!(3));
    let record = app.client().create(&request);
    check_record_names(&record);
    assert_eq!((&record["paymentMethod"], &record["status"]), (&json!("CREDIT_CARD"), &json!("paid")));
    let shown = &record["creditCard"];
    let fields = [
        "authorizationCode",
        "brand",
        "declineCode",
        "declineKind",
        "firstDigits",
        "holderName",
        "installments",
        "lastDigits",
        "networkDeclineCode",
    ];
    assert_eq!(names(shown), fields);
    assert_eq!((&shown["firstDigits"], &shown["lastDigits"]), (&json!("424242"), &json!("4242")));
    assert_eq!((&shown["holderName"], &shown["installments"]), (&json!("MARIA DA SILVA"), &json!(3)));
    assert!(shown["authorizationCode"].is_string() && shown["declineCode"].is_null(), "{shown}");
    assert!(shown["declineKind"].is_null() && shown["networkDeclineCode"].is_null(), "{shown}");
    assert!(record["pix"].is_null() && record["boleto"].is_null(), "{record:#}");
    assert_eq!((&record["capturedAmount"], &record["installments"]), (&json!("100.00"), &json!(3)));
    assert!(is_time(&record["paidAt"]), "{record:#}");
}

#[test]
fn everything_that_the_merchant_sends_along_is_in_the_record() {
    let app = TestApp::new();
    let item = "7f3c1f0e-0a51-4c5c-9d0c-3d3f7a1f2b11";
    let request = pix(20_027)
        .with("shipping", json!({"fee": 1050}))
        .with(
            "items",
            json!([
                {"id": item, "name": "Camiseta", "quantity": 2, "price": 5000},
                {"name": "Brinde", "quantity": 1, "price": 0},
            ]),
        )
        .with("splits", json!([{"recipientId": "a", "amount": 5000}, {"recipientId": "b", "amount": 1}]))
        .with("UTMSource", json!("news"))
        .with("UTMMedium", json!("email"))
        .with("UTMCampaign", json!("natal"))
        .with("UTMTerm", json!("camiseta"))
        .with("UTMContent", json!("botão"))
        .with("externalReference", json!("order-7"))
        .with("metadata", json!({"cart": "42", "note": "é só um teste 🎁"}));
    let answer = app.client().post("/pay/payments", &request);
    let record = answer.expect(201);
    assert_eq!(record["shipping"]["fee"], "10.50");
    let products = record["products"].as_array().unwrap();
    assert_eq!(names(&products[0]), ["id", "name", "price", "quantity", "total"]);
    let first = (&products[0]["id"], &products[0]["name"], &products[0]["quantity"], &products[0]["price"]);
    assert_eq!(first, (&json!(item), &json!("Camiseta"), &json!(2), &json!("50.00")));
    assert!(answer.text().contains("\"total\":100.00"), "a number with two decimals: {answer}");
    assert_eq!(products.len(), 2);
    let own = products[1]["id"].as_str().unwrap();
    assert!(uuid::Uuid::try_parse(own).is_ok() && own.len() == 36, "one follows from its place: {own}");
    let read = app.client().payment(record["transactionId"].as_str().unwrap());
    assert_eq!(&read["products"], &record["products"], "and stays the same");
    assert_eq!(record["splits"][0]["recipientId"], "a");
    assert_eq!(record["splits"][1]["amount"], "0.01");
    let utm = json!({"source": "news", "medium": "email", "campaign": "natal", "term": "camiseta", "content": "botão"});
    assert_eq!(record["utm"], utm);
    assert_eq!(record["externalReference"], "order-7");
    assert_eq!(record["metadata"], json!({"cart": "42", "note": "é só um teste 🎁"}));
}

#[test]
fn shares_may_be_percentages() {
    let app = TestApp::new();
    let splits =
        json!([{"recipientId": "a", "percentage": 33.33}, {"recipientId": "b", "percentage": 66.67}]);
    let record = app.client().create(&pix(10_027).with("splits", splits));
    assert_eq!(record["splits"][0]["percentage"], 33.33);
    assert_eq!(record["splits"].as_array().unwrap().len(), 2);
}

#[test]
fn spellings_that_the_specification_allows_are_accepted() {
    let app = TestApp::new();
    let client = app.client();
    for (method, shown) in [("PIX", "PIX"), ("Boleto", "BOLETO")] {
        let record = client.create(&pix(10_027).with("paymentMethod", json!(method)));
        assert_eq!(record["paymentMethod"], shown);
    }
    let card = card("5555555555554444", 10_000).with("paymentMethod", json!("Credit_Card"));
    let card =
        card.with("creditCard.expirationMonth", json!("1")).with("creditCard.expirationYear", json!("2048"));
    assert_eq!(client.create(&card)["status"], "paid");
    let company = pix(10_027)
        .with("paymentDetails.document", json!("11222333000181"))
        .with("paymentDetails.documentType", json!("cnpj"))
        .with("paymentDetails.phoneNumber", json!("5511987654321"));
    assert_eq!(client.create(&company)["customer"]["document"], "11222333000181");
    // The alphanumeric CNPJ of Receita Federal's own example.
    let company = company.with("paymentDetails.document", json!("12ABC34501DE35"));
    assert_eq!(client.create(&company)["customer"]["document"], "12ABC34501DE35");
}

#[test]
fn unknown_fields_are_ignored_and_null_is_as_absent() {
    let app = TestApp::new();
    let mut request = pix(10_027).with("novelty", json!({"deep": [1, 2, 3]}));
    for name in
        ["shipping", "items", "postbackUrl", "splits", "UTMSource", "installments", "creditCard", "metadata"]
    {
        request = request.with(name, Value::Null);
    }
    let record = app.client().create(&request.with("paymentDetails.address.country", Value::Null));
    assert_eq!((&record["status"], &record["shipping"]), (&json!("pending"), &Value::Null));
}

#[test]
fn amounts_may_be_one_cent_and_ten_digits() {
    let app = TestApp::new();
    for (cents, shown) in [(1, "0.01"), (27, "0.27"), (9_999_999_927, "99999999.27")] {
        assert_eq!(app.client().create(&boleto(cents))["amount"], shown);
    }
}
