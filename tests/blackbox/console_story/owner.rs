//! The owner of a shop: from the first key to the audit log.

use std::time::Duration;

use serde_json::json;

use crate::support::{Account, Browser, Edit, PATIENCE, TestApp, TestReceiver, Visitor, eventually, pix};

/// Longest time that a revoked key may go on working.
const REVOKED_WITHIN: Duration = Duration::from_secs(5);
/// Amount as a field of money takes it, and as the page writes it.
const HALF: (&str, &str) = ("50.13", "R$ 50.13");

struct Story {
    app: TestApp,
    receiver: TestReceiver,
    owner: Account,
    browser: Browser,
}

impl Story {
    /// `None` where no browser is named.
    fn begin() -> Option<Self> {
        let app = TestApp::new();
        let browser = Browser::open(&app)?;
        let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
        Some(Self { app, receiver: TestReceiver::start(), owner, browser })
    }

    fn go_to(&self, section: &str) {
        self.browser.click(&format!(".nav a[href$=\"/{section}\"]"));
        self.browser.wait_for_address(&format!("/console/test/{section}"));
    }

    /// Makes an application and a key for it; the key is read from the page, which shows it once.
    fn make_a_key(&self) -> String {
        let browser = &self.browser;
        self.go_to("applications");
        browser.enter("#name", "Loja do Zé");
        browser.submit();
        browser.wait_for_text("h1", "Webhook secret of Loja do Zé");
        let secret = browser.text("#secret");
        browser.click("main p a.button");
        browser.wait_for("form[action$=\"/keys\"]");
        assert!(secret.starts_with("whsec_") && !browser.text("main").contains(&secret), "it is shown once");
        browser.click("form[action$=\"/keys\"] .button-primary");
        browser.wait_for_text("h1", "Your new key");
        let key = browser.text("#secret");
        assert!(browser.text("#curl").contains(&key), "a line to paste is beside it");
        browser.look("new-key");
        self.go_to("applications");
        browser.click("a.row-link[href*=\"Loja\"]");
        browser.wait_for("a[href$=\"/revoke\"]");
        // The secret itself may hold an underscore.
        let secret = key.splitn(4, '_').nth(3).unwrap();
        assert!(!browser.text("main").contains(secret), "a key is shown once");
        key
    }

    /// Pays by API while the list is looked at: the row comes, and turns paid, on the page that was opened once.
    fn see_a_payment_arrive(&self, key: &str) -> String {
        let browser = &self.browser;
        self.go_to("payments");
        browser.wait_for_text("[data-live-state]", "Up to date");
        browser.script("window.openedOnce = true");
        assert_eq!(browser.count("tbody tr"), 0);
        let client = self.app.client_with(key);
        let wanted = pix(10_027).with("postbackUrl", json!(self.receiver.url()));
        let record = client.create(&wanted.with("externalReference", json!("pedido-7")));
        let id = record["transactionId"].as_str().unwrap().to_owned();
        let row = format!("tr[data-key=\"{id}\"]");
        browser.wait_for(&format!("{row} .badge-pending"));
        assert!(browser.text(&row).contains("R$ 100.27"), "{}", browser.text(&row));
        client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
        browser.wait_for(&format!("{row} .badge-paid"));
        browser.wait_until_gone(&format!("{row} .badge-pending"));
        assert_eq!(browser.script("return window.openedOnce"), json!(true), "nothing was reloaded");
        browser.look("payments");
        id
    }

    /// Refunds a part: it is asked once more, and nothing happens before.
    fn refund_half(&self, id: &str) {
        let browser = &self.browser;
        let client = self.app.client();
        browser.click("a.row-link");
        browser.wait_for_address(&format!("/payments/{id}"));
        assert!(browser.text(".headline").contains("Paid"), "{}", browser.text(".headline"));
        browser.click("a[href$=\"/refund\"]");
        browser.wait_for_text("h1", "Refund the payer?");
        browser.look("refund");
        assert_eq!(client.payment(id)["refundedAmount"], "0.00", "it is only asked");
        browser.enter("#amount", HALF.0);
        browser.submit();
        browser.wait_for_text(".note", "Refunded.");
        assert_eq!(client.payment(id)["refundedAmount"], "50.13");
        let money = browser.text("section[aria-labelledby=\"money-title\"]");
        for line in ["Refunded\nR$ 50.13", "Remaining\nR$ 50.14"] {
            assert!(money.contains(line), "{line}: {money}");
        }
        let timeline = browser.text(".timeline");
        for part in ["Created", "Pending", "Paid", &format!("Refund {}", HALF.1)] {
            assert!(timeline.contains(part), "{part}: {timeline}");
        }
        browser.look("payment");
    }

    /// Redelivers an event: it comes again under the same id, and the page shows it by itself.
    fn redeliver(&self, id: &str) {
        let browser = &self.browser;
        let before = self.receiver.wait_for_events(id, 2, PATIENCE);
        let paid = before.iter().find(|event| event.text("status") == "paid").unwrap();
        browser.wait_for("tr[data-key=\"delivery-1\"] .badge-delivered");
        browser.click("tr[data-key=\"delivery-1\"] a[href$=\"/redeliver\"]");
        browser.wait_for_text("h1", "Redeliver this event?");
        assert_eq!(self.receiver.events_of(id).len(), before.len(), "it is only asked");
        browser.submit();
        browser.wait_for_text(".note", "being redelivered");
        let after = self.receiver.wait_for_events(id, before.len() + 1, PATIENCE);
        let again = after.last().unwrap();
        assert_eq!((again.webhook_id(), &again.body), (paid.webhook_id(), &paid.body));
        browser.wait_for("tr[data-key=\"delivery-2\"] .badge-delivered");
    }

    /// Revokes the key, which then stops working.
    fn revoke(&self, key: &str) {
        let browser = &self.browser;
        let client = self.app.client_with(key);
        self.go_to("applications");
        browser.click("a.row-link[href*=\"Loja\"]");
        browser.click("a[href$=\"/revoke\"]");
        browser.wait_for_text("h1", "Revoke the key");
        assert_eq!(client.get("/pay/payments").status, 200, "it is only asked");
        browser.submit();
        browser.wait_for_text(".note", "Key revoked");
        eventually(REVOKED_WITHIN, "the key is refused", || {
            (client.get("/pay/payments").status == 401).then_some(())
        });
        browser.wait_for(".badge-revoked");
    }

    /// Everything above is in the audit log, under the owner's name, newest first.
    fn read_the_audit_log(&self, id: &str, key: &str) {
        let browser = &self.browser;
        self.go_to("audit");
        let key_id = key.split('_').nth(2).unwrap();
        let told = browser.texts("tbody tr");
        browser.look("audit");
        let expected = [
            ("revoked the key", key_id),
            ("redelivered the event", id),
            ("refunded the payment", id),
            ("created the key", key_id),
            ("created the application", "Loja do Zé"),
            ("signed in", "ana@shop.example"),
            ("created the user", "ana@shop.example"),
        ];
        for (line, (action, subject)) in told.iter().zip(expected) {
            assert!(line.contains(action) && line.contains(subject), "{action} {subject}: {told:#?}");
        }
        let (user, others) = told[..expected.len()].split_last().unwrap();
        assert!(others.iter().all(|line| line.contains("ana@shop.example") && line.contains("127.0.0.1")));
        assert!(user.contains("command line"), "{user}");
    }

    /// Changes the password: this window stays signed in, and every other one is not any more.
    fn change_the_password(&self) {
        let browser = &self.browser;
        let elsewhere = Visitor::signed_in(&self.app, &self.owner);
        browser.click("details.menu summary");
        browser.click("details.menu a[href$=\"/account\"]");
        browser.enter("#current", &self.owner.password);
        browser.enter("#new", "um céu de cada vez, devagar");
        browser.click("form[action$=\"/password\"] .button-primary");
        browser.wait_for_text(".note", "Password changed");
        self.go_to("payments");
        let refused = elsewhere.get("/console/test/payments");
        assert_eq!(
            (refused.status, refused.header("location")),
            (303, Some("/console/sign-in?next=%2Fconsole%2Ftest%2Fpayments"))
        );
        let old = elsewhere.sign_in(&self.owner.email, &self.owner.password, "");
        assert_eq!(old.status, 422, "the old password is wrong now: {old}");
        let new = elsewhere.sign_in(&self.owner.email, "um céu de cada vez, devagar", "");
        assert_eq!(new.status, 303, "{new}");
    }
}

#[test]
fn an_owner_makes_a_key_and_sees_refunds_redelivers_and_revokes() {
    let Some(story) = Story::begin() else { return };
    story.owner.sign_in(&story.app, &story.browser);
    story.browser.look("overview");
    let key = story.make_a_key();
    let id = story.see_a_payment_arrive(&key);
    story.refund_half(&id);
    story.redeliver(&id);
    story.revoke(&key);
    story.read_the_audit_log(&id, &key);
    story.change_the_password();
}
