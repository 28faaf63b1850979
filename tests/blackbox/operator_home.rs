//! The operators' home page: it says whether all is well, and leads to what is not.

use crate::support::{PATIENCE, TestApp, Visitor, boleto, eventually};

fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

#[test]
fn on_a_good_day_everything_is_green_and_the_page_names_its_node() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let page = eventually(PATIENCE, "the node has seen itself", || {
        let page = operator.page("/");
        let has_counted = page.contains("No problems found.");
        let has_seen = page.contains("<h2><a href=\"/store\">Nodes</a></h2><p class=\"value\">1</p>");
        (has_counted && has_seen).then_some(page)
    });
    let tiles = count(&page, "class=\"tile ");
    // Nobody called an acquirer, and the lists are compared for the first time after 15 seconds.
    assert!(page.contains("6 not called yet"), "{page}");
    let untried = count(&page, "tile-unknown");
    assert!(tiles >= 8 && untried <= 2 && count(&page, "tile-well") == tiles - untried, "{page}");
    assert!(page.contains(&format!("<code>{}</code>", app.address())), "{page}");
    for section in ["/store", "/acquirers", "/exceptions"] {
        assert!(page.contains(&format!("<h2><a href=\"{section}\">")), "{section}: {page}");
    }
    assert!(!page.contains("/runbook#quitaexception") && !page.contains("count tone-over"), "{page}");
}

#[test]
fn an_acquirer_that_nobody_called_is_grey_until_a_call_is_answered() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let badge = |state: &str, page: &str| count(page, &format!("badge badge-{state}\""));
    let page = operator.page("/acquirers");
    assert_eq!((badge("not_called", &page), badge("healthy", &page)), (6, 0), "{page}");
    assert!(page.contains("Not called yet"), "{page}");
    let ready = app.ops().get("/health/ready").expect(200);
    let acquirers = ready["checks"]["acquirers"].as_array().unwrap();
    assert!(acquirers.iter().all(|acquirer| acquirer["state"] == "not_called"), "{ready:#}");
    app.client().create(&boleto(10_027));
    let page = operator.page("/acquirers");
    assert_eq!((badge("not_called", &page), badge("healthy", &page)), (5, 1), "{page}");
    assert!(operator.page("/").contains("5 not called yet"));
}

/// State of a route as the metrics name it.
fn measured(app: &TestApp, acquirer: &str, method: &str) -> String {
    let text = app.ops().get("/metrics").text();
    let series = format!("quita_route_state{{acquirer=\"{acquirer}\",method=\"{method}\",state=\"");
    let states = text.lines().filter_map(|line| line.strip_prefix(&series)?.strip_suffix("\"} 1"));
    let states: Vec<_> = states.collect();
    assert_eq!(states.len(), 1, "{text}");
    states[0].to_owned()
}

#[test]
fn the_state_of_a_route_is_measured_as_readiness_names_it_at_every_moment() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    for (directive, state) in [("paused", "paused"), ("open", "not_called"), ("drained", "drained")] {
        let path = format!("/acquirers/sandbox/pix/{directive}");
        assert_eq!(operator.post(&path, &[]).status, 303);
        // No moment passes between the change and the scrape.
        assert_eq!(measured(&app, "sandbox", "pix"), state);
        let ready = app.ops().get("/health/ready").json();
        let of_pix = |route: &&serde_json::Value| {
            (&route["acquirer"], &route["method"]) == (&"sandbox".into(), &"pix".into())
        };
        let route = ready["checks"]["acquirers"].as_array().unwrap().iter().find(of_pix).unwrap();
        assert_eq!(route["state"], state, "{ready:#}");
    }
}

#[test]
fn an_open_exception_is_counted_by_kind_and_in_the_navigation_of_every_page() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    app.client().create(&boleto(10_051));
    let page = eventually(PATIENCE, "the exception is counted", || {
        let page = operator.page("/");
        page.contains("tile-bad").then_some(page)
    });
    assert!(page.contains("Something needs attention"), "{page}");
    assert!(page.contains("href=\"/runbook#amount_mismatch\""), "{page}");
    assert!(page.contains("href=\"/runbook#quitaexception\""), "{page}");
    for path in ["/acquirers", "/store", "/people"] {
        let page = operator.page(path);
        assert_eq!(count(&page, "Exceptions <span class=\"count tone-over\">1</span>"), 1, "{path}: {page}");
    }
}

#[test]
fn every_section_of_the_runbook_that_a_page_leads_to_is_there() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let runbook = operator.page("/runbook");
    let overview = include_str!("../../src/console/operator/overview.rs");
    let sections: Vec<_> =
        overview.split('"').filter(|text| text.starts_with("quita") && !text.contains(' ')).collect();
    assert!(sections.len() > 6, "{sections:?}");
    let metrics = app.ops().get("/metrics").text();
    let kinds = metrics.lines().filter_map(|line| line.strip_prefix("quita_exceptions_total{kind=\""));
    let kinds = kinds.map(|rest| rest.split('"').next().unwrap());
    for section in sections.into_iter().chain(kinds) {
        assert_eq!(count(&runbook, &format!("id=\"{section}\"")), 1, "{section}");
    }
}
