//! Lines of lists and files with their verdicts, runs, and payments by external ids.

use async_trait::async_trait;
use chrono::NaiveDate;
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::reconciliation::{
    LineCursor, LineFilter, LineSum, LineVerdict, SlipNumber, Source, StoredLine,
};
use quita_domain::time::Timestamp;
use quita_ports::{PaidPlace, Period, ReconciliationStore, Run, RunClaim, StoreError};
use rusqlite::types::Value;
use rusqlite::{Row, Transaction, params_from_iter};
use uuid::Uuid;

use super::EmbeddedStore;
use super::archive::read_both;
use super::failure::Failure;
use super::page_query::PageQuery;
use super::reading::find_all;
use quita_stored_form::rules::{end_of_lines, unknown_word};
use quita_stored_form::turns::Lister;
use quita_stored_form::{encode, merged, signed, signed_limit, unsigned};

const PUT: &str = "INSERT INTO statement_lines (id, source, day, verdict, gross, line) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE SET source = excluded.source, day = excluded.day, \
    verdict = excluded.verdict, gross = excluded.gross, line = excluded.line";

const BEGINNING: &str =
    "SELECT id, line FROM statement_lines WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3";

const SUMS: &str = "SELECT day, source, verdict, count(*), sum(gross) FROM statement_lines INDEXED BY \
    statement_lines_by_day WHERE day BETWEEN ?1 AND ?2 AND verdict IS NOT NULL GROUP BY day, source, verdict";

/// Claims a run that nobody has, whose lease is over, or that is the claimer's own.
const CLAIM: &str = "INSERT INTO reconciliation_runs (source, day, node, lease_until) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT (source, day) DO UPDATE SET node = excluded.node, lease_until = excluded.lease_until \
    WHERE finished_at IS NULL AND (lease_until <= ?5 OR node = excluded.node)";

const FINISH: &str = "UPDATE reconciliation_runs SET finished_at = ?4 WHERE source = ?1 AND day = ?2 AND node = ?3 \
    AND finished_at IS NULL";

const RUNS: &str = "SELECT day, finished_at IS NOT NULL FROM reconciliation_runs WHERE source = ?1 \
    AND day BETWEEN ?2 AND ?3 ORDER BY day";

const OURS: &str = "SELECT id FROM payments INDEXED BY payments_by_our_number_in_mode \
    WHERE mode = ?1 AND our_number = ?2 LIMIT ?3";
const DOCUMENT: &str = "SELECT id FROM payments INDEXED BY payments_by_document_number_in_mode \
    WHERE mode = ?1 AND document_number = ?2 LIMIT ?3";

const PAID: &str = "SELECT paid_at, id FROM payments INDEXED BY payments_paid_in_mode \
    WHERE mode = ?1 AND paid_at >= ?2 AND paid_at < ?3 AND (paid_at, id) > (?4, ?5) ORDER BY paid_at, id LIMIT ?6";

#[async_trait]
impl ReconciliationStore for EmbeddedStore {
    async fn put_lines(&self, lines: &[StoredLine]) -> Result<(), StoreError> {
        let mut rows = Vec::with_capacity(lines.len());
        for stored in lines {
            let line = &stored.line;
            let verdict = stored.verdict().map(LineVerdict::as_str);
            let gross = signed(line.gross.cents());
            let id = line.id.clone();
            let source = line.source.as_str().to_owned();
            rows.push((id, source, line.day.to_string(), verdict, gross, encode(stored)?));
        }
        self.write(move |transaction| {
            let mut put = transaction.prepare_cached(PUT)?;
            for row in rows {
                put.execute(row)?;
            }
            Ok(())
        })
        .await
    }

    async fn lines_with_ids(&self, ids: &[String]) -> Result<Vec<StoredLine>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |transaction| {
            let sql = "SELECT id, line FROM statement_lines WHERE id = ?1";
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                found.extend(find_all(transaction, sql, [id], "line")?);
            }
            Ok(found)
        })
        .await
    }

    async fn lines_beginning(&self, beginning: &str, limit: usize) -> Result<Vec<StoredLine>, StoreError> {
        let bounds = (beginning.to_owned(), end_of_lines(beginning), signed_limit(limit));
        self.read(move |transaction| find_all(transaction, BEGINNING, bounds, "line")).await
    }

    async fn lines(
        &self,
        filter: &LineFilter,
        after: Option<&LineCursor>,
        limit: usize,
    ) -> Result<Vec<StoredLine>, StoreError> {
        let PageQuery { sql, values } = of_lines(filter, after, limit);
        let work = move |transaction: &Transaction<'_>| {
            find_all(transaction, &sql, params_from_iter(values), "line")
        };
        self.list(Lister::Operators, work).await
    }

    async fn line_sums(&self, from: NaiveDate, until: NaiveDate) -> Result<Vec<LineSum>, StoreError> {
        self.list(Lister::Operators, move |transaction| {
            let mut statement = transaction.prepare_cached(SUMS)?;
            let mut rows = statement.query((from.to_string(), until.to_string()))?;
            let mut sums = Vec::new();
            while let Some(row) = rows.next()? {
                sums.push(sum(row)?);
            }
            Ok(sums)
        })
        .await
    }

    async fn claim_run(&self, claim: &RunClaim) -> Result<bool, StoreError> {
        let source = claim.source.as_str().to_owned();
        let day = claim.day.to_string();
        let row = (source, day, claim.node.into_bytes(), claim.until.millis(), claim.now.millis());
        // No row changes while another node's lease lasts, or if the day is finished.
        self.write(move |transaction| Ok(transaction.prepare_cached(CLAIM)?.execute(row)? == 1)).await
    }

    async fn finish_run(&self, claim: &RunClaim) -> Result<(), StoreError> {
        let source = claim.source.as_str().to_owned();
        let day = claim.day.to_string();
        let row = (source, day, claim.node.into_bytes(), claim.now.millis());
        // A node that lost its lease must not finish the day: the new holder is still working on it.
        self.write(move |transaction| Ok(transaction.prepare_cached(FINISH)?.execute(row).map(drop)?)).await
    }

    async fn runs(&self, source: &Source, from: NaiveDate, until: NaiveDate) -> Result<Vec<Run>, StoreError> {
        let bounds = (source.as_str().to_owned(), from.to_string(), until.to_string());
        self.read(move |transaction| {
            let mut statement = transaction.prepare_cached(RUNS)?;
            let rows = statement.query_map(bounds, |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
            rows.map(|row| {
                let (day, is_finished) = row?;
                Ok(Run { day: day.parse().map_err(|_| unknown_word("day"))?, is_finished })
            })
            .collect()
        })
        .await
    }

    async fn payments_numbered(
        &self,
        mode: Mode,
        number: &SlipNumber,
        limit: usize,
    ) -> Result<Vec<TransactionId>, StoreError> {
        let sql = match number {
            SlipNumber::Ours(_) => OURS,
            SlipNumber::Document(_) => DOCUMENT,
        };
        let bounds = (mode.as_str(), number.as_str().to_owned(), signed_limit(limit));
        self.read(move |transaction| {
            let found = read_both(transaction, sql, bounds, |row| {
                Ok(TransactionId::new(Uuid::from_bytes(row.get(0)?)))
            })?;
            Ok(merged(found, |id| *id, limit))
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
        self.read(move |transaction| paid(transaction, mode, period, after, limit)).await
    }
}

fn paid(
    transaction: &Transaction<'_>,
    mode: Mode,
    period: Period,
    after: Option<PaidPlace>,
    limit: usize,
) -> Result<Vec<PaidPlace>, Failure> {
    let (after_at, after_id) =
        after.map_or((i64::MIN, Uuid::nil()), |place| (place.at.millis(), place.id.uuid()));
    let from = period.from.millis();
    let until = period.until.millis();
    let bounds = (mode.as_str(), from, until, after_at, after_id.into_bytes(), signed_limit(limit));
    let found = read_both(transaction, PAID, bounds, |row| {
        let id = TransactionId::new(Uuid::from_bytes(row.get(1)?));
        Ok(PaidPlace { at: Timestamp::from_millis(row.get(0)?), id })
    })?;
    Ok(merged(found, |place| *place, limit))
}

/// Returns the query for lines by day and id, along an index in this order.
fn of_lines(filter: &LineFilter, after: Option<&LineCursor>, limit: usize) -> PageQuery {
    let index = match filter.verdict {
        Some(_) => "statement_lines_by_verdict",
        None => "statement_lines_of_source",
    };
    let mut sql = format!("SELECT id, line FROM statement_lines INDEXED BY {index} WHERE source = ?");
    let mut values: Vec<Value> = vec![filter.source.as_str().to_owned().into()];
    if let Some(verdict) = filter.verdict {
        sql.push_str(" AND verdict = ?");
        values.push(verdict.as_str().to_owned().into());
    }
    sql.push_str(" AND day BETWEEN ? AND ?");
    values.extend([filter.from.to_string().into(), filter.until.to_string().into()]);
    if let Some(LineCursor { day, id }) = after {
        sql.push_str(" AND (day, id) > (?, ?)");
        values.extend([day.to_string().into(), id.clone().into()]);
    }
    sql.push_str(" ORDER BY day, id LIMIT ?");
    values.push(signed_limit(limit).into());
    PageQuery { sql, values }
}

fn sum(row: &Row<'_>) -> Result<LineSum, Failure> {
    let (day, source): (String, String) = (row.get(0)?, row.get(1)?);
    let verdict: String = row.get(2)?;
    Ok(LineSum {
        day: day.parse().map_err(|_| unknown_word("day"))?,
        source: Source::stored(&source),
        verdict: LineVerdict::parse(&verdict).ok_or_else(|| unknown_word("verdict"))?,
        count: unsigned(row.get(3)?),
        gross_cents: unsigned(row.get(4)?),
    })
}

#[cfg(test)]
mod tests {
    use super::super::reading::plan;
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn lines_and_payments_are_found_along_an_index_and_nothing_is_sorted() {
        let filter = |verdict| LineFilter {
            source: Source::files_of("341"),
            from: day("2026-11-01"),
            until: day("2026-11-30"),
            verdict,
        };
        let after = LineCursor { day: day("2026-11-02"), id: "x".into() };
        for (verdict, index) in [
            (None, "statement_lines_of_source (source=?"),
            (Some(LineVerdict::Different), "statement_lines_by_verdict (source=? AND verdict=?"),
        ] {
            for after in [None, Some(&after)] {
                let PageQuery { sql, values } = of_lines(&filter(verdict), after, 10);
                plan::check(&sql, params_from_iter(values), index);
            }
        }
        plan::check(SUMS, ("2026-11-01", "2026-11-30"), "COVERING INDEX statement_lines_by_day");
        plan::check(RUNS, ("bank", "2026-11-01", "2026-11-30"), "(source=? AND day>? AND day<?)");
        plan::check(OURS, ("live", "1", 1), "payments_by_our_number_in_mode (our_number=? AND mode=?)");
        plan::check(
            DOCUMENT,
            ("live", "1", 1),
            "payments_by_document_number_in_mode (document_number=? AND mode=?)",
        );
        plan::check(PAID, ("live", 1, 2, 1, vec![0_u8; 16], 1), "payments_paid_in_mode (mode=? AND ");
    }
}
