//! Acquirers: the state of each acquirer for each method, and operators' directives.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_acquirers::api_pix::RegistrationOutcome;
use quita_actors::{MethodOutage, RouteApprovals, RouteKey, RouteState, RouteView, Thousandths};
use quita_domain::audit::AuditAction;
use quita_domain::control::RouteDirective;
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::time::Timestamp;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::visitor::{DirectorForm, Operator, WatchingOperator};
use super::words;
use crate::acquirers::LinkState;
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::language::Language;
use crate::console::kit::live::LivePart;
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::Watcher;
use quita_services::audit::AuditDraft;

#[derive(Template)]
#[template(path = "console/operator/acquirers.html")]
struct AcquirersPage {
    frame: OperatorFrame,
    body: String,
}

/// Live part of the page: all links to providers, and all routes.
#[derive(Template)]
#[template(path = "console/operator/acquirers_body.html")]
struct AcquirersBody {
    texts: &'static OperatorTexts,
    language: Language,
    /// True if buttons are shown.
    may_direct: bool,
    links: Vec<LinkState>,
    routes: Vec<RouteView>,
    /// Routes that open payments need but that are not configured.
    missing_routes: Vec<RouteKey>,
    /// Methods that no acquirer can take, because every open one is failing.
    outages: Vec<MethodOutage>,
    now: Timestamp,
}

impl AcquirersBody {
    /// Returns the time until which an acquirer requested no calls, over all methods.
    fn throttled_until(&self, link: &LinkState) -> Option<Timestamp> {
        let of_it = self.routes.iter().filter(|route| route.acquirer == link.acquirer);
        of_it.filter_map(|route| route.throttled_until).max()
    }

    /// Returns the outcome of registering the callback address with a bank, if it had to be registered.
    fn callbacks(&self, link: &LinkState) -> Option<String> {
        let texts = &self.texts.operators;
        match link.registration.as_ref()? {
            RegistrationOutcome::Off => None,
            RegistrationOutcome::Known
            | RegistrationOutcome::Registered
            | RegistrationOutcome::Replaced(_) => Some(texts.callbacks_registered.into()),
            RegistrationOutcome::Foreign(host) => Some(texts.callbacks_foreign.replace("{host}", host)),
            RegistrationOutcome::Failed(why) => Some(texts.callbacks_failed.replace("{why}", why)),
        }
    }

    fn is_over(&self, until: &Timestamp) -> bool {
        *until <= self.now
    }

    fn unable(&self, outage: &MethodOutage) -> String {
        words::unable(outage, self.language)
    }

    fn state(&self, state: &RouteState) -> &'static str {
        words::state(*state, self.texts)
    }

    fn latency(&self, route: &RouteView) -> String {
        let measured = |time: &Option<Thousandths>| words::measured(time.as_ref(), self.language);
        format!("{} · p99 {}", measured(&route.median_ms), measured(&route.p99_ms))
    }

    /// Returns the number of consecutive lost calls of any kind, and of consecutive lost charges and operations.
    fn lost(&self, route: &RouteView) -> String {
        let charges = route.charges_lost_in_a_row.to_string();
        let charges = self.texts.operators.lost_charges.replace("{count}", &charges);
        format!("{} · {charges}", route.failures_in_a_row)
    }

    /// Returns the number of approvals among the last attempts, by brand.
    fn approvals(&self, route: &RouteView) -> String {
        let told = route.approvals.iter().map(|RouteApprovals { brand, approved, tries }| match brand {
            Some(brand) => format!("{} {approved}/{tries}", brand.as_str()),
            None => format!("{approved}/{tries}"),
        });
        told.collect::<Vec<_>>().join(" · ")
    }

    fn mode(&self, mode: &Mode) -> &'static str {
        match mode {
            Mode::Test => self.texts.everywhere.test,
            Mode::Live => self.texts.everywhere.live,
        }
    }

    fn directive(&self, directive: &RouteDirective) -> &'static str {
        words::directive(*directive, self.texts)
    }

    /// Returns the directives that would change something.
    fn directives(route: &RouteView) -> Vec<RouteDirective> {
        RouteDirective::ALL.into_iter().filter(|directive| *directive != route.directive).collect()
    }

    fn address(route: &RouteView, directive: &RouteDirective) -> String {
        format!("/acquirers/{}/{}/{}", route.acquirer, route.method.label(), directive.as_str())
    }

    fn breaker(&self, route: &RouteView) -> String {
        let texts = &self.texts.operators;
        match route.failing_until {
            Some(until) => texts.breaker_open.replace("{time}", &self.language.time(until)),
            None => texts.breaker_closed.into(),
        }
    }
}

#[derive(Template)]
#[template(path = "console/operator/ask_directive.html")]
struct AskDirectivePage {
    frame: OperatorFrame,
    question: String,
    sentence: &'static str,
    button: &'static str,
    action: String,
    is_grave: bool,
    /// True if no other route would remain for the method.
    is_last_route: bool,
}

/// Handles `GET /acquirers`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let frame = operator.frame(OperatorSection::Acquirers);
    let body = body(&console, frame.language(), frame.may_direct())?;
    let page = AcquirersPage { frame, body };
    html(&page)
}

fn body(console: &OperatorConsole, language: Language, may_direct: bool) -> Result<String, PageError> {
    let routes = console.operators.routes();
    let links = console.links.iter().filter_map(|link| link.state()).collect();
    let missing_routes = console.payments.missing_routes();
    let texts = OperatorTexts::of(language);
    let outages = console.payments.method_outages();
    let now = console.clock.now();
    Ok(AcquirersBody { texts, language, may_direct, links, routes, missing_routes, outages, now }.render()?)
}

/// Handles `GET /acquirers/stream`.
pub(super) async fn stream(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let streams = Arc::clone(&console.streams);
    let language = Language::current();
    streams.open(LiveAcquirers {
        console: console.into_inner(),
        watching: WatchingOperator::of(operator),
        language,
    })
}

/// Routes as a stream polls them.
struct LiveAcquirers {
    console: Arc<OperatorConsole>,
    watching: WatchingOperator,
    language: Language,
}

impl LivePart for LiveAcquirers {
    fn key(&self) -> String {
        format!("acquirers {} {}", self.language.tag(), self.watching.who.role.as_str())
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

/// Route and the directive requested for it.
struct DirectiveRequest {
    route: RouteView,
    directive: RouteDirective,
}

impl DirectiveRequest {
    fn find(console: &OperatorConsole, path: &(String, String, String)) -> Result<Self, PageError> {
        let (acquirer, method, directive) = path;
        let (method, directive) =
            Method::parse(method).zip(RouteDirective::parse(directive)).ok_or(PageError::NotFound)?;
        let mut routes = console.operators.routes().into_iter();
        let is_meant = |route: &RouteView| route.acquirer.as_str() == acquirer && route.method == method;
        let route = routes.find(is_meant).ok_or(PageError::NotFound)?;
        Ok(Self { route, directive })
    }

    /// Returns the name of the route for people.
    fn name(&self, language: Language) -> String {
        format!("{} · {}", self.route.acquirer, language.method(self.route.method))
    }
}

/// Handles `GET /acquirers/{name}/{method}/{directive}`.
pub(super) async fn ask(
    operator: Operator,
    path: Path<(String, String, String)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let wanted = DirectiveRequest::find(&console, &path)?;
    let frame = operator.frame(OperatorSection::Acquirers);
    let texts = &frame.texts.operators;
    let (question, sentence) = match wanted.directive {
        RouteDirective::Open => (texts.resume_question, texts.resume_sentence),
        RouteDirective::Paused => (texts.pause_question, texts.pause_sentence),
        RouteDirective::Drained => (texts.drain_question, texts.drain_sentence),
    };
    let takes_over = |other: &RouteView| {
        let is_another = other.acquirer != wanted.route.acquirer && other.method == wanted.route.method;
        is_another && other.mode == wanted.route.mode && other.state.takes_new_payments()
    };
    let is_left = console.operators.routes().iter().any(takes_over);
    let page = AskDirectivePage {
        question: question.replace("{route}", &wanted.name(frame.language())),
        sentence,
        button: words::directive(wanted.directive, frame.texts),
        action: AcquirersBody::address(&wanted.route, &wanted.directive),
        is_grave: wanted.directive != RouteDirective::Open,
        is_last_route: wanted.directive != RouteDirective::Open && !is_left,
        frame,
    };
    html(&page)
}

/// Handles `POST /acquirers/{name}/{method}/{directive}`.
pub(super) async fn act(
    DirectorForm { visitor, .. }: DirectorForm,
    path: Path<(String, String, String)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let DirectiveRequest { route, directive } = DirectiveRequest::find(&console, &path)?;
    let acquirer: &AcquirerName = &route.acquirer;
    let directed = console.operators.direct(acquirer, route.method, directive).await?;
    directed.ok_or(PageError::NotFound)?;
    let subject = format!("{acquirer} {}", route.method.label());
    let draft = AuditDraft::of_operators(AuditAction::RouteDirected, subject);
    let draft = draft.before(route.directive.as_str()).after(directive.as_str());
    console.audit.note(&visitor.initiator(), draft).await;
    tracing::warn!(acquirer = %acquirer, method = route.method.label(), directive = directive.as_str(), "a directive for an acquirer was changed");
    Ok(see_other(OperatorSection::Acquirers.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_has_ended_is_red_with_what_to_do_and_an_outage_of_a_method_is_named() {
        let end = Timestamp::from_millis(1_000_000);
        let page = |now: Timestamp| {
            let link = LinkState {
                acquirer: AcquirerName::new("bank"),
                address: "https://bank.example".into(),
                certificate_until: Some(end),
                token_until: None,
                last_success: None,
                last_error: None,
                registration: None,
            };
            let language = Language::English;
            let outage = MethodOutage { mode: Mode::Live, method: Method::Pix, since: end };
            let body = AcquirersBody {
                texts: OperatorTexts::of(language),
                language,
                may_direct: false,
                links: vec![link],
                routes: Vec::new(),
                missing_routes: Vec::new(),
                outages: vec![outage],
                now,
            };
            body.render().unwrap()
        };
        let valid = page(end.minus_ms(1));
        assert!(!valid.contains("badge-failing"), "{valid}");
        let words = "no acquirer can take PIX (Live) since ";
        assert!(valid.contains(words) && valid.contains("/runbook#quitamethodunable"), "{valid}");
        let ended = page(end);
        assert!(ended.contains("badge-failing\">Expired<"), "{ended}");
        assert!(ended.contains("/runbook#quitaacquirercertificateends"), "{ended}");
    }
}
