use std::cell::Cell;
use std::rc::Rc;

use quita_machine::SystemClock;

use super::*;

const EVERY: Duration = Duration::from_secs(60);
const RHYTHM: Rhythm = Rhythm { name: JobName::Retention, every: EVERY, first_after: Duration::from_secs(5) };

/// A job that counts its runs, and what becomes of each.
fn counting(outcome: impl Fn(u32) -> JobOutcome + 'static) -> (Jobs, Rc<Cell<u32>>) {
    let (mut jobs, runs) = (Jobs::new(Arc::new(SystemClock)), Rc::new(Cell::new(0)));
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
        1 => Err(String::from("the store is away")),
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
    assert_eq!(seen, [(text("the store is away"), 1, 1), (text("panicked: a defect"), 2, 2), (None, 3, 2)]);
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
    let (mut jobs, inside) = (Jobs::new(Arc::new(SystemClock)), Rc::new(Cell::new(0)));
    let most = Rc::new(Cell::new(0));
    let (entered, seen) = (Rc::clone(&inside), Rc::clone(&most));
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
