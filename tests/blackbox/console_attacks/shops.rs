//! Two merchants in one service: a shop with something of everything, and a rival.

use serde_json::{Value, json};

use super::routes::{Example, Route};
use crate::support::{
    Account, Answer, Client, Edit, PATIENCE, Reply, TestApp, TestReceiver, Visitor, card, eventually, form,
    pix,
};

/// Name of the payer, which nobody but the shop may read.
pub(super) const PAYER: &str = "Teodolinda";
/// A name with everything that means something in an address.
pub(super) const APPLICATION: &str = "Ana/../loja %2F?#&=+";
/// Below the receiver's address: where it answers 410, which ends the attempts.
const GONE: &str = "/gone";

/// Both merchants, and somebody of every role at the shop, signed in.
pub(super) struct Shops {
    pub(super) app: TestApp,
    /// Still there when an event is delivered again.
    _receiver: TestReceiver,
    pub(super) owner_account: Account,
    pub(super) developer_account: Account,
    pub(super) viewer_account: Account,
    pub(super) owner: Visitor,
    pub(super) developer: Visitor,
    pub(super) viewer: Visitor,
    pub(super) rival: Visitor,
    pub(super) ids: Ids,
    pub(super) rival_ids: Ids,
}

/// Texts that stand in addresses for something of a merchant.
#[derive(Debug, Clone)]
pub(super) struct Ids {
    /// As a segment of a path.
    pub(super) application: String,
    pub(super) key: String,
    pub(super) live_key: String,
    pub(super) paid: String,
    pub(super) pending: String,
    pub(super) authorised: String,
    /// Its one event was given up.
    pub(super) exhausted: String,
    /// A payment link, which is open.
    pub(super) link: String,
    pub(super) login: String,
    pub(super) password: String,
    pub(super) receiver: String,
}

impl Shops {
    pub(super) fn open() -> Self {
        let app = TestApp::new();
        let receiver = TestReceiver::start();
        receiver.answer_with(|event| Reply::status(if event.path.ends_with(GONE) { 410 } else { 200 }));
        let owner_account = Account::create(&app, "shop", "ana@shop.example", "owner");
        let owner = Visitor::signed_in(&app, &owner_account);
        let (developer_account, developer) = hire(&app, &owner, "dora@shop.example", "developer");
        let (viewer_account, viewer) = hire(&app, &owner, "vera@shop.example", "viewer");
        let rival_account = Account::create(&app, "rival", "rita@rival.example", "owner");
        let rival = Visitor::signed_in(&app, &rival_account);
        let named = Account { email: "dora@shop.example".into(), ..owner_account.clone() };
        let ids = furnish(&app, &owner, &receiver, APPLICATION, &named);
        let rival_ids = furnish(&app, &rival, &receiver, "Rita", &rival_account);
        Self {
            app,
            _receiver: receiver,
            owner_account,
            developer_account,
            viewer_account,
            owner,
            developer,
            viewer,
            rival,
            ids,
            rival_ids,
        }
    }

    /// Everything of the shop that its owner can see.
    #[track_caller]
    pub(super) fn state(&self) -> String {
        let Ids { application, paid, pending, authorised, exhausted, link, .. } = &self.ids;
        let payments =
            [paid, pending, authorised, exhausted].map(|id| format!("/console/test/payments/{id}"));
        let modes = ["test", "live"].map(|mode| format!("/console/{mode}/applications/{application}"));
        let states = ["pending", "failing", "exhausted", "delivered"]
            .map(|state| format!("/console/test/deliveries?state={state}"));
        let others = ["/payments", "/refunds", "/disputes", "/applications", "/people", "/audit"]
            .map(|part| format!("/console/test{part}"));
        let links = ["/links", &*format!("/links/{link}")].map(|part| format!("/console/test{part}"));
        let pages = payments.iter().chain(&modes).chain(&states).chain(&others).chain(&links);
        let text: String = pages.map(|page| self.owner.page(page)).collect();
        // When a key was used last, and a person was active last, is stored now and then.
        let is_stable = |line: &&str| !line.contains("Last use") && !line.contains("Last active");
        text.lines().filter(is_stable).collect::<Vec<_>>().join("\n")
    }
}

impl Ids {
    /// The request of an example with these ids.
    pub(super) fn attempt(&self, route: &Route, example: &Example) -> Attempt {
        let fields = example.fields.iter().map(|(name, value)| ((*name).to_owned(), self.fill(value)));
        let path = format!("/console{}", self.fill(example.path));
        Attempt { method: route.method, path, fields: fields.collect() }
    }

    pub(super) fn fill(&self, text: &str) -> String {
        let known = [
            ("{application}", &self.application),
            ("{key}", &self.key),
            ("{paid}", &self.paid),
            ("{pending}", &self.pending),
            ("{authorised}", &self.authorised),
            ("{exhausted}", &self.exhausted),
            ("{link}", &self.link),
            ("{login}", &self.login),
            ("{password}", &self.password),
            ("{receiver}", &self.receiver),
        ];
        known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// A request that somebody tries.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    method: &'static str,
    pub(super) path: String,
    fields: Vec<(String, String)>,
}

impl Attempt {
    /// The same in another mode.
    pub(super) fn in_mode(mut self, mode: &str) -> Self {
        self.path = self.path.replacen("/test/", &format!("/{mode}/"), 1);
        self
    }

    /// Sends it, with this token of a form if it changes something.
    pub(super) fn by(&self, who: &Visitor, token: &str) -> Answer {
        self.with(who, &[], token)
    }

    /// The same with headers of its own.
    pub(super) fn with(&self, who: &Visitor, headers: &[(&str, &str)], token: &str) -> Answer {
        if self.method == "GET" {
            return who.send("GET", &self.path, headers, b"");
        }
        let form = ("Content-Type", "application/x-www-form-urlencoded");
        let is_named = headers.iter().any(|(name, _)| *name == form.0);
        let headers = if is_named { headers.to_vec() } else { [&[form], headers].concat() };
        who.send(self.method, &self.path, &headers, self.body(token).as_bytes())
    }

    fn body(&self, token: &str) -> String {
        let fields = self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        form(&std::iter::once(("formToken", token)).chain(fields).collect::<Vec<_>>())
    }
}

/// Makes a user in the console, who signs in.
#[track_caller]
fn hire(app: &TestApp, owner: &Visitor, email: &str, role: &str) -> (Account, Visitor) {
    let page = owner.post("/console/test/people", &[("email", email), ("role", role)]);
    assert_eq!(page.status, 200, "{page}");
    let password = element(&page.text(), "secret");
    let account = Account { email: email.into(), password };
    let visitor = Visitor::signed_in(app, &account);
    let own: String = account.password.chars().rev().collect();
    visitor.choose_password(&own);
    (Account { password: own, ..account }, visitor)
}

/// The text of the element with this id.
#[track_caller]
pub(super) fn element(page: &str, id: &str) -> String {
    let (_, after) = page.split_once(&format!("id=\"{id}\">")).unwrap_or_else(|| panic!("no #{id}: {page}"));
    after.split('<').next().unwrap().to_owned()
}

/// Returns the address to which a page leads that shows something once.
#[track_caller]
pub(super) fn way_back(answer: &Answer) -> String {
    let page = answer.text();
    let (_, after) = page.rsplit_once("<p><a class=\"button\" href=\"").unwrap_or_else(|| panic!("{answer}"));
    after.split('"').next().unwrap().to_owned()
}

/// Makes an application, keys and payments: one of them paid, with events delivered, and one given up.
fn furnish(
    app: &TestApp,
    owner: &Visitor,
    receiver: &TestReceiver,
    application: &str,
    names: &Account,
) -> Ids {
    let made = owner.post("/console/test/applications", &[("name", application)]);
    let base = way_back(&made);
    let application = base.rsplit('/').next().unwrap().to_owned();
    let scopes = [("scope", "payments:write"), ("scope", "payments:read"), ("scope", "webhooks")];
    let key = element(&owner.post(&format!("{base}/keys"), &scopes).text(), "secret");
    let live = format!("/console/live/applications/{application}/keys");
    let live_key = element(&owner.post(&live, &scopes).text(), "secret");
    let client = app.client_with(&key);
    let by = |request: Value| request.with("paymentDetails.firstName", json!(PAYER));
    let id = |record: Value| record["transactionId"].as_str().unwrap().to_owned();
    let paid = id(client.create(&by(pix(10_000)).with("postbackUrl", json!(receiver.url()))));
    let pending = id(client.create(&by(pix(10_027))));
    let authorised = id(client.create(&by(card("4242424242424242", 10_000)).with("capture", json!(false))));
    let gone = format!("{}{GONE}", receiver.url());
    let exhausted = id(client.create(&by(pix(10_027)).with("postbackUrl", json!(gone))));
    let link =
        json!({"amount": 10_027, "currency": "BRL", "title": "Aula", "customer": {"firstName": PAYER}});
    let link = client.post("/pay/links", &link).expect(201)["linkId"].as_str().unwrap().to_owned();
    wait_for_deliveries(&client, &paid, "delivered", 2);
    wait_for_deliveries(&client, &exhausted, "exhausted", 1);
    let key_id = |key: &str| key.split('_').nth(2).unwrap().to_owned();
    Ids {
        application,
        key: key_id(&key),
        live_key: key_id(&live_key),
        paid,
        pending,
        authorised,
        exhausted,
        link,
        login: names.email.clone(),
        password: names.password.clone(),
        receiver: receiver.url(),
    }
}

/// Waits until `count` events of a payment are in this state: after that nothing moves by itself.
#[track_caller]
fn wait_for_deliveries(client: &Client, id: &str, state: &str, count: usize) {
    eventually(PATIENCE, &format!("{count} events are {state}"), || {
        let deliveries = client.deliveries(id);
        let is_over = deliveries.iter().all(|delivery| delivery["state"] == state);
        (is_over && deliveries.len() == count).then_some(())
    });
}
