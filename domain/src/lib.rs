//! What the words of a payment mean: values, rules and decisions.
//!
//! Nothing here does I/O, reads a clock, rolls dice, waits, or uses floats: every input is a parameter.

pub mod boleto;
pub mod card;
pub mod document;
pub mod phone;
pub mod pix;
pub mod place;
pub mod secret;
pub mod text;
