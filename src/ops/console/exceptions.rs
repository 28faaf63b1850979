//! Exceptions: what needs a person, and what that person may do.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_actors::Asked;
use quita_domain::audit::AuditAction;
use quita_domain::exception::{Exception, ExceptionAction, Resolution, possible_actions};
use serde::Deserialize;
use url::form_urlencoded;

use super::OperatorConsole;
use super::frame::{Entry, Part, navigation};
use super::visitor::{OPERATOR, Operator, Order};
use super::words;
use crate::audit::Deed;
use crate::console::answer::{html, see_other};
use crate::console::failure::Failure;
use crate::console::frame::Frame;
use crate::console::place;

/// Exceptions on the page, the newest.
const SHOWN: usize = 1_000;
/// The most characters of a note.
const MAX_NOTE_CHARACTERS: usize = 500;

#[derive(Template)]
#[template(path = "ops/exceptions.html")]
struct ExceptionsPage {
    frame: Frame,
    navigation: Vec<Entry>,
    is_open: bool,
    exceptions: Vec<Exception>,
    has_more: bool,
}

impl ExceptionsPage {
    fn kind<'a>(&self, exception: &'a Exception) -> &'a str {
        words::kind(&exception.kind, self.frame.language())
    }

    fn advice<'a>(&self, exception: &'a Exception) -> &'a str {
        words::advice(&exception.kind, &exception.advice, self.frame.language())
    }

    /// Each action: where it leads, what its button says, what it does.
    fn actions(&self, exception: &Exception) -> Vec<(String, &'static str, &'static str)> {
        let leads = |action: &ExceptionAction| {
            let (button, effect) = words::action(*action, self.frame.texts);
            (address(*action, &exception.id), button, effect)
        };
        possible_actions(&exception.kind).iter().map(leads).collect()
    }

    /// What is said if there are more than the page shows.
    fn more(&self) -> String {
        let texts = &self.frame.texts.operators;
        let words = if self.is_open { texts.more_open } else { texts.more_resolved };
        words.replace("{shown}", &self.exceptions.len().to_string())
    }

    fn resolved_by(&self, who: &str) -> String {
        self.frame.texts.operators.resolved_by.replace("{who}", who)
    }
}

fn address(action: ExceptionAction, id: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.append_pair("action", action.as_str()).append_pair("id", id).finish();
    format!("/exceptions/act?{query}")
}

#[derive(Template)]
#[template(path = "ops/ask_exception.html")]
struct AskExceptionPage {
    frame: Frame,
    navigation: Vec<Entry>,
    exception: Exception,
    kind: String,
    action: &'static str,
    needs_note: bool,
    button: &'static str,
    effect: &'static str,
    max_note_characters: usize,
}

/// Which exceptions are shown, and what was just done.
#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    state: String,
    #[serde(default)]
    done: String,
}

/// `GET /exceptions`
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    let is_open = wanted.state != "resolved";
    let mut exceptions = match is_open {
        true => console.operators.exceptions(SHOWN + 1).await?,
        false => console.operators.resolved(SHOWN + 1).await?,
    };
    let has_more = exceptions.len() > SHOWN;
    exceptions.truncate(SHOWN);
    let mut frame = operator.frame();
    let texts = &frame.texts.operators;
    frame.notice = match wanted.done.as_str() {
        "resolved" => Some(texts.notice_resolved),
        "asked" => Some(texts.notice_asked),
        "nothing" => Some(texts.notice_nothing_to_ask),
        "withheld" => Some(texts.notice_withheld),
        _ => None,
    };
    let navigation = navigation(Part::Exceptions, frame.texts);
    let page = ExceptionsPage { frame, navigation, is_open, exceptions, has_more };
    html(&page)
}

/// What is to be done about which exception.
#[derive(Deserialize)]
pub(super) struct Meant {
    #[serde(default)]
    action: String,
    #[serde(default)]
    id: String,
}

async fn find(
    console: &OperatorConsole,
    action: &str,
    id: &str,
) -> Result<(Exception, ExceptionAction), Failure> {
    let action = ExceptionAction::parse(action).ok_or(Failure::NotFound)?;
    let exception = console.operators.exception(id).await?.ok_or(Failure::NotFound)?;
    if exception.resolution.is_some() {
        let texts = &place::current().texts().operators;
        return Err(Failure::Refused(texts.already_resolved.into()));
    }
    if !possible_actions(&exception.kind).contains(&action) {
        return Err(Failure::NotFound);
    }
    Ok((exception, action))
}

/// `GET /exceptions/act`
pub(super) async fn ask(
    operator: Operator,
    console: Data<OperatorConsole>,
    meant: Query<Meant>,
) -> Result<HttpResponse, Failure> {
    let (exception, action) = find(&console, &meant.action, &meant.id).await?;
    let frame = operator.frame();
    let (button, effect) = words::action(action, frame.texts);
    let page = AskExceptionPage {
        navigation: navigation(Part::Exceptions, frame.texts),
        kind: words::kind(&exception.kind, frame.language()).to_owned(),
        exception,
        action: action.as_str(),
        needs_note: action == ExceptionAction::Resolve,
        button,
        effect,
        max_note_characters: MAX_NOTE_CHARACTERS,
        frame,
    };
    html(&page)
}

/// `POST /exceptions/act`
pub(super) async fn act(order: Order, console: Data<OperatorConsole>) -> Result<HttpResponse, Failure> {
    let (exception, action) = find(&console, order.form.text("action"), order.form.text("id")).await?;
    let done = match action {
        ExceptionAction::Resolve => resolve(&order, &console, &exception).await?,
        ExceptionAction::AskAcquirer => ask_acquirer(&order, &console, &exception).await?,
    };
    let address = format!("{}?done={done}", Part::Exceptions.path());
    Ok(see_other(address))
}

async fn resolve(
    order: &Order,
    console: &OperatorConsole,
    exception: &Exception,
) -> Result<&'static str, Failure> {
    let texts = &place::current().texts().operators;
    let note = order.form.lines("note", MAX_NOTE_CHARACTERS);
    let note = note.ok_or_else(|| Failure::Unreadable(texts.bad_note.into()))?;
    let resolution = Resolution { at: console.clock.now(), by: OPERATOR.into(), note: note.clone() };
    if !console.operators.resolve(&exception.id, &resolution).await? {
        return Err(Failure::Refused(texts.already_resolved.into()));
    }
    let deed = Deed::of_operators(AuditAction::ExceptionResolved, &exception.id);
    let deed = deed.before(&exception.kind).after(note);
    console.audit.note(&order.operator.doer(), deed).await;
    Ok("resolved")
}

async fn ask_acquirer(
    order: &Order,
    console: &OperatorConsole,
    exception: &Exception,
) -> Result<&'static str, Failure> {
    let asked = console.operators.ask_acquirer(exception.transaction_id).await?;
    let done = match asked {
        Asked::Asked(_) => "asked",
        Asked::NothingToAsk(_) => "nothing",
        Asked::Withheld(_) => "withheld",
    };
    let deed = Deed::of_operators(AuditAction::AcquirerAsked, exception.transaction_id);
    console.audit.note(&order.operator.doer(), deed.after(done)).await;
    Ok(done)
}
