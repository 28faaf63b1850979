//! State of the store, live, and the nodes that use it.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use quita_actors::{NodeState, NodeView, StoreAway};
use quita_ports::StoreForm;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::visitor::{Operator, WatchingOperator};
use crate::console::kit::answer::html;
use crate::console::kit::console_kind::ConsoleKind;
use crate::console::kit::language::Language;
use crate::console::kit::live::LivePart;
use crate::console::kit::outage::OutageWords;
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::Watcher;

#[derive(Template)]
#[template(path = "console/operator/store.html")]
struct StorePage {
    frame: OperatorFrame,
    body: String,
}

/// Live part of the page: this node's view of the store and the nodes, without querying the store.
#[derive(Template)]
#[template(path = "console/operator/store_body.html")]
struct StoreBody {
    texts: &'static OperatorTexts,
    language: Language,
    may_direct: bool,
    store_name: String,
    away: Option<StoreAway>,
    form: StoreForm,
    nodes: Vec<NodeView>,
    /// True if live nodes have been routing payments with different tables or accounts for minutes.
    routes_differ: bool,
}

impl StoreBody {
    fn words(&self, away: &StoreAway) -> OutageWords {
        OutageWords::of(away.trouble, ConsoleKind::Operator, &self.texts.everywhere)
    }

    /// Returns how much a node's clock differs from this node's, or `None` if it does not.
    fn clock(&self, view: &NodeView) -> Option<String> {
        // The last heartbeat of a frozen or dead node says nothing about its clock now.
        let ahead_s = view.shown_clock_ahead_s()?;
        let texts = &self.texts.operators;
        let words = if ahead_s < 0 { texts.clock_behind } else { texts.clock_ahead };
        Some(words.replace("{seconds}", &ahead_s.unsigned_abs().to_string()))
    }

    /// Returns how long a node has been silent, or `None` if no heartbeat is overdue.
    fn silence(&self, view: &NodeView) -> Option<String> {
        let silent_s = view.silent_s.filter(|_| view.is_silent())?;
        Some(self.texts.operators.seen_seconds_ago.replace("{seconds}", &silent_s.to_string()))
    }
}

/// Handles `GET /store`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let frame = OperatorFrame { has_plots: true, ..operator.frame(OperatorSection::Store) };
    let body = body(&console, frame.language(), frame.may_direct())?;
    html(&StorePage { frame, body })
}

fn body(console: &OperatorConsole, language: Language, may_direct: bool) -> Result<String, PageError> {
    let body = StoreBody {
        texts: OperatorTexts::of(language),
        language,
        may_direct,
        store_name: console.store_name.clone(),
        away: console.payments.store_away(),
        form: console.store_form(),
        nodes: console.operators.nodes(),
        routes_differ: console.operators.routes_differ(),
    };
    Ok(body.render()?)
}

/// Handles `GET /store/stream`.
pub(super) async fn stream(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let streams = Arc::clone(&console.streams);
    let language = Language::current();
    streams.open(LiveStore {
        console: console.into_inner(),
        watching: WatchingOperator::of(operator),
        language,
    })
}

/// Store and nodes as a stream polls them.
struct LiveStore {
    console: Arc<OperatorConsole>,
    watching: WatchingOperator,
    language: Language,
}

impl LivePart for LiveStore {
    fn key(&self) -> String {
        format!("store {} {}", self.language.tag(), self.watching.who.role.as_str())
    }

    async fn render(&self) -> Result<String, PageError> {
        body(&self.console, self.language, self.watching.who.role.may_direct())
    }

    fn watcher(&self) -> Watcher {
        self.watching.watcher()
    }

    async fn may_watch(&self) -> bool {
        self.watching.goes_on(&self.console).await
    }
}

#[cfg(test)]
pub(super) mod tests {
    use quita_domain::control::Node;
    use quita_domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    /// Another node that is alive.
    pub(in super::super) fn other_node() -> NodeView {
        let at = Timestamp::from_millis(0);
        let node = Node {
            id: Uuid::from_u128(2),
            address: "10.0.0.2:8080".into(),
            version: "1".into(),
            routing: None,
            accounts: None,
            comparison_failure: None,
            knows_form: 1,
            writes_form: 1,
            started_at: at,
            seen_at: at,
        };
        NodeView { node, is_own: false, state: NodeState::Alive, silent_s: None, clock_ahead_s: None }
    }

    #[test]
    fn a_silent_node_shows_its_age_and_no_clock() {
        let page = |silent_s, language| {
            let body = StoreBody {
                texts: OperatorTexts::of(language),
                language,
                may_direct: false,
                store_name: "mongodb://h/q".into(),
                away: None,
                form: StoreForm { number: 1, known: 1, is_upgrading: false },
                nodes: vec![NodeView { silent_s, clock_ahead_s: Some(-40), ..other_node() }],
                routes_differ: false,
            };
            body.render().unwrap()
        };
        let alive = page(None, Language::English);
        assert!(alive.contains("clock 40 s behind") && alive.contains(">Alive<"), "{alive}");
        let silent = page(Some(31), Language::English);
        assert!(silent.contains("badge-pending\">Silent<") && silent.contains("31 s ago"), "{silent}");
        assert!(!silent.contains("clock 40 s") && silent.contains("/runbook#quitanodelost"), "{silent}");
        let silent = page(Some(31), Language::Portuguese);
        assert!(silent.contains(">Calado<") && silent.contains("há 31 s"), "{silent}");
    }
}
