//! Background jobs of this node: when each ran, how it ended, when it runs next.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::time::{Timestamp, millis_in};

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::visitor::{DirectorForm, Operator};
use super::words;
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::failure::Failure;
use crate::console::kit::language::Language;
use crate::jobs::{JobState, Rhythm};
use quita_services::audit::AuditDraft;

/// Address of the page.
const PAGE: &str = "/jobs";

#[derive(Template)]
#[template(path = "console/operator/jobs.html")]
struct JobsPage {
    frame: Frame,
    jobs: Vec<JobView>,
}

#[derive(Template)]
#[template(path = "console/operator/ask_job.html")]
struct AskJobPage {
    frame: Frame,
    job: JobView,
}

/// A job as the page shows it.
struct JobView {
    name: &'static str,
    /// Effect of the job, in words.
    effect: &'static str,
    every_ms: u64,
    state: JobState,
}

impl JobView {
    fn of((rhythm, state): (Rhythm, JobState), language: Language) -> Self {
        let effect = words::job(rhythm.name, language);
        Self { name: rhythm.name.as_str(), effect, every_ms: millis_in(rhythm.every), state }
    }

    /// Duration of the last run, in milliseconds.
    fn took_ms(&self) -> Option<u64> {
        self.state.took.map(millis_in)
    }

    /// Begin of the run that goes on.
    fn running_since(&self) -> Option<Timestamp> {
        self.state.began_at.filter(|_| self.state.next_at.is_none())
    }
}

fn find(console: &OperatorConsole, name: &str) -> Result<(Rhythm, JobState), Failure> {
    let mut jobs = console.jobs.states().into_iter();
    jobs.find(|(rhythm, _)| rhythm.name.as_str() == name).ok_or(Failure::NotFound)
}

/// Handles `GET /jobs`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let frame = operator.frame(Section::Actors);
    let language = frame.language();
    let jobs = console.jobs.states().into_iter().map(|job| JobView::of(job, language)).collect();
    html(&JobsPage { frame, jobs })
}

/// Handles `GET /jobs/{name}`: asks before a job is run.
pub(super) async fn ask(
    operator: Operator,
    name: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    operator.must_direct()?;
    let frame = operator.frame(Section::Actors);
    let job = JobView::of(find(&console, &name)?, frame.language());
    html(&AskJobPage { frame, job })
}

/// Handles `POST /jobs/{name}`: runs a job now.
pub(super) async fn act(
    DirectorForm { visitor, .. }: DirectorForm,
    name: Path<String>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, Failure> {
    let (rhythm, _) = find(&console, &name)?;
    console.jobs.run_now(rhythm.name);
    let subject = format!("{} {}", rhythm.name.as_str(), console.node_address);
    let draft = AuditDraft::of_operators(AuditAction::JobRun, subject);
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other(PAGE))
}
