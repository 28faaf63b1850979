//! The public listener: the merchants' API, acquirers' notices, payers' pages.
//!
//! Translates HTTP requests into calls of the application service ([`quita_actors::Payments`]), and its results into
//! HTTP responses. It makes no business decisions.

mod accepted;
mod answer;
mod auth;
mod body;
mod card_script;
mod card_tries;
mod checkout;
mod checkout_metrics;
pub(crate) mod client_address;
mod cors;
mod deliveries;
mod docs;
mod edge;
mod entries;
mod errors;
mod guides;
mod head;
mod host;
mod idempotency;
mod ignored_names;
mod key_expiry;
pub(crate) mod link_methods;
pub(crate) mod link_payments;
pub(crate) mod links;
mod mount;
mod movements;
mod notifications;
mod observed;
mod operations;
mod own_headers;
mod page_routes;
pub mod pages;
mod payments;
mod pictures;
mod pieces;
mod pipeline;
mod query;
mod rate_limit;
mod refusal_pages;
pub(crate) mod request_id;
mod request_metrics;
mod requests;
mod routes;
mod routing;
mod safe_headers;
mod sandbox;
mod shown_path;
mod tokens;
mod traced;
mod traceparent;
mod unknown_address;
mod unknown_guide;

pub(crate) use card_script::{card_script_hashes, card_scripts};
pub(crate) use checkout::PAGE_HEADERS;
pub(crate) use checkout_metrics::CheckoutMetrics;
pub use edge::Edge;
pub(crate) use edge::EdgeParts;
pub use request_metrics::RequestMetrics;
pub use routes::configure;
pub use tokens::Tokens;

pub(crate) use body::BODY_TIME_OUT;
pub(crate) use errors::{ApiError, ErrorCode, announce_public_url, wordings};
pub(crate) use head::with_head_as_get;
pub(crate) use host::check_host;
pub(crate) use mount::Mount;
pub(crate) use observed::Observer;
pub(crate) use pipeline::{Answer, Steps, answer, identified, refused_or};
pub(crate) use query::refuse as refuse_query;
pub(crate) use request_id::in_fresh_request;
pub(crate) use routes::reading;
pub(crate) use safe_headers::SAFE_HEADERS;
