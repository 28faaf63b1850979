//! Measurements, and the views of them that operators see.

pub(crate) mod actor_view;
pub(crate) mod at_scrape;
pub(crate) mod meter;
pub(crate) mod metric;
pub(crate) mod reading;
pub(crate) mod sample;
pub(crate) mod sampler;
pub(crate) mod samples;
pub(crate) mod tally;
pub(crate) mod webhook_turns;
