//! API Pix, the Banco Central's standard (2.9.0) that every Brazilian PSP speaks in a dialect.

pub mod dialect;
pub mod settings;
