//! Sicoob, Cobrança Bancária v3: boletos registered at the bank, with or without a PIX code.
//!
//! The number of a title (nosso número) is ours and is part of the charge. So a title of unknown outcome can be
//! inquired about by it, and the bank refuses to register it twice. Sources: the portal's page of the API with its
//! models, and the clients `brbank` 0.0.5 and `sicoob-sdk` 0.2.19.
//!
//! Path of a charge: `request` → `link` → `title` → `statement`. Callbacks are hints (`notices`).

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

/// Names under which a reference contains the numbers of a title.
const OUR_NUMBER: &str = Reference::OUR_NUMBER;
const YOUR_NUMBER: &str = "yourNumber";
