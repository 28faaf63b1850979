//! The acquirers this service can speak to.

pub mod sandbox;
