//! Refunds and disputes of all payments, as lists.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::Denied;
use quita_domain::listing::query::MovementQuery;
use quita_domain::listing::{Cursor, MovementFilter};
use quita_domain::payment::{Chargeback, Payment};
use quita_domain::state::Refund;
use quita_ports::Listed;
use serde::Serialize;

use super::auth::Reader;
use super::edge::Edge;
use super::entries::{self, EntryList, matching};
use super::errors::ApiError;
use super::query;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefundView {
    refund_id: String,
    transaction_id: String,
    external_reference: Option<String>,
    payment_method: &'static str,
    amount: String,
    status: &'static str,
    created_at: String,
    failure_reason: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DisputeView {
    chargeback_id: String,
    transaction_id: String,
    external_reference: Option<String>,
    payment_method: &'static str,
    amount: String,
    status: &'static str,
    chargeback_at: Option<String>,
    won_at: Option<String>,
}

/// `GET /pay/refunds`
pub(crate) async fn refunds(
    caller: Reader,
    edge: Data<Edge>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = MovementQuery::refunds(&caller.0.owner, &query::read(&request)?)?;
    let list = RefundEntries { edge: &edge, filter: &query.filter };
    entries::page(&edge, &caller.0.owner, &list, query.cursor, query.limit.get()).await
}

/// `GET /pay/disputes`
pub(crate) async fn disputes(
    caller: Reader,
    edge: Data<Edge>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = MovementQuery::disputes(&caller.0.owner, &query::read(&request)?)?;
    let list = DisputeEntries { edge: &edge, filter: &query.filter };
    entries::page(&edge, &caller.0.owner, &list, query.cursor, query.limit.get()).await
}

struct RefundEntries<'a> {
    edge: &'a Edge,
    filter: &'a MovementFilter,
}

impl EntryList for RefundEntries<'_> {
    type View = RefundView;

    async fn read(&self, after: Option<Cursor>, limit: usize) -> Result<Vec<Listed>, Denied> {
        self.edge.payments.list_with_movements(self.filter, after, limit).await
    }

    fn entries(&self, payment: &Payment) -> Vec<(u32, RefundView)> {
        let is_in_period = self.filter.is_in_period(payment.created_at);
        let matches = |refund: &Refund| is_in_period && self.filter.movements.have_refund(refund.status);
        let refunds = matching(&payment.state.refunds, matches);
        refunds.map(|(index, refund)| (index, RefundView::of(payment, refund))).collect()
    }
}

impl RefundView {
    fn of(payment: &Payment, refund: &Refund) -> Self {
        Self {
            refund_id: refund.id.clone(),
            transaction_id: payment.id.to_string(),
            external_reference: payment.order.external_reference.clone(),
            payment_method: payment.method().as_str(),
            amount: refund.amount.to_string(),
            status: refund.status.as_str(),
            created_at: refund.created_at.to_string(),
            failure_reason: refund.failure_reason.clone(),
        }
    }
}

struct DisputeEntries<'a> {
    edge: &'a Edge,
    filter: &'a MovementFilter,
}

impl EntryList for DisputeEntries<'_> {
    type View = DisputeView;

    async fn read(&self, after: Option<Cursor>, limit: usize) -> Result<Vec<Listed>, Denied> {
        self.edge.payments.list_with_movements(self.filter, after, limit).await
    }

    fn entries(&self, payment: &Payment) -> Vec<(u32, DisputeView)> {
        let is_in_period = self.filter.is_in_period(payment.created_at);
        let matches = |one: &Chargeback| is_in_period && self.filter.movements.have_dispute(one.status());
        let chargebacks = matching(&payment.chargebacks, matches);
        chargebacks.map(|(index, chargeback)| (index, DisputeView::of(payment, chargeback))).collect()
    }
}

impl DisputeView {
    fn of(payment: &Payment, chargeback: &Chargeback) -> Self {
        Self {
            chargeback_id: chargeback.id.clone(),
            transaction_id: payment.id.to_string(),
            external_reference: payment.order.external_reference.clone(),
            payment_method: payment.method().as_str(),
            amount: payment.amount_of(chargeback).to_string(),
            status: chargeback.status().as_str(),
            chargeback_at: payment.time_of(chargeback).map(|at| at.to_string()),
            won_at: chargeback.won.as_ref().and_then(|won| won.learnt_at).map(|at| at.to_string()),
        }
    }
}
