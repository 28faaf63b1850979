//! State of the store, live, and the nodes that work on it.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use quita_actors::{NodeState, NodeView, StoreAway};
use quita_ports::StoreForm;

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::texts::Texts;
use super::visitor::{Operator, Watching};
use crate::console::kit::answer::html;
use crate::console::kit::console_kind::ConsoleKind;
use crate::console::kit::failure::Failure;
use crate::console::kit::language::Language;
use crate::console::kit::live::Look;
use crate::console::kit::outage::OutageWords;
use crate::console::kit::stream_permits::Watcher;

#[derive(Template)]
#[template(path = "console/operator/store.html")]
struct StorePage {
    frame: Frame,
    body: String,
}

/// Live part of the page: this node's view of store and nodes, without a query to the store.
#[derive(Template)]
#[template(path = "console/operator/store_body.html")]
struct StoreBody {
    texts: &'static Texts,
    language: Language,
    may_direct: bool,
    store_name: String,
    away: Option<StoreAway>,
    form: StoreForm,
    nodes: Vec<NodeView>,
}

impl StoreBody {
    fn words(&self, away: &StoreAway) -> OutageWords {
        OutageWords::of(away.trouble, ConsoleKind::Operator, &self.texts.everywhere)
    }
}

/// Handles `GET /store`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let frame = Frame { has_plots: true, ..operator.frame(Section::Store) };
    let body = body(&console, frame.language(), frame.may_direct())?;
    html(&StorePage { frame, body })
}

fn body(console: &OperatorConsole, language: Language, may_direct: bool) -> Result<String, Failure> {
    let body = StoreBody {
        texts: Texts::of(language),
        language,
        may_direct,
        store_name: console.store_name.clone(),
        away: console.payments.store_away(),
        form: console.store_form(),
        nodes: console.operators.nodes(),
    };
    Ok(body.render()?)
}

/// Handles `GET /store/stream`.
pub(super) async fn stream(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let (streams, language) = (Arc::clone(&console.streams), Language::current());
    streams.open(StoreLook { console: console.into_inner(), watching: Watching::of(operator), language })
}

/// Store and nodes as a stream polls them.
struct StoreLook {
    console: Arc<OperatorConsole>,
    watching: Watching,
    language: Language,
}

impl Look for StoreLook {
    fn key(&self) -> String {
        format!("store {} {}", self.language.tag(), self.watching.who.role.as_str())
    }

    async fn look(&self) -> Result<String, Failure> {
        body(&self.console, self.language, self.watching.who.role.may_direct())
    }

    fn watcher(&self) -> Watcher {
        self.watching.watcher()
    }

    async fn may_watch(&self) -> bool {
        self.watching.goes_on(&self.console).await
    }
}
