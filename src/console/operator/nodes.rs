//! Removal of a lost node from the list by an operator.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_actors::NodeView;
use quita_domain::audit::AuditAction;
use uuid::Uuid;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::visitor::{DirectorForm, Operator};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::page_error::PageError;
use quita_services::audit::AuditDraft;

#[derive(Template)]
#[template(path = "console/operator/ask_node.html")]
struct AskNodePage {
    frame: OperatorFrame,
    view: NodeView,
}

fn find(console: &OperatorConsole, id: &str) -> Result<NodeView, PageError> {
    let id = Uuid::try_parse(id).map_err(|_| PageError::NotFound)?;
    let mut nodes = console.operators.nodes().into_iter();
    nodes.find(|view| view.node.id == id && view.is_lost()).ok_or(PageError::NotFound)
}

/// Handles `GET /nodes/{id}`.
pub(super) async fn ask(
    operator: Operator,
    id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let view = find(&console, &id)?;
    html(&AskNodePage { frame: operator.frame(OperatorSection::Store), view })
}

/// Handles `POST /nodes/{id}`.
pub(super) async fn act(
    DirectorForm { visitor, .. }: DirectorForm,
    id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let NodeView { node, .. } = find(&console, &id)?;
    if console.operators.take_off(node.id).await? {
        let draft =
            AuditDraft::of_operators(AuditAction::NodeTakenOff, format!("{} {}", node.address, node.id));
        console.audit.note(&visitor.initiator(), draft).await;
    }
    Ok(see_other(OperatorSection::Store.path()))
}
