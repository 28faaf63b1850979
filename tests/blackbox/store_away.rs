//! A store that is away is seen by whoever looks: in metrics, in the log, in both consoles; and that it is back.

use std::time::Duration;

use serde_json::Value;

use crate::support::{
    Account, Browser, EventStream, HeldStore, OPERATOR, PATIENCE, Proxy, TestApp, Visitor,
    check_is_protected, eventually, is_mongodb, mongodb_host, pause, pix,
};

/// The MongoDB driver needs a moment to find its server again.
const RECOVERS_WITHIN: Duration = Duration::from_secs(60);

/// A service whose store can be taken away, on either store.
pub(crate) struct Outage {
    pub(crate) app: TestApp,
    proxy: Option<Proxy>,
    held: Option<HeldStore>,
}

impl Outage {
    pub(crate) fn prepare() -> Self {
        let proxy = is_mongodb().then(|| Proxy::to(&mongodb_host()));
        let builder = TestApp::builder().expects_store_away();
        let builder = match &proxy {
            Some(proxy) => builder.store_by_way_of(proxy),
            None => builder,
        };
        Self { app: builder.start(), proxy, held: None }
    }

    /// Takes the store away; `false` if this machine has no way to.
    pub(crate) fn begin(&mut self) -> bool {
        match &self.proxy {
            Some(proxy) => proxy.cut(),
            None => self.held = HeldStore::hold(self.app.store_url()),
        }
        self.proxy.is_some() || self.held.is_some()
    }

    pub(crate) fn end(&mut self) {
        self.proxy.iter().for_each(Proxy::mend);
        self.held = None;
    }

    /// The value of a series, as it is spelt.
    fn metric(&self, series: &str) -> f64 {
        let text = self.app.ops().get("/metrics").text();
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("{series} is missing:\n{text}")).parse().unwrap()
    }

    pub(crate) fn wait_until_up_is(&self, up: f64) {
        eventually(RECOVERS_WITHIN, &format!("quita_store_up is {up}"), || {
            (self.metric("quita_store_up") == up).then_some(())
        });
    }

    /// Lines of the log with this text.
    fn lines_with(&self, text: &str) -> Vec<Value> {
        let log = self.app.log();
        let lines = log.lines().filter(|line| line.contains(text));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn failures(outage: &Outage, kind: &str) -> f64 {
    outage.metric(&format!("quita_store_failures_total{{kind=\"{kind}\"}}"))
}

#[test]
fn every_metric_of_the_store_is_there_from_the_start() {
    let outage = Outage::prepare();
    assert_eq!((outage.metric("quita_store_up"), outage.metric("quita_ready")), (1.0, 1.0));
    for kind in ["read", "write", "probe", "refused"] {
        assert_eq!(failures(&outage, kind), 0.0, "{kind}");
    }
}

#[test]
fn an_outage_is_counted_and_logged_once_although_nobody_asks_for_anything() {
    let mut outage = Outage::prepare();
    if !outage.begin() {
        return;
    }
    outage.wait_until_up_is(0.0);
    assert_eq!(outage.metric("quita_ready"), 0.0);
    let probes = failures(&outage, "probe") + failures(&outage, "read");
    eventually(PATIENCE, "failures are counted on and on", || {
        (failures(&outage, "probe") + failures(&outage, "read") > probes + 2.0).then_some(())
    });
    let gone = outage.lines_with("the store is unavailable: requests");
    assert_eq!(gone.len(), 1, "{gone:#?}");
    assert_eq!((&gone[0]["level"], &gone[0]["trouble"]), (&"ERROR".into(), &"silent".into()));
    assert!(gone[0]["error"].as_str().unwrap().len() < 300, "{gone:#?}");
    // Who looked for it meanwhile says nothing of its own, and so do requests.
    outage.app.client().get("/pay/payments").expect_error(503, "store_unavailable");
    pause(Duration::from_secs(6));
    let log = outage.app.log();
    let warnings: Vec<_> = log.lines().filter(|line| line.contains("\"level\":\"WARN\"")).collect();
    assert!(warnings.is_empty(), "{warnings:#?}");
    assert!(outage.lines_with("the store is back").is_empty());
    outage.end();
    outage.wait_until_up_is(1.0);
    eventually(PATIENCE, "it is ready", || (outage.metric("quita_ready") == 1.0).then_some(()));
    let back = outage.lines_with("the store is back");
    assert_eq!(back.len(), 1, "{back:#?}");
    assert_eq!((&back[0]["level"], &back[0]["since"]), (&"INFO".into(), &gone[0]["since"]));
    assert!(back[0]["away_ms"].as_u64().unwrap() >= 6_000, "{back:#?}");
    assert_eq!(outage.lines_with("the store is unavailable: requests").len(), 1);
    outage.app.client().create(&pix(10_027));
}

#[test]
fn a_load_test_names_the_store_that_was_away_during_the_run() {
    let mut outage = Outage::prepare();
    let url = outage.app.url();
    let metrics = format!("{}/metrics", outage.app.ops_url());
    let arguments = ["load", "--url", &url, "--rate", "5", "--duration", "8s", "--metrics", &metrics];
    let mut running = outage.app.program(&arguments).env("QUITA_KEY", outage.app.key()).start("load");
    eventually(PATIENCE, "the first payment", || {
        let page = outage.app.client().get("/pay/payments").expect(200);
        (!page["data"].as_array()?.is_empty()).then_some(())
    });
    if !outage.begin() {
        return;
    }
    outage.wait_until_up_is(0.0);
    outage.end();
    outage.wait_until_up_is(1.0);
    running.wait(RECOVERS_WITHIN);
    let shown = running.stdout();
    let finding =
        "- the store: it was unavailable or failed for some time; calls that failed or were refused: ";
    assert!(shown.contains(finding), "{shown}");
}

/// Tells whether a page shows the red bar.
fn has_bar(page: &str) -> bool {
    let (_, bar) = page.split_once("<div class=\"outage\"").unwrap_or_else(|| panic!("no bar: {page}"));
    !bar.split('>').next().unwrap().ends_with(" hidden")
}

#[test]
fn every_page_of_both_consoles_has_a_red_bar_while_the_store_is_away() {
    let mut outage = Outage::prepare();
    let operator = Visitor::operator(&outage.app);
    let merchant = Visitor::new(&outage.app);
    let pages = || {
        let of_operator = ["/", "/actors", "/acquirers", "/store", "/exceptions"];
        let of_operator = of_operator.map(|path| operator.get(path).text());
        of_operator.into_iter().chain([merchant.get("/console/sign-in").text()])
    };
    assert!(pages().all(|page| !has_bar(&page)));
    assert_eq!(told(&outage.app), [None, None]);
    if !outage.begin() {
        return;
    }
    outage.wait_until_up_is(0.0);
    let shown: Vec<_> = pages().collect();
    for page in &shown {
        assert!(has_bar(page) && trouble(page) == "silent", "{page}");
    }
    assert!(shown[4].contains("data-retry"), "it loads again by itself: {}", shown[4]);
    assert!(told(&outage.app).iter().all(Option::is_some));
    let home = operator.page("/");
    assert!(home.contains("href=\"/runbook#quitastorefailing\"") && home.contains("tile-bad"), "{home}");
    // Nodes, exceptions, three backlogs, what ends and jobs: nobody knows them without the store. No acquirer was called
    // yet, and perhaps nothing compared, which is grey too.
    assert!((8..=9).contains(&home.matches("tile-unknown").count()), "{home}");
    assert_eq!(home.matches("tile-bad").count(), 1, "{home}");
    outage.end();
    outage.wait_until_up_is(1.0);
    assert!(pages().all(|page| !has_bar(&page)));
}

/// The trouble that the bar of a page names.
fn trouble(page: &str) -> String {
    let words = page.split("<p data-trouble=\"").skip(1);
    let shown: Vec<_> = words.filter(|words| !words.split('>').next().unwrap().contains(" hidden")).collect();
    assert_eq!(shown.len(), 1, "{page}");
    shown[0].split('"').next().unwrap().to_owned()
}

/// Since when the store is away, as open pages of both consoles ask for it.
fn told(app: &TestApp) -> [Option<String>; 2] {
    let answers = [app.ops().get("/outage"), app.client_without_key().get("/console/outage")];
    answers.map(|answer| answer.json()["since"].as_str().map(str::to_owned))
}

#[test]
fn an_open_page_of_store_and_nodes_follows_in_both_directions() {
    let mut outage = Outage::prepare();
    let operator = Visitor::operator(&outage.app);
    let mut page = EventStream::open_at_ops(&outage.app, &operator, "/store/stream");
    let mut wait_for = |badge: &str| {
        let shown = eventually(RECOVERS_WITHIN, badge, || {
            Some(page.next().unwrap()).filter(|shown| shown.contains(badge))
        });
        assert!(shown.contains("this node"), "{shown}");
    };
    wait_for(">Available<");
    if !outage.begin() {
        return;
    }
    wait_for(">Not available<");
    outage.end();
    wait_for(">Available<");
}

#[test]
fn the_runbook_is_read_without_a_session_while_the_store_is_away_and_tells_nothing_of_this_service() {
    let mut outage = Outage::prepare();
    let operator = Visitor::operator(&outage.app);
    // Whom this node has seen lately it knows without the store.
    operator.page("/");
    let stranger = Visitor::at_ops(&outage.app);
    let link = "<a href=\"/runbook\">Runbook</a>";
    assert!(stranger.get("/sign-in").text().contains(link));
    // A session that this node did not confirm yet, as that of another node's operator.
    let unconfirmed = Visitor::at_ops(&outage.app);
    unconfirmed.set_cookie("quita_operator", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    if !outage.begin() {
        return;
    }
    outage.wait_until_up_is(0.0);
    let signed_in = operator.page("/runbook");
    assert!(signed_in.contains("href=\"/acquirers\"") && has_bar(&signed_in), "{signed_in}");
    for visitor in [&stranger, &unconfirmed] {
        let page = visitor.get("/runbook");
        assert_eq!(page.status, 200, "{page}");
        check_is_protected(&page);
        let page = page.text();
        assert!(page.contains("id=\"quitastorefailing\"") && page.contains("href=\"/sign-in\""), "{page}");
        assert!(has_bar(&page) && page.contains("href=\"/runbook#quitastorefailing\""), "{page}");
        let own =
            [outage.app.address(), outage.app.store_url(), OPERATOR, "href=\"/acquirers\"", "class=\"foot\""];
        for of_this_service in own {
            assert!(!page.contains(of_this_service), "{of_this_service}: {page}");
        }
        let door = visitor.get("/sign-in").text();
        assert!(has_bar(&door) && door.contains(link), "{door}");
        assert!(visitor.get("/").status >= 303, "no other page is shown");
    }
}

/// Row of the table of nodes that names this address.
fn row_of(page: &str, address: &str) -> String {
    let rows = page.split("<tr data-key=").skip(1);
    let mut named = rows.filter(|row| row.contains(&format!("<strong>{address}</strong>")));
    named.next().unwrap_or_else(|| panic!("{address} is not in {page}")).to_owned()
}

#[test]
fn a_node_that_dies_while_the_store_is_away_is_unknown_and_this_one_is_alive() {
    let mut outage = Outage::prepare();
    let operator = Visitor::operator(&outage.app);
    operator.page("/");
    let own = outage.app.address().to_owned();
    // An SQLite file belongs to one service.
    let builder = || TestApp::builder().expects_store_away().store(outage.app.store_url());
    let mut other = is_mongodb().then(|| builder().start());
    let nodes = 1.0 + if other.is_some() { 1.0 } else { 0.0 };
    eventually(PATIENCE, "every node is seen", || (outage.metric("quita_nodes_seen") == nodes).then_some(()));
    if !outage.begin() {
        return;
    }
    outage.wait_until_up_is(0.0);
    other.iter_mut().for_each(TestApp::kill);
    let page = operator.page("/store");
    assert!(row_of(&page, &own).contains(">Alive<"), "{page}");
    if let Some(other) = &other {
        let row = row_of(&page, other.address());
        assert!(row.contains("badge-unknown\">Unknown<") && !row.contains("a moment ago"), "{row}");
    }
    let counted = ["quita_nodes_seen", "quita_nodes_lost", "quita_nodes_unknown"];
    assert_eq!(counted.map(|name| outage.metric(name)), [1.0, 0.0, nodes - 1.0]);
    outage.end();
    outage.wait_until_up_is(1.0);
    // Until it is lost it is never called alive again, unless the store saw it within the last minute.
    eventually(Duration::from_secs(150), "what died is lost", || {
        (outage.metric("quita_nodes_lost") == nodes - 1.0).then_some(())
    });
    assert_eq!(counted.map(|name| outage.metric(name)), [1.0, nodes - 1.0, 0.0]);
}

#[test]
fn a_page_that_was_opened_during_an_outage_loads_again_by_itself() {
    let mut outage = Outage::prepare();
    let Some(browser) = Browser::open(&outage.app) else { return };
    let account = Account::create(&outage.app, "shop", "ana@shop.example", "owner");
    let visitor = Visitor::signed_in(&outage.app, &account);
    let url = outage.app.url();
    browser.go_to(&format!("{url}/console/sign-in"));
    browser.set_cookie("quita_console", &visitor.cookie("quita_console").unwrap());
    if !outage.begin() {
        return;
    }
    outage.wait_until_up_is(0.0);
    browser.go_to(&format!("{url}/console/test"));
    browser.wait_for("[data-retry]");
    outage.end();
    outage.wait_until_up_is(1.0);
    browser.wait_until_gone("[data-retry]");
    browser.wait_for("header.bar");
}

#[test]
fn an_embedded_store_whose_file_is_gone_is_called_broken_and_not_silent() {
    if is_mongodb() {
        println!("skipped: MongoDB has the files");
        return;
    }
    for ending in ["", "-wal"] {
        let app = TestApp::builder().expects_errors().start();
        let operator = Visitor::operator(&app);
        app.client().create(&pix(10_027));
        let file = app.store_url().strip_prefix("sqlite:").unwrap();
        std::fs::remove_file(format!("{file}{ending}")).unwrap();
        let told = eventually(PATIENCE, "it is seen", || {
            let told = app.ops().get("/outage").json();
            told["since"].is_string().then_some(told)
        });
        assert_eq!(told["trouble"], "broken");
        let log = app.log();
        let errors: Vec<_> = log.lines().filter(|line| line.contains("\"level\":\"ERROR\"")).collect();
        let [line] = errors[..] else { panic!("one line is enough: {errors:#?}") };
        // Whoever restarts first has lost what the process alone still has.
        for part in ["Before the service ends", "/proc/PID/fd", "put it back"] {
            assert!(line.contains(part), "{part}: {line}");
        }
        let refused = app.client().post("/pay/payments", &pix(10_027));
        refused.expect_error(503, "store_unavailable");
        assert!(!refused.text().contains("nothing is lost"), "nobody knows yet: {refused}");
        let ready = app.ops().get("/health/ready");
        assert_eq!(ready.status, 503, "{ready}");
        assert!(ready.text().contains("was deleted or replaced"), "{ready}");
        assert!(ready.text().contains("/proc/PID/fd"), "{ready}");
        for path in ["/", "/store"] {
            let page = operator.get(path).text();
            assert!(has_bar(&page) && trouble(&page) == "broken", "{page}");
            assert!(page.contains("href=\"/runbook#broken-store\""), "{page}");
        }
        assert!(operator.page("/runbook").contains("id=\"broken-store\""));
    }
}
