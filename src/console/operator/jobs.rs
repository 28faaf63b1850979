//! Background jobs of this node: the last run, its result, and the next run.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::time::{Timestamp, millis_in};

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::visitor::{DirectorForm, Operator};
use super::words;
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::jobs::{JobState, Rhythm};
use quita_services::audit::AuditDraft;

/// Address of the page.
const PAGE: &str = "/jobs";

#[derive(Template)]
#[template(path = "console/operator/jobs.html")]
struct JobsPage {
    frame: OperatorFrame,
    jobs: Vec<JobView>,
}

#[derive(Template)]
#[template(path = "console/operator/ask_job.html")]
struct AskJobPage {
    frame: OperatorFrame,
    job: JobView,
}

/// Job as shown on the page.
struct JobView {
    name: &'static str,
    /// Effect of the job, in words.
    effect: &'static str,
    every_ms: u64,
    /// Duration so far of a run that takes much longer than expected.
    overrun_ms: Option<u64>,
    state: JobState,
}

impl JobView {
    fn of(rhythm: Rhythm, state: JobState, language: Language) -> Self {
        let effect = words::job(rhythm.name, language);
        let name = rhythm.name.as_str();
        let every_ms = millis_in(rhythm.every);
        let overrun_ms = state.overrun(rhythm).map(millis_in);
        Self { name, effect, every_ms, overrun_ms, state }
    }

    /// Duration of the last run, in milliseconds.
    fn took_ms(&self) -> Option<u64> {
        self.state.took.map(millis_in)
    }

    /// Start of the current run.
    fn running_since(&self) -> Option<Timestamp> {
        self.state.began_at.filter(|_| self.state.next_at.is_none())
    }
}

fn find(console: &OperatorConsole, name: &str) -> Result<(Rhythm, JobState), PageError> {
    let mut jobs = console.jobs.states().into_iter();
    jobs.find(|(rhythm, _)| rhythm.name.as_str() == name).ok_or(PageError::NotFound)
}

/// Handles `GET /jobs`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let frame = operator.frame(OperatorSection::Actors);
    let language = frame.language();
    let states = console.jobs.states().into_iter();
    let jobs = states.map(|(rhythm, state)| JobView::of(rhythm, state, language)).collect();
    html(&JobsPage { frame, jobs })
}

/// Handles `GET /jobs/{name}`: asks for confirmation before a job is run.
pub(super) async fn ask(
    operator: Operator,
    name: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let frame = operator.frame(OperatorSection::Actors);
    let (rhythm, state) = find(&console, &name)?;
    let job = JobView::of(rhythm, state, frame.language());
    html(&AskJobPage { frame, job })
}

/// Handles `POST /jobs/{name}`: runs a job now.
pub(super) async fn act(
    DirectorForm { visitor, .. }: DirectorForm,
    name: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let (rhythm, _) = find(&console, &name)?;
    console.jobs.run_now(rhythm.name);
    let subject = format!("{} {}", rhythm.name.as_str(), console.node_address);
    let draft = AuditDraft::of_operators(AuditAction::JobRun, subject);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other(PAGE))
}
