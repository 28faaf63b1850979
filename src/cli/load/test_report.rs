//! Report for tests.

use super::board::Board;
use super::circumstances::Circumstances;
use super::ledger::Ledger;
use super::limits::Limits;
use super::report::{Course, LoadReport, Plan};
use super::service_metrics::ServiceBuild;

/// Returns the report of a run in which nothing happened.
pub(super) fn empty_report() -> LoadReport {
    let board = Board::new(Ledger::new(0), 1).unwrap();
    let course =
        Course { elapsed_ms: 1_000, received: 0, own_cost: None, limits: Limits::default(), stopped: None };
    let circumstances = Circumstances::now(ServiceBuild::default(), None);
    LoadReport::new(Plan::default(), circumstances, &board, course, &[])
}
