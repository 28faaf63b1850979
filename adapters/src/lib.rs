//! How the outside is reached, and what is printed for it.

pub mod acquirer;
pub mod paper;
pub mod system;
pub mod webhook_http;
