//! The acquirers this service can speak to.
