//! Home page: the state of the service at a glance. Each tile is red or green and links to details.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::texts::Texts;
use super::troubles::Troubles;
use super::visitor::{Operator, Watching};
use super::words;
use crate::console::kit::answer::html;
use crate::console::kit::failure::Failure;
use crate::console::kit::language::Language;
use crate::console::kit::live::Look;
use crate::console::kit::stream_permits::Watcher;

/// Numbers of waiting items that are normal; the alerts on backlogs look at minutes.
const OVERDUE_IS_WELL: i64 = 100;
const NOTICES_ARE_WELL: i64 = 100;
const WEBHOOKS_ARE_WELL: i64 = 1_000;

#[derive(Template)]
#[template(path = "console/operator/overview.html")]
struct OverviewPage {
    frame: Frame,
    body: String,
}

/// Tile with one number.
struct Tile {
    name: &'static str,
    value: String,
    is_well: bool,
    note: String,
    /// Page with details.
    address: &'static str,
    /// Section of the runbook, if action is needed.
    runbook: Option<&'static str>,
}

/// Live part of the page.
#[derive(Template)]
#[template(path = "console/operator/overview_body.html")]
struct OverviewBody {
    texts: &'static Texts,
    language: Language,
    is_well: bool,
    tiles: Vec<Tile>,
    /// Open exceptions by kind, with their number.
    kinds: Vec<(String, usize)>,
}

impl OverviewBody {
    fn of(troubles: Troubles, language: Language) -> Self {
        let texts = Texts::of(language);
        let tiles = vec![
            store(&troubles, texts, language),
            nodes(&troubles, texts),
            acquirers(&troubles, texts, language),
            exceptions(&troubles, texts),
            waiting(texts.operators.timer_backlog, troubles.overdue, OVERDUE_IS_WELL, "quitatimerbehind"),
            waiting(texts.operators.inbox_backlog, troubles.notices, NOTICES_ARE_WELL, "quitainboxbehind"),
            waiting(
                texts.operators.webhook_backlog,
                troubles.webhooks,
                WEBHOOKS_ARE_WELL,
                "quitawebhookbacklog",
            ),
            ending(&troubles, texts),
        ];
        let is_well = tiles.iter().all(|tile| tile.is_well);
        let kinds = troubles.exceptions.unwrap_or_default().into_iter().collect();
        Self { texts, language, is_well, tiles, kinds }
    }

    fn kind<'a>(&self, kind: &'a str) -> &'a str {
        words::kind(kind, self.language)
    }
}

fn store(troubles: &Troubles, texts: &'static Texts, language: Language) -> Tile {
    let away = troubles.away.as_ref();
    let note = away.map(|away| format!("{} {}", texts.everywhere.outage_since, language.time(away.since)));
    let value = if away.is_none() { texts.operators.store_answers } else { texts.operators.store_away };
    Tile {
        name: texts.operators.store,
        value: value.into(),
        is_well: away.is_none(),
        note: note.unwrap_or_default(),
        address: Section::Store.path(),
        runbook: away.map(|_| "quitastorefailing"),
    }
}

fn nodes(troubles: &Troubles, texts: &'static Texts) -> Tile {
    let lost = troubles.lost_nodes();
    let alive = troubles.nodes.len().saturating_sub(lost);
    let note = if lost > 0 { format!("{lost} {}", texts.operators.nodes_lost) } else { String::new() };
    Tile {
        name: texts.operators.nodes,
        value: alive.to_string(),
        is_well: lost == 0,
        note,
        address: Section::Store.path(),
        runbook: (lost > 0).then_some("quitanodelost"),
    }
}

fn acquirers(troubles: &Troubles, texts: &'static Texts, language: Language) -> Tile {
    let name =
        |route: &quita_actors::RouteHealth| format!("{} · {}", route.acquirer, language.method(route.method));
    let failing: Vec<_> = troubles.failing().map(name).collect();
    Tile {
        name: texts.operators.failing_acquirers,
        value: format!("{} / {}", failing.len(), troubles.routes.len()),
        is_well: failing.is_empty(),
        note: failing.join(", "),
        address: Section::Acquirers.path(),
        runbook: (!failing.is_empty()).then_some("quitaacquirerdown"),
    }
}

fn exceptions(troubles: &Troubles, texts: &'static Texts) -> Tile {
    let open = troubles.open_exceptions();
    Tile {
        name: texts.operators.open_exceptions,
        value: open.map_or_else(|| "–".into(), |open| open.to_string()),
        is_well: open == Some(0),
        note: String::new(),
        address: Section::Exceptions.path(),
        runbook: open.is_some_and(|open| open > 0).then_some("quitaexception"),
    }
}

fn waiting(name: &'static str, count: i64, well: i64, runbook: &'static str) -> Tile {
    let is_well = count <= well;
    Tile {
        name,
        value: count.to_string(),
        is_well,
        note: String::new(),
        address: Section::Store.path(),
        runbook: (!is_well).then_some(runbook),
    }
}

fn ending(troubles: &Troubles, texts: &'static Texts) -> Tile {
    let (keys, certificates) = (troubles.ending_keys, troubles.ending_certificates);
    let texts = &texts.operators;
    let runbook = match (keys, certificates) {
        (0, 0) => None,
        (_, 0) => Some("quitaapikeyends"),
        (_, _) => Some("quitaacquirercertificateends"),
    };
    Tile {
        name: texts.ends_soon,
        value: i64::try_from(certificates).unwrap_or(i64::MAX).saturating_add(keys).to_string(),
        is_well: runbook.is_none(),
        note: format!("{keys} {} · {certificates} {}", texts.keys, texts.certificates),
        address: Section::Acquirers.path(),
        runbook,
    }
}

async fn body(console: &OperatorConsole, language: Language) -> Result<String, Failure> {
    Ok(OverviewBody::of(console.troubles().await, language).render()?)
}

/// Handles `GET /`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let frame = operator.frame(Section::Overview);
    let body = body(&console, frame.language()).await?;
    html(&OverviewPage { frame, body })
}

/// Handles `GET /overview/stream`.
pub(super) async fn stream(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let (streams, language) = (Arc::clone(&console.streams), Language::current());
    streams.open(OverviewLook { console: console.into_inner(), watching: Watching::of(operator), language })
}

/// Page as a stream polls it.
struct OverviewLook {
    console: Arc<OperatorConsole>,
    watching: Watching,
    language: Language,
}

impl Look for OverviewLook {
    fn key(&self) -> String {
        format!("overview {}", self.language.tag())
    }

    async fn look(&self) -> Result<String, Failure> {
        body(&self.console, self.language).await
    }

    fn watcher(&self) -> Watcher {
        self.watching.watcher()
    }

    async fn may_watch(&self) -> bool {
        self.watching.goes_on(&self.console).await
    }
}
