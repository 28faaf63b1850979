//! Exceptions that need a person, and the actions that they offer.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_actors::Asked;
use quita_domain::audit::AuditAction;
use quita_domain::exception::{Exception, ExceptionAction, Resolution, possible_actions};
use serde::Deserialize;
use url::form_urlencoded;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::present::{PresentState, PresentStates};
use super::texts::OperatorTexts;
use super::visitor::{DirectorForm, Operator};
use super::words;
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::page_error::PageError;
use quita_services::audit::AuditDraft;

/// Maximum number of exceptions shown, newest first.
const SHOWN: usize = 1_000;
/// Maximum number of characters of a note.
const MAX_NOTE_CHARACTERS: usize = 500;

#[derive(Template)]
#[template(path = "console/operator/exceptions.html")]
struct ExceptionsPage {
    frame: OperatorFrame,
    is_open: bool,
    exceptions: Vec<Exception>,
    has_more: bool,
    /// Present state of the payments whose outcome was reported as unknown.
    present: PresentStates,
}

impl ExceptionsPage {
    fn present(&self, exception: &Exception) -> Option<&PresentState> {
        self.present.of(exception)
    }

    /// Returns that the exception was settled without anybody, if it was.
    fn settled(&self, exception: &Exception) -> Option<String> {
        let state = self.present(exception).filter(|state| state.is_settled)?;
        let status = self.frame.language().status(state.status);
        Some(self.frame.texts.operators.settled_by_itself.replace("{status}", status))
    }

    fn kind<'a>(&self, exception: &'a Exception) -> &'a str {
        words::kind(&exception.kind, self.frame.language())
    }

    fn advice<'a>(&self, exception: &'a Exception) -> &'a str {
        words::advice(&exception.kind, &exception.advice, self.frame.language())
    }

    /// Returns each action: its address, the label of its button, and its effect.
    fn actions(&self, exception: &Exception) -> Vec<(String, &'static str, &'static str)> {
        let leads = |action: &ExceptionAction| {
            let (button, effect) = words::action(*action, self.frame.texts);
            (address(*action, &exception.id), button, effect)
        };
        possible_actions(&exception.kind).iter().map(leads).collect()
    }

    /// Returns the sentence for exceptions beyond those on the page.
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
#[template(path = "console/operator/ask_exception.html")]
struct AskExceptionPage {
    frame: OperatorFrame,
    exception: Exception,
    kind: String,
    action: &'static str,
    needs_note: bool,
    button: &'static str,
    effect: &'static str,
    max_note_characters: usize,
}

/// Query parameters of the list.
#[derive(Deserialize)]
pub(super) struct ExceptionsQuery {
    #[serde(default)]
    state: String,
    #[serde(default)]
    done: String,
}

/// Handles `GET /exceptions`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    wanted: Query<ExceptionsQuery>,
) -> Result<HttpResponse, PageError> {
    let is_open = wanted.state != "resolved";
    let mut exceptions = match is_open {
        true => console.operators.exceptions(SHOWN + 1).await?,
        false => console.operators.resolved(SHOWN + 1).await?,
    };
    let has_more = exceptions.len() > SHOWN;
    exceptions.truncate(SHOWN);
    let mut frame = operator.frame(OperatorSection::Exceptions);
    let texts = &frame.texts.operators;
    frame.notice = match wanted.done.as_str() {
        "resolved" => Some(texts.notice_resolved),
        "asked" => Some(texts.notice_asked),
        "nothing" => Some(texts.notice_nothing_to_ask),
        "withheld" => Some(texts.notice_withheld),
        _ => None,
    };
    let present = console.present(&exceptions).await;
    let page = ExceptionsPage { frame, is_open, exceptions, has_more, present };
    html(&page)
}

/// Query parameters of an action on an exception.
#[derive(Deserialize)]
pub(super) struct ActionQuery {
    #[serde(default)]
    action: String,
    #[serde(default)]
    id: String,
}

async fn find(
    console: &OperatorConsole,
    action: &str,
    id: &str,
) -> Result<(Exception, ExceptionAction), PageError> {
    let action = ExceptionAction::parse(action).ok_or(PageError::NotFound)?;
    let exception = console.operators.exception(id).await?.ok_or(PageError::NotFound)?;
    if exception.resolution.is_some() {
        let texts = &OperatorTexts::current().operators;
        return Err(PageError::Refused(texts.already_resolved.into()));
    }
    if !possible_actions(&exception.kind).contains(&action) {
        return Err(PageError::NotFound);
    }
    Ok((exception, action))
}

/// Handles `GET /exceptions/act`.
pub(super) async fn ask(
    operator: Operator,
    console: Data<OperatorConsole>,
    meant: Query<ActionQuery>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let (exception, action) = find(&console, &meant.action, &meant.id).await?;
    let frame = operator.frame(OperatorSection::Exceptions);
    let (button, effect) = words::action(action, frame.texts);
    let page = AskExceptionPage {
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

/// Handles `POST /exceptions/act`.
pub(super) async fn act(
    sent: DirectorForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let (exception, action) = find(&console, sent.form.text("action"), sent.form.text("id")).await?;
    let done = match action {
        ExceptionAction::Resolve => resolve(&sent, &console, &exception).await?,
        ExceptionAction::AskAcquirer => ask_acquirer(&sent, &console, &exception).await?,
    };
    let address = format!("{}?done={done}", OperatorSection::Exceptions.path());
    Ok(see_other(address))
}

async fn resolve(
    sent: &DirectorForm,
    console: &OperatorConsole,
    exception: &Exception,
) -> Result<&'static str, PageError> {
    let texts = &OperatorTexts::current().operators;
    let note = sent.form.lines("note", MAX_NOTE_CHARACTERS, texts.bad_note)?;
    let resolution =
        Resolution { at: console.clock.now(), by: sent.visitor.who.login.to_string(), note: note.clone() };
    // Two operators may act on the same exception. The second one is refused, so that one note does not replace the
    // other.
    if !console.operators.resolve(&exception.id, &resolution).await? {
        return Err(PageError::Refused(texts.already_resolved.into()));
    }
    let draft = AuditDraft::of_operators(AuditAction::ExceptionResolved, &exception.id);
    let draft = draft.before(&exception.kind).after(note);
    console.audit.note(&sent.visitor.initiator(), draft).await;
    Ok("resolved")
}

async fn ask_acquirer(
    sent: &DirectorForm,
    console: &OperatorConsole,
    exception: &Exception,
) -> Result<&'static str, PageError> {
    let id = exception.transaction_id.ok_or(PageError::NotFound)?;
    let asked = console.operators.ask_acquirer(id).await?;
    let done = match asked {
        Asked::Asked(_) => "asked",
        Asked::NothingToAsk(_) => "nothing",
        Asked::Withheld(_) => "withheld",
    };
    let draft = AuditDraft::of_operators(AuditAction::AcquirerAsked, id);
    console.audit.note(&sent.visitor.initiator(), draft.after(done)).await;
    Ok(done)
}
