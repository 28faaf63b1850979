//! Lines of lists and files with their verdicts, runs, and payments by external ids.

use async_trait::async_trait;
use bson::{Bson, Document, RawBsonRef, RawDocument, doc};
use chrono::NaiveDate;
use mongodb::options::FindOptions;
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::reconciliation::{
    LineCursor, LineFilter, LineSum, LineVerdict, SlipNumber, Source, StoredLine,
};
use quita_domain::time::Timestamp;
use quita_ports::{PaidPlace, Period, ReconciliationStore, Run, RunClaim, StoreError, WriteError};
use serde::Serialize;

use super::failure::{LIST_TIME_OUT, within_time};
use super::indexes::{
    BY_DOCUMENT_NUMBER, BY_ID, BY_OUR_NUMBER, BY_VERDICT, LINES, OF_SOURCE, PAID, PAID_AT, RUNS, SUMMED,
    named,
};
use super::payments::read_id;
use super::reading::{aggregate, binary, find_all, value_in};
use super::{MongoStore, batch};
use quita_stored_form::rules::{end_of_lines, unknown_word};
use quita_stored_form::{AsDocument, merged, signed, signed_limit, unsigned};

/// A line as it is stored: the indexed fields, and the whole line.
#[derive(Serialize)]
struct LineDocument<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    source: &'a str,
    day: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    gross: i64,
    line: AsDocument<'a, StoredLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<i64>,
}

/// A statement that replaces the line with its id.
#[derive(Serialize)]
struct LineStatement<'a> {
    q: LineById<'a>,
    u: LineDocument<'a>,
    upsert: bool,
}

#[derive(Serialize)]
struct LineById<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
}

impl<'a> LineStatement<'a> {
    fn of(stored: &'a StoredLine, form: Option<i64>) -> Self {
        let line = &stored.line;
        let u = LineDocument {
            id: &line.id,
            source: line.source.as_str(),
            day: line.day.to_string(),
            verdict: stored.verdict().map(LineVerdict::as_str),
            gross: signed(line.gross.cents()),
            line: AsDocument(stored),
            form,
        };
        Self { q: LineById { id: &line.id }, u, upsert: true }
    }
}

/// A claim as it is stored.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredClaim {
    #[serde(rename = "_id")]
    id: Document,
    node: bson::Uuid,
    lease_until: i64,
}

#[async_trait]
impl ReconciliationStore for MongoStore {
    async fn put_lines(&self, lines: &[StoredLine]) -> Result<(), StoreError> {
        let form = self.form.stamp();
        let command = |part: &[StoredLine]| {
            batch::update(LINES, part.iter().map(|line| LineStatement::of(line, form)).collect())
        };
        for outcome in batch::run(&self.database, lines, command).await {
            match outcome {
                // Another node is inserting the same line at this moment.
                Ok(()) | Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => {}
                Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => return Err(error),
            }
        }
        Ok(())
    }

    async fn lines_with_ids(&self, ids: &[String]) -> Result<Vec<StoredLine>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let options = FindOptions::builder().hint(named(BY_ID)).build();
        find_all(&self.collection(LINES), doc! { "_id": { "$in": ids } }, options, read_line).await
    }

    async fn lines_beginning(&self, beginning: &str, limit: usize) -> Result<Vec<StoredLine>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let ids = doc! { "$gte": beginning, "$lt": end_of_lines(beginning) };
        let options =
            FindOptions::builder().sort(doc! { "_id": 1 }).limit(signed_limit(limit)).hint(named(BY_ID));
        find_all(&self.collection(LINES), doc! { "_id": ids }, options.build(), read_line).await
    }

    async fn lines(
        &self,
        filter: &LineFilter,
        after: Option<&LineCursor>,
        limit: usize,
    ) -> Result<Vec<StoredLine>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (query, index) = of_lines(filter, after);
        let options = FindOptions::builder()
            .sort(doc! { "day": 1, "_id": 1 })
            .limit(signed_limit(limit))
            .max_time(LIST_TIME_OUT)
            .hint(named(index));
        find_all(&self.collection(LINES), query, options.build(), read_line).await
    }

    async fn line_sums(&self, from: NaiveDate, until: NaiveDate) -> Result<Vec<LineSum>, StoreError> {
        let verdicts: Vec<_> = LineVerdict::ALL.map(LineVerdict::as_str).into();
        let days = doc! { "$gte": from.to_string(), "$lte": until.to_string() };
        let of_days = doc! { "$match": { "day": days, "verdict": { "$in": verdicts } } };
        let kind = doc! { "day": "$day", "source": "$source", "verdict": "$verdict" };
        let sums = doc! { "_id": kind, "count": { "$sum": 1_i64 }, "gross": { "$sum": "$gross" } };
        let sorted = doc! { "$sort": { "_id.day": 1, "_id.source": 1, "_id.verdict": 1 } };
        let pipeline = vec![of_days, doc! { "$group": sums }, sorted];
        aggregate(&self.collection(LINES), pipeline, SUMMED).await?.iter().map(read_sum).collect()
    }

    async fn claim_run(&self, claim: &RunClaim) -> Result<bool, StoreError> {
        let id = run_of(claim);
        let node = binary(claim.node);
        let lease_until = claim.until.millis();
        let new = StoredClaim { id: id.clone(), node, lease_until };
        if self.insert_one(RUNS, &new).await? {
            return Ok(true);
        }
        // A node that died during a run loses it when its lease ends. The node that holds the lease may extend it at
        // any time.
        let is_over = doc! { "leaseUntil": { "$lte": claim.now.millis() } };
        let free = doc! { "_id": id, "finishedAt": Bson::Null, "$or": [is_over, { "node": node }] };
        let change = doc! { "$set": { "node": node, "leaseUntil": lease_until } };
        let claimed = within_time(self.collection(RUNS).update_one(free, self.form.with(change))).await?;
        Ok(claimed.matched_count == 1)
    }

    async fn finish_run(&self, claim: &RunClaim) -> Result<(), StoreError> {
        // A node that lost its lease must not end the run that the new holder is making.
        let own = doc! { "_id": run_of(claim), "node": binary(claim.node), "finishedAt": Bson::Null };
        let change = doc! { "$set": { "finishedAt": claim.now.millis() } };
        within_time(self.collection(RUNS).update_one(own, self.form.with(change))).await.map(drop)
    }

    async fn runs(&self, source: &Source, from: NaiveDate, until: NaiveDate) -> Result<Vec<Run>, StoreError> {
        let days = doc! { "$gte": run_id(source, from), "$lte": run_id(source, until) };
        let options = FindOptions::builder().sort(doc! { "_id": 1 }).hint(named(BY_ID)).build();
        find_all(&self.collection(RUNS), doc! { "_id": days }, options, read_run).await
    }

    async fn payments_numbered(
        &self,
        mode: Mode,
        number: &SlipNumber,
        limit: usize,
    ) -> Result<Vec<TransactionId>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (field, index) = match number {
            SlipNumber::Ours(_) => ("ourNumber", BY_OUR_NUMBER),
            SlipNumber::Document(_) => ("documentNumber", BY_DOCUMENT_NUMBER),
        };
        let options = FindOptions::builder()
            .projection(doc! { "_id": 1 })
            .limit(signed_limit(limit))
            .hint(named(index));
        let query = doc! { field: number.as_str(), "mode": mode.as_str() };
        Ok(merged(self.find_in_both(query, options.build(), read_id).await?, |id| *id, limit))
    }

    async fn paid_between(
        &self,
        mode: Mode,
        period: Period,
        after: Option<PaidPlace>,
        limit: usize,
    ) -> Result<Vec<PaidPlace>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let options = FindOptions::builder()
            .projection(doc! { "_id": 1, PAID_AT: 1 })
            .sort(doc! { PAID_AT: 1, "_id": 1 })
            .limit(signed_limit(limit))
            .hint(named(PAID));
        let Period { from, until } = period;
        let paid_at = doc! { "$gte": from.millis(), "$lt": until.millis() };
        let mut query = doc! { "mode": mode.as_str(), PAID_AT: paid_at };
        if let Some(PaidPlace { at, id }) = after {
            let at_once = doc! { PAID_AT: at.millis(), "_id": { "$gt": binary(id.uuid()) } };
            let later = doc! { PAID_AT: { "$gt": at.millis() } };
            query.insert(PAID_AT, doc! { "$gte": from.max(at).millis(), "$lt": until.millis() });
            query.insert("$or", vec![at_once, later]);
        }
        Ok(merged(self.find_in_both(query, options.build(), read_paid).await?, |place| *place, limit))
    }
}

fn run_of(claim: &RunClaim) -> Document {
    run_id(&claim.source, claim.day)
}

/// Returns the id of a run. In the order of ids, the runs of one source are together, sorted by day.
fn run_id(source: &Source, day: NaiveDate) -> Document {
    doc! { "source": source.as_str(), "day": day.to_string() }
}

fn read_run(found: &RawDocument) -> Result<Run, StoreError> {
    let unreadable = |_| unknown_word("run");
    let day = found.get_document("_id").and_then(|id| id.get_str("day")).map_err(unreadable)?;
    let finished_at = found.get("finishedAt").map_err(|_| unknown_word("run"))?;
    Ok(Run {
        day: day.parse().map_err(|_| unknown_word("day"))?,
        is_finished: finished_at.is_some_and(|at| at != RawBsonRef::Null),
    })
}

fn of_lines(filter: &LineFilter, after: Option<&LineCursor>) -> (Document, &'static str) {
    let mut query = doc! { "source": filter.source.as_str() };
    if let Some(verdict) = filter.verdict {
        query.insert("verdict", verdict.as_str());
    }
    let mut from = filter.from;
    if let Some(LineCursor { day, id }) = after {
        from = from.max(*day);
        let day = day.to_string();
        let at_once = doc! { "day": &day, "_id": { "$gt": id } };
        query.insert("$or", vec![at_once, doc! { "day": { "$gt": day } }]);
    }
    query.insert("day", doc! { "$gte": from.to_string(), "$lte": filter.until.to_string() });
    (query, if filter.verdict.is_some() { BY_VERDICT } else { OF_SOURCE })
}

fn read_line(found: &RawDocument) -> Result<StoredLine, StoreError> {
    value_in(found, "line")
}

fn read_paid(found: &RawDocument) -> Result<PaidPlace, StoreError> {
    let id = read_id(found)?;
    let unreadable = || StoreError::Unreadable(format!("the paidAt of payment {id}"));
    let state = found.get_document("payment").and_then(|payment| payment.get_document("state"));
    let at = state.and_then(|state| state.get_i64("paidAt")).map_err(|_| unreadable())?;
    Ok(PaidPlace { at: Timestamp::from_millis(at), id })
}

fn read_sum(found: &Document) -> Result<LineSum, StoreError> {
    let wrong = |_| unknown_word("sum");
    let kind = found.get_document("_id").map_err(wrong)?;
    let text = |field| kind.get_str(field).map_err(wrong);
    Ok(LineSum {
        day: text("day")?.parse().map_err(|_| unknown_word("day"))?,
        source: Source::stored(text("source")?),
        verdict: LineVerdict::parse(text("verdict")?).ok_or_else(|| unknown_word("verdict"))?,
        count: unsigned(found.get_i64("count").map_err(wrong)?),
        gross_cents: unsigned(found.get_i64("gross").map_err(wrong)?),
    })
}
