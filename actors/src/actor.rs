//! Parts common to all actors: a bounded mailbox, a kind, a meter, and a slot in which the actor is recreated when it
//! dies.

pub(crate) mod crash_cause;
pub(crate) mod kind;
pub(crate) mod mailbox;
pub(crate) mod meter;
pub(crate) mod slot;
pub(crate) mod supervisor;
pub(crate) mod trail;
