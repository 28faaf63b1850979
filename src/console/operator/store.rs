//! The store and the nodes on it.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use quita_domain::control::Node;
use tokio::time::timeout;

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::visitor::Operator;
use crate::console::kit::answer::html;
use crate::console::kit::failure::Failure;

/// How long the store may take to answer.
const STORE_TIME_OUT: Duration = Duration::from_secs(2);

#[derive(Template)]
#[template(path = "console/operator/store.html")]
struct StorePage {
    frame: Frame,
    store_name: String,
    /// Why the store can't be used, if it can't.
    trouble: Option<String>,
    nodes: Vec<Node>,
}

/// `GET /store`
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let trouble = match timeout(STORE_TIME_OUT, console.payments.check_store()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(String::from("no answer in time")),
    };
    let nodes = timeout(STORE_TIME_OUT, console.operators.nodes()).await;
    let nodes = nodes.ok().and_then(Result::ok).unwrap_or_default();
    let frame = Frame { has_plots: true, ..operator.frame(Section::Store) };
    let page = StorePage { frame, store_name: console.store_name.clone(), trouble, nodes };
    html(&page)
}
