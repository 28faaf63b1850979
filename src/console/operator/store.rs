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
        let ahead_s = view.clock_ahead_s?;
        let texts = &self.texts.operators;
        let words = if ahead_s < 0 { texts.clock_behind } else { texts.clock_ahead };
        Some(words.replace("{seconds}", &ahead_s.unsigned_abs().to_string()))
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
