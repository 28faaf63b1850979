//! Domain of payments: values, rules and decisions.
//!
//! Nothing here does I/O, reads a clock, generates random numbers, waits, or uses floats: every input is a parameter.

pub mod nearest;
pub mod text;
pub mod wording;

pub mod document;
pub mod phone;
pub mod postal;
pub mod secret;
pub mod secret_key;

pub mod boleto;
pub mod card;
pub mod pix;

pub mod identity;
pub mod method;
pub mod money;
pub mod numbering;
pub mod retry_after;
pub mod time;

pub mod access;
pub mod audit;
pub mod control;
pub mod due_terms;
pub mod exception;
pub mod link;
pub mod order;
pub mod outbound_call;
pub mod people;
pub mod routing;
pub mod slip;
pub mod status;

pub mod acquiring;
pub mod operation;
pub mod state;

pub mod delivery;
pub mod event;
pub mod webhook;

pub mod payment;
pub mod reconciliation;
pub mod record;

pub mod request;

pub mod figures;
pub mod listing;
