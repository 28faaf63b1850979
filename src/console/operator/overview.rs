//! Home page: the state of the service at a glance. Each tile is red or green and links to details.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use quita_actors::{NodeState, StoreAway, StoreTrouble};

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::texts::Texts;
use super::troubles::Troubles;
use super::visitor::{Operator, Watching};
use super::words;
use crate::console::kit::answer::html;
use crate::console::kit::console_kind::ConsoleKind;
use crate::console::kit::failure::Failure;
use crate::console::kit::language::Language;
use crate::console::kit::live::Look;
use crate::console::kit::outage::OutageWords;
use crate::console::kit::stream_permits::Watcher;
use crate::nightly::BETWEEN_FAILURES;

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

/// Judgement of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Light {
    /// Nothing is to be done.
    Well,
    /// Something needs a person.
    Bad,
    /// The value can't be read at the moment.
    Unknown,
    /// Nothing was tried yet that would show it. That is normal after a start, and the verdict passes over it.
    Untried,
}

impl Light {
    const fn of(is_well: bool) -> Self {
        if is_well { Self::Well } else { Self::Bad }
    }

    /// Returns the light of a value that is read from the store.
    const fn of_stored(is_well: bool, away: Option<&StoreAway>) -> Self {
        if away.is_some() { Self::Unknown } else { Self::of(is_well) }
    }

    /// Returns the end of its class in the style sheet.
    const fn class(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Bad => "bad",
            Self::Unknown | Self::Untried => "unknown",
        }
    }
}

/// Tile with one number.
struct Tile {
    name: &'static str,
    value: String,
    light: Light,
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
    /// Worst light of the tiles.
    light: Light,
    tiles: Vec<Tile>,
    /// Open exceptions by kind, with their number.
    kinds: Vec<(String, usize)>,
}

impl OverviewBody {
    fn of(troubles: Troubles, language: Language) -> Self {
        let texts = Texts::of(language);
        let away = troubles.away.as_ref();
        let mut tiles = vec![
            store(&troubles, texts, language),
            nodes(&troubles, texts),
            acquirers(&troubles, texts, language),
            exceptions(&troubles, texts),
            waiting(
                texts.operators.timer_backlog,
                (troubles.overdue, away),
                OVERDUE_IS_WELL,
                "quitatimerbehind",
            ),
            waiting(
                texts.operators.inbox_backlog,
                (troubles.notices, away),
                NOTICES_ARE_WELL,
                "quitainboxbehind",
            ),
            waiting(
                texts.operators.webhook_backlog,
                (troubles.webhooks, away),
                WEBHOOKS_ARE_WELL,
                "quitawebhookbacklog",
            ),
            ending(&troubles, texts),
        ];
        tiles.push(failed_jobs(&troubles, texts));
        tiles.extend(comparison(&troubles, texts));
        for tile in tiles.iter_mut().filter(|tile| tile.light == Light::Unknown) {
            tile.value = texts.operators.unknown_value.into();
            tile.runbook = None;
        }
        let has = |light| tiles.iter().any(|tile| tile.light == light);
        let light = [Light::Bad, Light::Unknown].into_iter().find(|light| has(*light)).unwrap_or(Light::Well);
        let kinds = troubles.exceptions.unwrap_or_default().into_iter().collect();
        Self { texts, language, light, tiles, kinds }
    }

    const fn tone(&self) -> &'static str {
        match self.light {
            Light::Well | Light::Untried => "tone-done",
            Light::Bad => "tone-over",
            Light::Unknown => "tone-waiting",
        }
    }

    const fn verdict(&self) -> &'static str {
        match self.light {
            Light::Well | Light::Untried => self.texts.operators.all_is_well,
            Light::Bad => self.texts.operators.not_all_is_well,
            Light::Unknown => self.texts.operators.not_all_is_known,
        }
    }

    fn kind<'a>(&self, kind: &'a str) -> &'a str {
        words::kind(kind, self.language)
    }
}

fn store(troubles: &Troubles, texts: &'static Texts, language: Language) -> Tile {
    let away = troubles.away.as_ref();
    let note = away.map(|away| format!("{} {}", texts.everywhere.outage_since, language.time(away.since)));
    let value = match away.map(|away| away.trouble) {
        None => texts.operators.store_answers,
        Some(StoreTrouble::Silent) => texts.operators.store_away,
        Some(StoreTrouble::ReadOnly) => texts.operators.store_no_writes,
        Some(StoreTrouble::Full) => texts.operators.store_disk_full,
        Some(StoreTrouble::Broken) => texts.operators.store_broken,
    };
    let words = |away: &StoreAway| OutageWords::of(away.trouble, ConsoleKind::Operator, &texts.everywhere);
    Tile {
        name: texts.operators.store,
        value: value.into(),
        light: Light::of(away.is_none()),
        note: note.unwrap_or_default(),
        address: Section::Store.path(),
        runbook: away.map(|away| words(away).section),
    }
}

fn nodes(troubles: &Troubles, texts: &'static Texts) -> Tile {
    let lost = troubles.lost_nodes();
    let alive = troubles.nodes_in(NodeState::Alive);
    let light = match (lost, troubles.nodes_in(NodeState::Unknown)) {
        (0, 0) => Light::of_stored(true, troubles.away.as_ref()),
        (0, _) => Light::Unknown,
        (_, _) => Light::of_stored(false, troubles.away.as_ref()),
    };
    let note = if lost > 0 { format!("{lost} {}", texts.operators.nodes_lost) } else { String::new() };
    Tile {
        name: texts.operators.nodes,
        value: alive.to_string(),
        light,
        note,
        address: Section::Store.path(),
        runbook: (lost > 0).then_some("quitanodelost"),
    }
}

fn acquirers(troubles: &Troubles, texts: &'static Texts, language: Language) -> Tile {
    let name =
        |route: &quita_actors::RouteHealth| format!("{} · {}", route.acquirer, language.method(route.method));
    let failing: Vec<_> = troubles.failing().map(name).collect();
    let not_called = match troubles.not_called() {
        0 => None,
        count => Some(format!("{count} {}", texts.operators.not_called_yet)),
    };
    let light = match (failing.is_empty(), not_called.is_none()) {
        (false, _) => Light::Bad,
        (true, false) => Light::Untried,
        (true, true) => Light::Well,
    };
    Tile {
        name: texts.operators.failing_acquirers,
        value: format!("{} / {}", failing.len(), troubles.routes.len()),
        light,
        note: failing.iter().cloned().chain(not_called).collect::<Vec<_>>().join(", "),
        address: Section::Acquirers.path(),
        runbook: (!failing.is_empty()).then_some("quitaacquirerdown"),
    }
}

fn exceptions(troubles: &Troubles, texts: &'static Texts) -> Tile {
    // Without the store this is the last count, and those that were open still are.
    let light = match troubles.open_exceptions() {
        None => Light::Unknown,
        Some(0) => Light::of_stored(true, troubles.away.as_ref()),
        Some(_) => Light::Bad,
    };
    Tile {
        name: texts.operators.open_exceptions,
        value: troubles.open_exceptions().unwrap_or_default().to_string(),
        light,
        note: String::new(),
        address: Section::Exceptions.path(),
        runbook: (light == Light::Bad).then_some("quitaexception"),
    }
}

fn waiting(
    name: &'static str,
    (count, away): (i64, Option<&StoreAway>),
    well: i64,
    runbook: &'static str,
) -> Tile {
    let is_well = count <= well;
    Tile {
        name,
        value: count.to_string(),
        light: Light::of_stored(is_well, away),
        note: String::new(),
        address: Section::Store.path(),
        runbook: (!is_well).then_some(runbook),
    }
}

fn ending(troubles: &Troubles, texts: &'static Texts) -> Tile {
    let (keys, certificates) = (troubles.ending_keys, troubles.ending_certificates);
    let runbook = match (keys, certificates) {
        (0, 0) => None,
        (_, 0) => Some("quitaapikeyends"),
        (_, _) => Some("quitaacquirercertificateends"),
    };
    // Keys are counted in the store, certificates are known to this node.
    let light = match runbook {
        None => Light::of_stored(true, troubles.away.as_ref()),
        Some(_) => Light::Bad,
    };
    let texts = &texts.operators;
    Tile {
        name: texts.ends_soon,
        value: i64::try_from(certificates).unwrap_or(i64::MAX).saturating_add(keys).to_string(),
        light,
        note: format!("{keys} {} · {certificates} {}", texts.keys, texts.certificates),
        address: Section::Acquirers.path(),
        runbook,
    }
}

fn failed_jobs(troubles: &Troubles, texts: &'static Texts) -> Tile {
    let failed = &troubles.failed_jobs;
    let note: Vec<_> = failed.iter().map(|(name, why)| format!("{}: {why}", name.as_str())).collect();
    Tile {
        name: texts.operators.failed_jobs,
        value: failed.len().to_string(),
        // An outage of the store makes many fail, and says so itself.
        light: Light::of_stored(failed.is_empty(), troubles.away.as_ref()),
        note: note.join("; "),
        address: "/jobs",
        runbook: None,
    }
}

/// Nightly comparison of acquirers' lists; absent where nothing is compared.
fn comparison(troubles: &Troubles, texts: &'static Texts) -> Option<Tile> {
    let comparison = troubles.comparison.as_ref()?;
    let (has_failed, texts) = (!comparison.failures.is_empty(), &texts.operators);
    let (value, light) = match (has_failed, comparison.is_known) {
        (true, _) => (texts.job_failed, Light::Bad),
        (false, false) => (texts.job_waits, Light::Untried),
        (false, true) => (texts.job_done, Light::Well),
    };
    Some(Tile {
        name: texts.reconciliation,
        value: value.into(),
        light,
        note: comparison.failures.join(BETWEEN_FAILURES),
        address: Section::Reconciliation.path(),
        runbook: has_failed.then_some("list_not_compared"),
    })
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
