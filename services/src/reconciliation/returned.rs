//! Refunds of older Pix. A list of a later day does not have the Pix of an earlier one, nor its refunds.

use std::collections::BTreeSet;

use chrono::{Days, NaiveDate};
use quita_domain::reconciliation::{LineKind, StatementLine};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{ListPart, Period};

use super::pages::{List, Pages};
use super::{NotReconciled, RECONCILED_AT_ONCE, Reconciler, Tell};

/// Days back from which refunded Pix are searched for. Banks may take a Pix back for 80 days, and its receiver may
/// return it for 90 (rails: API Pix 2.9.0, devolução).
const RETURNED_WITHIN_DAYS: u64 = 90;

/// Part of that period which is requested at once from banks that limit the period.
const WEEK_DAYS: u64 = 7;

impl Reconciler {
    /// Compares the refunds of the Pix of the last 90 days, until this one, with the payments. Hands on each line that
    /// belongs to a payment here, with its verdict. Draws no conclusion from missing lines.
    ///
    /// # Errors
    /// If the list is unavailable. Lines judged before that keep their verdicts.
    pub async fn reconcile_returned(
        &self,
        list: &List,
        until: NaiveDate,
        tell: Tell<'_>,
    ) -> Result<(), NotReconciled> {
        self.check_open(list).await?;
        let from = back(until, RETURNED_WITHIN_DAYS.saturating_sub(1));
        let whole = self.judge_returned(list, from, until, tell).await;
        let Err(NotReconciled::NoList(why)) = whole else { return whole };
        tracing::debug!(acquirer = %list.acquirer, why, "the list of refunds is requested week by week");
        let mut first = from;
        while first <= until {
            let last = forth(first, WEEK_DAYS.saturating_sub(1)).min(until);
            self.judge_returned(list, first, last, tell).await?;
            first = forth(last, 1);
        }
        Ok(())
    }

    async fn judge_returned(
        &self,
        list: &List,
        from: NaiveDate,
        until: NaiveDate,
        tell: Tell<'_>,
    ) -> Result<(), NotReconciled> {
        let begins = i64::try_from(DAY_MS).map_or(i64::MAX, |day_ms| day_ms.saturating_sub(1));
        let begins = Timestamp::end_of_sao_paulo_day(from).millis().saturating_sub(begins);
        let ends = Timestamp::end_of_sao_paulo_day(until).min(self.clock.now());
        let begins = Timestamp::from_millis(begins);
        let period = Period { from: begins, until: ends.max(begins) };
        let mut pages = Pages::of(ListPart::Returned, period);
        while let Some(page) = self.next_page(list, &mut pages).await? {
            let lines = self.of_their_days(returned(page.lines), |line| line.day).await?;
            let ours = self.ours(lines).await?;
            for lines in ours.chunks(RECONCILED_AT_ONCE) {
                let judged = self.judge(lines.to_vec()).await?;
                judged.iter().try_for_each(&mut *tell)?;
            }
        }
        Ok(())
    }

    /// Returns the lines about payments here. The others were handed on before, or precede this service.
    async fn ours(&self, lines: Vec<StatementLine>) -> Result<Vec<StatementLine>, NotReconciled> {
        let stored = self.as_stored(lines).await?;
        let payments = self.payments_of(&stored).await?;
        let ours = stored.into_iter().filter(|stored| payments.contains_key(&stored.line.id));
        Ok(ours.map(|stored| stored.line).collect())
    }
}

/// Returns the Pix with refunds, and those refunds: not every bank applies that filter.
fn returned(lines: Vec<StatementLine>) -> Vec<StatementLine> {
    let refunds = lines.iter().filter(|line| line.kind == LineKind::Refund);
    let names: BTreeSet<_> = refunds.filter_map(StatementLine::end_to_end_id).map(String::from).collect();
    let is_returned = |line: &StatementLine| line.end_to_end_id().is_some_and(|name| names.contains(name));
    lines.into_iter().filter(is_returned).collect()
}

fn back(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_sub_days(Days::new(days)).unwrap_or(NaiveDate::MIN)
}

fn forth(day: NaiveDate, days: u64) -> NaiveDate {
    day.checked_add_days(Days::new(days)).unwrap_or(NaiveDate::MAX)
}
