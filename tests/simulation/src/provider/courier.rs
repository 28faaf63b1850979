//! Notices under way from a counterparty. They arrive once or twice, early or late, or never; some are forged.

use std::sync::Arc;
use std::time::Duration;

use quita_actors::NoticeDenied;
use quita_ports::RawNotice;
use tokio::time::sleep;

use super::Provider;
use crate::chance::Fault;
use crate::planted;
use crate::world::World;

/// Longest delay of a notice, in milliseconds.
const LATE_MS: u64 = 60_000;
/// Time after which any event can be read, in milliseconds.
const READABLE_MS: u64 = 10_000;
/// Time that a counterparty waits before it resends a notice that was not accepted.
const AGAIN: Duration = Duration::from_secs(2);

/// Notice as it is sent.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    /// Path after the acquirer's address.
    pub(super) path_tail: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// True if it proves its sender.
    pub(super) is_authentic: bool,
}

/// Sends a notice; one that must be reported is not lost, as nothing else would cause an inquiry.
pub(super) fn send(world: &Arc<World>, provider: &Arc<Provider>, letter: &Letter, must_be_told: bool) {
    if !must_be_told && (world.is_gone(provider.name()) || world.strikes(Fault::NoticeLost)) {
        return;
    }
    let copies = if world.strikes(Fault::NoticeTwice) { 2 } else { 1 };
    for _ in 0..copies {
        let wait_ms = if world.strikes(Fault::NoticeLate) { world.chance.between(100, LATE_MS) } else { 20 };
        // An event that would cause no further inquiry can be read by the time that its notice arrives.
        let wait_ms = if must_be_told { wait_ms + READABLE_MS } else { wait_ms };
        deliver(world, provider, letter.clone(), wait_ms);
    }
}

/// Delivers a notice to any node after a delay, until one has accepted it, or rightly refused it.
pub(super) fn deliver(world: &Arc<World>, provider: &Arc<Provider>, letter: Letter, wait_ms: u64) {
    let own = Arc::clone(world);
    let provider = Arc::clone(provider);
    world.errand_of_notice(async move {
        sleep(Duration::from_millis(wait_ms)).await;
        while !bring(&own, &provider, &letter).await {
            sleep(AGAIN).await;
        }
    });
}

/// Delivers a notice once. Returns true if nothing is left to do about it.
async fn bring(world: &World, provider: &Provider, letter: &Letter) -> bool {
    let Some(node) = world.any_node_with(provider.name()) else { return false };
    let name = provider.name().as_str();
    let headers: Vec<_> =
        letter.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let taken = node.call(|payments| async move {
        let notice = RawNotice { path_tail: &letter.path_tail, headers: &headers, body: &letter.body };
        payments.take_notice(name, &notice).await
    });
    let taken = taken.await;
    world.note(|| {
        let body = String::from_utf8_lossy(&letter.body);
        format!("notice of {name} at node {}: {taken:?} {body}", node.place)
    });
    match taken {
        Ok(Ok(())) if letter.is_authentic => true,
        Ok(Ok(())) => {
            world.violation(format!("{name}: a notice was taken that nobody proved to have sent"));
            true
        }
        Ok(Err(NoticeDenied::NoSuchAddress | NoticeDenied::NotAuthentic)) => {
            if letter.is_authentic {
                world.violation(format!("{name}: a notice of its own was refused"));
            }
            true
        }
        // The sender of a notice about something made up does not insist.
        Ok(Err(NoticeDenied::NotTaken(_))) | Err(_) => !provider.knows(letter) || planted::takes_first(world),
    }
}
