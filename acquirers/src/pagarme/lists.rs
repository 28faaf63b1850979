//! List of payables for reconciliation: `GET /payables` by creation time, page by page.

use async_trait::async_trait;
use quita_domain::acquiring::{CallFailure, Identified, Reference};
use quita_domain::identity::AcquirerName;
use quita_domain::money::SignedMoney;
use quita_domain::reconciliation::{ChargeLine, LineSubject, Source, StatementLine};
use quita_ports::{ChargeReader, ListPage, ListPart, ListReader, PageCursor, Period};

use super::CHARGE_ID;
use super::adapter::Pagarme;
use super::lookup::{self, Missing};
use super::payables::{Page, Payable};

/// Payables on a page.
const PAGE_SIZE: &str = "100";

/// Months for which Pagar.me lists payables (docs.pagar.me, "Financeiro", 2026-08-28).
const HISTORY_MONTHS: u32 = 24;

/// Reader of one account's payables.
pub(super) struct PayableList {
    pub(super) pagarme: Pagarme,
    pub(super) acquirer: AcquirerName,
}

#[async_trait(?Send)]
impl ListReader for PayableList {
    fn has_returned(&self) -> bool {
        false
    }

    fn history_months(&self) -> Option<u32> {
        Some(HISTORY_MONTHS)
    }

    fn charges(&self) -> Option<&dyn ChargeReader> {
        Some(self)
    }

    async fn page(&self, _: ListPart, period: Period, cursor: &PageCursor) -> Result<ListPage, CallFailure> {
        let from = period.from.to_string();
        let until = period.until.to_string();
        let mut query =
            vec![("created_since", from.as_str()), ("created_until", until.as_str()), ("size", PAGE_SIZE)];
        if let Some(name) = &cursor.name {
            query.push(("cursor", name));
        }
        let line = self.pagarme.line();
        let Page { payables, cursor: name } = line.page_of_payables(&query).await.map_err(failed)?;
        let own = line.settings.recipient.as_deref();
        let place = format!("GET /payables, page {}", cursor.number);
        Ok(ListPage {
            entries: u64::try_from(payables.len()).unwrap_or(u64::MAX),
            lines: payables.iter().map(|payable| self.line(payable, own, &place)).collect(),
            total: None,
            next: name.map(|name| cursor.next(Some(name))),
        })
    }
}

#[async_trait(?Send)]
impl ChargeReader for PayableList {
    fn name(&self) -> &'static str {
        CHARGE_ID
    }

    async fn lines_of(&self, charge: &Reference) -> Result<Vec<StatementLine>, CallFailure> {
        let Some(id) = lookup::charge_id(charge) else { return Ok(Vec::new()) };
        let line = self.pagarme.line();
        let payables = line.payables_of(&id).await.map_err(failed)?;
        let own = line.settings.recipient.as_deref();
        let place = format!("GET /payables?charge_id={id}");
        Ok(payables.iter().map(|payable| self.line(payable, own, &place)).collect())
    }

    async fn identify(&self, charge: &Reference) -> Identified {
        self.pagarme.line().identified(charge).await
    }
}

impl PayableList {
    fn line(&self, payable: &Payable, own: Option<&str>, place: &str) -> StatementLine {
        let source = Source::list_of(&self.acquirer);
        let charge_id = payable.charge_id.as_ref().map(|id| id.as_str());
        let beginning = match charge_id {
            Some(id) => StatementLine::beginning_of_movement(&source, id, payable.movement),
            None => format!("{source}:account:"),
        };
        let on = payable.created_at.sao_paulo_date();
        let is_taken = payable.is_taken();
        let gross = SignedMoney::from(payable.amount.magnitude());
        let signed = if is_taken { SignedMoney::default().minus(gross) } else { gross };
        let charge = charge_id.map_or_else(Reference::none, |id| Reference::none().with(CHARGE_ID, id));
        let subject = ChargeLine {
            transaction_id: None,
            charge,
            movement: payable.movement,
            is_taken,
            is_own: payable.is_own(own),
            instalment: payable.instalment,
            paid_out_on: payable.payment_on.filter(|_| payable.is_paid),
            expected_on: payable.payment_on.filter(|_| !payable.is_paid),
        };
        StatementLine {
            id: format!("{beginning}{}", payable.id),
            source,
            day: on,
            kind: payable.movement.kind(),
            reference: Some(charge_id.unwrap_or(&payable.id).to_owned()),
            subject: LineSubject::Charge(Box::new(subject)),
            gross: payable.amount.magnitude(),
            fee: Some(payable.fees),
            net: Some(signed.minus(payable.fees)),
            on,
            place: place.to_owned(),
            other_key: None,
        }
    }
}

/// Adapts a failure to list payables. There is no "not found" here: either a list or no answer.
fn failed(missing: Missing) -> CallFailure {
    match missing {
        Missing::Failed(failure) => failure,
        Missing::Unknown => CallFailure::Unknown("Pagar.me has no list of payables (404)".to_owned()),
    }
}
