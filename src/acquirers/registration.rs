//! Registration of our callback address at banks. Nothing waits for it: without callbacks, the state of a charge is
//! inquired anyway.

use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::api_pix::RegistrationOutcome;

use super::Link;

/// Waits after a failed registration: doubled from the first up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

/// Registers our address at every bank that is configured so, until each bank has it.
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

/// Returns true if the bank calls us back, or `None` if that is not configured.
pub(super) const fn is_registered(outcome: &RegistrationOutcome) -> Option<bool> {
    match outcome {
        RegistrationOutcome::Off => None,
        RegistrationOutcome::Known | RegistrationOutcome::Registered | RegistrationOutcome::Replaced(_) => {
            Some(true)
        }
        RegistrationOutcome::Foreign(_) | RegistrationOutcome::Failed(_) => Some(false),
    }
}
