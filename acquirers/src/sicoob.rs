//! Sicoob, Cobrança Bancária v3: boletos registered at the bank, with or without a PIX code.
//!
//! The number of a title (nosso número) is ours: it comes with the charge, so a title of unknown outcome is asked for by it,
//! and the bank refuses it a second time. Sources: the portal's page of the API with its models, and the clients `brbank`
//! 0.0.5 and `sicoob-sdk` 0.2.19.
//!
//! The way of a charge: `request` → `link` → `title` → `statement`. Callbacks are hints (`notices`).

mod adapter;
mod factory;
mod link;
mod lists;
mod notices;
mod registration;
mod request;
pub mod settings;
mod statement;
mod title;

pub use factory::{BankRange, SicoobFactory};
use quita_domain::acquiring::Reference;

/// The bank's code, and its name on the slip.
const BANK: &str = "756";
const BANK_WITH_DIGIT: &str = "756-0";
const BANK_NAME: &str = "Sicoob";

/// Names of a reference under which the numbers of a title are.
const OUR_NUMBER: &str = Reference::OUR_NUMBER;
const YOUR_NUMBER: &str = "yourNumber";
