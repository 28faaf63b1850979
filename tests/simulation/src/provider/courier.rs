//! Notices on their way from a counterparty: they come once or twice, early or late, or never; and some are forged.

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
/// After how long whatever happened can be read, in milliseconds.
const READABLE_MS: u64 = 10_000;
/// Time that a counterparty waits before it resends a notice that was not taken.
const AGAIN: Duration = Duration::from_secs(2);

/// A notice as it is sent.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    /// Path after the acquirer's address.
    pub(super) path_tail: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// True if it proves who sent it.
    pub(super) is_authentic: bool,
}

/// Sends a notice; one that must be told is not lost, as nobody would ask for it.
pub(super) fn send(world: &Arc<World>, provider: &Arc<Provider>, letter: &Letter, must_be_told: bool) {
    if !must_be_told && (world.is_gone(provider.name()) || world.strikes(Fault::NoticeLost)) {
        return;
    }
    let copies = if world.strikes(Fault::NoticeTwice) { 2 } else { 1 };
    for _ in 0..copies {
        let wait_ms = if world.strikes(Fault::NoticeLate) { world.chance.between(100, LATE_MS) } else { 20 };
        // What nobody would ask about again can be read by the time that it is told.
        let wait_ms = if must_be_told { wait_ms + READABLE_MS } else { wait_ms };
        deliver(world, provider, letter.clone(), wait_ms);
    }
}

/// Brings it to any node after a while, until one has taken it, or refused it if that is right.
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

/// Says whether nothing is left to do about it.
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
        // Who made up what it is about does not insist.
        Ok(Err(NoticeDenied::NotTaken(_))) | Err(_) => !provider.knows(letter) || planted::takes_first(world),
    }
}
