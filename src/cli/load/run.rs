//! One run, from the first payment to the last check.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;

use super::super::output;
use super::board::Board;
use super::circumstances::Circumstances;
use super::interrupts::{Interrupt, Interrupts};
use super::limits::{Limits, Sample};
use super::measures::millis;
use super::merchant::Merchant;
use super::own_cost::{OwnCost, cpu_us};
use super::plan::Pace;
use super::report::{Course, LoadReport, Plan};
use super::stop::{Stop, StopCause};
use super::threshold::Threshold;
use super::{pace, progress, settle};

/// Time between two ticks of the load tester's own clock.
const TICK: Duration = Duration::from_millis(100);

/// Run that is ready to start.
pub(super) struct Run {
    /// Client that creates the payments.
    pub(super) merchant: Rc<Merchant>,
    /// Model by which payments start.
    pub(super) pace: Pace,
    /// Time for which payments are created.
    pub(super) duration: Duration,
    /// Time that events have to arrive after the last payment.
    pub(super) settle: Duration,
    /// Address of the service's metrics.
    pub(super) metrics: Option<Url>,
    /// Snapshot before the run.
    pub(super) before: Sample,
    /// Circumstances of the run.
    pub(super) circumstances: Circumstances,
}

/// End of a run.
#[derive(Debug)]
pub(super) enum RunEnd {
    /// The run was completed.
    Whole,
    /// A signal ended the run.
    Interrupted(Interrupt),
    /// The run was ended by a refusal that every further request would receive as well.
    Refused(String),
}

impl RunEnd {
    fn cause(&self) -> Option<StopCause> {
        match self {
            Self::Whole => None,
            Self::Interrupted(signal) => Some(StopCause::Interrupt(*signal)),
            Self::Refused(cause) => Some(StopCause::Refusal(cause.clone())),
        }
    }
}

/// Measurements at the time when the last payment was created.
#[derive(Debug)]
struct CreationEnd {
    elapsed_ms: u64,
    received: u64,
    sample: Sample,
}

impl Run {
    /// Runs until everything is done, a signal arrives, or no further request can succeed. Then creates the report.
    pub(super) async fn run_to_its_end(
        self,
        plan: Plan,
        thresholds: &[Threshold],
        mut interrupts: Interrupts,
    ) -> (RunEnd, LoadReport) {
        let board = Arc::clone(&self.merchant.board);
        let cpu_before = cpu_us();
        let progress = actix_web::rt::spawn(progress::show(Arc::clone(&board), self.duration));
        let ticks = actix_web::rt::spawn(tick(Arc::clone(&board)));
        let mut made = None;
        let mut own_cost = None;
        let ended = tokio::select! {
            () = self.every_phase(&mut made, &mut own_cost, cpu_before) => RunEnd::Whole,
            signal = interrupts.next() => RunEnd::Interrupted(signal),
            cause = self.merchant.refusal.wait() => RunEnd::Refused(cause),
        };
        progress.abort();
        ticks.abort();
        progress::end();
        if !matches!(ended, RunEnd::Whole) {
            board.measures().stop(Instant::now());
            progress::end_slice(&board);
        }
        // The following may take a while: the next signal ends the program.
        interrupts.end_at_next();
        if let RunEnd::Interrupted(signal) = &ended {
            output::note(signal.notice());
        }
        let after_ms = millis(board.start.elapsed());
        let is_load_whole = board.measures().contact.has_load_ended();
        let made = match made {
            Some(made) => made,
            None => self.creation_end().await,
        };
        let payments = u64::try_from(board.ledger().payments()).unwrap_or(u64::MAX);
        let course = Course {
            elapsed_ms: made.elapsed_ms,
            received: made.received,
            own_cost: own_cost.or_else(|| self.own_cost(cpu_before)),
            limits: Limits::between(&self.before, &made.sample, self.metrics.as_ref(), payments),
            stopped: ended.cause().map(|cause| Stop {
                cause,
                after_ms,
                of_ms: plan.duration_ms,
                is_load_whole,
            }),
        };
        let report = LoadReport::new(plan, self.circumstances, &board, course, thresholds);
        (ended, report)
    }

    /// Creates payments, waits for their events, then queries the final status of each payment, and missing events.
    async fn every_phase(
        &self,
        made: &mut Option<CreationEnd>,
        own_cost: &mut Option<OwnCost>,
        cpu_before: Option<u64>,
    ) {
        self.load().await;
        self.merchant.board.measures().contact.load_ended(Instant::now());
        let deadline = Instant::now() + self.settle;
        // The same time as that of the samples: what follows is not part of the load.
        *own_cost = self.own_cost(cpu_before);
        *made = Some(self.creation_end().await);
        settle::wait(&self.merchant, deadline).await;
        progress::end_slice(&self.merchant.board);
        settle::check(&self.merchant, deadline).await;
        settle::trace(&self.merchant).await;
        if self.merchant.board.measures().has_news() {
            progress::end_slice(&self.merchant.board);
        }
    }

    /// Creates the payments. Once the planned time is over, probes the service while their last calls are waiting.
    async fn load(&self) {
        let probing = async {
            tokio::time::sleep(self.duration).await;
            self.merchant.probe_beside_last_calls().await;
        };
        tokio::select! {
            biased;
            () = pace::run(self.pace.clone(), self.duration, Rc::clone(&self.merchant)) => {}
            () = probing => {}
        }
    }

    async fn creation_end(&self) -> CreationEnd {
        let elapsed_ms = millis(self.merchant.board.start.elapsed());
        let sample = Sample::take(self.metrics.as_ref()).await;
        let received = self.merchant.board.measures().webhooks.received;
        CreationEnd { elapsed_ms, received, sample }
    }

    fn own_cost(&self, cpu_before: Option<u64>) -> Option<OwnCost> {
        let requests = {
            let measures = self.merchant.board.measures();
            measures.count(|_, _| true) + measures.webhooks.received
        };
        OwnCost::between(cpu_before, cpu_us(), requests)
    }
}

/// Records the ticks of the load tester's own thread until aborted.
async fn tick(board: Arc<Board>) {
    loop {
        board.measures().contact.tick(Instant::now());
        tokio::time::sleep(TICK).await;
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use actix_web::http::Method;
    use actix_web::{HttpRequest, HttpResponse};
    use serde_json::json;
    use tokio::sync::Semaphore;
    use tokio::time::timeout;
    use uuid::Uuid;

    use super::super::super::test_server::waiting_test_server;
    use super::super::ledger::Ledger;
    use super::*;

    /// Longest time until a load of this module is over, on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(25);

    /// Puts load on a service that answers creations only after this number of probes. Returns the number of probes, and
    /// the board.
    async fn load_until_probed(needed: u32) -> (usize, Arc<Board>) {
        let probes = Arc::new(Semaphore::new(0));
        let served = Arc::clone(&probes);
        let server = waiting_test_server(move |request: HttpRequest| {
            let probes = Arc::clone(&served);
            async move {
                let record = json!({ "transactionId": Uuid::from_u128(7), "status": "pending" });
                if request.method() == Method::POST {
                    drop(probes.acquire_many(needed).await);
                    return HttpResponse::Created().json(record);
                }
                if request.path() == "/pay/payments" {
                    probes.add_permits(1);
                }
                HttpResponse::Ok().json(record)
            }
        });
        let board = Arc::new(Board::new(Ledger::new(0), 1).unwrap());
        let run = Run {
            merchant: Rc::new(Merchant::of_test_server(&board, server.url.as_str())),
            pace: Pace::Concurrency(NonZeroUsize::MIN),
            duration: Duration::from_millis(100),
            settle: Duration::ZERO,
            metrics: None,
            before: Sample::take(None).await,
            circumstances: Circumstances::now(Default::default(), None),
        };
        timeout(PATIENCE, run.load()).await.expect("the service was not probed");
        server.stop().await;
        (probes.available_permits(), board)
    }

    #[actix_web::test]
    async fn a_service_is_probed_while_its_last_calls_hang_and_is_not_away_if_it_answers() {
        let (probes, board) = load_until_probed(2).await;
        assert!(probes >= 2, "{probes}");
        let measures = board.measures();
        assert!(!measures.contact.is_lost() && measures.contact.absences().is_empty());
        assert_eq!((measures.contact.freezes(), board.ledger().payments()), (None, 1));
    }

    #[actix_web::test]
    async fn a_service_that_answers_its_last_calls_is_not_probed() {
        let (probes, board) = load_until_probed(0).await;
        assert_eq!(probes, 0);
        assert_eq!(board.ledger().payments(), 1);
    }
}
