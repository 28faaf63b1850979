//! One run, from the first payment to the last answer about one.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;

use super::circumstances::Circumstances;
use super::interrupts::{Interrupt, Interrupts};
use super::limits::{Limits, Sample};
use super::measures::millis;
use super::merchant::Merchant;
use super::own_cost::{OwnCost, cpu_us};
use super::plan::Pace;
use super::report::{Course, Plan, Report};
use super::threshold::Threshold;
use super::{pace, progress, settle};

/// A run that can begin.
pub(super) struct Run {
    /// Makes the payments.
    pub(super) merchant: Rc<Merchant>,
    /// Time at which it makes them.
    pub(super) pace: Pace,
    /// Time for which it makes them.
    pub(super) duration: Duration,
    /// Time that events may take to arrive, after the last payment.
    pub(super) settle: Duration,
    /// Address of the service's metrics.
    pub(super) metrics: Option<Url>,
    /// A look at everything before the run.
    pub(super) before: Sample,
    /// Circumstances in which it is made.
    pub(super) circumstances: Circumstances,
}

/// End of a run.
#[derive(Debug)]
pub(super) enum Ended {
    /// By itself.
    Whole,
    /// By a signal.
    Interrupted(Interrupt),
    /// By a refusal that every further request would meet too.
    Refused(String),
}

/// Notes of the time when no more payments were made.
#[derive(Debug)]
struct Made {
    elapsed_ms: u64,
    sample: Sample,
}

impl Run {
    /// Runs until all is done, a signal comes or no further request can succeed; and draws the balance.
    pub(super) async fn run_to_its_end(
        self,
        plan: Plan,
        thresholds: &[Threshold],
        interrupts: &mut Interrupts,
    ) -> (Ended, Report) {
        let board = Arc::clone(&self.merchant.board);
        let cpu_before = cpu_us();
        let progress = actix_web::rt::spawn(progress::show(Arc::clone(&board), self.duration));
        let mut made = None;
        let mut own_cost = None;
        let ended = tokio::select! {
            () = self.every_phase(&mut made, &mut own_cost, cpu_before) => Ended::Whole,
            signal = interrupts.next() => Ended::Interrupted(signal),
            cause = self.merchant.refusal.wait() => Ended::Refused(cause),
        };
        progress.abort();
        progress::end();
        let made = match made {
            Some(made) => made,
            None => self.made().await,
        };
        let payments = u64::try_from(board.ledger().payments()).unwrap_or(u64::MAX);
        let course = Course {
            elapsed_ms: made.elapsed_ms,
            own_cost: own_cost.or_else(|| self.own_cost(cpu_before)),
            limits: Limits::between(&self.before, &made.sample, self.metrics.as_ref(), payments),
            stopped: match &ended {
                Ended::Whole => None,
                Ended::Interrupted(Interrupt::Interrupt) => Some("by Ctrl-C".into()),
                Ended::Interrupted(Interrupt::Terminate) => Some("by SIGTERM".into()),
                Ended::Refused(cause) => Some(cause.clone()),
            },
        };
        let report = Report::new(plan, self.circumstances, &board, course, thresholds);
        (ended, report)
    }

    /// Makes payments, waits for their events, asks how each ended, and about events that are missing.
    async fn every_phase(
        &self,
        made: &mut Option<Made>,
        own_cost: &mut Option<OwnCost>,
        cpu_before: Option<u64>,
    ) {
        pace::run(self.pace.clone(), self.duration, Rc::clone(&self.merchant)).await;
        let deadline = Instant::now() + self.settle;
        *made = Some(self.made().await);
        settle::wait(&self.merchant.board, deadline).await;
        // The questions that follow are no part of the load.
        *own_cost = self.own_cost(cpu_before);
        progress::end_slice(&self.merchant.board);
        settle::check(&self.merchant, deadline).await;
        settle::trace(&self.merchant).await;
    }

    async fn made(&self) -> Made {
        let elapsed_ms = millis(self.merchant.board.start.elapsed());
        Made { elapsed_ms, sample: Sample::take(self.metrics.as_ref()).await }
    }

    fn own_cost(&self, cpu_before: Option<u64>) -> Option<OwnCost> {
        let requests = {
            let measures = self.merchant.board.measures();
            measures.count(|_, _| true) + measures.webhooks.received
        };
        OwnCost::between(cpu_before, cpu_us(), requests)
    }
}
