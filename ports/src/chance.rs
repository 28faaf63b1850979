//! Time, ids and randomness: everything that a simulation must be able to decide.

use quita_domain::time::Timestamp;
use uuid::Uuid;

/// The wall clock. It may jump, so nothing may rely on its order.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// Fresh ids.
pub trait Ids: Send + Sync + 'static {
    /// Returns a UUIDv7, never the same one twice.
    fn fresh(&self) -> Uuid;
}

/// Random numbers that need not be secret: they spread retries and choose routes.
pub trait Dice: Send + Sync + 'static {
    /// Returns any number.
    fn roll(&self) -> u64;
}
