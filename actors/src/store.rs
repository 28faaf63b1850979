//! Access to the store: reads and writes in batches, each with a time-out.

pub(crate) mod batch_span;
pub(crate) mod books;
pub(crate) mod failing_reads;
pub(crate) mod fuse;
pub(crate) mod journal;
pub(crate) mod lanes;
mod queries;
pub(crate) mod reader;
#[cfg(test)]
pub(crate) mod slow_connection;
pub(crate) mod state;
pub(crate) mod time_limited;
pub(crate) mod uncertain_writes;
pub(crate) mod watched;
