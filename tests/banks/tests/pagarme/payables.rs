use quita_banks::pagarme::{Config, PagesEnd};
use serde_json::{Value, json};

use crate::shop::{A, DAY_MS, OWN, Shop, card, flat, pix, with};

fn sum(lines: &[Value], name: &str) -> i64 {
    lines.iter().map(|line| line[name].as_i64().unwrap()).sum()
}

#[test]
fn each_instalment_is_a_line_and_they_add_up() {
    let mut shop = Shop::at(Config { payables_lag_ms: 16_000, ..Config::default() });
    let id = shop.ordered(&with(card("c1"), "credit_card/installments", json!(3)));
    assert!(shop.payables(&format!("charge_id={id}")).is_empty());
    shop.now_ms += 16_000;
    let lines = shop.payables(&format!("charge_id={id}"));
    let instalments: Vec<&Value> = lines.iter().map(|line| &line["installment"]).collect();
    assert_eq!(instalments, [1, 2, 3]);
    assert_eq!((sum(&lines, "amount"), sum(&lines, "fee")), (15_700, 626));
    assert!(lines.iter().all(|line| line["status"] == "waiting_funds"));
    shop.now_ms += 31 * DAY_MS;
    assert_eq!(shop.payables(&format!("charge_id={id}&status=paid")).len(), 1);
}

#[test]
fn each_recipient_has_lines_and_one_pays_the_fee() {
    let mut shop = Shop::open();
    let id =
        shop.ordered(&with(card("c1"), "split", json!([flat(A, 5_700, false), flat(OWN, 10_000, true)])));
    let of = |shop: &mut Shop, who: &str| shop.payables(&format!("charge_id={id}&recipient_id={who}"));
    let theirs = of(&mut shop, A);
    let own = of(&mut shop, OWN);
    assert_eq!([sum(&theirs, "amount"), sum(&theirs, "fee")], [5_700, 0]);
    assert_eq!([sum(&own, "amount"), sum(&own, "fee")], [10_000, 626]);
    shop.cancel(&id, &json!({ "amount": 1_000 }));
    let refunds = shop.payables(&format!("charge_id={id}&type=refund"));
    assert_eq!((refunds.len(), sum(&refunds, "amount")), (2, -1_000));
}

#[test]
fn disputes_take_money_and_bring_it_back() {
    let mut shop = Shop::open();
    let id = shop.ordered(&card("c1"));
    shop.control(json!({ "do": "chargeback", "charge": "c1" }));
    assert_eq!(sum(&shop.payables("type=chargeback"), "amount"), -15_700);
    assert_eq!(shop.get(&format!("/charges/{id}")).body["status"], "chargedback");
    shop.control(json!({ "do": "win", "charge": "c1" }));
    assert_eq!(sum(&shop.payables("type=chargeback_refund"), "amount"), 15_700);
    assert_eq!(shop.get(&format!("/charges/{id}")).body["status"], "paid");
}

#[test]
fn pages_are_followed_by_a_cursor_to_their_end() {
    let mut shop = Shop::open();
    for code in ["a", "b", "c", "d", "e"] {
        shop.ordered(&pix(code));
        shop.control(json!({ "do": "pay", "charge": code }));
        shop.now_ms += 1;
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let got = shop.get(&format!("/payables?size=2{cursor}"));
        seen.extend(got.body["data"].as_array().unwrap().iter().map(|line| line["id"].clone()));
        match got.body["paging"]["forward_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    seen.sort_by_key(Value::to_string);
    seen.dedup();
    assert_eq!(seen.len(), 5);
}

#[test]
fn lines_are_found_by_the_moment_of_their_making() {
    let mut shop = Shop::open();
    for code in ["a", "b"] {
        shop.ordered(&pix(code));
        shop.control(json!({ "do": "pay", "charge": code }));
        shop.now_ms += DAY_MS;
    }
    let since =
        shop.payables("created_since=2026-11-23T03%3A00%3A00Z&created_until=2026-11-24T02%3A59%3A59Z");
    assert_eq!(since.len(), 1);
    assert_eq!(since[0]["created_at"], "2026-11-23T15:00:00Z");
    shop.control(json!({ "do": "adjust", "amountCents": -700 }));
    let adjusted = shop.payables("created_since=2026-11-24T03%3A00%3A00Z");
    assert_eq!((&adjusted[0]["charge_id"], &adjusted[0]["amount"]), (&Value::Null, &json!(-700)));
}

#[test]
fn an_anticipated_line_keeps_its_instalment_and_costs_more() {
    let mut shop = Shop::open();
    shop.ordered(&with(card("c1"), "credit_card/installments", json!(2)));
    shop.control(json!({ "do": "anticipate", "charge": "c1", "feeCents": 50 }));
    let lines = shop.payables("status=paid");
    assert_eq!((lines.len(), sum(&lines, "anticipation_fee")), (2, 100));
}

/// Reads so many pages of two, and returns the cursors that they have.
fn cursors(shop: &mut Shop, pages: usize) -> Vec<Option<String>> {
    let mut cursors: Vec<Option<String>> = Vec::new();
    for _ in 0..pages {
        let asked = cursors.last().cloned().flatten();
        let asked = asked.map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
        let got = shop.get(&format!("/payables?size=2{asked}"));
        cursors.push(got.body["paging"]["forward_cursor"].as_str().map(str::to_owned));
    }
    cursors
}

#[test]
fn pages_may_end_with_a_repeated_cursor_or_never() {
    for (end, expected) in [
        (PagesEnd::Null, [Some("c2"), None]),
        (PagesEnd::Repeated, [Some("c2"), Some("c2")]),
        (PagesEnd::Circle, [Some("c2"), Some("c4")]),
    ] {
        let mut shop = Shop::at(Config { payables_end: end, ..Config::default() });
        shop.ordered(&with(card("c1"), "credit_card/installments", json!(3)));
        let found = cursors(&mut shop, 2);
        assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected, "{end:?}");
    }
}

#[test]
fn the_books_have_the_fees_and_a_charge_may_be_left_out_of_lists() {
    let mut shop = Shop::open();
    shop.ordered(&card("c1"));
    shop.control(json!({ "do": "anticipate", "charge": "c1", "feeCents": 50 }));
    assert_eq!(shop.entry("c1").fees_cents, 676);
    shop.control(json!({ "do": "unlist", "charge": "c1" }));
    assert!(shop.payables("").is_empty());
    shop.control(json!({ "do": "relist", "charge": "c1" }));
    assert_eq!(shop.payables("").len(), 1);
}
