//! Payers in full: who sees them, and what is noted of it.

use super::shops::{Shops, element};
use crate::support::{EventStream, Visitor, boleto, form_token_in};

const DOCUMENT: &str = "529.982.247-25";
const EMAIL: &str = "maria.silva@example.com";
const PHONE: &str = "+5511987654321";
/// The same as a viewer sees it.
const MASKED: [&str; 3] = ["***.982.247-**", "m***@example.com", "(11) *****-4321"];
/// Forms in which an unmasked payer may stand in a page.
const IN_FULL: [&str; 5] = [DOCUMENT, "52998224725", EMAIL, PHONE, "11987654321"];

#[track_caller]
fn check_is_masked(page: &str) {
    for text in IN_FULL {
        assert!(!page.contains(text), "{text}: {page}");
    }
}

#[test]
fn a_viewer_sees_payers_masked_on_every_page_and_stream_and_exports_nothing() {
    let shops = Shops::open();
    let paid = format!("/console/test/payments/{}", shops.ids.paid);
    let pages =
        ["/console/test", "/console/test/payments", "/console/test/deliveries?state=delivered", &paid];
    for page in pages {
        check_is_masked(&shops.viewer.page(page));
    }
    let page = shops.viewer.page(&paid);
    assert!(MASKED.iter().all(|text| page.contains(text)), "{page}");
    // All of them open at once: what one is shown is shared with no other who may see less.
    for path in ["/console/test/payments/stream", &format!("{paid}/stream")] {
        for (who, is_masked) in [(&shops.owner, false), (&shops.viewer, true), (&shops.developer, false)] {
            let shown = EventStream::open(&shops.app, who, path).next().unwrap();
            assert_eq!(
                (shown.contains(EMAIL), shown.contains(MASKED[1])),
                (!is_masked, is_masked),
                "{shown}"
            );
        }
    }
    let list = shops.viewer.page("/console/test/payments");
    assert!(!list.contains("payments.csv"), "{list}");
    for mode in ["test", "live"] {
        let refused = shops.viewer.get(&format!("/console/{mode}/payments.csv"));
        assert_eq!(refused.status, 403, "{refused}");
        assert_eq!(shops.developer.get(&format!("/console/{mode}/payments.csv")).status, 200);
    }
    for who in [&shops.owner, &shops.developer] {
        let page = who.page(&paid);
        assert!([DOCUMENT, EMAIL, PHONE].iter().all(|text| page.contains(text)), "{page}");
        assert!(!page.contains(&format!("{paid}/payer")), "there is nothing to unmask: {page}");
    }
}

/// The page of a boleto shows its payer in full, to whoever has its address.
#[test]
fn the_way_to_a_boletos_page_is_shown_to_those_alone_who_see_its_payer() {
    let shops = Shops::open();
    let record = shops.app.client().create(&boleto(10_027));
    let id = record["transactionId"].as_str().unwrap();
    let page = record["boleto"]["url"].as_str().unwrap();
    let path = format!("/console/test/payments/{id}");
    for (who, is_told) in [(&shops.owner, true), (&shops.developer, true), (&shops.viewer, false)] {
        let shown = who.page(&path);
        let token = page.rsplit('/').next().unwrap();
        assert_eq!(shown.contains(token), is_told, "{shown}");
        let streamed = EventStream::open(&shops.app, who, &format!("{path}/stream")).next().unwrap();
        assert_eq!(streamed.contains(token), is_told, "{streamed}");
    }
}

#[test]
fn one_payer_is_unmasked_by_a_form_of_the_session_and_each_time_is_noted() {
    let shops = Shops::open();
    let path = format!("/console/test/payments/{}/payer", shops.ids.paid);
    let noted = |owner: &Visitor| {
        let log = owner.page("/console/test/audit");
        log.matches("viewed the payer of").count()
    };
    let token = form_token_in(&shops.viewer.page(&format!("/console/test/payments/{}", shops.ids.paid)));
    for count in 1..=2 {
        let answer = shops.viewer.post_with(&path, &[], &[("formToken", &*token)]);
        assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")), "{answer}");
        let page = answer.text();
        let shown = ["document", "email", "phone"].map(|id| element(&page, id));
        assert_eq!(shown, [DOCUMENT, EMAIL, PHONE]);
        assert_eq!(noted(&shops.owner), count);
    }
    let log = shops.owner.page("/console/test/audit");
    assert!(log.contains(&shops.ids.paid) && log.contains("vera@shop.example"), "{log}");
    check_is_masked(&log);
    assert_eq!(shops.viewer.get(&path).status, 405, "a link shows nothing");
    assert_eq!(shops.viewer.post_with(&path, &[], &[]).status, 403);
    assert_eq!(shops.rival.post(&path, &[]).status, 404);
    assert_eq!(noted(&shops.owner), 2, "what was refused is not noted");
    check_is_masked(&shops.viewer.page(&format!("/console/test/payments/{}", shops.ids.paid)));
}
