//! The merchants' console under attack: every route, by plain HTTP.
//!
//! What is tried with all routes goes by the table in [`routes`], which fails when a route is missing there.

mod answers;
mod crawl;
mod devices;
mod erased;
mod exports;
mod factors;
mod floods;
mod forms;
mod leavers;
mod nonsense;
mod payers;
mod proofs;
mod refusals;
mod routes;
mod scripts;
mod sessions;
mod shops;
mod strangers;
mod texts;
