//! What a running node does about secret keys: it seals what anybody could read, and goes by what the store says.

use std::sync::Arc;
use std::time::Duration;

use quita_actors::{SecretKeyError, Strongbox, Unmoved, Which};
use tokio::time::{MissedTickBehavior, interval};

use super::Keyring;

/// How often the store is asked with which key it works: that long a node makes things with the key before.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// After how long what could not be sealed is tried again.
const SEAL_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// Applications in one step.
const PAGE: usize = 100;

/// Seals what is in clear, then makes everything new with the key that the store works with, as long as it is let.
pub(crate) async fn heed_secret_keys(strongbox: Strongbox, keyring: Arc<Keyring>) {
    let sealing = async {
        while let Err(error) = seal_unprotected(&strongbox).await {
            tracing::error!(%error, "secrets of the store are readable still; sealing them is tried again");
            tokio::time::sleep(SEAL_AGAIN_AFTER).await;
        }
    };
    tokio::join!(sealing, go_by_the_store(&strongbox, &keyring));
}

/// Seals the secrets that earlier versions stored in clear, or with the key that everybody knows.
async fn seal_unprotected(strongbox: &Strongbox) -> Result<(), SecretKeyError> {
    let (mut place, mut sealed) = (None, 0_u64);
    loop {
        let moved = strongbox.move_page(Which::Unprotected, place.as_ref(), PAGE).await?;
        sealed = sealed.saturating_add(moved.sealed);
        for Unmoved { application: (merchant, name), why } in moved.unmoved {
            tracing::error!(%merchant, application = %name, %why, "a webhook secret is readable still");
        }
        place = moved.next;
        if place.is_none() {
            break;
        }
    }
    if sealed > 0 {
        strongbox.forget_replaced().await?;
        tracing::info!(sealed, "webhook secrets that were readable in the store are encrypted now");
    }
    Ok(())
}

async fn go_by_the_store(strongbox: &Strongbox, keyring: &Keyring) {
    let mut ticks = interval(ASK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_missing = false;
    loop {
        ticks.tick().await;
        match strongbox.current().await {
            Ok(current) => {
                keyring.make_with(Some(&current));
                if std::mem::take(&mut is_missing) {
                    tracing::info!(%current, "this node has the secret key of the store again");
                }
            }
            // Until the store answers, the key of before is as right as it was.
            Err(SecretKeyError::Store(error)) => {
                tracing::debug!(%error, "the store does not say with which secret key it works");
            }
            Err(
                error @ (SecretKeyError::NotHeld { .. } | SecretKeyError::Vault(_) | SecretKeyError::Raced),
            ) => {
                keyring.make_with(None);
                if !std::mem::replace(&mut is_missing, true) {
                    tracing::error!(%error, "new payments are refused on this node");
                }
            }
        }
    }
}
