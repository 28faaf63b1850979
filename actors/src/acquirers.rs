//! Acquirers: choice of the one to ask, their health, and the notices that they send.

pub(crate) mod acquirer;
pub(crate) mod approvals;
pub(crate) mod call;
mod call_history;
pub(crate) mod call_outcome;
mod call_queue;
pub(crate) mod costs;
pub(crate) mod directives;
pub(crate) mod health;
mod health_change;
pub(crate) mod inbox;
pub(crate) mod inbox_sink;
pub(crate) mod inquiry_clock;
mod lost_beside;
mod lost_run;
pub(crate) mod method_outages;
pub(crate) mod missing_routes;
pub(crate) mod notices;
pub(crate) mod our_numbers;
pub(crate) mod pace;
pub(crate) mod recent_calls;
mod references;
pub(crate) mod route_view;
pub(crate) mod routing;
