//! One day of an acquirer's list: imported to its end, judged, and then searched for missing entries.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use quita_domain::boleto::business_day;
use quita_domain::payment::Payment;
use quita_domain::reconciliation::{
    LineCursor, LineFilter, LineFinding, LineKind, LineVerdict, Source, StatementLine, StoredLine,
    expected_boleto, expected_charge, expected_pix, expected_refunds,
};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{Period, StoreError};

use super::pages::{Imported, List, told};
use super::{NotReconciled, RECONCILED_AT_ONCE, Reconciler};

/// Milliseconds after a day within which a payment of that day must be known to be paid to count as missing in its
/// list.
const LEARNT_WITHIN_MS: u64 = 7 * DAY_MS;

/// Milliseconds before a day from which a payment of that day may count as paid, by a clock of ours that is behind.
const CLOCK_BEHIND_MS: u64 = 60 * 60_000;

/// Receives each line that was judged.
pub type Tell<'a> = &'a mut dyn FnMut(&StoredLine) -> Result<(), NotReconciled>;

impl Reconciler {
    /// Compares an acquirer's list of these days in Brasília, the last included, with the payments. Passes on each line
    /// with its verdict. Returns the number of lines that were not judged because they already were, with the list of
    /// another day.
    ///
    /// # Errors
    /// Fails if the list is incomplete; then there is no verdict at all. Fails also if the store does not answer, or a
    /// line can't be handed on; then another run continues from there.
    pub async fn reconcile_list(
        &self,
        list: &List,
        from: NaiveDate,
        until: NaiveDate,
        tell: Tell<'_>,
    ) -> Result<u64, NotReconciled> {
        let read_at = self.clock.now();
        let days: Vec<_> = from.iter_days().take_while(|day| *day <= until).collect();
        let mut imported = Imported::of(from, until);
        // All days are imported before any is judged: banks may date a line on the day before or after that of its list
        // (decision 35).
        for day in &days {
            self.import(list, *day, &mut imported).await?;
        }
        for day in days {
            let read_at = self.latest_reading(list, day).await?.map_or(read_at, |before| before.max(read_at));
            self.judge_list(list, day, read_at, tell).await?;
        }
        self.judge_astray(list, &imported.astray, tell).await?;
        Ok(imported.elsewhere)
    }

    /// Judges lines that belong to days outside this run, unless that was done before, and for good.
    async fn judge_astray(&self, list: &List, ids: &[String], tell: Tell<'_>) -> Result<(), NotReconciled> {
        for ids in ids.chunks(RECONCILED_AT_ONCE) {
            let stored = self.store.lines_with_ids(ids).await?;
            let open = stored.into_iter().filter(|stored| !stored.is_settled());
            let judged = self.judge_listed(open.map(|stored| stored.line).collect(), list).await?;
            judged.iter().try_for_each(&mut *tell)?;
        }
        Ok(())
    }

    /// Returns the time of the latest reading of a day's list that missed an entry which is still open. That time is
    /// from the clock of the node that read it. With an earlier time the entry would not be missed, nor ever be
    /// settled.
    async fn latest_reading(&self, list: &List, day: NaiveDate) -> Result<Option<Timestamp>, NotReconciled> {
        let verdict = Some(LineVerdict::MissingThere);
        let filter = LineFilter { source: Source::list_of(&list.acquirer), from: day, until: day, verdict };
        let mut after = None;
        let mut latest = None;
        loop {
            let page = self.store.lines(&filter, after.as_ref(), RECONCILED_AT_ONCE).await?;
            let Some(last) = page.last() else { return Ok(latest) };
            after = Some(LineCursor::of(&last.line));
            let open = page.iter().filter(|stored| stored.judged.as_ref().is_some_and(|one| !one.is_final));
            latest = latest.max(open.map(|stored| stored.imported_at).max());
        }
    }

    /// Judges the imported lines of a day, and then its missing entries.
    async fn judge_list(
        &self,
        list: &List,
        day: NaiveDate,
        read_at: Timestamp,
        tell: Tell<'_>,
    ) -> Result<(), NotReconciled> {
        let source = Source::list_of(&list.acquirer);
        let filter = LineFilter { source, from: day, until: day, verdict: None };
        let mut after: Option<LineCursor> = None;
        loop {
            let page = self.store.lines(&filter, after.as_ref(), RECONCILED_AT_ONCE).await?;
            let Some(last) = page.last() else { break };
            after = Some(LineCursor::of(&last.line));
            // Entries missed before are searched for below, because they may have appeared since.
            let lines = page.into_iter().map(|stored| stored.line).filter(|line| !line.is_expected());
            let judged = self.judge_listed(lines.collect(), list).await?;
            judged.iter().try_for_each(&mut *tell)?;
            let expected = self.expected_with(&judged, read_at).await?;
            self.tell_missing(expected, tell).await?;
        }
        self.miss_paid(list, day, read_at, tell).await
    }

    /// Returns the refunds that should be listed with these Pix.
    async fn expected_with(
        &self,
        judged: &[StoredLine],
        read_at: Timestamp,
    ) -> Result<Vec<StatementLine>, StoreError> {
        let is_paid = |stored: &&StoredLine| {
            let finding = stored.judged.as_ref().map(|judged| &judged.finding);
            stored.line.kind == LineKind::Pix && finding == Some(&LineFinding::Matched)
        };
        let pix: Vec<_> = judged.iter().filter(is_paid).collect();
        let ids: BTreeSet<_> = pix.iter().filter_map(|stored| stored.line.named_payment()).collect();
        let payments = self.store.load_all(&ids.into_iter().collect::<Vec<_>>()).await?;
        let of = |stored: &&StoredLine| {
            let id = stored.line.named_payment();
            payments.iter().find(|payment| Some(payment.id) == id)
        };
        let expected = pix.iter().filter_map(|stored| Some((stored, of(stored)?)));
        Ok(expected.flat_map(|(stored, payment)| expected_refunds(&stored.line, payment, read_at)).collect())
    }

    /// Searches for payments that are missing in the list of the day.
    async fn miss_paid(
        &self,
        list: &List,
        day: NaiveDate,
        read_at: Timestamp,
        tell: Tell<'_>,
    ) -> Result<(), NotReconciled> {
        let end = Timestamp::end_of_sao_paulo_day(day);
        // A boleto that was paid on a weekend or holiday is listed on the business day after it. Lists that have what
        // went back with its movement are lists of Pix.
        let first = if list.reader.has_returned() { day } else { business_day::first_rolled_to(day) };
        let from = first.pred_opt().map_or(end, Timestamp::end_of_sao_paulo_day).minus_ms(CLOCK_BEHIND_MS);
        // A payment that was learnt after the list was read can't be missing from it.
        let until = end.plus_ms(LEARNT_WITHIN_MS).min(read_at);
        let period = Period { from, until };
        let mut after = None;
        loop {
            let places = self.store.paid_between(self.mode, period, after, RECONCILED_AT_ONCE).await?;
            let Some(last) = places.last() else { return Ok(()) };
            after = Some(*last);
            let ids: Vec<_> = places.iter().map(|place| place.id).collect();
            // One that is left out would not be missed, and its day is compared once.
            let payments: Vec<Payment> = self.store.load_all(&ids).await?;
            match list.reader.charges() {
                None => {
                    let expected = |payment| expected_pix(payment, &list.acquirer, day, read_at);
                    self.tell_missing(payments.iter().filter_map(expected).collect(), tell).await?;
                    let expected = |payment| expected_boleto(payment, &list.acquirer, day, read_at);
                    let expected = payments.iter().filter_map(expected).collect();
                    self.tell_missing_on_every_day(list, expected, tell).await?;
                }
                Some(charges) => {
                    let name = charges.name();
                    let expected = |payment| expected_charge(payment, &list.acquirer, name, day, read_at);
                    let expected = payments.iter().filter_map(expected).collect();
                    self.tell_missing_on_every_day(list, expected, tell).await?;
                }
            }
        }
    }

    /// Judges those of these charges and boletos that the acquirer lists on no day. One that was missing before and is listed
    /// now is judged too.
    async fn tell_missing_on_every_day(
        &self,
        list: &List,
        expected: Vec<StatementLine>,
        tell: Tell<'_>,
    ) -> Result<(), NotReconciled> {
        let ids: Vec<_> = expected.iter().map(|line| line.id.clone()).collect();
        let known = self.store.lines_with_ids(&ids).await?;
        let missing_still = known.iter().filter(|stored| stored.verdict() != Some(LineVerdict::Matched));
        let was_missing: BTreeSet<_> = missing_still.map(|stored| stored.line.id.as_str()).collect();
        let mut missing = Vec::new();
        let mut listed = Vec::new();
        for line in expected {
            if !self.is_listed(list, &line).await? {
                missing.push(line);
            } else if was_missing.contains(line.id.as_str()) {
                listed.push(line);
            }
        }
        if !missing.is_empty() {
            self.judge_missing(missing).await?.iter().try_for_each(&mut *tell)?;
        }
        if listed.is_empty() {
            return Ok(());
        }
        self.judge_listed(listed, list).await?.iter().try_for_each(tell)
    }

    /// Returns true if the acquirer has lines of an expected line's charge or boleto.
    async fn is_listed(&self, list: &List, expected: &StatementLine) -> Result<bool, NotReconciled> {
        let beginning = expected.added_up_with().or_else(|| expected.settlements_begin_with());
        // Without a name, an entry can't be looked for in lists.
        let Some(beginning) = beginning else { return Ok(true) };
        let imported = self.store.lines_beginning(&beginning, 2).await?;
        if imported.iter().any(|stored| !stored.line.is_expected()) {
            return Ok(true);
        }
        let Some((charges, charge)) = list.reader.charges().zip(expected.charge()) else {
            return Ok(false);
        };
        // It may be in the list of a day that was never compared.
        let lines = charges.lines_of(&charge.charge).await;
        let lines = lines.map_err(|failure| NotReconciled::NoList(told(&failure)))?;
        Ok(lines.iter().any(|line| line.id.starts_with(&beginning)))
    }

    /// Judges those of these lines that are missing in the list.
    async fn tell_missing(
        &self,
        mut expected: Vec<StatementLine>,
        tell: Tell<'_>,
    ) -> Result<(), NotReconciled> {
        let ids: Vec<_> = expected.iter().map(|line| line.id.clone()).collect();
        let known = self.store.lines_with_ids(&ids).await?;
        let listed = known.iter().map(|stored| &stored.line).filter(|line| !line.is_expected());
        let listed: BTreeSet<_> = listed.map(|line| line.id.as_str()).collect();
        expected.retain(|line| !listed.contains(line.id.as_str()));
        if expected.is_empty() {
            return Ok(());
        }
        let judged = self.judge_missing(expected).await?;
        judged.iter().try_for_each(tell)
    }
}
