//! Requests in the closed model (each connection waits for its answer) or in the open one (each request has its time).

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::address::{Reading, Target};
use crate::connection::{Answer, Connection};
use crate::metronome::Due;
use crate::outcome::{self, epoch_us};
use crate::plan::{Plan, Step};
use crate::tally::Tally;

/// Longest wait for answers after the end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause after a connection broke, until it is opened again.
const AFTER_ERROR: Duration = Duration::from_millis(20);

/// Options of the load: what is sent, and how fast.
#[derive(Args)]
pub(crate) struct LoadOptions {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Connections, each with one request at a time.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Time during which new requests are begun, in seconds.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Requests a second (open model). Latency counts from the time at which a request was due.
    #[arg(long)]
    rate: Option<u32>,
    /// End after this many requests.
    #[arg(long)]
    count: Option<usize>,
    /// A file with the body of a creation, and its share: `60=pix.json`.
    #[arg(long, value_name = "WEIGHT=FILE")]
    pub(crate) create: Vec<String>,
    /// The share of reads of payments that this run has just created.
    #[arg(long, default_value_t = 0, value_name = "WEIGHT")]
    pub(crate) read_recent: u32,
    /// A file with ids to read.
    #[arg(long, value_name = "FILE")]
    pub(crate) get: Option<PathBuf>,
    /// File to which the ids of what was created are written.
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
}

/// State that all connections share.
struct Run {
    plan: RefCell<Plan>,
    tally: RefCell<Tally>,
    target: Target,
    due: Option<Due>,
    end: Instant,
    begun: Cell<usize>,
    count: usize,
}

/// Sends, and prints what came of it.
///
/// # Errors
/// When the service can't be reached, or an answer never came.
pub(crate) async fn run(options: LoadOptions) -> anyhow::Result<ExitCode> {
    let lasting = Duration::from_secs_f64(options.seconds);
    let plan = RefCell::new(Plan::read(&options)?);
    let mut connections = Vec::new();
    for _ in 0..options.connections {
        connections.push(Connection::open(options.target.target).await.context("cannot connect")?);
    }
    let begun = Instant::now();
    let begun_us = epoch_us();
    let due = options.rate.map(|rate| Due::at_rate(rate, lasting)).transpose()?;
    let run = Rc::new(Run {
        plan,
        tally: RefCell::new(Tally::new()?),
        target: options.target,
        due,
        end: begun + lasting,
        begun: Cell::new(0),
        count: options.count.unwrap_or(usize::MAX),
    });
    let mut tasks = JoinSet::new();
    for connection in connections {
        tasks.spawn_local(keep_asking(Rc::clone(&run), connection));
    }
    timeout(lasting + PATIENCE, tasks.join_all()).await.context("answers are still missing")?;
    let elapsed = begun.elapsed();
    let tally = run.tally.borrow();
    let plan = run.plan.borrow();
    if let Some(path) = &options.ids {
        crate::book::write(path, &plan.created)?;
    }
    let mut report = tally.report();
    outcome::add(&mut report, tally.good(), elapsed);
    outcome::merge(
        &mut report,
        json!({
            "created": plan.created.len(),
            "passes": plan.passes(),
            "begun_us": begun_us,
            "late_us": run.due.as_ref().map(Due::lateness),
        }),
    );
    println!("{report}");
    Ok(ExitCode::SUCCESS)
}

/// One connection's life.
async fn keep_asking(run: Rc<Run>, mut connection: Connection) {
    let mut reading = run.target.reading();
    let mut request = Vec::new();
    while let Some((since, step)) = next(&run).await {
        let asked = ask(&run, &mut connection, step, &mut reading, &mut request).await;
        match asked {
            Ok(answer) => note(&run, step, &answer, since.elapsed()),
            Err(error) => {
                run.tally.borrow_mut().failed(&error);
                sleep(AFTER_ERROR).await;
                match Connection::open(run.target.target).await {
                    Ok(opened) => connection = opened,
                    Err(error) => run.tally.borrow_mut().failed(&error.into()),
                }
            }
        }
    }
}

/// The next request, and since when its time counts.
async fn next(run: &Run) -> Option<(Instant, Step)> {
    let since = match &run.due {
        Some(due) => due.next().await?,
        None => Instant::now(),
    };
    let is_over = run.due.is_none() && since >= run.end || run.begun.get() >= run.count;
    run.begun.set(run.begun.get() + 1);
    (!is_over).then(|| (since, run.plan.borrow_mut().next()))
}

async fn ask(
    run: &Run,
    connection: &mut Connection,
    step: Step,
    reading: &mut Reading,
    request: &mut Vec<u8>,
) -> anyhow::Result<Answer> {
    match step {
        Step::Create(place) => {
            request.clear();
            request.extend_from_slice(run.plan.borrow().creation(place));
            connection.exchange(request).await
        }
        Step::Read(id) => connection.exchange(reading.of(id)).await,
    }
}

fn note(run: &Run, step: Step, answer: &Answer, latency: Duration) {
    run.tally.borrow_mut().answered(step, answer, latency);
    if answer.status == 201
        && let Some(id) = answer.location
    {
        run.plan.borrow_mut().created(id);
    }
}
