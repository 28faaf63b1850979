//! Lines of lists and files with their verdicts, runs, and payments by external ids.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::NaiveDate;
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::payment::Payment;
use quita_domain::reconciliation::{
    LineCursor, LineFilter, LineSum, SlipNumber, Source, StoredLine, slip_numbers_of,
};
use quita_ports::{PaidPlace, Period, ReconciliationStore, Run, RunClaim, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{Records, first_by};

#[async_trait]
impl<C: Connection> ReconciliationStore for MemoryStore<C> {
    async fn put_lines(&self, lines: &[StoredLine]) -> Result<(), StoreError> {
        self.0
            .change("put_lines", |records| {
                records.lines.extend(lines.iter().map(|stored| (stored.line.id.clone(), stored.clone())));
                Ok(())
            })
            .await
    }

    async fn lines_with_ids(&self, ids: &[String]) -> Result<Vec<StoredLine>, StoreError> {
        self.0
            .read("lines_with_ids", |records| {
                Ok(ids.iter().filter_map(|id| records.lines.get(id)).cloned().collect())
            })
            .await
    }

    async fn lines_beginning(&self, beginning: &str, limit: usize) -> Result<Vec<StoredLine>, StoreError> {
        self.0
            .read("lines_beginning", |records| {
                let from = records.lines.range(beginning.to_owned()..);
                let found = from.take_while(|(id, _)| id.starts_with(beginning));
                Ok(found.map(|(_, stored)| stored.clone()).take(limit).collect())
            })
            .await
    }

    async fn lines(
        &self,
        filter: &LineFilter,
        after: Option<&LineCursor>,
        limit: usize,
    ) -> Result<Vec<StoredLine>, StoreError> {
        self.0
            .read("lines", |records| {
                let place = |stored: &StoredLine| LineCursor::of(&stored.line);
                let is_after = |stored: &StoredLine| after.is_none_or(|after| place(stored) > *after);
                let found = records.lines.values();
                Ok(first_by(
                    found.filter(|stored| is_wanted(stored, filter) && is_after(stored)),
                    place,
                    limit,
                ))
            })
            .await
    }

    async fn line_sums(&self, from: NaiveDate, until: NaiveDate) -> Result<Vec<LineSum>, StoreError> {
        self.0.read("line_sums", |records| Ok(sums(records, from, until))).await
    }

    async fn claim_run(&self, claim: &RunClaim) -> Result<bool, StoreError> {
        self.0
            .change("claim_run", |records| {
                let run = (claim.source.clone(), claim.day);
                let is_free = records.runs.get(&run).is_none_or(|(known, is_done)| {
                    !is_done && (known.until <= claim.now || known.node == claim.node)
                });
                if is_free {
                    records.runs.insert(run, (claim.clone(), false));
                }
                Ok(is_free)
            })
            .await
    }

    async fn finish_run(&self, claim: &RunClaim) -> Result<(), StoreError> {
        self.0
            .change("finish_run", |records| {
                let run = records.runs.get_mut(&(claim.source.clone(), claim.day));
                if let Some((_, is_done)) = run.filter(|(known, _)| known.node == claim.node) {
                    *is_done = true;
                }
                Ok(())
            })
            .await
    }

    async fn runs(&self, source: &Source, from: NaiveDate, until: NaiveDate) -> Result<Vec<Run>, StoreError> {
        self.0
            .read("runs", |records| {
                let days = (source.clone(), from)..=(source.clone(), until);
                let runs = records.runs.range(days);
                Ok(runs
                    .map(|((_, day), (_, is_finished))| Run { day: *day, is_finished: *is_finished })
                    .collect())
            })
            .await
    }

    async fn payments_numbered(
        &self,
        mode: Mode,
        number: &SlipNumber,
        limit: usize,
    ) -> Result<Vec<TransactionId>, StoreError> {
        let has_it = |payment: &Payment| {
            let (ours, document) = slip_numbers_of(payment);
            [ours, document].into_iter().flatten().any(|known| known == *number)
        };
        self.0
            .read("payments_numbered", |records| {
                let of_mode = records.payments.values().filter(|payment| payment.owner.mode == mode);
                let found = of_mode.filter(|payment| has_it(payment));
                Ok(found.take(limit).map(|payment| payment.id).collect())
            })
            .await
    }

    async fn paid_between(
        &self,
        mode: Mode,
        period: Period,
        after: Option<PaidPlace>,
        limit: usize,
    ) -> Result<Vec<PaidPlace>, StoreError> {
        self.0
            .read("paid_between", |records| {
                let of_mode = records.payments.values().filter(|payment| payment.owner.mode == mode);
                let places = of_mode
                    .filter_map(|payment| Some(PaidPlace { at: payment.state.paid_at?, id: payment.id }));
                let is_wanted = |place: &PaidPlace| {
                    (period.from..period.until).contains(&place.at)
                        && after.is_none_or(|after| *place > after)
                };
                let mut places: Vec<_> = places.filter(is_wanted).collect();
                places.sort_unstable();
                places.truncate(limit);
                Ok(places)
            })
            .await
    }
}

fn is_wanted(stored: &StoredLine, filter: &LineFilter) -> bool {
    let line = &stored.line;
    line.source == filter.source
        && (filter.from..=filter.until).contains(&line.day)
        && (filter.verdict.is_none() || stored.verdict() == filter.verdict)
}

fn sums(records: &Records, from: NaiveDate, until: NaiveDate) -> Vec<LineSum> {
    let mut sums: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    let days = records.lines.values().filter(|stored| (from..=until).contains(&stored.line.day));
    for (stored, verdict) in days.filter_map(|stored| Some((stored, stored.verdict()?))) {
        let sum = sums.entry((stored.line.day, stored.line.source.clone(), verdict)).or_default();
        *sum = (sum.0.saturating_add(1), sum.1.saturating_add(stored.line.gross.cents()));
    }
    let told = sums.into_iter().map(|((day, source, verdict), (count, gross_cents))| LineSum {
        day,
        source,
        verdict,
        count,
        gross_cents,
    });
    told.collect()
}
