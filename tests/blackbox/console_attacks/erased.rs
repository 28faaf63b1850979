//! Whoever was erased, looked for by those who may look.

use serde_json::json;

use super::shops::Shops;
use crate::support::{EventStream, PATIENCE, boleto, eventually, form_token_in};

/// Forms in which a payer may stand in a page.
const TRACES: [&str; 8] = [
    "529.982.247-25",
    "52998224725",
    "982.247",
    "maria.silva",
    "Maria da Silva",
    "Rua Augusta",
    "11987654321",
    "5511987654321",
];

#[track_caller]
fn check_tells_nobody(what: &str, page: &str) {
    for trace in TRACES {
        assert!(!page.contains(trace), "{what} tells {trace}: {page}");
    }
}

#[test]
fn who_was_erased_is_shown_to_nobody_by_any_page_search_stream_or_file() {
    let shops = Shops::open();
    let client = shops.app.client();
    let record = client.create(&boleto(10_000));
    let id = record["transactionId"].as_str().unwrap();
    client.wait_for_status(id, "paid");
    let all = ["privacy", "erase", "--document", "52998224725", "--paid-before", "0s"];
    let done = shops.app.quita(&all);
    assert!(done.code == Some(0) && !done.stdout.starts_with("erased 0"), "{done:?}");
    for erased in [id, &shops.ids.paid] {
        let path = format!("/console/test/payments/{erased}");
        for who in [&shops.owner, &shops.developer, &shops.viewer] {
            check_tells_nobody("the page", &who.page(&path));
            check_tells_nobody(
                "the stream",
                &EventStream::open(&shops.app, who, &format!("{path}/stream")).next().unwrap(),
            );
        }
        // A viewer who has it unmasked gets masks.
        let token = form_token_in(&shops.viewer.page(&path));
        let unmasked = shops.viewer.post_with(&format!("{path}/payer"), &[], &[("formToken", &*token)]);
        check_tells_nobody("the unmasked page", &unmasked.text());
        let file = shops.owner.get("/console/test/payments.csv").text();
        let line = file.lines().find(|line| line.contains(erased)).unwrap();
        check_tells_nobody("the file", line);
    }
    for search in ["52998224725", "529.982.247-25", "maria.silva%40example.com"] {
        let page = shops.owner.page(&format!("/console/test/payments?q={search}"));
        assert!(!page.contains(id) && !page.contains(&shops.ids.paid), "{page}");
    }
    let page = record["boleto"]["url"].as_str().unwrap();
    let pages = eventually(PATIENCE, "the payer's page is there", || {
        let shown = shops.app.client_without_key().get(page);
        (shown.status == 200).then(|| shown.text())
    });
    check_tells_nobody("the payer's own page", &pages);
    let slip = shops.app.client_without_key().get(&format!("{page}.pdf"));
    assert_eq!(slip.status, 410, "{slip}");
    // Nobody is found by what stands in the place of a payer.
    for mask in ["document=***********", "email=***%40***"] {
        let found = client.get(&format!("/pay/payments?{mask}"));
        assert!(found.status == 400 || found.status == 422 || found.json()["data"] == json!([]), "{found}");
    }
}
