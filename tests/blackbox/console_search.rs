//! Searching and paging through payments in the merchants' console.

use serde_json::{Value, json};

use crate::support::{Account, Edit, TestApp, Visitor, boleto, card, pix};

/// The ids of the payments that a page lists, in its order.
fn listed(page: &str) -> Vec<String> {
    page.split("data-key=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// The link to the older payments, if there is one.
fn older(page: &str) -> Option<String> {
    let (before, _) = page.split_once("rel=\"next\"")?;
    let link = before.rsplit("href=\"").next()?.split('"').next()?;
    Some(link.replace("&#38;", "&"))
}

#[test]
fn payments_are_found_by_whatever_names_them() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "vera@shop.example", "viewer"));
    let client = app.client();
    let create = |request: Value| client.create(&request)["transactionId"].as_str().unwrap().to_owned();
    let joao = pix(12_327)
        .with("paymentDetails.document", json!("11144477735"))
        .with("paymentDetails.email", json!("joao@example.com"))
        .with("externalReference", json!("pedido 7/ä"));
    let pix = create(joao);
    let boleto = create(boleto(10_027));
    let card = create(card("4242424242424242", 123_456));
    client.wait_for_status(&card, "paid");
    let today = client.payment(&card)["createdAt"].as_str().unwrap()[..10].to_owned();
    for (query, found) in [
        ("", vec![&card, &boleto, &pix]),
        ("q=", vec![&card, &boleto, &pix]),
        (&format!("q={pix}"), vec![&pix]),
        (&format!("q=%20{}%20", pix.to_uppercase()), vec![&pix]),
        ("q=11144477735", vec![&pix]),
        ("q=111.444.777-35", vec![&pix]),
        ("q=joao%40example.com", vec![&pix]),
        ("q=pedido+7%2F%C3%A4", vec![&pix]),
        ("q=pedido", vec![]),
        ("q=nobody%40example.com", vec![]),
        ("status=pending", vec![&boleto, &pix]),
        ("status=pending&status=paid", vec![&card, &boleto, &pix]),
        ("status=refund", vec![]),
        ("method=PIX", vec![&pix]),
        ("method=CREDIT_CARD&status=pending", vec![]),
        ("amount=100.27", vec![&boleto]),
        ("amount=1%2C234.56", vec![&card]),
        ("amount=1%2C234%2C56", vec![&card, &boleto, &pix]),
        ("from=2020-01-01&to=2020-12-31", vec![]),
        (&format!("from=2020-01-01&to={}", end_of_the_year(&today)), vec![&card, &boleto, &pix]),
        ("to=2020-12-31", vec![]),
        ("from=2999-01-01", vec![]),
        ("q=joao%40example.com&method=BOLETO", vec![]),
    ] {
        let page = visitor.page(&format!("/console/test/payments?{query}"));
        assert_eq!(listed(&page).iter().collect::<Vec<_>>(), found, "{query}");
        let is_understood = !query.contains("1%2C234%2C56");
        assert_eq!(!page.contains("could not be read"), is_understood, "{query}: {page}");
    }
}

/// A day that is not over anywhere.
fn end_of_the_year(today: &str) -> String {
    format!("{}-12-31", &today[..4])
}

#[test]
fn pages_lead_to_all_payments_once_and_keep_the_search() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "vera@shop.example", "viewer"));
    let client = app.client();
    let mut created: Vec<(&str, String)> = (0..45)
        .map(|number| {
            let (method, request) =
                if number % 9 == 8 { ("BOLETO", boleto(10_027)) } else { ("PIX", pix(10_027)) };
            (method, client.create(&request)["transactionId"].as_str().unwrap().to_owned())
        })
        .collect();
    created.reverse();
    for (query, sizes) in [("", vec![20, 20, 5]), ("method=PIX", vec![20, 20]), ("method=BOLETO", vec![5])] {
        let mut pages = Vec::new();
        let mut next = Some(format!("/console/test/payments?{query}"));
        while let Some(address) = next {
            let page = visitor.page(&address);
            assert_eq!(
                page.contains("data-live=\""),
                pages.is_empty(),
                "only the newest are live: {address}"
            );
            pages.push(listed(&page));
            next = older(&page);
        }
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), sizes, "{query}");
        let is_meant = |method: &str| query.is_empty() || query == format!("method={method}");
        let expected: Vec<_> =
            created.iter().filter(|(method, _)| is_meant(method)).map(|(_, id)| id).collect();
        assert_eq!(pages.concat().iter().collect::<Vec<_>>(), expected, "newest first: {query}");
    }
}
