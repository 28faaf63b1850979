//! Kinds of actors, with live figures.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_actors::{ActorKind, MessageSample, Thousandths};

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::visitor::Operator;
use super::words;
use crate::console::kit::answer::html;
use crate::console::kit::page_error::PageError;

#[derive(Template)]
#[template(path = "console/operator/actors.html")]
struct ActorsPage {
    frame: OperatorFrame,
    kinds: Vec<&'static str>,
}

#[derive(Template)]
#[template(path = "console/operator/kind.html")]
struct KindPage {
    frame: OperatorFrame,
    kind: &'static str,
    messages: Vec<MessageSample>,
}

impl KindPage {
    fn rate(&self, per_second: &Thousandths) -> String {
        self.frame.language().thousandths(per_second.get())
    }

    fn measured(&self, time: &Option<Thousandths>) -> String {
        words::measured(time.as_ref(), self.frame.language())
    }
}

/// Handles `GET /actors`.
pub(super) async fn show(operator: Operator) -> Result<HttpResponse, PageError> {
    let frame = OperatorFrame { has_plots: true, ..operator.frame(OperatorSection::Actors) };
    let page = ActorsPage { frame, kinds: ActorKind::ALL.map(ActorKind::label).to_vec() };
    html(&page)
}

/// Handles `GET /kinds/{kind}`: shows each message type of a kind of actor.
pub(super) async fn kind(
    operator: Operator,
    kind: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let kind = ActorKind::ALL.into_iter().find(|known| known.label() == kind.as_str());
    let kind = kind.ok_or(PageError::NotFound)?;
    let frame = operator.frame(OperatorSection::Actors);
    let mut messages = console.operators.messages(kind);
    // Messages that were counted earlier, but no longer occur, are left out.
    messages.retain(|message| message.per_second.get() > 0);
    let page = KindPage { frame, kind: kind.label(), messages };
    html(&page)
}
