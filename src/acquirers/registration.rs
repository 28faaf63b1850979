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
    /// Banks that do not have our address yet, or have not been seen to keep it.
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

    /// Tries every bank that is not known to have our address. Once all have it, tries those that may have disabled it.
    pub(crate) async fn pass(&mut self) -> Pass {
        if self.links.is_empty() {
            (self.links, self.wait) = (self.forgetful.clone(), FIRST_WAIT);
        }
        let tried = self.links.iter().map(|link| register(link, self.wait));
        let tried = futures_util::future::join_all(tried).await;
        let with_outcome = self.links.iter().zip(&tried);
        let failed: Vec<_> = with_outcome
            .filter(|(_, outcome)| **outcome == Registration::Failed)
            .map(|(link, _)| link.config().spec.name.to_string())
            .collect();
        let mut tried = tried.into_iter();
        self.links.retain(|_| tried.next() != Some(Registration::Settled));
        if self.links.is_empty() {
            return Pass::from(Ok(()));
        }
        let wait = self.wait;
        self.wait = wait.saturating_mul(2).min(LONGEST_WAIT);
        let outcome = if failed.is_empty() {
            Ok(())
        } else {
            Err(format!("our callback address could not be registered at: {}", failed.join(", ")))
        };
        Pass::again_in(outcome, wait)
    }
}

/// Result of one bank's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Registration {
    /// The bank has our address, or is not to have it.
    Settled,
    /// The bank took our address just now, and may still disable it.
    Unconfirmed,
    Failed,
}

async fn register(link: &Link, wait: Duration) -> Registration {
    let Some(outcome) = link.register_webhook().await else { return Registration::Settled };
    let acquirer = link.config().spec.name;
    match outcome {
        RegistrationOutcome::Off => {}
        RegistrationOutcome::Known => tracing::debug!(%acquirer, "the bank already has our callback address"),
        RegistrationOutcome::Registered => {
            tracing::info!(%acquirer, "our callback address was registered at the bank");
            return unconfirmed_at(link);
        }
        RegistrationOutcome::Replaced(host) => {
            tracing::warn!(
                %acquirer, host, "our callback address was registered at the bank in place of another one"
            );
            return unconfirmed_at(link);
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
            // A foreign address is not tried again: it is its owner's decision, and stays until somebody decides
            // otherwise.
            return Registration::Failed;
        }
    }
    Registration::Settled
}

fn unconfirmed_at(link: &Link) -> Registration {
    // A bank that validates an address calls it after it has taken it, and disables one that does not answer. The next
    // look soon shows if it kept ours; that of the hourly round would come late.
    if link.may_lose_webhook() { Registration::Unconfirmed } else { Registration::Settled }
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
