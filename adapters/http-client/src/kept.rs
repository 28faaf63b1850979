//! Idle connections, bounded in number and time.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::destination::Destination;

/// Idle connections, the longest idle first.
pub(crate) struct Kept {
    most: usize,
    idle: VecDeque<Idle>,
}

struct Idle {
    destination: Destination,
    connection: Connection,
    until: Instant,
}

impl Kept {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, idle: VecDeque::new() }
    }

    /// Takes the most recently used connection to the destination. Connections whose time is over are closed, whatever
    /// their destination.
    pub(crate) fn take(&mut self, destination: &Destination, now: Instant) -> Option<Connection> {
        self.idle.retain(|idle| now < idle.until);
        // The most recently used one is taken: it is the least likely to have been closed meanwhile.
        let place = self.idle.iter().rposition(|idle| idle.destination == *destination)?;
        self.idle.remove(place).map(|idle| idle.connection)
    }

    /// Keeps a connection for this long. If there are too many, the longest idle one is closed.
    pub(crate) fn put(
        &mut self,
        destination: Destination,
        connection: Connection,
        now: Instant,
        keep_for: Duration,
    ) {
        self.idle.retain(|idle| now < idle.until);
        let until = now.checked_add(keep_for).unwrap_or(now);
        self.idle.push_back(Idle { destination, connection, until });
        while self.idle.len() > self.most {
            self.idle.pop_front();
        }
    }
}
