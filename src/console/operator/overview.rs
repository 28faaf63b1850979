//! Home page: the state of the service at a glance. Each tile is red or green, and links to details.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use quita_actors::{NodeState, NodeView, StoreAway, StoreTrouble};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::time::millis_in;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::troubles::{JobTrouble, Troubles};
use super::visitor::{Operator, WatchingOperator};
use super::words;
use crate::console::kit::answer::html;
use crate::console::kit::console_kind::ConsoleKind;
use crate::console::kit::language::Language;
use crate::console::kit::live::LivePart;
use crate::console::kit::outage::OutageWords;
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::Watcher;
use crate::jobs::JobName;
use crate::nightly::BETWEEN_FAILURES;

/// Normal numbers of waiting items. The alerts on backlogs are based on minutes.
const OVERDUE_IS_WELL: i64 = 100;
const NOTICES_ARE_WELL: i64 = 100;
const WEBHOOKS_ARE_WELL: i64 = 1_000;

#[derive(Template)]
#[template(path = "console/operator/overview.html")]
struct OperatorOverviewPage {
    frame: OperatorFrame,
    body: String,
}

/// Judgement of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Light {
    /// No action is needed.
    Well,
    /// A person has to act.
    Bad,
    /// A person may have to act soon.
    Warn,
    /// The value can't be read at the moment.
    Unknown,
    /// Nothing that would show the state has been tried yet. This is normal after a start, and is ignored in the
    /// verdict.
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

    /// Returns the suffix of its class in the style sheet.
    const fn class(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Bad => "bad",
            Self::Warn => "warn",
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
    texts: &'static OperatorTexts,
    language: Language,
    /// Worst light of the tiles.
    light: Light,
    tiles: Vec<Tile>,
    /// Open exceptions by kind, with their number.
    kinds: Vec<(String, usize)>,
}

impl OverviewBody {
    fn of(troubles: Troubles, language: Language) -> Self {
        let texts = OperatorTexts::of(language);
        let mut tiles = vec![
            store(&troubles, texts, language),
            nodes(&troubles, texts),
            acquirers(&troubles, texts, language),
            exceptions(&troubles, texts),
            waiting(
                texts.operators.timer_backlog,
                troubles.overdue,
                &troubles,
                OVERDUE_IS_WELL,
                "quitatimerbehind",
            ),
            waiting(
                texts.operators.inbox_backlog,
                troubles.notices,
                &troubles,
                NOTICES_ARE_WELL,
                "quitainboxbehind",
            ),
            webhooks(&troubles, texts, language),
            ending(&troubles, texts),
        ];
        tiles.push(failed_jobs(&troubles, texts, language));
        tiles.extend(comparison(&troubles, texts));
        for tile in tiles.iter_mut().filter(|tile| tile.light == Light::Unknown) {
            tile.value = texts.operators.unknown_value.into();
            tile.runbook = None;
        }
        let has = |light| tiles.iter().any(|tile| tile.light == light);
        let light = [Light::Bad, Light::Warn, Light::Unknown]
            .into_iter()
            .find(|light| has(*light))
            .unwrap_or(Light::Well);
        let kinds = troubles.exceptions.unwrap_or_default().kinds.into_iter().collect();
        Self { texts, language, light, tiles, kinds }
    }

    const fn tone(&self) -> &'static str {
        match self.light {
            Light::Well | Light::Untried => "tone-done",
            Light::Bad => "tone-over",
            Light::Warn | Light::Unknown => "tone-waiting",
        }
    }

    const fn verdict(&self) -> &'static str {
        match self.light {
            Light::Well | Light::Untried => self.texts.operators.all_is_well,
            Light::Bad => self.texts.operators.not_all_is_well,
            Light::Warn => self.texts.operators.not_all_is_sure,
            Light::Unknown => self.texts.operators.not_all_is_known,
        }
    }

    fn kind<'a>(&self, kind: &'a str) -> &'a str {
        words::kind(kind, self.language)
    }
}

fn store(troubles: &Troubles, texts: &'static OperatorTexts, language: Language) -> Tile {
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
    if let (None, Some(failing)) = (away, &troubles.failing_reads) {
        let texts = &texts.operators;
        let value = if failing.is_damage { texts.store_is_damaged } else { texts.store_reads_fail };
        return Tile {
            name: texts.store,
            value: value.into(),
            light: Light::Bad,
            note: format!("{} · {}", language.time(failing.since), failing.why),
            address: OperatorSection::Store.path(),
            runbook: Some("quitastorereadsfail"),
        };
    }
    Tile {
        name: texts.operators.store,
        value: value.into(),
        light: Light::of(away.is_none()),
        note: note.unwrap_or_default(),
        address: OperatorSection::Store.path(),
        runbook: away.map(|away| words(away).section),
    }
}

fn nodes(troubles: &Troubles, texts: &'static OperatorTexts) -> Tile {
    let lost = troubles.lost_nodes();
    let silent = troubles.silent_nodes();
    let alive = troubles.nodes_in(NodeState::Alive).saturating_sub(silent);
    let clocks_differ = troubles.clocks_differ();
    let routes_differ = troubles.routes_differ;
    let light = match (lost, troubles.nodes_in(NodeState::Unknown)) {
        (0, _) if clocks_differ || routes_differ => Light::of_stored(false, troubles.away.as_ref()),
        (0, 0) if silent > 0 && troubles.away.is_none() => Light::Warn,
        (0, 0) => Light::of_stored(true, troubles.away.as_ref()),
        (0, _) => Light::Unknown,
        (_, _) => Light::of_stored(false, troubles.away.as_ref()),
    };
    let addresses = |views: Vec<&NodeView>| {
        views.into_iter().map(|view| view.node.address.as_str()).collect::<Vec<_>>().join(", ")
    };
    let lost_at = addresses(troubles.nodes.iter().filter(|view| view.is_lost()).collect());
    let silent_at = addresses(troubles.nodes.iter().filter(|view| view.is_silent()).collect());
    let are_lost = (lost > 0).then(|| format!("{lost} {}: {lost_at}", texts.operators.nodes_lost));
    let are_silent = (silent > 0).then(|| format!("{silent} {}: {silent_at}", texts.operators.nodes_silent));
    let clocks = clocks_differ.then(|| texts.operators.clocks_differ.to_owned());
    let routes = routes_differ.then(|| texts.operators.routes_differ.to_owned());
    Tile {
        name: texts.operators.nodes,
        value: alive.to_string(),
        light,
        note: are_lost
            .into_iter()
            .chain(are_silent)
            .chain(clocks)
            .chain(routes)
            .collect::<Vec<_>>()
            .join(" · "),
        address: OperatorSection::Store.path(),
        runbook: match (lost, clocks_differ, routes_differ) {
            (0, false, false) => (silent > 0).then_some("quitanodelost"),
            (0, true, _) => Some("quitanodeclocksdiffer"),
            (0, false, true) => Some("quitanoderoutesdiffer"),
            (_, _, _) => Some("quitanodelost"),
        },
    }
}

fn acquirers(troubles: &Troubles, texts: &'static OperatorTexts, language: Language) -> Tile {
    let name =
        |route: &quita_actors::RouteHealth| format!("{} · {}", route.acquirer, language.method(route.method));
    let since = |route: &quita_actors::RouteHealth| match route.failing_since {
        Some(since) => {
            format!("{} ({} {})", name(route), texts.everywhere.outage_since, language.time(since))
        }
        None => name(route),
    };
    let failing: Vec<_> = troubles.failing().map(since).collect();
    let missing = troubles.missing_routes.iter();
    let missing: Vec<_> =
        missing.map(|(acquirer, method)| format!("{acquirer} · {}", language.method(*method))).collect();
    let are_missing = introduced(texts.operators.routes_missing, &missing);
    let in_words = |(mode, method): &(Mode, Method)| {
        let mode = if *mode == Mode::Test { texts.everywhere.test } else { texts.everywhere.live };
        format!("{} ({mode})", language.method(*method))
    };
    let closed: Vec<_> = troubles.closed().iter().map(in_words).collect();
    let are_closed = introduced(texts.operators.nobody_takes, &closed);
    let paused: Vec<_> = troubles.paused().map(name).collect();
    let are_paused = introduced(texts.operators.paused_routes, &paused);
    let not_called = match troubles.not_called() {
        0 => None,
        count => Some(format!("{count} {}", texts.operators.not_called_yet)),
    };
    let unable: Vec<_> =
        troubles.method_outages.iter().map(|outage| words::unable(outage, language)).collect();
    let is_well = failing.is_empty() && unable.is_empty() && missing.is_empty() && closed.is_empty();
    let light = match (is_well, not_called.is_none()) {
        (false, _) => Light::Bad,
        (true, false) => Light::Untried,
        (true, true) => Light::Well,
    };
    let runbook = match (failing.is_empty(), missing.is_empty(), closed.is_empty()) {
        _ if !unable.is_empty() => Some("quitamethodunable"),
        (true, true, true) => None,
        (false, _, _) => Some("quitaacquirerdown"),
        (true, false, _) => Some("quitaroutemissing"),
        (true, true, false) => Some("quitamethodclosed"),
    };
    let notes = unable
        .into_iter()
        .chain(failing.iter().cloned())
        .chain(are_missing)
        .chain(are_closed)
        .chain(are_paused)
        .chain(not_called);
    Tile {
        name: texts.operators.failing_acquirers,
        value: format!("{} / {}", failing.len(), troubles.routes.len()),
        light,
        note: notes.collect::<Vec<_>>().join(", "),
        address: OperatorSection::Acquirers.path(),
        runbook,
    }
}

/// Returns names after the words that introduce them; `None` if there are none.
fn introduced(words: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{words} {}", names.join(", ")))
}

fn exceptions(troubles: &Troubles, texts: &'static OperatorTexts) -> Tile {
    // Without the store, this is the last count, and exceptions that were open then still are.
    let are_current = troubles.exceptions.as_ref().is_some_and(|counts| counts.are_current);
    let light = match troubles.open_exceptions() {
        None => Light::Unknown,
        Some(0) if !are_current => Light::Unknown,
        Some(0) => Light::of_stored(true, troubles.away.as_ref()),
        Some(_) => Light::Bad,
    };
    Tile {
        name: texts.operators.open_exceptions,
        value: troubles.open_exceptions().unwrap_or_default().to_string(),
        light,
        note: String::new(),
        address: OperatorSection::Exceptions.path(),
        runbook: (light == Light::Bad).then_some("quitaexception"),
    }
}

fn waiting(name: &'static str, count: i64, troubles: &Troubles, well: i64, runbook: &'static str) -> Tile {
    let is_well = count <= well;
    let of_count = Light::of_stored(is_well, troubles.away.as_ref());
    Tile {
        name,
        value: count.to_string(),
        light: if troubles.knows_backlogs { of_count } else { Light::Unknown },
        note: String::new(),
        address: OperatorSection::Store.path(),
        runbook: (!is_well).then_some(runbook),
    }
}

/// Returns the tile of unconfirmed webhooks. They are bad if there are many, or if none at all is delivered.
fn webhooks(troubles: &Troubles, texts: &'static OperatorTexts, language: Language) -> Tile {
    let waiting = waiting(
        texts.operators.webhook_backlog,
        troubles.webhooks,
        troubles,
        WEBHOOKS_ARE_WELL,
        "quitawebhookbacklog",
    );
    let Some(since) = troubles.webhooks_failing_since else { return waiting };
    Tile {
        light: Light::of_stored(false, troubles.away.as_ref()),
        note: format!("{} {}", texts.operators.none_delivered_since, language.time(since)),
        runbook: Some("quitawebhooksundelivered"),
        ..waiting
    }
}

fn ending(troubles: &Troubles, texts: &'static OperatorTexts) -> Tile {
    let keys = troubles.ending_keys;
    let certificates = troubles.ending_certificates;
    let runbook = match (keys, certificates) {
        (0, 0) => None,
        (_, 0) => Some("quitaapikeyends"),
        (_, _) => Some("quitaacquirercertificateends"),
    };
    // Keys are counted in the store; certificates are known to this node.
    let light = match runbook {
        None => Light::of_stored(true, troubles.away.as_ref()),
        Some(_) => Light::Bad,
    };
    let texts = &texts.operators;
    let key_word = if keys == 1 { texts.key } else { texts.keys };
    let certificate_word = if certificates == 1 { texts.certificate } else { texts.certificates };
    Tile {
        name: texts.ends_soon,
        value: i64::try_from(certificates).unwrap_or(i64::MAX).saturating_add(keys).to_string(),
        light,
        note: format!("{keys} {key_word} · {certificates} {certificate_word}"),
        address: OperatorSection::Acquirers.path(),
        runbook,
    }
}

fn failed_jobs(troubles: &Troubles, texts: &'static OperatorTexts, language: Language) -> Tile {
    let failed = &troubles.failed_jobs;
    let in_words = |(name, trouble): &(JobName, JobTrouble)| match trouble {
        JobTrouble::Failed(why) => format!("{}: {why}", name.as_str()),
        JobTrouble::Overrun(running_for) => {
            let (text, running_for) =
                (texts.operators.job_runs_for, language.duration(millis_in(*running_for)));
            format!("{}: {text} {running_for}", name.as_str())
        }
    };
    let note: Vec<_> = failed.iter().map(in_words).collect();
    let overruns = failed.iter().any(|(_, trouble)| matches!(trouble, JobTrouble::Overrun(_)));
    // An outage of the store makes many jobs fail, and is reported itself. It does not make a job hang.
    let light =
        if overruns { Light::Bad } else { Light::of_stored(failed.is_empty(), troubles.away.as_ref()) };
    Tile {
        name: texts.operators.failed_jobs,
        value: failed.len().to_string(),
        light,
        note: note.join("; "),
        address: "/jobs",
        runbook: (!failed.is_empty()).then_some("quitajobfails"),
    }
}

/// Returns the tile of the nightly comparison of acquirers' lists; `None` if nothing is compared.
fn comparison(troubles: &Troubles, texts: &'static OperatorTexts) -> Option<Tile> {
    let comparison = troubles.comparison.as_ref()?;
    let has_failed = !comparison.failures.is_empty();
    let texts = &texts.operators;
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
        address: OperatorSection::Reconciliation.path(),
        runbook: has_failed.then_some("list_not_compared"),
    })
}

async fn body(console: &OperatorConsole, language: Language) -> Result<String, PageError> {
    Ok(OverviewBody::of(console.troubles().await, language).render()?)
}

/// Handles `GET /`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let frame = operator.frame(OperatorSection::Overview);
    let body = body(&console, frame.language()).await?;
    html(&OperatorOverviewPage { frame, body })
}

/// Handles `GET /overview/stream`.
pub(super) async fn stream(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let streams = Arc::clone(&console.streams);
    let language = Language::current();
    streams.open(LiveOverview {
        console: console.into_inner(),
        watching: WatchingOperator::of(operator),
        language,
    })
}

/// Page as a stream polls it.
struct LiveOverview {
    console: Arc<OperatorConsole>,
    watching: WatchingOperator,
    language: Language,
}

impl LivePart for LiveOverview {
    fn key(&self) -> String {
        format!("overview {}", self.language.tag())
    }

    async fn render(&self) -> Result<String, PageError> {
        body(&self.console, self.language).await
    }

    fn watcher(&self) -> Watcher {
        self.watching.watcher()
    }

    async fn may_watch(&self) -> bool {
        self.watching.goes_on(&self.console).await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::store::tests::other_node;
    use super::super::troubles::ExceptionCounts;
    use super::*;
    use quita_actors::{FailingReads, MethodOutage, RouteHealth, RouteState};
    use quita_domain::identity::AcquirerName;
    use quita_domain::time::Timestamp;

    fn well() -> Troubles {
        Troubles {
            away: None,
            failing_reads: None,
            nodes: Vec::new(),
            routes_differ: false,
            routes: Vec::new(),
            missing_routes: Vec::new(),
            method_outages: Vec::new(),
            exceptions: Some(ExceptionCounts { are_current: true, ..ExceptionCounts::default() }),
            knows_backlogs: true,
            overdue: 0,
            webhooks: 6,
            webhooks_failing_since: None,
            notices: 0,
            ending_keys: 0,
            ending_certificates: 0,
            failed_jobs: Vec::new(),
            comparison: None,
        }
    }

    #[test]
    fn one_key_that_expires_soon_is_counted_in_the_singular() {
        let one = Troubles { ending_keys: 1, ..well() };
        let page = OverviewBody::of(one, Language::English).render().unwrap();
        assert!(page.contains("1 key · 0 certificates"), "{page}");
        let two = Troubles { ending_keys: 2, ending_certificates: 1, ..well() };
        let page = OverviewBody::of(two, Language::Portuguese).render().unwrap();
        assert!(page.contains("2 chaves · 1 certificado"), "{page}");
    }

    #[test]
    fn webhooks_of_which_none_is_delivered_are_red_however_few_wait() {
        let body = OverviewBody::of(well(), Language::English);
        assert_eq!(body.light, Light::Well);
        let failing = Troubles { webhooks_failing_since: Some(Timestamp::from_millis(0)), ..well() };
        let body = OverviewBody::of(failing, Language::English);
        assert_eq!(body.light, Light::Bad);
        let page = body.render().unwrap();
        assert!(page.contains("None delivered since"), "{page}");
        assert!(page.contains("/runbook#quitawebhooksundelivered"), "{page}");
    }

    #[test]
    fn what_could_not_be_counted_lately_is_unknown_however_small_the_last_count_was() {
        let stale = Troubles { exceptions: Some(ExceptionCounts::default()), ..well() };
        let uncounted = Troubles { knows_backlogs: false, ..well() };
        for (troubles, unknown) in [(stale, 1), (uncounted, 3)] {
            let body = OverviewBody::of(troubles, Language::English);
            assert_eq!(body.light, Light::Unknown);
            assert_eq!(body.render().unwrap().matches("tile-unknown").count(), unknown);
        }
        let kinds = BTreeMap::from([("unknown_outcome".to_owned(), 1)]);
        let stale = Troubles { exceptions: Some(ExceptionCounts { kinds, are_current: false }), ..well() };
        assert_eq!(
            OverviewBody::of(stale, Language::English).light,
            Light::Bad,
            "it was open, and may be still"
        );
    }

    #[test]
    fn a_silent_node_is_yellow_and_named_until_it_is_lost() {
        let view = |state, silent_s| NodeView { state, silent_s, ..other_node() };
        let of = |state, silent_s| {
            let nodes = vec![view(state, silent_s)];
            OverviewBody::of(Troubles { nodes, ..well() }, Language::English)
        };
        let silent = of(NodeState::Alive, Some(20));
        assert_eq!(silent.light, Light::Warn);
        let page = silent.render().unwrap();
        assert!(page.contains("1 silent: 10.0.0.2:8080") && page.contains("tile-warn"), "{page}");
        assert!(page.contains("see the yellow tiles"), "{page}");
        assert_eq!(of(NodeState::Alive, None).light, Light::Well);
        let lost = of(NodeState::Lost, None);
        assert_eq!(lost.light, Light::Bad);
        assert!(lost.render().unwrap().contains("1 lost: 10.0.0.2:8080"));
    }

    #[test]
    fn what_stops_payments_though_nothing_failed_is_red() {
        let missing_routes = vec![(AcquirerName::new("old-bank"), Method::Boleto)];
        let differing = Troubles { routes_differ: true, ..well() };
        let why = "malformed".into();
        let failing_reads = FailingReads { since: Timestamp::from_millis(0), why, is_damage: true };
        let damaged = Troubles { failing_reads: Some(failing_reads), ..well() };
        let route = |acquirer: &str, method, state| RouteHealth {
            acquirer: AcquirerName::new(acquirer),
            method,
            mode: Mode::Live,
            state,
            failing_since: None,
            error: None,
        };
        let routes = vec![
            route("bank", Method::Pix, RouteState::Paused),
            route("bank", Method::Boleto, RouteState::Healthy),
            route("other", Method::Boleto, RouteState::Paused),
        ];
        let closed = Troubles { routes, ..well() };
        let missing = Troubles { missing_routes, ..well() };
        let outage = MethodOutage { mode: Mode::Live, method: Method::Pix, since: Timestamp::from_millis(0) };
        let unable = Troubles { method_outages: vec![outage], ..well() };
        for (troubles, words, section) in [
            (unable, "no acquirer can take PIX (Live) since ", "quitamethodunable"),
            (differing, "route differently", "quitanoderoutesdiffer"),
            (missing, "not configured, with open payments: old-bank · Boleto", "quitaroutemissing"),
            (damaged, "malformed", "quitastorereadsfail"),
            (
                closed,
                "no acquirer accepts: PIX (Live), paused: bank · PIX, other · Boleto",
                "quitamethodclosed",
            ),
        ] {
            let body = OverviewBody::of(troubles, Language::English);
            assert_eq!(body.light, Light::Bad);
            let page = body.render().unwrap();
            assert!(page.contains(words) && page.contains(&format!("/runbook#{section}")), "{page}");
        }
    }
}
