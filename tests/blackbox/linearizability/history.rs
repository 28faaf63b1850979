//! Timed history of clients' requests and answers, and the search for an order that explains it.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use super::model::{Model, Step, View};

/// States after which a search is given up: a history this hard is too long, not wrong.
const MOST_STATES: usize = 3_000_000;

/// One operation.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) client: usize,
    /// Time of the call, in nanoseconds of the history.
    pub(crate) called: u64,
    /// Time of the answer; `None` if the effect may come any time later.
    pub(crate) answered: Option<u64>,
    /// Request and answer as text, for people.
    pub(crate) told: String,
    /// Steps that it took, in order.
    pub(crate) steps: Vec<Step>,
    /// True if it may have done nothing at all.
    pub(crate) is_optional: bool,
}

/// All operations on one payment.
#[derive(Debug, Clone, Default)]
pub(crate) struct History(pub(crate) Vec<Operation>);

impl History {
    /// Checks that some order of the steps, each between its call and its answer, explains every answer.
    ///
    /// # Errors
    /// Reason why none is found.
    pub(crate) fn check(&self, model: Model) -> Result<(), String> {
        self.check_versions()?;
        let mut search = Search { operations: &self.0, seen: HashSet::new() };
        match search.goes_on(vec![0; self.0.len()], model) {
            Some(true) => Ok(()),
            Some(false) => Err(format!("no order explains it ({} states tried)", search.seen.len())),
            None => Err(format!("given up after {MOST_STATES} states: shorten the histories")),
        }
    }

    /// One version is one record, whichever client asks whichever node.
    fn check_versions(&self) -> Result<(), String> {
        let mut views: BTreeMap<u64, &View> = BTreeMap::new();
        let steps = self.0.iter().flat_map(|operation| &operation.steps);
        for step in steps {
            let Step::See(view) = step else { continue };
            let known = views.entry(view.version).or_insert(view);
            if *known != view {
                return Err(format!("version {} is two records: {known:?} and {view:?}", view.version));
            }
        }
        Ok(())
    }
}

/// The search of Wing and Gong, with Lowe's memory of what was tried.
struct Search<'a> {
    operations: &'a [Operation],
    /// States that were tried: the progress of every operation, and the payment.
    seen: HashSet<(Vec<u8>, Model)>,
}

impl Search<'_> {
    /// Returns true if the rest can be explained from here; `None` if that takes too long to tell.
    fn goes_on(&mut self, done: Vec<u8>, model: Model) -> Option<bool> {
        let is_open = |(operation, done): &(&Operation, &u8)| usize::from(**done) < operation.steps.len();
        let open = self.operations.iter().zip(&done).filter(is_open);
        let mut must = open.clone().filter(|(operation, _)| !operation.is_optional).peekable();
        if must.peek().is_none() {
            return Some(true);
        }
        if self.seen.len() > MOST_STATES {
            return None;
        }
        if !self.seen.insert((done.clone(), model.clone())) {
            return Some(false);
        }
        // What was answered first must have happened before anything that was called after that.
        let end = must.filter_map(|(operation, _)| operation.answered).min().unwrap_or(u64::MAX);
        for (index, operation) in self.operations.iter().enumerate() {
            let Some(step) = operation.steps.get(usize::from(done[index])) else { continue };
            if operation.called > end {
                continue;
            }
            for next in model.after(step) {
                let mut done = done.clone();
                done[index] += 1;
                if self.goes_on(done, next)? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut operations: Vec<_> = self.0.iter().collect();
        operations.sort_by_key(|operation| operation.called);
        writeln!(f, "{:>10} {:>10}  client", "called/us", "answered")?;
        for Operation { client, called, answered, told, .. } in operations {
            let answered = answered.map_or("-".into(), |answered| (answered / 1_000).to_string());
            writeln!(f, "{:>10} {answered:>10}  {client}  {told}", called / 1_000)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linearizability::model::RequestedOperation;

    const TOTAL: u64 = 10_027;

    fn operation(called: u64, answered: u64, steps: &[Step]) -> Operation {
        let told = format!("{steps:?}");
        Operation {
            client: 0,
            called,
            answered: Some(answered),
            told,
            steps: steps.to_vec(),
            is_optional: false,
        }
    }

    fn lost(called: u64, step: Step) -> Operation {
        Operation { answered: None, is_optional: true, ..operation(called, 0, &[step]) }
    }

    fn view(status: &str, version: u64, refunds: &[(&str, u64, bool)]) -> Step {
        let refunded = refunds.iter().filter(|refund| refund.2).map(|refund| refund.1).sum();
        let refunds = refunds.iter().map(|(id, amount, ok)| ((*id).to_owned(), *amount, *ok)).collect();
        let captured = (!["pending", "cancelled", "expired"].contains(&status)).then_some(TOTAL);
        Step::See(View { status: status.into(), version, captured, refunded, refunds })
    }

    fn created(called: u64, answered: u64, replayed: bool) -> Operation {
        operation(called, answered, &[Step::Create { replayed }, view("pending", 1, &[])])
    }

    fn paid(called: u64) -> Operation {
        lost(called, Step::Notice(RequestedOperation::Pay))
    }

    fn refunded(called: u64, answered: u64, id: &str, amount: u64, key: Option<u8>) -> Operation {
        operation(called, answered, &[Step::Refund { id: Some(id.into()), amount: Some(amount), key }])
    }

    fn check(operations: &[Operation]) -> Result<(), String> {
        History(operations.to_vec()).check(Model::new("pending", TOTAL))
    }

    #[track_caller]
    fn accept(operations: &[Operation]) {
        assert_eq!(check(operations), Ok(()));
    }

    #[track_caller]
    fn refuse(operations: &[Operation]) {
        assert!(check(operations).is_err_and(|why| !why.contains("given up")), "{operations:#?}");
    }

    #[test]
    fn operations_one_after_the_other_are_explained() {
        accept(&[
            created(0, 1, false),
            paid(2),
            operation(4, 5, &[view("paid", 2, &[])]),
            refunded(6, 7, "a", 27, None),
            operation(8, 9, &[view("paid", 3, &[("a", 27, false)])]),
            operation(10, 11, &[view("paid", 4, &[("a", 27, true)])]),
            refunded(12, 13, "b", 10_000, None),
            operation(14, 15, &[view("refund", 6, &[("a", 27, true), ("b", 10_000, true)])]),
            operation(
                16,
                17,
                &[Step::Refused { requested: RequestedOperation::Refund, status: "refund".into() }],
            ),
        ]);
    }

    #[test]
    fn what_overlaps_may_have_happened_in_either_order() {
        for version in [1, 2] {
            let status = if version == 1 { "pending" } else { "cancelled" };
            accept(&[
                created(0, 1, false),
                operation(2, 9, &[Step::Cancel]),
                operation(3, 4, &[view(status, version, &[])]),
                operation(10, 11, &[view("cancelled", 2, &[])]),
            ]);
        }
    }

    #[test]
    fn a_lost_answer_may_have_happened_or_not() {
        let nameless = Step::Refund { id: None, amount: Some(27), key: None };
        let begin =
            [created(0, 1, false), paid(2), operation(4, 5, &[view("paid", 2, &[])]), lost(6, nameless)];
        for (version, refunds) in [(2, &[][..]), (3, &[("a", 27, false)])] {
            accept(&[&begin[..], &[operation(7, 8, &[view("paid", version, refunds)])]].concat());
        }
        refuse(&[&begin[..], &[operation(7, 8, &[view("paid", 3, &[("a", 28, false)])])]].concat());
        refuse(&[&begin[..], &[operation(3, 5, &[view("paid", 3, &[("a", 27, false)])])]].concat());
    }

    #[test]
    fn a_stale_read_after_a_write_is_refused() {
        let begin = [created(0, 1, false), operation(2, 3, &[Step::Cancel])];
        refuse(&[&begin[..], &[operation(4, 5, &[view("pending", 1, &[])])]].concat());
        accept(&[&begin[..], &[operation(4, 5, &[view("cancelled", 2, &[])])]].concat());
    }

    #[test]
    fn two_reads_that_see_time_run_backwards_are_refused() {
        let reads = [operation(4, 5, &[view("paid", 2, &[])]), operation(6, 7, &[view("pending", 1, &[])])];
        refuse(&[&[created(0, 1, false), paid(2)][..], &reads].concat());
    }

    #[test]
    fn refunds_of_more_than_was_paid_are_refused() {
        let begin = [created(0, 1, false), paid(2), refunded(4, 9, "a", 6_000, None)];
        refuse(&[&begin[..], &[refunded(4, 9, "b", 4_028, None)]].concat());
        accept(&[&begin[..], &[refunded(4, 9, "b", 4_027, None)]].concat());
        accept(&[&begin[..], &[operation(4, 9, &[Step::TooMuch(Some(4_028))])]].concat());
        refuse(&[&begin[..], &[operation(4, 9, &[Step::TooMuch(Some(4_027))])]].concat());
    }

    #[test]
    fn a_lost_refund_is_refused() {
        refuse(&[
            created(0, 1, false),
            paid(2),
            refunded(4, 5, "a", 27, None),
            operation(6, 7, &[view("paid", 3, &[])]),
        ]);
    }

    #[test]
    fn a_refund_that_nobody_asked_for_is_refused() {
        refuse(&[created(0, 1, false), paid(2), operation(6, 7, &[view("paid", 3, &[("a", 1, false)])])]);
    }

    #[test]
    fn two_payments_under_one_key_are_refused() {
        refuse(&[created(0, 5, false), created(1, 6, false)]);
        accept(&[created(0, 5, false), created(1, 6, true)]);
        refuse(&[created(4, 5, false), created(1, 2, true)]);
    }

    #[test]
    fn two_refunds_under_one_key_are_refused() {
        let begin = [created(0, 1, false), paid(2), refunded(4, 5, "a", 27, Some(1))];
        let again = |id: &str| operation(6, 7, &[Step::RefundAgain { id: id.into(), key: 1 }]);
        refuse(&[&begin[..], &[refunded(6, 7, "b", 27, Some(1))]].concat());
        refuse(&[&begin[..], &[again("b")]].concat());
        accept(&[&begin[..], &[again("a")]].concat());
    }

    #[test]
    fn two_charges_are_refused() {
        let created = operation(0, 1, &[Step::Create { replayed: false }]);
        let captures = |amount| operation(2, 9, &[Step::Capture(amount)]);
        let check =
            |operations: &[Operation]| History(operations.to_vec()).check(Model::new("approved", TOTAL));
        assert!(check(&[created.clone(), captures(27), captures(27)]).is_err());
        assert!(check(&[created.clone(), captures(27), operation(2, 9, &[Step::Cancel])]).is_err());
        assert_eq!(check(&[created, captures(27)]), Ok(()));
    }

    #[test]
    fn one_version_with_two_records_is_refused() {
        let same = [operation(4, 9, &[view("paid", 2, &[])]), operation(4, 9, &[view("cancelled", 2, &[])])];
        let begin = [created(0, 1, false), paid(2), lost(2, Step::Cancel)];
        refuse(&[&begin[..], &same].concat());
    }

    #[test]
    fn a_refusal_that_the_status_does_not_explain_is_refused() {
        let refused = |status: &str| {
            operation(4, 5, &[Step::Refused { requested: RequestedOperation::Cancel, status: status.into() }])
        };
        refuse(&[created(0, 1, false), refused("pending")]);
        refuse(&[created(0, 1, false), refused("paid")]);
        accept(&[created(0, 1, false), paid(2), refused("paid")]);
    }

    #[test]
    fn a_history_is_printed_as_a_table() {
        let table = History(vec![created(2_000, 3_000, true), created(0, 1_000, false)]).to_string();
        let rows: Vec<_> = table.lines().collect();
        assert_eq!(rows.len(), 3);
        assert!(rows[1].contains("replayed: false") && rows[2].contains("replayed: true"), "{table}");
    }
}
