//! Reads the created payments back.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use crate::address::Target;
use crate::connection::Connection;
use crate::{book, outcome};

/// Maximum number of misses that are printed individually.
const TOLD: usize = 10;
/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options of the check: what must be there.
#[derive(Args)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    target: Target,
    /// Files with the ids; all of them must be found.
    #[arg(required = true)]
    ids: Vec<PathBuf>,
    /// The status that each of them must have.
    #[arg(long)]
    status: Option<String>,
    /// Each of them must have a code to pay with.
    #[arg(long)]
    with_code: bool,
    /// Connections.
    #[arg(long, default_value_t = 64)]
    connections: usize,
}

/// The fields that matter here.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "transactionId", alias = "_id")]
    id: Uuid,
    status: &'a str,
    #[serde(borrow)]
    pix: Option<Pix<'a>>,
}

#[derive(Deserialize)]
struct Pix<'a> {
    code: &'a str,
}

/// Properties that a record must have.
struct Wanted {
    status: Option<String>,
    code: bool,
}

struct Check {
    target: Target,
    wanted: Wanted,
    left: RefCell<Vec<Uuid>>,
    misses: RefCell<Vec<String>>,
}

/// Reads the payments, and prints missing ones. The exit code is 1 if any is missing.
///
/// # Errors
/// Fails if the service can't be reached.
pub(crate) async fn run(options: CheckOptions) -> anyhow::Result<ExitCode> {
    let mut ids = Vec::new();
    for path in &options.ids {
        ids.extend(book::read(path)?);
    }
    let begun = Instant::now();
    let count = ids.len();
    let left = RefCell::new(ids);
    let misses = RefCell::default();
    let wanted = Wanted { status: options.status, code: options.with_code };
    let check = Rc::new(Check { target: options.target, wanted, left, misses });
    let mut tasks = JoinSet::new();
    for _ in 0..options.connections.min(count) {
        tasks.spawn_local(keep_reading(Rc::clone(&check)));
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let misses = check.misses.borrow();
    let told: Vec<_> = misses.iter().take(TOLD).collect();
    let mut report = json!({ "checked": count, "missed": misses.len(), "misses": told });
    outcome::add(&mut report, u64::try_from(count - misses.len())?, begun.elapsed());
    println!("{report}");
    Ok(if misses.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn keep_reading(check: Rc<Check>) -> anyhow::Result<()> {
    let mut connection = Connection::open(check.target.target).await.context("cannot connect")?;
    let mut reading = check.target.reading();
    loop {
        let Some(id) = check.left.borrow_mut().pop() else { return Ok(()) };
        let answer = timeout(PATIENCE, connection.exchange(reading.of(id))).await??;
        let miss = if answer.status == 200 {
            flaw(connection.body(&answer), id, &check.wanted)
        } else {
            Some(format!("{id}: answered with {}", answer.status))
        };
        check.misses.borrow_mut().extend(miss);
    }
}

/// Returns the fault of an answered record, if it has one.
fn flaw(body: &[u8], id: Uuid, wanted: &Wanted) -> Option<String> {
    let record: Record<'_> = match serde_json::from_slice(body) {
        Ok(record) => record,
        Err(error) => return Some(format!("{id}: {error}")),
    };
    if record.id != id {
        return Some(format!("{id}: answered with {}", record.id));
    }
    if let Some(expected) = wanted.status.as_deref().filter(|expected| record.status != *expected) {
        return Some(format!("{id}: is {}, not {expected}", record.status));
    }
    let has_code = record.pix.is_some_and(|pix| !pix.code.is_empty());
    (wanted.code && !has_code).then(|| format!("{id}: has no code to pay with"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANYTHING: Wanted = Wanted { status: None, code: false };

    #[test]
    fn a_record_has_to_be_the_one_that_was_asked_for_and_have_its_status() {
        let id = Uuid::from_u128(7);
        let record = format!(r#"{{"transactionId":"{id}","status":"paid","amount":"1.00"}}"#);
        let document = format!(r#"{{"_id":"{id}","status":"pending"}}"#);
        let paid = Wanted { status: Some("paid".to_owned()), code: false };
        assert_eq!(flaw(record.as_bytes(), id, &paid), None);
        assert_eq!(flaw(document.as_bytes(), id, &ANYTHING), None);
        assert!(flaw(document.as_bytes(), id, &paid).is_some());
        assert!(flaw(record.as_bytes(), Uuid::from_u128(8), &ANYTHING).is_some());
        assert!(flaw(b"<html>", id, &ANYTHING).is_some());
    }

    #[test]
    fn a_record_has_to_have_a_code_where_one_is_wanted() {
        let id = Uuid::from_u128(7);
        let record = |pix: &str| format!(r#"{{"transactionId":"{id}","status":"pending","pix":{pix}}}"#);
        let wanted = Wanted { status: Some("pending".to_owned()), code: true };
        let flaw_of = |pix: &str| flaw(record(pix).as_bytes(), id, &wanted);
        assert_eq!(flaw_of(r#"{"code":"000201","txid":"a"}"#), None);
        assert!(flaw_of("null").is_some());
        assert!(flaw_of(r#"{"code":""}"#).is_some());
    }
}
