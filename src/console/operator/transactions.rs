//! Transactions in memory, and the actor of one of them.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use quita_actors::{ActorView, ShardView, Thousandths};
use quita_domain::identity::TransactionId;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use serde::Deserialize;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::visitor::{Operator, WatchingOperator};
use super::words;
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::cost::cost_beside;
use crate::console::kit::language::Language;
use crate::console::kit::live::LivePart;
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::Watcher;

#[derive(Template)]
#[template(path = "console/operator/transactions.html")]
struct TransactionsPage {
    frame: OperatorFrame,
    shards: Vec<ShardView>,
}

#[derive(Template)]
#[template(path = "console/operator/transaction.html")]
struct TransactionPage {
    frame: OperatorFrame,
    id: TransactionId,
    body: String,
}

/// Live part of the page.
#[derive(Template)]
#[template(path = "console/operator/transaction_body.html")]
struct TransactionBody {
    texts: &'static OperatorTexts,
    language: Language,
    /// True if buttons are shown.
    may_direct: bool,
    actor: Option<ActorView>,
    payment: Arc<Payment>,
    /// Cost according to the table of costs.
    reckoned: Option<Money>,
    now: Timestamp,
}

impl TransactionBody {
    /// Returns the cost stated by the acquirer, next to the calculated one.
    fn cost(&self) -> Option<String> {
        cost_beside(
            self.payment.state.cost,
            self.reckoned,
            self.language,
            self.texts.everywhere.reckoned_cost,
        )
    }

    /// Returns the operations that have not ended, each with true if a person may end it.
    fn open_operations(&self) -> Vec<(&Operation, bool)> {
        let open = self.payment.operations.iter().filter(|operation| operation.is_processing());
        open.map(|operation| (operation, !operation.possible_verdicts(self.now).is_empty())).collect()
    }

    fn charge_may_be_ended(&self) -> bool {
        !self.payment.possible_charge_verdicts(self.now).is_empty()
    }

    fn measured(&self, time: &Thousandths) -> String {
        words::measured(Some(time), self.language)
    }
}

/// Query parameters of the search for a transaction.
#[derive(Deserialize)]
pub(super) struct TransactionQuery {
    #[serde(default)]
    id: String,
}

impl TransactionsPage {
    fn shard_title(&self, number: &usize, shard: &ShardView) -> String {
        let texts = &self.frame.texts.operators;
        let count = |number: usize| self.frame.language().count(u64::try_from(number).unwrap_or(u64::MAX));
        let title =
            texts.shard.replace("{number}", &number.to_string()).replace("{live}", &count(shard.live));
        match shard.looked_at < shard.live {
            true => title + &texts.of_looked_at.replace("{looked}", &count(shard.looked_at)),
            false => title,
        }
    }
}

/// Handles `GET /transactions`: shows the busiest ones, or redirects to the one searched for.
pub(super) async fn list(
    operator: Operator,
    console: Data<OperatorConsole>,
    wanted: Query<TransactionQuery>,
) -> Result<HttpResponse, PageError> {
    let wanted = wanted.id.trim().to_ascii_lowercase();
    if !wanted.is_empty() {
        let id = TransactionId::parse(&wanted).ok_or(PageError::NotFound)?;
        let address = format!("/transactions/{id}");
        return Ok(see_other(address));
    }
    let frame = operator.frame(OperatorSection::Actors);
    let page = TransactionsPage { frame, shards: console.operators.busiest().await? };
    html(&page)
}

/// Handles `GET /transactions/{id}`.
pub(super) async fn show(
    operator: Operator,
    id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let id = TransactionId::parse(&id).ok_or(PageError::NotFound)?;
    let frame = operator.frame(OperatorSection::Actors);
    let body = body(&console, id, frame.language(), frame.may_direct()).await?;
    let page = TransactionPage { frame, id, body };
    html(&page)
}

/// Renders the live part of the page.
async fn body(
    console: &OperatorConsole,
    id: TransactionId,
    language: Language,
    may_direct: bool,
) -> Result<String, PageError> {
    // Inspecting an actor sends it no message, which would prevent it from becoming idle.
    let actor = console.operators.inspect(id).await?;
    let payment = console.payments.read(id).await?.ok_or(PageError::NotFound)?;
    let texts = OperatorTexts::of(language);
    let now = console.clock.now();
    let reckoned = console.payments.reckoned_cost(&payment);
    Ok(TransactionBody { texts, language, may_direct, actor, payment, reckoned, now }.render()?)
}

/// Handles `GET /transactions/{id}/stream`.
pub(super) async fn stream(
    operator: Operator,
    id: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let id = TransactionId::parse(&id).ok_or(PageError::NotFound)?;
    let streams = Arc::clone(&console.streams);
    let language = Language::current();
    streams.open(LiveActor {
        console: console.into_inner(),
        watching: WatchingOperator::of(operator),
        id,
        language,
    })
}

/// Actor as a stream polls it.
struct LiveActor {
    console: Arc<OperatorConsole>,
    watching: WatchingOperator,
    id: TransactionId,
    language: Language,
}

impl LivePart for LiveActor {
    fn key(&self) -> String {
        format!("actor {} {} {}", self.id, self.language.tag(), self.watching.who.role.as_str())
    }

    async fn render(&self) -> Result<String, PageError> {
        body(&self.console, self.id, self.language, self.watching.who.role.may_direct()).await
    }

    fn watcher(&self) -> Watcher {
        self.watching.watcher()
    }

    async fn may_watch(&self) -> bool {
        self.watching.goes_on(&self.console).await
    }
}
