//! The acquirers: how each is for each method, and the orders that an operator gives.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_actors::{RouteState, RouteView, Thousandths};
use quita_domain::audit::AuditAction;
use quita_domain::control::RouteOrder;
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::secret::Secret;

use super::OperatorConsole;
use super::frame::{Entry, Part, navigation};
use super::visitor::{Operator, Order, is_operator};
use super::words;
use crate::audit::Deed;
use crate::console::answer::{html, see_other};
use crate::console::failure::Failure;
use crate::console::frame::Frame;
use crate::console::language::Language;
use crate::console::live::Look;
use crate::console::place;
use crate::console::texts::Texts;

#[derive(Template)]
#[template(path = "ops/acquirers.html")]
struct AcquirersPage {
    frame: Frame,
    navigation: Vec<Entry>,
    body: String,
}

/// The part of the page that is kept up to date: all routes.
#[derive(Template)]
#[template(path = "ops/acquirers_body.html")]
struct AcquirersBody {
    texts: &'static Texts,
    language: Language,
    routes: Vec<RouteView>,
}

impl AcquirersBody {
    fn state(&self, state: &RouteState) -> &'static str {
        words::state(*state, self.texts)
    }

    fn latency(&self, route: &RouteView) -> String {
        let measured = |time: &Option<Thousandths>| words::measured(time.as_ref(), self.language);
        format!("{} · p99 {}", measured(&route.median_ms), measured(&route.p99_ms))
    }

    fn mode(&self, mode: &Mode) -> &'static str {
        match mode {
            Mode::Test => self.texts.everywhere.test,
            Mode::Live => self.texts.everywhere.live,
        }
    }

    fn order(&self, order: &RouteOrder) -> &'static str {
        words::order(*order, self.texts)
    }

    /// The orders that would change something.
    fn orders(route: &RouteView) -> Vec<RouteOrder> {
        RouteOrder::ALL.into_iter().filter(|order| *order != route.order).collect()
    }

    fn address(route: &RouteView, order: &RouteOrder) -> String {
        format!("/acquirers/{}/{}/{}", route.acquirer, route.method.label(), order.as_str())
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
#[template(path = "ops/ask_order.html")]
struct AskOrderPage {
    frame: Frame,
    navigation: Vec<Entry>,
    question: String,
    sentence: &'static str,
    button: &'static str,
    action: String,
    is_grave: bool,
    /// Whether no other route would be left for the method.
    is_last_route: bool,
}

/// `GET /acquirers`
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let frame = operator.frame();
    let body = body(&console, frame.language())?;
    let page = AcquirersPage { navigation: navigation(Part::Acquirers, frame.texts), frame, body };
    html(&page)
}

fn body(console: &OperatorConsole, language: Language) -> Result<String, Failure> {
    let routes = console.operators.routes();
    Ok(AcquirersBody { texts: Texts::of(language), language, routes }.render()?)
}

/// `GET /acquirers/stream`
pub(super) async fn stream(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let (streams, language) = (Arc::clone(&console.streams), place::current().language);
    streams.open(AcquirersLook { console: console.into_inner(), token: operator.token, language })
}

/// The routes as a stream looks at them.
struct AcquirersLook {
    console: Arc<OperatorConsole>,
    token: Secret<String>,
    language: Language,
}

impl Look for AcquirersLook {
    fn key(&self) -> String {
        format!("acquirers {}", self.language.tag())
    }

    async fn look(&self) -> Result<String, Failure> {
        body(&self.console, self.language)
    }

    fn token(&self) -> &Secret<String> {
        &self.token
    }

    async fn may_watch(&self) -> bool {
        is_operator(&self.console, &self.token).await.unwrap_or(true)
    }
}

/// Which route is meant, and what is ordered of it.
struct Wanted {
    route: RouteView,
    order: RouteOrder,
}

impl Wanted {
    fn find(
        console: &OperatorConsole,
        (acquirer, method, order): &(String, String, String),
    ) -> Result<Self, Failure> {
        let (method, order) = Method::parse(method).zip(RouteOrder::parse(order)).ok_or(Failure::NotFound)?;
        let mut routes = console.operators.routes().into_iter();
        let is_meant = |route: &RouteView| route.acquirer.as_str() == acquirer && route.method == method;
        let route = routes.find(is_meant).ok_or(Failure::NotFound)?;
        Ok(Self { route, order })
    }

    /// As people name it.
    fn name(&self, language: Language) -> String {
        format!("{} · {}", self.route.acquirer, language.method(self.route.method))
    }
}

/// `GET /acquirers/{name}/{method}/{order}`
pub(super) async fn ask(
    operator: Operator,
    path: Path<(String, String, String)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let wanted = Wanted::find(&console, &path)?;
    let frame = operator.frame();
    let texts = &frame.texts.operators;
    let (question, sentence) = match wanted.order {
        RouteOrder::Open => (texts.resume_question, texts.resume_sentence),
        RouteOrder::Paused => (texts.pause_question, texts.pause_sentence),
        RouteOrder::Drained => (texts.drain_question, texts.drain_sentence),
    };
    let takes_over = |other: &RouteView| {
        let is_another = other.acquirer != wanted.route.acquirer && other.method == wanted.route.method;
        is_another && other.mode == wanted.route.mode && other.state.takes_new_payments()
    };
    let is_left = console.operators.routes().iter().any(takes_over);
    let page = AskOrderPage {
        navigation: navigation(Part::Acquirers, frame.texts),
        question: question.replace("{route}", &wanted.name(frame.language())),
        sentence,
        button: words::order(wanted.order, frame.texts),
        action: AcquirersBody::address(&wanted.route, &wanted.order),
        is_grave: wanted.order != RouteOrder::Open,
        is_last_route: wanted.order != RouteOrder::Open && !is_left,
        frame,
    };
    html(&page)
}

/// `POST /acquirers/{name}/{method}/{order}`
pub(super) async fn act(
    order: Order,
    path: Path<(String, String, String)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let Wanted { route, order: wanted } = Wanted::find(&console, &path)?;
    let acquirer: &AcquirerName = &route.acquirer;
    let ordered = console.operators.order(acquirer, route.method, wanted).await?;
    ordered.ok_or(Failure::NotFound)?;
    let subject = format!("{acquirer} {}", route.method.label());
    let deed = Deed::of_operators(AuditAction::RouteOrdered, subject);
    let deed = deed.before(route.order.as_str()).after(wanted.as_str());
    console.audit.note(&order.operator.doer(), deed).await;
    tracing::warn!(acquirer = %acquirer, method = route.method.label(), order = wanted.as_str(), "an acquirer was ordered");
    Ok(see_other(Part::Acquirers.path()))
}
