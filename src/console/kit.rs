//! Building blocks of both consoles: page frames, forms, sessions, languages, numbers and live parts.

pub(super) mod accounts;
pub(super) mod addresses;
pub(super) mod answer;
pub(super) mod assets;
pub(super) mod attempts;
pub(super) mod audit_log;
pub(super) mod browser_name;
pub(super) mod confirmation;
pub(super) mod console_kind;
pub(super) mod cookies;
pub(super) mod cost;
pub(super) mod csv;
pub(super) mod devices;
pub(super) mod form;
pub(super) mod frame;
pub(super) mod guard;
pub(super) mod language;
pub(super) mod live;
pub(super) mod outage;
pub(super) mod page_context;
pub(super) mod page_error;
pub(super) mod people;
pub(super) mod proof;
pub(super) mod qr;
pub(super) mod resources;
pub(super) mod shown;
pub(super) mod sign_in;
pub(super) mod stream_permits;
pub(super) mod texts;

mod numbers;
mod words;
