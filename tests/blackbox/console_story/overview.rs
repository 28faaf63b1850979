//! Overview of the shop's business: figures that agree with the payments, and plots.

use serde_json::json;

use crate::support::{Account, Browser, TestApp, boleto, card, pix};

/// Script that returns, for each figure, true if it holds something in the colour of boletos. Boletos are drawn over
/// what they equal.
const DRAWN: &str = "
    const pixels = (canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const sample = new OffscreenCanvas(1, 1);
    const brush = sample.getContext('2d');
    brush.fillStyle = getComputedStyle(document.body).getPropertyValue('--plot-2').trim();
    brush.fillRect(0, 0, 1, 1);
    const wanted = pixels(sample);
    return [...document.querySelectorAll('figure.plot canvas')].map((canvas) => {
        const all = pixels(canvas);
        for (let at = 0; at < all.length; at += 4)
            if ([0, 1, 2, 3].every((part) => Math.abs(all[at + part] - wanted[part]) < 16)) return true;
        return false;
    });";

#[test]
fn the_overview_adds_up_and_draws_what_was_paid() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let client = app.client();
    let create = |request| client.create(&request)["transactionId"].as_str().unwrap().to_owned();
    for id in [create(pix(100_000)), create(boleto(23_400))] {
        client.wait_for_status(&id, "paid");
    }
    create(pix(10_027));
    client.wait_for_status(&create(card("4000000000009995", 5_000)), "declined");
    Account::create(&app, "shop", "ana@shop.example", "owner").sign_in(&app, &browser);
    let tiles = browser.texts(".tile");
    for (tile, parts) in tiles.iter().zip([
        ["Paid today", "R$ 1,234.00", "2 payments of 4 created"],
        ["Paid in 30 days", "R$ 1,234.00", "2 payments of 4 created"],
        ["Approval", "66.7 %", ""],
        ["Time to payment", "s", "median"],
    ]) {
        assert!(parts.iter().all(|part| tile.contains(part)), "{parts:?}: {tile}");
    }
    assert_eq!(tiles.len(), 4);
    browser.wait_for("figure.plot canvas");
    assert_eq!(browser.count("figure.plot canvas"), 3, "each figure is drawn");
    assert_eq!(browser.script(DRAWN), json!([true, true, true]), "what boletos did is in each of them");
    browser.look("overview-with-figures");
    // The other mode has nothing of it.
    browser.click("nav.mode a[href$=\"/live\"]");
    browser.wait_for_address("/console/live");
    browser.wait_for_text(".empty", "First steps");
    assert!(browser.texts(".tile")[0].contains("R$ 0.00"), "{:?}", browser.texts(".tile"));
}
