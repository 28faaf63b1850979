//! Telling banks where to call back. Nothing waits for it: what a callback would have told is asked for anyway.

use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::api_pix::RegistrationOutcome;

use super::Link;

/// How long after a failure the bank is told again: doubled up to the last.
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

/// Has every bank call us back that is configured so, each until it knows where.
pub(crate) async fn keep_registering(links: Vec<Arc<Link>>) {
    futures_util::future::join_all(links.iter().map(|link| register(link))).await;
}

async fn register(link: &Link) {
    let Some(api_pix) = link.api_pix() else { return };
    let acquirer = link.config().spec.name;
    let mut wait = FIRST_WAIT;
    loop {
        match api_pix.register_webhook().await {
            RegistrationOutcome::Off => return,
            RegistrationOutcome::Known => {
                return tracing::debug!(%acquirer, "the bank knows where to call back");
            }
            RegistrationOutcome::Registered => {
                return tracing::info!(%acquirer, "the bank was told where to call back");
            }
            RegistrationOutcome::Replaced(host) => {
                return tracing::warn!(
                    %acquirer, host, "the bank was told where to call back, in place of another address"
                );
            }
            RegistrationOutcome::Foreign(host) => {
                return tracing::warn!(
                    %acquirer, host,
                    "the bank calls another address back, which is left so; webhook = \"replace\" takes its place"
                );
            }
            RegistrationOutcome::Failed(why) => {
                let wait_s = wait.as_secs();
                tracing::warn!(%acquirer, why, wait_s, "the bank can't be told where to call back; it is tried again");
            }
        }
        tokio::time::sleep(wait).await;
        wait = wait.saturating_mul(2).min(LONGEST_WAIT);
    }
}

/// Whether the bank calls us back; `None` if it is not to be told.
pub(super) const fn is_registered(outcome: &RegistrationOutcome) -> Option<bool> {
    match outcome {
        RegistrationOutcome::Off => None,
        RegistrationOutcome::Known | RegistrationOutcome::Registered | RegistrationOutcome::Replaced(_) => {
            Some(true)
        }
        RegistrationOutcome::Foreign(_) | RegistrationOutcome::Failed(_) => Some(false),
    }
}
