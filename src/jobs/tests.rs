use std::cell::{Cell, RefCell};
use std::rc::Rc;

use prometheus::Registry;
use quita_machine::SystemClock;

use super::*;

const EVERY: Duration = Duration::from_secs(60);
const RHYTHM: Rhythm = Rhythm { name: JobName::Retention, every: EVERY, first_after: Duration::from_secs(5) };

/// A job that counts its runs, and what becomes of each.
fn counting(outcome: impl Fn(u32) -> JobOutcome + 'static) -> (Jobs, Rc<Cell<u32>>) {
    let mut jobs = Jobs::new(Arc::new(SystemClock));
    let runs = Rc::new(Cell::new(0));
    let counted = Rc::clone(&runs);
    jobs.start(RHYTHM, async move || {
        counted.set(counted.get() + 1);
        outcome(counted.get())
    });
    (jobs, runs)
}

fn state(jobs: &Jobs) -> JobState {
    jobs.board().states().pop().unwrap().1
}

#[actix_web::test]
async fn a_job_runs_in_its_rhythm_until_it_is_stopped() {
    tokio::time::pause();
    let (jobs, runs) = counting(|_| Ok(()));
    sleep(Duration::from_secs(4)).await;
    assert_eq!((runs.get(), state(&jobs).began_at), (0, None));
    assert!(state(&jobs).next_at.is_some());
    sleep(Duration::from_secs(2)).await;
    assert_eq!((runs.get(), state(&jobs).runs, state(&jobs).failures), (1, 1, 0));
    sleep(EVERY * 2).await;
    assert_eq!(runs.get(), 3);
    jobs.stop();
    sleep(EVERY * 2).await;
    assert_eq!(runs.get(), 3);
}

#[actix_web::test]
async fn a_run_that_fails_or_panics_is_shown_and_the_job_goes_on() {
    tokio::time::pause();
    let (jobs, _) = counting(|run| match run {
        1 => Err(String::from("the store is unavailable")),
        2 => panic!("a defect"),
        _ => Ok(()),
    });
    let mut seen = Vec::new();
    sleep(Duration::from_secs(6)).await;
    for _ in 0..3 {
        let JobState { failure, runs, failures, .. } = state(&jobs);
        seen.push((failure, runs, failures));
        sleep(EVERY).await;
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        seen,
        [(text("the store is unavailable"), 1, 1), (text("panicked: a defect"), 2, 2), (None, 3, 2)]
    );
    jobs.stop();
}

/// Starts the job of accounts, whose rhythm is an hour, and returns the minutes at which it ran.
async fn minutes_of_hourly(hours: u32, outcome: impl Fn(usize) -> JobOutcome + 'static) -> Vec<u64> {
    tokio::time::pause();
    let mut jobs = Jobs::new(Arc::new(SystemClock));
    let minutes = Rc::new(RefCell::new(Vec::new()));
    let every = Duration::from_secs(3_600);
    let first_after = Duration::ZERO;
    let noted = Rc::clone(&minutes);
    let begun = Instant::now();
    jobs.start(Rhythm { name: JobName::InactiveAccounts, every, first_after }, async move || {
        noted.borrow_mut().push(begun.elapsed().as_secs() / 60);
        outcome(noted.borrow().len())
    });
    sleep(every * hours - Duration::from_secs(1)).await;
    jobs.stop();
    minutes.take()
}

#[actix_web::test]
async fn an_hourly_job_that_failed_is_repeated_after_a_minute_and_then_ever_more_rarely() {
    let away = |_| Err(String::from("the store is unavailable"));
    assert_eq!(minutes_of_hourly(5, away).await, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
}

#[actix_web::test]
async fn a_repeated_job_that_succeeds_is_in_its_rhythm_and_has_its_patience_again() {
    let twice = |run| if [1, 2, 4].contains(&run) { Err(String::from("away")) } else { Ok(()) };
    assert_eq!(minutes_of_hourly(3, twice).await, [0, 1, 3, 63, 64, 124]);
}

/// A job that hangs for so long in its second run.
fn hanging(hangs_for: Duration) -> (Jobs, Rhythm) {
    let mut jobs = Jobs::new(Arc::new(SystemClock));
    let rhythm = Rhythm { name: JobName::Messages, every: EVERY, first_after: Duration::ZERO };
    let mut runs = 0;
    jobs.start(rhythm, async move || {
        runs += 1;
        if runs == 2 {
            sleep(hangs_for).await;
        }
        JobOutcome::Ok(())
    });
    (jobs, rhythm)
}

/// Lines of the metrics of jobs.
fn exposition(registry: &Registry) -> String {
    prometheus::TextEncoder::new().encode_to_string(&registry.gather()).unwrap()
}

#[actix_web::test]
async fn a_run_that_hangs_is_seen_until_it_ends() {
    tokio::time::pause();
    let may_take = JobName::Messages.may_take();
    let (jobs, rhythm) = hanging(may_take * 2);
    let registry = Registry::new();
    JobMetrics::register(jobs.board(), &registry).unwrap();
    let is_failing = |is_failing: bool| {
        let line = format!("quita_job_failing{{name=\"messages\"}} {}\n", u8::from(is_failing));
        assert!(exposition(&registry).contains(&line), "{}", exposition(&registry));
    };
    sleep(EVERY + may_take - Duration::from_secs(1)).await;
    assert_eq!((state(&jobs).runs, state(&jobs).overrun(rhythm)), (1, None));
    is_failing(false);
    sleep(Duration::from_secs(2)).await;
    assert!(state(&jobs).overrun(rhythm).is_some_and(|running_for| running_for > may_take));
    is_failing(true);
    sleep(may_take).await;
    assert_eq!((state(&jobs).overrun(rhythm), state(&jobs).failure), (None, None));
    is_failing(false);
    jobs.stop();
}

#[actix_web::test]
async fn metrics_have_the_failures_of_each_job_and_its_last_success() {
    tokio::time::pause();
    let (jobs, _) = counting(|run| if run == 2 { Ok(()) } else { Err(String::from("away")) });
    let registry = Registry::new();
    JobMetrics::register(jobs.board(), &registry).unwrap();
    let counted = |failures: u8| {
        exposition(&registry)
            .contains(&format!("quita_job_failures_total{{name=\"retention\"}} {failures}\n"))
    };
    let has_succeeded =
        || exposition(&registry).contains("quita_job_last_success_timestamp_seconds{name=\"retention\"} ");
    assert!(counted(0) && !has_succeeded(), "{}", exposition(&registry));
    sleep(Duration::from_secs(6)).await;
    assert!(counted(1) && !has_succeeded(), "{}", exposition(&registry));
    sleep(EVERY * 2).await;
    assert!(counted(2) && has_succeeded(), "{}", exposition(&registry));
    jobs.stop();
}

#[actix_web::test]
async fn a_job_that_is_asked_for_runs_at_once_and_once() {
    tokio::time::pause();
    let (jobs, runs) = counting(|_| Ok(()));
    jobs.board().run_now(JobName::Sealing);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(runs.get(), 0, "another one was asked for");
    jobs.board().run_now(JobName::Retention);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(runs.get(), 1);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(runs.get(), 1, "its rhythm begins anew");
    jobs.stop();
}

#[actix_web::test]
async fn a_slow_run_is_never_beside_another() {
    tokio::time::pause();
    let mut jobs = Jobs::new(Arc::new(SystemClock));
    let inside = Rc::new(Cell::new(0));
    let most = Rc::new(Cell::new(0));
    let entered = Rc::clone(&inside);
    let seen = Rc::clone(&most);
    jobs.start(RHYTHM, async move || {
        entered.set(entered.get() + 1);
        seen.set(seen.get().max(entered.get()));
        sleep(EVERY * 3).await;
        entered.set(entered.get() - 1);
        Ok(())
    });
    for _ in 0..10 {
        jobs.board().run_now(JobName::Retention);
        sleep(EVERY).await;
    }
    assert_eq!((most.get(), state(&jobs).runs), (1, 3));
    jobs.stop();
}
