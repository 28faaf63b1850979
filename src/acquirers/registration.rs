//! Registration of our callback address at banks. Nothing waits for it: without callbacks, the state of a charge is
//! still polled.

use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::api_pix::RegistrationOutcome;

use super::Link;
use crate::jobs::{JobName, Pass, Rhythm};

/// Waits after a failed registration, doubled from the first up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

/// Schedule of registrations once every bank has our address: only banks that may have disabled it are asked.
pub(crate) const REGISTRATIONS: Rhythm =
    Rhythm { name: JobName::CallbackRegistration, every: LONGEST_WAIT, first_after: Duration::ZERO };

/// Registration of our address at every bank for which it is configured, until each has it.
pub(crate) struct Registrations {
    /// Banks that do not have our address yet.
    links: Vec<Arc<Link>>,
    /// Banks that disable an address after failed callbacks, and are therefore asked periodically.
    forgetful: Vec<Arc<Link>>,
    wait: Duration,
}

impl Registrations {
    /// Creates the registration at these banks.
    pub(crate) fn new(links: Vec<Arc<Link>>) -> Self {
        let forgetful = links.iter().filter(|link| link.may_lose_webhook()).cloned().collect();
        Self { links, forgetful, wait: FIRST_WAIT }
    }

    /// Tries every bank that does not have our address yet. Once all have it, tries those that may have disabled it.
    pub(crate) async fn pass(&mut self) -> Pass {
        if self.links.is_empty() {
            (self.links, self.wait) = (self.forgetful.clone(), FIRST_WAIT);
        }
        let tried = self.links.iter().map(|link| is_to_be_tried_again(link, self.wait));
        let mut tried = futures_util::future::join_all(tried).await.into_iter();
        self.links.retain(|_| tried.next().unwrap_or(true));
        if self.links.is_empty() {
            return Pass::from(Ok(()));
        }
        let wait = self.wait;
        self.wait = wait.saturating_mul(2).min(LONGEST_WAIT);
        let failure = format!("our callback address could not be registered at {} banks", self.links.len());
        Pass::again_in(Err(failure), wait)
    }
}

async fn is_to_be_tried_again(link: &Link, wait: Duration) -> bool {
    let Some(outcome) = link.register_webhook().await else { return false };
    let acquirer = link.config().spec.name;
    match outcome {
        RegistrationOutcome::Off => {}
        RegistrationOutcome::Known => tracing::debug!(%acquirer, "the bank already has our callback address"),
        RegistrationOutcome::Registered => {
            tracing::info!(%acquirer, "our callback address was registered at the bank")
        }
        RegistrationOutcome::Replaced(host) => {
            tracing::warn!(
                %acquirer, host, "our callback address was registered at the bank in place of another one"
            );
        }
        RegistrationOutcome::Foreign(host) => {
            tracing::warn!(
                %acquirer, host,
                "the bank has another callback address, which is left in place; webhook = \"replace\" replaces it"
            );
        }
        RegistrationOutcome::Failed(why) => {
            let wait_s = wait.as_secs();
            tracing::warn!(%acquirer, why, wait_s, "our callback address could not be registered at the bank; this will be retried");
            // Only failures are retried. A foreign address is its owner's decision, and stays until somebody decides
            // otherwise.
            return true;
        }
    }
    false
}

/// Returns true if the bank calls us back, or `None` if callbacks are not configured.
pub(super) const fn is_registered(outcome: &RegistrationOutcome) -> Option<bool> {
    match outcome {
        RegistrationOutcome::Off => None,
        RegistrationOutcome::Known | RegistrationOutcome::Registered | RegistrationOutcome::Replaced(_) => {
            Some(true)
        }
        RegistrationOutcome::Foreign(_) | RegistrationOutcome::Failed(_) => Some(false),
    }
}
