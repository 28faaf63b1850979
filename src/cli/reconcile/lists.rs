//! Acquirer's list that is to be compared.

use std::sync::Arc;

use chrono::{Days, Months, NaiveDate};
use quita_domain::identity::Mode;
use quita_domain::reconciliation::StoredLine;
use quita_ports::Clock;
use quita_services::reconciliation::{List, Reconciler};

use super::super::failure::Failure;
use super::super::output;
use super::failed;
use super::line_printer::{LinePrinter, RunHeader};
use crate::acquirers::{Link, Site};
use quita_config::Config;

/// List, and the days to compare.
pub(super) struct ListComparison {
    list: List,
    from: NaiveDate,
    until: NaiveDate,
}

impl ListComparison {
    /// Finds the list of a configured acquirer.
    ///
    /// # Errors
    /// Fails with wrong usage if there is no such acquirer, it has no list, or the range of days is invalid.
    pub(super) fn of(
        config: &Config,
        clock: &Arc<dyn Clock>,
        name: &str,
        since: Option<NaiveDate>,
        until: Option<NaiveDate>,
    ) -> Result<Self, Failure> {
        let acquirer = config.acquirers.iter().find(|acquirer| acquirer.spec.name.as_str() == name);
        let acquirer = acquirer.ok_or_else(|| {
            let names: Vec<_> = config.acquirers.iter().map(|known| known.spec.name.as_str()).collect();
            Failure::usage(format!("There is no acquirer {name:?}; configured are: {}.", names.join(", ")))
        })?;
        let today = clock.now().sao_paulo_date();
        let until = until.unwrap_or_else(|| today.checked_sub_days(Days::new(1)).unwrap_or(today));
        let from = since.unwrap_or(until);
        if from > until || until > today {
            return Err(Failure::usage(format!(
                "There are no days from {from} until {until} that have begun."
            )));
        }
        let link = Link::open(acquirer, &Site::of(config), clock)
            .map_err(|error| Failure::failed(format!("{error:#}")))?;
        let reader = link.factory().lists().ok_or_else(|| {
            Failure::usage(format!("{name} has no lists: its payments are queried one by one."))
        })?;
        if let Some(months) = reader.history_months()
            && let Some(first) = today.checked_sub_months(Months::new(months))
            && from < first
        {
            return Err(Failure::usage(format!(
                "{name} lists {months} months back: begin with --since {first} or later."
            )));
        }
        let list = List {
            acquirer: acquirer.spec.name.clone(),
            reader,
            rate: acquirer.spec.rate,
            mode: acquirer.spec.mode,
        };
        Ok(Self { list, from, until })
    }

    /// Returns the mode of the acquirer.
    pub(super) const fn mode(&self) -> Mode {
        self.list.mode
    }

    pub(super) async fn reconcile(
        &self,
        reconciler: &Reconciler,
        json: bool,
    ) -> Result<LinePrinter, Failure> {
        let Self { list, from, until, .. } = self;
        let head = RunHeader { source: list.acquirer.as_str().to_owned(), days: Some((*from, *until)) };
        let mut printer = LinePrinter::new(head, json);
        let mut tell = |line: &StoredLine| printer.line(line);
        let elsewhere = reconciler.reconcile_list(list, *from, *until, &mut tell).await.map_err(failed)?;
        printer.end().map_err(failed)?;
        if elsewhere > 0 {
            output::note(&format!(
                "{elsewhere} more of the list's lines are not shown: they were compared with the days beside these."
            ));
        }
        Ok(printer)
    }
}
